import MediaTransport
import ResourceAddressing

/// The references between the resources of an asset that are not followed (`AVAssetReferenceRestrictions`).
///
/// Resources at `file` addresses are local, all others are remote. References from remote resources to local ones are
/// never followed.
public struct ReferenceRestrictions: OptionSet, Sendable, Hashable {
    /// The bit mask.
    public let rawValue: Int

    /// Creates a set from a bit mask.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Forbids references from a local asset to remote resources.
    public static let forbidLocalReferenceToRemote = ReferenceRestrictions(rawValue: 2)
    /// Forbids references from a remote asset to other sites, including redirects to them.
    public static let forbidCrossSiteReference = ReferenceRestrictions(rawValue: 4)
    /// Forbids references from a local asset to other local resources.
    public static let forbidLocalReferenceToLocal = ReferenceRestrictions(rawValue: 8)
    /// Forbids all references: only an asset that consists of a single resource can be played.
    public static let forbidAll = ReferenceRestrictions(rawValue: 0xFFFF)

    /// Returns the reason why an asset may not refer to an address; `nil` if it may.
    func refusalReason(from asset: ResourceAddress, to address: ResourceAddress) -> String? {
        let isLocal = address.filePath != nil
        // The content of a `data` URL is part of the resource that refers to it.
        guard !isEmpty, address.normalizedScheme != "data" else { return nil }
        if self == .forbidAll { return "the asset may not refer to other resources" }
        if asset.filePath != nil {
            if isLocal, contains(.forbidLocalReferenceToLocal) { return "the asset may not refer to other files" }
            if !isLocal, contains(.forbidLocalReferenceToRemote) {
                return "the asset may not refer to remote resources"
            }
        } else if !isLocal, contains(.forbidCrossSiteReference), !asset.isSameSite(as: address) {
            return "the asset may not refer to other sites"
        }
        return nil
    }
}

/// A transport that refuses forbidden references and forwards all other requests to a base transport.
struct RestrictedTransport: Transport {
    let base: any Transport
    let asset: ResourceAddress
    let restrictions: ReferenceRestrictions

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try check(request.address)
        let response = try await base.send(request)
        // The response may come from another address, because of redirects.
        try check(response.address)
        return response
    }

    private func check(_ address: ResourceAddress) throws {
        guard address != asset, let reason = restrictions.refusalReason(from: asset, to: address) else { return }
        throw TransportError(.addressRefused, reason, address: address)
    }
}

extension AssetOptions {
    /// Returns the given loading, limited to the networks and references that these options allow.
    func restricting(_ loader: ResourceLoader, of address: ResourceAddress, network: NetworkStatus) -> ResourceLoader {
        var accepted: NetworkCost = []
        if allowsCellularAccess { accepted.insert(.cellular) }
        if allowsExpensiveNetworkAccess { accepted.insert(.expensive) }
        if allowsConstrainedNetworkAccess { accepted.insert(.constrained) }
        let loading = loader.limited(to: network, accepting: accepted)
        guard !referenceRestrictions.isEmpty else { return loading }
        let restrictions = referenceRestrictions
        return loading.wrappingTransport { RestrictedTransport(base: $0, asset: address, restrictions: restrictions) }
    }
}

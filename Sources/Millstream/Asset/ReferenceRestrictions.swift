import MediaTransport
import ResourceAddressing

/// Which references between the resources of an asset are not followed (`AVAssetReferenceRestrictions`).
///
/// What is at `file` addresses is local, everything else remote. References from remote resources to local ones are never
/// followed.
public struct ReferenceRestrictions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// From local assets to remote resources.
    public static let forbidLocalReferenceToRemote = ReferenceRestrictions(rawValue: 2)
    /// From remote assets to resources of other sites; redirects count too.
    public static let forbidCrossSiteReference = ReferenceRestrictions(rawValue: 4)
    /// From local assets to local resources.
    public static let forbidLocalReferenceToLocal = ReferenceRestrictions(rawValue: 8)
    /// All of them: only what is one resource can be played.
    public static let forbidAll = ReferenceRestrictions(rawValue: 0xFFFF)

    /// Why an asset may not refer to an address; `nil` where it may.
    func obstacle(from asset: ResourceAddress, to address: ResourceAddress) -> String? {
        let isLocal = address.filePath != nil
        // What is in the address itself is nowhere else.
        guard !isEmpty, address.normalizedScheme != "data" else { return nil }
        if self == .forbidAll { return "the asset may refer to nothing" }
        if asset.filePath != nil {
            if isLocal, contains(.forbidLocalReferenceToLocal) { return "the asset may not refer to other files" }
            if !isLocal, contains(.forbidLocalReferenceToRemote) {
                return "the asset may not refer to what is not on this machine"
            }
        } else if !isLocal, contains(.forbidCrossSiteReference), !asset.isSameSite(as: address) {
            return "the asset may not refer to other sites"
        }
        return nil
    }
}

/// Another transport, that follows no forbidden references.
struct RestrictedTransport: Transport {
    let base: any Transport
    let asset: ResourceAddress
    let restrictions: ReferenceRestrictions

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        try check(request.address)
        let response = try await base.send(request)
        // What answered may be elsewhere, behind redirects.
        try check(response.address)
        return response
    }

    private func check(_ address: ResourceAddress) throws {
        guard address != asset, let reason = restrictions.obstacle(from: asset, to: address) else { return }
        throw TransportError(.addressRefused, reason, address: address)
    }
}

extension AssetOptions {
    /// The same way of loading, within what these options allow.
    func limiting(_ loading: ResourceLoading, of address: ResourceAddress, _ network: NetworkStatus) -> ResourceLoading
    {
        var accepted: NetworkCost = []
        if allowsCellularAccess { accepted.insert(.cellular) }
        if allowsExpensiveNetworkAccess { accepted.insert(.expensive) }
        if allowsConstrainedNetworkAccess { accepted.insert(.constrained) }
        let loading = loading.over(network, accepting: accepted)
        guard !referenceRestrictions.isEmpty else { return loading }
        let restrictions = referenceRestrictions
        return loading.through { RestrictedTransport(base: $0, asset: address, restrictions: restrictions) }
    }
}

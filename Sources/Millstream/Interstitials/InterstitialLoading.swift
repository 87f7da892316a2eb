import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import StreamingEngine

/// The rules by which interstitials are loaded on behalf of a primary item.
struct InterstitialLoading: Sendable {
    /// The time for which playback waits for an interstitial before the item resumes without it (RFC 8216bis §D.5).
    static let timeout = Duration.seconds(60)
    /// The maximum size of an asset list.
    private static let maximumListSize = ByteCount(1 << 20)

    /// The asset of the primary item.
    let primary: Asset
    /// The identifier of the primary item's playback session; `nil` if it has none.
    let sessionID: String?

    /// Loads an asset list.
    func list(at address: ResourceAddress, startOffset: MediaTime?) async throws(PlayerError) -> InterstitialAssetList {
        let request = TransportRequest(self.address(address, startOffset: startOffset), kind: .playlist)
        do {
            try check(address)
            let loaded = try await primary.loader.load(request, limit: Self.maximumListSize)
            return try InterstitialAssetList(loaded.bytes, at: loaded.address)
        } catch let error as PlayerError {
            throw error
        } catch {
            throw PlayerError(.notLoaded, "The asset list of an interstitial: \(error)", address: address, cause: error)
        }
    }

    /// Returns the asset of an item.
    ///
    /// - Throws: ``PlayerError`` if the stream must not refer to its address.
    func asset(of source: InterstitialItem.Source) throws(PlayerError) -> Asset {
        switch source {
        case .asset(let asset): asset
        case .address(let address): try asset(at: address)
        }
    }

    /// Returns the asset at an address.
    ///
    /// - Throws: ``PlayerError`` if the stream must not refer to the address.
    func asset(at address: ResourceAddress) throws(PlayerError) -> Asset {
        try check(address)
        var options = primary.options
        options.overrideMIMEType = nil
        options.primarySessionID = nil
        // The header fields are for the origin of the stream. Those for hosts by name are sent to these hosts only.
        if HeaderFieldScope(originOf: primary.address)?.contains(address) != true { options.headerFields = [:] }
        // Cookies of a stream that is loaded over HTTPS are never sent over HTTP.
        for index in options.cookies.indices where options.cookies[index].isSecure == nil {
            options.cookies[index].isSecure = primary.address.normalizedScheme == "https"
        }
        // A cookie without a domain is for the host of the stream only.
        if primary.address.host != address.host { options.cookies.removeAll { $0.domain == nil } }
        return Asset(self.address(address), options: options, environment: primary.environment)
    }

    /// - Throws: ``PlayerError`` if the stream must not refer to the address, or if interstitials cannot be loaded from
    ///   it: only HTTP, `data` addresses, and the files of a local stream are supported.
    private func check(_ address: ResourceAddress) throws(PlayerError) {
        if let reason = primary.options.referenceRestrictions.refusalReason(from: primary.address, to: address) {
            throw PlayerError(.notLoaded, "An interstitial is not loaded: \(reason).", address: address)
        }
        if address.isHTTP || address.normalizedScheme == "data" { return }
        if address.filePath != nil, primary.address.filePath != nil, primary.assetCache == nil { return }
        if address.isRefusedFile {
            throw PlayerError(
                .notLoaded,
                "An interstitial is not loaded: a remote document refers to a local file, which it must not do.",
                address: address.withoutRefusal
            )
        }
        throw PlayerError(.notLoaded, "Interstitials cannot be loaded from this address.", address: address)
    }

    /// Returns an address with the query parameters for servers (RFC 8216bis §D.4).
    private func address(_ address: ResourceAddress, startOffset: MediaTime? = nil) -> ResourceAddress {
        guard address.isHTTP else { return address }
        var parameters: [(String, String)] = []
        if let sessionID { parameters.append(("_HLS_primary_id", sessionID)) }
        if let startOffset { parameters.append(("_HLS_start_offset", startOffset.decimalSeconds)) }
        return address.adding(parameters)
    }
}

extension MediaTime {
    /// The time in seconds, with at most three decimal places.
    fileprivate var decimalSeconds: String {
        let milliseconds = Int64(saturating: (seconds * 1000).rounded())
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
        let digits = "\(milliseconds % 1000 +| 1000)".dropFirst()
        return "\(milliseconds / 1000).\(digits)"
    }
}

extension ResourceAddress {
    /// Returns the address with parameters added to its query; a parameter that it already has is not replaced.
    func adding(_ parameters: [(name: String, value: String)]) -> ResourceAddress {
        let hash = text.firstIndex(of: "#") ?? text.endIndex
        var head = String(text[..<hash])
        for (name, value) in parameters {
            let known = (query ?? "").split(separator: "&").contains { $0.hasPrefix(name + "=") }
            guard !known else { continue }
            head += (head.contains("?") ? "&" : "?") + name + "=" + PercentEncoding.encode(value)
        }
        return ResourceAddress(head + text[hash...])
    }
}

extension InterstitialLoading {
    /// Creates the rules for the interstitials of an item.
    init(for item: PlayerItem) { self.init(primary: item.asset, sessionID: item.sessionID) }
}

import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import StreamingEngine

/// How what is played in between is reached, on behalf of an item.
struct InterstitialLoading: Sendable {
    /// So long is waited for a server that has to decide first (§D.5).
    static let patience = Duration.seconds(60)
    private static let longestList = ByteCount(1 << 20)

    let primary: Asset
    /// What names the session of the item; `nil` where it has none.
    let sessionID: String?

    /// Loads a list.
    func list(at address: ResourceAddress, startOffset: MediaTime?) async throws(PlayerError) -> InterstitialAssetList {
        let request = TransportRequest(self.address(address, startOffset: startOffset), kind: .playlist)
        do {
            try check(address)
            let loaded = try await primary.loading.load(request, limit: Self.longestList)
            return try InterstitialAssetList(loaded.bytes, at: loaded.address)
        } catch let error as PlayerError {
            throw error
        } catch {
            throw PlayerError(.notLoaded, "The list of an interstitial: \(error)", address: address, cause: error)
        }
    }

    /// The asset at an address.
    func asset(at address: ResourceAddress) throws(PlayerError) -> Asset {
        try check(address)
        var options = primary.options
        options.overrideMIMEType = nil
        options.primarySessionID = nil
        // The header fields are for the origin of the stream. Those for hosts by name stay: they go nowhere else.
        if HeaderFieldScope(originOf: primary.address)?.contains(address) != true { options.headerFields = [:] }
        // Cookies that are for https because the stream is stay so.
        for index in options.cookies.indices where options.cookies[index].isSecure == nil {
            options.cookies[index].isSecure = primary.address.normalizedScheme == "https"
        }
        // A cookie without a domain is for the host of the stream alone.
        if primary.address.host != address.host { options.cookies.removeAll { $0.domain == nil } }
        return Asset(self.address(address), options: options, environment: primary.environment)
    }

    /// - Throws: Where a stream may not name it: a file, of one from elsewhere.
    private func check(_ address: ResourceAddress) throws(PlayerError) {
        if let reason = primary.options.referenceRestrictions.obstacle(from: primary.address, to: address) {
            throw PlayerError(.notLoaded, "An interstitial is not loaded: \(reason).", address: address)
        }
        if address.isHTTP || address.normalizedScheme == "data" { return }
        if address.filePath != nil, primary.address.filePath != nil, primary.assetCache == nil { return }
        throw PlayerError(.notLoaded, "An interstitial may not be loaded from this address.", address: address)
    }

    /// An address as a server wants it asked for (§D.4).
    private func address(_ address: ResourceAddress, startOffset: MediaTime? = nil) -> ResourceAddress {
        guard address.isHTTP else { return address }
        var parameters: [(String, String)] = []
        if let sessionID { parameters.append(("_HLS_primary_id", sessionID)) }
        if let startOffset { parameters.append(("_HLS_start_offset", startOffset.decimalSeconds)) }
        return address.adding(parameters)
    }
}

extension MediaTime {
    /// Seconds with three digits behind the point at most.
    fileprivate var decimalSeconds: String {
        let milliseconds = Int64(saturating: (seconds * 1000).rounded())
        guard milliseconds % 1000 != 0 else { return "\(milliseconds / 1000)" }
        let digits = "\(milliseconds % 1000 +| 1000)".dropFirst()
        return "\(milliseconds / 1000).\(digits)"
    }
}

extension ResourceAddress {
    /// The same with parameters behind those of its query; one that is there already stays as it is.
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

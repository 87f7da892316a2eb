import HLSPlaylist
import ResourceAddressing

extension Playlist {
    /// Returns the playlist with parameters of its own URL added to the URLs of the same origin in it.
    ///
    /// A parameter is not added to a URL that has one of this name.
    ///
    /// - Parameters:
    ///   - names: The names of the parameters; `*` stands for all.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; unchanged if its own URL is not known or has none of the parameters.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit or cannot be parsed.
    func carryingQuery(_ names: [String], limits: PlaylistLimits) throws(PlaylistEditError) -> Playlist {
        guard let own = context.address, let query = own.query else { return self }
        let carried = Self.parameters(query).filter { names.contains("*") || names.contains(Self.name($0)) }
        guard !carried.isEmpty else { return self }
        return try rewritingAddresses(limits: limits) { address in
            switch address.role {
            case .session, .interstitial: return nil
            case .segment, .part, .initialization, .key, .variant, .iFrameVariant, .rendition, .renditionReport: break
            }
            guard let part = SegmentPart(of: address.address) else {
                return Self.carrying(carried, from: own, to: address.uri, at: address.address)
            }
            // The URL of a part names the initialization section too.
            return part.replacingAddresses { address in
                Self.carrying(carried, from: own, to: address.text, at: address).map { ResourceAddress($0) } ?? address
            }.address.text
        }
    }

    /// Returns a URL with parameters added; `nil` to leave it unchanged.
    private static func carrying(
        _ carried: [Substring],
        from own: ResourceAddress,
        to uri: String,
        at address: ResourceAddress
    ) -> String? {
        // Parameters can be secrets, and a playlist can name any host.
        guard address.hasOrigin(of: own) else { return nil }
        let known = Set(parameters(ResourceAddress(uri).query ?? "").map { name($0) })
        let missing = carried.filter { !known.contains(name($0)) }
        guard !missing.isEmpty else { return nil }
        let parts = uri.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let separator = parts[0].contains("?") ? (parts[0].hasSuffix("?") ? "" : "&") : "?"
        let fragment = parts.count > 1 ? "#\(parts[1])" : ""
        return "\(parts[0])\(separator)\(missing.joined(separator: "&"))\(fragment)"
    }

    private static func parameters(_ query: String) -> [Substring] { query.split(separator: "&") }

    private static func name(_ parameter: Substring) -> String { String(parameter.prefix { $0 != "=" }) }
}

extension ResourceAddress {
    /// Returns a Boolean value that indicates whether the URL is an HTTP URL with the scheme, host and port of another one.
    fileprivate func hasOrigin(of other: ResourceAddress) -> Bool {
        isHTTP && normalizedScheme == other.normalizedScheme && host == other.host && port == other.port
    }
}

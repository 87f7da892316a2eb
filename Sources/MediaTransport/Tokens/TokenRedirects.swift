import ResourceAddressing

/// The URLs with tokens to which servers redirected, by the URLs without them.
///
/// Reloads of a playlist differ in their directives, which begin with `_HLS_` (RFC 8216bis §6.2.5): a redirect applies to the URL with
/// any of them.
struct TokenRedirects: Sendable {
    /// The maximum number of redirects, beyond which the one that was used least recently is removed.
    static let maximumCount = 256

    private var targets: [ResourceAddress: ResourceAddress] = [:]
    /// The keys of the targets, the one that was used least recently first.
    private var order: [ResourceAddress] = []

    /// Stores the URL with a token.
    mutating func store(_ target: ResourceAddress, for address: ResourceAddress) {
        let key = Self.dividing(address).rest
        use(key)
        targets[key] = Self.dividing(target).rest
        if order.count > Self.maximumCount { targets[order.removeFirst()] = nil }
    }

    /// Returns the URL with the token and the directives of a request; `nil` if there was no redirect to the URL.
    mutating func target(of address: ResourceAddress) -> ResourceAddress? {
        let (key, directives) = Self.dividing(address)
        guard let target = targets[key] else { return nil }
        use(key)
        guard !directives.isEmpty else { return target }
        return AccessToken(.query(directives.joined(separator: "&"))).signed(target)
    }

    private mutating func use(_ key: ResourceAddress) {
        if let index = order.firstIndex(of: key) { order.remove(at: index) }
        order.append(key)
    }

    private static func dividing(_ address: ResourceAddress) -> (rest: ResourceAddress, taken: [String]) {
        AddedParameters.dividing(address) { $0.hasPrefix("_HLS_") }
    }
}

import ResourceAddressing

/// The query parameters that a signature added to the URL of a request.
///
/// They are secrets, and servers repeat them in the URLs that they redirect to. Parameters that the URL of the request has
/// itself are none of them, even with the same value.
struct AddedParameters: Sendable {
    /// The parameters as `NAME=VALUE`, percent-decoded, because some servers decode or encode them.
    private let parameters: Set<String>

    /// Creates the parameters by which the URL of a request and its signed URL differ.
    init(from address: ResourceAddress, to signed: ResourceAddress) {
        parameters = Set(Self.parameters(of: signed)).subtracting(Self.parameters(of: address))
    }

    /// Returns a URL without the parameters; the others keep their order, and the fragment is unchanged.
    func removed(from address: ResourceAddress) -> ResourceAddress {
        guard !parameters.isEmpty, let query = address.query else { return address }
        let all = Self.split(query)
        let kept = all.filter { !parameters.contains(Self.decoded($0)) }
        guard kept.count < all.count else { return address }
        let text = address.text
        // The query begins with the first question mark, and the fragment after it with the first number sign.
        let beginning = text[..<(text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex)]
        let fragment = text[(text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)...]
        return ResourceAddress("\(beginning)\(kept.isEmpty ? "" : "?")\(kept.joined(separator: "&"))\(fragment)")
    }

    private static func parameters(of address: ResourceAddress) -> [String] {
        split(address.query ?? "").filter { !$0.isEmpty }.map(decoded)
    }

    private static func split(_ query: String) -> [String] {
        query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    private static func decoded(_ parameter: String) -> String { PercentEncoding.decode(parameter) ?? parameter }
}

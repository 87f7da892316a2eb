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
        parameters.isEmpty ? address : Self.dividing(address) { parameters.contains(Self.decoded($0)) }.rest
    }

    /// Divides a URL into the URL without some parameters, and these parameters in order.
    static func dividing(
        _ address: ResourceAddress,
        where isTaken: (String) -> Bool
    ) -> (rest: ResourceAddress, taken: [String]) {
        guard let query = address.query else { return (address, []) }
        let all = split(query)
        let taken = all.filter(isTaken)
        guard !taken.isEmpty else { return (address, []) }
        let kept = all.filter { !isTaken($0) }
        let text = address.text
        // The query begins with the first question mark, and the fragment after it with the first number sign.
        let beginning = text[..<(text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex)]
        let fragment = text[(text.utf8.firstIndex(of: UInt8(ascii: "#")) ?? text.endIndex)...]
        let rest = ResourceAddress("\(beginning)\(kept.isEmpty ? "" : "?")\(kept.joined(separator: "&"))\(fragment)")
        return (rest, taken)
    }

    private static func parameters(of address: ResourceAddress) -> [String] {
        split(address.query ?? "").filter { !$0.isEmpty }.map(decoded)
    }

    private static func split(_ query: String) -> [String] {
        query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    private static func decoded(_ parameter: String) -> String { PercentEncoding.decode(parameter) ?? parameter }
}

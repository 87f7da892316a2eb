import ResourceAddressing

/// The variables that a playlist defines (RFC 8216bis §4.3 and §4.4.2.3).
struct PlaylistVariables: Sendable {
    private(set) var values: [String: String] = [:]

    /// Reads the definitions in their order; a value may use those above it.
    init(_ definitions: [AttributeList], context: PlaylistContext) {
        for attributes in definitions {
            if let name = attributes["NAME"] {
                if values[name] == nil { values[name] = substitute(attributes["VALUE"] ?? "") }
            } else if let name = attributes["IMPORT"] {
                if values[name] == nil { values[name] = context.importableVariables[name] }
            } else if let name = attributes["QUERYPARAM"] {
                if values[name] == nil { values[name] = Self.queryParameter(name, of: context.address) }
            }
        }
    }

    /// Puts values in the place of `{$name}`; a name without a value stays as it is.
    func substitute(_ text: String) -> String {
        guard !values.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        var result = ""
        var rest = text[...]
        while let open = rest.firstRange(of: "{$") {
            result += rest[..<open.lowerBound]
            let inside = rest[open.upperBound...]
            if let close = inside.firstIndex(of: "}"), let value = values[String(inside[..<close])] {
                result += value
                rest = inside[inside.index(after: close)...]
            } else {
                result += "{$"
                rest = inside
            }
        }
        return result + rest
    }

    private static func queryParameter(_ name: String, of address: ResourceAddress?) -> String? {
        for pair in (address?.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let key = parts.first, PercentEncoding.decode(String(key)) == name, parts.count > 1 {
                return PercentEncoding.decode(String(parts[1]))
            }
        }
        return nil
    }
}

import ResourceAddressing

/// The variables that a playlist defines (RFC 8216bis §4.3 and §4.4.2.3).
struct PlaylistVariables: Sendable {
    private(set) var values: [String: String] = [:]

    /// The most bytes of a text with its variables replaced: values that name others grow twofold with each.
    private static let mostBytes = 64 << 10
    /// The most variables.
    private static let mostVariables = 1_000
    /// The longest name.
    private static let longestName = 256

    /// Reads the definitions in their order; a value may use those above it.
    init(_ definitions: [AttributeList], context: PlaylistContext) {
        for attributes in definitions.prefix(Self.mostVariables) {
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
    ///
    /// So does the whole text where the result would pass 64 KiB.
    func substitute(_ text: String) -> String {
        guard !values.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        var close = -1
        while position < bytes.count {
            let start = position + 2
            if bytes[position] == UInt8(ascii: "{"), start < bytes.count, bytes[start - 1] == UInt8(ascii: "$") {
                // Looked for once, however many openings stand before it.
                if close < start { close = bytes[start...].firstIndex(of: UInt8(ascii: "}")) ?? bytes.count }
                if close < bytes.count, close - start <= Self.longestName, let value = values[bytes.text(start..<close)]
                {
                    result += value.utf8
                    guard result.count <= Self.mostBytes else { return text }
                    position = close + 1
                    continue
                }
            }
            result.append(bytes[position])
            position += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    static func queryParameter(_ name: String, of address: ResourceAddress?) -> String? {
        for pair in (address?.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if let key = parts.first, PercentEncoding.decode(String(key)) == name, parts.count > 1 {
                return PercentEncoding.decode(String(parts[1]))
            }
        }
        return nil
    }
}

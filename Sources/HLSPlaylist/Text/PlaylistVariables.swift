import MediaTiming
import ResourceAddressing

/// The variables that a playlist defines (RFC 8216bis §4.3 and §4.4.2.3).
struct PlaylistVariables: Sendable {
    private(set) var values: [String: String] = [:]

    /// How many bytes a text may grow by when its variables are replaced: values that name others grow twofold with each,
    /// and a long one may be named in every segment.
    let mostGrowth: Int

    /// The most that one text may grow by.
    static let longestGrowth = 8 << 10
    /// The most that all entries of a playlist may grow by together, beside four times the size of the playlist.
    private static let growthOfPlaylist = 256 << 20
    /// The most variables.
    private static let mostVariables = 1_000
    /// The longest name.
    private static let longestName = 256

    /// How many bytes each text of a playlist may grow by when its variables are replaced.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the playlist.
    ///   - entryCount: How many tags and addresses it has.
    /// - Returns: Bytes, at most 8 KiB.
    static func mostGrowth(byteCount: Int, entryCount: Int) -> Int {
        min(longestGrowth, (growthOfPlaylist + 4 *| byteCount) / max(1, entryCount))
    }

    /// Reads the definitions in their order; a value may use those above it.
    ///
    /// - Parameters:
    ///   - definitions: The attributes of the `EXT-X-DEFINE` tags.
    ///   - context: Where imported values and those of the query come from.
    ///   - mostGrowth: How many bytes a text may grow by.
    init(_ definitions: [AttributeList], context: PlaylistContext, mostGrowth: Int = longestGrowth) {
        self.mostGrowth = mostGrowth
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
    /// So does the whole text where it would grow by more than ``mostGrowth``.
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
                    guard result.count <= bytes.count + mostGrowth else { return text }
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

import MediaTiming
import ResourceAddressing

/// The variables of a playlist and their values (RFC 8216bis §4.3 and §4.4.2.3).
struct PlaylistVariables: Sendable {
    private(set) var values: [String: String] = [:]
    /// The name of the first imported variable that the multivariant playlist does not define; `nil` if there is none.
    private(set) var undefinedImport: String?
    /// The name of the first query parameter that the URL of the playlist does not have; `nil` if there is none.
    private(set) var missingParameter: String?

    /// The maximum number of bytes by which a string may grow when variables are replaced.
    ///
    /// Values that contain other variables can double with each definition, and a long value may be used in every
    /// segment.
    let maximumGrowth: Int

    /// The upper limit on ``maximumGrowth`` for any playlist, in bytes.
    static let growthLimit = 8 << 10
    /// The maximum growth of all entries of a playlist together, in bytes, in addition to four times the playlist's
    /// size.
    private static let playlistGrowthLimit = 64 << 20
    /// The maximum number of variable definitions that are read.
    private static let maximumVariableCount = 1_000
    /// The maximum length of a variable name in bytes.
    static let maximumNameLength = 256

    /// Returns the maximum number of bytes by which each string of a playlist may grow when variables are replaced.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the playlist in bytes.
    ///   - entryCount: The number of tags and URIs in the playlist.
    /// - Returns: A number of bytes, at most 8 KiB.
    static func maximumGrowth(byteCount: Int, entryCount: Int) -> Int {
        min(growthLimit, (playlistGrowthLimit + 4 *| byteCount) / max(1, entryCount))
    }

    /// Creates the variables from their definitions, in order; a value may refer to variables defined before it.
    ///
    /// - Parameters:
    ///   - definitions: The attributes of the `EXT-X-DEFINE` tags.
    ///   - context: The source of imported variables and query parameters.
    ///   - maximumGrowth: The maximum number of bytes by which a string may grow.
    init(_ definitions: [AttributeList], context: PlaylistContext, maximumGrowth: Int = growthLimit) {
        self.maximumGrowth = maximumGrowth
        var parameters: [String: String?]?
        for attributes in definitions.prefix(Self.maximumVariableCount) {
            if let name = attributes["NAME"] {
                if values[name] == nil { values[name] = substitute(attributes["VALUE"] ?? "") }
            } else if let name = attributes["IMPORT"] {
                if values[name] == nil { values[name] = context.importableVariables[name] }
                if values[name] == nil, undefinedImport == nil { undefinedImport = name }
            } else if let name = attributes["QUERYPARAM"] {
                let known = parameters ?? Self.queryParameters(of: context.address)
                parameters = known
                if values[name] == nil { values[name] = known[name] ?? nil }
                if values[name] == nil, missingParameter == nil { missingParameter = name }
            }
        }
    }

    /// Returns `text` with each `{$name}` replaced with its value; undefined names are unchanged.
    ///
    /// The entire text is returned unchanged if it would grow by more than ``maximumGrowth`` bytes.
    func substitute(_ text: String) -> String {
        guard !values.isEmpty, text.utf8.contains(UInt8(ascii: "{")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        var close = -1
        while position < bytes.count {
            let start = position + 2
            if bytes[position] == UInt8(ascii: "{"), start < bytes.count, bytes[start - 1] == UInt8(ascii: "$") {
                // The closing brace is searched once for all references before it, so the cost stays linear.
                if close < start { close = bytes[start...].firstIndex(of: UInt8(ascii: "}")) ?? bytes.count }
                if close < bytes.count, close - start <= Self.maximumNameLength,
                    let value = values[bytes.text(start..<close)]
                {
                    result += value.utf8
                    guard result.count <= bytes.count + maximumGrowth else { return text }
                    position = close + 1
                    continue
                }
            }
            result.append(bytes[position])
            position += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the query parameters of a URL; of several with the same name, the first.
    ///
    /// A parameter whose value cannot be percent-decoded is `nil`.
    static func queryParameters(of address: ResourceAddress?) -> [String: String?] {
        var result: [String: String?] = [:]
        for pair in (address?.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = parts.first, parts.count > 1, let name = PercentEncoding.decode(String(key)),
                result[name] == nil
            else { continue }
            result[name] = .some(PercentEncoding.decode(String(parts[1])))
        }
        return result
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

/// The directives of the `Cache-Control` header field (RFC 9111 §5.2).
struct CacheControl: Sendable {
    private var directives: [String: [String?]] = [:]

    /// Creates the directives of the `Cache-Control` fields of a request; without them, `Pragma: no-cache` has the same
    /// effect (RFC 9111 §5.4).
    init(request headers: [HeaderField]) {
        self.init(headers)
        guard directives.isEmpty else { return }
        let pragma = headers.filter { $0.name.lowercased() == "pragma" }.flatMap { Self.members(of: $0.value) }
        if pragma.contains(where: { $0.lowercased() == "no-cache" }) { directives["no-cache"] = [nil] }
    }

    /// Creates the directives of all `Cache-Control` fields.
    init(_ headers: [HeaderField]) {
        for field in headers where field.name.lowercased() == "cache-control" {
            for member in Self.members(of: field.value) {
                let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.trimmed(parts[0]).lowercased()
                directives[name, default: []].append(parts.count == 2 ? Self.unquoted(parts[1]) : nil)
            }
        }
    }

    /// Returns a Boolean value that indicates whether a directive is present, with or without an argument.
    ///
    /// `no-cache="Set-Cookie"` is treated as `no-cache`, which RFC 9111 §5.2.2.4 permits.
    func contains(_ name: String) -> Bool { directives[name] != nil }

    /// Returns the argument of a directive in seconds; `nil` if the directive is absent.
    ///
    /// If a directive appears more than once, the minimum is used, and an invalid argument is treated as 0. In both
    /// cases the response is validated earlier rather than later (RFC 9111 §4.2.1).
    func seconds(_ name: String) -> Int64? {
        directives[name]?.map { DeltaSeconds.parse($0 ?? "") ?? 0 }.min()
    }

    /// Returns the members of a comma-separated list; commas in quoted strings do not separate (RFC 9110 §5.6.1).
    static func members(of list: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        let members = list.utf8.split { byte in
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\"), isQuoted {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return members.map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let bytes = text.utf8.drop(while: isBlank)
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return Substring(bytes[...last])
    }

    private static func unquoted(_ text: Substring) -> String {
        let value = trimmed(text)
        guard value.utf8.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return String(value) }
        return String(value.dropFirst().dropLast())
    }
}

/// A parser for a number of seconds in a header field (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The maximum value, about 68 years; larger numbers are reduced to it (RFC 9111 §1.2.2).
    static let maximum: Int64 = 1 << 31

    /// Parses decimal digits; `nil` for any other text.
    static func parse(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return min(Int64(text) ?? maximum, maximum)
    }
}

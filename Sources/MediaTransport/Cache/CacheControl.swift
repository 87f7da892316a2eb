/// The directives of `Cache-Control` (RFC 9111 §5.2).
struct CacheControl: Sendable {
    private var directives: [String: [String?]] = [:]

    /// Reads all fields of that name; `Pragma` counts where there is none, and only in requests (RFC 9111 §5.4).
    init(request headers: [HeaderField]) {
        self.init(headers)
        guard directives.isEmpty else { return }
        let pragma = headers.filter { $0.name.lowercased() == "pragma" }.flatMap { Self.members(of: $0.value) }
        if pragma.contains(where: { $0.lowercased() == "no-cache" }) { directives["no-cache"] = [nil] }
    }

    /// Reads all fields of that name.
    init(_ headers: [HeaderField]) {
        for field in headers where field.name.lowercased() == "cache-control" {
            for member in Self.members(of: field.value) {
                let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.trimmed(parts[0]).lowercased()
                directives[name, default: []].append(parts.count == 2 ? Self.unquoted(parts[1]) : nil)
            }
        }
    }

    /// Whether a directive is there, with or without an argument.
    ///
    /// `no-cache="Set-Cookie"` counts as `no-cache`, as a cache may take it (RFC 9111 §5.2.2.4).
    func has(_ name: String) -> Bool { directives[name] != nil }

    /// The seconds of a directive; `nil` where it is not there.
    ///
    /// The least counts where there are several, and 0 what is no number: both err on the side of asking again
    /// (RFC 9111 §4.2.1).
    func seconds(_ name: String) -> Int64? {
        directives[name]?.map { DeltaSeconds.parse($0 ?? "") ?? 0 }.min()
    }

    /// The members of a list; a comma in quotation marks is none that separates (RFC 9110 §5.6.1).
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

/// A number of seconds as HTTP writes it (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What is larger counts as this, 68 years.
    static let largest: Int64 = 1 << 31

    /// Reads digits; `nil` for anything else.
    static func parse(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return min(Int64(text) ?? largest, largest)
    }
}

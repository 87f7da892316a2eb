extension ResourceAddress: CustomStringConvertible {
    /// The address for messages, logs and progress output, without parts that may be secret.
    ///
    /// User information is removed. A value in the query or the fragment is shortened to its first characters and `…`
    /// if it is long or if its name identifies a secret; path components that look like tokens are shortened as well. A
    /// `data` URL is reduced to its media type and its length. The scheme, the host, the port and other path components
    /// are unchanged.
    ///
    /// The result is not a valid address: use ``text`` for everything except display.
    public var description: String { shortened(keepsName: false) }

    /// The address for logs of requests: ``description``, but with the whole last component of the path.
    ///
    /// Names of segments can look like tokens; without them, the lines of a log could not be told apart. Values that are
    /// part of the name, such as `;token=abc`, are shortened.
    package var logDescription: String { shortened(keepsName: true) }

    /// Returns the address without parts that may be secret.
    private func shortened(keepsName: Bool) -> String {
        if normalizedScheme == "data" { return dataDescription }
        var result = scheme.map { $0 + ":" } ?? ""
        if let authority {
            let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map {
                authority[authority.utf8.index(after: $0)...]
            }
            // With other schemes, the authority may be the identifier of a key.
            let isHost = ["http", "https", "file"].contains(normalizedScheme ?? "http")
            result += "//"
            result +=
                isHost
                ? AddressAbbreviation.limited(host ?? authority[...], to: 300) : AddressAbbreviation.path(authority)
        }
        result += normalizedScheme == "file" ? path : AddressAbbreviation.path(path, keepsName: keepsName)
        if let query { result += "?" + AddressAbbreviation.items(query) }
        if let fragment { result += "#" + AddressAbbreviation.items(fragment) }
        return result
    }

    /// The media type and the length of a `data` URL, for display (RFC 2397).
    private var dataDescription: String {
        let content = text.utf8.dropFirst("data:".utf8.count)
        let type = Substring(content.prefix { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: ";") })
        return "data:\(AddressAbbreviation.limited(type, to: 40)),… (\(text.utf8.count) bytes)"
    }
}

extension ResourceAddress: CustomDebugStringConvertible {
    /// The same text as ``description``, because debug output of values that contain addresses is also read and logged.
    public var debugDescription: String { description }
}

extension ResourceAddress: CustomReflectable {
    /// A mirror that exposes ``description`` only.
    public var customMirror: Mirror { Mirror(self, children: ["text": description]) }
}

/// The rules for shortening the parts of an address in messages.
enum AddressAbbreviation {
    /// The maximum size in bytes of a query value that is not shortened.
    ///
    /// Applies whatever the name of the value is, because no list of secret names is complete.
    private static let maximumValueLength = 12
    /// The maximum number of characters that remain of a shortened value.
    private static let prefixLength = 4
    /// The minimum number of bytes of a run of characters that can be recognized as a token.
    private static let minimumTokenLength = 20
    /// The maximum number of bytes of a run of characters that can be a name; longer runs count as tokens.
    ///
    /// Path components of more than four times this size are shortened as a whole.
    private static let maximumNameLength = 100

    /// Returns the items of a query or fragment, with long and secret values shortened.
    static func items(_ query: String) -> String {
        var result = ""
        var rest = query[...].utf8
        while true {
            let end = rest.firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") } ?? rest.endIndex
            result += item(Substring(rest[..<end]))
            guard end < rest.endIndex else { return result }
            result += rest[end] == UInt8(ascii: "&") ? "&" : ";"
            // Long queries are cut: the rest is of no use in a message.
            guard result.utf8.count < 1000 else { return result + "…" }
            rest = rest[rest.index(after: end)...]
        }
    }

    private static func item(_ text: Substring) -> String {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return value(text, isSecret: false) }
        let name = text[..<equals]
        let content = text[text.utf8.index(after: equals)...]
        return limited(name, to: 32) + "=" + value(content, isSecret: AddressParameter(named: name).isSecret)
    }

    private static func value(_ text: Substring, isSecret: Bool) -> String {
        guard !text.isEmpty, isSecret || text.utf8.count > maximumValueLength else { return String(text) }
        return shortened(text)
    }

    /// Returns a path in which the components that look like tokens are shortened.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - keepsName: A Boolean value that indicates whether the last component is not taken for a token.
    /// - Returns: The path.
    static func path(_ path: String, keepsName: Bool = false) -> String {
        var result = ""
        let components = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (position, component) in components.enumerated() {
            if position > 0 { result += "/" }
            guard result.utf8.count < 2000 else { return result + "…" }
            result += Self.component(Substring(component), keepsNames: keepsName && position == components.count - 1)
        }
        return result
    }

    /// Returns a path component with its parameters (`;token=abc`, `hdnts=exp=1~hmac=2`) and its token-like runs
    /// shortened.
    private static func component(_ text: Substring, keepsNames: Bool) -> String {
        guard text.utf8.count >= 3 else { return String(text) }
        guard text.utf8.count <= 4 * maximumNameLength else { return shortened(text) }
        var result = ""
        for (position, piece) in split(text, separators: ";~,&").enumerated() {
            guard piece.separator == nil else {
                result += piece.text
                continue
            }
            let equals = piece.text.utf8.firstIndex(of: UInt8(ascii: "="))
            if let equals, position > 0 || equals > piece.text.startIndex {
                result += item(piece.text)
            } else {
                result += keepsNames ? String(piece.text) : shortenedTokens(piece.text)
            }
        }
        return result
    }

    private static func shortenedTokens(_ text: Substring) -> String {
        split(text, separators: ".:@ ").map { piece in
            piece.separator == nil && looksLikeToken(piece.text) ? shortened(piece.text) : String(piece.text)
        }.joined()
    }

    /// Returns a Boolean value that indicates whether a run of characters is more likely a token than a name.
    ///
    /// Names consist of words and numbers, in which letters follow letters and digits follow digits. Tokens alternate
    /// often between these kinds, consist of hexadecimal digits only, or have runs that are longer than any word.
    private static func looksLikeToken(_ text: Substring) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= minimumTokenLength else { return false }
        guard bytes.count <= maximumNameLength else { return true }
        var changes = 0
        var longestRun = 0
        var run = 0
        var hexadecimalDigits = 0
        var digits = 0
        var previous: Kind?
        for byte in bytes {
            let kind = Kind(byte)
            // An uppercase letter followed by lowercase letters is one word.
            if kind != .other, let previous, kind != previous, !(previous == .upper && kind == .lower && run == 1) {
                changes += 1
            }
            if kind == .digit { digits += 1 }
            let isHexadecimal =
                kind == .digit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20) && kind != .other
            if isHexadecimal { hexadecimalDigits += 1 }
            run = kind == .other ? 0 : (kind == previous && run > 0 ? run + 1 : 1)
            longestRun = kind == .other ? 0 : longestRun + 1
            if longestRun >= 40 { return true }
            if kind != .other { previous = kind }
        }
        let hyphens = bytes.count { $0 == UInt8(ascii: "-") }
        if hexadecimalDigits + hyphens == bytes.count, hexadecimalDigits >= 24, digits > 0 { return true }
        return changes * 3 >= bytes.count
    }

    private enum Kind {
        case upper, lower, digit, other

        init(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
            case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .lower
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .digit
            default: self = .other
            }
        }
    }

    private static func split(
        _ text: Substring,
        separators: String
    ) -> [(text: Substring, separator: UInt8?)] {
        var result: [(Substring, UInt8?)] = []
        var start = text.utf8.startIndex
        var index = start
        while index < text.utf8.endIndex {
            let byte = text.utf8[index]
            let next = text.utf8.index(after: index)
            if separators.utf8.contains(byte) {
                if start < index { result.append((Substring(text.utf8[start..<index]), nil)) }
                result.append((Substring(text.utf8[index..<next]), byte))
                start = next
            }
            index = next
        }
        if start < index { result.append((Substring(text.utf8[start..<index]), nil)) }
        return result
    }

    /// Returns the first characters and `…`.
    ///
    /// At most a quarter of the characters remain, so that little of a short secret is revealed. Unicode scalars are counted,
    /// because a single character can have any number of combining marks.
    private static func shortened(_ text: Substring) -> String {
        String(text.unicodeScalars.prefix(min(prefixLength, text.utf8.count / 4))) + "…"
    }

    static func limited(_ text: Substring, to count: Int) -> String {
        text.utf8.count <= count ? String(text) : String(text.unicodeScalars.prefix(count)) + "…"
    }
}

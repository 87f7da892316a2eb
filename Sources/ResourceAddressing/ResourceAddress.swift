/// The URI of a resource or a relative reference to it, byte for byte as it was given.
///
/// Signed URLs become invalid when they are normalized, so this type never decodes, encodes or reorders anything; it
/// only splits (RFC 3986 Appendix B) and resolves (RFC 3986 §5.2).
public struct ResourceAddress: Sendable, Hashable {
    /// The URI or reference, byte for byte as it was given, including any secrets.
    ///
    /// For requests and files only; messages show ``description``.
    public let text: String

    /// Creates an address from any text, without validation: every text is at least a relative reference.
    ///
    /// The components are parsed when they are read, because most addresses are only passed on.
    public init(_ text: String) {
        self.text = text
    }

    /// The scheme as written, without the colon, or `nil` for a relative reference.
    public var scheme: String? { parts.scheme.map { String($0) } }
    /// The part after `//` (user information, host and port), or `nil` if there is none.
    public var authority: String? { parts.authority.map { String($0) } }
    /// The path as written, possibly empty.
    public var path: String { String(parts.path) }
    /// The query without its question mark, or `nil` if there is none.
    public var query: String? { parts.query.map { String($0) } }
    /// The fragment without its number sign, or `nil` if there is none.
    public var fragment: String? { parts.fragment.map { String($0) } }

    /// The components of a URI (RFC 3986 Appendix B).
    private struct Parts {
        var scheme: Substring?
        var authority: Substring?
        var path: Substring
        var query: Substring?
        var fragment: Substring?
    }

    private var parts: Parts {
        var rest = text[...].utf8
        var parts = Parts(path: "")
        if let hash = rest.firstIndex(of: UInt8(ascii: "#")) {
            parts.fragment = Substring(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
            parts.query = Substring(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let schemeEnd = Self.schemeEnd(rest) {
            parts.scheme = Substring(rest[..<schemeEnd])
            rest = rest[rest.index(after: schemeEnd)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            parts.authority = Substring(rest[..<end])
            rest = rest[end...]
        }
        parts.path = Substring(rest)
        return parts
    }

    /// Creates a `file` URL from an absolute path, with characters percent-encoded that a URI path cannot contain.
    public init(filePath: String) {
        self.init("file://" + PercentEncoding.encode(filePath, allowing: PercentEncoding.pathBytes))
    }

    /// The user name and password as written (RFC 3986 §3.2.1), or `nil` if there are none.
    public var userInformation: String? {
        guard let authority = parts.authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else {
            return nil
        }
        return String(authority[..<at])
    }

    /// The address without its user name and password, for reports and logs; all other parts are unchanged.
    public var withoutUserInformation: ResourceAddress { replacingUserInformation(with: nil) }

    /// Returns the address with another user name and password; `nil` for none.
    ///
    /// An address without a host is returned unchanged.
    public func replacingUserInformation(with new: String?) -> ResourceAddress {
        // Most addresses have none.
        guard new != nil || text.utf8.contains(UInt8(ascii: "@")) else { return self }
        guard let authority = parts.authority else { return self }
        let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
        guard at != nil || new != nil else { return self }
        let host = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
        let before = text[..<authority.startIndex]
        return ResourceAddress("\(before)\(new.map { $0 + "@" } ?? "")\(host)\(text[authority.endIndex...])")
    }

    /// A Boolean value that indicates whether the address has a scheme, so that it does not depend on a base URL.
    public var isAbsolute: Bool { Self.schemeEnd(text[...].utf8) != nil }
    /// The scheme in lowercase, or `nil` for a relative reference.
    public var normalizedScheme: String? { scheme?.lowercased() }
    /// A Boolean value that indicates whether the scheme is `http` or `https`, the host is not empty, and the port, if any, is a number.
    public var isHTTP: Bool {
        guard normalizedScheme == "http" || normalizedScheme == "https" else { return false }
        return host?.isEmpty == false && port != nil
    }
    /// The host in lowercase, without the brackets of an IPv6 address, or `nil` if there is no authority.
    public var host: String? { hostAndPort?.host }
    /// The port that is written, or the default port of the scheme where none is.
    ///
    /// The value is `nil` where the scheme has no default port, and where the text after the colon is not a decimal number. It is
    /// not checked against 65535.
    public var port: Int? {
        if let text = hostAndPort?.port, !text.isEmpty {
            return text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
        }
        switch normalizedScheme {
        case "http": return 80
        case "https": return 443
        default: return nil
        }
    }

    /// The percent-decoded path of a `file` URL on this machine, or `nil` for any other address.
    public var filePath: String? {
        guard normalizedScheme == "file", authority == nil || authority == "" || authority == "localhost" else {
            return nil
        }
        return PercentEncoding.decode(path)
    }

    /// The address as text that is valid in a playlist.
    ///
    /// Quotation marks, spaces, control characters, braces and non-ASCII bytes are percent-encoded: a quotation mark would
    /// end an attribute, a line break the line, and `{$` would begin a variable reference (RFC 8216bis §4.3).
    package var playlistText: String {
        text.utf8.reduce(into: "") { text, byte in
            switch byte {
            case 0x00...0x20, 0x22, 0x7B, 0x7D, 0x7F...:
                text += (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }

    /// The last component of the path as written, or an empty string if the path ends with a slash.
    public var lastPathComponent: String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    /// Returns the address that results from resolving `reference` against this address as the base (RFC 3986 §5.2.2).
    ///
    /// A reference with a scheme, such as a `data` URL, is returned byte for byte, with one exception: a document that was loaded over
    /// HTTP, or that is a `data` URL, must not name local files, so that a `file` URL in it becomes an address that no transport loads
    /// (`isRefusedFile`).
    public func resolving(_ reference: String) -> ResourceAddress {
        // Both are parsed once, because every segment of a long playlist resolves an address.
        let (own, other) = (parts, ResourceAddress(reference).parts)
        if let scheme = other.scheme, Self.isFileScheme(scheme), let base = own.scheme, Self.isRemoteScheme(base) {
            return ResourceAddress(Self.refusedPrefix + reference.dropFirst(Self.filePrefix.count))
        }
        if other.scheme != nil || own.scheme == nil && own.authority == nil && own.path.isEmpty {
            return ResourceAddress(reference)
        }
        var result = ""
        if let scheme = own.scheme { result += scheme + ":" }
        if let authority = other.authority {
            result += "//" + authority + Self.removingDotSegments(other.path)
        } else {
            if let authority = own.authority { result += "//" + authority }
            if other.path.isEmpty {
                result += own.path
            } else {
                let isRooted = other.path.utf8.first == UInt8(ascii: "/")
                result += Self.removingDotSegments(isRooted ? other.path : Self.merging(other.path, to: own))
            }
        }
        let isSamePath = other.authority == nil && other.path.isEmpty
        if let query = isSamePath ? other.query ?? own.query : other.query { result += "?" + query }
        if let fragment = other.fragment { result += "#" + fragment }
        return ResourceAddress(result)
    }

    private static let filePrefix = "file:"
    /// The text in place of `file:` in the URL of a local file that a remote document names.
    private static let refusedPrefix = "refused-file:"

    /// A Boolean value that indicates whether the address is that of a local file which a remote document named, so that it is not
    /// loaded.
    package var isRefusedFile: Bool { text.utf8.starts(with: Self.refusedPrefix.utf8) }

    /// The `file` URL that a remote document named, for messages; the address itself if it is not refused.
    package var withoutRefusal: ResourceAddress {
        isRefusedFile ? ResourceAddress(Self.filePrefix + text.dropFirst(Self.refusedPrefix.count)) : self
    }

    private static func isFileScheme(_ scheme: Substring) -> Bool {
        scheme.utf8.elementsEqual("file".utf8) { $0 | 0x20 == $1 }
    }

    private static func isRemoteScheme(_ scheme: Substring) -> Bool {
        // What is below a refused address is refused as well, such as in nested base URLs.
        ["http", "https", "data", "refused-file"].contains(scheme.lowercased())
    }

    /// Returns a Boolean value that indicates whether relative references resolve to the same address against both
    /// addresses.
    public func isInSameFolder(as other: ResourceAddress) -> Bool {
        resolving("x").text == other.resolving("x").text
    }

    private static func merging(_ relative: Substring, to base: Parts) -> Substring {
        if base.authority != nil, base.path.isEmpty { return "/" + relative }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return base.path[...slash] + relative
    }

    private static func schemeEnd(_ text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                if index == text.startIndex { return nil }
            case UInt8(ascii: ":"): return index == text.startIndex ? nil : index
            default: return nil
            }
            index = text.index(after: index)
        }
        return nil
    }

    private static func removingDotSegments(_ path: Substring) -> Substring {
        guard hasSegmentThatBeginsWithDot(path.utf8) else { return path }
        let isRooted = path.utf8.first == UInt8(ascii: "/")
        var kept: [Substring] = []
        // The path is split by bytes, because a slash and a combining mark that follows it form one character.
        let segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .dropFirst(isRooted ? 1 : 0).map { Substring($0) }
        for (offset, segment) in segments.enumerated() {
            let isLast = offset == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return Substring((isRooted ? "/" : "") + kept.joined(separator: "/"))
    }

    private static func hasSegmentThatBeginsWithDot(_ path: Substring.UTF8View) -> Bool {
        var last = UInt8(ascii: "/")
        for byte in path {
            if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return true }
            last = byte
        }
        return false
    }

    /// The host in lower case, and the text after its colon; `nil` where there is no authority or its brackets are wrong.
    private var hostAndPort: (host: String, port: Substring?)? {
        guard let authority else { return nil }
        let withoutUser = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        if withoutUser.first == "[" {
            guard let bracket = withoutUser.firstIndex(of: "]") else { return nil }
            let inside = withoutUser[withoutUser.index(after: withoutUser.startIndex)..<bracket]
            let rest = withoutUser[withoutUser.index(after: bracket)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            return (inside.lowercased(), rest.dropFirst())
        }
        let parts = withoutUser.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return ((parts.first ?? "").lowercased(), parts.count > 1 ? parts[1] : nil)
    }
}

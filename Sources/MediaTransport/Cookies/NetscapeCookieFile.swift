/// A cookie file in the Netscape format, which curl and yt-dlp read and write.
///
/// A line has seven fields separated by tabs: domain, a flag for subdomains, path, a flag for `Secure`, expiration in
/// seconds since 1970-01-01T00:00:00Z (0 for a session cookie), name, and value. Lines that begin with `#` are
/// comments, except that `#HttpOnly_` before a domain marks an HttpOnly cookie.
struct NetscapeCookieFile {
    /// The first line, without which other programs reject the file.
    private static let head = "# Netscape HTTP Cookie File"
    private static let httpOnlyPrefix = "#HttpOnly_"

    /// The cookies in the order of the file.
    private(set) var cookies: [Cookie] = []
    /// The number of invalid lines.
    private(set) var invalidLineCount = 0
    private var hasHead = false

    /// A Boolean value that indicates whether the file is not a cookie file: it has lines, and none of them is valid.
    var isOtherFormat: Bool { !hasHead && cookies.isEmpty && invalidLineCount > 0 }

    /// Creates a file with the given cookies.
    init(_ cookies: [Cookie]) {
        self.cookies = cookies
    }

    /// Creates the contents of a file; invalid lines are counted and skipped.
    init(_ bytes: some Collection<UInt8>) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes.dropFirst(0)
        hasHead = text.starts(with: Self.head.utf8) || text.starts(with: "# HTTP Cookie File".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) { parseLine(line) }
    }

    private mutating func parseLine(_ line: some Collection<UInt8>) {
        var line = Array(line)
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let isHTTPOnly = line.starts(with: Self.httpOnlyPrefix.utf8)
        if isHTTPOnly { line.removeFirst(Self.httpOnlyPrefix.utf8.count) }
        let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
        guard !isBlank, isHTTPOnly || line.first != UInt8(ascii: "#") else { return }
        if let cookie = Self.cookie(line, isHTTPOnly: isHTTPOnly) {
            cookies.append(cookie)
        } else {
            invalidLineCount += 1
        }
    }

    private static func cookie(_ line: [UInt8], isHTTPOnly: Bool) -> Cookie? {
        guard line.count <= SetCookieField.maximumLength, let text = String(validating: line, as: UTF8.self) else {
            return nil
        }
        var fields = text.utf8.split(separator: 0x09, omittingEmptySubsequences: false).map { String(Substring($0)) }
        // Some editors remove the tab before an empty value.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, let includesSubdomains = flag(fields[1]), let isSecure = flag(fields[3]),
            let expiry = expiry(fields[4])
        else { return nil }
        let dots = fields[0].utf8.first == UInt8(ascii: ".") ? 1 : 0
        let domain = String(Substring(fields[0].utf8.dropFirst(dots))).lowercased()
        guard CookieDomain.isUnambiguous(domain), CookiePath.isValid(fields[2]), isPair(fields[5], fields[6]) else {
            return nil
        }
        let cookie = Cookie(
            name: fields[5],
            value: fields[6],
            domain: domain,
            isHostOnly: !includesSubdomains || CookieDomain.isPublicSuffix(domain) || CookieDomain.isNumeric(domain),
            path: fields[2],
            expiry: expiry.rawValue == 0 ? nil : expiry,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly
        )
        return cookie.satisfiesNamePrefix ? cookie : nil
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Parses seconds since 1970-01-01T00:00:00Z; some programs write a fraction, or an empty field for a session
    /// cookie.
    private static func expiry(_ text: String) -> UnixSeconds? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard digits.allSatisfy(\.isASCIIDigit) else { return nil }
        if digits.isEmpty { return text.isEmpty ? UnixSeconds(0) : nil }
        return UnixSeconds(Int64(Substring(digits)) ?? .max)
    }

    /// Returns a Boolean value that indicates whether a name and a value are valid, so that they are sent as a single
    /// cookie.
    private static func isPair(_ name: String, _ value: String) -> Bool {
        let count = name.utf8.count + value.utf8.count
        return (1...SetCookieField.maximumPairLength).contains(count)
            && !name.utf8.contains { $0.isASCIIControl || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            && !value.utf8.contains { $0.isASCIIControl || $0 == UInt8(ascii: ";") }
    }

    /// The text of the file.
    var text: String {
        var result = Self.head + "\n# Written by Millstream; replaced each time the cookies are saved.\n\n"
        for cookie in cookies {
            let fields = [
                (cookie.isHTTPOnly ? Self.httpOnlyPrefix : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE",
                cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE",
                String(cookie.expiry?.rawValue ?? 0),
                cookie.name,
                cookie.value,
            ]
            result += fields.joined(separator: "\t") + "\n"
        }
        return result
    }
}

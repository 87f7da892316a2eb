/// The lines of a cookie file in the form that Netscape gave it, and that curl and yt-dlp read and write.
///
/// A line has seven fields with tabulators between them: domain, whether hosts below it get the cookie, path, whether it
/// is Secure, expiry in seconds since 1970 or 0 for a session cookie, name and value. Lines that begin with `#` are
/// comments, except for `#HttpOnly_` before a domain.
struct NetscapeCookieFile {
    /// What the first line has to be for other programs to take the file.
    private static let head = "# Netscape HTTP Cookie File"
    private static let httpOnlyMark = "#HttpOnly_"

    /// The cookies, in their order.
    private(set) var cookies: [Cookie] = []
    /// How many lines could not be read.
    private(set) var badLineCount = 0
    private var hasHead = false

    /// Whether it is a file of another kind: it has lines, and none of them belongs here.
    var isForeign: Bool { !hasHead && cookies.isEmpty && badLineCount > 0 }

    /// Makes a file of cookies.
    init(_ cookies: [Cookie]) {
        self.cookies = cookies
    }

    /// Reads a file; bad lines are counted and left out.
    init(_ bytes: some Collection<UInt8>) {
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: byteOrderMark) ? bytes.dropFirst(3) : bytes.dropFirst(0)
        hasHead = text.starts(with: Self.head.utf8) || text.starts(with: "# HTTP Cookie File".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) { take(line) }
    }

    private mutating func take(_ line: some Collection<UInt8>) {
        var line = Array(line)
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        let isHTTPOnly = line.starts(with: Self.httpOnlyMark.utf8)
        if isHTTPOnly { line.removeFirst(Self.httpOnlyMark.utf8.count) }
        let isBlank = line.allSatisfy { $0 == 0x20 || $0 == 0x09 }
        guard !isBlank, isHTTPOnly || line.first != UInt8(ascii: "#") else { return }
        if let cookie = Self.cookie(line, isHTTPOnly: isHTTPOnly) {
            cookies.append(cookie)
        } else {
            badLineCount += 1
        }
    }

    private static func cookie(_ line: [UInt8], isHTTPOnly: Bool) -> Cookie? {
        guard line.count <= SetCookieField.longest, let text = String(validating: line, as: UTF8.self) else {
            return nil
        }
        var fields = text.utf8.split(separator: 0x09, omittingEmptySubsequences: false).map { String(Substring($0)) }
        // Editors take off the tabulator before an empty value.
        if fields.count == 6 { fields.append("") }
        guard fields.count == 7, let reachesBelow = flag(fields[1]), let isSecure = flag(fields[3]),
            let expiry = expiry(fields[4])
        else { return nil }
        let dots = fields[0].utf8.first == UInt8(ascii: ".") ? 1 : 0
        let domain = String(Substring(fields[0].utf8.dropFirst(dots))).lowercased()
        guard CookieDomain.isPlain(domain), CookiePath.isKept(fields[2]), isPair(fields[5], fields[6]) else {
            return nil
        }
        let cookie = Cookie(
            name: fields[5],
            value: fields[6],
            domain: domain,
            isHostOnly: !reachesBelow || CookieDomain.isRegistry(domain) || CookieDomain.isNumeric(domain),
            path: fields[2],
            expiry: expiry.rawValue == 0 ? nil : expiry,
            isSecure: isSecure,
            isHTTPOnly: isHTTPOnly
        )
        return cookie.keepsPromiseOfName ? cookie : nil
    }

    private static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Seconds since 1970; some programs write a fraction, or nothing for a session cookie.
    private static func expiry(_ text: String) -> UnixSeconds? {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard digits.allSatisfy(\.isASCIIDigit) else { return nil }
        if digits.isEmpty { return text.isEmpty ? UnixSeconds(0) : nil }
        return UnixSeconds(Int64(Substring(digits)) ?? .max)
    }

    /// Whether a name and a value could have been set, and so stay one cookie when they are sent.
    private static func isPair(_ name: String, _ value: String) -> Bool {
        let count = name.utf8.count + value.utf8.count
        return (1...SetCookieField.longestPair).contains(count)
            && !name.utf8.contains { $0.isASCIIControl || $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "=") }
            && !value.utf8.contains { $0.isASCIIControl || $0 == UInt8(ascii: ";") }
    }

    /// The text of the file.
    var text: String {
        var result = Self.head + "\n# Written by Millstream; it is replaced whenever cookies are saved.\n\n"
        for cookie in cookies {
            let fields = [
                (cookie.isHTTPOnly ? Self.httpOnlyMark : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
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

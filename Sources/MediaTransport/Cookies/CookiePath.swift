/// Which paths a cookie belongs to (RFC 6265 §5.1.4).
enum CookiePath {
    /// Longer paths than this, in bytes, are not kept: an attribute may be no longer (RFC 6265bis §5.6).
    private static let longest = 1024

    /// The path of a cookie that names none: the folder of the resource that set it.
    ///
    /// A folder that cannot be kept, because it is too long or would break a line of the file, becomes the root. That
    /// gives nothing away: paths do not keep the parts of a site apart (RFC 6265 §8.6).
    static func folder(of path: String) -> String {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), let slash = bytes.lastIndex(of: UInt8(ascii: "/")),
            slash != bytes.startIndex
        else { return "/" }
        let folder = String(path[..<slash])
        return isKept(folder) ? folder : "/"
    }

    /// Whether a path can be that of a cookie.
    static func isKept(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "/") && path.utf8.count <= longest && !path.utf8.contains { $0.isASCIIControl }
    }

    /// Whether a requested path lies at or below that of a cookie: `/foo/x` below `/foo`, but not `/foobar`.
    static func matches(requested: String, cookie: String) -> Bool {
        let (requested, cookie) = (requested.utf8, cookie.utf8)
        guard requested.starts(with: cookie) else { return false }
        if cookie.last == UInt8(ascii: "/") { return true }
        let next = requested.dropFirst(cookie.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

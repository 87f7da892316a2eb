/// The rules that determine the paths to which a cookie is sent (RFC 6265 §5.1.4).
enum CookiePath {
    /// The maximum length of a path in bytes, as of any attribute (RFC 6265bis §5.6).
    private static let maximumLength = 1024

    /// Returns the default path of a cookie: the directory of the resource that set it.
    ///
    /// If the directory is too long or contains a control character, which would break a line of the cookie file, the
    /// path is `/`. This discloses nothing, because paths do not isolate the parts of a site from each other (RFC 6265
    /// §8.6).
    static func defaultPath(for path: String) -> String {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), let slash = bytes.lastIndex(of: UInt8(ascii: "/")),
            slash != bytes.startIndex
        else { return "/" }
        let folder = String(path[..<slash])
        return isValid(folder) ? folder : "/"
    }

    /// Returns a Boolean value that indicates whether a path can be stored with a cookie.
    static func isValid(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "/") && path.utf8.count <= maximumLength
            && !path.utf8.contains { $0.isASCIIControl }
    }

    /// Returns a Boolean value that indicates whether the path of a request is equal to or below the path of a cookie:
    /// `/foo/x` is below `/foo`, `/foobar` is not.
    static func matches(requested: String, cookie: String) -> Bool {
        let (requested, cookie) = (requested.utf8, cookie.utf8)
        guard requested.starts(with: cookie) else { return false }
        if cookie.last == UInt8(ascii: "/") { return true }
        let next = requested.dropFirst(cookie.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

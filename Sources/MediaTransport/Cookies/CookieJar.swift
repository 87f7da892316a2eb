public import ResourceAddressing
import Synchronization

/// The cookie store of an HTTP client (RFC 6265, and RFC 6265bis where that is stricter).
///
/// A jar stores the cookies that servers set, and returns the cookies to send. It has no clock: the caller passes the
/// current time. It can be used from any thread; a call waits only for concurrent calls of the same jar.
///
/// In addition to the standards, the following rules apply:
///
/// - Cookies with the `Secure` attribute are sent over `https` only, without an exception for `http://localhost`.
/// - Hosts in an ambiguous form have no cookies.
/// - Public suffixes such as `co.uk` are those of the Public Suffix List of the system. On systems without libpsl, a
///   cookie is limited to the host that set it.
/// - `SameSite` is ignored, because requests of a player do not come from a site.
/// - The limits are 4,096 bytes for name and value, 1,024 bytes for an attribute, 180 cookies per domain, 3,000 cookies
///   in total, and a lifetime of 400 days. If there are too many cookies, the least recently used ones are removed.
public final class CookieJar: Sendable {
    /// The maximum length of a `Cookie` value in bytes; servers reject longer header fields.
    private static let maximumHeaderLength = 8190

    let table = Mutex(CookieTable())

    /// Creates an empty jar.
    public init() {}

    /// The number of cookies.
    ///
    /// Cookies that have expired since the last call with a time are included.
    public var count: Int { table.withLock { $0.count } }

    /// Removes all cookies.
    public func removeAll() {
        table.withLock { $0 = CookieTable() }
    }

    /// Stores a cookie that a server sets (RFC 6265 §5.2, §5.3).
    ///
    /// A cookie that the server must not set is ignored, as the standard requires. An expired cookie removes the cookie
    /// with the same identity.
    ///
    /// - Parameters:
    ///   - value: The value of one `Set-Cookie` header field; several fields must not be joined with commas.
    ///   - address: The URL of the response, which may be a redirect.
    ///   - now: The time of the response.
    public func store(setCookie value: String, from address: ResourceAddress, now: UnixSeconds) {
        guard let origin = CookieOrigin(address), let field = SetCookieField(value),
            let cookie = Cookie(field, from: origin, now: now)
        else { return }
        table.withLock { table in
            table.removeExpired(now)
            guard origin.isSecure || !table.hasSecureCookie(shadowing: cookie) else { return }
            table.insert(cookie, now: now)
        }
    }

    /// Returns the value of the `Cookie` header field for a request (RFC 6265 §5.4).
    ///
    /// Cookies with longer paths come first, then those that were created earlier. From the first cookie on that would
    /// make the value longer than 8,190 bytes, cookies are left out.
    ///
    /// - Parameters:
    ///   - address: The URL of the request.
    ///   - now: The time of the request.
    /// - Returns: `nil` if there is no cookie to send.
    public func header(for address: ResourceAddress, now: UnixSeconds) -> String? {
        guard let origin = CookieOrigin(address) else { return nil }
        var result = ""
        for cookie in table.withLock({ $0.cookies(for: origin, now: now) }) {
            let addition = result.isEmpty ? cookie.pair : "; " + cookie.pair
            guard result.utf8.count + addition.utf8.count <= Self.maximumHeaderLength else { break }
            result += addition
        }
        return result.isEmpty ? nil : result
    }
}

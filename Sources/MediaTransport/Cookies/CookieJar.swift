public import ResourceAddressing
import Synchronization

/// The cookies of an HTTP client (RFC 6265, and RFC 6265bis where that is stricter).
///
/// A jar keeps what servers set and says what to send. It reads no clock: whoever calls says what time it is. It can be
/// used from any thread, and no call waits for anything but another call.
///
/// What it refuses or leaves out, besides what the standard does:
///
/// - Secure cookies go over `https` only; `http://localhost` is no exception.
/// - Hosts that can be misread have no cookies.
/// - Registries such as `co.uk` are those of the Public Suffix List that the system has. On systems without libpsl, a cookie is
///   only for the host that set it.
/// - `SameSite` means nothing: no request of a player comes from a site.
/// - At most 4,096 bytes of name and value, 1,024 of an attribute, 180 cookies a domain, 3,000 in all, 400 days of life.
///   Where there are too many, the ones not used for longest go.
public final class CookieJar: Sendable {
    /// The longest `Cookie` value in bytes; servers answer longer fields with an error.
    private static let longestHeader = 8190

    let table = Mutex(CookieTable())

    /// Makes an empty jar.
    public init() {}

    /// How many cookies there are.
    ///
    /// Those whose time ran out since the last call that was given a time are among them.
    public var count: Int { table.withLock { $0.count } }

    /// Forgets all cookies.
    public func removeAll() {
        table.withLock { $0 = CookieTable() }
    }

    /// Takes a cookie that a server sets (RFC 6265 §5.2, §5.3).
    ///
    /// What may not be set is left out without a word, as the standard asks. A cookie whose time is over takes out the
    /// one that it would replace.
    ///
    /// - Parameters:
    ///   - value: The value of one `Set-Cookie` field; fields are never joined by commas.
    ///   - address: Where the response came from, that of a redirect included.
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

    /// What to send as the value of `Cookie` (RFC 6265 §5.4).
    ///
    /// Cookies with longer paths come first, then those that were set earlier. What would make the value longer than
    /// 8,190 bytes is left out from the first cookie on that does not fit.
    ///
    /// - Parameters:
    ///   - address: What is asked for.
    ///   - now: The time of the request.
    /// - Returns: `nil` where there is nothing to send.
    public func header(for address: ResourceAddress, now: UnixSeconds) -> String? {
        guard let origin = CookieOrigin(address) else { return nil }
        var result = ""
        for cookie in table.withLock({ $0.cookies(for: origin, now: now) }) {
            let addition = result.isEmpty ? cookie.pair : "; " + cookie.pair
            guard result.utf8.count + addition.utf8.count <= Self.longestHeader else { break }
            result += addition
        }
        return result.isEmpty ? nil : result
    }
}

/// The cookies of a jar by domain, with limits on their number.
struct CookieTable: Sendable {
    /// The maximum number of cookies per domain, as in browsers; the standard requires at least 50 (RFC 6265 §6.1).
    static let maximumPerDomain = 180
    /// The maximum number of cookies in total, which is the minimum that the standard requires (RFC 6265 §6.1).
    static let maximumTotal = 3000

    private var cookies: [String: [Cookie]] = [:]
    /// The number of cookies.
    private(set) var count = 0
    /// A counter that is incremented with every use and determines the order of use.
    private var useCount: UInt64 = 0
    /// A lower bound on the expiration times of all cookies; `nil` if no cookie has one.
    private var earliestExpiry: UnixSeconds?

    /// The cookies of all domains in the order of their creation.
    var all: [Cookie] { cookies.values.joined().sorted { $0.creation < $1.creation } }

    /// Removes the expired cookies.
    mutating func removeExpired(_ now: UnixSeconds) {
        guard let expiry = earliestExpiry, expiry <= now else { return }
        cookies = cookies.compactMapValues { domainCookies in
            let rest = domainCookies.filter { !$0.isExpired(now) }
            return rest.isEmpty ? nil : rest
        }
        count = cookies.values.reduce(0) { $0 + $1.count }
        earliestExpiry = cookies.values.joined().compactMap(\.expiry).min()
    }

    /// Adds a cookie, and removes the one with the same identity; if the new cookie is expired, it is not added.
    mutating func insert(_ cookie: Cookie, now: UnixSeconds) {
        removeExpired(now)
        useCount &+= 1
        var cookie = cookie
        cookie.lastUse = useCount
        cookie.creation = useCount
        if let index = cookies[cookie.domain]?.firstIndex(where: { $0.hasSameIdentity(as: cookie) }),
            let former = remove(at: index, of: cookie.domain)
        {
            cookie.creation = former.creation
        }
        guard !cookie.isExpired(now) else { return }
        cookies[cookie.domain, default: []].append(cookie)
        count += 1
        if let expiry = cookie.expiry { earliestExpiry = min(earliestExpiry ?? expiry, expiry) }
        enforceLimits(on: cookie.domain)
    }

    /// Removes the least recently used cookie of a domain or of the jar if its limit is exceeded (RFC 6265 §5.3).
    private mutating func enforceLimits(on domain: String) {
        if let domainCookies = cookies[domain], domainCookies.count > Self.maximumPerDomain {
            // Secure cookies are removed last; otherwise an attacker could evict them over http (RFC 6265bis §5.7).
            let open = domainCookies.filter { !$0.isSecure }
            removeLeastUsed(of: open.isEmpty ? domainCookies : open)
        }
        if count > Self.maximumTotal { removeLeastUsed(of: cookies.values.joined()) }
    }

    private mutating func removeLeastUsed(of some: some Sequence<Cookie>) {
        let victim = some.min { ($0.lastUse, $0.creation) < ($1.lastUse, $1.creation) }
        guard let victim,
            let index = cookies[victim.domain]?.firstIndex(where: { $0.creation == victim.creation })
        else { return }
        remove(at: index, of: victim.domain)
    }

    @discardableResult
    private mutating func remove(at index: Int, of domain: String) -> Cookie? {
        guard let removed = cookies[domain]?.remove(at: index) else { return nil }
        count -= 1
        if cookies[domain]?.isEmpty == true { cookies[domain] = nil }
        return removed
    }

    /// Returns the cookies for a request: those with longer paths first, then those created earlier (RFC 6265 §5.4).
    mutating func cookies(for origin: CookieOrigin, now: UnixSeconds) -> [Cookie] {
        removeExpired(now)
        useCount &+= 1
        var found: [Cookie] = []
        for domain in CookieDomain.domains(matching: origin.host) {
            guard let indices = cookies[domain]?.indices else { continue }
            for index in indices {
                guard let cookie = cookies[domain]?[index], cookie.isSent(to: origin) else { continue }
                cookies[domain]?[index].lastUse = useCount
                found.append(cookie)
            }
        }
        return found.sorted { ($1.path.utf8.count, $0.creation) < ($0.path.utf8.count, $1.creation) }
    }

    /// Returns a Boolean value that indicates whether a `Secure` cookie prevents this cookie from being set over `http`
    /// (RFC 6265bis §5.7).
    ///
    /// An attacker who controls only the `http` connection must neither replace the secure cookie nor add one that
    /// servers would confuse with it.
    func hasSecureCookie(shadowing cookie: Cookie) -> Bool {
        cookies.contains { domain, domainCookies in
            guard
                CookieDomain.matches(host: domain, domain: cookie.domain)
                    || CookieDomain.matches(host: cookie.domain, domain: domain)
            else { return false }
            return domainCookies.contains {
                $0.isSecure && $0.name.utf8.elementsEqual(cookie.name.utf8)
                    && CookiePath.matches(requested: cookie.path, cookie: $0.path)
            }
        }
    }
}

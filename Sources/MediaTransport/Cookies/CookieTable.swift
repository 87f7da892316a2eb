/// The cookies of a jar, by domain, and the limits on their number.
struct CookieTable: Sendable {
    /// The most cookies of one domain, as browsers have it; the standard asks for 50 at least (RFC 6265 §6.1).
    static let mostPerDomain = 180
    /// The most cookies of all domains; the standard asks for as many at least (RFC 6265 §6.1).
    static let mostInAll = 3000

    private var cookies: [String: [Cookie]] = [:]
    /// How many there are.
    private(set) var count = 0
    /// Counts up with every use, and so orders them.
    private var uses: UInt64 = 0
    /// No cookie ends before this.
    private var firstExpiry: UnixSeconds?

    /// All cookies, in the order of their creation.
    var all: [Cookie] { cookies.values.joined().sorted { $0.creation < $1.creation } }

    /// Takes out what is over.
    mutating func removeExpired(_ now: UnixSeconds) {
        guard let expiry = firstExpiry, expiry <= now else { return }
        cookies = cookies.compactMapValues { shelf in
            let rest = shelf.filter { !$0.isExpired(now) }
            return rest.isEmpty ? nil : rest
        }
        count = cookies.values.reduce(0) { $0 + $1.count }
        firstExpiry = cookies.values.joined().compactMap(\.expiry).min()
    }

    /// Puts a cookie in the place of an older one, or beside the others; one that is over only takes the older one out.
    mutating func insert(_ cookie: Cookie, now: UnixSeconds) {
        removeExpired(now)
        uses &+= 1
        var cookie = cookie
        cookie.lastUse = uses
        cookie.creation = uses
        if let index = cookies[cookie.domain]?.firstIndex(where: { $0.hasSameIdentity(as: cookie) }),
            let former = remove(at: index, of: cookie.domain)
        {
            cookie.creation = former.creation
        }
        guard !cookie.isExpired(now) else { return }
        cookies[cookie.domain, default: []].append(cookie)
        count += 1
        if let expiry = cookie.expiry { firstExpiry = min(firstExpiry ?? expiry, expiry) }
        keepLimits(on: cookie.domain)
    }

    /// What is over is out already; now the one that was not used for longest goes (RFC 6265 §5.3).
    private mutating func keepLimits(on domain: String) {
        if let shelf = cookies[domain], shelf.count > Self.mostPerDomain {
            // Secure ones last: over http nobody can be kept from flooding them out otherwise (RFC 6265bis §5.7).
            let open = shelf.filter { !$0.isSecure }
            removeLeastUsed(of: open.isEmpty ? shelf : open)
        }
        if count > Self.mostInAll { removeLeastUsed(of: cookies.values.joined()) }
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

    /// The cookies for a request: longer paths first, then earlier creation (RFC 6265 §5.4).
    mutating func cookies(for origin: CookieOrigin, now: UnixSeconds) -> [Cookie] {
        removeExpired(now)
        uses &+= 1
        var found: [Cookie] = []
        for domain in CookieDomain.candidates(for: origin.host) {
            guard let indices = cookies[domain]?.indices else { continue }
            for index in indices {
                guard let cookie = cookies[domain]?[index], cookie.isSent(to: origin) else { continue }
                cookies[domain]?[index].lastUse = uses
                found.append(cookie)
            }
        }
        return found.sorted { ($1.path.utf8.count, $0.creation) < ($0.path.utf8.count, $1.creation) }
    }

    /// Whether a Secure cookie forbids that this one be set over `http` (RFC 6265bis §5.7).
    ///
    /// Who only listens on `http` may neither replace it nor place one beside it that servers would take for it.
    func hasSecureCookie(shadowing cookie: Cookie) -> Bool {
        cookies.contains { domain, shelf in
            guard
                CookieDomain.matches(host: domain, domain: cookie.domain)
                    || CookieDomain.matches(host: cookie.domain, domain: domain)
            else { return false }
            return shelf.contains {
                $0.isSecure && $0.name.utf8.elementsEqual(cookie.name.utf8)
                    && CookiePath.matches(requested: cookie.path, cookie: $0.path)
            }
        }
    }
}

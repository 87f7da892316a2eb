import Synchronization

extension CookieJar {
    /// Creates a jar from the text of a cookie file in the Netscape format, as written by curl and yt-dlp.
    ///
    /// - Parameters:
    ///   - text: The text; invalid lines and expired cookies are skipped.
    ///   - now: The current time.
    public convenience init(netscapeFile text: String, now: UnixSeconds) {
        self.init()
        add(NetscapeCookieFile(text.utf8), now: now)
    }

    /// Adds the cookies of a file; they replace existing cookies with the same identity.
    func add(_ file: NetscapeCookieFile, now: UnixSeconds) {
        // Only the last cookies of a longer file are added, because they would replace the others.
        let latest = now.adding(seconds: Cookie.maximumLifetime)
        let cookies = file.cookies.filter { !$0.isExpired(now) }.suffix(CookieTable.maximumTotal).map { cookie in
            var cookie = cookie
            cookie.expiry = cookie.expiry.map { min($0, latest) }
            return cookie
        }
        table.withLock { table in
            for cookie in cookies { table.insert(cookie, now: now) }
        }
    }

    /// Returns the cookies as the text of a file that curl and yt-dlp can read, in the order of their creation.
    ///
    /// Session cookies are included with an expiration time of 0, as in curl. The text contains secrets.
    ///
    /// - Parameter now: The current time; expired cookies are not included.
    /// - Returns: Lines that end in line feeds.
    public func netscapeText(now: UnixSeconds) -> String {
        let cookies = table.withLock { table in
            table.removeExpired(now)
            return table.all
        }
        return NetscapeCookieFile(cookies).text
    }
}

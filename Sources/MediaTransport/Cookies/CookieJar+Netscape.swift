import Synchronization

extension CookieJar {
    /// Makes a jar of the text of a cookie file, as curl and yt-dlp write it.
    ///
    /// - Parameters:
    ///   - text: The text; lines that cannot be read, and cookies whose time is over, are left out.
    ///   - now: The time.
    public convenience init(netscapeFile text: String, now: UnixSeconds) {
        self.init()
        add(NetscapeCookieFile(text.utf8), now: now)
    }

    /// Adds the cookies of a file; they replace those that are there.
    func add(_ file: NetscapeCookieFile, now: UnixSeconds) {
        // A longer file would only push its own cookies out again, one by one.
        let latest = now.adding(seconds: Cookie.longestLife)
        let cookies = file.cookies.filter { !$0.isExpired(now) }.suffix(CookieTable.mostInAll).map { cookie in
            var cookie = cookie
            cookie.expiry = cookie.expiry.map { min($0, latest) }
            return cookie
        }
        table.withLock { table in
            for cookie in cookies { table.insert(cookie, now: now) }
        }
    }

    /// The cookies as the text of a file that curl and yt-dlp read; earlier ones come first.
    ///
    /// Session cookies are among them, with 0 for their end, as curl writes them. The text holds secrets.
    ///
    /// - Parameter now: The time; cookies that are over are left out.
    /// - Returns: Lines with line feeds at their ends.
    public func netscapeText(now: UnixSeconds) -> String {
        let cookies = table.withLock { table in
            table.removeExpired(now)
            return table.all
        }
        return NetscapeCookieFile(cookies).text
    }
}

extension String {
    /// The maximum size of a string in a log: 8 KiB in UTF-8, more than URLs and messages need.
    private static let maximumSize = 8_192

    /// The string, truncated to the maximum size in a log.
    ///
    /// URLs and messages come from servers, and a log exists as long as the session.
    var limited: String {
        guard utf8.count > Self.maximumSize else { return self }
        var result = ""
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            if count > Self.maximumSize { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// The IP address without a port and without the brackets of an IPv6 address.
    package var withoutPort: String {
        if hasPrefix("["), let end = lastIndex(of: "]") { return String(self[index(after: startIndex)..<end]) }
        guard let colon = lastIndex(of: ":"), firstIndex(of: ":") == colon else { return self }
        return String(self[..<colon])
    }
}

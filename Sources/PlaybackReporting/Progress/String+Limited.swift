extension String {
    /// How long a text may be that a log keeps: 8 KiB in UTF-8, more than addresses and messages need.
    private static let mostBytes = 8_192

    /// The text, cut to what a log keeps.
    ///
    /// Addresses and messages come from servers, and a log lives as long as the session.
    var limited: String {
        guard utf8.count > Self.mostBytes else { return self }
        var result = ""
        var count = 0
        for scalar in unicodeScalars {
            count += UTF8.width(scalar)
            if count > Self.mostBytes { break }
            result.unicodeScalars.append(scalar)
        }
        return result
    }

    /// A numeric address as a log has it: without the port, and without the brackets that keep them apart.
    package var withoutPort: String {
        if hasPrefix("["), let end = lastIndex(of: "]") { return String(self[index(after: startIndex)..<end]) }
        guard let colon = lastIndex(of: ":"), firstIndex(of: ":") == colon else { return self }
        return String(self[..<colon])
    }
}

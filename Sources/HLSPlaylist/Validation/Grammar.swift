import MediaTiming

/// The syntax of values in playlists (RFC 8216bis §4.2).
package enum Grammar {
    private static func isDigit(_ byte: UInt8) -> Bool { byte.isDigit }

    /// Returns a Boolean value that indicates whether a text consists of one or more digits.
    static func isDigits(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }

    /// Returns a Boolean value that indicates whether a text is a decimal integer of at most 64 bits.
    private static func isInteger(_ text: Substring) -> Bool {
        isDigits(text) && text.utf8.count <= 20 && UInt64(text) != nil
    }

    /// Returns a Boolean value that indicates whether a text consists of one or more digits and at most one decimal
    /// point.
    static func isDecimal(_ text: some StringProtocol) -> Bool {
        var (digits, points) = (0, 0)
        for byte in text.utf8 {
            if isDigit(byte) { digits += 1 } else if byte == UInt8(ascii: ".") { points += 1 } else { return false }
        }
        return digits > 0 && points <= 1
    }

    /// Returns a Boolean value that indicates whether a range consists of digits and at most one decimal point.
    static func isDecimal(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        var (digits, points) = (0, 0)
        for index in range {
            if isDigit(bytes[index]) {
                digits += 1
            } else if bytes[index] == UInt8(ascii: ".") {
                points += 1
            } else {
                return false
            }
        }
        return digits > 0 && points <= 1
    }

    /// Returns a Boolean value that indicates whether a range has the form `length` or `length@offset`.
    static func isByteRange(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        let at = bytes.firstIndex(of: UInt8(ascii: "@"), in: range)
        guard isInteger(bytes, in: range.lowerBound..<(at ?? range.upperBound)) else { return false }
        return at.map { isInteger(bytes, in: ($0 + 1)..<range.upperBound) } ?? true
    }

    /// Returns a Boolean value that indicates whether a range is a decimal integer of at most 64 bits.
    private static func isInteger(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        guard !range.isEmpty, range.count <= 20 else { return false }
        var index = range.lowerBound
        return bytes.unsignedInteger(&index, before: range.upperBound) != nil && index == range.upperBound
    }

    /// Returns a Boolean value that indicates whether a text is a decimal number that may have a minus sign.
    static func isSignedDecimal(_ text: String) -> Bool {
        isDecimal(text.hasPrefix("-") ? text.dropFirst() : text[...])
    }

    /// Returns a Boolean value that indicates whether a text is `0x` or `0X`, followed by hexadecimal digits.
    static func isHexadecimal(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count > 2, bytes[0] == UInt8(ascii: "0"), bytes[1] | 0x20 == UInt8(ascii: "x") else { return false }
        return bytes.dropFirst(2).allSatisfy { byte in
            isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }

    /// Returns a Boolean value that indicates whether a text consists of two integers with a lowercase `x` between
    /// them.
    static func isResolution(_ text: String) -> Bool {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy(isInteger)
    }

    /// Returns a Boolean value that indicates whether a text consists of uppercase letters, digits and hyphens.
    static func isAttributeName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                isDigit($0) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    /// Returns a Boolean value that indicates whether a text consists of letters, digits, hyphens and underscores.
    static func isVariableName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isVariableByte)
    }

    static func isVariableByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    /// Returns a Boolean value that indicates whether a text has the form `length` or `length@offset`.
    static func isByteRange(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy(isInteger)
    }

    /// Returns a Boolean value that indicates whether a URI has a scheme.
    static func isAbsolute(_ address: String) -> Bool {
        guard let colon = address.firstIndex(of: ":"), let first = address.utf8.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20)
        else { return false }
        return address[..<colon].utf8.allSatisfy {
            isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) || "+.-".utf8.contains($0)
        }
    }

    /// Returns a Boolean value that indicates whether a text is a well-formed language tag (RFC 5646 §2.1).
    static func isLanguageTag(_ text: String) -> Bool {
        var parts = text.split(separator: "-", omittingEmptySubsequences: false)[...]
        guard
            parts.allSatisfy({ part in
                (1...8).contains(part.utf8.count)
                    && part.utf8.allSatisfy {
                        isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    }
            }), let first = parts.popFirst()
        else { return false }
        func isAlphabetic(_ part: Substring, _ lengths: ClosedRange<Int>) -> Bool {
            lengths.contains(part.utf8.count) && !part.utf8.contains(where: isDigit)
        }
        if irregularLanguageTags.contains(text.lowercased()) { return true }
        if first.lowercased() == "x" { return !parts.isEmpty }
        guard isAlphabetic(first, 2...8) else { return false }
        if first.utf8.count <= 3 {
            for _ in 0..<3 { if let next = parts.first, isAlphabetic(next, 3...3) { parts.removeFirst() } }
        }
        if let next = parts.first, isAlphabetic(next, 4...4) { parts.removeFirst() }
        if let next = parts.first, isAlphabetic(next, 2...2) || next.utf8.count == 3 && isDigits(next) {
            parts.removeFirst()
        }
        while let next = parts.first,
            next.utf8.count >= 5 || next.utf8.count == 4 && next.utf8.first.map(isDigit) == true
        {
            parts.removeFirst()
        }
        // A singleton may appear once; the one for private use comes last.
        var singletons: Set<String> = []
        while let single = parts.popFirst() {
            guard single.utf8.count == 1, singletons.insert(single.lowercased()).inserted else { return false }
            let shortest = single.lowercased() == "x" ? 1 : 2
            let before = parts.count
            while let next = parts.first, next.utf8.count >= shortest { parts.removeFirst() }
            guard parts.count < before else { return false }
        }
        return true
    }

    /// The registered language tags that the other rules of the syntax do not allow, in lowercase letters.
    private static let irregularLanguageTags: Set<String> = [
        "en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo",
        "i-pwn", "i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
    ]
}

/// A date in a playlist, with the properties that validation needs.
struct InspectedDate {
    let sinceEpoch: MediaTime
    let hasZone: Bool
    let hasMilliseconds: Bool

    /// Creates a date from text.
    ///
    /// - Returns: `nil` if the text is not a date or the day does not exist in the calendar.
    init?(_ text: String) {
        self.init(Array(text.utf8).span)
    }

    /// Creates a date from text in UTF-8.
    init?(_ bytes: Span<UInt8>) {
        guard let moment = ProgramDateTime(bytes), Self.existsInCalendar(bytes) else { return nil }
        sinceEpoch = moment.sinceEpoch
        hasZone = moment.zoneMinutes != nil
        var digits = 0
        if let point = bytes.firstIndex(of: UInt8(ascii: "."), in: 0..<bytes.count) {
            while point + 1 + digits < bytes.count, bytes[point + 1 + digits].isDigit { digits += 1 }
        }
        hasMilliseconds = digits >= 3
    }

    private static func existsInCalendar(_ bytes: Span<UInt8>) -> Bool {
        // The parser has read the year, the month and the day, which begin the text, with one byte between them.
        let start = bytes.trimmingSpaces(0..<bytes.count).lowerBound
        func number(_ offset: Int, _ count: Int) -> Int {
            // Bounded: at most four digits.
            (start + offset..<start + offset + count).reduce(0) { $0 * 10 + Int(bytes[$1] - UInt8(ascii: "0")) }
        }
        let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
        let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
        // The parser has compared the month with 1 and 12, and the day with 1 and 31.
        return switch month {
        case 2: day <= (isLeap ? 29 : 28)
        case 4, 6, 9, 11: day <= 30
        default: true
        }
    }
}

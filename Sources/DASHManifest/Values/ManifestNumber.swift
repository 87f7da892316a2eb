package import MediaTiming

/// A namespace for reading the numbers of a manifest, whose white space is collapsed as XML Schema requires.
package enum ManifestNumber {
    /// Returns an integer, clamped to 64 bits, or `nil` if the text is not an integer.
    package static func integer(_ text: String) -> Int64? {
        var result: Int64 = 0
        var isNegative = false
        var hasDigits = false
        var isFinished = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                guard !isFinished else { return nil }
                let digit = Int64(byte &- UInt8(ascii: "0"))
                result *|= 10
                result +|= isNegative ? digit.negatedSaturated() : digit
                hasDigits = true
            case UInt8(ascii: "-"), UInt8(ascii: "+"):
                guard !hasDigits, !isFinished, !isNegative else { return nil }
                isNegative = byte == UInt8(ascii: "-")
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                isFinished = hasDigits
            default: return nil
            }
        }
        return hasDigits ? result : nil
    }

    /// Returns a decimal number without an exponent, or `nil` if the text is no such number.
    package static func decimal(_ text: String) -> MediaTime? { MediaTime(decimal: trimmed(text)) }

    /// Returns a Boolean value that indicates whether the text is the positive infinity of XML Schema.
    package static func isInfinite(_ text: String) -> Bool { trimmed(text) == "INF" }

    /// Returns a Boolean value, or `nil` if the text is not one.
    package static func boolean(_ text: String) -> Bool? {
        switch trimmed(text) {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    /// Returns the frames per second as an exact fraction, or `nil` if the text is not a positive frame rate.
    package static func frameRate(_ text: String) -> MediaTime? {
        let parts = trimmed(text).split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2 else { return nil }
        guard parts.count == 2 else { return MediaTime(decimal: first).flatMap { $0 > .zero ? $0 : nil } }
        guard let frames = integer(String(first)), let seconds = integer(String(parts[1])), frames > 0, seconds > 0
        else { return nil }
        return MediaTime(value: frames, timescale: seconds)
    }

    /// Returns a Boolean value that indicates whether the text is a ratio of two integers, such as `16:9`.
    package static func isRatio(_ text: String) -> Bool {
        let parts = trimmed(text).split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { integer(String($0)).map { $0 >= 0 } ?? false }
    }

    /// Returns the range between two byte positions that are both included, or `nil` if the text is no such range.
    package static func byteRange(_ text: String) -> ByteRange? {
        let parts = trimmed(text).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let first = integer(String(parts[0])), let last = integer(String(parts[1])),
            first >= 0, last >= first, last < .max
        else { return nil }
        return ByteRange(start: first, length: (last -| first) +| 1)
    }

    /// Returns the items of a list, without white space and empty items.
    package static func items(_ text: String, separator: Character) -> [String] {
        text.split { $0 == separator || $0.isWhitespace && separator == " " }.map { trimmed(String($0)) }
            .filter { !$0.isEmpty }
    }

    /// Returns the text without leading and trailing white space.
    package static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
        guard let first = text.utf8.first, let last = text.utf8.last, isBlank(first) || isBlank(last) else {
            return text
        }
        let view = text.utf8
        guard let start = view.firstIndex(where: { !isBlank($0) }), let end = view.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return String(text[start...end])
    }
}

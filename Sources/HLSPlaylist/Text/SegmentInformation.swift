import MediaTiming

/// The value of an `EXTINF` tag: a duration, a comma and a title.
enum SegmentInformation {
    /// Returns the duration up to the comma, or −1 if it is not a decimal number.
    @inline(__always)
    static func digits(_ bytes: Span<UInt8>, in range: Range<Int>) -> DecimalDigits {
        frequentDigits(bytes, in: range) ?? slowlyParsedDigits(bytes, in: range)
    }

    /// Returns the duration up to the comma, or `nil` if it has more than 18 digits or another form.
    @inline(__always)
    static func frequentDigits(_ bytes: Span<UInt8>, in range: Range<Int>) -> DecimalDigits? {
        var index = range.lowerBound
        var value: Int64 = 0
        var point: Int?
        while index < range.upperBound {
            let byte = bytes[index] &- UInt8(ascii: "0")
            if byte < 10 {
                value = value &* 10 &+ Int64(byte)
            } else if bytes[index] == UInt8(ascii: "."), point == nil {
                point = index
            } else {
                break
            }
            index += 1
        }
        let count = index - range.lowerBound
        let isUsual = count <= 18 && count > (point == nil ? 0 : 1)
        if isUsual, index == range.upperBound || bytes[index] == UInt8(ascii: ",") {
            return DecimalDigits(value: value, fractionDigits: point.map { index - $0 - 1 } ?? 0)
        }
        return nil
    }

    private static func slowlyParsedDigits(_ bytes: Span<UInt8>, in range: Range<Int>) -> DecimalDigits {
        let comma = bytes.firstIndex(of: UInt8(ascii: ","), in: range) ?? range.upperBound
        return DecimalDigits(bytes.extracting(bytes.trimmingBlanks(range.lowerBound..<comma)))
            ?? DecimalDigits(value: -1, fractionDigits: 0)
    }

    /// Returns the duration up to the comma, or `nil` if it is not a decimal number.
    static func duration(_ bytes: [UInt8], in range: Range<Int>) -> DecimalDigits? {
        let comma = bytes.span.firstIndex(of: UInt8(ascii: ","), in: range) ?? range.upperBound
        return DecimalDigits(bytes.span.extracting(bytes.span.trimmingBlanks(range.lowerBound..<comma)))
    }

    /// Returns the title after the comma, or `nil` if it is empty.
    static func title(_ bytes: [UInt8], in range: Range<Int>) -> String? {
        guard let comma = bytes[range].firstIndex(of: UInt8(ascii: ",")), comma + 1 < range.upperBound else {
            return nil
        }
        return bytes.text((comma + 1)..<range.upperBound)
    }
}

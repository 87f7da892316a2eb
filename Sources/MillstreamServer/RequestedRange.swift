import MediaTiming

/// The meaning of a `Range` field for a resource (RFC 9110 §14.1.1).
enum RequestedRange: Hashable {
    /// The bytes to send, all of which the resource has.
    case bytes(ClosedRange<Int>)
    /// The resource has no byte of the range. The response has the status 416.
    case notSatisfiable
    /// The field is ignored: it has another form or another unit, its range ends before it starts, or it has several ranges.
    case invalid

    /// Creates the meaning of a field.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - size: The size of the resource, in bytes.
    init(_ text: String, size: Int) {
        self = .invalid
        guard text.hasPrefix("bytes=") else { return }
        let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return }
        if bounds[0].isEmpty {
            guard let length = Self.number(bounds[1]) else { return }
            self = length > 0 && size > 0 ? .bytes(max(0, size - length)...(size - 1)) : .notSatisfiable
            return
        }
        guard let low = Self.number(bounds[0]), let high = bounds[1].isEmpty ? Int.max : Self.number(bounds[1]),
            low <= high
        else { return }
        self = low < size ? .bytes(low...min(high, size -| 1)) : .notSatisfiable
    }

    /// Returns the number that decimal digits represent, at most the largest integer; `nil` for other text.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value.multipliedSaturated(by: 10).addingSaturated(Int(byte -| UInt8(ascii: "0")))
        }
        return value
    }
}

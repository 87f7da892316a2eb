/// A range of bytes in a resource, as in `EXT-X-BYTERANGE` and the HTTP `Range` header.
public struct ByteRange: Sendable, Hashable {
    /// The offset of the first byte, 0 or more.
    public let start: Int64
    /// The number of bytes, 0 or more.
    public let length: Int64

    /// The offset of the first byte after the range.
    public var end: Int64 { start +| length }

    /// Creates a byte range; the result is `nil` if a number is negative or the end does not fit in 64 bits.
    public init?(start: Int64, length: Int64) {
        guard start >= 0, length >= 0, !start.addingReportingOverflow(length).overflow else { return nil }
        self.start = start
        self.length = length
    }
}

extension ByteRange: CustomStringConvertible {
    /// The range as `length@start`, the form that a playlist uses (RFC 8216bis §4.4.4.2).
    public var description: String { "\(length)@\(start)" }
}

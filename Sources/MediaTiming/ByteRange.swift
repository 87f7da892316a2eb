/// A stretch of a resource in bytes, as `EXT-X-BYTERANGE` and HTTP's `Range` name it.
public struct ByteRange: Sendable, Hashable {
    /// The offset of the first byte, 0 or more.
    public let start: Int64
    /// How many bytes, 0 or more.
    public let length: Int64

    /// The offset of the first byte behind it.
    public var end: Int64 { start +| length }

    /// Makes a range; `nil` where a number is negative or the end would not fit in 64 bits.
    public init?(start: Int64, length: Int64) {
        guard start >= 0, length >= 0, !start.addingReportingOverflow(length).overflow else { return nil }
        self.start = start
        self.length = length
    }
}

extension ByteRange: CustomStringConvertible {
    /// `length@start`, as a playlist writes it (RFC 8216bis §4.4.4.2).
    public var description: String { "\(length)@\(start)" }
}

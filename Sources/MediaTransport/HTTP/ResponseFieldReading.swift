package import MediaTiming

/// The readers of header fields of responses, for programs that test them with arbitrary input.
package enum ResponseFieldReading {
    /// Reads `Content-Range` (RFC 9110 §14.4); `nil` where it names no range or contradicts itself.
    package static func byteRange(contentRange text: String) -> ByteRange? {
        ContentRange(text).flatMap { ByteRange(start: $0.start, length: $0.end -| $0.start) }
    }

    /// Reads `Retry-After` (RFC 9110 §10.2.3), relative to the value of `Date`.
    package static func delay(retryAfter value: String, date: String?) -> Duration? {
        RetryAfter.duration(value, date: date)
    }
}

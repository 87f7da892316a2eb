package import MediaTiming

/// The parsers for response header fields, for fuzz tests.
package enum ResponseHeaderParsing {
    /// Parses `Content-Range` (RFC 9110 §14.4); `nil` if it is invalid or contradictory.
    package static func byteRange(contentRange text: String) -> ByteRange? {
        ContentRange(text).flatMap { ByteRange(start: $0.start, length: $0.end -| $0.start) }
    }

    /// Parses `Retry-After` (RFC 9110 §10.2.3), with a date relative to the value of `Date`.
    package static func delay(retryAfter value: String, date: String?) -> Duration? {
        RetryAfter.duration(value, date: date)
    }
}

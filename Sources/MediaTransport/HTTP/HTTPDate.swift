/// A parser for dates in HTTP header fields (RFC 9110 §5.6.7).
package enum HTTPDate {
    /// Returns a date in seconds since 1970-01-01T00:00:00Z; `nil` if the text is not a date.
    package static func seconds(_ text: String) -> Int64? { CookieDate.parse(text.utf8)?.rawValue }
}

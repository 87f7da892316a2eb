/// Dates as HTTP writes them (RFC 9110 §5.6.7).
enum HTTPDate {
    /// Seconds since 1970; `nil` for what is no date.
    static func seconds(_ text: String) -> Int64? { CookieDate.parse(text.utf8)?.rawValue }
}

/// Functions that parse client input, for programs that test them with arbitrary bytes.
package enum RequestParsing {
    /// Returns the address that a query of a playback address stands for.
    ///
    /// - Parameter query: The part after the question mark.
    /// - Returns: A path with a query that is parsed as the same request.
    /// - Throws: `ServerError`, `PlaylistEditError` if the query is invalid.
    package static func playbackPath(_ query: String) throws -> String { try PlaybackRequest(QueryItems(query)).path }

    /// Returns the byte range of a `Range` field (RFC 9110 §14.2).
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - size: The size of the resource, in bytes.
    /// - Returns: The range of bytes to send; `nil` if the field contains no range or several.
    package static func byteRange(_ field: String, size: Int) -> ClosedRange<Int>? {
        FileResponder.range(field, size: size)
    }
}

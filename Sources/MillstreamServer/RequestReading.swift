/// The readers of what clients write in requests, for programs that test them with arbitrary input.
package enum RequestReading {
    /// Reads the query of a playback address and returns the address that it stands for.
    ///
    /// - Parameter query: The part after the question mark.
    /// - Returns: A path with a query that reads as the same request.
    /// - Throws: `ServerError`, `PlaylistEditError` where the query is no request.
    package static func playbackPath(_ query: String) throws -> String { try PlaybackRequest(QueryItems(query)).path }

    /// Reads a `Range` field (RFC 9110 §14.2).
    ///
    /// - Parameters:
    ///   - field: The value of the field.
    ///   - size: The size of the resource, in bytes.
    /// - Returns: The range of bytes to send; `nil` where the field names none or several.
    package static func byteRange(_ field: String, size: Int) -> ClosedRange<Int>? {
        FileResponder.range(field, size: size)
    }
}

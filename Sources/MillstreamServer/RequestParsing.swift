import ResourceAddressing

/// Functions that parse client input, also for programs that test them with arbitrary bytes.
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

    /// Returns whether a path has only plain components: none is empty, `.` or `..`, and none contains a slash, a
    /// backslash or a control character, percent-encoded or not.
    ///
    /// - Parameter path: The path, which begins with a slash.
    /// - Returns: `true` if file systems, caches and servers interpret it in the same way.
    package static func isUnambiguous(path: String) -> Bool {
        if path == "/" { return true }
        return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
            guard let name = PercentEncoding.decode(String(Substring($0))), !["", ".", ".."].contains(name) else {
                return false
            }
            return name.utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
            }
        }
    }
}

import HTTPTypes
import MediaTransport

/// The preconditions of a request (RFC 9110 §13.1).
struct ConditionalRequest {
    private let headers: HTTPFields

    init(_ headers: HTTPFields) { self.headers = headers }

    /// Returns a Boolean value that indicates whether the client has one of the representations with the given entity tags
    /// (RFC 9110 §13.1.2).
    func hasRepresentation(_ tags: String...) -> Bool {
        let known = tags.map { Self.withoutWeakness($0[...]) }
        return headers[values: .ifNoneMatch].contains { field in
            field.split(separator: ",").contains { part in
                let candidate = Self.withoutWeakness(part.filter { $0 != " " && $0 != "\t" }[...])
                return candidate == "*" || !candidate.isEmpty && known.contains(candidate)
            }
        }
    }

    /// Returns a Boolean value that indicates whether the client already has the current version of the file in the origin's
    /// response (RFC 9110 §13.2.2).
    func hasContent(of response: TransportResponse) -> Bool {
        guard headers[.ifNoneMatch] == nil else { return hasRepresentation(response.header("ETag") ?? "") }
        guard response.status == 200, let modified = response.header("Last-Modified").flatMap({ HTTPDate.seconds($0) })
        else { return false }
        return isUnmodified(since: UnixSeconds(modified))
    }

    /// Returns a Boolean value that indicates whether the client already has the current version of a file (RFC 9110 §13.2.2).
    ///
    /// - Parameters:
    ///   - tag: The entity tag of the file.
    ///   - modified: The time of its last modification.
    /// - Returns: A Boolean value that indicates whether the response is 304.
    func hasFile(taggedWith tag: String, modifiedAt modified: UnixSeconds) -> Bool {
        headers[.ifNoneMatch] == nil ? isUnmodified(since: modified) : hasRepresentation(tag)
    }

    /// Returns a Boolean value that indicates whether a modification is not after the time in `If-Modified-Since`; `false` without a
    /// valid time (RFC 9110 §13.1.3).
    private func isUnmodified(since modified: UnixSeconds) -> Bool {
        headers[.ifModifiedSince].flatMap { HTTPDate.seconds($0) }.map { modified.rawValue <= $0 } ?? false
    }

    /// The condition with which a request for the same representation is sent to an origin; `nil` for none.
    ///
    /// `If-Modified-Since` is ignored beside `If-None-Match` (RFC 9110 §13.1.3).
    var forwardedField: HeaderField? {
        let tags = headers[values: .ifNoneMatch]
        guard tags.isEmpty else { return HeaderField("If-None-Match", tags.joined(separator: ", ")) }
        return headers[.ifModifiedSince].map { HeaderField("If-Modified-Since", $0) }
    }

    private static func withoutWeakness(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}

extension TransportResponse {
    /// Returns a Boolean value that indicates whether the validator in `If-Range` is that of this response, so that its bytes
    /// belong to those that the client has (RFC 9110 §13.1.5).
    func hasValidator(_ validator: String) -> Bool {
        guard !validator.hasPrefix("W/") else { return false }
        return validator.hasPrefix("\"") ? header("ETag") == validator : header("Last-Modified") == validator
    }
}

import MediaTiming
import ResourceAddressing

/// The rules for the requests that the cache answers and the responses that it stores (RFC 9111 §3).
struct CacheRules: Sendable {
    let kinds: Set<TransportRequest.Kind>
    let maximumEntrySize: Int64

    /// The request header fields whose presence makes the response depend on more than the cache key.
    private static let bypassFields: Set<String> = [
        "authorization", "cookie", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "if-range",
    ]
    /// The header fields that are not stored: those of the connection, and secrets (RFC 9111 §3.1).
    private static let unstoredFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "set-cookie", "set-cookie2", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// The fields that the underlying transport may add; their absence from a request has no meaning.
    private static let implicitFields: Set<String> = ["*", "authorization", "cookie"]

    /// Returns a Boolean value that indicates whether the cache handles a request.
    func handles(_ request: TransportRequest) -> Bool {
        guard kinds.contains(request.kind), request.address.isHTTP, request.resumption == nil,
            request.byteRange?.length != 0
        else { return false }
        // A password in a URL would be written to the disk with it.
        guard request.address.authority?.contains("@") != true else { return false }
        guard request.scopedHeaders.fields(for: request.address).isEmpty else { return false }
        let headers = request.allHeaders
        return !headers.contains { Self.bypassFields.contains($0.name.lowercased()) }
            && !CacheControl(request: headers).contains("no-store")
    }

    /// Returns the header fields of a response that are stored.
    func storedFields(of headers: [HeaderField]) -> [HeaderField] {
        let named = headers.filter { $0.name.lowercased() == "connection" }
            .flatMap { CacheControl.members(of: $0.value) }.map { $0.lowercased() }
        let unkept = Self.unstoredFields.union(named)
        return headers.filter { !unkept.contains($0.name.lowercased()) }
    }

    /// Returns a Boolean value that indicates whether a response can be stored and is useful later.
    func allowsStoring(_ metadata: EntryMetadata, length: Int64?, of request: TransportRequest) -> Bool {
        guard isComplete(metadata, length: length), length ?? 0 <= maximumEntrySize,
            !CacheControl(metadata.headers).contains("no-store"), matches(metadata, request)
        else { return false }
        let freshness = Freshness(metadata, kind: request.kind, now: metadata.received)
        return freshness.isFresh || !metadata.validationFields.isEmpty
    }

    /// Returns a Boolean value that indicates whether a request has none of the fields that the response varies on (RFC
    /// 9111 §4.1).
    ///
    /// `Accept-Encoding` is ignored, because the underlying transport decodes the body.
    func matches(_ metadata: EntryMetadata, _ request: TransportRequest) -> Bool {
        let present = Set(request.allHeaders.map { $0.name.lowercased() }).union(Self.implicitFields)
        let deciding = metadata.values("vary").flatMap { CacheControl.members(of: $0) }.map { $0.lowercased() }
        return deciding.allSatisfy { $0 == "accept-encoding" || !present.contains($0) }
    }

    /// Returns a Boolean value that indicates whether the response is the complete resource or byte range of the key.
    private func isComplete(_ metadata: EntryMetadata, length: Int64?) -> Bool {
        guard let range = metadata.key.byteRange else { return metadata.status == 200 }
        let position = "bytes \(range.start)-\(range.end -| 1)/"
        return metadata.status == 206 && length == range.length
            && metadata.values("content-range").allSatisfy { $0.lowercased().hasPrefix(position) }
    }
}

extension EntryMetadata {
    /// The header fields of a validation request (RFC 9111 §4.3.1); empty if the response has no validator.
    var validationFields: [HeaderField] {
        let tag = value("etag").flatMap { $0.isEmpty ? nil : HeaderField("If-None-Match", $0) }
        let date = value("last-modified").flatMap { text in
            HTTPDate.seconds(text) == nil ? nil : HeaderField("If-Modified-Since", text)
        }
        return [tag, date].compactMap { $0 }
    }

    /// Returns a Boolean value that indicates whether a 304 response confirms this response (RFC 9111 §4.3.4).
    func isConfirmed(by fields: [HeaderField]) -> Bool {
        guard let other = fields.first(where: { $0.name.lowercased() == "etag" })?.value, let own = value("etag") else {
            return true
        }
        let opaque: (String) -> Substring = { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] }
        return opaque(own) == opaque(other)
    }

    /// Updates the stored fields with those of a 304 response, except for fields that describe the stored body (RFC
    /// 9111 §3.2).
    mutating func update(with fields: [HeaderField]) {
        let fixed: Set<String> = ["content-length", "content-encoding", "content-range", "content-type"]
        let fresh = fields.filter { !fixed.contains($0.name.lowercased()) }
        // The stored `Age` and `Date` do not apply to a response that was just validated.
        let replaced = Set(fresh.map { $0.name.lowercased() }).union(["age", "date"])
        headers = headers.filter { !replaced.contains($0.name.lowercased()) } + fresh
    }
}

import MediaTiming
import ResourceAddressing

/// Which requests the cache answers, and which responses it keeps (RFC 9111 §3).
struct CacheRules: Sendable {
    let kinds: Set<TransportRequest.Kind>
    let largestEntry: Int64

    /// Fields of a request that make its answer another one, or something that is no answer to the key.
    private static let foreignFields: Set<String> = [
        "authorization", "cookie", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
        "if-range",
    ]
    /// Fields that belong to a connection, and secrets that have no business on a disk (RFC 9111 §3.1).
    private static let unkeptFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "set-cookie", "set-cookie2", "te", "trailer", "transfer-encoding", "upgrade",
    ]
    /// Fields that the transport below may add by itself, so that their absence in a request means nothing.
    private static let hiddenFields: Set<String> = ["*", "authorization", "cookie"]

    /// Whether a request has anything to do with the cache.
    func concern(_ request: TransportRequest) -> Bool {
        guard kinds.contains(request.kind), request.address.isHTTP, request.resumption == nil,
            request.byteRange?.length != 0
        else { return false }
        // A password in an address would be written to the disk with it.
        guard request.address.authority?.contains("@") != true else { return false }
        let headers = request.allHeaders
        return !headers.contains { Self.foreignFields.contains($0.name.lowercased()) }
            && !CacheControl(request: headers).has("no-store")
    }

    /// The fields of a response that are kept.
    func kept(_ headers: [HeaderField]) -> [HeaderField] {
        let named = headers.filter { $0.name.lowercased() == "connection" }
            .flatMap { CacheControl.members(of: $0.value) }.map { $0.lowercased() }
        let unkept = Self.unkeptFields.union(named)
        return headers.filter { !unkept.contains($0.name.lowercased()) }
    }

    /// Whether a response may be kept, and is worth it.
    func mayKeep(_ metadata: EntryMetadata, length: Int64?, of request: TransportRequest) -> Bool {
        guard isAnswer(metadata, length: length), length ?? 0 <= largestEntry,
            !CacheControl(metadata.headers).has("no-store"), matches(metadata, request)
        else { return false }
        let freshness = Freshness(metadata, kind: request.kind, now: metadata.received)
        return freshness.isFresh || !metadata.validationFields.isEmpty
    }

    /// Whether a request has none of the fields that the response depends on (RFC 9111 §4.1).
    ///
    /// `Accept-Encoding` does not count: the transport below decodes.
    func matches(_ metadata: EntryMetadata, _ request: TransportRequest) -> Bool {
        let present = Set(request.allHeaders.map { $0.name.lowercased() }).union(Self.hiddenFields)
        let deciding = metadata.values("vary").flatMap { CacheControl.members(of: $0) }.map { $0.lowercased() }
        return deciding.allSatisfy { $0 == "accept-encoding" || !present.contains($0) }
    }

    /// Whether it is the whole of what the key means.
    private func isAnswer(_ metadata: EntryMetadata, length: Int64?) -> Bool {
        guard let range = metadata.key.byteRange else { return metadata.status == 200 }
        let place = "bytes \(range.start)-\(range.end -| 1)/"
        return metadata.status == 206 && length == range.length
            && metadata.values("content-range").allSatisfy { $0.lowercased().hasPrefix(place) }
    }
}

extension EntryMetadata {
    /// The fields of a request that asks whether the response is still good (RFC 9111 §4.3.1); none where nobody can tell.
    var validationFields: [HeaderField] {
        let tag = value("etag").flatMap { $0.isEmpty ? nil : HeaderField("If-None-Match", $0) }
        let date = value("last-modified").flatMap { text in
            HTTPDate.seconds(text) == nil ? nil : HeaderField("If-Modified-Since", text)
        }
        return [tag, date].compactMap { $0 }
    }

    /// Whether a 304 is about this response (RFC 9111 §4.3.4).
    func isConfirmed(by fields: [HeaderField]) -> Bool {
        guard let other = fields.first(where: { $0.name.lowercased() == "etag" })?.value, let own = value("etag") else {
            return true
        }
        let opaque: (String) -> Substring = { $0.hasPrefix("W/") ? $0.dropFirst(2) : $0[...] }
        return opaque(own) == opaque(other)
    }

    /// Takes over the fields of a 304, but for those that describe the stored body (RFC 9111 §3.2).
    mutating func update(with fields: [HeaderField]) {
        let fixed: Set<String> = ["content-length", "content-encoding", "content-range", "content-type"]
        let fresh = fields.filter { !fixed.contains($0.name.lowercased()) }
        // The old ones say nothing about a response that was confirmed just now.
        let replaced = Set(fresh.map { $0.name.lowercased() }).union(["age", "date"])
        headers = headers.filter { !replaced.contains($0.name.lowercased()) } + fresh
    }
}

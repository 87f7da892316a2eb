import MediaTiming
import NIOCore

/// A stored response that can answer a request, with the verified first bytes of its body.
struct CacheCandidate: Sendable {
    var entry: StoredEntry
    /// The byte range of the stored body that answers the request.
    let range: ByteRange
    let firstBytes: ByteBuffer
    let freshness: Freshness
    let responseControl: CacheControl
    /// The cache directives of the request.
    let requestControl: CacheControl

    /// A Boolean value that indicates whether the response can be used without validation (RFC 9111 §4).
    var isUsable: Bool {
        guard !requestControl.contains("no-cache"), freshness.isFresh else { return false }
        if let oldest = requestControl.seconds("max-age"), oldest == 0 || freshness.age > oldest { return false }
        return freshness.staleness.negatedSaturated() >= requestControl.seconds("min-fresh") ?? 0
    }

    /// Returns a Boolean value that indicates whether the stale response can be used after an error (RFC 5861 §4).
    func isUsable(after error: TransportError) -> Bool {
        guard error.allowsStaleResponse, !responseControl.contains("no-cache"),
            !responseControl.contains("must-revalidate"),
            // A request for a newer response must not be answered with a stale one.
            !requestControl.contains("no-cache"), !requestControl.contains("max-age")
        else { return false }
        let limits = [responseControl.seconds("stale-if-error"), requestControl.seconds("stale-if-error")].compactMap {
            $0
        }
        return limits.max().map { freshness.staleness <= $0 } ?? false
    }
}

extension TransportError {
    /// A Boolean value that indicates whether a stale response can be used instead: the server failed temporarily or
    /// cannot be reached (RFC 5861 §4).
    var allowsStaleResponse: Bool {
        switch category(of: .other) {
        case .unreachable: true
        case .busy: status.map { $0 >= 500 } ?? false
        case .inconsistent, .missing, .damaged, .stale, .denied, .deviceLost: false
        }
    }
}

extension EntryFolder {
    /// Returns a stored response that can answer a request: preferably a fresh one, otherwise one that can be
    /// validated.
    ///
    /// A fresh response is marked as used. This method blocks.
    func candidate(for request: TransportRequest, rules: CacheRules, now: UnixSeconds) -> CacheCandidate? {
        let key = EntryKey(address: request.address, byteRange: request.byteRange)
        let whole = EntryKey(address: request.address, byteRange: nil)
        var stale: CacheCandidate?
        for key in key == whole ? [key] : [key, whole] {
            guard let candidate = candidate(key, for: request, rules: rules, now: now) else { continue }
            if candidate.isUsable {
                markUsed(candidate.entry)
                return candidate
            }
            stale = stale ?? candidate
        }
        return stale
    }

    private func candidate(
        _ key: EntryKey,
        for request: TransportRequest,
        rules: CacheRules,
        now: UnixSeconds
    ) -> CacheCandidate? {
        guard let entry = open(key), rules.matches(entry.metadata, request) else { return nil }
        let length = entry.tail.bodyLength
        let cut = key.byteRange == nil ? request.byteRange : nil
        guard let range = cut ?? ByteRange(start: 0, length: length), range.end <= length else { return nil }
        var first = ByteBuffer()
        if range.length > 0 {
            guard let bytes = entry.bytes(from: range.start, to: range.end) else {
                drop(entry.file)
                return nil
            }
            first = bytes
        }
        return CacheCandidate(
            entry: entry,
            range: range,
            firstBytes: first,
            freshness: Freshness(entry.metadata, kind: request.kind, now: now),
            responseControl: CacheControl(entry.metadata.headers),
            requestControl: CacheControl(request: request.allHeaders)
        )
    }
}

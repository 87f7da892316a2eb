import MediaTiming

/// The age and the freshness lifetime of a stored response (RFC 9111 §4.2), in seconds.
struct Freshness: Sendable, Equatable {
    /// The time since the origin server generated or validated the response.
    let age: Int64
    /// The age up to which the response can be used without validation.
    let lifetime: Int64

    /// The maximum heuristic lifetime: one day.
    private static let maximumHeuristicLifetime: Int64 = 86_400

    /// A Boolean value that indicates whether the response can be used without validation.
    var isFresh: Bool { lifetime > age }
    /// The time since the response became stale; negative while it is fresh.
    var staleness: Int64 { age -| lifetime }

    /// Creates the freshness of a response at the given time.
    ///
    /// - Parameters:
    ///   - metadata: The metadata of the stored response.
    ///   - kind: The kind of resource; playlists have no heuristic lifetime, because live playlists change constantly.
    ///   - now: The current time.
    init(_ metadata: EntryMetadata, kind: TransportRequest.Kind, now: UnixSeconds) {
        age = Self.age(metadata, now: now)
        lifetime = Self.lifetime(metadata, allowsHeuristic: kind != .playlist)
    }

    /// Returns the age (RFC 9111 §4.2.3).
    private static func age(_ metadata: EntryMetadata, now: UnixSeconds) -> Int64 {
        let received = metadata.received
        // The clock was set back, so the age of the response is unknown.
        guard now >= received else { return DeltaSeconds.maximum }
        let date = metadata.value("date").flatMap { HTTPDate.seconds($0) } ?? received.rawValue
        let apparent = difference(received.rawValue, date)
        let announced = metadata.value("age").flatMap { DeltaSeconds.parse($0) } ?? 0
        let corrected = announced +| difference(received.rawValue, metadata.requested.rawValue)
        return max(apparent, corrected) +| difference(now.rawValue, received.rawValue)
    }

    /// Returns the lifetime (RFC 9111 §4.2.1); `s-maxage` is ignored, because it applies to shared caches only.
    private static func lifetime(_ metadata: EntryMetadata, allowsHeuristic: Bool) -> Int64 {
        let control = CacheControl(metadata.headers)
        if control.contains("no-cache") { return 0 }
        if let maxAge = control.seconds("max-age") { return maxAge }
        let date = metadata.value("date").flatMap { HTTPDate.seconds($0) } ?? metadata.received.rawValue
        let expiries = metadata.values("expires")
        if !expiries.isEmpty {
            // An `Expires` value that is not a date, such as `0`, is in the past (RFC 9111 §5.3).
            return expiries.map { HTTPDate.seconds($0).map { difference($0, date) } ?? 0 }.min() ?? 0
        }
        guard allowsHeuristic, let modified = metadata.value("last-modified"), let changed = HTTPDate.seconds(modified)
        else {
            return 0
        }
        return min(difference(date, changed) / 10, maximumHeuristicLifetime)
    }

    /// Returns the difference of two times in seconds, limited to 0...``DeltaSeconds/maximum``.
    private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
        let (difference, isTooLarge) = later.subtractingReportingOverflow(earlier)
        guard !isTooLarge else { return later > earlier ? DeltaSeconds.maximum : 0 }
        return min(max(0, difference), DeltaSeconds.maximum)
    }
}

import MediaTiming

/// How old a stored response is, and how old it may be (RFC 9111 §4.2).
///
/// All figures are in seconds.
struct Freshness: Sendable, Equatable {
    /// How long ago its server made it.
    let age: Int64
    /// How old it may be before it has to be asked for again.
    let lifetime: Int64

    /// The longest lifetime that is guessed: a day.
    private static let longestGuess: Int64 = 86_400

    /// Whether it can be used without asking.
    var isFresh: Bool { lifetime > age }
    /// For how long it has been too old; negative while it is fresh.
    var staleness: Int64 { age -| lifetime }

    /// Weighs a response.
    ///
    /// - Parameters:
    ///   - metadata: What is kept of it.
    ///   - kind: What it is asked for; the lifetime of a playlist is never guessed, for a live one changes all the time.
    ///   - now: The time.
    init(_ metadata: EntryMetadata, kind: TransportRequest.Kind, now: UnixSeconds) {
        age = Self.age(metadata, now: now)
        lifetime = Self.lifetime(metadata, mayGuess: kind != .playlist)
    }

    /// The age (RFC 9111 §4.2.3).
    private static func age(_ metadata: EntryMetadata, now: UnixSeconds) -> Int64 {
        let received = metadata.received
        // Somebody set the clock back, and nobody knows how old the response is.
        guard now >= received else { return DeltaSeconds.largest }
        let date = metadata.value("date").flatMap { HTTPDate.seconds($0) } ?? received.rawValue
        let apparent = difference(received.rawValue, date)
        let announced = metadata.value("age").flatMap { DeltaSeconds.parse($0) } ?? 0
        let corrected = announced +| difference(received.rawValue, metadata.requested.rawValue)
        return max(apparent, corrected) +| difference(now.rawValue, received.rawValue)
    }

    /// The lifetime (RFC 9111 §4.2.1); `s-maxage` is for shared caches.
    private static func lifetime(_ metadata: EntryMetadata, mayGuess: Bool) -> Int64 {
        let control = CacheControl(metadata.headers)
        if control.has("no-cache") { return 0 }
        if let maxAge = control.seconds("max-age") { return maxAge }
        let date = metadata.value("date").flatMap { HTTPDate.seconds($0) } ?? metadata.received.rawValue
        let expiries = metadata.values("expires")
        if !expiries.isEmpty {
            // `0` and other texts that are no date mean the past (RFC 9111 §5.3).
            return expiries.map { HTTPDate.seconds($0).map { difference($0, date) } ?? 0 }.min() ?? 0
        }
        guard mayGuess, let modified = metadata.value("last-modified"), let changed = HTTPDate.seconds(modified) else {
            return 0
        }
        return min(difference(date, changed) / 10, longestGuess)
    }

    /// How much later a moment is than another, from 0 to the largest figure.
    private static func difference(_ later: Int64, _ earlier: Int64) -> Int64 {
        let (difference, isTooLarge) = later.subtractingReportingOverflow(earlier)
        guard !isTooLarge else { return later > earlier ? DeltaSeconds.largest : 0 }
        return min(max(0, difference), DeltaSeconds.largest)
    }
}

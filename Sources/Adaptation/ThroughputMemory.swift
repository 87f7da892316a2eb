public import MediaTiming

/// The estimates of earlier times, one a network, so that the next start need not begin with a guess.
///
/// A value: whoever owns it reads and writes the file (``init(text:)``, ``text``). At most ``mostNetworks`` are kept,
/// the ones last seen.
public struct ThroughputMemory: Sendable, Hashable {
    /// How many networks are kept: 64, more than most people use in a month.
    public static let mostNetworks = 64
    /// How long a name may be: 255 bytes in UTF-8.
    ///
    /// Networks with longer names are not kept; those of wireless networks have 32 at most (IEEE 802.11).
    public static let longestName = 255
    /// An older estimate does not count: 30 days.
    public static let greatestAge = Duration.seconds(30 * 86_400)
    /// An older estimate counts for three quarters: a day.
    ///
    /// Until then the same hour of the day has not come again, and nothing is known of the link at its busiest.
    public static let freshAge = Duration.seconds(86_400)

    /// What is kept of one network.
    struct Entry: Sendable, Hashable {
        let bitsPerSecond: Int64
        let secondsSince1970: Int64
    }

    /// The networks by name.
    private(set) var entries: [String: Entry] = [:]

    /// Makes a memory of no network.
    public init() {}

    /// Keeps an estimate in place of the network's earlier one.
    ///
    /// Nothing is kept of a rate of zero, which tells about an outage and not about a network, nor of a name that is
    /// too long.
    ///
    /// - Parameters:
    ///   - estimate: What was measured (``ThroughputEstimator/estimate``).
    ///   - network: Any name that is the same the next time.
    ///   - now: The time since 1970-01-01T00:00:00Z; kept in whole seconds.
    public mutating func remember(_ estimate: BitRate, for network: String, now: Duration) {
        let entry = Entry(bitsPerSecond: estimate.bitsPerSecond, secondsSince1970: now.wholeSeconds)
        insert(entry, for: network)
        forgetOldest(keeping: network)
    }

    /// What to expect of a network.
    ///
    /// - Parameters:
    ///   - network: The name under which it was remembered.
    ///   - now: The time since 1970-01-01T00:00:00Z. An estimate from a later time, kept while a clock was wrong, is
    ///     taken to be as old as it seems new.
    /// - Returns: `nil` where nothing is known that still counts.
    public func estimate(for network: String, now: Duration) -> BitRate? {
        guard let entry = entries[network] else { return nil }
        let age = now.wholeSeconds.subtractingSaturated(entry.secondsSince1970).magnitude
        if age > Self.greatestAge.wholeSeconds.magnitude { return nil }
        if age <= Self.freshAge.wholeSeconds.magnitude { return BitRate(bitsPerSecond: entry.bitsPerSecond) }
        return BitRate(bitsPerSecond: entry.bitsPerSecond -| entry.bitsPerSecond / 4)
    }

    /// Adds an entry if it can be kept.
    mutating func insert(_ entry: Entry, for network: String) {
        guard entry.bitsPerSecond > 0, network.utf8.count <= Self.longestName else { return }
        entries[network] = entry
    }

    /// Leaves no more networks than are kept.
    ///
    /// - Parameter network: One that stays in any case: others may bear times of a clock that ran ahead.
    mutating func forgetOldest(keeping network: String? = nil) {
        var excess = entries.count - Self.mostNetworks
        guard excess > 0 else { return }
        for name in namesByAge.reversed() where name != network && excess > 0 {
            entries[name] = nil
            excess -= 1
        }
    }

    /// The names, the last seen first; in the order of their letters where that is the same.
    var namesByAge: [String] {
        entries.sorted { ($1.value.secondsSince1970, $0.key) < ($0.value.secondsSince1970, $1.key) }.map(\.key)
    }
}

extension Duration {
    /// Whole seconds below, as many as fit in 64 bits.
    fileprivate var wholeSeconds: Int64 {
        let (seconds, part) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        return Int64(clamping: part < 0 ? seconds -| 1 : seconds)
    }
}

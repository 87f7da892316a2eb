public import MediaTiming

/// The throughput estimates of earlier sessions, by network, used as initial estimates.
///
/// A value type without access to files: the owner reads and writes the file (``init(text:)``, ``text``). At most
/// ``maximumNetworkCount`` networks are kept, those seen most recently.
public struct ThroughputMemory: Sendable, Hashable {
    /// The maximum number of networks, 64: more than most people use in a month.
    public static let maximumNetworkCount = 64
    /// The maximum length of a network name, 255 bytes in UTF-8.
    ///
    /// Networks with longer names are not stored. The SSID of a wireless network has at most 32 bytes (IEEE 802.11).
    public static let maximumNameLength = 255
    /// The age above which an estimate is ignored: 30 days.
    public static let maximumAge = Duration.seconds(30 * 86_400)
    /// The age above which an estimate is reduced to three quarters: one day.
    ///
    /// The throughput of a network can be lower at another time of day or on another day, which an older estimate does
    /// not show.
    public static let fullWeightAge = Duration.seconds(86_400)

    /// The stored estimate of one network.
    struct Entry: Sendable, Hashable {
        let bitsPerSecond: Int64
        let secondsSince1970: Int64
    }

    /// The entries by network name.
    private(set) var entries: [String: Entry] = [:]

    /// Creates an empty memory.
    public init() {}

    /// Stores an estimate in place of the earlier one for the same network.
    ///
    /// An estimate of zero, which results from an outage, and names that are too long are not stored.
    ///
    /// - Parameters:
    ///   - estimate: The measured throughput (``ThroughputEstimator/estimate``).
    ///   - network: A name of the network that does not change between sessions.
    ///   - now: The time since 1970-01-01T00:00:00Z, stored in whole seconds.
    public mutating func store(_ estimate: BitRate, for network: String, now: Duration) {
        let entry = Entry(bitsPerSecond: estimate.bitsPerSecond, secondsSince1970: now.wholeSeconds)
        insert(entry, for: network)
        removeOldest(keeping: network)
    }

    /// Returns the estimate for a network, reduced if it is older than ``fullWeightAge``.
    ///
    /// - Parameters:
    ///   - network: The name under which the estimate was stored.
    ///   - now: The time since 1970-01-01T00:00:00Z. If an estimate has a later time, because a clock was wrong, the
    ///     difference counts as its age.
    /// - Returns: The estimate, or `nil` if there is none or it is older than ``maximumAge``.
    public func estimate(for network: String, now: Duration) -> BitRate? {
        guard let entry = entries[network] else { return nil }
        let age = now.wholeSeconds.subtractingSaturated(entry.secondsSince1970).magnitude
        if age > Self.maximumAge.wholeSeconds.magnitude { return nil }
        if age <= Self.fullWeightAge.wholeSeconds.magnitude { return BitRate(bitsPerSecond: entry.bitsPerSecond) }
        return BitRate(bitsPerSecond: entry.bitsPerSecond -| entry.bitsPerSecond / 4)
    }

    /// Inserts an entry, unless its rate is zero or the name is too long.
    mutating func insert(_ entry: Entry, for network: String) {
        guard entry.bitsPerSecond > 0, network.utf8.count <= Self.maximumNameLength else { return }
        entries[network] = entry
    }

    /// Removes the oldest networks in excess of ``maximumNetworkCount``.
    ///
    /// - Parameter network: A network that is kept even if it seems to be the oldest, because the times of the others may
    ///   come from a clock that was ahead.
    mutating func removeOldest(keeping network: String? = nil) {
        var excess = entries.count - Self.maximumNetworkCount
        guard excess > 0 else { return }
        for name in namesByAge.reversed() where name != network && excess > 0 {
            entries[name] = nil
            excess -= 1
        }
    }

    /// The network names, most recent first; names with the same time are in ascending order.
    var namesByAge: [String] {
        entries.sorted { ($1.value.secondsSince1970, $0.key) < ($0.value.secondsSince1970, $1.key) }.map(\.key)
    }
}

extension Duration {
    /// The duration in whole seconds, rounded down and clamped to 64 bits.
    fileprivate var wholeSeconds: Int64 {
        let (seconds, part) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        return Int64(clamping: part < 0 ? seconds -| 1 : seconds)
    }
}

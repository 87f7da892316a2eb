import MediaTiming

/// A cap that excludes the rungs of which the device drops too many video frames.
///
/// From the numbers of displayed and dropped frames of each rung, the cap excludes a rung, with all higher ones, as
/// soon as the fraction of dropped frames exceeds a limit. After a time that doubles with each exclusion, the rung is
/// allowed again; after the last attempt it remains excluded. A device that is too slow therefore does not switch back
/// and forth, and a device that was busy temporarily recovers. Frames that are dropped on a lower rung do not change
/// the exclusion of a higher one.
public struct DroppedFramesCap: LadderCap, Hashable {
    /// The thresholds of the cap.
    public struct Options: Sendable, Hashable {
        /// The fraction of dropped frames above which a rung is excluded, 0 to 1.
        ///
        /// 0.2: every fifth frame. Fewer are hardly visible, and occur while a window is moved.
        public var maximumDroppedFraction: Double
        /// The minimum number of frames of a rung before it can be excluded.
        ///
        /// 120: about four seconds. More frames than usual are dropped immediately after a switch.
        public var minimumFrameCount: Int
        /// The duration of the first exclusion, which doubles with each further one.
        ///
        /// 60 s: by then, the device may no longer be busy.
        public var initialExclusionDuration: Duration
        /// The number of temporary exclusions after which a rung is excluded permanently.
        ///
        /// 3: with the default duration, the exclusions last 60, 120 and 240 s, seven minutes in total.
        public var maximumTemporaryExclusions: Int

        /// Creates options, each of which has a default.
        ///
        /// - Parameters:
        ///   - maximumDroppedFraction: See ``maximumDroppedFraction``.
        ///   - minimumFrameCount: See ``minimumFrameCount``.
        ///   - initialExclusionDuration: See ``initialExclusionDuration``.
        ///   - maximumTemporaryExclusions: See ``maximumTemporaryExclusions``.
        public init(
            maximumDroppedFraction: Double = 0.2,
            minimumFrameCount: Int = 120,
            initialExclusionDuration: Duration = .seconds(60),
            maximumTemporaryExclusions: Int = 3
        ) {
            self.maximumDroppedFraction = maximumDroppedFraction
            self.minimumFrameCount = minimumFrameCount
            self.initialExclusionDuration = initialExclusionDuration
            self.maximumTemporaryExclusions = maximumTemporaryExclusions
        }
    }

    /// The frame counts and exclusions of one rung.
    private struct Record: Sendable, Hashable {
        var shown = 0.0
        var dropped = 0.0
        var failures = 0
        /// The time at which the exclusion ends; `nil` while the rung is allowed.
        ///
        /// For a permanent exclusion, it is the maximum duration.
        var excludedUntil: Duration?
    }

    /// The thresholds of the cap.
    public let options: Options
    private var records: [Record]
    private var now = Duration.zero

    /// Creates a cap that excludes no rung yet.
    ///
    /// - Parameters:
    ///   - ladder: The ladder to whose rungs the reports refer.
    ///   - options: The thresholds of the cap.
    public init(ladder: Ladder, options: Options = Options()) {
        self.options = options
        records = Array(repeating: Record(), count: ladder.count)
    }

    /// Adds the frame counts of a rung since the last report.
    ///
    /// - Parameters:
    ///   - rung: The index of the rung; an invalid index is ignored.
    ///   - displayed: The number of frames that were displayed in time.
    ///   - dropped: The number of frames that were received or decoded, but not displayed.
    ///   - now: The time on a monotonic clock.
    public mutating func add(rung: Int, displayed: Int, dropped: Int, now: Duration) {
        advance(to: now)
        guard records.indices.contains(rung), records[rung].excludedUntil == nil else { return }
        records[rung].shown += Double(max(0, displayed))
        records[rung].dropped += Double(max(0, dropped))
        let all = records[rung].shown + records[rung].dropped
        let fewest = Double(max(1, options.minimumFrameCount))
        guard all >= fewest else { return }
        if records[rung].dropped / all > options.maximumDroppedFraction {
            exclude(rung)
        } else if all > 8 * fewest {
            // Recent frames are to count more than old ones.
            records[rung].shown /= 2
            records[rung].dropped /= 2
        }
    }

    /// Advances the time and allows the rungs whose exclusion has ended.
    ///
    /// - Parameter now: The time on the clock of the reports; a time before the previous one has no effect.
    public mutating func advance(to now: Duration) {
        self.now = max(self.now, now)
        for rung in records.indices {
            guard let end = records[rung].excludedUntil, end <= self.now else { continue }
            records[rung].excludedUntil = nil
            records[rung].shown = 0
            records[rung].dropped = 0
        }
    }

    /// Excludes the lowest rung that drops too many frames, and all higher ones.
    ///
    /// - Parameters:
    ///   - restriction: The restriction to narrow.
    ///   - ladder: The ladder with which the cap was created.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        guard let lowest = records.firstIndex(where: { $0.excludedUntil != nil }) else { return }
        restriction.exclude(because: .droppedFrames) { $0 >= lowest }
    }

    private mutating func exclude(_ rung: Int) {
        records[rung].failures += 1
        guard records[rung].failures <= max(0, options.maximumTemporaryExclusions) else {
            records[rung].excludedUntil = .seconds(Int64.max)
            return
        }
        // At most 2^16 times the first duration, so that the product remains in range.
        let doublings = min(records[rung].failures - 1, 16)
        let seconds = max(0, options.initialExclusionDuration.clampedSeconds) * Double(1 << doublings)
        records[rung].excludedUntil = .seconds(min(now.clampedSeconds + seconds, 4e9))
    }
}

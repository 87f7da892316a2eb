import MediaTiming

/// Closes rungs of which the device drops too many pictures.
///
/// Told how many pictures each rung showed and dropped, it closes a rung, with all above it, once the share of dropped
/// ones passes a limit. A closed rung is opened for another try after a while that doubles each time it fails, and
/// after the last try it stays closed; so a device that is too slow does not flap, and one that was busy for a minute
/// recovers. A dropped picture on a rung below never opens one above.
public struct DroppedFramesCap: LadderCap, Hashable {
    /// When a rung is closed, and for how long.
    public struct Options: Sendable, Hashable {
        /// The share of dropped pictures above which a rung is closed, 0 to 1.
        ///
        /// 0.2: every fifth picture; fewer are hardly seen, and happen while a window is moved.
        public var greatestShare: Double
        /// How many pictures a rung must have had before it is judged.
        ///
        /// 120: some four seconds. The first ones after a switch are dropped more often.
        public var fewestPictures: Int
        /// How long a rung is closed at first; doubled each time.
        ///
        /// 60 s: by then, what kept the device busy may have ended.
        public var closedFor: Duration
        /// How often a rung is tried before it is closed for good.
        ///
        /// 3: after that, ten minutes or so have shown what the device can do.
        public var mostTries: Int

        /// Makes options; each has a default.
        ///
        /// - Parameters:
        ///   - greatestShare: See ``greatestShare``.
        ///   - fewestPictures: See ``fewestPictures``.
        ///   - closedFor: See ``closedFor``.
        ///   - mostTries: See ``mostTries``.
        public init(
            greatestShare: Double = 0.2,
            fewestPictures: Int = 120,
            closedFor: Duration = .seconds(60),
            mostTries: Int = 3
        ) {
            self.greatestShare = greatestShare
            self.fewestPictures = fewestPictures
            self.closedFor = closedFor
            self.mostTries = mostTries
        }
    }

    /// What is known of one rung.
    private struct Record: Sendable, Hashable {
        var shown = 0.0
        var dropped = 0.0
        var failures = 0
        /// `nil` while it is open; the greatest duration says for good.
        var closedUntil: Duration?
    }

    /// When a rung is closed, and for how long.
    public let options: Options
    private var records: [Record]
    private var now = Duration.zero

    /// Makes a cap that closes nothing yet.
    ///
    /// - Parameters:
    ///   - ladder: The rungs that it will hear of.
    ///   - options: When a rung is closed, and for how long.
    public init(ladder: Ladder, options: Options = Options()) {
        self.options = options
        records = Array(repeating: Record(), count: ladder.count)
    }

    /// Takes into account what happened to the pictures of a rung since the last report.
    ///
    /// - Parameters:
    ///   - rung: Its index; an index that the ladder does not have is ignored.
    ///   - shown: Pictures that were shown in time.
    ///   - dropped: Pictures that were decoded or received, and not shown.
    ///   - now: The time on any clock that does not go back.
    public mutating func add(rung: Int, shown: Int, dropped: Int, now: Duration) {
        pass(to: now)
        guard records.indices.contains(rung), records[rung].closedUntil == nil else { return }
        records[rung].shown += Double(max(0, shown))
        records[rung].dropped += Double(max(0, dropped))
        let all = records[rung].shown + records[rung].dropped
        let fewest = Double(max(1, options.fewestPictures))
        guard all >= fewest else { return }
        if records[rung].dropped / all > options.greatestShare {
            close(rung)
        } else if all > 8 * fewest {
            // What was long ago shall not outvote the last minute.
            records[rung].shown /= 2
            records[rung].dropped /= 2
        }
    }

    /// Lets time pass: opens the rungs whose time is over.
    ///
    /// - Parameter now: The time on the clock of the reports; an earlier time than before changes nothing.
    public mutating func pass(to now: Duration) {
        self.now = max(self.now, now)
        for rung in records.indices {
            guard let end = records[rung].closedUntil, end <= self.now else { continue }
            records[rung].closedUntil = nil
            records[rung].shown = 0
            records[rung].dropped = 0
        }
    }

    /// Closes the lowest rung that drops too much, and all above it.
    ///
    /// - Parameters:
    ///   - restriction: What is open.
    ///   - ladder: The rungs, those that the cap was made for.
    public func restrict(_ restriction: inout LadderRestriction, of ladder: Ladder) {
        guard let lowest = records.firstIndex(where: { $0.closedUntil != nil }) else { return }
        restriction.close(because: .droppedFrames) { $0 >= lowest }
    }

    private mutating func close(_ rung: Int) {
        records[rung].failures += 1
        guard records[rung].failures <= max(0, options.mostTries) else {
            records[rung].closedUntil = .seconds(Int64.max)
            return
        }
        // No more than 2^16 times the first closure, so that the product stays in range.
        let doublings = min(records[rung].failures - 1, 16)
        let seconds = max(0, options.closedFor.clampedSeconds) * Double(1 << doublings)
        records[rung].closedUntil = .seconds(min(now.clampedSeconds + seconds, 4e9))
    }
}

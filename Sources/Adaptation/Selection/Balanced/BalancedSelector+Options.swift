import MediaTiming

extension BalancedSelector {
    /// What it weighs, and how.
    public struct Options: Sendable, Hashable {
        /// What a second of stall costs, in segments of the highest open rung.
        ///
        /// 1.2: a second of stall spoils more than a segment of the best picture can make good. Range 0 to 100.
        public var stallCost: Double
        /// What a switch costs, in its difference of quality.
        ///
        /// 1.2: a switch up and back must gain some segments of the higher quality. Range 0 to 100.
        public var switchCost: Double
        /// What the next segment counts beside this one.
        ///
        /// 0.967: some thirty segments ahead are reckoned with. Range 0 to 0.99.
        public var foresight: Double
        /// How much better a switch must be than none, in segments of the highest open rung.
        ///
        /// 0.011: less than that is no more than the grid's own roughness.
        public var leastGain: Double
        /// How much better it must be to give a transfer up than to wait, in segments of the highest open rung.
        ///
        /// 0.3: what has come is thrown away, and others may wait for the link.
        public var leastGainOfAbandonment: Double
        /// How much of a transfer tells about the link by itself, and how often at most a transfer is judged.
        ///
        /// 0.9 s: shorter pieces are ruled by how packets happen to come in. Range 0.1 to 60 s.
        public var pieceDuration: Duration
        /// How soon the first picture is wanted.
        ///
        /// 1 s: with an estimate from earlier, the first segment is the best that comes in this time. Range 0 to 60 s.
        public var startupDuration: Duration

        /// Makes options; each has a default.
        ///
        /// - Parameters:
        ///   - stallCost: See ``stallCost``.
        ///   - switchCost: See ``switchCost``.
        ///   - foresight: See ``foresight``.
        ///   - leastGain: See ``leastGain``.
        ///   - leastGainOfAbandonment: See ``leastGainOfAbandonment``.
        ///   - pieceDuration: See ``pieceDuration``.
        ///   - startupDuration: See ``startupDuration``.
        public init(
            stallCost: Double = 1.2,
            switchCost: Double = 1.2,
            foresight: Double = 0.967,
            leastGain: Double = 0.011,
            leastGainOfAbandonment: Double = 0.3,
            pieceDuration: Duration = .milliseconds(900),
            startupDuration: Duration = .seconds(1)
        ) {
            self.stallCost = stallCost
            self.switchCost = switchCost
            self.foresight = foresight
            self.leastGain = leastGain
            self.leastGainOfAbandonment = leastGainOfAbandonment
            self.pieceDuration = pieceDuration
            self.startupDuration = startupDuration
        }

        /// The weights within their ranges.
        var weights: PlanTable.Weights {
            PlanTable.Weights(
                stall: stallCost.bounded(0...100, orElse: 1.2),
                change: switchCost.bounded(0...100, orElse: 1.2),
                foresight: foresight.bounded(0...0.99, orElse: 0.967)
            )
        }

        var pieceSeconds: Double { pieceDuration.clampedSeconds.bounded(0.1...60, orElse: 0.9) }
        var startupSeconds: Double { startupDuration.clampedSeconds.bounded(0...60, orElse: 1) }
    }
}

extension Double {
    /// The number within a range; another where it is none.
    fileprivate func bounded(_ range: ClosedRange<Double>, orElse other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

import MediaTiming

extension BalancedSelector {
    /// The costs and thresholds of a balanced selector.
    public struct Options: Sendable, Hashable {
        /// The cost of one second of stall, in segments of the highest allowed rung.
        ///
        /// 1.2: a second of stall costs more than a segment of the highest quality gains. Range 0 to 100.
        public var stallCost: Double
        /// The cost of a switch, as a multiple of the difference in quality.
        ///
        /// 1.2: a switch up and back pays off only if it gains several segments of the higher quality. Range 0 to 100.
        public var switchCost: Double
        /// The discount factor: the value of the next segment relative to this one.
        ///
        /// 0.967: about 30 segments ahead have an influence. Range 0 to 0.99.
        public var foresight: Double
        /// The minimum gain for which the rung is switched, in segments of the highest allowed rung.
        ///
        /// 0.011: smaller differences are within the discretization error of the plan. Range 0 to 100.
        public var leastGain: Double
        /// The minimum gain for which a running transfer is abandoned, in segments of the highest allowed rung.
        ///
        /// 0.3: the bytes received so far are discarded, and other transfers may be waiting for the link. Range
        /// 0 to 100.
        public var leastGainOfAbandonment: Double
        /// The minimum duration of the part of a transfer that is measured separately, and the minimum time between two
        /// reviews.
        ///
        /// 0.9 s: the rate of shorter parts depends mainly on the arrival times of single packets. Range 0.1 to 60 s.
        public var pieceDuration: Duration
        /// The target for the time until the first segment has been loaded.
        ///
        /// 1 s: with an initial estimate, the first segment is of the highest rung that loads in this time. Range 0 to
        /// 60 s.
        public var startupDuration: Duration

        /// Creates options, each of which has a default.
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

        /// The weights of the plan, clamped to their ranges.
        var weights: PlanTable.Weights {
            PlanTable.Weights(
                stall: stallCost.bounded(0...100, orElse: 1.2),
                change: switchCost.bounded(0...100, orElse: 1.2),
                foresight: foresight.bounded(0...0.99, orElse: 0.967)
            )
        }

        /// The minimum gain of a switch, clamped to its range.
        var boundedLeastGain: Double { leastGain.bounded(0...100, orElse: 0.011) }
        /// The minimum gain of an abandonment, clamped to its range.
        var boundedLeastGainOfAbandonment: Double { leastGainOfAbandonment.bounded(0...100, orElse: 0.3) }
        var pieceSeconds: Double { pieceDuration.clampedSeconds.bounded(0.1...60, orElse: 0.9) }
        var startupSeconds: Double { startupDuration.clampedSeconds.bounded(0...60, orElse: 1) }
    }
}

extension Double {
    /// Returns the number clamped to a range, or `other` for NaN.
    fileprivate func bounded(_ range: ClosedRange<Double>, orElse other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

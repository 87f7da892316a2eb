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
        public var discountFactor: Double
        /// The minimum gain for which the rung is switched, in segments of the highest allowed rung.
        ///
        /// 0.011: smaller differences are within the discretization error of the plan. Range 0 to 100.
        public var minimumSwitchGain: Double
        /// The minimum gain for which a running transfer is abandoned, in segments of the highest allowed rung.
        ///
        /// 0.3: the bytes received so far are discarded, and other transfers may be waiting for the link. Range
        /// 0 to 100.
        public var minimumAbandonmentGain: Double
        /// The minimum duration of the part of a transfer that is measured separately, and the minimum time between two
        /// reviews.
        ///
        /// 0.9 s: the rate of shorter parts depends mainly on the arrival times of single packets. Range 0.1 to 60 s.
        public var minimumMeasurementDuration: Duration
        /// The target for the time until the first segment has been loaded.
        ///
        /// 1 s: with an initial estimate, the first segment is of the highest rung that loads in this time. Range 0 to
        /// 60 s.
        public var targetStartupDuration: Duration

        /// Creates options, each of which has a default.
        ///
        /// - Parameters:
        ///   - stallCost: See ``stallCost``.
        ///   - switchCost: See ``switchCost``.
        ///   - discountFactor: See ``discountFactor``.
        ///   - minimumSwitchGain: See ``minimumSwitchGain``.
        ///   - minimumAbandonmentGain: See ``minimumAbandonmentGain``.
        ///   - minimumMeasurementDuration: See ``minimumMeasurementDuration``.
        ///   - targetStartupDuration: See ``targetStartupDuration``.
        public init(
            stallCost: Double = 1.2,
            switchCost: Double = 1.2,
            discountFactor: Double = 0.967,
            minimumSwitchGain: Double = 0.011,
            minimumAbandonmentGain: Double = 0.3,
            minimumMeasurementDuration: Duration = .milliseconds(900),
            targetStartupDuration: Duration = .seconds(1)
        ) {
            self.stallCost = stallCost
            self.switchCost = switchCost
            self.discountFactor = discountFactor
            self.minimumSwitchGain = minimumSwitchGain
            self.minimumAbandonmentGain = minimumAbandonmentGain
            self.minimumMeasurementDuration = minimumMeasurementDuration
            self.targetStartupDuration = targetStartupDuration
        }

        /// The weights of the plan, clamped to their ranges.
        var weights: PlanTable.Weights {
            PlanTable.Weights(
                stallCost: stallCost.clamped(to: 0...100, ifNaN: 1.2),
                switchCost: switchCost.clamped(to: 0...100, ifNaN: 1.2),
                discountFactor: discountFactor.clamped(to: 0...0.99, ifNaN: 0.967)
            )
        }

        /// The minimum gain of a switch, clamped to its range.
        var boundedLeastGain: Double { minimumSwitchGain.clamped(to: 0...100, ifNaN: 0.011) }
        /// The minimum gain of an abandonment, clamped to its range.
        var boundedLeastGainOfAbandonment: Double { minimumAbandonmentGain.clamped(to: 0...100, ifNaN: 0.3) }
        var minimumMeasurementSeconds: Double {
            minimumMeasurementDuration.clampedSeconds.clamped(to: 0.1...60, ifNaN: 0.9)
        }
        var startupSeconds: Double { targetStartupDuration.clampedSeconds.clamped(to: 0...60, ifNaN: 1) }
    }
}

extension Double {
    /// Returns the number clamped to a range, or `other` for NaN.
    fileprivate func clamped(to range: ClosedRange<Double>, ifNaN other: Double) -> Double {
        isNaN ? other : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

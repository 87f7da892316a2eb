import Adaptation
import MediaTiming
import Testing

/// Returns a ladder with the given bit rates, in Mbit/s.
func makeLadder(_ megabits: [Double]) throws -> Ladder {
    try #require(Ladder(megabits.map { LadderRung(peakBitRate: BitRate(bitsPerSecond: Int64($0 * 1_000_000))) }))
}

/// The bit rates of the ladder of most tests, in Mbit/s.
let fiveRungs = [0.5, 1, 2, 4, 8]

extension SelectionContext {
    /// Returns a situation from values in seconds and Mbit/s.
    static func moment(
        _ megabits: [Double] = fiveRungs,
        current: Int? = nil,
        buffer: Double = 12,
        capacity: Double = 30,
        segment: Double = 4,
        isStarting: Bool = false,
        now: Double = 0
    ) throws -> SelectionContext {
        SelectionContext(
            ladder: try makeLadder(megabits),
            previousRung: current,
            bufferLevel: .seconds(buffer),
            bufferCapacity: .seconds(capacity),
            segmentDuration: .seconds(segment),
            isStarting: isStarting,
            now: .seconds(now)
        )
    }
}

extension SegmentMeasurement {
    /// Returns the measurement of a transfer at `megabits` Mbit/s for the given number of seconds.
    static func transfer(
        rung: Int = 0,
        megabits: Double,
        seconds: Double = 2,
        at start: Double = 0,
        latency: Double = 0.05,
        isCached: Bool = false,
        isAbandoned: Bool = false
    ) -> SegmentMeasurement {
        SegmentMeasurement(
            rung: rung,
            bytes: ByteCount(Int64(megabits * seconds * 125_000)),
            duration: .seconds(4),
            request: .seconds(start),
            firstByte: .seconds(start + latency),
            end: .seconds(start + latency + seconds),
            isCached: isCached,
            isAbandoned: isAbandoned
        )
    }
}

extension VariantSelector {
    /// Adds consecutive transfers at one rate.
    mutating func learn(_ megabits: Double, times: Int = 10, rung: Int = 0, from start: Double = 0) {
        for index in 0..<times {
            add(.transfer(rung: rung, megabits: megabits, at: start + 4 * Double(index)))
        }
    }
}

extension SessionModel.Result {
    /// Plays ten minutes of 3 s segments of varying size.
    static func withThreeSecondSegments(
        _ name: SelectorName,
        _ ladder: [Double],
        _ trace: BandwidthTrace,
        capacity: Double = 25
    ) throws -> Self {
        let video = try SessionVideo(megabits: ladder, segmentDuration: 3, segments: 200, spread: 0.2)
        var model = SessionModel(video: video, trace: trace)
        model.capacity = capacity
        model.reviewInterval = 0.3
        var selector = AnyVariantSelector(name)
        return model.run(&selector)
    }
}

public import MediaTiming

/// How loud which moment of the media is: volumes from some time on, and ramps from one to another.
///
/// Before the first of them the volume is 1; behind one, what it ended with holds until the next begins. Where two overlap,
/// the one that begins later holds; of two that begin together, the one that was set later.
public struct AudioMix: Sendable, Hashable {
    /// A volume from a time on, or a ramp.
    private struct Setting: Sendable, Hashable {
        let range: MediaTimeRange
        let start: Double
        let end: Double
    }

    /// In the order of their starts.
    private var settings: [Setting] = []

    /// Makes a mix that changes nothing.
    public init() {}

    /// Whether it changes nothing.
    public var isEmpty: Bool { settings.isEmpty }

    /// Sets the volume from a time on.
    ///
    /// - Parameters:
    ///   - volume: A factor for the samples: 0 for silence, 1 for as they come, at most 16. Samples beyond full scale are
    ///     cut off.
    ///   - time: When, in the time of the item.
    public mutating func setVolume(_ volume: Double, at time: MediaTime) {
        setVolumeRamp(from: volume, to: volume, during: MediaTimeRange(start: time, duration: .zero))
    }

    /// Lets the volume go evenly from one to another.
    ///
    /// - Parameters:
    ///   - start: The volume at the beginning; see ``setVolume(_:at:)``.
    ///   - end: The volume at the end, and from then on.
    ///   - range: When, in the time of the item.
    public mutating func setVolumeRamp(from start: Double, to end: Double, during range: MediaTimeRange) {
        let setting = Setting(range: range, start: Self.clamped(start), end: Self.clamped(end))
        let position = settings.firstIndex { $0.range.start > range.start } ?? settings.endIndex
        if position > 0, settings[position - 1].range.start == range.start {
            settings[position - 1] = setting
        } else {
            settings.insert(setting, at: position)
        }
    }

    /// The volume at a time of the item.
    ///
    /// - Complexity: O(*n*) in settings.
    public func volume(at time: MediaTime) -> Double {
        guard let setting = settings.last(where: { $0.range.start <= time }) else { return 1 }
        guard time < setting.range.end else { return setting.end }
        let share = (time - setting.range.start).seconds / max(setting.range.duration.seconds, .leastNormalMagnitude)
        return setting.start + (setting.end - setting.start) * min(1, share)
    }

    /// The times in a range at which the volume begins to go otherwise, the ends of the range not among them.
    ///
    /// Between two of them it is even: a straight line.
    public func turningPoints(in range: MediaTimeRange) -> [MediaTime] {
        var times: [MediaTime] = []
        for time in settings.flatMap({ [$0.range.start, $0.range.end] }).sorted()
        where time > range.start && time < range.end && time != times.last {
            times.append(time)
        }
        return times
    }

    private static func clamped(_ volume: Double) -> Double { volume.isNaN ? 0 : min(16, max(0, volume)) }
}

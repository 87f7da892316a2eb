public import MediaTiming

/// The volume of audio over media time: volumes from given times on, and ramps between two volumes.
///
/// Before the first setting the volume is 1; after a setting, its final volume applies until the next one begins. If
/// two overlap, the one that begins later applies; if two begin at the same time, the one that was set later replaces
/// the other.
public struct AudioMix: Sendable, Hashable {
    /// A volume from a time on, or a ramp.
    private struct Setting: Sendable, Hashable {
        let range: MediaTimeRange
        let start: Double
        let end: Double
    }

    /// The settings in the order of their start times.
    private var settings: [Setting] = []

    /// Creates a mix that does not change the volume.
    public init() {}

    /// A Boolean value that indicates whether the mix contains no settings.
    public var isEmpty: Bool { settings.isEmpty }

    /// Sets the volume from a time on.
    ///
    /// - Parameters:
    ///   - volume: The factor for the samples: 0 for silence, 1 for the original volume, at most 16. Samples beyond
    ///     full scale are clipped.
    ///   - time: The start, in the time of the item.
    public mutating func setVolume(_ volume: Double, at time: MediaTime) {
        setVolumeRamp(from: volume, to: volume, during: MediaTimeRange(start: time, duration: .zero))
    }

    /// Sets a linear ramp from one volume to another.
    ///
    /// - Parameters:
    ///   - start: The volume at the beginning; see ``setVolume(_:at:)``.
    ///   - end: The volume at the end and afterwards.
    ///   - range: The time range of the ramp, in the time of the item.
    public mutating func setVolumeRamp(from start: Double, to end: Double, during range: MediaTimeRange) {
        let setting = Setting(range: range, start: Self.clamped(start), end: Self.clamped(end))
        let position = settings.firstIndex { $0.range.start > range.start } ?? settings.endIndex
        if position > 0, settings[position - 1].range.start == range.start {
            settings[position - 1] = setting
        } else {
            settings.insert(setting, at: position)
        }
    }

    /// Returns the volume at a time of the item.
    ///
    /// - Complexity: O(*n*) in the number of settings.
    public func volume(at time: MediaTime) -> Double {
        guard let setting = settings.last(where: { $0.range.start <= time }) else { return 1 }
        guard time < setting.range.end else { return setting.end }
        let share = (time - setting.range.start).seconds / max(setting.range.duration.seconds, .leastNormalMagnitude)
        return setting.start + (setting.end - setting.start) * share
    }

    /// Returns the times within a range, without its ends, at which the slope of the volume may change.
    ///
    /// Between two of these times the volume is linear.
    public func slopeChanges(in range: MediaTimeRange) -> [MediaTime] {
        var times: [MediaTime] = []
        for time in settings.flatMap({ [$0.range.start, $0.range.end] }).sorted()
        where time > range.start && time < range.end && time != times.last {
            times.append(time)
        }
        return times
    }

    private static func clamped(_ volume: Double) -> Double { volume.isNaN ? 0 : min(16, max(0, volume)) }
}

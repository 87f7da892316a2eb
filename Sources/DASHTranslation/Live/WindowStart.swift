import DASHManifest
import MediaTiming

/// The number of a playlist's first segment, and the number of entries before it that are left out.
struct WindowStart {
    /// The media sequence number of the first segment.
    private(set) var sequence: Int64 = 0
    /// The number of entries that are left out.
    private(set) var skipCount: Int64 = 0
    /// A Boolean value that indicates whether all servers give the same number to the segment.
    private(set) var isDerived = true

    /// The maximum media sequence number that is derived from a manifest, so that players can count on.
    private static let maximumSequence: Int64 = 1 << 53

    init() {}

    init(sequence: Int64, skipCount: Int64) {
        self.sequence = sequence
        self.skipCount = skipCount
    }

    /// Creates the start of a window whose first number is derived from the manifest.
    init(limiting number: Int64, isDerived: Bool = true) {
        sequence = min(max(0, number), Self.maximumSequence)
        self.isDerived = isDerived
    }

    /// Returns the start of each playlist of a dynamic presentation, which continues the numbers of the earlier version.
    ///
    /// - Parameters:
    ///   - plan: The plan of the translation.
    ///   - measures: The measures of the tracks.
    ///   - windows: The windows of the earlier version, by the index of their tracks; empty for the first translation.
    /// - Returns: The starts, by the index of their tracks.
    static func all(
        _ plan: PresentationPlan,
        _ measures: [TrackMeasure],
        after windows: [TrackWindow]
    ) -> [WindowStart] {
        plan.tracks.indices.map { index in
            let measure = measures[index]
            guard windows.indices.contains(index), !windows[index].starts.isEmpty else {
                return first(plan, index, measures)
            }
            let window = windows[index]
            var skipCount: Int64 = 0
            for position in 0..<measure.starts.count {
                let start = measure.starts[position]
                let end = position + 1 < measure.starts.count ? measure.starts[position + 1] : measure.end
                if let sequence = window.sequence(of: start, duration: end - start) {
                    return WindowStart(sequence: sequence, skipCount: skipCount)
                }
                skipCount +|= 1
            }
            return WindowStart(
                sequence: window.firstSequence +| Int64(clamping: window.starts.count),
                skipCount: skipCount
            )
        }
    }

    /// Returns the media sequence number of the first segment of the first translation.
    ///
    /// The number follows from the manifest where that is possible, so that several servers give the same one: from the
    /// number of the segment where a timeline numbers them, and from the time where all segments have the same duration,
    /// or the segments of another track of the same length do. Otherwise it counts tenths of seconds, so that it is
    /// higher than any number that a translation before a restart reached.
    private static func first(_ plan: PresentationPlan, _ track: Int, _ measures: [TrackMeasure]) -> WindowStart {
        let measure = measures[track]
        guard let start = measure.starts.first,
            let section = plan.periods.lazy.compactMap({ $0.sections[track] }).first
        else { return WindowStart() }
        // The numbers of the segments can begin again in each period.
        let isOnlyPeriod = plan.periods.count == 1 && plan.periods[0].start == .zero
        if isOnlyPeriod, section.addressing.hasNumberedTimeline, section.candidate != nil {
            return WindowStart(limiting: section.addressing.segment(at: section.range.lowerBound)?.number ?? 0)
        }
        if measure.isUniform, measure.firstDuration > .zero, plan.isDivided(by: measure.firstDuration) {
            let number = TrackWindow.quotient(start, measure.firstDuration)
            // A window of equal segments can be a part of a timeline of different ones.
            if section.addressing.hasConstantDuration || measure.isAligned { return WindowStart(limiting: number) }
        } else if let model = measures.first(where: { model in
            model.isUniform && model.isAligned && measure.isParallel(to: model)
                && plan.isDivided(by: model.firstDuration)
        }) {
            return WindowStart(limiting: TrackWindow.quotient(start, model.firstDuration))
        }
        return WindowStart(
            limiting: start.scaled(by: MediaTime(seconds: 10)).roundedSeconds,
            isDerived: false
        )
    }
}

extension PresentationPlan {
    /// Returns a Boolean value that indicates whether all periods begin and end at multiples of a duration, so that their
    /// segments can be counted from the start of the presentation.
    fileprivate func isDivided(by duration: MediaTime) -> Bool {
        func isMultiple(_ time: MediaTime) -> Bool {
            let count = TrackWindow.quotient(time, duration)
            let difference = time - duration.scaled(by: MediaTime(seconds: count))
            let tolerance = MediaTime(value: 1, timescale: 10)
            return difference < tolerance && MediaTime.zero - tolerance < difference
        }
        if periods.count == 1, periods[0].start == .zero { return true }
        return periods.allSatisfy { plan in isMultiple(plan.start) && (plan.period.end.map(isMultiple) ?? true) }
    }
}

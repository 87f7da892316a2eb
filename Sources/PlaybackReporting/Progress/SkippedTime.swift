import MediaTiming

/// The parts of the timeline for which a track has no media, because segments were skipped.
///
/// Audio that is loaded by itself belongs to a track of its own; everything else belongs to the main track. Subtitles
/// do not count, since playback is complete without them where nothing is said.
struct SkippedTime: Sendable, Hashable {
    /// The maximum number of separate ranges for each media type; the earliest range is removed first.
    private static let maximumRangeCount = 1_024

    private var video = MediaTimeRangeSet()
    private var audio = MediaTimeRangeSet()
    private var muxed = MediaTimeRangeSet()

    /// Adds a segment that was skipped.
    mutating func add(_ segment: SkippedSegment) {
        switch segment.mediaType {
        case .video: Self.insert(segment.range, into: &video)
        case .muxed: Self.insert(segment.range, into: &muxed)
        case .audio: Self.insert(segment.range, into: &audio)
        case .subtitles: break
        }
    }

    /// Adds a segment that was loaded, possibly where another one was skipped before.
    mutating func add(_ segment: LoadedSegment) {
        switch segment.mediaType {
        case .video, .muxed:
            video.remove(segment.range)
            muxed.remove(segment.range)
            // Audio in the segments of the main track replaces audio of its own.
            if segment.mediaType == .muxed { audio.remove(segment.range) }
        case .audio: audio.remove(segment.range)
        case .subtitles: break
        }
    }

    /// Returns the time in a range of the timeline in which at least one track has no media.
    func amount(in range: MediaTimeRange) -> Duration {
        guard !video.isEmpty || !audio.isEmpty || !muxed.isEmpty else { return .zero }
        let passed = MediaTimeRangeSet(CollectionOfOne(range))
        let parts = [video, audio, muxed].flatMap { passed.intersection($0).ranges }
        return MediaTimeRangeSet(parts).totalDuration.duration
    }

    private static func insert(_ range: MediaTimeRange, into set: inout MediaTimeRangeSet) {
        set.insert(range)
        if set.ranges.count > maximumRangeCount, let first = set.ranges.first { set.remove(first) }
    }
}

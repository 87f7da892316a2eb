import MediaTiming

/// The parts of the timeline for which a track has no media, because segments were skipped.
///
/// Audio that is loaded by itself belongs to a track of its own; everything else belongs to the main track. Subtitles
/// do not count, since playback is complete without them where nothing is said.
struct SkippedTime: Sendable, Hashable {
    /// The time without media in a part of the timeline that was played.
    struct Amount: Sendable, Hashable {
        /// The time in which at least one track had no media.
        var ofAnyTrack = Duration.zero
        /// The time in which no track had media.
        var ofAllTracks = Duration.zero
    }

    /// The maximum number of separate ranges for each media type; the earliest range is removed first.
    private static let maximumRangeCount = 1_024

    private var video = MediaTimeRangeSet()
    private var audio = MediaTimeRangeSet()
    private var muxed = MediaTimeRangeSet()
    private var hasMainTrack = false
    private var hasAudioTrack = false

    /// Adds a segment that was skipped.
    mutating func add(_ segment: SkippedSegment) {
        switch segment.mediaType {
        case .video:
            hasMainTrack = true
            Self.insert(segment.range, into: &video)
        case .muxed:
            hasMainTrack = true
            Self.insert(segment.range, into: &muxed)
        case .audio:
            hasAudioTrack = true
            Self.insert(segment.range, into: &audio)
        case .subtitles: break
        }
    }

    /// Adds a segment that was loaded, possibly where another one was skipped before.
    mutating func add(_ segment: LoadedSegment) {
        switch segment.mediaType {
        case .video, .muxed:
            hasMainTrack = true
            video.remove(segment.range)
            muxed.remove(segment.range)
            // Audio in the segments of the main track replaces audio of its own.
            if segment.mediaType == .muxed { audio.remove(segment.range) }
        case .audio:
            hasAudioTrack = true
            audio.remove(segment.range)
        case .subtitles: break
        }
    }

    /// Returns the time without media in a range of the timeline.
    func amount(in range: MediaTimeRange) -> Amount {
        guard !video.isEmpty || !audio.isEmpty || !muxed.isEmpty else { return Amount() }
        let played = MediaTimeRangeSet(CollectionOfOne(range))
        let main = MediaTimeRangeSet(played.intersection(video).ranges + played.intersection(muxed).ranges)
        let playedAudio = played.intersection(audio)
        let any = MediaTimeRangeSet(main.ranges + playedAudio.ranges).totalDuration.duration
        let all: MediaTimeRangeSet
        switch (hasMainTrack, hasAudioTrack) {
        case (true, true): all = main.intersection(playedAudio)
        case (true, false): all = main
        case (false, _): all = playedAudio
        }
        return Amount(ofAnyTrack: any, ofAllTracks: all.totalDuration.duration)
    }

    private static func insert(_ range: MediaTimeRange, into set: inout MediaTimeRangeSet) {
        set.insert(range)
        if set.ranges.count > maximumRangeCount, let first = set.ranges.first { set.remove(first) }
    }
}

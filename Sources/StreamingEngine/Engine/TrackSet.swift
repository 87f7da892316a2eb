import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The tracks of an item, and what can be played of all of them together.
struct TrackSet: Sendable {
    var main = TrackState()
    var audio = TrackState()
    var subtitles = TrackState()
    var trickPlay = TrickPlay.off
    /// The time from which audio that is muxed with video is the option that is selected; `nil` if none of it is.
    var muxedAudioStart: MediaTime? = .zero
    /// The end of the audio that is fetched from its own playlist, before it comes muxed with video; `nil` for no end.
    var separateAudioEnd: MediaTime?

    subscript(kind: TrackKind) -> TrackState {
        get {
            switch kind {
            case .main: main
            case .audio: audio
            case .subtitles: subtitles
            }
        }
        _modify {
            switch kind {
            case .main: yield &main
            case .audio: yield &audio
            case .subtitles: yield &subtitles
            }
        }
    }

    /// Returns the track with a transfer.
    func kind(ofTransfer request: Int) -> TrackKind? {
        TrackKind.allCases.first { self[$0].job?.request == request }
    }

    /// Returns the track with media that the pipeline is about to accept.
    func kind(ofAppend request: Int) -> TrackKind? {
        TrackKind.allCases.first { kind in
            switch self[kind].fetch {
            case .appending(let append): append.job.request == request
            case .appendingGap(let append): append.request == request
            case .idle, .transferring, .obsolete, .cancelling: false
            }
        }
    }

    /// A Boolean value that indicates whether a track has a request or media in progress, which ends in an event.
    var hasWorkInProgress: Bool { main.hasWorkInProgress || audio.hasWorkInProgress || subtitles.hasWorkInProgress }

    /// Tries again what ended tracks.
    mutating func retryFailedTracks() {
        for kind in TrackKind.allCases where self[kind].failures.terminalError != nil { self[kind].failures.reset() }
    }

    /// The size of all buffers, in bytes.
    var byteCount: Int { main.buffer.byteCount + audio.buffer.byteCount + subtitles.buffer.byteCount }

    /// The tracks that playback waits for.
    var required: [TrackKind] {
        switch (main.source, audio.source) {
        case (nil, nil): []
        case (_?, nil): [.main]
        case (nil, _?): [.audio]
        case (_?, _?): [.main, .audio]
        }
    }

    /// The error that playback ends with after the buffer.
    var terminalError: StreamingError? { required.lazy.compactMap { self[$0].failures.terminalError }.first }

    /// Returns the timeline of a track; during trick play, that of the variant that is fetched afterwards.
    func fullTimeline(of kind: TrackKind) -> PresentationTimeline? {
        guard kind == .main, let returning = trickPlay.returning else { return self[kind].timeline }
        return returning.timeline ?? main.timeline
    }

    // MARK: Ranges

    /// Returns what is loaded of a track; of audio, also what is muxed with video.
    func loaded(of kind: TrackKind) -> MediaTimeRangeSet {
        // Another language plays until the one that was selected is loaded.
        kind == .audio ? withMuxedAudio(audio.buffer.loaded, from: .zero) : self[kind].buffer.loaded
    }

    /// Adds the audio of the main track from a time on; `nil` for none of it.
    func withMuxedAudio(_ ranges: MediaTimeRangeSet, from start: MediaTime?) -> MediaTimeRangeSet {
        guard let start else { return ranges }
        var ranges = ranges
        for entry in main.buffer.entries where entry.type != .video && !entry.isLeftOut && entry.range.end > start {
            let range = MediaTimeRange(start: max(start, entry.range.start), end: entry.range.end)
            ranges.insert(StreamBuffer.joined(range, to: ranges))
        }
        // The range after it may begin a little later than it ends, too.
        for (range, next) in zip(ranges.ranges, ranges.ranges.dropFirst())
        where next.start - range.end <= SegmentScheduler.seam {
            ranges.insert(MediaTimeRange(start: range.end, end: next.start))
        }
        return ranges
    }

    /// Returns what need not be fetched again of a track.
    func current(of kind: TrackKind) -> MediaTimeRangeSet {
        kind == .audio ? withMuxedAudio(audio.buffer.current, from: muxedAudioStart) : self[kind].buffer.current
    }

    /// Returns what can be played of a track: what is loaded, and the time after its end that others fill.
    private func playable(_ kind: TrackKind, _ moment: PlaybackMoment) -> MediaTimeRangeSet {
        let track = self[kind]
        let loaded = loaded(of: kind)
        guard let own = track.timeline?.duration, track.playlistSource == track.source else { return loaded }
        // The end is unknown while other tracks go on.
        let end = endOfPlayback(moment) ?? (required.count > 1 ? own + MediaTime(seconds: 1_000_000) : own)
        guard own < end else { return loaded }
        var ranges = loaded
        ranges.insert(MediaTimeRange(start: own - SegmentScheduler.seam, end: end))
        return ranges
    }

    /// The ranges that can be played through, with silence and still pictures in gaps.
    func playableRanges(_ moment: PlaybackMoment) -> MediaTimeRangeSet {
        let required = required
        guard let first = required.first else { return MediaTimeRangeSet() }
        var ranges = playable(first, moment)
        for kind in required.dropFirst() { ranges = ranges.intersection(playable(kind, moment)) }
        return ranges
    }

    /// The ranges for which the media of all required tracks is loaded.
    func loadedRanges(_ moment: PlaybackMoment) -> MediaTimeRangeSet {
        var ranges = playableRanges(moment)
        for kind in required {
            for range in self[kind].buffer.leftOut.ranges { ranges.remove(range) }
        }
        return ranges
    }

    /// The ranges without media, of required tracks.
    var leftOutRanges: MediaTimeRangeSet {
        var ranges = MediaTimeRangeSet()
        for kind in required {
            for range in self[kind].buffer.leftOut.ranges { ranges.insert(range) }
        }
        return ranges
    }

    // MARK: Reach

    /// The end of playback; `nil` while it is unknown.
    func endOfPlayback(_ moment: PlaybackMoment) -> MediaTime? {
        let ends = required.map { fullTimeline(of: $0)?.duration }
        // Audio and video seldom end at the same time: the longer of them is played to its end.
        let natural = ends.isEmpty || ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
        guard let asked = moment.limits.forwardEnd else { return natural }
        return natural.map { min($0, asked) } ?? asked
    }

    /// The time up to which playback can go on from a position, in its direction.
    func playableReach(from position: MediaTime, _ moment: PlaybackMoment) -> MediaTime {
        let required = required
        guard moment.isBackward else {
            return required.map { SegmentScheduler.loadedEnd(from: position, in: playable($0, moment)) }.min()
                ?? position
        }
        return required.map { SegmentScheduler.loadedStart(from: position, in: playable($0, moment)) }.max()
            ?? position
    }

    /// The time that can be played without another byte.
    func ahead(_ moment: PlaybackMoment) -> Duration {
        guard moment.isSettled else { return .zero }
        let distance = playableReach(from: moment.position, moment) - moment.position
        return max(.zero, (moment.isBackward ? .zero - distance : distance).duration)
    }

    /// The media time that is buffered ahead of the playhead.
    func capacity(_ moment: PlaybackMoment) -> MediaTime {
        let usual = moment.limits.bufferDuration
        return trickPlay.isActive ? max(usual, TrickPlay.capacity(rate: moment.desiredRate)) : usual
    }

    /// A Boolean value that indicates whether the buffer holds as many bytes as it may.
    func isOutOfMemory(_ moment: PlaybackMoment) -> Bool { byteCount > moment.limits.bufferBytes }

    /// Returns the state of the buffer ahead of the playhead.
    ///
    /// - Parameters:
    ///   - moment: The state of playback.
    ///   - start: The start of playback backwards.
    ///   - suffices: Returns whether a buffer is enough to play through, given the duration of segments.
    /// - Returns: The state of the buffer.
    func bufferState(
        _ moment: PlaybackMoment,
        startOfPlayback start: MediaTime,
        suffices: (_ ahead: Duration, _ segment: Duration) -> Bool
    ) -> BufferState {
        var state = BufferState()
        guard moment.isSettled else { return state }
        let position = moment.position
        let tolerance = MediaTime(value: 1, timescale: 10)
        let required = required
        if moment.isBackward {
            let reach = playableReach(from: position, moment)
            state.ahead = max(.zero, (position - reach).duration)
            state.reachesEnd = !required.isEmpty && reach <= start + tolerance
        } else {
            let end = endOfPlayback(moment)
            if let end, !required.isEmpty {
                state.reachesEnd = required.allSatisfy { kind in
                    let own = self[kind].timeline?.duration.map { min($0, end) } ?? end
                    let loadedEnd = SegmentScheduler.loadedEnd(from: position, in: loaded(of: kind))
                    return loadedEnd >= own - tolerance || position >= own
                }
            }
            let reach = state.reachesEnd ? end : nil
            state.ahead = max(.zero, ((reach ?? playableReach(from: position, moment)) - position).duration)
        }
        let segment = main.timeline?.targetDuration.duration ?? .seconds(6)
        state.suffices = terminalError != nil && state.ahead > .zero || suffices(state.ahead, segment)
        let isOutOfMemory = isOutOfMemory(moment)
        let capacity = capacity(moment)
        state.isFull = required.allSatisfy { kind in
            isOutOfMemory || self[kind].isFull(at: position, capacity: capacity, isBackward: moment.isBackward)
                || kind != .main && self[kind].isComplete(upTo: endOfPlayback(moment))
        }
        return state
    }

    /// Returns whether there is nothing left to play.
    func isBufferEmpty(_ moment: PlaybackMoment, startOfPlayback start: MediaTime) -> Bool {
        bufferState(moment, startOfPlayback: start) { _, _ in false }.isEmpty
    }

    // MARK: Seeks

    /// Returns whether all that is needed at a time is loaded, or nothing follows it.
    func isLoaded(_ time: MediaTime) -> Bool {
        let required = required
        return !required.isEmpty
            && required.allSatisfy { kind in
                let track = self[kind]
                let loaded = loaded(of: kind)
                guard let timeline = track.timeline, track.playlistSource == track.source else {
                    return loaded.contains(time)
                }
                if timeline.range.isEmpty { return !timeline.isLive }
                let time = PlaybackMoment.mediaTime(shownAt: time, in: timeline)
                if loaded.contains(time) { return true }
                guard !SegmentScheduler.isMissing(time, in: timeline, loaded) else { return false }
                return SegmentScheduler.loadedEnd(from: time, in: loaded) > time
            }
    }

    /// Returns whether playback can begin although nothing but gaps is loaded: nothing else will be for a long time.
    func isFilledWithGaps(at target: MediaTime, _ moment: PlaybackMoment) -> Bool {
        let capacity = capacity(moment)
        return required.allSatisfy { kind in
            let track = self[kind]
            return SegmentScheduler.loadedEnd(from: target, in: track.buffer.loaded) - target >= capacity
                || track.isComplete(upTo: endOfPlayback(moment))
                || track.isFull(at: target, capacity: capacity, isBackward: false)
        }
    }

    /// Returns whether everything is loaded up to the end, of all required tracks.
    func isComplete(_ moment: PlaybackMoment) -> Bool {
        required.allSatisfy { self[$0].isComplete(upTo: endOfPlayback(moment)) }
    }

    // MARK: Removal

    /// Removes what is too far from the playhead.
    ///
    /// - Parameters:
    ///   - moment: The state of playback.
    ///   - backBuffer: The media time that is stored behind the playhead.
    ///   - backBytes: The bytes of each track that are stored behind the playhead.
    /// - Returns: The ranges that were removed.
    mutating func discardPlayed(
        _ moment: PlaybackMoment,
        backBuffer: MediaTime,
        backBytes: ByteCount
    ) -> [DiscardedRange] {
        guard moment.isSettled else { return [] }
        var discarded: [DiscardedRange] = []
        if moment.isBackward {
            // What was loaded to play forwards stays as long as it would there.
            let limit = moment.position + max(backBuffer, capacity(moment))
            for kind in TrackKind.allCases { discarded += discard(kind, after: limit) { $0.start > limit } }
            return discarded
        }
        for kind in TrackKind.allCases {
            let start = self[kind].buffer.keptStart(behind: moment.position, backBuffer, backBytes)
            guard let first = self[kind].buffer.entries.first, first.range.end <= start else { continue }
            discarded += DiscardedRange.ranges(self[kind].buffer.discard(before: start))
        }
        guard isOutOfMemory(moment) else { return discarded }
        // What seeks back left far ahead of the playhead.
        for kind in TrackKind.allCases {
            let near = SegmentScheduler.loadedEnd(from: moment.position, in: self[kind].buffer.loaded)
            let limit = max(near, moment.position + capacity(moment))
            discarded += discard(kind, after: limit) { $0.start >= limit }
        }
        return discarded
    }

    private mutating func discard(
        _ kind: TrackKind,
        after limit: MediaTime,
        if isBeyond: (MediaTimeRange) -> Bool
    ) -> [DiscardedRange] {
        guard let last = self[kind].buffer.entries.last, isBeyond(last.range) else { return [] }
        return DiscardedRange.ranges(self[kind].buffer.discard(after: limit))
    }
}

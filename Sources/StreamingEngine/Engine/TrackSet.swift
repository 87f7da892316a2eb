import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The tracks of an item, and the media that can be played of all of them.
struct TrackSet: Sendable {
    var main = TrackState()
    var audio = TrackState()
    var subtitles = TrackState()
    var trickPlay = TrickPlay.off
    /// The media time from which audio that is muxed with video is the selected option; `nil` if it is not selected at
    /// all.
    var muxedAudioStart: MediaTime? = .zero
    /// The end of the separate audio, after which audio comes muxed with video; `nil` for no end.
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

    /// Returns the track to which a transfer belongs; `nil` if there is none.
    func kind(ofTransfer request: Int) -> TrackKind? {
        TrackKind.allCases.first { self[$0].job?.request == request }
    }

    /// Returns the track whose media the pipeline is about to accept; `nil` if there is none.
    func kind(ofAppend request: Int) -> TrackKind? {
        TrackKind.allCases.first { kind in
            switch self[kind].fetch {
            case .appending(let append): append.job.request == request
            case .appendingGap(let append): append.request == request
            case .idle, .transferring, .obsolete, .cancelling: false
            }
        }
    }

    /// Returns the buffered segment that contains the largest part of a time range of media; `nil` if there is none.
    func segment(of type: MediaType, in range: MediaTimeRange) -> SegmentIdentification? {
        TrackKind.allCases.lazy.compactMap { self[$0].buffer.segment(of: type, in: range) }.first
    }

    /// Returns the segment that the playlist of a track lists at a media time, even if the segment is no longer
    /// buffered.
    ///
    /// - Parameters:
    ///   - type: The media type; audio without a playlist of its own is in the segments of the main track.
    ///   - time: The media time; one after the end of the playlist belongs to its last segment.
    /// - Returns: The segment; `nil` if the playlist lists none.
    func listedSegment(of type: MediaType, at time: MediaTime) -> SegmentReference? {
        let kind: TrackKind = type == .audio && audio.timeline != nil ? .audio : .main
        guard let timeline = self[kind].timeline else { return nil }
        return time >= timeline.end ? timeline.segments.last : timeline.segment(at: time)
    }

    /// A Boolean value that indicates whether work is in progress that will end with an event.
    var hasWorkInProgress: Bool { main.hasWorkInProgress || audio.hasWorkInProgress || subtitles.hasWorkInProgress }

    /// Resets the failures of tracks that ended with an error.
    mutating func retryFailedTracks() {
        for kind in TrackKind.allCases where self[kind].failures.terminalError != nil { self[kind].failures.reset() }
    }

    /// The total size of all buffers, in bytes.
    var byteCount: Int { main.buffer.byteCount + audio.buffer.byteCount + subtitles.buffer.byteCount }

    /// The average bit rate of the buffered media of all required tracks; `nil` while one of them has none.
    var averageBitRate: BitRate? {
        var sum: Int64 = 0
        for kind in required {
            guard let rate = self[kind].buffer.averageBitRate else { return nil }
            sum +|= rate.bitsPerSecond
        }
        return sum > 0 ? BitRate(bitsPerSecond: sum) : nil
    }

    /// The tracks that playback waits for.
    var required: [TrackKind] {
        switch (main.source, audio.source) {
        case (nil, nil): []
        case (_?, nil): [.main]
        case (nil, _?): [.audio]
        case (_?, _?): [.main, .audio]
        }
    }

    /// The error with which playback ends at the end of the buffer; `nil` if there is none.
    var terminalError: StreamingError? { required.lazy.compactMap { self[$0].failures.terminalError }.first }

    /// Returns the timeline of a track; during trick play, that of the variant that is fetched after it.
    func fullTimeline(of kind: TrackKind) -> PresentationTimeline? {
        guard kind == .main, let returning = trickPlay.returning else { return self[kind].timeline }
        return returning.timeline ?? main.timeline
    }

    // MARK: Ranges

    /// Returns the loaded ranges of a track; for audio, these include audio that is muxed with video.
    func loaded(of kind: TrackKind) -> MediaTimeRangeSet {
        // The former language is played until the selected one is loaded.
        kind == .audio ? withMuxedAudio(audio.buffer.loaded, from: .zero) : self[kind].buffer.loaded
    }

    /// Adds the ranges of muxed audio from a media time on; `nil` to add none.
    func withMuxedAudio(_ ranges: MediaTimeRangeSet, from start: MediaTime?) -> MediaTimeRangeSet {
        guard let start else { return ranges }
        var ranges = ranges
        for entry in main.buffer.entries where entry.type != .video && !entry.hasNoMedia && entry.range.end > start {
            let range = MediaTimeRange(start: max(start, entry.range.start), end: entry.range.end)
            ranges.insert(StreamBuffer.closingGaps(around: range, in: ranges))
        }
        // The next range may also begin slightly after the end.
        for (range, next) in zip(ranges.ranges, ranges.ranges.dropFirst())
        where next.start - range.end <= SegmentScheduler.gapTolerance {
            ranges.insert(MediaTimeRange(start: range.end, end: next.start))
        }
        return ranges
    }

    /// Returns the ranges of a track that need not be fetched again.
    func current(of kind: TrackKind) -> MediaTimeRangeSet {
        kind == .audio ? withMuxedAudio(audio.buffer.current, from: muxedAudioStart) : self[kind].buffer.current
    }

    /// Returns the ranges of a track that can be played: the loaded ones, and the time after its end while other tracks
    /// continue.
    private func playable(_ kind: TrackKind, _ moment: PlaybackMoment) -> MediaTimeRangeSet {
        let track = self[kind]
        let loaded = loaded(of: kind)
        guard let own = track.timeline?.duration, track.playlistSource == track.source else { return loaded }
        // The end is unknown while other tracks are still loading.
        let end = endOfPlayback(moment) ?? (required.count > 1 ? own + MediaTime(seconds: 1_000_000) : own)
        guard own < end else { return loaded }
        var ranges = loaded
        ranges.insert(MediaTimeRange(start: own - SegmentScheduler.gapTolerance, end: end))
        return ranges
    }

    /// Returns the ranges that can be played, with silence and a still frame in gaps.
    func playableRanges(_ moment: PlaybackMoment) -> MediaTimeRangeSet {
        let required = required
        guard let first = required.first else { return MediaTimeRangeSet() }
        var ranges = playable(first, moment)
        for kind in required.dropFirst() { ranges = ranges.intersection(playable(kind, moment)) }
        return ranges
    }

    /// Returns the ranges for which the media of all required tracks is loaded.
    func loadedRanges(_ moment: PlaybackMoment) -> MediaTimeRangeSet {
        var ranges = playableRanges(moment)
        for kind in required {
            for range in self[kind].buffer.withoutMedia.ranges { ranges.remove(range) }
        }
        return ranges
    }

    /// The ranges without media in required tracks.
    var leftOutRanges: MediaTimeRangeSet {
        var ranges = MediaTimeRangeSet()
        for kind in required {
            for range in self[kind].buffer.withoutMedia.ranges { ranges.insert(range) }
        }
        return ranges
    }

    // MARK: Extent

    /// Returns the end of playback; `nil` while it is unknown.
    func endOfPlayback(_ moment: PlaybackMoment) -> MediaTime? {
        let ends = required.map { fullTimeline(of: $0)?.duration }
        // Audio and video seldom end at the same time; the longer of them is played to its end.
        let natural = ends.isEmpty || ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
        guard let asked = moment.limits.forwardEnd else { return natural }
        return natural.map { min($0, asked) } ?? asked
    }

    /// Returns the media time up to which playback can continue from a position, in its direction.
    func playableReach(from position: MediaTime, _ moment: PlaybackMoment) -> MediaTime {
        let required = required
        guard moment.isBackward else {
            return required.map { SegmentScheduler.loadedEnd(from: position, in: playable($0, moment)) }.min()
                ?? position
        }
        return required.map { SegmentScheduler.loadedStart(from: position, in: playable($0, moment)) }.max()
            ?? position
    }

    /// Returns the duration that can be played without further data.
    func ahead(_ moment: PlaybackMoment) -> Duration {
        guard moment.isSettled else { return .zero }
        let distance = playableReach(from: moment.position, moment) - moment.position
        return max(.zero, (moment.isBackward ? .zero - distance : distance).duration)
    }

    /// Returns the duration of media to buffer ahead of the playhead.
    func capacity(_ moment: PlaybackMoment) -> MediaTime {
        let usual = moment.limits.bufferDuration
        return trickPlay.isActive ? max(usual, TrickPlay.capacity(rate: moment.desiredRate)) : usual
    }

    /// Returns whether the buffers exceed their maximum size.
    func isOutOfMemory(_ moment: PlaybackMoment) -> Bool { byteCount > moment.limits.bufferBytes }

    /// Returns whether the buffers exceed their maximum size together with the segments that are being loaded and
    /// appended, so that the transfer of another segment must wait.
    func isOutOfMemoryForTransfers(_ moment: PlaybackMoment) -> Bool {
        let appended = TrackKind.allCases.reduce(into: Int64(0)) { sum, kind in
            if case .appending(let append) = self[kind].fetch { sum +|= Int64(append.byteCount) }
        }
        return Int64(byteCount) +| moment.unfinishedBytes +| appended > moment.limits.bufferBytes
    }

    /// Returns the state of the buffer ahead of the playhead.
    ///
    /// - Parameters:
    ///   - moment: The state of playback.
    ///   - start: The media time at which reverse playback ends.
    ///   - suffices: Returns whether a buffered duration is enough to play without a stall, given the duration of
    ///     segments.
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
            state.bufferedDuration = max(.zero, (position - reach).duration)
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
            state.bufferedDuration = max(.zero, ((reach ?? playableReach(from: position, moment)) - position).duration)
        }
        let segment = main.timeline?.targetDuration.duration ?? .seconds(6)
        state.isSufficient =
            terminalError != nil && state.bufferedDuration > .zero || suffices(state.bufferedDuration, segment)
        let isOutOfMemory = isOutOfMemory(moment)
        let capacity = capacity(moment)
        state.isFull = required.allSatisfy { kind in
            isOutOfMemory || self[kind].isFull(at: position, capacity: capacity, isBackward: moment.isBackward)
                || kind != .main && self[kind].isComplete(upTo: endOfPlayback(moment))
        }
        return state
    }

    /// Returns whether there is no media left to play.
    func isBufferEmpty(_ moment: PlaybackMoment, startOfPlayback start: MediaTime) -> Bool {
        bufferState(moment, startOfPlayback: start) { _, _ in false }.isEmpty
    }

    // MARK: Seeks

    /// Returns whether all media is loaded that is needed at a time, or no media follows it.
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

    /// Returns whether playback can begin although only gaps are loaded, because only gaps follow for a long time.
    func isFilledWithGaps(at target: MediaTime, _ moment: PlaybackMoment) -> Bool {
        let capacity = capacity(moment)
        return required.allSatisfy { kind in
            let track = self[kind]
            return SegmentScheduler.loadedEnd(from: target, in: track.buffer.loaded) - target >= capacity
                || track.isComplete(upTo: endOfPlayback(moment))
                || track.isFull(at: target, capacity: capacity, isBackward: false)
        }
    }

    /// Returns whether all required tracks are loaded up to their end.
    func isComplete(_ moment: PlaybackMoment) -> Bool {
        required.allSatisfy { self[$0].isComplete(upTo: endOfPlayback(moment)) }
    }

    // MARK: Removal

    /// Removes media that is too far from the playhead.
    ///
    /// - Parameters:
    ///   - moment: The state of playback.
    ///   - backBuffer: The duration of media that stays in the buffer behind the playhead.
    ///   - backBytes: The maximum size of that media, in bytes, for each track.
    ///   - start: The start of the seekable range, before which no media is needed.
    /// - Returns: The ranges that were removed.
    mutating func discardPlayed(
        _ moment: PlaybackMoment,
        backBuffer: MediaTime,
        backBytes: ByteCount,
        startOfSeekableRange start: MediaTime
    ) -> [DiscardedRange] {
        guard moment.isSettled else { return [] }
        var discarded: [DiscardedRange] = []
        if moment.isBackward {
            // During reverse playback, media ahead in forward direction is removed as late as in forward playback.
            for kind in TrackKind.allCases {
                let end = self[kind].buffer.retentionEnd(
                    after: moment.position,
                    duration: backBuffer,
                    byteLimit: backBytes
                )
                let limit = max(end, moment.position + capacity(moment))
                discarded += discard(kind, after: limit) { $0.start > limit }
            }
            return discarded
        }
        for kind in TrackKind.allCases {
            let limit = self[kind].buffer.retentionStart(
                before: moment.position,
                duration: backBuffer,
                byteLimit: backBytes
            )
            let start = max(limit, min(start, moment.position))
            guard let first = self[kind].buffer.entries.first, first.range.end <= start else { continue }
            discarded += DiscardedRange.ranges(self[kind].buffer.discard(before: start))
        }
        guard isOutOfMemory(moment) else { return discarded }
        // Backward seeks leave media far ahead of the playhead.
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

    // MARK: Variants and separate audio

    /// Returns the position at which the playhead enters another variant; gaps belong to no variant.
    func nextVariantChange(from playedVariant: VariantDescription?, _ moment: PlaybackMoment) -> MediaTime? {
        let entries = main.buffer.entries
        let next = entries.partitioningIndex { $0.range.start > moment.position }
        guard moment.isBackward else {
            return entries[next...].first { $0.variant != nil && $0.variant != playedVariant }?.range.start
        }
        var start: MediaTime?
        for entry in entries[..<next].reversed() where entry.variant != nil {
            if entry.variant != playedVariant { return start }
            start = entry.range.start
        }
        return nil
    }

    /// Returns the end of the audio that is fetched separately, after which audio comes muxed with video: the end of the
    /// buffered video without audio.
    ///
    /// - Parameters:
    ///   - moment: The state of playback.
    ///   - isAudioSelected: Whether an audio option is selected.
    /// - Returns: The end; `nil` if audio is buffered up to the end of the video, or is not fetched separately.
    func endOfSeparateAudio(_ moment: PlaybackMoment, isAudioSelected: Bool) -> MediaTime? {
        if let separateAudioEnd { return separateAudioEnd }
        guard moment.isSettled, !trickPlay.isActive, !moment.isBackward, isAudioSelected, audio.source != nil,
            audio.failures.terminalError == nil
        else { return nil }
        let last = main.buffer.entries.last { $0.type == .video && !$0.hasNoMedia }
        guard let end = last?.range.end else { return nil }
        let audioEnd = SegmentScheduler.loadedEnd(from: moment.position, in: current(of: .audio))
        return audioEnd < end - SegmentScheduler.gapTolerance ? end : nil
    }

    /// Marks buffered video without audio as outdated where its audio will not be fetched separately.
    mutating func outdateVideoWithoutAudio(from time: MediaTime) {
        main.buffer.markOutdated(from: SegmentScheduler.loadedEnd(from: time, in: current(of: .audio)))
    }

    // MARK: Trick play

    /// Begins to end trick play: removes the I-frames from the buffer.
    ///
    /// - Returns: The ranges to remove from the pipeline.
    mutating func leaveTrickPlay() -> [DiscardedRange] {
        guard let returning = trickPlay.returning else { return [] }
        trickPlay = .leaving(returning)
        main.abandonTransfer()
        return main.buffer.discardTrickPlay().map { DiscardedRange(type: $0.type, range: $0.range) }
    }
}

import HLSPlaylist
import MediaTiming
import PlaybackReporting

extension PlaybackEngine {
    /// Sees to it that the play head moves when it can, and stops where there is nothing to play.
    func clockLoop() async {
        while !Task.isCancelled, failure == nil {
            let seen = changes.count
            reportNotedRequests()
            await applyCaptions()
            await applySound()
            await reviewScanning()
            await completeSeek()
            evaluate()
            await applyRate()
            await discardPlayed()
            publish()
            await changes.wait(after: seen, until: nextMoment(), time)
        }
    }

    /// Tells the pipeline which captions are wanted, where that has changed.
    private func applyCaptions() async {
        let channel = selection[.closedCaptions]?.id.instreamID
        guard channel != captionChannel else { return }
        captionChannel = channel
        await pipeline.selectCaptions(channel)
    }

    /// Tells the pipeline how sound is to be heard, where that has changed.
    func applySound() async {
        guard options.sound != appliedSound else { return }
        appliedSound = options.sound
        await pipeline.setSound(options.sound)
    }

    /// What happens in the pipeline by itself.
    func pipelineLoop() async {
        for await event in pipeline.events {
            switch event {
            case .timebaseChanged, .firstFrame: changes.notify()
            case .tracksChanged(let tracks):
                guard tracks != self.tracks else { continue }
                self.tracks = tracks
                report(.tracksChanged(tracks))
                publish()
            case .timedMetadata(let message): report(.timedMetadata(message))
            case .unplayable(let type, let range):
                let message = "media of \(range) could not be decoded"
                fail(StreamingError(.damaged, message), recovered: true)
                report(
                    .segmentSkipped(SkippedSegment(address: "", mediaType: type, range: range, reason: .notDecodable))
                )
            case .failed(let message): fail(StreamingError(.pipelineLost, message))
            }
            if Task.isCancelled { return }
        }
        // The pipeline has nothing more to tell; the others go on.
        while !Task.isCancelled, failure == nil { await changes.wait(after: changes.count) }
    }

    /// The streams that playing waits for.
    var requiredStreams: [StreamState] { streams.required }

    /// What is buffered of all that is needed; what was left out is a hole.
    var loadedRanges: MediaTimeRangeSet {
        var ranges = playableRanges
        for stream in requiredStreams {
            for range in stream.buffer.leftOut.ranges { ranges.remove(range) }
        }
        return ranges
    }

    /// What is passed over, of what is needed.
    var leftOutRanges: MediaTimeRangeSet {
        var ranges = MediaTimeRangeSet()
        for stream in requiredStreams {
            for range in stream.buffer.leftOut.ranges { ranges.insert(range) }
        }
        return ranges
    }

    /// What can be played through, with silence and still pictures where there is nothing.
    var playableRanges: MediaTimeRangeSet {
        let required = requiredStreams
        guard let first = required.first else { return MediaTimeRangeSet() }
        var ranges = playable(first)
        for stream in required.dropFirst() { ranges = ranges.intersection(playable(stream)) }
        return ranges
    }

    /// What is loaded of a stream; of sound, also what comes with pictures.
    func loaded(of stream: StreamState) -> MediaTimeRangeSet {
        // Another language plays until the one that was chosen is there.
        stream === streams[.audio] ? withSoundOfPictures(stream.buffer.loaded, from: .zero) : stream.buffer.loaded
    }

    /// What can be played of a stream: what is loaded, and the time behind its end that others fill.
    private func playable(_ stream: StreamState) -> MediaTimeRangeSet {
        let loaded = loaded(of: stream)
        guard let own = stream.timeline?.duration, stream.timelineSource == stream.source else { return loaded }
        // While others go on, nobody knows up to where.
        let end = endOfPlay ?? (requiredStreams.count > 1 ? own + MediaTime(seconds: 1_000_000) : own)
        guard own < end else { return loaded }
        var ranges = loaded
        ranges.insert(MediaTimeRange(start: own - SegmentScheduler.seam, end: end))
        return ranges
    }

    /// Whether the play head goes towards the start.
    ///
    /// A seek needs what lies behind its target, as ever.
    var isBackward: Bool { machine.desiredRate < 0 && pendingSeek == nil }

    /// Up to where it can be played from a time on, the way the play head goes.
    func playableReach(from position: MediaTime) -> MediaTime {
        guard isBackward else {
            return requiredStreams.map { SegmentScheduler.loadedEnd(from: position, in: playable($0)) }.min()
                ?? position
        }
        return requiredStreams.map { SegmentScheduler.loadedStart(from: position, in: playable($0)) }.max()
            ?? position
    }

    /// Where playing backwards ends.
    var startOfPlay: MediaTime {
        let start = seekableRange?.start ?? streams[.main].timeline?.range.start ?? .zero
        return options.reversePlaybackEndTime.map { max(start, $0) } ?? start
    }

    /// Where playing ends; `nil` while that is not known.
    var endOfPlay: MediaTime? {
        let ends = requiredStreams.map { wholeTimeline(of: $0)?.duration }
        // Sound and pictures seldom end at the same moment: the longer of them is played out.
        let natural = ends.isEmpty || ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
        guard let asked = options.forwardPlaybackEndTime else { return natural }
        return natural.map { min($0, asked) } ?? asked
    }

    /// What a stream consists of: of fast motion, what its pictures are taken from.
    func wholeTimeline(of stream: StreamState) -> PresentationTimeline? {
        guard let sourceAfterScan, stream === streams[.main] else { return stream.timeline }
        return knownTimelines.peek(sourceAfterScan) ?? stream.timeline
    }

    /// The time that could be played without another byte.
    var ahead: Duration {
        guard isPositioned, pendingSeek == nil else { return .zero }
        let position = position
        let distance = playableReach(from: position) - position
        return max(.zero, (isBackward ? .zero - distance : distance).duration)
    }

    func bufferState() -> BufferState {
        guard isPositioned, pendingSeek == nil else { return BufferState() }
        let position = position
        guard !isBackward else { return backwardBufferState(at: position) }
        let end = endOfPlay
        let streams = requiredStreams
        let reachesEnd =
            !streams.isEmpty && end != nil
            && streams.allSatisfy { stream in
                guard let end else { return false }
                let own = stream.timeline?.duration.map { min($0, end) } ?? end
                let loaded = SegmentScheduler.loadedEnd(from: position, in: loaded(of: stream))
                return loaded >= own - MediaTime(value: 1, timescale: 10) || position >= own
            }
        let limit = reachesEnd ? end ?? playableReach(from: position) : playableReach(from: position)
        return bufferState(ahead: max(.zero, (limit - position).duration), reachesEnd: reachesEnd)
    }

    private func backwardBufferState(at position: MediaTime) -> BufferState {
        let reach = playableReach(from: position)
        let isWhole = !requiredStreams.isEmpty && reach <= startOfPlay + MediaTime(value: 1, timescale: 10)
        return bufferState(ahead: max(.zero, (position - reach).duration), reachesEnd: isWhole)
    }

    private func bufferState(ahead: Duration, reachesEnd: Bool) -> BufferState {
        var state = BufferState()
        state.ahead = ahead
        state.reachesEnd = reachesEnd
        let segment = self.streams[.main].timeline?.targetDuration.duration ?? .seconds(6)
        let isDoomed = self.streams.required.contains { $0.doom != nil }
        state.suffices =
            isDoomed && ahead > .zero
            || keepUp.suffices(
                ahead: state.ahead,
                needed: chooser.neededBitRate(of: fetchedVariant, rate: machine.desiredRate),
                throughput: chooser.throughput,
                segment: segment
            )
        let isOutOfMemory = streams.byteCount > options.bufferByteLimit.bytes
        state.isFull = requiredStreams.allSatisfy { stream in
            isOutOfMemory || stream.isFull(at: position, capacity: capacity, isBackward: isBackward)
                || stream !== streams[.main] && stream.isComplete(upTo: endOfPlay)
        }
        return state
    }

    /// How much is buffered ahead.
    var capacity: MediaTime {
        let asked = options.preferredForwardBufferDuration
        let usual = MediaTime(asked > .zero ? asked : .seconds(30))
        return isScanning ? max(usual, scanCapacity) : usual
    }

    private func evaluate() {
        guard failure == nil else { return }
        updateWindow()
        meetDoom()
        guard failure == nil else { return }
        if isPositioned, pendingSeek == nil, !machine.hasEnded {
            let state = bufferState()
            perform(machine.bufferChanged(state, variant: playedVariant, at: time.now))
            noteVariantAtPlayhead()
            if isBackward, state.reachesEnd, position <= startOfPlay {
                perform(machine.setRate(0, reason: .reversePlaybackReachedStartOfSeekableRange, at: time.now))
            }
            if let end = endOfPlay, position >= end, machine.rate >= 0, machine.desiredRate > 0, state.reachesEnd {
                self.end = end
                let actions = machine.reachedEnd(pausing: options.pausesAtEnd, at: time.now)
                // Whoever is told of the end asks where the play head is.
                publish()
                perform(actions)
            }
            if playbackType == .live, machine.desiredRate > 1, let seekableRange, position >= seekableRange.end {
                perform(machine.setRate(1, reason: .playheadReachedLiveEdge, at: time.now))
            }
            correctLiveOffset(ahead: state.ahead)
            reportFrames()
        }
    }

    /// Where no more will come, playing ends when what is buffered was played.
    private func meetDoom() {
        guard let doom = streams.required.lazy.compactMap(\.doom).first else { return }
        if pendingSeek == nil, isPositioned {
            guard !machine.hasEnded, bufferState().isEmpty else { return }
            guard machine.desiredRate != 0 else { return }
        }
        fail(doom)
    }

    /// Tells how many frames there were, once a second and at the end.
    func reportFrames(isLast: Bool = false) {
        let isUsual = 0...1 ~= machine.rate
        leavesOutFrames = leavesOutFrames || !isUsual
        let counts = pipeline.frameCounts
        guard counts != lastFrames, isLast || machine.hasEnded || time.now - lastFrameReport >= .seconds(1) else {
            return
        }
        let new = FrameCounts(
            decoded: counts.decoded - lastFrames.decoded,
            dropped: counts.dropped - lastFrames.dropped,
            discarded: counts.discarded - lastFrames.discarded
        )
        lastFrames = counts
        lastFrameReport = time.now
        report(.frames(new))
        // Of fast and of backward play frames are left out on purpose.
        defer { leavesOutFrames = !isUsual }
        guard let playedVariant, !leavesOutFrames else { return }
        chooser.add(new, of: playedVariant, now: time.now)
    }

    /// When something will be to be done even if nothing happens until then.
    private func nextMoment() -> Duration? {
        guard machine.rate != 0, isPositioned, pendingSeek == nil, !machine.hasEnded else { return nil }
        let timebase = pipeline.timebase
        var moments = [timebase.time(reaching: playableReach(from: position))]
        if isBackward { moments.append(timebase.time(reaching: startOfPlay)) }
        if let end = endOfPlay { moments.append(timebase.time(reaching: end)) }
        if let next = nextVariantBorder() { moments.append(timebase.time(reaching: next)) }
        if playbackType == .live { moments.append(time.now + .seconds(1)) }
        if let appointment, appointment > time.now { moments.append(appointment) }
        // A moment that has come already is waited for no more: the look at it is what is due.
        let soon = time.now + .milliseconds(1)
        return moments.compactMap { $0 }.min().map { max($0, soon) }
    }

    /// Where the play head enters another variant.
    private func nextVariantBorder() -> MediaTime? {
        let entries = streams[.main].buffer.entries
        let position = position
        let behind = entries.partitioningIndex { $0.range.start > position }
        if isBackward { return entries[..<behind].last { $0.variant != playedVariant }?.range.end }
        return entries[behind...].first { $0.variant != playedVariant }?.range.start
    }

    private func noteVariantAtPlayhead() {
        guard let variant = streams[.main].buffer.variant(at: position), variant != playedVariant else { return }
        let numbers = chooser.numbers(bufferLevel: bufferState().ahead)
        var change: VariantSwitch
        if let known = streams[.main].switching, known.to == variant {
            change = VariantSwitch(
                from: playedVariant,
                to: variant,
                cause: known.cause,
                numbers: known.numbers,
                loadedTimeRanges: loadedRanges.ranges
            )
            streams[.main].switching = nil
        } else {
            change = VariantSwitch(
                from: playedVariant,
                to: variant,
                cause: playedVariant == nil ? "start" : "played",
                numbers: numbers,
                loadedTimeRanges: loadedRanges.ranges
            )
        }
        if let known = presentation?.variants.first(where: { $0.id.text == variant.id }) {
            change.renditions = renditions(beside: known)
        }
        playedVariant = variant
        report(.variantSwitched(change, succeeded: true))
        updateTracks()
    }

    /// Forgets what lies too far behind.
    private func discardPlayed() async {
        guard isPositioned, pendingSeek == nil else { return }
        if isBackward { return await discardPlayedBackward() }
        let longest = MediaTime(options.backBufferDuration)
        for kind in StreamKind.allCases {
            let border = streams[kind].buffer.keptStart(behind: position, longest, options.backBufferByteLimit)
            guard let first = streams[kind].buffer.entries.first, first.range.end <= border else { continue }
            let forgotten = streams[kind].buffer.discard(before: border)
            for (type, range) in forgotten { await pipeline.discard(type, in: range) }
        }
        if streams.byteCount > options.bufferByteLimit.bytes { await discardFarAhead() }
    }

    /// Where there is too much of it, forgets what seeks back left behind their time.
    private func discardFarAhead() async {
        for kind in StreamKind.allCases {
            let near = SegmentScheduler.loadedEnd(from: position, in: streams[kind].buffer.loaded)
            let border = max(near, position + capacity)
            guard let last = streams[kind].buffer.entries.last, last.range.start >= border else { continue }
            let forgotten = streams[kind].buffer.discard(after: border)
            for (type, range) in forgotten { await pipeline.discard(type, in: range) }
        }
    }

    private func discardPlayedBackward() async {
        // What was loaded to go forwards stays as long as it would there.
        let border = position + max(MediaTime(options.backBufferDuration), capacity)
        for kind in StreamKind.allCases {
            guard let last = streams[kind].buffer.entries.last, last.range.start > border else { continue }
            let forgotten = streams[kind].buffer.discard(after: border)
            for (type, range) in forgotten { await pipeline.discard(type, in: range) }
        }
    }

    private func correctLiveOffset(ahead: Duration) {
        // Before an appointment nothing is corrected.
        guard pipeline.timebase.time <= time.now else { return }
        guard playbackType == .live, options.preservesTimeOffsetFromLive,
            machine.desiredRate == 1, let edge = liveEdge, let recommendedOffset
        else {
            // The option was turned off, the stream has ended, or another rate is played.
            liveOffset = LiveOffsetControl()
            return perform(machine.correctRate(by: 1, at: time.now))
        }
        let factor = liveOffset.factor(
            offset: edge.mediaTime(at: time.now) - position,
            wanted: max(options.timeOffsetFromLive ?? recommendedOffset, recommendedOffset),
            ahead: ahead,
            least: streams[.main].timeline?.targetDuration.duration ?? .seconds(6)
        )
        perform(machine.correctRate(by: factor, at: time.now))
    }
}

extension StreamState {
    /// Whether nothing more is to be fetched before some of it is played.
    func isFull(at position: MediaTime, capacity: MediaTime, isBackward: Bool) -> Bool {
        guard let timeline else { return false }
        return SegmentScheduler(position: position, loaded: buffer.loaded, capacity: capacity, isBackward: isBackward)
            .isFull(in: timeline)
    }
}

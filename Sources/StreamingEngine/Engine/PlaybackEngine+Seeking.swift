import MediaTiming
import PlaybackReporting

extension PlaybackEngine {
    /// The play head is to be elsewhere; what does not serve that is given up.
    ///
    /// - Returns: What names the seek.
    func beginSeek(to asked: MediaTime, tolerance: SeekTolerance, isStart: Bool, isRefresh: Bool = false) -> Int {
        let target = clamped(asked)
        let waiter = pendingSeek?.waiter
        reportPendingSeek(landed: nil)
        (dateToBeginAt, appointment) = (nil, nil)
        // A seek before the start begins the playback elsewhere.
        let beginsPlayback = isStart || !isPositioned
        lastSeekID += 1
        pendingSeek = PendingSeek(
            id: lastSeekID,
            target: target,
            tolerance: tolerance,
            isInBuffer: isPositioned && isLoaded(target),
            isStart: beginsPlayback,
            isAsked: !isStart && !isRefresh,
            isRefresh: isRefresh
        )
        waiter?.resume(returning: SeekResult(isFinished: false, landed: position))
        // It stands where it stood until it is there.
        if pendingSeek?.isAsked == true { report(.seekStarted(to: target)) }
        end = nil
        if endOfSound != nil {
            outdatePicturesWithoutSound(from: target)
            applyRenditions(atOnce: true)
        }
        perform(machine.seekBegan(at: time.now))
        giveUpTransfers(for: target)
        chooser.seeked()
        changes.notify()
        return lastSeekID
    }

    /// Tells how the seek that is under way ended, if its beginning was told.
    func reportPendingSeek(landed: MediaTime?) {
        guard let seek = pendingSeek, seek.isAsked else { return }
        report(.seekEnded(SeekOutcome(target: seek.target, landed: landed, didSeekInBuffer: seek.isInBuffer)))
    }

    /// What was asked for before anything was known is brought to where there is media.
    func clampPendingSeek() {
        guard let seek = pendingSeek else { return }
        pendingSeek?.target = clamped(seek.target)
    }

    /// Nobody waits for media that the new place has no use for.
    private func giveUpTransfers(for target: MediaTime) {
        for kind in StreamKind.allCases {
            streams[kind].pausedUntil = nil
            streams[kind].doom = nil
            streams[kind].recovery = SegmentRecovery()
            streams[kind].tried = TriedSources()
            guard let job = streams[kind].job else { continue }
            let needed = SegmentScheduler.loadedEnd(from: target, in: streams[kind].buffer.current)
            guard !job.segment.range.contains(needed) else { continue }
            streams[kind].job?.isObsolete = true
        }
    }

    private func clamped(_ target: MediaTime) -> MediaTime {
        guard let timeline = streams[.main].timeline else { return max(target, .zero) }
        let window = seekableRange ?? timeline.range
        let last = timeline.isLive ? movingEnd(of: window, timeline) : endOfPlay ?? timeline.end
        return min(max(target, window.start), max(last, window.start))
    }

    /// Where the window of a live stream ends by now: it moves on while its playlist is on its way.
    private func movingEnd(of window: MediaTimeRange, _ timeline: PresentationTimeline) -> MediaTime {
        guard let loaded = streams[.main].timelineLoaded else { return window.end }
        let age = min(MediaTime(time.now - loaded), timeline.targetDuration)
        return max(window.end, min(timeline.end, window.end + age))
    }

    /// Whether all that is needed at a time is buffered, or there is nothing behind it.
    private func isLoaded(_ time: MediaTime) -> Bool {
        let streams = requiredStreams
        return !streams.isEmpty
            && streams.allSatisfy { stream in
                let loaded = loaded(of: stream)
                guard let timeline = stream.timeline, stream.timelineSource == stream.source else {
                    return loaded.contains(time)
                }
                if timeline.range.isEmpty { return !timeline.isLive }
                let time = mediaTime(shownAt: time, in: timeline)
                if loaded.contains(time) { return true }
                guard !SegmentScheduler.isMissing(time, in: timeline, loaded) else { return false }
                return SegmentScheduler.loadedEnd(from: time, in: loaded) > time
            }
    }

    /// Which media is needed to show something at a time: at the end of what is listed, that just before it.
    func mediaTime(shownAt time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        guard !timeline.isLive else { return time }
        return min(time, max(timeline.range.start, timeline.end - MediaTime(value: 1, timescale: 20)))
    }

    /// Moves the play head as soon as there is media where it is to be.
    func completeSeek() async {
        guard let seek = pendingSeek, failure == nil, isLoaded(seek.target), mayBeReady(at: seek.target) else { return }
        do {
            let landed = try await pipeline.seek(to: seek.target, tolerance: seek.tolerance)
            guard pendingSeek?.id == seek.id else { return }
            arrive(seek, landed)
        } catch {
            guard pendingSeek?.id == seek.id else { return }
            if (error as? MediaPipelineError)?.code == .lost {
                return fail(StreamingError(.pipelineLost, "\(error)", cause: error))
            }
            reportPendingSeek(landed: nil)
            finishSeek(SeekResult(isFinished: false, landed: position))
            fail(StreamingError(.damaged, "nothing can be shown at \(seek.target): \(error)"), recovered: true)
            perform(machine.seekEnded(bufferState(), at: time.now))
        }
    }

    /// Nothing is ready before there was something to show, unless nothing but gaps is wanted for a long while.
    private func mayBeReady(at target: MediaTime) -> Bool {
        isPositioned || hasMedia
            || requiredStreams.allSatisfy { stream in
                SegmentScheduler.loadedEnd(from: target, in: stream.buffer.loaded) - target >= capacity
                    || stream.isComplete(upTo: endOfPlay)
                    || stream.isFull(at: target, capacity: capacity, isBackward: false)
            }
    }

    private func arrive(_ seek: PendingSeek, _ landed: MediaTime) {
        finishSeek(SeekResult(isFinished: true, landed: landed))
        let wasPositioned = isPositioned
        isPositioned = true
        if !wasPositioned {
            report(.statusChanged(.readyToPlay))
            report(.timeJumped(from: nil, to: landed))
            perform(machine.becomeReady(at: time.now))
        } else if !seek.isRefresh {
            report(.timeJumped(from: nil, to: landed))
        }
        if seek.isAsked {
            report(.seekEnded(SeekOutcome(target: seek.target, landed: landed, didSeekInBuffer: seek.isInBuffer)))
        }
        perform(machine.seekEnded(bufferState(), at: time.now))
    }

    /// Tells who waits for a seek how it ended.
    func finishSeek(_ result: SeekResult) {
        let waiter = pendingSeek?.waiter
        pendingSeek = nil
        waiter?.resume(returning: result)
    }
}

import MediaTiming
import PlaybackReporting

extension PlaybackEngine {
    /// The play head is to be elsewhere; what does not serve that is given up.
    ///
    /// - Returns: What names the seek.
    func beginSeek(to asked: MediaTime, tolerance: SeekTolerance, isStart: Bool, isRefresh: Bool = false) -> Int {
        let target = clamped(asked)
        let waiter = pendingSeek?.waiter
        if let former = pendingSeek, !former.isStart, !former.isRefresh {
            report(
                .seekEnded(SeekOutcome(target: former.target, landed: nil, didSeekInBuffer: former.isInBuffer))
            )
        }
        // A seek before the start begins the playback elsewhere.
        let beginsPlayback = isStart || !isPositioned
        lastSeekID += 1
        pendingSeek = PendingSeek(
            id: lastSeekID,
            target: target,
            tolerance: tolerance,
            isInBuffer: isPositioned && isLoaded(target),
            isStart: beginsPlayback,
            isRefresh: isRefresh
        )
        waiter?.resume(returning: SeekResult(isFinished: false, landed: position))
        // It stands where it stood until it is there.
        if !isStart, !isRefresh { report(.seekStarted(to: target)) }
        end = nil
        perform(machine.seekBegan(at: time.now))
        giveUpTransfers(for: target)
        chooser.seeked()
        changes.notify()
        return lastSeekID
    }

    /// Nobody waits for media that the new place has no use for.
    private func giveUpTransfers(for target: MediaTime) {
        for kind in StreamKind.allCases {
            streams[kind].pausedUntil = nil
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
        let last = timeline.isLive ? window.end : endOfPlay ?? timeline.end
        return min(max(target, window.start), max(last, window.start))
    }

    /// Whether all that is needed at a time is buffered, or there is nothing behind it.
    private func isLoaded(_ time: MediaTime) -> Bool {
        let streams = requiredStreams
        return !streams.isEmpty
            && streams.allSatisfy { stream in
                guard let timeline = stream.timeline, stream.timelineSource == stream.source else {
                    return stream.buffer.loaded.contains(time)
                }
                if timeline.range.isEmpty { return !timeline.isLive }
                let time = mediaTime(shownAt: time, in: timeline)
                if stream.buffer.loaded.contains(time) { return true }
                guard !SegmentScheduler.isMissing(time, in: timeline, stream.buffer.loaded) else { return false }
                return SegmentScheduler.loadedEnd(from: time, in: stream.buffer.loaded) > time
            }
    }

    /// Which media is needed to show something at a time: at the end of what is listed, that just before it.
    func mediaTime(shownAt time: MediaTime, in timeline: PresentationTimeline) -> MediaTime {
        guard !timeline.isLive else { return time }
        return min(time, max(timeline.range.start, timeline.end - MediaTime(value: 1, timescale: 20)))
    }

    /// Moves the play head as soon as there is media where it is to be.
    func completeSeek() async {
        guard let seek = pendingSeek, failure == nil, isLoaded(seek.target) else { return }
        do {
            let landed = try await pipeline.seek(to: seek.target, tolerance: seek.tolerance)
            guard pendingSeek?.id == seek.id else { return }
            finishSeek(SeekResult(isFinished: true, landed: landed))
            arrive(seek, landed)
        } catch {
            guard pendingSeek?.id == seek.id else { return }
            if (error as? MediaPipelineError)?.code == .lost {
                return fail(StreamingError(.pipelineLost, "\(error)", cause: error))
            }
            finishSeek(SeekResult(isFinished: false, landed: position))
            if !seek.isRefresh {
                report(.seekEnded(SeekOutcome(target: seek.target, landed: nil, didSeekInBuffer: seek.isInBuffer)))
            }
            fail(StreamingError(.damaged, "nothing can be shown at \(seek.target): \(error)"), recovered: true)
            perform(machine.seekEnded(bufferState(), at: time.now))
        }
    }

    private func arrive(_ seek: PendingSeek, _ landed: MediaTime) {
        let wasPositioned = isPositioned
        isPositioned = true
        if !wasPositioned {
            report(.statusChanged(.readyToPlay))
            report(.timeJumped(from: nil, to: landed))
            perform(machine.becomeReady(at: time.now))
        } else if !seek.isRefresh {
            report(.timeJumped(from: nil, to: landed))
        }
        if !seek.isStart || wasPositioned, !seek.isRefresh {
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

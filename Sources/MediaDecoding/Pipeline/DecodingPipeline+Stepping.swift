public import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

/// Plays in reverse and steps by single frames.
extension DecodingPipeline {
    /// Shows the frame that is due in reverse playback; frames skipped on the way to it are counted as dropped.
    func showDueFrameInReverse(at position: MediaTime, rate: Double) {
        isForward = false
        video.decodesKeyFramesOnly = rate < -Self.maximumFullReverseRate
        var next: VideoFrame?
        while let current = next?.time ?? shownTime, position < current - VideoFeed.timeTolerance,
            let earlier = video.previous(before: current, &mapping)
        {
            if next != nil { shared.withLock { $0.counts.dropped += 1 } }
            next = earlier
        }
        if let next { show(next) }
    }

    /// Switches to forward playback at the current position of the playhead.
    func switchToForward() {
        guard !isForward else { return }
        isForward = true
        video.decodesKeyFramesOnly = false
        let now = time.now
        let position = shared.withLock { $0.clock.timebase(at: now) }.mediaTime(at: now)
        _ = video.seek(to: max(.zero, position), tolerance: .exact, mapping: &mapping)
        // This frame is already on the screen.
        if let first = video.frames.first, first.time == shownTime { video.removeFirst() }
    }

    /// Shows another frame while playback is paused.
    public func step(by count: Int) async -> MediaTime? {
        guard targetRate == 0, let shown = shownTime else { return nil }
        var found: VideoFrame?
        if count > 0 {
            switchToForward()
            for _ in 0..<min(count, 100_000) {
                video.fill(1, &mapping)
                guard let frame = video.frames.first else { break }
                video.removeFirst()
                found = frame
            }
        } else {
            isForward = false
            for _ in 0..<min(count.negatedSaturated(), 100_000) {
                guard let frame = video.previous(before: found?.time ?? shown, &mapping) else { break }
                found = frame
            }
        }
        guard let found else { return nil }
        let now = time.now
        shared.withLock { $0.clock.jump(to: found.time, now: now) }
        show(found)
        self.updateFrameCounts()
        changes.notify()
        return found.time
    }
}

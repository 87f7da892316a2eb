public import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

/// Plays in reverse and steps by single frames.
extension DecodingPipeline {
    /// Shows the frame that is due in reverse playback; frames skipped on the way to it are counted as dropped.
    func showDueBackward(_ position: MediaTime, rate: Double) {
        isForward = false
        video.decodesKeyFramesOnly = rate < -Self.fastestFullBackward
        var next: VideoFrame?
        while let current = next?.time ?? shownTime, position < current - VideoFeed.tick,
            let earlier = video.previous(before: current, &mapping)
        {
            if next != nil { shared.withLock { $0.counts.dropped += 1 } }
            next = earlier
        }
        if let next { show(next) }
    }

    /// Switches to forward playback at the current position of the playhead.
    func turnForward() {
        guard !isForward else { return }
        isForward = true
        video.decodesKeyFramesOnly = false
        let now = time.now
        let position = shared.withLock { $0.clock.timebase(at: now) }.mediaTime(at: now)
        _ = video.seek(to: max(.zero, position), .exact, &mapping)
        // This frame is already on the screen.
        if let first = video.frames.first, first.time == shownTime { video.removeFirst() }
    }

    /// Shows another frame while playback is paused.
    public func step(by count: Int) async -> MediaTime? {
        guard eventualRate == 0, let shown = shownTime else { return nil }
        var found: VideoFrame?
        if count > 0 {
            turnForward()
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
        self.count()
        changes.notify()
        return found.time
    }
}

public import MediaTiming
import PlaybackReporting
import StreamingEngine
import Synchronization

/// Going backwards, and by single frames.
extension DecodingPipeline {
    /// Shows what is due on the way to the start.
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

    /// Lets the pictures go on forwards from where the play head is.
    func turnForward() {
        guard !isForward else { return }
        isForward = true
        video.decodesKeyFramesOnly = false
        let now = time.now
        let position = shared.withLock { $0.clock.timebase(at: now) }.mediaTime(at: now)
        _ = video.seek(to: max(.zero, position), .exact, &mapping)
        // That one is shown already.
        if let first = video.frames.first, first.time == shownTime { video.removeFirst() }
    }

    /// Shows another picture while the play head stands.
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

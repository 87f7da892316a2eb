package import MediaTiming
package import PlaybackReporting
import Synchronization

/// A pipeline that decodes nothing and only advances the playback position.
///
/// It is useful for monitoring and measuring streams, and for simulations in which hours pass immediately. It uses the
/// times of the playlist.
package final class NonDecodingPipeline: MediaPipeline {
    fileprivate struct State {
        var timebase = Timebase()
        var loaded: [MediaType: MediaTimeRangeSet] = [:]
        /// A scheduled start in the future.
        var scheduled: Timebase?
    }

    private let time: any TimeSource
    private let keyFrameInterval: MediaTime
    private let state = Mutex(State())
    private let (stream, continuation) = AsyncStream.makeStream(of: MediaPipelineEvent.self)

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - time: The clock that determines the playback position.
    ///   - keyFrameInterval: The assumed distance between key frames, beginning at zero; 2 seconds by default, as is
    ///     common.
    package init(time: any TimeSource, keyFrameInterval: MediaTime = MediaTime(seconds: 2)) {
        self.time = time
        self.keyFrameInterval = keyFrameInterval
        state.withLock { $0.timebase = Timebase(time: time.now) }
    }

    /// Returns true, because nothing is decoded.
    package func canDecode(_ codecs: [String]) -> Bool { true }

    /// Records the time range of the piece according to the playlist.
    package func append(_ segment: PipelineSegment) async throws -> MediaTimeRange {
        state.withLock { $0.loaded[segment.type, default: MediaTimeRangeSet()].insert(segment.range) }
        return segment.range
    }

    /// Removes the record of a time range.
    package func discard(_ type: MediaType, in range: MediaTimeRange) async {
        state.withLock { $0.loaded[type]?.remove(range) }
    }

    /// Moves the playback position, to the preceding key frame if the tolerance permits it.
    package func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        let landed = landing(for: target, tolerance)
        state.withLock { state in
            state.timebase = Timebase(mediaTime: landed, time: time.now, rate: state.timebase.rate)
            state.scheduled = nil
        }
        continuation.yield(.firstFrame)
        return landed
    }

    /// Sets the playback rate.
    package func setRate(_ rate: Double, at start: Duration?) async {
        state.withLock { state in
            let now = time.now
            let current = state.current(at: now)
            if let start, start > now {
                state.timebase = current.continued(at: now, rate: 0)
                state.scheduled = Timebase(mediaTime: current.mediaTime(at: now), time: start, rate: rate)
            } else {
                state.timebase = current.continued(at: now, rate: rate)
                state.scheduled = nil
            }
        }
    }

    /// The current or scheduled playback position and rate.
    package var timebase: Timebase { state.withLock { $0.scheduled ?? $0.timebase } }

    /// The capabilities, which include reverse playback.
    package var capabilities: MediaPipelineCapabilities { MediaPipelineCapabilities(supportsReversePlayback: true) }

    /// Always zero, because nothing is decoded.
    package var frameCounts: FrameCounts { FrameCounts() }

    /// The events, which are only ``MediaPipelineEvent/firstFrame``.
    package var events: AsyncStream<MediaPipelineEvent> { stream }

    /// Ends the events.
    package func close() async { continuation.finish() }

    private func landing(for target: MediaTime, _ tolerance: SeekTolerance) -> MediaTime {
        guard keyFrameInterval > .zero else { return target }
        let count = Int64(saturating: (target.seconds / keyFrameInterval.seconds).rounded(.down))
        let keyFrame = keyFrameInterval * count
        let isThere = state.withLock { state in
            state.loaded.values.allSatisfy { $0.contains(keyFrame) || !$0.contains(target) }
        }
        return isThere && tolerance.permits(keyFrame, for: target) ? keyFrame : target
    }
}

extension NonDecodingPipeline.State {
    fileprivate func current(at now: Duration) -> Timebase {
        guard let scheduled, scheduled.time <= now else { return timebase }
        return scheduled
    }
}

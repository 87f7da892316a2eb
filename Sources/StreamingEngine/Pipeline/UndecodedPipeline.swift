public import MediaTiming
public import PlaybackReporting
import Synchronization

/// A pipeline that decodes nothing: time passes as if everything were shown.
///
/// What it is good for: to watch a stream, to measure it, and to let hours go by in a moment. It trusts the playlist about
/// where media lies.
public final class UndecodedPipeline: MediaPipeline {
    fileprivate struct State {
        var timebase = Timebase()
        var loaded: [MediaType: MediaTimeRangeSet] = [:]
        /// A start that is still to come.
        var scheduled: Timebase?
    }

    private let time: any TimeSource
    private let keyFrameInterval: MediaTime
    private let state = Mutex(State())
    private let (stream, continuation) = AsyncStream.makeStream(of: MediaPipelineEvent.self)

    /// Makes a pipeline.
    ///
    /// - Parameters:
    ///   - time: The clock that the play head moves by.
    ///   - keyFrameInterval: How far apart pictures are taken to be that stand alone, counted from zero; 2 seconds as streams
    ///     commonly have them.
    public init(time: any TimeSource, keyFrameInterval: MediaTime = MediaTime(seconds: 2)) {
        self.time = time
        self.keyFrameInterval = keyFrameInterval
        state.withLock { $0.timebase = Timebase(time: time.now) }
    }

    /// Everything: nothing is decoded.
    public func canDecode(_ codecs: [String]) -> Bool { true }

    /// Takes the playlist's word for where the piece lies.
    public func append(_ piece: MediaPiece) async throws -> MediaTimeRange {
        state.withLock { $0.loaded[piece.type, default: MediaTimeRangeSet()].insert(piece.range) }
        return piece.range
    }

    /// Forgets that something was there.
    public func discard(_ type: MediaType, in range: MediaTimeRange) async {
        state.withLock { $0.loaded[type]?.remove(range) }
    }

    /// Moves the play head: to the key frame before, where that is allowed.
    public func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        let landed = landing(for: target, tolerance)
        state.withLock { state in
            state.timebase = Timebase(mediaTime: landed, time: time.now, rate: state.timebase.rate)
            state.scheduled = nil
        }
        continuation.yield(.firstFrame)
        return landed
    }

    /// Lets the play head move.
    public func setRate(_ rate: Double, at start: Duration?) async {
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

    /// Where the play head is; it may begin to move later.
    public var timebase: Timebase { state.withLock { $0.scheduled ?? $0.timebase } }

    /// Time passes backwards as it does forwards.
    public var abilities: MediaPipelineAbilities { MediaPipelineAbilities(playsBackward: true) }

    /// None.
    public var frameCounts: FrameCounts { FrameCounts() }

    /// Only that pictures could be shown.
    public var events: AsyncStream<MediaPipelineEvent> { stream }

    /// Ends the events.
    public func close() async { continuation.finish() }

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

extension UndecodedPipeline.State {
    fileprivate func current(at now: Duration) -> Timebase {
        guard let scheduled, scheduled.time <= now else { return timebase }
        return scheduled
    }
}

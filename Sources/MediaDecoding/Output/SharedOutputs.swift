public import MediaTiming
import SegmentFormat
import Synchronization

/// The outputs that the items of a player share; only the current item is visible and audible.
///
/// An item becomes the current one when its playback begins, or with its first frame if there is no current item. From
/// then on, the audio calls of the former item have no effect. The decoding threads of two items run concurrently, so
/// the former item may still enqueue and pause after its successor has started.
///
/// The first frame of an item that is prepared while another one plays is kept until the item becomes the current one.
public final class SharedOutputs: Sendable {
    private struct State {
        var lastID = 0
        /// The identifier of the current item.
        var currentItemID: Int?
        /// The frame on the screen.
        var currentFrame: VideoFrame?
        /// The latest frames of the other items: the first frame of a prepared item, or the last frame of an item that
        /// may become the current one again.
        var pendingFrames: [Int: VideoFrame] = [:]
        /// The subtitles on the screen.
        var currentCues: [SubtitleCue] = []
        /// The latest subtitles of the other items, which can begin before the first frame.
        var pendingCues: [Int: [SubtitleCue]] = [:]
        var format: AudioFormat?
        /// The audio that was enqueued last; `nil` while none is played.
        var latestSamples: AudioSamples?
        /// The volume that each item has requested.
        var volumes: [Int: Volume] = [:]

        /// Makes the latest subtitles of an item those on the screen.
        ///
        /// - Returns: The subtitles; `nil` if they are on the screen already.
        mutating func takePendingCues(of id: Int) -> [SubtitleCue]? {
            let former = currentCues
            currentCues = pendingCues.removeValue(forKey: id) ?? []
            return currentCues == former ? nil : currentCues
        }
    }

    private struct Volume {
        let volume: Double
        let isMuted: Bool
    }

    private let video: (any VideoOutput)?
    private let audio: (any AudioOutput)?
    private let subtitles: (any SubtitleOutput)?
    private let delays: OutputDelays
    private let state = Mutex(State())

    /// Creates outputs for sharing.
    ///
    /// - Parameters:
    ///   - video: The output for video; a ``VideoOutputStack`` combines several outputs.
    ///   - audio: The output for audio.
    ///   - subtitles: The output for subtitles.
    ///   - delays: The delays of audio and subtitles.
    public init(
        video: (any VideoOutput)? = nil,
        audio: (any AudioOutput)? = nil,
        subtitles: (any SubtitleOutput)? = nil,
        delays: OutputDelays = OutputDelays()
    ) {
        self.delays = delays
        self.video = video
        self.audio = audio
        self.subtitles = subtitles
    }

    /// Creates a pipeline that decodes an item for these outputs.
    ///
    /// - Parameters:
    ///   - time: The clock that drives the playhead.
    ///   - decoding: The options for decoding video.
    ///   - executor: The executor that runs the pipeline; `nil` for a dedicated thread.
    /// - Returns: A pipeline for a single engine.
    /// - Throws: The error of the audio output if it cannot be opened.
    public func makePipeline(
        time: any TimeSource,
        decoding: VideoDecodingOptions = VideoDecodingOptions(),
        executor: (any SerialExecutor)? = nil
    ) throws -> DecodingPipeline {
        let output = makeItemOutput()
        return try DecodingPipeline(
            time: time,
            options: DecodingPipeline.Options(
                videoOutput: video == nil ? nil : output,
                audioOutput: audio == nil ? nil : output,
                subtitleOutput: subtitles == nil ? nil : output,
                delays: delays,
                decoding: decoding,
                executor: executor
            )
        )
    }

    /// The level of the audio that is played: the root mean square of its samples, 1 for full scale; 0 while none is
    /// played.
    ///
    /// It is computed from the samples that were enqueued last, which are audible within a fraction of a second.
    package var audioLevel: Double {
        guard let samples = state.withLock({ $0.latestSamples })?.samples, !samples.isEmpty else { return 0 }
        let sum = samples.reduce(0.0) { $1.isFinite ? $0 + Double($1) * Double($1) : $0 }
        return min(1, (sum / Double(samples.count)).squareRoot())
    }

    /// Creates the outputs of another item.
    func makeItemOutput() -> ItemOutput {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return ItemOutput(id: id, outputs: self)
    }

    /// The outputs of one item, which pass on frames and samples only while the item is the current one.
    final class ItemOutput: VideoOutput, AudioOutput, SubtitleOutput {
        private let id: Int
        private let outputs: SharedOutputs

        fileprivate init(id: Int, outputs: SharedOutputs) {
            self.id = id
            self.outputs = outputs
        }

        func show(_ frame: VideoFrame) throws {
            let (isSeen, cues): (Bool, [SubtitleCue]?) = outputs.state.withLock { state in
                var cues: [SubtitleCue]?
                if state.currentItemID == nil {
                    state.currentItemID = id
                    cues = state.takePendingCues(of: id)
                }
                guard state.currentItemID != id else {
                    state.currentFrame = frame
                    return (true, cues)
                }
                state.pendingFrames[id] = frame
                return (false, nil)
            }
            if let cues { outputs.subtitles?.show(cues) }
            if isSeen { try outputs.video?.show(frame) }
        }

        func beginPlayback() {
            let (frame, cues): (VideoFrame?, [SubtitleCue]?) = outputs.state.withLock { state in
                guard state.currentItemID != id else { return (nil, nil) }
                if let old = state.currentItemID {
                    state.pendingFrames[old] = state.currentFrame
                    state.pendingCues[old] = state.currentCues
                }
                state.currentItemID = id
                state.currentFrame = state.pendingFrames.removeValue(forKey: id)
                if let volume = state.volumes[id] {
                    outputs.audio?.setVolume(volume.volume, isMuted: volume.isMuted)
                }
                return (state.currentFrame, state.takePendingCues(of: id))
            }
            if let cues { outputs.subtitles?.show(cues) }
            if let frame { try? outputs.video?.show(frame) }
        }

        func endPlayback() { outputs.removeItem(id) }

        func clear() {
            let isSeen = outputs.state.withLock { state in
                if state.currentItemID == id { state.currentFrame = nil }
                return state.currentItemID == id
            }
            if isSeen { outputs.video?.clear() }
        }

        func show(_ cues: [SubtitleCue]) {
            let isSeen = outputs.state.withLock { state in
                guard state.currentItemID == id else {
                    // A cue is shown only once, and may begin before the first frame is shown.
                    state.pendingCues[id] = cues
                    return false
                }
                state.currentCues = cues
                return true
            }
            if isSeen { outputs.subtitles?.show(cues) }
        }

        func start(_ format: AudioFormat) throws -> AudioFormat {
            if let known = outputs.state.withLock({ $0.format }) { return known }
            let actual = try outputs.audio?.start(format) ?? format
            outputs.state.withLock { $0.format = actual }
            return actual
        }

        func enqueue(_ samples: AudioSamples) throws {
            try performIfCurrent(latest: samples) { try $0.enqueue(samples) }
        }
        var queuedDuration: Duration { outputs.audio?.queuedDuration ?? .zero }
        var underrunDuration: Duration { outputs.audio?.underrunDuration ?? .zero }
        var isRealTime: Bool { outputs.audio?.isRealTime ?? false }
        func flush() { performIfCurrent { $0.flush() } }
        func pause() { performIfCurrent { $0.pause() } }
        func resume() { performIfCurrent { $0.resume() } }
        func setVolume(_ volume: Double, isMuted: Bool) {
            outputs.state.withLock { state in
                state.volumes[id] = Volume(volume: volume, isMuted: isMuted)
                guard state.currentItemID == nil || state.currentItemID == id else { return }
                outputs.audio?.setVolume(volume, isMuted: isMuted)
            }
        }

        /// Calls the audio output if the item is the current one.
        ///
        /// The lock is held during the call, so that another item cannot become the current one before it ends.
        private func performIfCurrent(
            latest samples: AudioSamples? = nil,
            _ body: (any AudioOutput) throws -> Void
        ) rethrows {
            try outputs.state.withLock { state in
                guard state.currentItemID == id, let audio = outputs.audio else { return }
                state.latestSamples = samples
                try body(audio)
            }
        }

        func finish() {}
    }

    /// Removes an item; if it was the current one, the oldest waiting item replaces it on the screen.
    private func removeItem(_ id: Int) {
        let (frame, volume, cues): (VideoFrame?, Volume?, [SubtitleCue]?) = state.withLock { state in
            state.pendingFrames[id] = nil
            state.pendingCues[id] = nil
            state.volumes[id] = nil
            guard state.currentItemID == id else { return (nil, nil, nil) }
            state.currentItemID = state.pendingFrames.keys.min()
            state.currentFrame = state.currentItemID.flatMap { state.pendingFrames.removeValue(forKey: $0) }
            state.currentCues = state.currentItemID.flatMap { state.pendingCues.removeValue(forKey: $0) } ?? []
            return (state.currentFrame, state.currentItemID.flatMap { state.volumes[$0] }, state.currentCues)
        }
        guard let cues else { return }
        if let volume { audio?.setVolume(volume.volume, isMuted: volume.isMuted) }
        subtitles?.show(cues)
        if let frame { try? video?.show(frame) } else { video?.clear() }
    }
}

public import MediaTiming
import NIOCore
public import PlaybackReporting
import SegmentFormat
public import StreamingEngine
import Synchronization

/// A media pipeline that decodes with FFmpeg and passes frames, audio and subtitles to outputs at their presentation
/// times.
///
/// It decodes on its own thread, a few frames ahead of the playhead; compressed media is buffered in memory until then.
/// If the audio output is a device, the playhead follows the clock of the device, so that video stays synchronized with
/// audio.
public actor DecodingPipeline: MediaPipeline {
    /// The outputs and the decoding options of a pipeline.
    public struct Options: Sendable {
        /// The output for video; `nil` to show no video.
        ///
        /// Video is decoded in either case, and its closed captions are read.
        public var videoOutput: (any VideoOutput)?
        /// The output for audio; `nil` to ignore audio.
        public var audioOutput: (any AudioOutput)?
        /// The output for subtitles; `nil` to ignore subtitles.
        public var subtitleOutput: (any SubtitleOutput)?
        /// The delays of audio and subtitles.
        public var delays: OutputDelays
        /// The options for decoding video.
        public var decoding: VideoDecodingOptions
        /// The executor that runs the pipeline; `nil` for a dedicated thread.
        ///
        /// In simulated time, pass the executor that runs everything else. Decoding then takes no simulated time, and
        /// late frames are not dropped.
        public var executor: (any SerialExecutor)?

        /// Creates options.
        public init(
            videoOutput: (any VideoOutput)?,
            audioOutput: (any AudioOutput)?,
            subtitleOutput: (any SubtitleOutput)? = nil,
            delays: OutputDelays = OutputDelays(),
            decoding: VideoDecodingOptions = VideoDecodingOptions(),
            executor: (any SerialExecutor)? = nil
        ) {
            self.videoOutput = videoOutput
            self.audioOutput = audioOutput
            self.subtitleOutput = subtitleOutput
            self.delays = delays
            self.decoding = decoding
            self.executor = executor
        }
    }

    struct Shared {
        var clock: PlaybackClock
        var counts = FrameCounts()
        var videoSize: VideoSize?
    }

    private let executor: any SerialExecutor
    let options: Options
    let time: any TimeSource
    let shared: Mutex<Shared>
    let changes = Broadcast()
    private let stream: AsyncStream<MediaPipelineEvent>
    private let continuation: AsyncStream<MediaPipelineEvent>.Continuation
    var demuxers = DemuxerPool()
    var mapping = TimestampMapping()
    let video: VideoFeed
    var audio: AudioPlayback?
    var subtitles = SubtitleFeed()
    var metadata = MetadataFeed()
    private var hasAnnouncedFrame = false
    var isClosed = false
    /// The amount by which the playhead was adjusted since the last ``MediaPipelineEvent/timebaseChanged``.
    private var driftSinceReport = MediaTime.zero
    /// The presentation time of the frame on the screen.
    var shownTime: MediaTime?
    /// A Boolean value that indicates whether ``video`` is positioned for forward playback.
    var isForward = true
    private var disabled: Set<MediaType> = []

    /// The number of frames to decode ahead, so that a frame that takes a long time to decode causes no delay; the
    /// minimum applies to large frames.
    private static let frameCountAhead = 2...4
    private static let maximumSizeAhead = 8 << 20
    /// The maximum memory of the samples that are buffered for decoding, in bytes, including the overhead of each.
    ///
    /// The engine limits only the size of segments, but samples of one byte each take hundreds of times as much memory.
    static let maximumSampleSize = 1 << 30
    /// The minimum number of bytes without packets or boxes in a segment for which missing media at its end is reported
    /// as lost.
    ///
    /// Damage of up to a few transport packets is common, and has no visible effect.
    static let minimumLostByteCount = 8 * 188
    /// The maximum forward rate at which all frames are shown; above it, only key frames are.
    private static let maximumFullForwardRate = 4.0
    /// The maximum reverse rate at which all frames are decoded; above it, only key frames are.
    static let maximumFullReverseRate = 1.5
    /// The maximum delay of the next frame; if it is exceeded, decoding skips to a key frame.
    private static let maximumFrameDelay = MediaTime(value: 1, timescale: 2)

    /// The executor of the thread that decodes.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Creates a pipeline and opens the audio output.
    ///
    /// - Parameters:
    ///   - time: The clock that drives the playhead.
    ///   - options: The outputs and the decoding options.
    /// - Throws: The error of the audio output if it cannot be opened.
    public init(time: any TimeSource, options: Options) throws {
        self.time = time
        self.options = options
        executor = options.executor ?? DecodingThread(name: "decoding")
        shared = Mutex(Shared(clock: PlaybackClock(at: time.now)))
        (stream, continuation) = AsyncStream.makeStream()
        video = VideoFeed(options.decoding)
        audio = try options.audioOutput.map { try AudioPlayback($0, options.delays) }
        let changes = changes
        options.delays.addObserver { [weak changes] in
            changes?.notify()
            return changes != nil
        }
    }

    // MARK: State for the engine

    /// Returns whether all of the given codecs can be decoded (RFC 6381); an empty list returns true.
    public nonisolated func canDecode(_ codecs: [String]) -> Bool { DecoderCatalog.canDecode(codecs) }

    /// Returns whether a codec can be decoded, by its RFC 6381 name.
    public static func canDecode(_ codec: String) -> Bool { DecoderCatalog.canDecode([codec]) }

    /// The position and rate of the playhead.
    ///
    /// It may describe a start in the near future, when the first audio is audible.
    public nonisolated var timebase: Timebase { shared.withLock { $0.clock.targetTimebase } }

    /// The numbers of decoded, dropped and discarded frames since the creation of the pipeline.
    public nonisolated var frameCounts: FrameCounts { shared.withLock { $0.counts } }

    /// The size at which the current video frame is shown, in square pixels; `nil` before the first frame.
    package nonisolated var videoSize: VideoSize? { shared.withLock { $0.videoSize } }

    /// The events of the pipeline, for a single consumer.
    public nonisolated var events: AsyncStream<MediaPipelineEvent> { stream }

    // MARK: Playhead

    /// Seeks to the exact frame of a time, or to a key frame if the tolerance permits it.
    public func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        video.decodesKeyFramesOnly = false
        var tolerance = tolerance
        // Audio that precedes all video is played; a seek to the first key frame would skip it.
        if tolerance != .exact, let feed = audio?.feed, feed.hasFileAudio(at: target, &mapping),
            video.begins(after: target, &mapping)
        {
            tolerance = .exact
        }
        let landed = video.seek(to: target, tolerance: tolerance, mapping: &mapping) ?? target
        let now = time.now
        shared.withLock { $0.clock.jump(to: landed, now: now) }
        hasAnnouncedFrame = false
        isForward = true
        shownTime = nil
        subtitles.reset()
        metadata.seek(to: landed)
        audio?.seek(to: landed, &mapping)
        // The frame is shown even while playback is paused.
        if let frame = video.frames.first {
            video.removeFirst()
            show(frame)
        } else if !video.hasVideo {
            announceFirstFrame()
        }
        if targetRate != 0 { start(at: nil) }
        updateFrameCounts()
        changes.notify()
        return landed
    }

    /// Sets the rate of the playhead, immediately or at the given time.
    public func setRate(_ rate: Double, at start: Duration?) async {
        let now = time.now
        guard rate != 0 else {
            shared.withLock { $0.clock.setRate(0, at: now, now: now) }
            audio?.pause()
            changes.notify()
            return
        }
        options.videoOutput?.beginPlayback()
        options.audioOutput?.beginPlayback()
        if rate > 0 { switchToForward() }
        shared.withLock { $0.clock.setRate(rate, at: now, now: now) }
        self.start(at: start)
        changes.notify()
    }

    var targetRate: Double { shared.withLock { $0.clock.targetTimebase.rate } }

    /// Starts audio, and delays the playhead until the first sample is audible, so that audio and video start together.
    private func start(at asked: Duration?) {
        let now = time.now
        let clock = shared.withLock { $0.clock }
        let rate = clock.targetTimebase.rate
        if let asked, asked > now {
            // Audio starts when the scheduled time has come.
            audio?.pause()
            return shared.withLock { shared in
                shared.clock.setRate(0, at: now, now: now)
                shared.clock.setRate(rate, at: asked, now: now)
            }
        }
        let position = clock.timebase(at: now).mediaTime(at: now)
        let latency = audio?.start(at: position, rate: rate, mapping: &mapping) ?? .zero
        let begin = now + latency
        guard begin > now else { return }
        shared.withLock { shared in
            shared.clock.setRate(0, at: now, now: now)
            shared.clock.setRate(rate, at: begin, now: now)
        }
    }

    /// Enables or disables the output of a media type; it is decoded and kept synchronized in either case.
    public func setEnabled(_ type: MediaType, _ isEnabled: Bool) async {
        guard disabled.contains(type) == isEnabled else { return }
        if isEnabled { disabled.remove(type) } else { disabled.insert(type) }
        switch type {
        case .audio: audio?.isDisabled = !isEnabled
        case .video where !isEnabled: options.videoOutput?.clear()
        case .subtitles where !isEnabled: options.subtitleOutput?.show([])
        case .video, .subtitles, .muxed: break
        }
        changes.notify()
    }

    /// Applies audio settings; only the volume changes for audio that is already enqueued at the device.
    public func setAudio(_ settings: AudioSettings) async {
        do {
            try audio?.apply(settings)
        } catch {
            continuation.yield(.failed("\(error)"))
        }
        changes.notify()
    }

    /// Decodes and outputs media until the task is canceled or the pipeline is closed.
    public func run() async {
        while !Task.isCancelled, !isClosed {
            let seen = changes.count
            let next = performDueWork()
            await changes.wait(after: seen, until: next, time)
        }
    }

    /// Closes the pipeline; the caller must finish the outputs.
    public func close() async {
        isClosed = true
        audio?.stop()
        options.videoOutput?.endPlayback()
        video.reset()
        continuation.finish()
        changes.notify()
    }

    /// Performs the work that is due.
    ///
    /// - Returns: The time at which more work will be due; `nil` if none is foreseeable.
    private func performDueWork() -> Duration? {
        let now = time.now
        let timebase = shared.withLock { $0.clock.timebase(at: now) }
        let position = timebase.mediaTime(at: now)
        showDueFrames(at: position, rate: timebase.rate)
        showSubtitles(at: position)
        var moments: [Duration] = []
        if timebase.rate >= 0 {
            for message in metadata.takeDue(at: position) { continuation.yield(.timedMetadata(message)) }
            let next = metadata.nextTime(after: position).flatMap {
                shared.withLock { $0.clock }.targetTimebase.time(reaching: $0)
            }
            if let next { moments.append(next) }
        }
        if let audio, targetRate != 0 {
            do {
                let turn = try audio.supply(shared.withLock { $0.clock }, now: now, mapping: &mapping)
                adjustPlayhead(by: turn.playheadCorrection, now: now)
                if let next = turn.nextSupplyTime { moments.append(next) }
            } catch {
                continuation.yield(.failed("\(error)"))
            }
        }
        if let audio { reportUnplayable(&audio.feed.undecodableRanges, .audio) }
        reportUnplayable(&video.undecodableRanges, .video)
        updateFrameCounts()
        let clock = shared.withLock { $0.clock }
        if clock.targetTimebase.rate < 0 {
            // The previous frame is due when the playhead is before the current one.
            if let shownTime,
                let moment = clock.targetTimebase.time(
                    reaching: shownTime - VideoFeed.timeTolerance - VideoFeed.timeTolerance
                )
            {
                moments.append(max(moment, clock.targetTimebase.time))
            }
        } else if let frame = video.frames.first, let moment = clock.targetTimebase.time(reaching: frame.time) {
            moments.append(max(moment, clock.targetTimebase.time))
        }
        let subtitleDelay = options.delays.subtitles
        if options.subtitleOutput != nil,
            let change = subtitles.nextChange(after: position - subtitleDelay).map({ $0 + subtitleDelay })
        {
            moments += clock.targetTimebase.time(reaching: change).map { [max($0, clock.targetTimebase.time)] } ?? []
        }
        return moments.min().map { max($0, now + .microseconds(200)) }
    }

    /// Adjusts the playhead to the clock of the audio device.
    private func adjustPlayhead(by drift: MediaTime, now: Duration) {
        guard drift != .zero else { return }
        shared.withLock { $0.clock.shift(by: drift, now: now) }
        driftSinceReport = driftSinceReport + drift
        guard abs(driftSinceReport.seconds) > 0.02 else { return }
        driftSinceReport = .zero
        continuation.yield(.timebaseChanged)
    }

    private func showDueFrames(at position: MediaTime, rate: Double) {
        if rate < 0 { return showDueFrameInReverse(at: position, rate: rate) }
        guard isForward else { return }
        let isPaced = options.executor == nil
        let due = position + VideoFeed.timeTolerance
        video.decodesKeyFramesOnly = rate > Self.maximumFullForwardRate
        if rate > Self.maximumFullForwardRate {
            _ = video.skip(to: position, &mapping)
        } else if isPaced, rate > 0, let last = video.frames.first?.time, last + Self.maximumFrameDelay < position {
            _ = video.skip(to: position, &mapping)
        }
        video.fill(framesAhead, &mapping)
        while let frame = video.frames.first, frame.time <= due {
            video.removeFirst()
            video.fill(framesAhead, &mapping)
            if isPaced, let next = video.frames.first, next.time <= due {
                shared.withLock { $0.counts.dropped += 1 }
                // The captions of a dropped frame still apply.
                subtitles.decodeCaptions(of: frame)
                continue
            }
            show(frame)
        }
    }

    private var framesAhead: Int {
        guard let pixelBuffer = video.frames.first?.pixelBuffer else { return Self.frameCountAhead.lowerBound }
        let fitting = Self.maximumSizeAhead / max(1, pixelBuffer.byteCount)
        return min(max(fitting, Self.frameCountAhead.lowerBound), Self.frameCountAhead.upperBound)
    }

    private func showSubtitles(at position: MediaTime) {
        guard let output = options.subtitleOutput, !disabled.contains(.subtitles),
            let cues = subtitles.takeChangedCues(at: position - options.delays.subtitles, mapping: mapping)
        else { return }
        output.show(cues)
    }

    /// Selects the closed caption channel to decode from video; `nil` selects none.
    public func selectCaptions(_ channel: String?) async {
        subtitles.selectCaptions(channel)
        changes.notify()
    }

    /// Selects the track of the media file that is played of a type; `nil` selects the first audio track, or no
    /// subtitles.
    package func selectTrack(_ track: FileTrack?, of type: MediaType) async {
        switch type {
        case .audio: audio?.feed.selectTrack(track, &mapping)
        case .subtitles: subtitles.fileSubtitles.selected = track
        case .video, .muxed: break
        }
        changes.notify()
    }

    /// The abilities of the pipeline: reverse playback, disabling tracks and, with a video output, stepping by frames.
    public nonisolated var capabilities: MediaPipelineCapabilities {
        MediaPipelineCapabilities(
            supportsReversePlayback: true,
            supportsStepping: options.videoOutput != nil,
            supportsDisablingTracks: true,
            fullPresentationRates: -Self.maximumFullReverseRate...Self.maximumFullForwardRate
        )
    }

    func show(_ frame: VideoFrame) {
        shownTime = frame.time
        let pixels = frame.pixelBuffer
        let width = pixels.sampleAspectRatio.displayWidth(ofPixelWidth: pixels.width)
        let size = VideoSize(width: width, height: pixels.height)
        let former = shared.withLock { shared in
            defer { shared.videoSize = size }
            return shared.videoSize
        }
        if let former, former != size { continuation.yield(.videoSizeChanged) }
        subtitles.decodeCaptions(of: frame)
        do {
            if !disabled.contains(.video) { try options.videoOutput?.show(frame) }
        } catch {
            continuation.yield(.failed("\(error)"))
        }
        announceFirstFrame()
    }

    private func announceFirstFrame() {
        guard !hasAnnouncedFrame else { return }
        hasAnnouncedFrame = true
        continuation.yield(.firstFrame)
    }

    func updateFrameCounts() {
        shared.withLock { shared in
            shared.counts.decoded = video.decodedCount
            shared.counts.discarded = video.discardedCount
        }
    }

    /// Reports that media of a time range cannot be played.
    func reportUnplayable(_ type: MediaType, in range: MediaTimeRange) { continuation.yield(.unplayable(type, range)) }

    private func reportUnplayable(_ ranges: inout [MediaTimeRange], _ type: MediaType) {
        // Contiguous packets are reported once. Intact media between two ranges is not lost.
        for range in MediaTimeRange.joined(ranges) { reportUnplayable(type, in: range) }
        ranges = []
    }
}

public import MediaTiming
import NIOCore
public import PlaybackReporting
import SegmentFormat
public import StreamingEngine
import Synchronization

/// Decodes media with FFmpeg, and gives pictures and sound to outputs when their time has come.
///
/// It decodes on a thread of its own, a few frames ahead; compressed media waits in memory until then. Where sound goes to
/// a device, the play head follows the device's clock, so that pictures stay with what is heard.
public actor DecodingPipeline: MediaPipeline {
    /// How it decodes, and where it shows.
    public struct Options: Sendable {
        /// Where pictures go; `nil` to decode none.
        public var videoOutput: (any VideoOutput)?
        /// Where sound goes; `nil` to decode none.
        public var audioOutput: (any AudioOutput)?
        /// Where subtitles go; `nil` to read none.
        public var subtitleOutput: (any SubtitleOutput)?
        /// How pictures are decoded.
        public var decoding: VideoDecodingOptions
        /// What runs the decoder; `nil` for a thread of its own.
        ///
        /// In simulated time this is what runs everything else: then decoding takes no time.
        public var executor: (any SerialExecutor)?

        /// Makes options.
        public init(
            videoOutput: (any VideoOutput)?,
            audioOutput: (any AudioOutput)?,
            subtitleOutput: (any SubtitleOutput)? = nil,
            decoding: VideoDecodingOptions = VideoDecodingOptions(),
            executor: (any SerialExecutor)? = nil
        ) {
            self.videoOutput = videoOutput
            self.audioOutput = audioOutput
            self.subtitleOutput = subtitleOutput
            self.decoding = decoding
            self.executor = executor
        }
    }

    struct Shared {
        var clock: PlaybackClock
        var counts = FrameCounts()
    }

    private let executor: any SerialExecutor
    let options: Options
    let time: any TimeSource
    let shared: Mutex<Shared>
    let changes = Signal()
    private let stream: AsyncStream<MediaPipelineEvent>
    private let continuation: AsyncStream<MediaPipelineEvent>.Continuation
    var demuxers = DemuxerPool()
    var mapping = TimestampMapping()
    let video: VideoFeed
    var sound: SoundPlayback?
    var subtitles = SubtitleFeed()
    var metadata = MetadataFeed()
    private var hasAnnouncedFrame = false
    var isClosed = false
    /// How far the play head gave way since that was told.
    private var driftSinceReport = MediaTime.zero
    /// When the picture that is shown is due.
    var shownTime: MediaTime?
    /// Whether ``video`` stands where going forwards needs it.
    var isForward = true
    private var disabled: Set<MediaType> = []

    /// So many frames are decoded ahead, enough for one that takes long; fewer where they are large.
    private static let framesAhead = 2...4
    private static let bytesAhead = 8 << 20
    /// The maximum memory of the samples that wait to be decoded, in bytes, each with what it takes beside its data.
    ///
    /// The engine counts the bytes of segments; samples of a byte each take some hundred times as much.
    static let mostSampleBytes = 1 << 30
    /// Faster than this, only pictures that stand alone are shown.
    private static let fastestFull = 4.0
    /// Backwards, every picture is decoded up to this speed.
    static let fastestFullBackward = 1.5
    /// A picture that is later than this lets the decoder go on at the next key frame.
    private static let lateness = MediaTime(value: 1, timescale: 2)

    /// Runs on the thread that decodes.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Makes a pipeline.
    ///
    /// - Parameters:
    ///   - time: The clock that the play head moves by.
    ///   - options: How it decodes, and where it shows.
    /// - Throws: What the output of sound throws when it is opened.
    public init(time: any TimeSource, options: Options) throws {
        self.time = time
        self.options = options
        executor = options.executor ?? DecodingThread(name: "decoding")
        shared = Mutex(Shared(clock: PlaybackClock(at: time.now)))
        (stream, continuation) = AsyncStream.makeStream()
        video = VideoFeed(options.decoding)
        sound = try options.audioOutput.map { try SoundPlayback($0) }
    }

    // MARK: What the engine reads

    /// Whether FFmpeg has decoders for all of them.
    public nonisolated func canDecode(_ codecs: [String]) -> Bool { DecoderCatalogue.canDecode(codecs) }

    /// Whether FFmpeg has a decoder for a format, by its RFC 6381 name.
    public static func canDecode(_ codec: String) -> Bool { DecoderCatalogue.canDecode([codec]) }

    /// Where the play head is.
    ///
    /// It may begin to move a little later: when the first sound can be heard.
    public nonisolated var timebase: Timebase { shared.withLock { $0.clock.eventual } }

    /// Frames so far.
    public nonisolated var frameCounts: FrameCounts { shared.withLock { $0.counts } }

    /// What happens inside.
    public nonisolated var events: AsyncStream<MediaPipelineEvent> { stream }

    // MARK: The play head

    /// Goes to a time: to the picture of that very time, or to a key frame where the tolerance permits one.
    public func seek(to target: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        video.decodesKeyFramesOnly = false
        let landed = video.seek(to: target, tolerance, &mapping) ?? target
        let now = time.now
        shared.withLock { $0.clock.jump(to: landed, now: now) }
        hasAnnouncedFrame = false
        isForward = true
        shownTime = nil
        subtitles.reset()
        metadata.seek(to: landed)
        sound?.seek(to: landed, &mapping)
        // The picture of the time is shown also while the play head stands.
        if let frame = video.frames.first {
            video.removeFirst()
            show(frame)
        } else if !video.hasPictures {
            announce()
        }
        if eventualRate != 0 { start(at: nil) }
        count()
        changes.notify()
        return landed
    }

    /// Lets the play head move.
    public func setRate(_ rate: Double, at start: Duration?) async {
        let now = time.now
        guard rate != 0 else {
            shared.withLock { $0.clock.setRate(0, at: now, now: now) }
            sound?.pause()
            changes.notify()
            return
        }
        options.videoOutput?.begin()
        if rate > 0 { turnForward() }
        shared.withLock { $0.clock.setRate(rate, at: now, now: now) }
        self.start(at: start)
        changes.notify()
    }

    var eventualRate: Double { shared.withLock { $0.clock.eventual.rate } }

    /// Lets sound and pictures begin together.
    private func start(at asked: Duration?) {
        let now = time.now
        let clock = shared.withLock { $0.clock }
        let rate = clock.eventual.rate
        if let asked, asked > now {
            // Sound joins in when the time has come.
            sound?.pause()
            return shared.withLock { shared in
                shared.clock.setRate(0, at: now, now: now)
                shared.clock.setRate(rate, at: asked, now: now)
            }
        }
        let position = clock.timebase(at: now).mediaTime(at: now)
        let latency = sound?.start(at: position, rate: rate, &mapping) ?? .zero
        let begin = now + latency
        guard begin > now else { return }
        shared.withLock { shared in
            shared.clock.setRate(0, at: now, now: now)
            shared.clock.setRate(rate, at: begin, now: now)
        }
    }

    /// Lets a type of media be seen or heard, or not; it is decoded and kept in time all the same.
    public func setEnabled(_ type: MediaType, _ isEnabled: Bool) async {
        guard disabled.contains(type) == isEnabled else { return }
        if isEnabled { disabled.remove(type) } else { disabled.insert(type) }
        switch type {
        case .audio: sound?.isSilent = !isEnabled
        case .video where !isEnabled: options.videoOutput?.clear()
        case .subtitles where !isEnabled: options.subtitleOutput?.show([])
        default: break
        }
        changes.notify()
    }

    /// Plays louder or softer, or at another pitch; of what is with the device already, only the volume changes.
    public func setSound(_ settings: SoundSettings) async {
        do {
            try sound?.set(settings)
        } catch {
            continuation.yield(.failed("\(error)"))
        }
        changes.notify()
    }

    /// Shows and decodes what is due, until the task is cancelled.
    public func run() async {
        while !Task.isCancelled, !isClosed {
            let seen = changes.count
            let next = step()
            await changes.wait(after: seen, until: next, time)
        }
    }

    /// Ends everything: outputs are the caller's to finish.
    public func close() async {
        isClosed = true
        sound?.stop()
        options.videoOutput?.end()
        video.reset()
        continuation.finish()
        changes.notify()
    }

    /// Does what is due.
    ///
    /// - Returns: When something will be due again.
    private func step() -> Duration? {
        let now = time.now
        let timebase = shared.withLock { $0.clock.timebase(at: now) }
        let position = timebase.mediaTime(at: now)
        showDue(position, rate: timebase.rate)
        showSubtitles(at: position)
        var moments: [Duration] = []
        if timebase.rate >= 0 {
            for message in metadata.due(at: position) { continuation.yield(.timedMetadata(message)) }
            let next = metadata.next(after: position).flatMap {
                shared.withLock { $0.clock }.eventual.time(reaching: $0)
            }
            if let next { moments.append(next) }
        }
        if let sound, eventualRate != 0 {
            do {
                let turn = try sound.play(shared.withLock { $0.clock }, now: now, &mapping)
                follow(turn.drift, now: now)
                if let next = turn.next { moments.append(next) }
            } catch {
                continuation.yield(.failed("\(error)"))
            }
            reportUnplayable(&sound.feed.unplayable, .audio)
        }
        reportUnplayable(&video.unplayable, .video)
        count()
        let clock = shared.withLock { $0.clock }
        if clock.eventual.rate < 0 {
            // The picture before is due once the play head is before this one.
            if let shownTime, let moment = clock.eventual.time(reaching: shownTime - VideoFeed.tick - VideoFeed.tick) {
                moments.append(max(moment, clock.eventual.time))
            }
        } else if let frame = video.frames.first, let moment = clock.eventual.time(reaching: frame.time) {
            moments.append(max(moment, clock.eventual.time))
        }
        if options.subtitleOutput != nil, let change = subtitles.nextChange(after: position) {
            moments += clock.eventual.time(reaching: change).map { [max($0, clock.eventual.time)] } ?? []
        }
        return moments.min().map { max($0, now + .microseconds(200)) }
    }

    /// Lets the play head give way to the clock of the sound.
    private func follow(_ drift: MediaTime, now: Duration) {
        guard drift != .zero else { return }
        shared.withLock { $0.clock.shift(by: drift, now: now) }
        driftSinceReport = driftSinceReport + drift
        guard abs(driftSinceReport.seconds) > 0.02 else { return }
        driftSinceReport = .zero
        continuation.yield(.timebaseChanged)
    }

    private func showDue(_ position: MediaTime, rate: Double) {
        if rate < 0 { return showDueBackward(position, rate: rate) }
        guard isForward else { return }
        let isPaced = options.executor == nil
        let due = position + VideoFeed.tick
        video.decodesKeyFramesOnly = rate > Self.fastestFull
        if rate > Self.fastestFull {
            _ = video.skip(to: position, &mapping)
        } else if isPaced, rate > 0, let last = video.frames.first?.time, last + Self.lateness < position {
            _ = video.skip(to: position, &mapping)
        }
        video.fill(framesAhead, &mapping)
        while let frame = video.frames.first, frame.time <= due {
            video.removeFirst()
            video.fill(framesAhead, &mapping)
            if isPaced, let next = video.frames.first, next.time <= due {
                shared.withLock { $0.counts.dropped += 1 }
                // What it says counts all the same.
                subtitles.read(frame)
                continue
            }
            show(frame)
        }
    }

    private var framesAhead: Int {
        guard let picture = video.frames.first?.picture else { return Self.framesAhead.lowerBound }
        let fitting = Self.bytesAhead / max(1, picture.byteCount)
        return min(max(fitting, Self.framesAhead.lowerBound), Self.framesAhead.upperBound)
    }

    private func showSubtitles(at position: MediaTime) {
        guard let output = options.subtitleOutput, !disabled.contains(.subtitles),
            let cues = subtitles.change(at: position, mapping)
        else { return }
        output.show(cues)
    }

    /// Looks for captions in the pictures from now on, or no more.
    public func selectCaptions(_ channel: String?) async {
        subtitles.select(channel)
        changes.notify()
    }

    /// Forwards and backwards, and by frames.
    public nonisolated var abilities: MediaPipelineAbilities {
        MediaPipelineAbilities(
            playsBackward: true,
            steps: options.videoOutput != nil,
            disablesTracks: true,
            fullRates: -Self.fastestFullBackward...Self.fastestFull
        )
    }

    func show(_ frame: VideoFrame) {
        shownTime = frame.time
        subtitles.read(frame)
        do {
            if !disabled.contains(.video) { try options.videoOutput?.show(frame) }
        } catch {
            continuation.yield(.failed("\(error)"))
        }
        announce()
    }

    private func announce() {
        guard !hasAnnouncedFrame else { return }
        hasAnnouncedFrame = true
        continuation.yield(.firstFrame)
    }

    func count() {
        shared.withLock { shared in
            shared.counts.decoded = video.decodedCount
            shared.counts.discarded = video.discardedCount
        }
    }

    private func reportUnplayable(_ ranges: inout [MediaTimeRange], _ type: MediaType) {
        guard let first = ranges.first, let last = ranges.last else { return }
        // A damaged segment is told of once, however many of its packets are.
        continuation.yield(.unplayable(type, MediaTimeRange(start: first.start, end: max(first.end, last.end))))
        ranges = []
    }
}

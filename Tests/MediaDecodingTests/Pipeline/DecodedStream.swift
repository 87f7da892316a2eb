import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
import StreamingEngine
import Synchronization
import Testing

@testable import MediaDecoding

/// A video output that records the displayed frames.
final class RecordedFrames: VideoOutput {
    struct Shown: Sendable {
        let time: MediaTime
        let shownAt: Duration
        let reading: StripReader.Reading?
        let checksum: String
        let size: VideoSize
        /// The size in the last snapshot of the engine when the frame was shown.
        let reportedSize: VideoSize?
    }

    private let time: any TimeSource
    private let withChecksums: Bool
    private let frames = Mutex<[Shown]>([])
    private let reportedSize = Mutex<VideoSize?>(nil)

    /// Records the size in a snapshot of the engine.
    func report(_ size: VideoSize?) { reportedSize.withLock { $0 = size } }

    init(_ time: any TimeSource, withChecksums: Bool = false) {
        self.time = time
        self.withChecksums = withChecksums
    }

    var all: [Shown] { frames.withLock { $0 } }

    func show(_ frame: VideoFrame) {
        let shown = Shown(
            time: frame.time,
            shownAt: time.now,
            reading: StripReader.read(frame.pixelBuffer),
            checksum: withChecksums ? frame.pixelBuffer.checksum() : "",
            size: VideoSize(width: frame.pixelBuffer.width, height: frame.pixelBuffer.height),
            reportedSize: reportedSize.withLock { $0 }
        )
        frames.withLock { $0.append(shown) }
    }
}

/// An audio output that records the samples.
final class RecordedAudio: AudioOutput {
    private let heard = Mutex<[[AudioSamples]]>([[]])
    private let volume = Mutex((1.0, false))

    /// The longest sequence of samples without a seek.
    var all: [AudioSamples] { heard.withLock { $0.max { $0.count < $1.count } ?? [] } }

    /// The volume, and a Boolean value that indicates whether the output is muted.
    var loudness: (volume: Double, isMuted: Bool) { volume.withLock { $0 } }

    /// The sequences of samples between seeks.
    var sections: [[AudioSamples]] { heard.withLock { $0.filter { !$0.isEmpty } } }

    func start(_ format: AudioFormat) -> AudioFormat { format }
    func enqueue(_ samples: AudioSamples) { heard.withLock { $0[$0.count - 1].append(samples) } }
    var queuedDuration: Duration { .zero }
    var underrunDuration: Duration { .zero }
    var isRealTime: Bool { false }
    func flush() { heard.withLock { $0.append([]) } }
    func pause() {}
    func resume() {}
    func setVolume(_ volume: Double, isMuted: Bool) { self.volume.withLock { $0 = (volume, isMuted) } }
    func finish() {}
}

/// A subtitle output that records the displayed cues.
final class RecordedCues: SubtitleOutput {
    struct Shown: Sendable {
        let time: Duration
        let text: String
    }

    private let time: any TimeSource
    private let cues = Mutex<[Shown]>([])

    init(_ time: any TimeSource) { self.time = time }

    var all: [Shown] { cues.withLock { $0 } }

    func show(_ cues: [SubtitleCue]) {
        let shown = Shown(time: time.now, text: cues.map(\.plainText).joined(separator: "|"))
        self.cues.withLock { $0.append(shown) }
    }
}

/// A stream from local files that is decoded in simulated time.
final class DecodedStream: Sendable {
    let simulation = Simulation()
    let shown: RecordedFrames
    let audio = RecordedAudio()
    let cues: RecordedCues
    let pipeline: DecodingPipeline
    let engine: PlaybackEngine
    private let record = EventRecord()

    var events: [PlaybackEvent] { record.all }

    init(
        _ playlist: String,
        in folder: URL,
        replacing replacements: [String: [UInt8]] = [:],
        options: StreamingOptions = StreamingOptions(),
        withChecksums: Bool = false,
        delays: OutputDelays = OutputDelays(),
        device: ((Simulation) -> any AudioOutput)? = nil
    ) throws {
        let simulation = simulation
        shown = RecordedFrames(simulation, withChecksums: withChecksums)
        cues = RecordedCues(simulation)
        pipeline = try DecodingPipeline(
            time: simulation,
            options: DecodingPipeline.Options(
                videoOutput: shown,
                audioOutput: device?(simulation) ?? audio,
                subtitleOutput: cues,
                delays: delays,
                executor: simulation.actorExecutor
            )
        )
        let transport = FolderTransport(folder: folder, time: simulation, replacements: replacements)
        engine = PlaybackEngine(
            source: ResourceAddress(FolderTransport.origin + playlist),
            loading: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            pipeline: pipeline,
            options: options,
            time: simulation,
            session: PlaybackSession(id: "test", start: .zero, startDate: .zero)
        ) { [record, shown] output in
            switch output {
            case .event(let event): record.add(event)
            case .snapshot(let snapshot): shown.report(snapshot.videoSize)
            }
        }
    }

    private final class EventRecord: Sendable {
        private let events = Mutex<[PlaybackEvent]>([])

        var all: [PlaybackEvent] { events.withLock { $0 } }

        func add(_ event: PlaybackEvent) { events.withLock { $0.append(event) } }
    }

    /// Runs the playback engine while `body` is executing.
    func run<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await simulation.run { [engine] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                let result = try await body()
                group.cancelAll()
                return result
            }
        }
    }

    /// Waits until a condition is true, for at most an hour of simulated time.
    func wait(_ condition: (PlaybackSnapshot) -> Bool) async throws {
        let limit = simulation.now + .seconds(3600)
        while !condition(engine.snapshot) {
            if let error = engine.snapshot.error { throw error }
            guard simulation.now < limit else { throw Stuck(snapshot: engine.snapshot) }
            try await simulation.sleep(for: .milliseconds(50))
        }
    }

    struct Stuck: Error {
        let snapshot: PlaybackSnapshot
    }
}

import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

/// A stream whose resources are given as texts, played in simulated time.
final class TextStreamPlayback: Sendable {
    static let address = "https://origin.example/main.m3u8"

    let simulation: Simulation
    let transport: ScriptedTransport
    let engine: PlaybackEngine

    init(
        _ texts: [String: String],
        simulation: Simulation = Simulation(),
        options: StreamingOptions = StreamingOptions(),
        network: NetworkStatus? = nil,
        mimeType: String? = nil,
        pipeline: (any MediaPipeline)? = nil,
        failing: [String: TransportError] = [:],
        slow: (suffix: String, delay: Duration)? = nil
    ) {
        self.simulation = simulation
        var responses = texts.mapValues { [ScriptedTransport.Response.text($0)] }
        for (address, error) in failing { responses[address] = [.failure(error)] }
        transport = ScriptedTransport(responses, time: simulation)
        let record = EventRecord()
        var base: any Transport = transport
        if let slow { base = Delayed(base: base, suffix: slow.suffix, delay: slow.delay, time: simulation) }
        let loader = ResourceLoader(base, time: simulation, jitter: { 0 })
        engine = PlaybackEngine(
            source: ResourceAddress(Self.address),
            mimeType: mimeType,
            loading: network.map { loader.limited(to: $0) } ?? loader,
            pipeline: pipeline ?? NonDecodingPipeline(time: simulation),
            options: options,
            time: simulation,
            session: PlaybackSession(id: "test", start: simulation.now, startDate: .zero)
        ) { output in
            if case .event(let event) = output { record.add(event) }
        }
        events = record
    }

    let events: EventRecord

    /// Runs the engine while `body` runs.
    func run<Result: Sendable>(_ body: @Sendable (PlaybackEngine) async throws -> Result) async throws -> Result {
        try await simulation.run { [engine] in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                let result = try await body(engine)
                group.cancelAll()
                return result
            }
        }
    }

    /// Waits until a condition holds, and records an issue if it does not within an hour of simulated time.
    func expect(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: (PlaybackSnapshot) -> Bool
    ) async throws {
        let holds = try await wait(condition)
        #expect(holds, sourceLocation: sourceLocation)
    }

    /// Waits until a condition holds, for an hour of simulated time at most.
    func wait(_ condition: (PlaybackSnapshot) -> Bool) async throws -> Bool {
        for _ in 0..<36_000 {
            if condition(engine.snapshot) { return true }
            try await simulation.sleep(for: .milliseconds(100))
        }
        return false
    }
}

extension TextStreamPlayback {
    static let origin = "https://origin.example/"

    /// Returns a multivariant playlist with media playlists and their segments.
    static func texts(_ multivariant: String, _ names: [String], count: Int = 6) -> [String: String] {
        var texts = [address: "#EXTM3U\n" + multivariant]
        for name in names {
            texts[origin + name + ".m3u8"] = SampleStream.media(name, count: count)
            for index in 0..<count { texts["\(origin)\(name)\(index).ts"] = "media of \(name) \(index)" }
        }
        return texts
    }

    /// Returns a stream that was played until it ended or failed.
    static func playedOut(
        _ texts: [String: String],
        options: StreamingOptions = StreamingOptions()
    ) async throws -> TextStreamPlayback {
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
        }
        return stream
    }

    /// Returns the requested segments of a playlist, in order.
    func asked(_ name: String) -> [String] {
        transport.requestedAddresses.filter { $0.hasSuffix(".ts") && $0.hasPrefix(Self.origin + name) }
    }

    /// Returns the number in the address of a segment.
    static func number(_ segment: String) -> Int? { Int(segment.dropFirst(origin.count + 1).dropLast(3)) }
}

/// A transport that delays the responses to some requests.
private struct Delayed: Transport {
    let base: any Transport
    let suffix: String
    let delay: Duration
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.address.text.hasSuffix(suffix) { try await time.sleep(for: delay) }
        return try await base.send(request)
    }
}

/// A record of the events of an engine.
final class EventRecord: Sendable {
    private let events = Mutex<[PlaybackEvent]>([])

    func add(_ event: PlaybackEvent) { events.withLock { $0.append(event) } }

    var all: [PlaybackEvent] { events.withLock { $0 } }

    /// The names of the events, in order.
    var names: [String] { all.map(\.kind.name) }
}

/// Playlists of a stream on demand.
enum SampleStream {
    /// Returns a media playlist of segments that are named by a prefix and their numbers.
    static func media(_ prefix: String, count: Int, duration: Int = 6, ended: Bool = true) -> String {
        let segments = (0..<count).map { "#EXTINF:\(duration),\n\(prefix)\($0).ts\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n" + segments + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    /// Returns two variants of ten segments with separate audio.
    static func film(count: Int = 10) -> [String: String] {
        let origin = "https://origin.example/"
        var texts = [
            TextStreamPlayback.address: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            high.m3u8
            """
        ]
        for name in ["low", "high", "en", "ko"] {
            texts["\(origin)\(name).m3u8"] = media(name, count: count)
            for index in 0..<count { texts["\(origin)\(name)\(index).ts"] = "media of \(name) \(index)" }
        }
        return texts
    }
}

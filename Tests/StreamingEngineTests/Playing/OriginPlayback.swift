import MediaTiming
import MediaTransport
import MillstreamTesting
import NetworkConditioning
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// A synthetic stream that is played over a link in simulated time, and its recorded events.
final class OriginPlayback: Sendable {
    static let root = "https://origin.example/"
    static let address = root + "main.m3u8"

    let simulation: Simulation
    let origin: SyntheticOrigin
    let engine: PlaybackEngine
    let events = EventRecord()
    let session: PlaybackSession

    init(
        _ simulation: Simulation = Simulation(),
        link: LinkProfile? = nil,
        options: StreamingOptions = StreamingOptions(),
        retries: Int = 3,
        keeping isKept: @escaping @Sendable (PlaybackEvent) -> Bool = { _ in true },
        wrapping: (any Transport, Simulation) -> any Transport = { transport, _ in transport },
        resource: @escaping @Sendable (_ path: String, _ now: Duration) -> SyntheticOrigin.Resource?
    ) {
        self.simulation = simulation
        let origin = SyntheticOrigin(time: simulation) { address, now in
            let root = OriginPlayback.root
            return address.hasPrefix(root) ? resource(String(address.dropFirst(root.count)), now) : nil
        }
        self.origin = origin
        let linked: any Transport = link.map { SimulatedLink($0, to: origin, time: simulation) } ?? origin
        let transport = wrapping(linked, simulation)
        session = PlaybackSession(id: "test", start: simulation.now, startDate: .zero, address: Self.address)
        let record = events
        engine = PlaybackEngine(
            source: ResourceAddress(Self.address),
            loading: ResourceLoader(
                transport,
                policy: RecoveryPolicy(retries: retries),
                time: simulation,
                jitter: { 0.5 }
            ),
            pipeline: NonDecodingPipeline(time: simulation),
            options: options,
            time: simulation,
            session: session
        ) { output in
            if case .event(let event) = output, isKept(event) { record.add(event) }
        }
    }

    /// Runs the engine while `body` runs.
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

    /// Plays until the end, a failure, or a time limit.
    ///
    /// - Returns: Whether playback ended or failed within the limit.
    func playOut(
        within limit: Duration,
        look: @Sendable (PlaybackSnapshot, Duration) -> Void = { _, _ in }
    ) async throws
        -> Bool
    {
        try await run { [engine, simulation] in
            await engine.setRate(1)
            while simulation.now < limit {
                let snapshot = engine.snapshot
                look(snapshot, simulation.now)
                if snapshot.hasPlayedToEnd || snapshot.status == .failed { return true }
                try await simulation.sleep(for: .milliseconds(500))
            }
            return false
        }
    }

    /// The position of the playhead.
    var position: MediaTime { engine.snapshot.timebase.mediaTime(at: simulation.now) }

    /// The changes of the rate, in order.
    var rateChanges: [RateChange] {
        events.all.compactMap { if case .rateChanged(let change) = $0.kind { change } else { nil } }
    }

    /// The segments that were skipped.
    var skipped: [SkippedSegment] {
        events.all.compactMap { if case .segmentSkipped(let segment) = $0.kind { segment } else { nil } }
    }
}

/// The text of a live playlist, to which segments are added and from which they are removed as time passes.
struct LiveText: Sendable {
    var prefix = "v"
    var segmentDuration = 6
    /// The number of listed segments.
    var window = 6
    /// The number of segments that exist at time zero.
    var head = 6
    /// The time after which no segments are added; `nil` for never.
    var stuckAt: Duration?
    /// The time at which the playlist gets its end marker; `nil` for never.
    var endsAt: Duration?
    var hasDates = false

    func resource(_ path: String, _ now: Duration) -> SyntheticOrigin.Resource? {
        if path == "\(prefix).m3u8" { return .text(text(at: now)) }
        guard path.hasPrefix(prefix), path.hasSuffix(".ts"),
            let number = Int(path.dropFirst(prefix.count).dropLast(3)), number < count(at: now)
        else { return nil }
        return .media(ByteCount(100_000))
    }

    func count(at now: Duration) -> Int {
        let moment = min(now, stuckAt ?? now, endsAt ?? now)
        return head + Int(moment.components.seconds) / segmentDuration
    }

    func text(at now: Duration) -> String {
        let end = count(at: now)
        let first = max(0, end - window)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(segmentDuration)\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        for number in first..<end {
            if hasDates {
                let seconds = number * segmentDuration
                let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
                func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
                text += "#EXT-X-PROGRAM-DATE-TIME:2026-01-\(two(1 + seconds / 86_400))T"
                text += "\(two(hour)):\(two(minute)):\(two(second))Z\n"
            }
            text += "#EXTINF:\(segmentDuration),\n\(prefix)\(number).ts\n"
        }
        if let endsAt, now >= endsAt { text += "#EXT-X-ENDLIST\n" }
        return text
    }
}

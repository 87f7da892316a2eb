import Adaptation
import FuzzTargets
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// Plays a generated presentation in simulated time, with commands from the input.
@Sendable func playPresentation(_ bytes: [UInt8]) {
    let presentation = GeneratedPresentation(bytes)
    let simulation = Simulation()
    let origin = GeneratedOrigin(presentation, time: simulation)
    play(presentation.source, origin, presentation.choices, simulation)
}

/// Plays the input as a media file in simulated time.
@Sendable func playFile(_ bytes: [UInt8]) {
    let simulation = Simulation()
    let origin = FileOrigin(bytes: bytes, time: simulation)
    let choices = ChoiceReader(Array(bytes.suffix(16)))
    play(ResourceAddress("https://origin.example/film.mp4"), origin, choices, simulation)
}

/// A transport that responds to every request with the same file.
private struct FileOrigin: Transport {
    let bytes: [UInt8]
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse { try response(bytes, to: request, time) }
}

/// The maximum simulated time of a session.
private let maximumDuration = Duration.seconds(600)

private func play(
    _ source: ResourceAddress,
    _ origin: any Transport,
    _ choices: ChoiceReader,
    _ simulation: Simulation
) {
    var choices = choices
    var options = StreamingOptions()
    options.variantSelection = VariantSelection(choices.element(of: SelectorName.allCases))
    options.patience = .seconds(30)
    if choices.isOne(in: 4) { options.startTime = time(&choices) }
    if choices.isOne(in: 4) { options.forwardPlaybackEndTime = time(&choices) }
    if choices.isOne(in: 4) { options.reversePlaybackEndTime = time(&choices) }
    if choices.isOne(in: 4) { options.timeOffsetFromLive = time(&choices) }
    if choices.isOne(in: 4) { options.preferredPeakBitRate = BitRate(bitsPerSecond: Int64(choices.byte()) << 55) }
    options.preservesTimeOffsetFromLive = choices.isOne(in: 3)
    options.waitsToMinimizeStalls = !choices.isOne(in: 4)
    let commands = (0..<choices.number(below: 12)).map { _ in Command(&choices) }
    let engine = PlaybackEngine(
        source: source,
        loading: ResourceLoader(origin, policy: RecoveryPolicy(retries: 1), time: simulation, jitter: { 0.5 }),
        pipeline: NonDecodingPipeline(time: simulation),
        options: options,
        time: simulation,
        session: PlaybackSession(id: "fuzz", start: .zero, startDate: .zero, address: source.text)
    ) { output in
        if case .event(let event) = output { check(event.time >= .zero, "an event has a negative time") }
    }
    wait {
        try? await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                group.addTask { try await drive(engine, commands, simulation) }
                try await group.next()
                group.cancelAll()
            }
        }
    }
    let snapshot = engine.snapshot
    if let duration = snapshot.duration { check(duration >= .zero, "the duration is negative") }
}

private func drive(_ engine: PlaybackEngine, _ commands: [Command], _ simulation: Simulation) async throws {
    await engine.setRate(1)
    try await simulation.sleep(for: .seconds(3))
    for command in commands {
        await command.perform(on: engine)
        try await simulation.sleep(for: .seconds(command.pause))
        if engine.snapshot.status == .failed { return }
    }
    while simulation.now < maximumDuration, !engine.snapshot.hasPlayedToEnd, engine.snapshot.status != .failed {
        try await simulation.sleep(for: .seconds(10))
    }
}

private func time(_ choices: inout ChoiceReader) -> MediaTime {
    MediaTime(decimal: choices.spelledNumber(["0", "3", "12.5", "30"])) ?? MediaTime(seconds: .max)
}

/// A playback command.
private struct Command: Sendable {
    private enum Kind {
        case rate(Double)
        case seek(MediaTime, SeekTolerance)
        case date(ProgramDateTime)
        case step(Int)
        case cancel
        case select(Rendition.MediaType)
        case limit(BitRate)
    }

    private let kind: Kind
    let pause: Int

    init(_ choices: inout ChoiceReader) {
        pause = choices.element(of: [1, 0, 5, 20])
        switch choices.number(below: 8) {
        case 0: kind = .rate(choices.element(of: [0, 1, 2, 0.5, -1, 32, -32, 1e300, .nan, .infinity, 1e-300]))
        case 1, 2: kind = .seek(time(&choices), .any)
        case 3: kind = .seek(time(&choices), .exact)
        case 4:
            let date = ProgramDateTime(sinceEpoch: time(&choices))
            kind = .date(choices.isOne(in: 2) ? date : ProgramDateTime("2024-01-01T00:00:05Z") ?? date)
        case 5: kind = choices.isOne(in: 2) ? .cancel : .step(choices.element(of: [1, -1, .max, .min]))
        case 6: kind = .select(choices.element(of: Rendition.MediaType.allCases))
        default: kind = .limit(BitRate(bitsPerSecond: Int64(choices.byte()) << 55))
        }
    }

    func perform(on engine: PlaybackEngine) async {
        switch kind {
        case .rate(let rate): await engine.setRate(rate)
        case .seek(let time, let tolerance): _ = await engine.seek(to: time, tolerance: tolerance)
        case .date(let date): _ = await engine.seek(to: date)
        case .step(let count): _ = await engine.step(by: count)
        case .cancel: await engine.cancelPendingSeeks()
        case .select(let type):
            let options = engine.snapshot.presentation?.group(type)?.options ?? []
            await engine.select(options.last, for: type)
        case .limit(let rate): await engine.update { $0.preferredPeakBitRate = rate }
        }
    }
}

import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization

@testable import Millstream

/// A simulated environment with scripted engines.
final class World: Sendable {
    private struct Weak: Sendable { weak var engine: ScriptedEngine? }
    private struct State: Sendable {
        var scripts: [String: Script] = [:]
        var engines: [Weak] = []
        var inspections = 0
    }

    let simulation = Simulation()
    private let state = Mutex(State())
    /// The closure that returns the result of an asset inspection.
    let inspecting: @Sendable (World, AssetRequest) async throws -> AssetInspection
    let pipelineError: StreamingError?

    init(
        pipelineError: StreamingError? = nil,
        inspecting: @escaping @Sendable (World, AssetRequest) async throws -> AssetInspection = { _, _ in .film }
    ) {
        self.inspecting = inspecting
        self.pipelineError = pipelineError
    }

    var environment: Player.Environment {
        let (time, pipelineError) = (simulation, pipelineError)
        var environment = Player.Environment(
            time: time,
            makeLoading: { _, _ in ResourceLoader(ScriptedTransport(time: time), time: time, jitter: { 0 }) },
            makeSessionID: { [self] in "session \(state.withLock { $0.engines.count })" },
            date: { .seconds(1_000_000) + time.now }
        )
        environment.makePipeline = {
            if let pipelineError { throw pipelineError }
            return NonDecodingPipeline(time: time)
        }
        environment.makeEngine = { [self] request in
            state.withLock { state in
                let engine = ScriptedEngine(request, state.scripts[request.asset.address.text] ?? Script())
                state.engines.append(Weak(engine: engine))
                return engine
            }
        }
        environment.inspect = { [self] request, _ in
            state.withLock { $0.inspections += 1 }
            return try await inspecting(self, request)
        }
        environment.findCache = { $0.filePath == nil ? nil : AssetCache(isPlayableOffline: true) }
        return environment
    }

    /// The number of asset inspections.
    var inspections: Int { state.withLock { $0.inspections } }
    /// The number of engines created.
    var engineCount: Int { state.withLock { $0.engines.count } }
    /// The number of engines that have not been deallocated.
    var liveEngines: Int { state.withLock { $0.engines.filter { $0.engine != nil }.count } }
    /// Returns the engine at the given index in order of creation, or `nil` if there is none or it was deallocated.
    func engine(_ index: Int) -> ScriptedEngine? {
        state.withLock { $0.engines.indices.contains(index) ? $0.engines[index].engine : nil }
    }

    /// Creates an item whose engine follows the given script.
    func item(_ name: String, _ script: Script = Script()) -> PlayerItem {
        state.withLock { $0.scripts[name] = script }
        return PlayerItem(ResourceAddress(name), environment: environment)
    }

    /// Waits for the given duration of simulated time.
    func sleep(_ duration: Duration) async throws { try await simulation.sleep(for: duration) }

    /// The current simulated time.
    var now: Duration { simulation.now }
}

/// Runs a test body in a simulated environment.
func simulated<Result: Sendable>(
    _ world: World = World(),
    _ body: @escaping @Sendable @concurrent (World) async throws -> Result
) async throws -> Result {
    try await world.simulation.run { try await body(world) }
}

extension AssetInspection {
    /// The inspection of a presentation with two audio languages.
    static var film: AssetInspection {
        AssetInspection(
            presentation: Presentation.film,
            duration: MediaTime(seconds: 10),
            playbackType: .vod,
            tracks: [AssetTrack(mediaType: .video, codec: "avc1.64001f"), AssetTrack(mediaType: .audio)]
        )
    }
}

extension Presentation {
    /// A presentation with two variants, two audio languages and subtitles.
    static var film: Presentation {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",AUTOSELECT=YES,URI="de.m3u8"
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Untertitel",LANGUAGE="de",AUTOSELECT=YES,URI="sub.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2400000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
            high.m3u8

            """
        let context = PlaylistContext(address: ResourceAddress("http://example.com/film.m3u8"))
        guard let playlist = try? Playlist.parse(Array(text.utf8), context: context) else {
            preconditionFailure("the playlist of the film is well formed")
        }
        return Presentation(playlist)
    }
}

/// A thread-safe list of the elements received so far.
final class Collected<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])
    var all: [Element] { state.withLock { $0 } }
    func add(_ element: Element) { state.withLock { $0.append(element) } }
}

/// Collects the elements of a sequence while the body runs, and returns them.
func listening<Element: Sendable>(
    to sequence: some AsyncSequence<Element, Never> & Sendable,
    _ body: (Collected<Element>) async throws -> Void
) async throws -> [Element] {
    let collected = Collected<Element>()
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await element in sequence { collected.add(element) } }
        try await body(collected)
        group.cancelAll()
        return collected.all
    }
}

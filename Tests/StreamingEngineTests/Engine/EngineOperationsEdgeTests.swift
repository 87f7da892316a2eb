import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Synchronization
import Testing

@testable import StreamingEngine

/// A pipeline that records its calls.
private final class RecordingPipeline: MediaPipeline {
    private let record = Mutex<[String]>([])
    private let fails: Bool

    init(fails: Bool = false) { self.fails = fails }

    /// The calls, in order.
    var calls: [String] { record.withLock { $0 } }

    private func note(_ call: String) { record.withLock { $0.append(call) } }

    func canDecode(_ codecs: [String]) -> Bool { codecs != ["hvc1"] }
    func append(_ segment: PipelineSegment) async throws -> MediaTimeRange {
        note("append \(segment.range.start.seconds)")
        if fails { throw MediaPipelineError(.notDecodable, "noise") }
        return segment.range
    }
    func discard(_ type: MediaType, in range: MediaTimeRange) async { note("discard \(type) \(range.end.seconds)") }
    func seek(to time: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime {
        note("seek \(time.seconds) \(tolerance == .exact)")
        if fails { throw MediaPipelineError(.noMedia, "nothing") }
        return time
    }
    func setRate(_ rate: Double, at time: Duration?) async { note("rate \(rate) \(time ?? .zero)") }
    func step(by count: Int) async -> MediaTime? {
        note("step \(count)")
        return fails ? nil : MediaTime(seconds: 3)
    }
    func selectCaptions(_ channel: String?) async { note("captions \(channel ?? "off")") }
    func selectTrack(_ track: FileTrack?, of type: MediaType) async { note("track \(type) \(track == .id(2))") }
    func setAudio(_ settings: AudioSettings) async { note("audio \(settings.isMuted)") }
    var timebase: Timebase { Timebase() }
    var frameCounts: FrameCounts { FrameCounts() }
    var events: AsyncStream<MediaPipelineEvent> { AsyncStream { $0.finish() } }
    func close() async { note("close") }
}

/// Tests of the requests of an engine, of what follows from their responses, and of the calls of the pipeline.
@Suite struct EngineOperationsEdgeTests {
    private static let root = "https://origin.example/"

    private static func operations(
        _ transport: any Transport,
        _ time: Simulation,
        _ pipeline: any MediaPipeline
    ) -> EngineOperations {
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 2), time: time, jitter: { 0 })
        let fetch = ResourceFetcher(loader: loader, time: time)
        return EngineOperations(
            source: ResourceAddress(root + "main.m3u8"),
            kind: nil,
            fetch: fetch,
            loader: SegmentLoader(fetch) { _ in },
            pipeline: pipeline
        )
    }

    /// Performs work with the given responses, by the name of the resource.
    ///
    /// - Returns: The event of the work, and the requests that were sent.
    private func perform(
        _ work: EngineWork,
        _ responses: [String: ScriptedTransport.Response] = [:],
        _ pipeline: RecordingPipeline = RecordingPipeline(),
        transfer: SegmentTransfer? = nil
    ) async throws -> (event: EngineEvent?, requests: [TransportRequest]) {
        let simulation = Simulation()
        let texts = responses.map { (Self.root + $0.key, [$0.value]) }
        let transport = ScriptedTransport(Dictionary(uniqueKeysWithValues: texts), time: simulation)
        let operations = Self.operations(transport, simulation, pipeline)
        let event = try await simulation.run { await operations.carryOut(work, transfer) }
        return (event, transport.requests)
    }

    private static func failure(_ status: Int) -> ScriptedTransport.Response {
        .failure(TransportError(.status, "status \(status)", status: status))
    }

    private func isNil(_ event: EngineEvent?) -> Bool { if case nil = event { true } else { false } }

    private static let noCache = [HeaderField("Cache-Control", "no-cache")]
    private static let ladder = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"

    // MARK: Opening

    @Test func aMediaPlaylistIsPassedWithItsPresentation() async throws {
        for (text, isMedia) in [(Self.media, true), (Self.ladder, false)] {
            let (event, requests) = try await perform(.open, ["main.m3u8": .text(text)])
            guard case .opened(.presentation(let presentation, let media, let address), let request)? = event else {
                Issue.record("not opened")
                continue
            }
            #expect((media != nil) == isMedia && presentation.variants.count == 1)
            #expect(address.text == Self.root + "main.m3u8" && requests.map(\.headers) == [[]])
            #expect(request.kind == (isMedia ? .mediaPlaylist : .multivariantPlaylist) && request.failure == nil)
        }
    }

    @Test func aVariantThatThePipelineCannotDecodeIsNotPlayable() async throws {
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"hvc1\"\nv.m3u8\n"
        let (event, _) = try await perform(.open, ["main.m3u8": .text(text)])
        guard case .opened(.presentation(let presentation, _, _), _)? = event else {
            Issue.record("not opened")
            return
        }
        #expect(presentation.variants.isEmpty && presentation.unplayable.count == 1)
    }

    @Test func anotherResourceIsAFile() async throws {
        let bytes = Array("ID3 is the beginning of a file".utf8)
        let (event, _) = try await perform(.open, ["main.m3u8": .bytes(bytes)])
        guard case .opened(.file(let head, let address, let length), let request)? = event else {
            Issue.record("not opened")
            return
        }
        #expect(head == bytes && length == Int64(bytes.count) && address.text == Self.root + "main.m3u8")
        #expect(request.kind == .other)
    }

    /// A file that was received as a whole is not requested again for its segments.
    @Test(arguments: [(644, true), (100, false)]) func aWholeFileIsKept(count: Int, isKept: Bool) async throws {
        let head = Array(FileBytes.wave(600).prefix(count))
        let simulation = Simulation()
        let transport = ScriptedTransport([:], time: simulation)
        let operations = Self.operations(transport, simulation, RecordingPipeline())
        let requestCount = try await simulation.run {
            let event = await operations.indexFile(head, at: FileBytes.address, length: 644, began: .zero)
            guard case .fileIndexed(let file, let presentation, let address)? = event,
                let segment = PresentationTimeline(file.playlist).segments.first
            else { return -1 }
            guard presentation.variants.count == 1, address == FileBytes.address else { return -2 }
            _ = try? await operations.loader.load(segment, for: .main, monitor: TransferMonitor())
            return transport.requests.count
        }
        #expect(requestCount >= 0 && (requestCount == 0) == isKept)
    }

    @Test func theRequestThatFailedIsReportedWithTheFailureToOpen() async throws {
        let (event, _) = try await perform(.open)
        guard case .openingFailed(let error, let request)? = event else {
            Issue.record("opened")
            return
        }
        #expect(error.status == 404 && error.message.hasPrefix("the playlist could not be loaded: "))
        #expect(request?.kind == .multivariantPlaylist && request?.status == 404)
        #expect(request?.address == Self.root + "main.m3u8")
        // The request itself succeeded.
        let (other, _) = try await perform(.open, ["main.m3u8": .text("This is no media.")])
        guard case .openingFailed(let unknown, nil)? = other else {
            Issue.record("opened")
            return
        }
        #expect(unknown.code == .notRecognized)
    }

    @Test func theAddressIsLoadedAgainWithoutTheCache() async throws {
        let (event, requests) = try await perform(.reopen(request: 4), ["main.m3u8": .text(Self.ladder)])
        guard case .reopened(request: 4, .success(let presentation), let request)? = event else {
            Issue.record("not opened")
            return
        }
        #expect(presentation.variants.count == 1 && request?.kind == .multivariantPlaylist)
        #expect(requests.map(\.headers) == [Self.noCache])
    }

    @Test func theFailureToLoadTheAddressAgainIsReported() async throws {
        let (event, _) = try await perform(.reopen(request: 4))
        guard case .reopened(request: 4, .failure(let error), let request)? = event else {
            Issue.record("opened")
            return
        }
        #expect(error.status == 404 && request?.status == 404 && request?.kind == .multivariantPlaylist)
        // A file cannot replace a playlist.
        let file = ScriptedTransport.Response.text("ID3 is the beginning of a file")
        let (other, _) = try await perform(.reopen(request: 5), ["main.m3u8": file])
        guard case .reopened(request: 5, .failure(let refused), nil)? = other else {
            Issue.record("opened")
            return
        }
        #expect(refused.code == .unreadablePlaylist)
    }

    // MARK: Cancellation

    @Test func canceledWorkHasNoEvent() async throws {
        let address = ResourceAddress(Self.root + "main.m3u8")
        let work: [EngineWork] = [
            .open, .reopen(request: 1), .loadSteeringManifest(request: 1, address),
            .indexFile(head: [], address, length: nil, began: .zero),
            .loadPlaylist(request: 1, TransportRequest(address, kind: .playlist), variables: [:]),
        ]
        for work in work {
            let simulation = Simulation()
            let transport = ScriptedTransport([:], time: simulation)
            let operations = Self.operations(transport, simulation, RecordingPipeline())
            let event: EngineEvent? = try await simulation.run {
                await withTaskGroup(of: EngineEvent?.self) { group in
                    group.cancelAll()
                    group.addTask { await operations.carryOut(work, nil) }
                    return await group.next() ?? nil
                }
            }
            #expect(isNil(event), "\(work)")
        }
    }

    // MARK: Steering

    private func steer(
        _ response: ScriptedTransport.Response?
    ) async throws -> (
        result: Result<SteeringManifest, StreamingError>, request: ResourceRequest?, requests: [TransportRequest]
    )? {
        let work = EngineWork.loadSteeringManifest(request: 6, ResourceAddress(Self.root + "s.json"))
        let (event, requests) = try await perform(work, response.map { ["s.json": $0] } ?? [:])
        guard case .steeringManifestReceived(request: 6, let result, let request)? = event else { return nil }
        return (result, request, requests)
    }

    private static let manifest = #"{"VERSION":1,"RELOAD-URI":"n.json","PATHWAY-PRIORITY":["a"]}"#

    @Test func theManifestIsLoadedWithoutTheCache() async throws {
        let found = try #require(try await steer(.text(Self.manifest)))
        let manifest = try found.result.get()
        #expect(manifest.reloadAddress?.text == Self.root + "n.json")
        #expect(found.request?.kind == .other && found.request?.status == 200 && found.request?.failure == nil)
        #expect(found.requests.map(\.headers) == [Self.noCache])
    }

    @Test func theReloadURIIsRelativeToTheRedirectedAddress() async throws {
        let address = ResourceAddress("https://b.example/x/s.json")
        let found = try #require(try await steer(.redirected(to: address, Array(Self.manifest.utf8))))
        let manifest = try found.result.get()
        #expect(manifest.reloadAddress?.text == "https://b.example/x/n.json")
    }

    @Test func aFailedRequestForTheManifestIsNotRepeated() async throws {
        let found = try #require(try await steer(Self.failure(503)))
        guard case .failure(let error) = found.result else {
            Issue.record("loaded")
            return
        }
        #expect(error.status == 503 && error.message.hasPrefix("the steering manifest could not be loaded: "))
        #expect(found.requests.count == 1 && found.request?.status == 503 && found.request?.kind == .other)
    }

    @Test func aManifestOfUpToOneMebibyteIsLoaded() async throws {
        let bytes = Array(Self.manifest.utf8)
        func padded(_ size: Int) -> ScriptedTransport.Response {
            .bytes(bytes + [UInt8](repeating: 0x20, count: size - bytes.count))
        }
        let largest = try #require(try await steer(padded(1 << 20)))
        let manifest = try largest.result.get()
        #expect(manifest.pathwayPriority == ["a"])
        let larger = try #require(try await steer(padded((1 << 20) + 1)))
        guard case .failure(let error) = larger.result, let cause = error.cause as? TransportError else {
            Issue.record("loaded")
            return
        }
        #expect(cause.code == .tooLarge && larger.request?.failure != nil)
    }

    @Test func anUnreadableManifestIsAFailureOfAnAnsweredRequest() async throws {
        let found = try #require(try await steer(.text("[")))
        guard case .failure(let error) = found.result else {
            Issue.record("loaded")
            return
        }
        #expect(error.code == .unreadablePlaylist && found.request?.status == 200 && found.request?.failure == nil)
    }

    // MARK: Playlists

    private func load(
        _ response: ScriptedTransport.Response?,
        variables: [String: String] = [:]
    ) async throws -> PlaylistResponse? {
        let request = TransportRequest(ResourceAddress(Self.root + "v.m3u8"), kind: .playlist)
        let work = EngineWork.loadPlaylist(request: 7, request, variables: variables)
        let (event, _) = try await perform(work, response.map { ["v.m3u8": $0] } ?? [:])
        guard case .playlistReceived(request: 7, let received)? = event else { return nil }
        return received
    }

    private func error(_ response: PlaylistResponse) -> StreamingError? {
        guard case .failure(let error) = response.result else { return nil }
        return error
    }

    @Test func segmentsAreRelativeToTheRedirectedAddress() async throws {
        let address = ResourceAddress("https://b.example/x/v.m3u8")
        let response = try #require(try await load(.redirected(to: address, Array(Self.media.utf8))))
        let timeline = PresentationTimeline(try response.result.get())
        #expect(timeline.segments[0].address.text == "https://b.example/x/a.ts")
        #expect(response.request?.kind == .mediaPlaylist && response.request?.status == 200)
        #expect(response.request?.address == Self.root + "v.m3u8")
    }

    @Test func variablesAreImported() async throws {
        let text = Self.media.replacing("#EXTINF", with: "#EXT-X-DEFINE:IMPORT=\"x\"\n#EXTINF")
            .replacing("a.ts", with: "{$x}.ts")
        let response = try #require(try await load(.text(text), variables: ["x": "b"]))
        let timeline = PresentationTimeline(try response.result.get())
        #expect(timeline.segments[0].address.text == Self.root + "b.ts")
        let missing = try #require(try await load(.text(text)))
        #expect(error(missing)?.code == .unreadablePlaylist)
    }

    @Test func otherTextsAreNoMediaPlaylists() async throws {
        let multivariant = try #require(try await load(.text(Self.ladder)))
        #expect(error(multivariant)?.message == "a media playlist was expected, and a multivariant playlist came")
        #expect(error(multivariant)?.address?.text == Self.root + "v.m3u8")
        #expect(multivariant.request?.failure == nil && multivariant.request?.status == 200)
        let headless = try #require(try await load(.text(String(Self.media.dropFirst(8)))))
        #expect(error(headless)?.code == .unreadablePlaylist)
        let noise = try #require(try await load(.text("noise")))
        #expect(error(noise)?.code == .unreadablePlaylist && error(noise)?.address?.text == Self.root + "v.m3u8")
    }

    @Test func theFailureOfAPlaylistIsReportedWithItsRequest() async throws {
        let response = try #require(try await load(nil))
        #expect(error(response)?.status == 404)
        #expect(error(response)?.message.hasPrefix("a media playlist could not be loaded: ") == true)
        #expect(response.request?.kind == .mediaPlaylist && response.request?.status == 404)
    }

    // MARK: Segments

    @Test func aSegmentIsLoadedUnlessItsTransferWasCancelled() async throws {
        let context = PlaylistContext(address: ResourceAddress(Self.root + "v.m3u8"))
        let playlist = try MediaPlaylist(parsing: Array(Self.media.utf8), context: context)
        let segment = PresentationTimeline(playlist).segments[0]
        let work = EngineWork.fetch(request: 8, segment, .main)
        let (none, requests) = try await perform(work, ["a.ts": .text("media")])
        #expect(isNil(none) && requests.isEmpty)
        let (event, _) = try await perform(work, ["a.ts": .text("media")], transfer: SegmentTransfer())
        guard case .segmentReceived(request: 8, .success(let loaded), let progress)? = event else {
            Issue.record("not loaded")
            return
        }
        #expect(loaded.fetched.bytes.readableBytes == 5 && progress.expectedBytes == 5)
        let (failed, _) = try await perform(work, transfer: SegmentTransfer())
        guard case .segmentReceived(request: 8, .failure(let error), _)? = failed,
            case .transport(let cause, .mediaSegment) = error as? SegmentLoader.Failure
        else {
            Issue.record("loaded")
            return
        }
        #expect(cause.status == 404)
    }

    // MARK: Pipeline

    private static let range = MediaTimeRange(start: .zero, end: MediaTime(seconds: 5))

    @Test func commandsAreCallsOfThePipeline() async throws {
        var settings = AudioSettings()
        settings.isMuted = true
        let ranges = [MediaType.audio, .video].map { DiscardedRange(type: $0, range: Self.range) }
        let commands: [PipelineCommand] = [
            .seek(1, to: MediaTime(seconds: 2), .exact), .setRate(2, at: .seconds(7)), .step(count: -1, waiter: 3),
            .discard(ranges), .discardTrickPlay(ranges), .selectCaptions("CC1"), .selectTrack(.subtitles, .id(2)),
            .setAudioSettings(settings),
        ]
        let pipeline = RecordingPipeline()
        var results: [String] = []
        for command in commands {
            let (event, _) = try await perform(.pipeline(command), [:], pipeline)
            guard case .pipelineFinished(let result)? = event else { continue }
            switch result {
            case .done: results.append("done")
            case .sought(let seek, .success(let landed)): results.append("sought \(seek) \(landed.seconds)")
            case .sought(_, .failure): results.append("failed")
            case .rateSet: results.append("rate")
            case .stepped(let landed, let waiter): results.append("stepped \(landed?.seconds ?? -1) \(waiter)")
            case .trickPlayDiscarded: results.append("trick play")
            }
        }
        #expect(results == ["sought 1 2.0", "rate", "stepped 3.0 3", "done", "trick play", "done", "done", "done"])
        let discards = ["discard audio 5.0", "discard video 5.0"]
        let first = ["seek 2.0 true", "rate 2.0 7.0 seconds", "step -1"]
        #expect(pipeline.calls == first + discards + discards + ["captions CC1", "track subtitles true", "audio true"])
    }

    @Test func aSeekThatFailsEndsWithItsError() async throws {
        let command = PipelineCommand.seek(4, to: .zero, .any)
        let (event, _) = try await perform(.pipeline(command), [:], RecordingPipeline(fails: true))
        guard case .pipelineFinished(.sought(seek: 4, .failure(let error)))? = event else {
            Issue.record("not failed")
            return
        }
        #expect((error as? MediaPipelineError)?.code == .noMedia)
    }

    @Test func mediaIsAppendedAndThePipelineIsClosed() async throws {
        let piece = PipelineSegment(
            type: .video,
            content: .gap,
            range: Self.range,
            discontinuityDomain: PipelineSegment.Domain(playlist: "", sequence: 0)
        )
        let pipeline = RecordingPipeline()
        let (event, _) = try await perform(.append(request: 9, piece), [:], pipeline)
        guard case .appended(request: 9, .success(let range))? = event else {
            Issue.record("not appended")
            return
        }
        let (closed, _) = try await perform(.closePipeline, [:], pipeline)
        #expect(range == Self.range && isNil(closed) && pipeline.calls == ["append 0.0", "close"])
        let (refused, _) = try await perform(.append(request: 9, piece), [:], RecordingPipeline(fails: true))
        guard case .appended(request: 9, .failure(let error))? = refused else {
            Issue.record("appended")
            return
        }
        #expect((error as? MediaPipelineError)?.message == "noise")
    }
}

import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// A body of buffers of 1 MiB, each of which takes a time.
private struct Mebibytes: AsyncSequence, Sendable {
    let count: Int
    var delay = Duration.zero
    let time: any TimeSource

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffer = ByteBuffer(repeating: 0x78, count: 1 << 20)
        var left: Int
        let delay: Duration
        let time: any TimeSource

        mutating func next() async throws -> ByteBuffer? {
            guard left > 0 else { return nil }
            left -= 1
            if delay > .zero { try await time.sleep(for: delay) }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: count, delay: delay, time: time) }
}

/// A transport whose responses for some names have bodies of a number of mebibytes.
private struct LargeBodies: Transport {
    let base: any Transport
    /// The number of mebibytes by the end of the URL; `Int.max` for a body without end.
    let counts: [String: Int]
    /// The lengths that are announced, in mebibytes, by the end of the URL.
    var announced: [String: Int64] = [:]
    var delay = Duration.zero
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let (name, count) = counts.first(where: { request.address.text.hasSuffix($0.key) }) else {
            return try await base.send(request)
        }
        return TransportResponse(
            to: request,
            expectedLength: announced[name].map { $0 << 20 },
            body: TransportBody(Mebibytes(count: count, delay: delay, time: time))
        )
    }
}

/// Tests of the memory that segments use while they are loaded.
@Suite(.timeLimit(.minutes(10))) struct SegmentMemoryTests {
    private static let limits = SegmentSizeLimits(
        main: ByteCount(3 << 20),
        audio: ByteCount(2 << 20),
        subtitles: ByteCount(1 << 20)
    )

    /// Loads a segment of a number of mebibytes, and returns its size or the error.
    private static func load(
        _ count: Int,
        for track: TrackKind,
        budget: TransferBudget
    ) async throws -> Result<Int, TransportError> {
        let simulation = Simulation()
        let transport = LargeBodies(base: ScriptedTransport(), counts: ["s.ts": count], time: simulation)
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media(text, at: TextStreamPlayback.origin + "media.m3u8"))
        let segment = try #require(timeline.segments.first)
        return try await simulation.run {
            let loader = SegmentLoader(fetch, limits: limits, budget: budget) { _ in }
            do {
                let loaded = try await loader.load(segment, for: track, monitor: TransferMonitor())
                return .success(loaded.fetched.bytes.readableBytes)
            } catch SegmentLoader.Failure.transport(let error, .mediaSegment) {
                return .failure(error)
            }
        }
    }

    @Test(arguments: TrackKind.allCases) func aSegmentWithoutEndIsRefused(track: TrackKind) async throws {
        let budget = TransferBudget(limit: Self.limits.total)
        let result = try await Self.load(.max, for: track, budget: budget)
        guard case .failure(let error) = result else {
            Issue.record("the segment was loaded")
            return
        }
        #expect(error.code == .tooLarge && error.address?.text == TextStreamPlayback.origin + "s.ts")
        #expect(error.message.contains("segment 7 is too large"))
        #expect(error.message.contains("\(Self.limits[track])"))
        #expect(budget.heldBytes == .zero)
    }

    @Test(arguments: TrackKind.allCases) func aSegmentOfTheMaximumSizeIsLoaded(track: TrackKind) async throws {
        let budget = TransferBudget(limit: Self.limits.total)
        let size = Int(Self.limits[track].bytes)
        let result = try await Self.load(size >> 20, for: track, budget: budget)
        #expect(try result.get() == size)
        #expect(budget.heldBytes == .zero)
    }

    /// The tracks of a media file need not be interleaved, so that a segment of it can be larger than one of a stream.
    @Test func segmentsOfMediaFilesHaveTheirOwnLimits() {
        let limits = SegmentSizeLimits()
        let remote = SegmentSizeLimits.segments(ofFileAt: ResourceAddress("https://h/film.mp4"))
        #expect(remote.main == limits.total && remote.audio == limits.audio)
        #expect(remote.subtitles == limits.subtitles)
        let local = SegmentSizeLimits.segments(ofFileAt: ResourceAddress(filePath: "/film.mp4"))
        #expect(local.main == ResourceFetcher.maximumSegmentSize)
    }

    @Test func limitsOfAMediaFileReplaceThoseOfAStream() async throws {
        let simulation = Simulation()
        let transport = LargeBodies(base: ScriptedTransport(), counts: ["s.ts": 4], time: simulation)
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\ns.ts\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media(text, at: TextStreamPlayback.origin + "media.m3u8"))
        let segment = try #require(timeline.segments.first)
        try await simulation.run {
            let loader = SegmentLoader(fetch, limits: Self.limits) { _ in }
            await #expect(throws: SegmentLoader.Failure.self) {
                _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            }
            await loader.limitSegments(ofFileAt: ResourceAddress("https://h/film.mp4"))
            let loaded = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            #expect(loaded.fetched.bytes.readableBytes == 4 << 20)
        }
    }

    @Test func segmentsOfAFileThatWasTransferredAsAWholeAreNotRequested() async throws {
        let simulation = Simulation()
        let transport = ScriptedTransport()
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        let text = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:6
            #EXT-X-MAP:URI="film.mp4",BYTERANGE="2@0"
            #EXTINF:6,
            #EXT-X-BYTERANGE:3@2
            film.mp4
            #EXT-X-ENDLIST

            """
        let timeline = PresentationTimeline(try media(text, at: TextStreamPlayback.origin + "film.mp4"))
        let segment = try #require(timeline.segments.first)
        try await simulation.run {
            let loader = SegmentLoader(fetch) { _ in }
            await loader.keepFile([1, 2, 3, 4, 5], at: segment.address)
            let loaded = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            guard case .media(let bytes, let initialization) = loaded.content else {
                Issue.record("the segment has no media")
                return
            }
            #expect(Array(bytes.readableBytesView) == [3, 4, 5] && initialization?.bytes == [1, 2])
            #expect(loaded.fetched.measurement.isFromCache)
        }
        #expect(transport.requestedAddresses.isEmpty)
    }

    @Test func allTracksTogetherAreLimited() {
        let limits = SegmentSizeLimits()
        #expect(limits.total == ByteCount(256 << 20) && limits.subtitles == ByteCount(16 << 20))
        #expect(limits.total == limits[.main] + limits[.audio] + limits[.subtitles])
    }

    @Test func aTransferWaitsUntilOthersHaveEnded() async throws {
        let simulation = Simulation()
        let budget = TransferBudget(limit: ByteCount(10))
        try await simulation.run {
            try await budget.reserve(8, besides: 0)
            async let second: Void = budget.reserve(5, besides: 0)
            try await simulation.sleep(for: .seconds(1))
            #expect(budget.heldBytes == ByteCount(8))
            budget.release(8)
            try await second
            #expect(budget.heldBytes == ByteCount(5))
            // It is the only one.
            try await budget.reserve(100, besides: 5)
            #expect(budget.heldBytes == ByteCount(105))
            budget.release(105)
            #expect(budget.heldBytes == .zero)
        }
    }

    // MARK: Initialization sections

    /// Loads a segment, and returns the error of its initialization section.
    private static func initializationError(
        of segment: SegmentReference,
        _ loader: SegmentLoader
    ) async throws -> TransportError? {
        do {
            _ = try await loader.load(segment, for: .main, monitor: TransferMonitor())
            return nil
        } catch SegmentLoader.Failure.transport(let error, .initialization) {
            return error
        }
    }

    /// Loads a segment with an initialization section of a number of mebibytes, and returns the largest number of bytes
    /// that were reserved, and the error.
    private static func loadWithInitialization(
        _ count: Int,
        budget: TransferBudget
    ) async throws -> (peak: ByteCount, error: TransportError?) {
        let simulation = Simulation()
        let transport = LargeBodies(
            base: ScriptedTransport(),
            counts: ["s.mp4": 1, "init.mp4": count],
            delay: .seconds(1),
            time: simulation
        )
        let fetch = ResourceFetcher(
            loader: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            time: simulation
        )
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:6,\ns.mp4\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media(text, at: TextStreamPlayback.origin + "media.m3u8"))
        let segment = try #require(timeline.segments.first)
        return try await simulation.run {
            let loader = SegmentLoader(fetch, limits: limits, budget: budget) { _ in }
            async let load = initializationError(of: segment, loader)
            var peak = ByteCount.zero
            for _ in 0..<20 {
                try await simulation.sleep(for: .milliseconds(500))
                peak = max(peak, budget.heldBytes)
            }
            return (peak, try await load)
        }
    }

    @Test func initializationSectionsCountWhileTheyAreLoaded() async throws {
        let budget = TransferBudget(limit: Self.limits.total)
        let (peak, error) = try await Self.loadWithInitialization(4, budget: budget)
        #expect(error == nil && peak >= ByteCount(3 << 20))
        #expect(budget.heldBytes == .zero)
    }

    @Test func initializationSectionsThatAreTooLargeTogetherAreRefused() async throws {
        let budget = TransferBudget(limit: Self.limits.total, initializationLimit: ByteCount(5 << 20))
        let isReserved = budget.reserveInitialization(2 << 20)
        #expect(isReserved)
        let (_, error) = try await Self.loadWithInitialization(4, budget: budget)
        #expect(error?.code == .tooLarge)
        #expect(budget.heldBytes == ByteCount(2 << 20))
        budget.releaseInitialization(2 << 20)
        #expect(budget.heldBytes == .zero)
    }

    @Test func initializationSectionsDoNotWaitForSegments() async throws {
        let budget = TransferBudget(limit: ByteCount(10))
        try await budget.reserve(10, besides: 0)
        let isReserved = budget.reserveInitialization(20)
        #expect(isReserved && budget.heldBytes == ByteCount(30))
        #expect(TransferBudget(limit: .zero).reserveInitialization(64 << 20))
        #expect(!TransferBudget(limit: .zero).reserveInitialization(64 << 20 + 1))
    }

    @Test func aTransferThatWaitsCanBeCanceled() async throws {
        let budget = TransferBudget(limit: ByteCount(10))
        try await budget.reserve(10, besides: 0)
        let task = Task { try await budget.reserve(1, besides: 0) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(budget.heldBytes == ByteCount(10))
    }

    // MARK: Playback

    private static let subtitled = """
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e",SUBTITLES="t"
        v.m3u8

        """

    /// Plays a stream to its end, and returns the texts of the errors.
    private static func errors(
        _ texts: [String: String],
        counts: [String: Int],
        announced: [String: Int64] = [:],
        delay: Duration = .zero,
        options: StreamingOptions = StreamingOptions()
    ) async throws -> [String] {
        let simulation = Simulation()
        let events = EventRecord()
        let transport = LargeBodies(
            base: ScriptedTransport(texts.mapValues { [.text($0)] }, time: simulation),
            counts: counts,
            announced: announced,
            delay: delay,
            time: simulation
        )
        let engine = PlaybackEngine(
            source: ResourceAddress(TextStreamPlayback.address),
            loading: ResourceLoader(transport, time: simulation, jitter: { 0 }),
            pipeline: NonDecodingPipeline(time: simulation),
            options: options,
            time: simulation,
            session: PlaybackSession(id: "test", start: simulation.now, startDate: .zero)
        ) { output in
            if case .event(let event) = output { events.add(event) }
        }
        let isPlayed = try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await engine.run() }
                await engine.setRate(1)
                for _ in 0..<6_000 where !engine.snapshot.hasPlayedToEnd {
                    try await simulation.sleep(for: .milliseconds(100))
                }
                group.cancelAll()
                return engine.snapshot.hasPlayedToEnd
            }
        }
        #expect(isPlayed)
        return events.all.compactMap { event -> String? in
            guard case .error(let error) = event.kind else { return nil }
            return error.comment
        }
    }

    @Test func subtitlesWithoutEndDoNotEndPlayback() async throws {
        let texts = TextStreamPlayback.texts(Self.subtitled, ["v", "s"], count: 4)
        let errors = try await Self.errors(texts, counts: ["/s1.ts": .max])
        #expect(errors.contains { $0.contains("segment 1 is too large") }, "\(errors)")
    }

    @Test func aSegmentThatIsAnnouncedAsTooLargeIsSkipped() async throws {
        let texts = TextStreamPlayback.texts("#EXT-X-STREAM-INF:BANDWIDTH=640000\nv.m3u8\n", ["v"], count: 4)
        let errors = try await Self.errors(texts, counts: ["/v1.ts": 0], announced: ["/v1.ts": 300])
        #expect(errors.contains { $0.contains("segment 1 is too large") }, "\(errors)")
    }

    @Test func aLargeSegmentIsPlayed() async throws {
        let texts = TextStreamPlayback.texts("#EXT-X-STREAM-INF:BANDWIDTH=150000000\nv.m3u8\n", ["v"], count: 3)
        let errors = try await Self.errors(texts, counts: ["/v1.ts": 100], announced: ["/v1.ts": 100])
        #expect(errors.isEmpty, "\(errors)")
    }

    /// The segments that are being loaded exceed the size of the buffer: other tracks wait for them.
    @Test func tracksWaitForTheMemoryOfOthers() async throws {
        var options = StreamingOptions()
        options.bufferByteLimit = ByteCount(2 << 20)
        let texts = TextStreamPlayback.texts(Self.subtitled, ["v", "s"], count: 3)
        let counts = ["/v1.ts": 3, "/s0.ts": 1]
        let errors = try await Self.errors(texts, counts: counts, delay: .seconds(1), options: options)
        #expect(errors.isEmpty, "\(errors)")
    }
}

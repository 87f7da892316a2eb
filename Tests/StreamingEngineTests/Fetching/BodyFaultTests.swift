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

/// A transport whose responses have bodies of several buffers.
private struct BufferTransport: Transport {
    let texts: [String]
    var length: Int64?
    var mayNameFiles = false

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let buffers = texts.map { ByteBuffer(bytes: Array($0.utf8)) }
        let body = AsyncStream<ByteBuffer> { continuation in
            for buffer in buffers { continuation.yield(buffer) }
            continuation.finish()
        }
        var response = TransportResponse(to: request, expectedLength: length, body: TransportBody(body))
        response.mayNameFiles = mayNameFiles
        return response
    }
}

/// A body that calls a closure before each buffer and before its end.
private struct ObservedBuffers: AsyncSequence, Sendable {
    let texts: [String]
    let observe: @Sendable () -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var texts: ArraySlice<String>
        let observe: @Sendable () -> Void

        mutating func next() async throws -> ByteBuffer? {
            observe()
            return texts.popFirst().map { ByteBuffer(bytes: Array($0.utf8)) }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(texts: texts[...], observe: observe) }
}

/// A body of which the first buffer arrives at once, and each further buffer of 40 KiB after 15 seconds.
private struct SlowBuffers: AsyncSequence, Sendable {
    let head: [UInt8]
    let count: Int
    let time: any TimeSource

    struct AsyncIterator: AsyncIteratorProtocol {
        var head: [UInt8]?
        var left: Int
        let time: any TimeSource

        mutating func next() async throws -> ByteBuffer? {
            if let first = head {
                head = nil
                return ByteBuffer(bytes: first)
            }
            guard left > 0 else { return nil }
            left -= 1
            try await time.sleep(for: .seconds(15))
            return ByteBuffer(repeating: 0x20, count: 40 << 10)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(head: head, left: count, time: time) }
}

/// A transport whose responses have the same body of unknown length.
private struct BodyTransport: Transport {
    let body: SlowBuffers

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(to: request, body: TransportBody(body))
    }
}

/// A transport whose responses have the same body.
private struct ObservedTransport: Transport {
    let body: ObservedBuffers

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        TransportResponse(to: request, body: TransportBody(body))
    }
}

/// A transport that delays the responses to requests for initialization sections.
private struct SlowInitializations: Transport {
    let base: any Transport
    let time: any TimeSource

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.kind == .initialization { try await time.sleep(for: .seconds(2)) }
        return try await base.send(request)
    }
}

/// Tests of bodies that arrive in parts, and of resources that several segments share.
@Suite(.timeLimit(.minutes(10))) struct BodyFaultTests {
    private static let root = "https://origin.example/"

    // MARK: Buffers

    @Test(
        arguments: [
            (["ab", "cd", "e"], 5), (["ab", "cd", "e"], nil), (["abcde"], 5), (["abcde"], nil), (["", "abcde"], 5),
            (["a", "bcde"], 5), (["a", "bcde"], nil),
        ] as [([String], Int64?)]
    )
    func buffersOfABodyAreJoined(texts: [String], length: Int64?) async throws {
        let fetch = FileBytes.fetcher(BufferTransport(texts: texts, length: length))
        let fetched = try await fetch.load(TransportRequest(FileBytes.address, kind: .segment), limit: ByteCount(5))
        #expect(Array(fetched.bytes.readableBytesView) == Array("abcde".utf8) && !fetched.mayNameFiles)
    }

    @Test(arguments: [nil, 6] as [Int64?]) func bodyIsRefusedAfterItsLimit(length: Int64?) async {
        let fetch = FileBytes.fetcher(BufferTransport(texts: ["abc", "def"], length: length))
        let budget = TransferBudget(limit: ByteCount(9))
        let error = await #expect(throws: TransportError.self) {
            _ = try await fetch.load(
                TransportRequest(FileBytes.address, kind: .segment),
                limit: ByteCount(5),
                budget: budget
            )
        }
        #expect(error?.code == .tooLarge && budget.heldBytes == .zero)
    }

    /// The body is shorter than the limit, but not read.
    @Test func announcedLengthIsRefusedBeforeTheBodyIsRead() async {
        let transport = ScriptedTransport([FileBytes.address.text: [.truncated([1, 2, 3], announced: 6)]])
        let error = await #expect(throws: TransportError.self) {
            _ = try await FileBytes.fetcher(transport).load(
                TransportRequest(FileBytes.address, kind: .segment),
                limit: ByteCount(5)
            )
        }
        #expect(error?.code == .tooLarge && error?.address == FileBytes.address)
    }

    /// A transfer without others does not wait for the end of others.
    @Test func transferAloneMayExceedTheBudget() async throws {
        let budget = TransferBudget(limit: ByteCount(10))
        try await budget.reserve(8, besides: 0)
        try await budget.reserve(3, besides: 8)
        #expect(budget.heldBytes == ByteCount(11))
        budget.release(1)
        #expect(budget.heldBytes == ByteCount(10))
    }

    @Test(arguments: [TransportRequest.Kind.segment, .initialization])
    func bytesCountFromTheirArrivalToTheEndOfTheTransfer(kind: TransportRequest.Kind) async throws {
        let budget = TransferBudget(limit: ByteCount(9))
        let held = Mutex<[Int64]>([])
        let body = ObservedBuffers(texts: ["ab", "cde"]) { held.withLock { $0.append(budget.heldBytes.bytes) } }
        let fetch = FileBytes.fetcher(ObservedTransport(body: body))
        let request = TransportRequest(FileBytes.address, kind: kind)
        let fetched = try await fetch.load(request, limit: ByteCount(5), budget: budget)
        let counts = held.withLock { $0 }
        #expect(fetched.bytes.readableBytes == 5 && counts == [0, 2, 5] && budget.heldBytes == .zero)
    }

    @Test func playlistOfThisProcessMayNameFilesAndNeedsNoParameters() async throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"q\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"
        let own = BufferTransport(texts: [text], mayNameFiles: true)
        let opened = try await SourceOpener(fetch: FileBytes.fetcher(own)).open(FileBytes.address).opened
        guard case .playlist(.multivariant(let playlist), _) = opened else {
            Issue.record("the playlist was not opened")
            return
        }
        #expect(playlist.context.mayNameFiles)
        let fetched = try await FileBytes.fetcher(own).load(TransportRequest(FileBytes.address, kind: .playlist))
        #expect(fetched.mayNameFiles)
        let other = SourceOpener(fetch: FileBytes.fetcher(BufferTransport(texts: [text])))
        await #expect(throws: StreamingError.self) { _ = try await other.open(FileBytes.address) }
    }

    @Test func beginningIsReadUntilItSuffices() async throws {
        // The second buffer completes the beginning; the third one is not read.
        let page = "<html>" + String(repeating: " ", count: 40_000)
        let fetch = FileBytes.fetcher(BufferTransport(texts: [page, page, page]))
        var began = Duration.seconds(3)
        let (request, bytes, response, isWhole) = try await SourceOpener(fetch: fetch)
            .load(FileBytes.address, &began) { bytes, _ in !bytes.isEmpty }
        #expect(bytes.count == 80_012 && !isWhole && response.status == 200 && request.kind == .playlist)
        #expect(began == .seconds(3))
        let whole = try await SourceOpener(fetch: fetch).load(FileBytes.address, &began) { _, _ in false }
        #expect(whole.1.count == 120_018 && whole.isWhole)
    }

    // MARK: Files

    private static func open(
        _ head: [UInt8],
        policy: RecoveryPolicy = RecoveryPolicy()
    ) async throws -> SourceOpener.Opened {
        let simulation = Simulation()
        let transport = BodyTransport(body: SlowBuffers(head: head, count: 10, time: simulation))
        let loader = ResourceLoader(transport, policy: policy, time: simulation, jitter: { 0 })
        let opener = SourceOpener(fetch: ResourceFetcher(loader: loader, time: simulation))
        return try await simulation.run { try await opener.open(FileBytes.address).opened }
    }

    /// A file whose size is unknown is loaded as a whole, which may take longer than a playlist.
    @Test func mediaFileHasNoTimeLimit() async throws {
        guard case .file(let head, _, let length) = try await Self.open(FileBytes.wave(65_492)) else {
            Issue.record("the file was not opened")
            return
        }
        #expect(head.count == 475_136 && length == 475_136)
        let playlist = Array(("#EXTM3U\n" + String(repeating: "#\n", count: 32_764)).utf8)
        let error = await #expect(throws: TransportError.self) { _ = try await Self.open(playlist) }
        #expect(error?.code == .timedOut)
    }

    /// The first bytes do not show the format yet.
    @Test func mediaFileIsRecognizedByItsBeginningOfSixtyFourKibibytes() async throws {
        guard case .file(let head, _, let length) = try await Self.open(Array("RIFF".utf8)) else {
            Issue.record("the file was not opened")
            return
        }
        #expect(head.count == 409_604 && length == 409_604)
    }

    /// The first buffer has 64 KiB, and the time limit would have passed with the second one.
    @Test func timeLimitEndsWithTheBeginningOfAMediaFile() async throws {
        var policy = RecoveryPolicy()
        policy.documentTimeLimit = RecoveryPolicy.DocumentTimeLimit(duration: .seconds(1))
        guard case .file(let head, _, _) = try await Self.open(FileBytes.wave(65_492), policy: policy) else {
            Issue.record("the file was not opened")
            return
        }
        #expect(head.count == 475_136)
    }

    /// The beginning of a local file is read again with its segments, and counts only then.
    @Test func beginningOfALocalFileIsNotCounted() async throws {
        let address = ResourceAddress(filePath: "/film.wav")
        let transport = ScriptedTransport([address.text: [.bytes(FileBytes.wave(100))]])
        for kind in [nil, SourceOpener.Kind.file] {
            let opener = SourceOpener(fetch: FileBytes.fetcher(transport), kind: kind)
            let report = try await opener.open(address).request
            #expect(report.kind == .other && report.bytes == .zero && report.status == 200)
        }
    }

    @Test func readerKnowsTheSizeOfAFileThatIsNotReadAsAWhole() async throws {
        let bytes = FileBytes.wave(65_492, declared: 99_956)
        let transport = ScriptedTransport([FileBytes.address.text: [.truncated(bytes, announced: 100_000)]])
        let content = try await MediaReader.open(FileBytes.address, loader: FileBytes.fetcher(transport).loader)
        guard case .file(let reader) = content else {
            Issue.record("the file was not opened")
            return
        }
        #expect(reader.fileSize == 100_000 && reader.missingLength == nil && transport.requests.count == 1)
        #expect(abs(reader.playlist.duration.seconds - 999.56) < 0.001)
    }

    @Test(arguments: [(1 << 20 - 1, 0), (1 << 20, 1)])
    func tracksAreReadFromAMebibyteOfAnInitializationSection(size: Int, count: Int) async throws {
        let transport = ScriptedTransport([
            Self.root + "i": [.truncated(FileBytes.wave(size - 44), announced: 2 << 20)]
        ])
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"i\"\n#EXTINF:6,\ns\n"
        let timeline = PresentationTimeline(try media(text, at: Self.root + "p.m3u8"))
        let tracks = await MediaTrackFinder(fetch: FileBytes.fetcher(transport)).tracks(of: timeline)
        #expect(tracks.count == count)
    }

    // MARK: Shared resources

    /// Loads two segments with the same initialization section at the same time.
    private static func loadTwice(
        _ sections: [ScriptedTransport.Response]
    ) async throws -> (requests: Int, results: [Bool]) {
        let simulation = Simulation()
        let transport = ScriptedTransport(
            [root + "i": sections, root + "a": [.text("media")], root + "b": [.text("media")]],
            time: simulation
        )
        let loader = ResourceLoader(
            SlowInitializations(base: transport, time: simulation),
            policy: RecoveryPolicy(retries: 0),
            time: simulation,
            jitter: { 0 }
        )
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"i\"\n#EXTINF:6,\na\n#EXTINF:6,\nb\n"
        let segments = Array(PresentationTimeline(try media(text, at: root + "p.m3u8")).segments)
        try #require(segments.count == 2)
        let results = try await simulation.run {
            let segmentLoader = SegmentLoader(ResourceFetcher(loader: loader, time: simulation)) { _ in }
            @Sendable func isLoaded(_ segment: SegmentReference) async -> Bool {
                let loaded = try? await segmentLoader.load(segment, for: .main, monitor: TransferMonitor())
                guard case .media(_, let initialization) = loaded?.content else { return false }
                return initialization?.bytes == [1, 2]
            }
            async let first = isLoaded(segments[0])
            try await simulation.sleep(for: .seconds(1))
            let second = await isLoaded(segments[1])
            return [await first, second]
        }
        return (transport.requestedAddresses.count { $0 == root + "i" }, results)
    }

    @Test func initializationSectionIsLoadedOnceForAllSegments() async throws {
        let (requests, results) = try await Self.loadTwice([.bytes([1, 2])])
        #expect(requests == 1 && results == [true, true])
    }

    @Test func loadThatWaitsForAnotherCanBeCanceled() async throws {
        let simulation = Simulation()
        let transport = ScriptedTransport(
            [Self.root + "i": [.bytes([1, 2])], Self.root + "a": [.text("media")]],
            time: simulation
        )
        let loader = ResourceLoader(
            SlowInitializations(base: transport, time: simulation),
            policy: RecoveryPolicy(retries: 0),
            time: simulation,
            jitter: { 0 }
        )
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:URI=\"i\"\n#EXTINF:6,\na\n"
        let segments = PresentationTimeline(try media(text, at: Self.root + "p.m3u8")).segments
        let segment = try #require(segments.first)
        let canceled = try await simulation.run {
            let segmentLoader = SegmentLoader(ResourceFetcher(loader: loader, time: simulation)) { _ in }
            @Sendable func isCanceled() async -> Bool {
                do {
                    _ = try await segmentLoader.load(segment, for: .main, monitor: TransferMonitor())
                    return false
                } catch {
                    return error is CancellationError
                }
            }
            async let first = isCanceled()
            try await simulation.sleep(for: .seconds(1))
            let second = await withTaskGroup(of: Bool.self, returning: Bool.self) { group in
                group.addTask { await isCanceled() }
                try? await simulation.sleep(for: .milliseconds(500))
                group.cancelAll()
                return await group.next() ?? false
            }
            return [await first, second]
        }
        #expect(canceled == [false, true])
    }

    @Test func initializationSectionThatFailedIsLoadedAgain() async throws {
        let failure = TransportError(.status, "the server answered 404", status: 404)
        let (requests, results) = try await Self.loadTwice([.failure(failure), .bytes([1, 2])])
        #expect(requests == 2 && results == [false, true])
    }
}

/// Tests of the resolutions to which variants are limited.
@Suite struct ResolutionFaultTests {
    @Test func limitsOfTheResolutionApplyToTheirNetworks() throws {
        let lines = [("a", 640, 360), ("b", 1_280, 720), ("c", 1_920, 1_080)].enumerated().map { number, variant in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(number + 1),RESOLUTION=\(variant.1)x\(variant.2)\n\(variant.0)\n"
        }
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
        func first(_ cost: NetworkCost?, _ change: (inout StreamingOptions) -> Void) -> String? {
            var options = StreamingOptions()
            options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
            change(&options)
            var chooser = VariantChooser(options)
            chooser.networkCost = cost
            chooser.setPresentation(presentation, selection: MediaSelection())
            return chooser.first(bufferCapacity: .seconds(30))?.address.lastPathComponent
        }
        let high = Resolution(width: 1_280, height: 720)
        let low = Resolution(width: 640, height: 360)
        #expect(first(nil) { _ in } == "c")
        #expect(first(nil) { $0.preferredMaximumResolution = high } == "b")
        #expect(first([.expensive]) { $0.preferredMaximumResolutionForExpensiveNetworks = low } == "a")
        #expect(first([.constrained]) { $0.preferredMaximumResolutionForExpensiveNetworks = low } == "c")
        #expect(first(nil) { $0.preferredPeakBitRate = BitRate(bitsPerSecond: 1) } == "a")
        let both = first([.expensive]) { options in
            options.preferredMaximumResolution = high
            options.preferredMaximumResolutionForExpensiveNetworks = low
        }
        #expect(both == "a")
    }
}

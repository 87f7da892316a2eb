import MediaTiming
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the time in which documents, such as playlists and catalogs, must be received.
@Suite(.timeLimit(.minutes(10))) struct DocumentTimeTests {
    /// A transport whose bodies have a buffer of some bytes after each second.
    private struct SlowTransport: Transport {
        let time: Simulation
        /// The number of bytes in a second.
        let rate: Int
        /// The number of seconds after which the body ends.
        var seconds = Int.max
        /// The number of seconds after which the connection is lost; `nil` for none.
        var lossSeconds: Int?
        /// The number of seconds in which bytes before the requested range arrive.
        var skippedSeconds = 0
        /// The announced length; `nil` if it is unknown.
        var length: Int64?
        let requestCount = Counter()

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            requestCount.increment()
            let second = Mutex(0)
            let (time, rate, seconds, lossSeconds) = (time, rate, seconds, lossSeconds)
            let skippedSeconds = skippedSeconds
            let record = TransferRecord(TransferMeasurement(requestStart: time.now))
            let body = AsyncThrowingStream<ByteBuffer, any Error> {
                let count = second.withLock { second in
                    second += 1
                    return second
                }
                if let lossSeconds, count > lossSeconds { throw TransportError(.connectionLost, "lost") }
                guard count <= seconds else { return nil }
                try await time.sleep(for: .seconds(1))
                guard count > skippedSeconds else {
                    record.update { $0.skippedBytes = ByteCount(Int64(count * rate)) }
                    return ByteBuffer()
                }
                return ByteBuffer(repeating: 0x78, count: rate)
            }
            return TransportResponse(
                status: 200,
                headers: [],
                address: request.address,
                expectedLength: length,
                body: TransportBody(body),
                record: record
            )
        }
    }

    /// The number of requests.
    private final class Counter: Sendable {
        private let state = Mutex(0)
        var value: Int { state.withLock { $0 } }
        func increment() { state.withLock { $0 += 1 } }
    }

    private static let playlist = TransportRequest(ResourceAddress("https://h/a"), kind: .playlist)

    /// Loads a document, and returns the number of its bytes or the error, with the time of the end.
    private static func load(
        _ transport: SlowTransport,
        _ request: TransportRequest = DocumentTimeTests.playlist,
        policy: RecoveryPolicy = RecoveryPolicy(),
        limit: ByteCount = ByteCount(4 << 20)
    ) async throws -> (result: Result<Int, TransportError>, end: Duration) {
        let time = transport.time
        return try await time.run {
            let loader = ResourceLoader(transport, policy: policy, time: time, jitter: { 1 })
            do {
                let loaded = try await loader.load(request, limit: limit)
                return (.success(loaded.bytes.count), time.now)
            } catch let error as TransportError {
                return (.failure(error), time.now)
            }
        }
    }

    @Test func aDocumentJustAboveTheMinimumThroughputTimesOut() async throws {
        let transport = SlowTransport(time: Simulation(), rate: 1_200)
        let (result, end) = try await Self.load(transport, policy: RecoveryPolicy(retries: 100))
        guard case .failure(let error) = result else {
            Issue.record("the document was loaded")
            return
        }
        #expect(error.code == .timedOut && error.exceedsDocumentTime && error.status == 200)
        #expect(error.message == "only \(65 * 1_200) bytes were received in 65 seconds")
        #expect(end == .seconds(65) && transport.requestCount.value == 1, "the request is not repeated")
    }

    /// The maximum time of a catalog of 4 MiB is 60 seconds and 256 seconds.
    @Test(arguments: [(16 << 10, 257), (64 << 10, 65)])
    func aDocumentWithoutEndIsRefusedInBoundedTime(rate: Int, end: Int) async throws {
        let transport = SlowTransport(time: Simulation(), rate: rate)
        let catalog = TransportRequest(ResourceAddress("https://h/catalog.json"), kind: .other)
        let (result, time) = try await Self.load(transport, catalog, policy: RecoveryPolicy(retries: 100))
        guard case .failure(let error) = result else {
            Issue.record("the document was loaded")
            return
        }
        #expect(error.code == .tooLarge && time == .seconds(end) && transport.requestCount.value == 1)
    }

    @Test func theTimeOfAllAttemptsCounts() async throws {
        // Each attempt would be in time, but not all of them together.
        let transport = SlowTransport(time: Simulation(), rate: 1_200, lossSeconds: 40)
        let (result, _) = try await Self.load(transport, policy: RecoveryPolicy(retries: 100))
        guard case .failure(let error) = result else {
            Issue.record("the document was loaded")
            return
        }
        #expect(error.exceedsDocumentTime && transport.requestCount.value == 2)
        // The bytes of the first attempt are not a part of the result.
        #expect(
            error.message.hasPrefix(
                "only \(25 * 1_200) bytes were received in the last attempt, and all attempts took 65 seconds"
            )
        )
    }

    @Test func theLastBytesOfADocumentMayBeLate() async throws {
        var transport = SlowTransport(time: Simulation(), rate: 1_200, seconds: 65, length: 65 * 1_200)
        let (result, _) = try await Self.load(transport)
        #expect(try result.get() == 65 * 1_200)
        transport = SlowTransport(time: Simulation(), rate: 1_200, seconds: 66, length: 66 * 1_200)
        let (later, _) = try await Self.load(transport)
        #expect(throws: TransportError.self) { try later.get() }
    }

    /// A server that ignores ranges sends a file of several megabytes, of which the document is the last part.
    @Test func bytesBeforeTheRangeCount() async throws {
        let transport = SlowTransport(time: Simulation(), rate: 64 << 10, seconds: 110, skippedSeconds: 100)
        let range = try #require(ByteRange(start: 100 * (64 << 10), length: 10 * (64 << 10)))
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: .subtitle, byteRange: range)
        let (result, end) = try await Self.load(transport, request)
        #expect(try result.get() == 10 * (64 << 10))
        #expect(end == .seconds(110) && transport.requestCount.value == 1)
    }

    @Test(arguments: TransportRequest.Kind.allCases)
    func onlyDocumentsHaveATimeLimit(kind: TransportRequest.Kind) async throws {
        let transport = SlowTransport(time: Simulation(), rate: 1_200, seconds: 200)
        let request = TransportRequest(ResourceAddress("https://h/a"), kind: kind)
        let (result, _) = try await Self.load(transport, request)
        switch kind {
        case .segment, .initialization: #expect(try result.get() == 200 * 1_200)
        case .playlist, .key, .subtitle, .other:
            #expect(throws: TransportError.self) { try result.get() }
        }
    }

    /// The resource of a playlist request can be a media file, which the reader recognizes.
    @Test func aResourceThatIsRecognizedAsMediaHasNoTimeLimit() async throws {
        let time = Simulation()
        let transport = SlowTransport(time: time, rate: 1_200, seconds: 200)
        let count = try await time.run {
            try await ResourceLoader(transport, time: time, jitter: { 1 }).send(Self.playlist) { response in
                var count = 0
                for try await buffer in response.body {
                    count += buffer.readableBytes
                    if count >= 12_000 { response.endDocumentTimeLimit() }
                }
                return count
            }
        }
        #expect(count == 200 * 1_200 && transport.requestCount.value == 1)
    }

    @Test func aPartOfAMediaFileIsNoDocument() async throws {
        let transport = SlowTransport(time: Simulation(), rate: 1_200, seconds: 200)
        let range = try #require(ByteRange(start: 0, length: 1 << 20))
        let request = TransportRequest(ResourceAddress("https://h/film.mp4"), kind: .other, byteRange: range)
        let (result, _) = try await Self.load(transport, request)
        #expect(try result.get() == 200 * 1_200)
    }

    @Test func theLimitCanBeChanged() async throws {
        var policy = RecoveryPolicy()
        policy.documentTimeLimit = RecoveryPolicy.DocumentTimeLimit(duration: .seconds(300))
        let transport = SlowTransport(time: Simulation(), rate: 1_200, seconds: 200)
        let (result, _) = try await Self.load(transport, policy: policy)
        #expect(try result.get() == 200 * 1_200)
        #expect(RecoveryPolicy().documentTimeLimit == RecoveryPolicy.DocumentTimeLimit())
        #expect(RecoveryPolicy.DocumentTimeLimit(bytesPerSecond: -1).bytesPerSecond == 1)
    }

    /// A large playlist arrives over the slowest links.
    @Test(arguments: LinkProfile.presets.filter { ($0.down.bandwidth?.bitsPerSecond ?? 0) >= 240_000 })
    func aLargePlaylistArrivesOverASlowLink(preset: LinkProfile) async throws {
        let time = Simulation()
        let script = ScriptedTransport(["https://h/a": [.bytes([UInt8](repeating: 7, count: 1 << 20))]])
        let count = try await time.run {
            let link = ConditionedLink(preset, time: time)
            let loader = ResourceLoader(ConditionedTransport(script, over: link), time: time, jitter: { 1 })
            return try await loader.load(Self.playlist).bytes.count
        }
        #expect(count == 1 << 20)
    }
}

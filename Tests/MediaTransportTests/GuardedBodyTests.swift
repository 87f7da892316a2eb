import MediaTiming
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A clock that advances only by sleeping, or when a test advances it.
private final class ManualTime: TimeSource {
    private struct State {
        var now = Duration.seconds(1_000)
        var slept: [Duration] = []
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }
    var slept: [Duration] { state.withLock { $0.slept } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func sleep(for duration: Duration) async throws {
        state.withLock { state in
            state.now += duration
            state.slept.append(duration)
        }
    }
}

/// A transport that returns planned responses in order.
private final class PlannedTransport: Transport {
    enum Part: Sendable {
        case bytes([UInt8])
        case pause(Duration)
        case fail(TransportError)
    }

    struct Response: Sendable {
        var headers: [HeaderField] = []
        var status = 200
        var length: Int64?
        var parts: [Part] = []
        var server: String?
        var failure: TransportError?
    }

    private struct State {
        var responses: [Response]
        var requests: [TransportRequest] = []
    }

    private let state: Mutex<State>
    private let time: ManualTime

    init(_ responses: [Response], time: ManualTime) {
        state = Mutex(State(responses: responses))
        self.time = time
    }

    var requests: [TransportRequest] { state.withLock { $0.requests } }
    /// The resumption of each request as `offset validator`, or `-` if it has none.
    var resumptions: [String] {
        requests.map { $0.resumption.map { "\($0.offset) \($0.validator)" } ?? "-" }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = state.withLock { state in
            state.requests.append(request)
            return state.responses.isEmpty ? nil : state.responses.removeFirst()
        }
        guard let response else { throw TransportError(.status, "nothing is planned", status: 404) }
        if let failure = response.failure { throw failure }
        let parts = Mutex(response.parts)
        let time = time
        let body = AsyncThrowingStream<ByteBuffer, any Error> {
            while let part = parts.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                switch part {
                case .bytes(let bytes): return ByteBuffer(bytes: bytes)
                case .pause(let duration): time.advance(by: duration)
                case .fail(let error): throw error
                }
            }
            return nil
        }
        var measurement = TransferMeasurement(requestStart: time.now)
        measurement.serverAddress = response.server
        let record = TransferRecord(measurement)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: ResourceAddress("https://found/a"),
            expectedLength: response.length,
            body: TransportBody(body).measured(by: record, time),
            record: record
        )
    }
}

/// Tests response bodies that are validated while they are received, and resumed after an interruption.
@Suite struct GuardedBodyTests {
    private typealias Response = PlannedTransport.Response
    private typealias Part = PlannedTransport.Part

    private let time = ManualTime()
    private static let tag = HeaderField("ETag", "\"v1\"")
    private static let lost = TransportError(.connectionLost, "lost")
    private static let address = ResourceAddress("https://h/a")

    private func noise(_ count: Int, from start: Int = 0) -> [UInt8] {
        (start..<(start + count)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
    }

    private func loading(
        _ transport: PlannedTransport,
        retries: Int,
        pace: RecoveryPolicy.MinimumThroughput = RecoveryPolicy.MinimumThroughput()
    ) -> ResourceLoader {
        ResourceLoader(
            transport,
            policy: RecoveryPolicy(rule: .init(maximumRetries: retries), rules: [:], minimumThroughput: pace),
            time: time,
            jitter: { 1 }
        )
    }

    private func load(
        _ transport: PlannedTransport,
        retries: Int,
        kind: TransportRequest.Kind = .segment,
        pace: RecoveryPolicy.MinimumThroughput = RecoveryPolicy.MinimumThroughput()
    ) async throws -> ResourceLoader.Loaded {
        try await loading(transport, retries: retries, pace: pace).load(TransportRequest(Self.address, kind: kind))
    }

    // MARK: Resumption

    @Test func bodyIsResumedAtItsLastByteAfterADelay() async throws {
        let transport = PlannedTransport(
            [
                Response(
                    headers: [Self.tag],
                    length: 10,
                    parts: [.bytes(noise(3)), .pause(.seconds(2)), .bytes(noise(1, from: 3)), .fail(Self.lost)],
                    server: "one"
                ),
                Response(failure: TransportError(.status, "busy", status: 503)),
                Response(
                    status: 206,
                    length: 6,
                    parts: [.bytes(noise(2, from: 4)), .pause(.seconds(3)), .bytes(noise(4, from: 6))],
                    server: "two"
                ),
            ],
            time: time
        )
        let loaded = try await load(transport, retries: 2)
        #expect(loaded.bytes == noise(10))
        #expect(transport.resumptions == ["-", "4 \"v1\"", "4 \"v1\""])
        #expect(time.slept == [.milliseconds(250), .milliseconds(500)])
        #expect(loaded.measurement.bytes == ByteCount(10) && loaded.measurement.serverAddress == "two")
        // Two seconds, two retry delays, and three seconds after the first request.
        #expect(loaded.measurement.requestStart == .seconds(1_000))
        #expect(loaded.measurement.timeToLastByte == .milliseconds(5_750))
        #expect(loaded.address.text == "https://found/a")
    }

    private static let monday = "Mon, 02 Mar 2026 10:00:00 GMT"
    private static let later = "Mon, 02 Mar 2026 10:00:01 GMT"

    @Test(
        arguments: [
            ([tag], 6, "3 \"v1\""), ([HeaderField("etag", "\"\"")], 6, "3 \"\""), ([HeaderField("ETag", "\"")], 6, "-"),
            ([HeaderField("ETag", "W/\"v1\"")], 6, "-"), ([HeaderField("ETag", "v1")], 6, "-"), ([], 6, "-"),
            ([tag], nil, "-"), ([tag, HeaderField("Accept-Ranges", "None")], 6, "-"),
            ([tag, HeaderField("Accept-Ranges", "bytes")], 6, "3 \"v1\""),
            ([tag, HeaderField("Content-Encoding", "gzip")], 6, "-"),
            ([HeaderField("Last-Modified", monday), HeaderField("Date", later)], 6, "3 \(monday)"),
            ([HeaderField("Last-Modified", monday), HeaderField("Date", monday)], 6, "-"),
            ([HeaderField("Last-Modified", monday)], 6, "-"), ([HeaderField("Date", later)], 6, "-"),
            ([HeaderField("Last-Modified", "monday"), HeaderField("Date", later)], 6, "-"),
            ([HeaderField("Last-Modified", monday), HeaderField("Date", "later")], 6, "-"),
            (
                [HeaderField("ETag", "W/\"v1\""), HeaderField("Last-Modified", monday), HeaderField("Date", later)], 6,
                "3 \(monday)"
            ),
        ] as [([HeaderField], Int64?, String)]
    )
    func bodyIsResumedOnlyWithAStrongValidatorAndAKnownLength(
        headers: [HeaderField],
        length: Int64?,
        resumption: String
    ) async throws {
        let goesOn = resumption != "-"
        let transport = PlannedTransport(
            [
                Response(headers: headers, length: length, parts: [.bytes(noise(3)), .fail(Self.lost)]),
                Response(
                    length: goesOn ? 3 : length,
                    parts: [.bytes(goesOn ? noise(3, from: 3) : noise(6))]
                ),
            ],
            time: time
        )
        #expect(try await load(transport, retries: 1).bytes == noise(6))
        #expect(transport.resumptions == ["-", resumption])
    }

    @Test func requestIsRestartedIfNoBytesWereReceived() async throws {
        let transport = PlannedTransport(
            [
                Response(headers: [Self.tag], length: 3, parts: [.fail(Self.lost)]),
                Response(length: 3, parts: [.bytes(noise(3))]),
            ],
            time: time
        )
        #expect(try await load(transport, retries: 1).bytes == noise(3))
        #expect(transport.resumptions == ["-", "-"])
    }

    @Test(arguments: [(262_144, "524288 \"v1\""), (262_143, "-")])
    func retryCountIsResetAfterEnoughProgress(progress: Int, third: String) async throws {
        let whole = progress * 2 + 1
        let cut = { (start: Int) in
            Response(
                headers: [Self.tag],
                length: Int64(whole - start),
                parts: [.bytes(self.noise(progress, from: start)), .fail(Self.lost)]
            )
        }
        let rest = third == "-" ? 0 : progress * 2
        let transport = PlannedTransport(
            [
                cut(0), cut(progress),
                Response(length: Int64(whole - rest), parts: [.bytes(noise(whole - rest, from: rest))]),
            ],
            time: time
        )
        #expect(try await load(transport, retries: 1).bytes == noise(whole))
        #expect(transport.resumptions == ["-", "\(progress) \"v1\"", third])
    }

    @Test func progressIsMeasuredFromTheLastFailure() async throws {
        let responses = [0, 100_000, 200_000].map { start in
            Response(
                headers: [Self.tag],
                length: Int64(400_000 - start),
                parts: [.bytes(noise(100_000, from: start)), .fail(Self.lost)]
            )
        }
        let transport = PlannedTransport(
            responses + [Response(length: 400_000, parts: [.bytes(noise(400_000))])],
            time: time
        )
        #expect(try await load(transport, retries: 2).bytes == noise(400_000))
        #expect(transport.resumptions == ["-", "100000 \"v1\"", "200000 \"v1\"", "-"])
    }

    @Test func changedResourceIsRestarted() async throws {
        let first = Response(headers: [Self.tag], length: 6, parts: [.bytes(noise(3)), .fail(Self.lost)])
        let whole = Response(length: 6, parts: [.bytes(noise(6))])
        let changed = Response(failure: TransportError(.contentChanged, "changed"))
        // If the remaining length differs, the resource has changed.
        for second in [changed, Response(status: 206, length: 4, parts: [.bytes(noise(4))]), Response(status: 206)] {
            let transport = PlannedTransport([first, second, whole], time: time)
            #expect(try await load(transport, retries: 3).bytes == noise(6))
            #expect(transport.resumptions == ["-", "3 \"v1\"", "-"])
        }
        let transport = PlannedTransport([first, Response(status: 206, length: 4)], time: time)
        var errors: [TransportError] = []
        _ = try? await loading(transport, retries: 1).send(
            TransportRequest(Self.address, kind: .segment),
            onRetry: { error, _ in errors.append(error) }
        ) { response in
            for try await _ in response.body {}
        }
        #expect(errors.map(\.code) == [.contentChanged] && errors.first?.status == 206)
        #expect(errors.first?.message == "the resource changed while it was being loaded")
        #expect(errors.first?.address?.text == "https://found/a")
    }

    // MARK: Length

    @Test func bodyWhoseLengthDiffersFromContentLengthIsAnError() async {
        func error(_ parts: Part..., headers: [HeaderField] = []) async -> TransportError? {
            let transport = PlannedTransport([Response(headers: headers, length: 6, parts: parts)], time: time)
            let error = await #expect(throws: TransportError.self) { _ = try await load(transport, retries: 0) }
            #expect(transport.requests.count == 1)
            return error
        }
        let short = await error(.bytes(noise(5)))
        #expect(short?.code == .connectionLost && short?.message == "the body ended after 5 of 6 bytes")
        #expect(short?.status == 200 && short?.address?.text == "https://found/a")
        let long = await error(.bytes(noise(6)), .bytes(noise(1)))
        #expect(long?.code == .wrongContent && long?.message == "the body is longer than the announced 6 bytes")
        #expect(long?.status == 200 && long?.address?.text == "https://found/a")
    }

    @Test func bodyThatIsTooLongIsRestartedInsteadOfResumed() async throws {
        let transport = PlannedTransport(
            [
                Response(headers: [Self.tag], length: 3, parts: [.bytes(noise(2)), .bytes(noise(2))]),
                Response(length: 3, parts: [.bytes(noise(3))]),
            ],
            time: time
        )
        #expect(try await load(transport, retries: 1).bytes == noise(3))
        #expect(transport.resumptions == ["-", "-"])
    }

    @Test func notModifiedResponseHasNoBody() async throws {
        let transport = PlannedTransport([Response(status: 304, length: 6)], time: time)
        #expect(try await load(transport, retries: 0).bytes == [])
    }

    @Test(
        arguments: [(Int64?.some(10), 10, true), (nil, 10, true), (11, 11, false), (nil, 11, false), (11, 0, false)]
            as [(Int64?, Int, Bool)]
    )
    func resourceLoadedIntoMemoryHasASizeLimit(length: Int64?, count: Int, isLoaded: Bool) async throws {
        let parts: [Part] = count < 5 ? [] : [.bytes(noise(5)), .bytes(noise(count - 5, from: 5))]
        let transport = PlannedTransport(
            [Response(headers: [HeaderField("content-type", "text/x")], length: length, parts: parts)],
            time: time
        )
        let request = TransportRequest(Self.address, kind: .playlist)
        let loading = loading(transport, retries: 0)
        if isLoaded {
            let loaded = try await loading.load(request, limit: ByteCount(10))
            #expect(loaded.bytes == noise(10) && loaded.contentType == "text/x")
        } else {
            let error = await #expect(throws: TransportError.self) {
                _ = try await loading.load(request, limit: ByteCount(10))
            }
            #expect(error?.code == .tooLarge && error?.message == "the resource exceeds the maximum size of 10 bytes")
            #expect(error?.address?.text == "https://found/a")
        }
        #expect(ResourceLoader.defaultSizeLimit == ByteCount(268_435_456))
    }

    @Test func failedAttemptsAreReportedWithTheTimeOfTheNextAttempt() async throws {
        let busy = TransportError(.status, "busy", status: 503)
        let transport = PlannedTransport(
            [Response(failure: busy), Response(failure: Self.lost), Response(length: 1, parts: [.bytes([7])])],
            time: time
        )
        var told: [String] = []
        let value = try await loading(transport, retries: 2).send(
            TransportRequest(Self.address, kind: .segment),
            onRetry: { error, next in told.append("\(error.code.rawValue) \(next)") }
        ) { response in
            var count = 0
            for try await buffer in response.body { count += buffer.readableBytes }
            return count
        }
        #expect(value == 1)
        #expect(
            told == [
                "http-status \(Duration.milliseconds(1_000_250))",
                "connection-lost \(Duration.milliseconds(1_000_750))",
            ]
        )
    }

    // MARK: Minimum throughput

    private static let pace = RecoveryPolicy.MinimumThroughput(interval: .seconds(10), byteCount: 1_000)

    @Test(
        arguments: [
            // At least 1,000 bytes in each window of 10 seconds.
            ([(10_000, 999)], "only 999 bytes were received in 10 seconds"), ([(10_000, 1_000)], nil),
            ([(9_999, 1)], nil),
            ([(6_000, 100), (4_000, 899)], "only 999 bytes were received in 10 seconds"),
            ([(6_000, 100), (4_000, 900)], nil),
            ([(10_000, 5_000), (10_000, 10)], "only 10 bytes were received in 10 seconds"),
            ([(10_000, 5_000), (9_000, 10), (900, 10)], nil),
            // After a long pause, the threshold scales with the elapsed time.
            ([(25_000, 2_499)], "only 2499 bytes were received in 25 seconds"), ([(25_000, 2_500)], nil),
        ] as [([(Int, Int)], String?)]
    )
    func bodyBelowTheMinimumThroughputTimesOut(pieces: [(Int, Int)], message: String?) async throws {
        let parts = pieces.flatMap { [Part.pause(.milliseconds($0.0)), .bytes(noise($0.1))] }
        let transport = PlannedTransport([Response(parts: parts)], time: time)
        guard let message else {
            let loaded = try await load(transport, retries: 0, pace: Self.pace)
            #expect(loaded.bytes.count == pieces.reduce(0) { $0 + $1.1 })
            return
        }
        let error = await #expect(throws: TransportError.self) {
            _ = try await load(transport, retries: 0, pace: Self.pace)
        }
        #expect(error?.code == .timedOut && error?.message == message && error?.status == 200)
    }

    @Test func lastBytesOfABodyMayBeSlow() async throws {
        let whole = PlannedTransport(
            [Response(length: 5, parts: [.pause(.seconds(10)), .bytes(noise(5))])],
            time: time
        )
        #expect(try await load(whole, retries: 0, pace: Self.pace).bytes.count == 5)
        let end = PlannedTransport(
            [Response(length: 8, parts: [.bytes(noise(3)), .pause(.seconds(10)), .bytes(noise(5))])],
            time: time
        )
        #expect(try await load(end, retries: 0, pace: Self.pace).bytes.count == 8)
        let middle = PlannedTransport(
            [Response(length: 9, parts: [.bytes(noise(3)), .pause(.seconds(10)), .bytes(noise(5)), .bytes(noise(1))])],
            time: time
        )
        await #expect(throws: TransportError.self) { _ = try await load(middle, retries: 0, pace: Self.pace) }
    }

    @Test func timeOfTheReaderDoesNotCountTowardsTheThroughput() async throws {
        let transport = PlannedTransport([Response(parts: (0..<5).map { .bytes(noise(1, from: $0)) })], time: time)
        let time = time
        let count = try await loading(transport, retries: 0, pace: Self.pace).send(
            TransportRequest(Self.address, kind: .segment)
        ) { response in
            var count = 0
            for try await buffer in response.body {
                count += buffer.readableBytes
                time.advance(by: .seconds(60))
            }
            return count
        }
        #expect(count == 5)
    }

    /// The bytes that arrived too slowly were not delivered, so they are requested again.
    @Test(arguments: [true, false]) func throughputOfAResumedBodyIsMeasuredAgain(isSlow: Bool) async throws {
        let end: [Part] = isSlow ? [.pause(.seconds(4)), .bytes(noise(100, from: 100))] : [.fail(Self.lost)]
        let transport = PlannedTransport(
            [
                Response(headers: [Self.tag], length: 600, parts: [.pause(.seconds(6)), .bytes(noise(100))] + end),
                Response(
                    status: 206,
                    length: 500,
                    parts: [.pause(.seconds(9)), .bytes(noise(400, from: 100)), .bytes(noise(100, from: 500))]
                ),
            ],
            time: time
        )
        let loaded = try await load(transport, retries: 1, pace: Self.pace)
        #expect(loaded.bytes == noise(600))
        #expect(transport.resumptions == ["-", "100 \"v1\""])
    }

    // MARK: HTML pages

    private func webPageError(_ text: [UInt8], _ kind: TransportRequest.Kind = .segment) async -> TransportError? {
        let transport = PlannedTransport([Response(parts: [.bytes(text)])], time: time)
        do {
            _ = try await load(transport, retries: 0, kind: kind)
            return nil
        } catch {
            return error as? TransportError
        }
    }

    @Test(arguments: [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF] as [UInt8])
    func whitespaceAndByteOrderMarkBeforeHTMLAreSkipped(byte: UInt8) async {
        #expect(await webPageError([byte] + Array("<HTML lang>".utf8)) != nil)
        #expect(await webPageError([byte] + Array("<!DOCTYPE HTML PUBLIC>".utf8)) != nil)
        #expect(await webPageError([byte] + Array("<!DOCTYPE svg>".utf8)) == nil)
        #expect(await webPageError([byte, 0x47] + Array("<html>".utf8)) == nil)
    }

    @Test func onlyTheFirst256BytesAreCheckedForHTML() async {
        let page = Array("<html>".utf8)
        #expect(await webPageError(Array(repeating: 0x20, count: 251) + page) != nil)
        #expect(await webPageError(Array(repeating: 0x20, count: 252) + page) == nil)
        #expect(await webPageError([]) == nil)
        // Only the first chunk of a body is checked.
        let transport = PlannedTransport([Response(parts: [.bytes([0x47]), .bytes(page)])], time: time)
        #expect((try? await load(transport, retries: 0).bytes) == [0x47] + page)
    }

    @Test(
        arguments: [
            (TransportRequest.Kind.segment, "the server sent a web page instead of media"),
            (.initialization, "the server sent a web page instead of media"),
            (.key, "the server sent a web page instead of a key"),
            (.subtitle, "the server sent a web page instead of subtitles"), (.playlist, nil), (.other, nil),
        ] as [(TransportRequest.Kind, String?)]
    )
    func htmlPageIsAnErrorForMediaKeysAndSubtitles(kind: TransportRequest.Kind, message: String?) async {
        let error = await webPageError(Array("<html>".utf8), kind)
        #expect(error?.message == message && error?.code == (message == nil ? nil : .wrongContent))
        #expect(
            TransportRequest.Kind.playlist.displayName == "a playlist"
                && TransportRequest.Kind.other.displayName == "media"
        )
    }
}

import MediaTiming
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the limits of loading: slow bodies, resumptions and lengths.
@Suite struct LoadingEdgeTests {
    private static let address = ResourceAddress("https://h/a")

    private let clock = CacheClock()

    // MARK: Slow bodies

    /// A part of a body, which arrives after some seconds.
    private struct Part {
        let seconds: Int
        let count: Int
    }

    /// Returns a response with parts, which times out below 1,000 bytes in an interval, or for a document after 60 seconds
    /// and a second for each 1,000 bytes.
    private func timed(
        _ parts: [Part],
        _ kind: TransportRequest.Kind = .segment,
        length: Int64? = nil,
        interval: Duration = .seconds(10)
    ) -> TransportResponse {
        let rest = Mutex(parts)
        let clock = clock
        let body = AsyncThrowingStream<ByteBuffer, any Error> {
            guard let part = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return nil }
            clock.advance(by: .seconds(part.seconds))
            return ByteBuffer(repeating: 7, count: part.count)
        }
        let request = TransportRequest(Self.address, kind: kind)
        let policy = RecoveryPolicy(
            minimumThroughput: RecoveryPolicy.MinimumThroughput(interval: interval, byteCount: 1_000),
            documentTimeLimit: RecoveryPolicy.DocumentTimeLimit(bytesPerSecond: 1_000)
        )
        return TransportResponse(to: request, expectedLength: length, body: TransportBody(body))
            .requiringThroughput(of: policy, for: request, clock)
    }

    /// Returns the sizes of the buffers of a body, or its error.
    private func sizes(_ response: TransportResponse) async throws -> Result<[Int], TransportError> {
        var sizes: [Int] = []
        do {
            for try await buffer in response.body { sizes.append(buffer.readableBytes) }
            return .success(sizes)
        } catch let error as TransportError {
            return .failure(error)
        }
    }

    @Test func buffersWithoutBytesAreNotDelivered() async throws {
        let parts = [0, 2, 0, 0, 1, 0].map { Part(seconds: 0, count: $0) }
        let result = try await sizes(timed(parts))
        #expect(try result.get() == [2, 1])
    }

    @Test(
        arguments: [
            ([10], [1_000], nil, nil), ([10], [999], nil, "only 999 bytes were received in 10 seconds"),
            ([9, 1], [0, 1_000], nil, nil), ([9, 1], [0, 999], nil, "only 999 bytes were received in 10 seconds"),
            ([10], [5], 5, nil), ([10], [5], 6, "only 5 bytes were received in 10 seconds"),
            ([0, 10], [3, 5], 8, nil),
        ] as [([Int], [Int], Int64?, String?)]
    )
    func slowBodyTimesOut(seconds: [Int], counts: [Int], length: Int64?, message: String?) async throws {
        let parts = zip(seconds, counts).map { Part(seconds: $0.0, count: $0.1) }
        switch try await sizes(timed(parts, length: length)) {
        case .success(let sizes): #expect(message == nil && sizes == counts.filter { $0 > 0 })
        case .failure(let error):
            #expect(error.message == message && error.code == .timedOut && error.status == 200)
            #expect(error.address == Self.address && !error.exceedsDocumentTime)
        }
    }

    @Test(arguments: [(1_999, false), (2_000, true)])
    func slowDocumentTimesOut(count: Int, isLoaded: Bool) async throws {
        let parts = [Part(seconds: 62, count: count)]
        switch try await sizes(timed(parts, .playlist, interval: .seconds(3_600))) {
        case .success(let sizes): #expect(isLoaded && sizes == [count])
        case .failure(let error):
            #expect(!isLoaded && error.message == "only \(count) bytes were received in 62 seconds")
            #expect(error.code == .timedOut && error.exceedsDocumentTime && error.status == 200)
        }
        // A media file has no such limit.
        let response = timed(parts, .playlist, interval: .seconds(3_600))
        response.endDocumentTimeLimit()
        let media = try await sizes(response)
        #expect(try media.get() == [count])
    }

    @Test(
        arguments: [
            (0, 0, false), (5, 0, false), (6, 0, true), (6, 999, true), (6, 1_000, false), (6, 1_001, false),
            (7, 1_999, true), (7, 2_000, false), (1, 1_000, false),
        ] as [(Int, Int64, Bool)]
    )
    func documentHasTimeForItsBytes(seconds: Int, count: Int64, isExceeded: Bool) {
        let limit = RecoveryPolicy.DocumentTimeLimit(duration: .seconds(5), bytesPerSecond: 1_000)
        #expect(limit.isExceeded(by: .seconds(seconds), after: count) == isExceeded)
    }

    // MARK: Resumptions

    @Test(arguments: [
        (TransportError.Code.contentChanged, 1, 3), (.wrongContent, 1, 3), (.connectionLost, 3, 3), (.tooLarge, 1, 1),
    ])
    func resumptionThatIsNotPossibleIsNotRepeated(code: TransportError.Code, resumed: Int, whole: Int) async throws {
        for (offset, count) in [(Int64?.some(1), resumed), (nil, whole)] {
            let script = ScriptedTransport([Self.address.text: [.failure(TransportError(code, "no"))]])
            let loader = ResourceLoader(script, policy: RecoveryPolicy(retries: 2), time: clock, jitter: { 1 })
            var request = TransportRequest(Self.address, kind: .segment)
            request.resumption = offset.map { .init(offset: $0, validator: "\"1\"") }
            let sent = request
            let error = await #expect(throws: TransportError.self) { try await loader.load(sent) }
            #expect(error?.code == code && script.requests.count == count)
        }
    }

    @Test(
        arguments: [
            (200, nil, nil, nil, 10, 10), (200, nil, nil, nil, nil, nil), (206, nil, nil, nil, 10, nil),
            (206, nil, nil, 4, 6, 10), (206, nil, nil, 0, 6, nil), (200, nil, 6, nil, 6, nil),
            (206, "bytes 2-7/10", 6, nil, 6, 10), (206, "bytes 2-7/*", 6, nil, 6, nil),
            (206, "bytes 4-9/10", nil, 4, nil, 10),
        ] as [(Int, String?, Int64?, Int64?, Int64?, Int64?)]
    )
    func lengthOfAResourceIsThatOfAllItsBytes(
        status: Int,
        contentRange: String?,
        rangeLength: Int64?,
        offset: Int64?,
        length: Int64?,
        total: Int64?
    ) {
        var request = TransportRequest(
            Self.address,
            kind: .segment,
            byteRange: rangeLength.flatMap { ByteRange(start: 2, length: $0) }
        )
        request.resumption = offset.map { .init(offset: $0, validator: "\"1\"") }
        let response = TransportResponse(
            status: status,
            headers: contentRange.map { [HeaderField("Content-Range", $0)] } ?? [],
            address: Self.address,
            expectedLength: length,
            body: TransportBody([])
        )
        #expect(response.totalLength(of: request) == total)
    }
}

import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests of the limits of simulated faults, and of their effects without a network.
@Suite struct FaultBoundaryTests {
    @Test(
        arguments: [
            ("status=399", false), ("status=400", true), ("status=599", true), ("delay=300", true), ("rate=7", false),
            ("rate=8", true), ("requests=1&page", true), ("requests=1...1&page", true), ("truncate=0", true),
            ("body=&page", false), ("page&status=500", false), ("truncate=1&reset=1", false),
            ("truncate=1&page", true),
        ] as [(String, Bool)]
    )
    func valuesHaveLimits(text: String, isValid: Bool) {
        #expect((ResponseFault(text) != nil) == isValid)
    }

    @Test(arguments: [("path=", "&page", 1_024), ("body=", "", 4_091)])
    func textsHaveAMaximumLength(before: String, after: String, maximum: Int) {
        #expect(ResponseFault(before + String(repeating: "a", count: maximum) + after) != nil)
        #expect(ResponseFault(before + String(repeating: "a", count: maximum + 1) + after) == nil)
    }

    @Test(
        arguments: [
            ("/a.ts", nil, "/a.ts"), ("/play.m3u8", "duration=4", "/play.m3u8"),
            ("/play.m3u8", "url=https://h:8080/v/a.m3u8%3Fx=1&duration=4", "/v/a.m3u8"),
            ("/play.m3u8", "url=https://h/v/a.m3u8%23x", "/v/a.m3u8"), ("/play.m3u8", "url=https://h", "/"),
            ("/play.m3u8", "url=a/b", "a/b"),
        ] as [(String, String?, String)]
    )
    func faultsConcernThePathsOfSources(path: String, query: String?, expected: String) {
        #expect(FaultInjection.path(of: path, query) == expected)
    }

    @Test func settingsAreReplacedAsAWhole() throws {
        let settings = FaultSettings([])
        #expect(settings.isEmpty && settings.emptyRevision == 0)
        try settings.replace(with: ["path=/a&requests=2&status=404"])
        #expect(!settings.isEmpty && settings.emptyRevision == nil)
        #expect(settings.fault(forRequestOf: "/a") == nil && settings.fault(forRequestOf: "/a") != nil)
        // The requests are counted anew.
        try settings.replace(with: ["path=/a&requests=2&status=404"])
        #expect(settings.fault(forRequestOf: "/a") == nil && settings.fault(forRequestOf: "/b") == nil)
        try settings.replace(with: [])
        #expect(settings.isEmpty && settings.emptyRevision == 3)
        try settings.replace(with: [String](repeating: "status=500", count: 32))
        for (texts, code) in [
            ([String](repeating: "status=500", count: 33), "too-many-faults"), (["status=500", "x"], "invalid-fault"),
        ] {
            let error = #expect(throws: ServerError.self) { try settings.replace(with: texts) }
            #expect(error?.status == .badRequest && error?.code == code)
        }
        #expect(settings.report.json.hasPrefix(#"{"faults":["status=500","#), "a refused change has no effect")
    }

    @Test func requestsOfManyPathsAreCounted() {
        let counter = RequestCounter()
        #expect([counter.count("a"), counter.count("a"), counter.count("b")] == [1, 2, 1])
        for number in 0..<99_998 { _ = counter.count("\(number)") }
        #expect(counter.count("a") == 3)
        // With one more path, all are forgotten.
        #expect(counter.count("c") == 1 && counter.count("a") == 1)
    }

    // MARK: Responses

    /// The response as a client receives it: the bytes in the pieces in which they are sent, and the milliseconds that have passed.
    private struct Received: Equatable {
        var status = 200
        var pieces: [String] = []
        var headTime = 0
        var time = 0
        var failure: TransportError.Code?
    }

    private func milliseconds(_ time: ManualTime) -> Int { Int((time.now / .milliseconds(1)).rounded()) }

    private func response(_ fault: String, body: String = "0123456789abcdefghijklmno") async throws -> Received {
        let time = ManualTime()
        let injection = FaultInjection(FaultSettings([try #require(ResponseFault(fault))], time: time))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let context = ServerRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        )
        let response = try await injection.response(toRequestOf: "/a.ts", context) {
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: body)))
        }
        var received = Received(status: Int(response.status.code), headTime: milliseconds(time))
        let (recorded, error) = await response.body.recordedWithError()
        var text = recorded.text[...]
        for size in recorded.chunkSizes {
            received.pieces.append(String(text.prefix(size)).replacing("\0", with: "-"))
            text = text.dropFirst(size)
        }
        received.time = milliseconds(time)
        received.failure = (error as? TransportError)?.code
        #expect(recorded.isFinished == (error == nil))
        return received
    }

    @Test func bodyIsSentWithTheBitRate() async throws {
        // Twenty times a second: 10 bytes of 1600 bit/s.
        #expect(
            try await response("rate=1600")
                == Received(pieces: ["0123456789", "abcdefghij", "klmno"], time: 125)
        )
        #expect(try await response("rate=8", body: "012") == Received(pieces: ["0", "1", "2"], time: 3_000))
    }

    @Test func bodyEndsWhereTheFaultSays() async throws {
        let whole = "0123456789abcdefghijklmno"
        #expect(try await response("truncate=26") == Received(pieces: [whole]))
        #expect(try await response("truncate=4") == Received(pieces: ["0123"], failure: .connectionLost))
        #expect(try await response("truncate=25") == Received(pieces: [whole], failure: .connectionLost))
        #expect(
            try await response("stall=4")
                == Received(pieces: ["0123"], time: 300_000, failure: .connectionLost)
        )
        #expect(
            try await response("rate=1600&truncate=12")
                == Received(pieces: ["0123456789", "ab"], time: 60, failure: .connectionLost)
        )
    }

    @Test func bytesAfterAPositionAreDamaged() async throws {
        #expect(try await response("corrupt=4", body: "0123456789") == Received(pieces: ["0123------"]))
        #expect(try await response("corrupt=10", body: "0123456789") == Received(pieces: ["0123456789"]))
        #expect(try await response("corrupt=0", body: "012") == Received(pieces: ["---"]))
        #expect(
            try await response("rate=1600&corrupt=12")
                == Received(pieces: ["0123456789", "ab--------", "-----"], time: 125)
        )
    }

    @Test func delayIsBeforeTheResponse() async throws {
        let delayed = try await response("delay=2.5&rate=80", body: "01")
        #expect(delayed.headTime == 2_500 && delayed.time == 2_700)
        let replaced = try await response("delay=1&body=x&truncate=1")
        #expect(replaced == Received(pieces: ["x"], headTime: 1_000, time: 1_000, failure: .connectionLost))
        #expect(try await response("status=418").status == 418)
        #expect(try await response("path=/b.ts&status=418").status == 200)
    }
}

/// Tests of faults in the keys of large sizes.
@Suite struct LargeKeyFaultTests {
    private struct Origin: Transport {
        let size: Int

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(
                to: request,
                expectedLength: Int64(size),
                body: TransportBody([UInt8](repeating: 7, count: size))
            )
        }
    }

    @Test(arguments: [(4_096, nil), (4_097, .tooLarge)] as [(Int, TransportError.Code?)])
    func keyThatIsDamagedHasALimit(size: Int, code: TransportError.Code?) async throws {
        let settings = FaultSettings([try #require(ResponseFault("corrupt=1"))])
        let transport = KeyFaultTransport(base: Origin(size: size), settings: settings, path: { $0.path })
        let request = TransportRequest(ResourceAddress("https://h/k"), kind: .key)
        var found: TransportError.Code?
        do {
            #expect(try await transport.send(request).expectedLength == Int64(size))
        } catch let error as TransportError {
            found = error.code
        }
        #expect(found == code)
    }
}

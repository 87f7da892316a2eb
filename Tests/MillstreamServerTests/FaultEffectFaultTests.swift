import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests of simulated faults at the ends of bodies, and of the messages about faults.
@Suite struct FaultEffectFaultTests {
    private let time = ManualTime()

    private func settings(_ faults: String...) throws -> FaultSettings {
        FaultSettings(try faults.map { try #require(ResponseFault($0)) }, time: time)
    }

    private func context() -> ServerRequestContext {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerRequestContext(source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger))
    }

    /// Returns the body that a client receives, and the code of the error that ends it.
    private func body(_ fault: String, _ pieces: [String]) async throws -> (text: String, code: TransportError.Code?) {
        let response = try await FaultInjection(settings(fault)).response(toRequestOf: "/a.ts", context()) {
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    for piece in pieces { try await writer.write(ByteBuffer(string: piece)) }
                    try await writer.finish(nil)
                }
            )
        }
        let (recorded, error) = await response.body.recordedWithError()
        return (recorded.text.replacing("\0", with: "-"), (error as? TransportError)?.code)
    }

    @Test(
        arguments: [
            // A body without bytes ends early as well.
            ("truncate=0", [], "", .connectionLost), ("truncate=1", [], "", nil), ("stall=0", [], "", .connectionLost),
            // The position is that in the whole body.
            ("truncate=3", ["ab", "cd", "ef"], "abc", .connectionLost),
            ("truncate=4", ["ab", "cd", "ef"], "abcd", .connectionLost),
            ("truncate=6", ["ab", "cd", "ef"], "abcdef", .connectionLost),
            ("truncate=7", ["ab", "cd", "ef"], "abcdef", nil),
            ("corrupt=3", ["ab", "cd", "ef"], "abc---", nil), ("corrupt=4", ["ab", "cd", "ef"], "abcd--", nil),
            ("corrupt=2&truncate=5", ["ab", "cd", "ef"], "ab---", .connectionLost),
        ] as [(String, [String], String, TransportError.Code?)]
    )
    func positionIsThatInTheWholeBody(
        fault: String,
        pieces: [String],
        text: String,
        code: TransportError.Code?
    ) async throws {
        let received = try await body(fault, pieces)
        #expect(received.text == text && received.code == code, "\(received)")
    }

    @Test func stalledConnectionEndsAfterFiveMinutes() async throws {
        _ = try await body("stall=1", ["ab"])
        #expect(time.now == .seconds(300))
        // The bytes before the end take the time that the rate requires.
        _ = try await body("rate=16&stall=4", ["ab", "cd"])
        #expect(time.now == .seconds(602))
    }

    @Test func messageAboutAFaultIsShort() {
        let long = String(repeating: "a", count: 400)
        for (text, shown) in [("x", "x"), (long, long), (long + "b", long)] {
            let sentence = ResponseFault.InvalidFault(text).sentence(about: text)
            #expect(sentence == "\"\(shown)\" is not valid: \(shown)")
        }
    }

    @Test func firstFaultThatConcernsARequestApplies() throws {
        let settings = try settings(
            "path=/a&requests=2&status=501",
            "path=/a&requests=3...&status=502",
            "path=/b&status=503"
        )
        func status(_ path: String) -> Int? {
            guard case .status(let code)? = settings.fault(forRequestOf: path)?.replacement else { return nil }
            return code
        }
        #expect([status("/a"), status("/a"), status("/b"), status("/a")] == [nil, 501, 503, 502])
        // The number of the segment must be known.
        let numbered = try self.settings("sequence=7&status=404")
        let found = [numbered.fault(forRequestOf: "/a", sequence: 7), numbered.fault(forRequestOf: "/a", sequence: 8)]
        #expect(found.map { $0 != nil } == [true, false])
        let unknown = numbered.fault(forRequestOf: "/a")
        #expect(unknown == nil && numbered.selectsSequences && !settings.selectsSequences)
    }

    // MARK: Keys

    /// An origin that sends a key of 16 bytes.
    private struct Origin: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let key = Array("0123456789abcdef".utf8)
            return TransportResponse(to: request, expectedLength: Int64(key.count), body: TransportBody(key))
        }
    }

    @Test(
        arguments: [
            ("truncate=16", "connection-lost", 0), ("truncate=17", "0123456789abcdef", 0),
            ("stall=16", "connection-lost", 300), ("stall=17", "0123456789abcdef", 0),
            ("corrupt=15", "0123456789abcde-", 0), ("corrupt=16", "0123456789abcdef", 0),
            ("corrupt=0", "----------------", 0), ("rate=64&corrupt=8", "01234567--------", 2),
            ("delay=1&rate=128&body=xy", "xy", 1.125),
        ] as [(String, String, Double)]
    )
    func keysHaveTheFaultsOfOtherBodies(fault: String, expected: String, seconds: Double) async throws {
        let transport = KeyFaultTransport(base: Origin(), settings: try settings(fault), path: { $0.path })
        var received = ""
        do {
            let response = try await transport.send(TransportRequest(ResourceAddress("https://h/k"), kind: .key))
            #expect(response.status == 200)
            for try await buffer in response.body { received += String(buffer: buffer) }
        } catch let error as TransportError {
            received = error.code.rawValue
        }
        #expect(received.replacing("\0", with: "-") == expected)
        #expect(time.now == .seconds(seconds))
    }
}

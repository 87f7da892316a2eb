import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the explanations in the bodies of error responses.
@Suite(.timeLimit(.minutes(10))) struct ErrorExplanationTests {
    private static let report = #"{"error":{"code":"invalid-value","message":" start must be a time ","hint":"see"}}"#

    /// Loads a resource for which the server responds with an error.
    private func failure(_ contentType: String, _ body: String, status: Int = 400) async throws -> TransportError? {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            server.behave("/a", .status(status, headers: ["Content-Type": contentType], body: Array(body.utf8)))
            let transport = HTTPTransport()
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .playlist)
            let error = await #expect(throws: TransportError.self) {
                _ = try await ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)).load(request)
            }
            try await transport.shutdown()
            return error
        }
    }

    @Test(arguments: [400, 404, 503], ["application/json", "Application/JSON; charset=utf-8"])
    func explanationOfTheServerIsKept(status: Int, contentType: String) async throws {
        let error = try await failure(contentType, Self.report, status: status)
        #expect(error?.status == status && error?.explanation == "start must be a time")
        // The message has only what this package says.
        #expect(error?.message.contains("start") == false, "\(error?.message ?? "none")")
    }

    @Test(
        arguments: [
            ("text/html", report), ("application/json", ""), ("application/json", #"{"error":"text"}"#),
            ("application/json", #"{"error":{"code":"a","message":" "}}"#), ("application/json", "[1,2]"),
            ("application/json", report + String(repeating: " ", count: 4 << 10)), ("", report),
        ]
    )
    func otherBodiesExplainNothing(contentType: String, body: String) async throws {
        let error = try await failure(contentType, body)
        #expect(error?.code == .status && error?.status == 400 && error?.explanation == nil)
    }

    @Test(arguments: [(4_096, true), (4_097, false)])
    func bodyOfUpTo4KiBIsRead(count: Int, isRead: Bool) async throws {
        let body = Self.report + String(repeating: " ", count: count - Self.report.utf8.count)
        let error = try await failure("application/json", body)
        #expect(error?.status == 400 && error?.explanation == (isRead ? "start must be a time" : nil))
    }

    /// A clock on which no time passes.
    private struct StoppedTime: TimeSource {
        var now: Duration { .zero }

        func sleep(for duration: Duration) async throws {
            await Broadcast().wait(after: 0)
            try Task.checkCancellation()
        }
    }

    @Test func bodyThatArrivesLaterIsAwaited() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let status = MisbehavingServer.Behavior.status(
                400,
                headers: ["Content-Type": "application/json"],
                body: Array(Self.report.utf8)
            )
            server.behave("/a", [status, .trickle(every: .milliseconds(2))])
            let transport = HTTPTransport(time: StoppedTime())
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .playlist)
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            try await transport.shutdown()
            #expect(error?.status == 400 && error?.explanation == "start must be a time")
        }
    }

    /// The error is reported although the body never ends.
    @Test func endlessBodyIsNotAwaited() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let busy = MisbehavingServer.Behavior.status(400, headers: ["Content-Type": "application/json"])
            server.behave("/a", [busy, .endlessBody])
            let transport = HTTPTransport()
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .playlist)
            let error = await #expect(throws: TransportError.self) {
                _ = try await ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)).load(request)
            }
            try await transport.shutdown()
            #expect(error?.status == 400 && error?.explanation == nil)
        }
    }
}

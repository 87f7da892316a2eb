import MediaTiming
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// Tests the time limits of documents, of the application and of programs.
@Suite(.timeLimit(.minutes(10))) struct LoadingFaultTests {
    private static let address = ResourceAddress("https://h/a")

    /// The time at which an operation ended.
    private final class EndTime: Sendable {
        private let state = Mutex<Duration?>(nil)

        var value: Duration? { state.withLock { $0 } }

        func set(_ time: Duration) { state.withLock { $0 = time } }
    }

    @Test func callThatTakesTooLongIsCanceled() async throws {
        let time = Simulation()
        let end = EndTime()
        try await time.run {
            let error = await #expect(throws: TransportError.self) {
                try await ApplicationCall.result(within: .seconds(5), time, of: Self.address, "answered") {
                    defer { end.set(time.now) }
                    try await time.sleep(for: .seconds(100))
                }
            }
            #expect(error?.code == .timedOut && error?.address == Self.address)
            #expect(error?.message == "the application has not answered within 5.0 seconds")
            try await time.sleep(for: .seconds(200))
        }
        #expect(end.value == .seconds(5))
    }

    @Test func callWithoutATimeLimitMayTakeLong() async throws {
        let time = Simulation()
        let number = try await time.run {
            try await ApplicationCall.result(within: nil, time, of: nil, "answered") { () -> Int in
                try await time.sleep(for: .seconds(86_400))
                return 7
            }
        }
        #expect(number == 7)
    }

    @Test func timerOfADocumentCountsAllAttempts() throws {
        let limit = RecoveryPolicy.DocumentTimeLimit(duration: .seconds(10), bytesPerSecond: 100)
        let timer = try #require(DocumentTimer(TransportRequest(Self.address, kind: .key), limit: limit))
        timer.beginAttempt()
        #expect(timer.excess(adding: 100, after: .seconds(11), isEnd: false) == nil)
        #expect(timer.excess(adding: 0, after: .seconds(1), isEnd: true) == nil)
        let first = "only 105 bytes were received in 12 seconds"
        #expect(timer.excess(adding: 5, after: .zero, isEnd: false) == first)
        timer.beginAttempt()
        let second = "only 7 bytes were received in the last attempt, and all attempts took 13 seconds"
        #expect(timer.excess(adding: 7, after: .seconds(1), isEnd: false) == second)
        // The bytes of all attempts count.
        #expect(timer.excess(adding: 188, after: .zero, isEnd: false) == nil)
        #expect(timer.excess(adding: 0, after: .seconds(1), isEnd: false) != nil)
        timer.end()
        #expect(timer.excess(adding: 0, after: .seconds(1), isEnd: false) == nil)
    }

    #if os(Linux) || os(macOS)
    @Test(arguments: [
        (["sh", "-c", "exit 3"], "the program sh for tokens ended with the status 3"),
        (["sh", "-c", "exit 255"], "the program sh for tokens ended with the status 255"),
        (["sh", "-c", "kill -9 $$"], "the program sh for tokens ended with the status -9"),
        (["true"], "the response with the token is empty"),
        (
            ["millstream-missing-program"],
            "the program millstream-missing-program for tokens cannot be started (No such file or directory)"
        ),
    ])
    func failureOfAProgramIsDescribed(command: [String], message: String) async throws {
        let error = await #expect(throws: TransportError.self) {
            _ = try await ProgramTokenSource(command).token(for: Self.address)
        }
        #expect(error?.code == .tokenUnavailable && error?.address == Self.address)
        #expect(error?.message == message)
    }

    @Test func programThatExceedsItsTimeIsDescribed() async throws {
        let source = ProgramTokenSource(["sh", "-c", "exec sleep 1000"], timeLimit: .zero)
        let error = await #expect(throws: TransportError.self) { _ = try await source.token(for: Self.address) }
        #expect(error?.message == "the program sh for tokens did not end within 0.0 seconds")
    }
    #endif
}

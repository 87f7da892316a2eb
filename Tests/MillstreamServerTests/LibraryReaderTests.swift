import HTTPTypes
import Hummingbird
import ReportFormat
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests that reports about the library are made one at a time, for all clients that wait for them.
@Suite(.timeLimit(.minutes(10))) struct LibraryReaderTests {
    /// The reports that have begun, which do not end before they are opened.
    private final class Reports: Sendable {
        private let state = Mutex((begun: 0, isOpen: false))

        var begun: Int { state.withLock { $0.begun } }
        var isOpen: Bool { state.withLock { $0.isOpen } }

        /// Counts a report, and returns its number, from 1.
        func begin() -> Int {
            state.withLock { state in
                state.begun += 1
                return state.begun
            }
        }

        func open() { state.withLock { $0.isOpen = true } }
    }

    /// Runs a test with a reader, and a request that is answered with the number of its report.
    private func reading(
        _ limits: ServerLimits = ServerLimits(),
        _ test: (LibraryReader, ServerCapacity, Reports, @escaping @Sendable () async throws -> String) async throws ->
            Void
    ) async throws {
        let thread = EditWorkers(threads: 1)
        let capacity = ServerCapacity(limits)
        let reader = LibraryReader(capacity, thread: thread)
        let reports = Reports()
        do {
            try await test(reader, capacity, reports) {
                let response = try await reader.response(with: .assets) { check in
                    let number = reports.begin()
                    while !reports.isOpen { try check() }
                    return .integer(number)
                }
                return try await response.body.recorded().text
            }
        } catch {
            reports.open()
            try await thread.shutdown()
            throw error
        }
        try await thread.shutdown()
    }

    /// Waits until a condition holds.
    private func wait(until condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func clientsShareTheReportThatBeginsAfterTheirRequests() async throws {
        try await reading { reader, capacity, reports, ask in
            let first = Task { try await ask() }
            try await wait { reports.begun == 1 }
            let others = (0..<12).map { _ in Task { try await ask() } }
            try await wait { reader.waiterCount == 13 }
            #expect(reports.begun == 1 && capacity.pendingRequests == 13)
            reports.open()
            #expect(try await first.value == "1")
            for other in others { #expect(try await other.value == "2") }
            #expect(try await ask() == "3", "a later request has a later state")
            try await wait { capacity.pendingRequests == 0 && capacity.pendingBytes == 0 }
        }
    }

    @Test func clientsBeyondTheCapacityAreRefused() async throws {
        try await reading(ServerLimits(pendingEdits: 2)) { reader, _, reports, ask in
            let first = Task { try await ask() }
            try await wait { reports.begun == 1 }
            let second = Task { try await ask() }
            try await wait { reader.waiterCount == 2 }
            let refusal = await #expect(throws: ServerError.self) { try await ask() }
            #expect(refusal?.status == .serviceUnavailable)
            reports.open()
            #expect(try await first.value == "1")
            #expect(try await second.value == "2")
        }
    }

    @Test func reportEndsWithTheLastClientThatWaits() async throws {
        try await reading { _, capacity, reports, ask in
            let presence = ClientPresence()
            let request = Task { try await ClientPresence.$current.withValue(presence) { try await ask() } }
            try await wait { reports.begun == 1 }
            presence.markDisconnected()
            await #expect(throws: CancellationError.self) { try await request.value }
            try await wait { capacity.pendingRequests == 0 }
            reports.open()
            #expect(try await ask() == "2", "the thread is free again")
        }
    }

    @Test func reportsAreWithinTheCapacityOfTheServer() async throws {
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(pendingEdits: 0)
        } _: { (stage: ServerStage) async throws in
            for path in ["/api/library", "/api/storage", "/api/storage?need=1"] {
                let refused = try await stage.ask(path)
                #expect(refused.status == 503 && refused.errorCode == "busy", "\(path): \(refused.body)")
            }
            for path in ["/health", "/api/streams"] { #expect(try await stage.ask(path).status == 200, "\(path)") }
        }
    }
}

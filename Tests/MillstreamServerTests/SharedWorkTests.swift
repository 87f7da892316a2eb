import HTTPTypes
import MediaTiming
import MediaTransport
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests that work which several clients wait for is done once, and only while one of them waits.
@Suite struct SharedWorkTests {
    private struct Lost: Error {}

    /// The number of times that the work has begun and ended.
    private final class Record: Sendable {
        private let counts = Mutex((begun: 0, ended: 0, isOpen: false))

        var begun: Int { counts.withLock { $0.begun } }
        var ended: Int { counts.withLock { $0.ended } }
        var isOpen: Bool { counts.withLock { $0.isOpen } }

        func begin() { counts.withLock { $0.begun += 1 } }
        func end() { counts.withLock { $0.ended += 1 } }
        func open() { counts.withLock { $0.isOpen = true } }
    }

    /// Waits until a condition holds.
    private func wait(until condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test(.timeLimit(.minutes(10))) func workIsDoneOnceForAllThatWait() async throws {
        let work = SharedWork<String, Int>(maximumCount: 4)
        let record = Record()
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    try await work.value(for: "a") {
                        record.begin()
                        while !record.isOpen { try await Task.sleep(for: .milliseconds(5)) }
                        return 7
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            record.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 7, count: 10) && record.begun == 1)
        // Results and errors are not kept.
        #expect(try await work.value(for: "a") { 8 } == 8)
        await #expect(throws: Lost.self) { try await work.value(for: "a") { throw Lost() } }
        #expect(try await work.value(for: "a") { 9 } == 9)
    }

    @Test(.timeLimit(.minutes(10))) func workEndsWithTheLastThatWaits() async throws {
        let work = SharedWork<String, Int>(maximumCount: 4)
        let record = Record()
        let body: @Sendable () async throws -> Int = {
            record.begin()
            defer { record.end() }
            try await Task.sleep(for: .seconds(600))
            return 1
        }
        let clients = (0..<2).map { _ in Task { try await work.value(for: "a", body) } }
        try await wait { record.begun == 1 }
        try await Task.sleep(for: .milliseconds(50))
        clients[0].cancel()
        try await Task.sleep(for: .milliseconds(100))
        #expect(record.ended == 0, "another client waits")
        clients[1].cancel()
        for client in clients { await #expect(throws: CancellationError.self) { try await client.value } }
        #expect(record.begun == 1 && record.ended == 1)
    }

    /// Work that fails because its first client has no capacity left is begun again by the others.
    @Test(.timeLimit(.minutes(10))) func anotherClientBeginsTheWorkAgain() async throws {
        let work = SharedWork<String, Int>(maximumCount: 4)
        let record = Record()
        let busy = RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, 1])), isForeign: false)
        let body: @Sendable () async throws -> Int = {
            guard RequestingClient.current == busy else { return 7 }
            record.begin()
            while !record.isOpen { try await Task.sleep(for: .milliseconds(5)) }
            throw ServerError.clientIsBusy
        }
        let first = Task {
            try await RequestingClient.$current.withValue(busy) { try await work.value(for: "a", body) }
        }
        try await wait { record.begun == 1 }
        let others = (0..<3).map { _ in Task { try await work.value(for: "a", body) } }
        try await wait { work.waiterCount == 4 }
        record.open()
        for other in others { #expect(try await other.value == 7) }
        await #expect { try await first.value } throws: { ($0 as? ServerError)?.status == .tooManyRequests }
        #expect(record.begun == 1 && work.waiterCount == 0)
    }

    @Test(.timeLimit(.minutes(10))) func aClientHasAShareOfTheWork() async throws {
        let work = SharedWork<Int, Int>(maximumCount: 8, minimumShare: 1)
        let record = Record()
        let clients = (1...2).map { number in
            RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, UInt8(number)])), isForeign: false)
        }
        let tasks = (0..<2).map { number in
            Task {
                try await RequestingClient.$current.withValue(clients[0]) {
                    try await work.value(for: number) {
                        record.begin()
                        while !record.isOpen { try await Task.sleep(for: .milliseconds(5)) }
                        return number
                    }
                }
            }
        }
        try await wait { record.begun == 2 }
        await #expect {
            try await RequestingClient.$current.withValue(clients[0]) { try await work.value(for: 2) { 2 } }
        } throws: {
            ($0 as? ServerError)?.status == .tooManyRequests
        }
        #expect(try await RequestingClient.$current.withValue(clients[1]) { try await work.value(for: 2) { 2 } } == 2)
        record.open()
        for task in tasks { _ = try await task.value }
        #expect(try await RequestingClient.$current.withValue(clients[0]) { try await work.value(for: 2) { 2 } } == 2)
    }

    @Test(.timeLimit(.minutes(10))) func amountOfWorkIsLimited() async throws {
        let work = SharedWork<Int, Int>(maximumCount: 1)
        let record = Record()
        let first = Task {
            try await work.value(for: 1) {
                record.begin()
                try await Task.sleep(for: .seconds(600))
                return 1
            }
        }
        try await wait { record.begun == 1 }
        await #expect { try await work.value(for: 2) { 2 } } throws: {
            ($0 as? ServerError)?.status == .serviceUnavailable
        }
        first.cancel()
        _ = try? await first.value
        #expect(try await work.value(for: 2) { 2 } == 2)
    }
}

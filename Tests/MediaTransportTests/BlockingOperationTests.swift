import Dispatch
import MediaTransport
import Testing

/// Tests operations that block their thread.
@Suite(.timeLimit(.minutes(10))) struct BlockingOperationTests {
    private struct Failure: Error {}

    @Test func resultAndErrorAreThoseOfTheOperation() async throws {
        let result = try await BlockingOperation.runUntilCanceled { 7 }
        #expect(result == 7)
        await #expect(throws: Failure.self) {
            try await BlockingOperation.runUntilCanceled { () throws -> Int in throw Failure() }
        }
    }

    @Test func canceledTaskDoesNotWaitForTheOperation() async {
        let gate = DispatchSemaphore(value: 0)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await BlockingOperation.runUntilCanceled {
                start.yield()
                gate.wait()
            }
        }
        for await _ in starts { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.signal()
    }

    @Test func operationOfACanceledTaskDoesNotBegin() async {
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await BlockingOperation.runUntilCanceled { _ = start.yield() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        start.finish()
        var count = 0
        for await _ in starts { count += 1 }
        #expect(count == 0)
    }
}

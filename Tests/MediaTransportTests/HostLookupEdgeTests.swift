import Dispatch
import MediaTiming
import MediaTransport
import MillstreamTesting
import Testing

/// Tests the limits of host names, and requests that are canceled before they wait.
@Suite(.timeLimit(.minutes(10))) struct HostLookupEdgeTests {
    private static let addresses = HostAddress([192, 0, 2, 1]).map { [$0] } ?? []

    @Test func nameOf254BytesIsLookedUp() async throws {
        let queue = HostLookupQueue { _ in Self.addresses }
        let name = String(repeating: "a", count: 254)
        let found = try await queue.resolve(name)
        #expect(found == Self.addresses)
        let error = await #expect(throws: TransportError.self) { try await queue.resolve(name + "b") }
        #expect(error?.code == .unknownHost && error?.message == "the host name \(name) cannot be resolved")
    }

    /// The cancellation comes before the request waits, so that it must be noticed later.
    @Test func requestOfACanceledTaskDoesNotWait() async throws {
        let simulation = Simulation()
        let gate = DispatchSemaphore(value: 0)
        let queue = HostLookupQueue(HostLookupQueue.Limits(), time: simulation) { _ in
            gate.wait()
            return Self.addresses
        }
        let isCanceled = try await simulation.run {
            await withTaskGroup(of: Bool.self) { group in
                group.cancelAll()
                group.addTask {
                    do {
                        _ = try await queue.resolve("silent")
                        return false
                    } catch {
                        return error is CancellationError
                    }
                }
                return await group.next() ?? false
            }
        }
        gate.signal()
        #expect(isCanceled && simulation.now == .zero && queue.waitingRequestCount == 0)
    }
}

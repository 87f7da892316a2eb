import HTTPTypes
import MediaTiming
import MediaTransport
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests that shared work is not mixed up with earlier work, and that its clients can stop waiting.
@Suite(.timeLimit(.minutes(2))) struct SharedWorkFaultTests {
    private struct Lost: Error {}

    /// The number of times that work has begun, and whether it may end.
    private final class Record: Sendable {
        private let state = Mutex((begun: 0, isOpen: false))

        var begun: Int { state.withLock { $0.begun } }
        var isOpen: Bool { state.withLock { $0.isOpen } }

        func begin() { state.withLock { $0.begun += 1 } }
        func open() { state.withLock { $0.isOpen = true } }
    }

    /// Clients that leave work that has failed do not leave the work that has begun after it.
    @Test func clientsOfFailedWorkShareTheNextWork() async throws {
        let work = SharedWork<String, Int>(maximumCount: 4)
        let record = Record()
        let busy = RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, 1])), isForeign: false)
        let body: @Sendable () async throws -> Int = {
            record.begin()
            guard RequestingClient.current == busy else {
                // The work goes on until all others wait for it.
                while work.waiterCount < 3, record.begun == 2 { try await Task.sleep(for: .milliseconds(5)) }
                return 7
            }
            while !record.isOpen { try await Task.sleep(for: .milliseconds(5)) }
            throw ServerError.clientIsBusy
        }
        let first = Task {
            try await RequestingClient.$current.withValue(busy) { try await work.value(for: "a", body) }
        }
        while record.begun == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let others = (0..<3).map { _ in Task { try await work.value(for: "a", body) } }
        while work.waiterCount < 4 { try await Task.sleep(for: .milliseconds(5)) }
        record.open()
        for other in others {
            let value = try await other.value
            #expect(value == 7)
        }
        await #expect(throws: ServerError.self) { try await first.value }
        #expect(record.begun == 2 && work.waiterCount == 0)
    }

    /// A request that is canceled does not wait for the head of the response.
    @Test func canceledReaderOfATransferDoesNotWait() async throws {
        let transfer = SharedTransfer(in: SharedMemory(), isAhead: false)
        let reader = try #require(transfer.reader())
        let load: @Sendable () async throws -> TransportResponse = {
            try await Task.sleep(for: .seconds(30))
            throw Lost()
        }
        transfer.start(load, onEnd: {})
        let task = Task {
            _ = try await reader.response()
            return true
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func optionsOfAServerHaveTheirDefaults() {
        let options = LocalOrigin.Options()
        #expect(options.host == "127.0.0.1" && options.port == 8080)
        #expect(options.segmentsAhead == 0 && options.staleIfError == .zero && options.translatesDASH)
        #expect(!options.admitsOnlySignedAddresses && options.storagePolicyInterval == .seconds(60))
        #expect(options.maximumDownloadRate == nil && options.stateFile == nil && options.cache == nil)
        #expect(options.canDecode("unknown"))
    }
}

import Dispatch
import Synchronization

/// A supervisor that cancels the running command when its output can no longer be written.
///
/// Code that writes in a callback, or a log handler, cannot throw to the command. The first failure is recorded here
/// and cancels the command, which ends as if it were interrupted: downloads are preserved, servers and files are
/// closed.
final class OutputSupervisor: Sendable {
    static let shared = OutputSupervisor()

    private let state = Mutex<OutputError?>(nil)
    private let interruption = Atomic(false)
    private let failures: AsyncStream<Void>
    private let failed: AsyncStream<Void>.Continuation

    private init() { (failures, failed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// The first reported failure.
    var failure: OutputError? { state.withLock { $0 } }

    /// Records a failure and cancels the running command.
    func report(_ error: OutputError) {
        state.withLock { $0 = $0 ?? error }
        failed.yield()
    }

    /// A Boolean value that indicates whether the program was told to end, so that blocked writes must stop waiting.
    var isInterrupted: Bool { interruption.load(ordering: .relaxed) }

    /// Sets ``isInterrupted`` on a signal, until the returned source is canceled.
    ///
    /// The signal is handled on a global queue, since all threads of tasks may be blocked by output.
    func observeInterruptions(_ signals: [Int32]) -> [any DispatchSourceSignal] {
        signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler { self.interruption.store(true, ordering: .relaxed) }
            source.resume()
            return source
        }
    }

    /// Runs a command, and cancels it at the first failure of its output.
    ///
    /// - Throws: The failure of the output if there was one, otherwise the error of the command.
    func run(_ command: @escaping @Sendable () async throws -> Void) async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await command() }
                group.addTask { for await _ in self.failures { break } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
    }
}

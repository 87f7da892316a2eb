import Dispatch
import Synchronization

/// Ends the running command when its output can no longer be written.
///
/// A command that writes from a callback, or whose output is written by a log, cannot throw from there. The first failure is
/// recorded here and cancels the command, which ends as it does when it is interrupted: downloads are stored, servers and
/// files are closed.
final class OutputSupervisor: Sendable {
    static let shared = OutputSupervisor()

    private let state = Mutex<OutputError?>(nil)
    private let interruption = Atomic(false)
    private let failures: AsyncStream<Void>
    private let failed: AsyncStream<Void>.Continuation

    private init() { (failures, failed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// The first failure that was reported.
    var failure: OutputError? { state.withLock { $0 } }

    /// Records a failure and cancels the running command.
    func report(_ error: OutputError) {
        state.withLock { $0 = $0 ?? error }
        failed.yield()
    }

    /// A Boolean value that indicates whether the program was told to end, so that nothing waits for a reader any longer.
    var isInterrupted: Bool { interruption.load(ordering: .relaxed) }

    /// Sets ``isInterrupted`` on a signal, until the source that is returned is canceled.
    ///
    /// It does so on a queue of its own: all threads of tasks may be waiting for the reader.
    func observeInterruptions(_ signals: [Int32]) -> [any DispatchSourceSignal] {
        signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler { self.interruption.store(true, ordering: .relaxed) }
            source.resume()
            return source
        }
    }

    /// Runs a command, which is canceled by the first failure of its output.
    ///
    /// - Throws: That failure if there was one, whatever the command made of it; else what the command throws.
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

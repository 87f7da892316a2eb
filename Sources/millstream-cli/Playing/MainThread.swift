import Foundation

/// The main thread of the process, on which alone windows can be used.
enum MainThread {
    /// Runs the run loop of the main thread until the process ends.
    @MainActor static func runLoop() -> Never {
        // A run loop without a source returns immediately.
        let source = Timer(timeInterval: 86_400, repeats: true) { _ in }
        RunLoop.main.add(source, forMode: .default)
        while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    }

    /// Runs a closure on the main thread.
    ///
    /// The closure can run indefinitely if it runs the run loop, which then executes other work for the main actor.
    static func run<Result: Sendable>(
        _ body: @escaping @MainActor @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // A block of the run loop instead of a job of the queue, since the queue runs no other job until that one
            // returns.
            DispatchQueue.main.async {
                RunLoop.main.perform { MainActor.assumeIsolated { continuation.resume(with: .init(catching: body)) } }
            }
        }
    }
}

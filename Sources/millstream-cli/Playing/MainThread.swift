import Foundation

/// The thread that the process began with: windows may be used there and nowhere else.
enum MainThread {
    /// Serves whoever needs the thread, until the process ends.
    @MainActor static func serve() -> Never {
        // Without any source a run loop returns at once.
        let source = Timer(timeInterval: 86_400, repeats: true) { _ in }
        RunLoop.main.add(source, forMode: .default)
        while true { _ = RunLoop.main.run(mode: .default, before: .distantFuture) }
    }

    /// Runs a closure on the thread, which may keep it as long as it likes: what else is for the main actor is done in between
    /// by the run loop.
    static func run<Result: Sendable>(
        _ body: @escaping @MainActor @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            // A block of the run loop and not a job of the queue: while one of those runs, no other can.
            DispatchQueue.main.async {
                RunLoop.main.perform { MainActor.assumeIsolated { continuation.resume(with: .init(catching: body)) } }
            }
        }
    }
}

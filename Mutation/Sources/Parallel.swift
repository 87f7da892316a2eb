import Foundation
import Synchronization

/// A value that is protected by a lock.
final class Locked<Value>: @unchecked Sendable {
    // Safe: every access holds the lock.
    private var value: Value
    private let lock = NSLock()

    init(_ value: Value) { self.value = value }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// Calls a closure for each index on a number of threads, and rethrows the first error.
func inParallel(_ count: Int, jobs: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let next = Locked(0)
    let failure = Locked<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: jobs) { _ in
        while failure.with({ $0 == nil }) {
            let index = next.with { value in
                defer { value += 1 }
                return value
            }
            guard index < count else { return }
            do { try body(index) } catch { failure.with { $0 = $0 ?? error } }
        }
    }
    if let error = failure.with({ $0 }) { throw error }
}

import Hummingbird
import MediaTiming
import NIOCore
import ReportFormat
import Synchronization

/// A reader that makes reports about the whole library, one at a time.
///
/// The duration of a report is proportional to the number of files of the assets. Clients that wait for the same report
/// share one. It begins after their requests, so that it contains the state of the library at the time of each request
/// or later.
final class LibraryReader: Sendable {
    /// The subject of a report.
    enum Subject: Hashable {
        /// The downloaded assets.
        case assets
        /// The disk space of the library, and the assets that would be deleted to make a number of bytes available.
        case storage(need: ByteCount)
    }

    private struct State {
        /// The numbers of the reports that have not begun.
        var pending: [Subject: Int] = [:]
        var lastNumber = 0
    }

    private let capacity: ServerCapacity
    /// The thread on which the library is read.
    private let thread: EditWorkers
    private let reports: SharedWork<Int, ByteBuffer>
    private let state = Mutex(State())

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - capacity: The capacity of the server, which limits the number of clients that wait.
    ///   - thread: An executor with one thread.
    init(_ capacity: ServerCapacity, thread: EditWorkers) {
        self.capacity = capacity
        self.thread = thread
        reports = SharedWork(maximumCount: max(1, capacity.limits.pendingEdits))
    }

    /// The number of clients that wait for reports.
    var waiterCount: Int { reports.waiterCount }

    /// Responds with a report.
    ///
    /// - Parameters:
    ///   - subject: The subject of the report.
    ///   - report: A closure that reads the library. Between its steps, it must call the closure that it receives,
    ///     which throws when no client waits any longer.
    /// - Returns: The response.
    /// - Throws: ``ServerError`` with 503 if the server has no capacity; `CancellationError` when the client closes the connection;
    ///   the errors of `report`.
    func response(
        with subject: Subject,
        _ report: @escaping @Sendable (_ check: () throws -> Void) throws -> ReportValue
    ) async throws -> Response {
        let budget = try capacity.admit()
        defer { withExtendedLifetime(budget) {} }
        let bytes = try await ClientPresence.whileClientIsConnected { [self] in
            let number = nextNumber(of: subject)
            return try await reports.value(for: number) { [self] in
                // A report that is canceled before it begins must not be shared any longer either.
                defer { markBegun(subject, number) }
                return try await thread.run { [self] check in
                    markBegun(subject, number)
                    try check()
                    return ByteBuffer(string: try report(check).json)
                }
            }
        }
        return .json(bytes, holding: try capacity.reservation(of: bytes.readableBytes))
    }

    /// Runs an operation on the library, between two reports.
    ///
    /// - Parameter operation: The operation.
    /// - Returns: The result of the operation.
    /// - Throws: ``ServerError`` with 503 if the server has no capacity, and the errors of `operation`.
    func run<Result: Sendable>(_ operation: @escaping @Sendable () throws -> Result) async throws -> Result {
        let budget = try capacity.admit()
        defer { withExtendedLifetime(budget) {} }
        return try await thread.run { _ in try operation() }
    }

    /// Returns the number of the next report about a subject.
    private func nextNumber(of subject: Subject) -> Int {
        state.withLock { state in
            if let number = state.pending[subject] { return number }
            state.lastNumber &+= 1
            state.pending[subject] = state.lastNumber
            return state.lastNumber
        }
    }

    /// Records that a report has begun, so that later requests wait for another one.
    private func markBegun(_ subject: Subject, _ number: Int) {
        state.withLock { state in
            guard state.pending[subject] == number else { return }
            state.pending[subject] = nil
        }
    }
}

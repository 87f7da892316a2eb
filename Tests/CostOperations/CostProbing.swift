#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The body of the programs that run operations for a tool that counts instructions.
///
///     cost-probe                   lists the names of all operations
///     cost-probe NAME [SIZE]       runs the operation on SIZE entries, then on four times as many
///
/// The operation runs once without being counted, so that what is made once for a process is not part of the figures. The
/// counted runs are calls of `millstream_counted_operation`, so that the tool can leave the generation of the input out:
///
///     valgrind --tool=callgrind --toggle-collect=millstream_counted_operation \
///         --dump-after=millstream_counted_operation cost-probe NAME
///
/// The tool switches the counting for the thread that calls. Operations of `stream-cost-probe` run on several threads, so
/// everything is counted there, and the figures of the calls are those between two dumps:
///
///     valgrind --tool=callgrind --dump-before=millstream_counted_operation \
///         --dump-after=millstream_counted_operation stream-cost-probe NAME
package enum CostProbing {
    /// Runs what the arguments of the program ask for.
    ///
    /// - Parameter operations: All operations of the program.
    /// - Throws: The error of an operation, which must not throw for its own input.
    package static func run(_ operations: [CostOperation]) throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for operation in operations { print(operation.name) }
            return
        }
        guard let operation = operations.first(where: { $0.name == name }) else {
            print("there is no operation \(name)")
            exit(2)
        }
        let size = arguments.dropFirst().first.flatMap { Int($0) } ?? operation.size
        try operation.prepare(4)()
        for count in [size, 4 * size] {
            let run = try operation.prepare(count)
            var failure: (any Error)?
            countedRun = { do { try run() } catch { failure = error } }
            countedOperation()
            if let failure { throw failure }
        }
    }
}

/// The operation that is counted next.
nonisolated(unsafe) private var countedRun: () -> Void = {}  // Safe: only the main thread reads and writes it.

/// The function by which a counting tool knows what to count.
@_silgen_name("millstream_counted_operation") @inline(never)
package func countedOperation() { countedRun() }

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The main function of the programs that run operations under a tool that counts instructions.
///
///     cost-probe                   lists the names of all operations
///     cost-probe NAME [SIZE]       runs the operation on SIZE entries, then on four times as many
///     cost-probe --run PART        runs the operations whose names begin with PART on four entries
///
/// The operation first runs once without being counted, so that one-time initialization is excluded. The counted runs
/// are calls of `millstream_counted_operation`, so that the tool can exclude the generation of the input:
///
///     valgrind --tool=callgrind --toggle-collect=millstream_counted_operation \
///         --dump-after=millstream_counted_operation cost-probe NAME
///
/// The tool toggles the collection only for the calling thread. Operations of `stream-cost-probe` run on several
/// threads, so that everything is counted there, and the numbers of a call are those between two dumps:
///
///     valgrind --tool=callgrind --dump-before=millstream_counted_operation \
///         --dump-after=millstream_counted_operation stream-cost-probe NAME
package enum CostProbing {
    /// Runs the operation that the arguments of the program name, or lists all operations.
    ///
    /// - Parameter operations: All operations of the program.
    /// - Throws: The error of an operation, which must not throw for its own input.
    package static func run(_ operations: [CostOperation]) throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for operation in operations { print(operation.name) }
            return
        }
        if name == "--run" {
            let part = arguments.dropFirst().first ?? ""
            for operation in operations where operation.name.hasPrefix(part) {
                // The name of an operation that stops the program is the last line.
                print(operation.name)
                fflush(nil)
                try operation.prepare(4)()
            }
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

/// The operation to count in the next call of ``countedOperation()``.
nonisolated(unsafe) private var countedRun: () -> Void = {}  // Safe: only the main thread reads and writes it.

/// Runs the operation to count; the counting tool recognizes this function by its symbol.
@_silgen_name("millstream_counted_operation") @inline(never)
package func countedOperation() { countedRun() }

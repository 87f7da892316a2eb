import CLibFuzzer
package import FuzzTargets
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A driver that runs libFuzzer on one target of a table.
package enum FuzzerDriver {
    private static let target = Mutex<FuzzTarget?>(nil)

    /// Runs the target that the environment variable `MILLSTREAM_FUZZ_TARGET` names, with the arguments of libFuzzer.
    ///
    /// With the single argument `--list`, prints the table of targets instead, with tab-separated columns: name,
    /// maximum length, further seed folders, folder of the shared corpus, summary.
    package static func run(_ targets: [FuzzTarget]) -> Never {
        if CommandLine.arguments.dropFirst() == ["--list"] {
            for target in targets {
                let fields = [
                    target.name, "\(target.maximumLength)", target.furtherSeeds.joined(separator: ","),
                    target.sharedSeeds ?? "", target.summary,
                ]
                print(fields.map { $0.isEmpty ? "-" : $0 }.joined(separator: "\t"))
            }
            exit(0)
        }
        let name = getenv("MILLSTREAM_FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let chosen = targets.first(where: { $0.name == name }) else {
            print("error: MILLSTREAM_FUZZ_TARGET names none of \(targets.map(\.name).joined(separator: ", "))")
            exit(64)
        }
        target.withLock { $0 = chosen }
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { runInput($0, $1) })
    }

    /// Runs the selected target with one input.
    fileprivate static func run(_ input: [UInt8]) {
        let target = target.withLock { $0 }
        target?.run(input)
    }
}

/// Runs one input.
///
/// libFuzzer calls this function; a trap, a hang or exhausted memory is a finding. The library requires the symbol even
/// though the function is passed to its driver as an argument.
@_cdecl("LLVMFuzzerTestOneInput")
public func runInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzerDriver.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

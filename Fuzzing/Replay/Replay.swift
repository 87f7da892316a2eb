import Foundation
import FuzzTargets
import StreamFuzzTargets

#if Playback
import DecodingFuzzTargets
#endif

/// A program that replays the seeds of a target and deterministic mutations of them, without libFuzzer.
///
/// `fuzz-replay --list` prints the names of the targets. `fuzz-replay NAME [FILE…]` replays the given files, or the
/// seeds and their mutations. Each input is first written to the file that the environment variable
/// `MILLSTREAM_FUZZ_INPUT` names, so that the input is known after a trap.
@main enum Replay {
    /// The maximum CPU time of a replay, in seconds, which ends hangs.
    private static let cpuTimeLimit: UInt64 = 240
    /// The default maximum resident size of a replay, in MiB; `MILLSTREAM_FUZZ_MEMORY` overrides it.
    private static let memoryLimit = 1_024

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == ["--list"] {
            for target in allTargets { print(target.name) }
            return
        }
        let targets = allTargets + [FuzzTarget.trap]
        guard let name = arguments.first, let target = targets.first(where: { $0.name == name }) else {
            FileHandle.standardError.write(Data("error: there is no such target; see fuzz-replay --list\n".utf8))
            exit(64)
        }
        limitCPUTime()
        var inputs = 0
        if arguments.count > 1 {
            for path in arguments.dropFirst() {
                try run([UInt8](Data(contentsOf: URL(fileURLWithPath: path))), target)
                inputs += 1
            }
        } else {
            let files = FuzzFiles(
                folder: URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            )
            let seeds = try files.seeds(of: target)
            for seed in seeds { try run(seed, target) }
            let environment = ProcessInfo.processInfo.environment
            let count = environment["MILLSTREAM_FUZZ_COUNT"].flatMap { Int($0) } ?? target.replayCount
            let number = environment["MILLSTREAM_FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
            var mutator = InputMutator(
                seeds: seeds,
                tokens: try files.tokens(of: target),
                maximumLength: target.maximumLength,
                number: number
            )
            for _ in 0..<count { try run(mutator.next(), target) }
            inputs = seeds.count + count
        }
        print("\(target.name): \(inputs) inputs")
    }

    /// The targets of all tables; without the trait `Playback`, the demultiplexers are missing.
    private static var allTargets: [FuzzTarget] {
        #if Playback
        return FuzzTarget.formats + FuzzTarget.streams + FuzzTarget.decoding
        #else
        return FuzzTarget.formats + FuzzTarget.streams
        #endif
    }

    private static func run(_ input: [UInt8], _ target: FuzzTarget) throws {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment["MILLSTREAM_FUZZ_INPUT"] { try Data(input).write(to: URL(fileURLWithPath: path)) }
        target.run(input)
        let limit = environment["MILLSTREAM_FUZZ_MEMORY"].flatMap { Int($0) } ?? memoryLimit
        check(peakMemory <= limit << 20, "the replay uses more than \(limit) MiB of memory")
    }

    /// The maximum resident size so far, in bytes.
    private static var peakMemory: Int {
        #if canImport(Darwin)
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return Int(usage.ru_maxrss)
        #else
        // On Linux, `ru_maxrss` includes the size of the parent process at the time of the fork.
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        let kilobytes = line.flatMap { Int($0.filter(\.isNumber)) }
        check(kilobytes != nil, "the resident size cannot be read")
        return (kilobytes ?? 0) << 10
        #endif
    }

    private static func limitCPUTime() {
        var limit = rlimit(rlim_cur: rlim_t(cpuTimeLimit), rlim_max: rlim_t(cpuTimeLimit))
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
        #else
        setrlimit(RLIMIT_CPU, &limit)
        #endif
    }
}

import Foundation
import NetworkConditioning
import Testing

/// Tests simulated network conditions with curl, and compares them with a limit of the kernel.
@Suite(.tags(.endToEnd), .enabled(if: Transfer.curl != nil, "curl is not installed"))
struct ConditionsTests {
    /// A directory with one file of random bytes, which is served under network conditions.
    private final class Origin {
        let program: RunningProgram
        let address: String
        private let folder: URL

        init(_ conditions: String? = nil, megabytes: Int = 8, port: Int = 0) async throws {
            folder = try Self.makeFolder(megabytes)
            let flags = conditions.map { ["--conditions", $0] } ?? []
            program = try RunningProgram(["origin", folder.path, "--port", "\(port)"] + flags)
            address = try await program.match("(http://[0-9.:]+/)") + "noise.ts"
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        static func makeFolder(_ megabytes: Int) throws -> URL {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("noise-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            var generator = SystemRandomNumberGenerator()
            let words = (0..<(megabytes << 17)).map { _ in generator.next() }
            try words.withUnsafeBytes { Data($0) }.write(to: folder.appendingPathComponent("noise.ts"))
            return folder
        }

        func end() async throws {
            program.send(SIGTERM)
            _ = try await program.finish()
        }
    }

    /// The slow presets are measured at the same time, because together they need a small part of the machine.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [[("3G", 780.0), ("EDGE", 240), ("DSL", 2_000)], [("LTE", 50_000)], [("WiFi", 40_000)]]
    )
    func transferHasTheBandwidthOfThePreset(presets: [(name: String, kilobits: Double)]) async throws {
        try await withThrowingTaskGroup { group in
            for preset in presets {
                group.addTask {
                    let origin = try await Origin(preset.name, megabytes: Int(preset.kilobits / 700) + 1)
                    try await expectRepeatedly {
                        let transfer = try #require(
                            try await Transfer.run(origin.address, count: 1, seconds: 10.5).first
                        )
                        return (abs(transfer.kilobits / preset.kilobits - 1) < 0.05, "\(preset.name): \(transfer)")
                    }
                    try await origin.end()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Expects that a measurement has the expected result in one of four attempts.
    ///
    /// Other work on the machine changes a bandwidth for a while, whereas a wrong limit has a wrong result each time.
    ///
    /// - Parameter measure: A closure that returns whether the result is as expected, and its description.
    /// - Throws: The error of `measure`.
    private func expectRepeatedly(_ measure: () async throws -> (isExpected: Bool, description: String)) async throws {
        var results: [String] = []
        for _ in 0..<4 {
            let (isExpected, description) = try await measure()
            guard !isExpected else { return }
            results.append(description)
        }
        Issue.record("unexpected in all attempts: \(results)")
    }

    /// Expects that the minimum time to the first byte is that of the preset, with a tolerance of 10 ms.
    ///
    /// A busy machine or lost packets can delay a request, but cannot make it early. Therefore, the minimum of many
    /// requests is used, and the minimum time of the server itself, which is measured in between, is subtracted. The
    /// exact times are tested in simulated time, in ConditionedTransportTests.
    /// The requests of all presets wait at the same time.
    @Test(.timeLimit(.minutes(10)))
    func transferHasTheLatencyOfThePreset() async throws {
        let presets = [
            ("3G", 0.2), ("EDGE", 0.84), ("DSL", 0.01), ("LTE", 0.115), ("WiFi", 0.002), ("WiFi 802.11ac", 0.002),
            ("Very Bad Network", 1.0),
        ]
        try await withThrowingTaskGroup { group in
            for (name, latency) in presets {
                group.addTask { try await expectLatency(latency, of: name) }
            }
            try await group.waitForAll()
        }
    }

    private func expectLatency(_ latency: Double, of name: String) async throws {
        let (conditioned, plain) = (try await Origin(name, megabytes: 1), try await Origin(megabytes: 1))
        var (least, leastOfServer) = (Double.infinity, Double.infinity)
        for round in 0..<60 {
            for (origin, isPlain) in [(plain, true), (conditioned, false)] {
                let transfer = try #require(
                    try await Transfer.run(origin.address, count: 1, seconds: 30, range: "0-99").first
                )
                #expect(transfer.bytes == 100)
                if isPlain {
                    leastOfServer = min(leastOfServer, transfer.firstByte)
                } else {
                    #expect(transfer.firstByte >= latency, "\(name): \(transfer)")
                    least = min(least, transfer.firstByte)
                }
            }
            if round >= 15, abs(least - leastOfServer - latency) < 0.01 { break }
        }
        for origin in [conditioned, plain] { try await origin.end() }
        #expect(
            abs(least - leastOfServer - latency) < 0.01,
            "\(name): \(least) s, of which the server takes \(leastOfServer) s"
        )
    }

    @Test(.timeLimit(.minutes(10))) func concurrentTransfersShareTheLinkOfTheServer() async throws {
        let origin = try await Origin("DSL")
        try await expectRepeatedly {
            let rates = try await Transfer.run(origin.address, count: 4, seconds: 6).map(\.kilobits)
            let isShared = rates.allSatisfy { (400...600).contains($0) }
            return (isShared && abs(rates.reduce(0, +) / 2_000 - 1) < 0.06, "\(rates)")
        }
        try await origin.end()
    }

    /// The same limit in the kernel gives the same bandwidth.
    @Test(.timeLimit(.minutes(10)), .enabled(if: KernelLimit.isAllowed, "network namespaces or tc are not to be had"))
    func bandwidthMatchesThatOfAKernelLimit() async throws {
        let folder = try Origin.makeFolder(12)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("limit.json")
        try Data(#"{"down":{"bandwidth":8000000}}"#.utf8).write(to: file)
        let origin = try await Origin(file.path)
        try await expectRepeatedly {
            let kernel = try await KernelLimit.transfer(folder, megabits: 8, seconds: 6)
            let ours = try #require(try await Transfer.run(origin.address, count: 1, seconds: 6).first)
            let isSame = abs(ours.kilobits / 8_000 - 1) < 0.05 && abs(kernel.kilobits / 8_000 - 1) < 0.05
            return (isSame, "\(ours) \(kernel)")
        }
        try await origin.end()
    }

    /// The conditions also apply to downloads: additional media takes proportionally longer.
    @Test(.timeLimit(.minutes(10))) func downloadIsLimitedToTheBandwidth() async throws {
        let folder = try Origin.makeFolder(1)
        defer { try? FileManager.default.removeItem(at: folder) }
        let noise = try Data(contentsOf: folder.appendingPathComponent("noise.ts"))
        for (name, count) in [("one", 1), ("five", 5)] {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
            for index in 0..<count {
                try noise.write(to: folder.appendingPathComponent("\(name)\(index).ts"))
                text += "#EXTINF:4,\n\(name)\(index).ts\n"
            }
            try Data((text + "#EXT-X-ENDLIST\n").utf8).write(to: folder.appendingPathComponent("\(name).m3u8"))
        }
        let file = folder.appendingPathComponent("conditions.json")
        try Data(#"{"down":{"bandwidth":8000000,"latency":0.02},"up":{"latency":0.02}}"#.utf8).write(to: file)
        let origin = try RunningProgram(["origin", folder.path, "--port", "0"])
        let address = try await origin.match("(http://[0-9.:]+/)")
        func seconds(_ name: String) async throws -> Double {
            // Each attempt has a library without the media.
            let library = folder.appendingPathComponent("library-\(UUID())").path
            let started = ContinuousClock.now
            let program = try RunningProgram([
                "download", "\(address)\(name).m3u8", "--library", library, "--conditions", file.path, "--quiet",
            ])
            #expect(try await program.finish() == 0)
            return (ContinuousClock.now - started) / .seconds(1)
        }
        try await expectRepeatedly {
            let difference = try await seconds("five") - seconds("one")
            return (abs(difference / (4 * Double(noise.count) / 1_000_000) - 1) < 0.08, "\(difference) s")
        }
        origin.send(SIGTERM)
        _ = try await origin.finish()
    }

    @Test(.timeLimit(.minutes(10))) func commandsApplyConditions() async throws {
        let origin = try await Origin(megabytes: 1)
        func run(_ conditions: String, _ more: String...) async throws -> (status: Int32, seconds: Double, String) {
            let started = ContinuousClock.now
            let address = origin.address.replacing("noise.ts", with: "none.m3u8")
            let program = try RunningProgram(["inspect", address, "--conditions", conditions, "--retries", "0"] + more)
            let status = try await program.finish()
            return (status, (ContinuousClock.now - started) / .seconds(1), program.standardError)
        }
        let names = try await run("High Latency DNS")
        #expect(names.status == 1 && names.seconds >= 3 && names.2.contains("404"))
        let edge = try await run("edge")
        #expect(edge.seconds >= 0.84 && edge.seconds < 3)
        let lost = try await run("100% Loss", "--timeout", "1")
        #expect(lost.status == 1 && lost.seconds >= 1 && lost.2.contains("(timed-out)"), "\(lost)")
        let unknown = try await run("6G")
        #expect(unknown.status == 64 && unknown.2.contains("no file named \"6G\""))
        try await origin.end()
    }

    @Test func conditionsAreListedAndShown() async throws {
        let list = try RunningProgram(["conditions"])
        #expect(try await list.finish() == 0)
        // One line for each preset, after a line of headings.
        #expect(list.standardOutput.split(separator: "\n").count == LinkProfile.presets.count + 1)
        for preset in LinkProfile.presets { #expect(list.standardOutput.contains("\n\(preset.name) ")) }
        let show = try RunningProgram(["conditions", "show", "3g", "--json"])
        #expect(try await show.finish() == 0)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("conditions-\(UUID()).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(show.standardOutput.utf8).write(to: file)
        let again = try RunningProgram(["conditions", "show", file.path, "--json"])
        #expect(try await again.finish() == 0 && again.standardOutput == show.standardOutput)
        try Data(#"{"down":{"latency":0.0125,"loss":0.00025},"up":{"latency":2.5}}"#.utf8).write(to: file)
        let fractions = try RunningProgram(["conditions", "show", file.path], environment: ["LC_ALL": "de_DE.UTF-8"])
        #expect(try await fractions.finish() == 0)
        #expect(fractions.standardOutput.contains("unlimited, 12.5 ms latency, 0.025 % of packets lost\n"))
        #expect(fractions.standardOutput.contains("unlimited, 2.5 s latency\n"), "\(fractions.standardOutput)")
        try Data(#"{"down":{"loss":2}}"#.utf8).write(to: file)
        let bad = try RunningProgram(["conditions", "show", file.path])
        #expect(try await bad.finish() == 2 && bad.standardError.contains("loss must be between 0 and 1"))
    }
}

/// The measurements of curl for a transfer.
struct Transfer: Sendable, CustomStringConvertible {
    let bytes: Double
    /// The time from the start to the first byte, in seconds.
    let firstByte: Double
    let seconds: Double

    /// The bit rate after the first byte, in kilobits per second.
    var kilobits: Double { bytes * 8 / 1_000 / max(0.001, seconds - firstByte) }
    var description: String { "\(bytes) bytes in \(seconds) s, the first after \(firstByte) s: \(kilobits) kbit/s" }

    static let curl = executable("curl")
    static let format = "bytes %{size_download} first %{time_starttransfer} total %{time_total}\\n"

    static func executable(_ name: String) -> URL? {
        ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"].map { URL(fileURLWithPath: "\($0)/\(name)") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Loads an address, or a range of it, several times concurrently, for at most the given time in seconds.
    static func run(
        _ address: String,
        count: Int,
        seconds: Double,
        range: String? = nil
    ) async throws -> [Transfer] {
        let curl = try #require(curl)
        let programs = try (0..<count).map { _ in
            try RunningProgram(
                ["-s", "-o", "/dev/null", "--max-time", "\(seconds)", "-w", format] + (range.map { ["-r", $0] } ?? [])
                    + [address],
                of: curl
            )
        }
        for program in programs { _ = try await program.finish() }
        return try programs.map { try #require(Transfer($0.standardOutput)) }
    }

    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count >= 6, let bytes = Double(words[1]), let first = Double(words[3]), let total = Double(words[5])
        else { return nil }
        (self.bytes, firstByte, seconds) = (bytes, first, total)
    }
}

/// A bandwidth limit of the kernel, in a separate network namespace.
enum KernelLimit {
    private static let tools = ["unshare", "tc", "ip", "sh"].map { Transfer.executable($0) }

    static let isAllowed: Bool = {
        guard Transfer.curl != nil, tools.allSatisfy({ $0 != nil }) else { return false }
        let script = "ip link set lo up && tc qdisc add dev lo root tbf rate 8mbit burst 16kb latency 100ms"
        let process = Process()
        process.executableURL = tools[0]
        process.arguments = ["-n", "sh", "-c", script]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    static func transfer(_ folder: URL, megabits: Int, seconds: Double) async throws -> Transfer {
        let unshare = try #require(tools[0])
        // Use a large MTU, because the limit also counts packet headers, and acknowledgments on the same device.
        let script = """
            ip link set lo up mtu 9000 && tc qdisc add dev lo root tbf rate \(megabits)mbit burst 128kb latency 400ms
            "\(RunningProgram.executable.path)" origin "\(folder.path)" --port 8099 >/dev/null 2>&1 & origin=$!
            sleep 2
            curl -s -o /dev/null --max-time \(seconds) -w '\(Transfer.format)' http://127.0.0.1:8099/noise.ts
            kill $origin; wait $origin
            """
        let program = try RunningProgram(["-n", "sh", "-c", script], of: unshare)
        _ = try await program.finish()
        return try #require(Transfer(program.standardOutput), "\(program.standardError)")
    }
}

import Foundation
import Testing

/// Tests the periods of simulated faults on the command line.
@Suite(.serialized, .tags(.endToEnd), .timeLimit(.minutes(10)))
struct FaultCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID())")

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    @Test(arguments: ["origin", "serve"])
    func helpListsEachParameterOfAFaultOnALineOfItsOwn(command: String) async throws {
        let help = try await run(command, "--help")
        let lines = help.output.split(separator: "\n")
        for parameter in ["path=PATTERN", "interval=TIME", "status=CODE", "page", "reset=BYTES", "timeout"] {
            #expect(lines.contains { $0.hasPrefix("  \(parameter): ") }, "\(parameter): \(help.output)")
        }
        #expect(help.status == 0 && !help.output.contains("Parameters: path="), "\(help.output)")
    }

    @Test func originSimulatesFaultsInTheirPeriod() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.ts\n#EXT-X-ENDLIST\n"
        for name in ["now", "later"] {
            try Data(media.utf8).write(to: folder.appendingPathComponent("\(name).m3u8"))
        }
        let faults = ["path=/now.m3u8&time=...10:00:00&status=418", "path=/later.m3u8&time=10:00:00...&status=418"]
        let origin = try RunningProgram(["origin", folder.path, "--port", "0"] + faults.flatMap { ["--fault", $0] })
        let port = try await origin.match(":([0-9]+)/")
        let failed = try await run("inspect", "http://127.0.0.1:\(port)/now.m3u8", "--retries", "0")
        #expect(failed.status == 1 && failed.errors.contains("418"), "\(failed)")
        let found = try await run("inspect", "http://127.0.0.1:\(port)/later.m3u8", "--retries", "0")
        #expect(found.status == 0, "\(found)")
        origin.send(SIGTERM)
        _ = try await origin.finish()
        for (fault, reason) in [
            ("time=20...10&status=503", "time must be time=START...END"),
            ("time=0...1000000001&status=503", "at most 1000000000 s"),
            ("interval=60&status=503", "interval requires a period with an end"),
        ] {
            let refused = try await run("origin", folder.path, "--fault", fault)
            #expect(refused.status == 64 && refused.errors.contains(reason), "\(refused)")
        }
    }
}

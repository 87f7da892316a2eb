import Foundation
import Testing

/// Tests that commands report downloads that are refused, in another process too, and keys that they cannot verify.
@Suite(.serialized, .tags(.endToEnd), .timeLimit(.minutes(10)))
struct RefusedDownloadCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("refused-\(UUID())")
    private var library: String { folder.appendingPathComponent("library").path }
    private var files: URL { folder.appendingPathComponent("origin") }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments + ["--library", library]).result()
    }

    private func list() async throws -> [[String: Any]] {
        let result = try await run("downloads", "list", "--json")
        return try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]])
    }

    /// Starts an origin of a stream with the segments that are given.
    private func origin(segments: [String: String]) async throws -> RecordingOrigin {
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in segments.merging(["a.m3u8": playlist], uniquingKeysWith: { first, _ in first }) {
            try Data(text.utf8).write(to: files.appendingPathComponent(name))
        }
        return try await RecordingOrigin(files)
    }

    @Test func downloadThatTheServerRefusesAgainIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(segments: ["0.ts": "zero", "1.ts": "one"])
        #expect(try await run("download", origin.address("a.m3u8"), "--queue").status == 0)
        let server = try RunningProgram(["serve", "--port", "0", "--library", library])
        try await eventually("the download fails") { try await list().first?["state"] as? String == "failed" }
        let id = try #require(try await list().first?["id"] as? String)
        for options in [[], ["--queue"]] {
            let refused = try await RunningProgram(["downloads", "resume", id, "--library", library] + options).result()
            #expect(refused.status == 1, "\(refused)")
            #expect(refused.errors.contains("\(id): the download has failed again in the process"), "\(refused)")
            #expect(refused.errors.contains("--allow-host 127.0.0.1:\(origin.port)"), "\(refused)")
            #expect(!refused.errors.contains("resumed by the process"), "\(refused)")
        }
        let report = try await run("downloads", "resume", id, "--json")
        #expect(report.status == 1 && report.output.contains("\"event\":\"failed\""), "\(report)")
        // The command that hands another one to the server reports that it is refused as well.
        for name in ["b.m3u8", "c.m3u8"] {
            let copy = files.appendingPathComponent(name)
            try FileManager.default.copyItem(at: files.appendingPathComponent("a.m3u8"), to: copy)
        }
        let queued = try await run("download", origin.address("b.m3u8"), "--queue")
        #expect(queued.status == 1 && queued.errors.contains("the download has failed in the process"), "\(queued)")
        #expect(queued.errors.contains("--allow-host 127.0.0.1:\(origin.port)"), "\(queued)")
        #expect(queued.output.split(separator: "\n").count == 1 && !queued.errors.contains("queued;"), "\(queued)")
        let events = try await run("download", origin.address("c.m3u8"), "--queue", "--json")
        #expect(events.status == 1 && events.output.contains("\"event\":\"queued\""), "\(events)")
        #expect(events.output.contains("\"event\":\"failed\""), "\(events)")
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }

    /// The server refuses a download of another session as soon as it has received it.
    @Test func downloadOfTheCommandThatTheServerRefusesIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(segments: ["0.ts": "zero"])
        #expect(try await run("download", origin.address("a.m3u8"), "--retries", "0").status == 1)
        let id = try #require(try await list().first?["id"] as? String)
        let server = try RunningProgram(["serve", "--port", "0", "--library", library])
        try await eventually("the server listens") { server.standardOutput.contains("Listening on ") }
        let queued = try await run("downloads", "resume", id, "--queue")
        #expect(queued.status == 1, "\(queued)")
        #expect(queued.errors.contains("\(id): the download has failed in the process that runs it"), "\(queued)")
        #expect(queued.errors.contains("--allow-host 127.0.0.1:\(origin.port)"), "\(queued)")
        #expect(!queued.errors.contains("queued;"), "\(queued)")
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }

    /// The process that runs it has not stopped it yet.
    @Test func canceledDownloadIsNotListed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(segments: ["0.ts": "zero", "1.ts": "one"])
        origin.answeredSegments = 0
        let program = try RunningProgram(["download", origin.address("a.m3u8"), "--library", library])
        try await eventually("segments are asked for") { origin.paths.contains { $0.hasSuffix(".ts") } }
        let id = try #require(try await list().first?["id"] as? String)
        program.send(SIGSTOP)
        #expect(try await run("downloads", "cancel", id).status == 0)
        #expect(try await list().isEmpty)
        let again = try await run("downloads", "cancel", id)
        #expect(again.status == 1 && again.errors.contains("there is no unfinished download \(id)"), "\(again)")
        program.send(SIGCONT)
        #expect(try await program.finish() == 1, "\(program.standardError)")
        await origin.stop()
    }

    /// A wrong key of encrypted samples is accepted if there is no audio that tells.
    @Test func keyThatIsNotVerifiedIsNoted() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let key = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n"
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(key)#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in [("a.m3u8", playlist), ("0.ts", "media")] {
            try Data(text.utf8).write(to: files.appendingPathComponent(name))
        }
        let source = files.appendingPathComponent("a.m3u8").path
        let digits = "30313233343536373839616263646566"
        let noted = try await run("download", source, "--key", digits)
        #expect(noted.status == 0 && noted.errors.contains("note: the key is not verified"), "\(noted)")
        let report = try await run("download", source, "--key", digits, "--json")
        #expect(report.status == 0 && report.output.contains(#""event":"key-not-verified""#), "\(report)")
        let quiet = try await run("download", source, "--key", digits, "--quiet")
        #expect(quiet.status == 0 && !quiet.errors.contains("not verified"), "\(quiet)")
    }

    @Test func fileThatExistsEndsADownloadBeforeItsMediaIsLoaded() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(segments: ["0.ts": "zero", "1.ts": "one"])
        let source = origin.address("a.m3u8")
        let file = folder.appendingPathComponent("Film.mp4")
        try Data("film".utf8).write(to: file)
        let template = folder.appendingPathComponent("{title}.mp4").path
        let named = try await run("download", source, "--title", "Film", "--output", template)
        #expect(named.status == 1 && named.errors.contains("Film.mp4 already exists"), "\(named)")
        // The title was known without the playlist.
        #expect(origin.paths.isEmpty)
        try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("a.mp4"))
        let derived = try await run("download", source, "--output", template)
        #expect(derived.status == 1 && derived.errors.contains("a.mp4 already exists"), "\(derived)")
        let paths = origin.paths
        #expect(paths.contains { $0.hasSuffix("a.m3u8") } && !paths.contains { $0.hasSuffix(".ts") }, "\(paths)")
        // Nothing is left behind.
        #expect(try await list().isEmpty)
        #expect(try await run("library", "list", "--json").output == "[]\n")
        await origin.stop()
    }

    /// A title of hundreds of characters does not push the other columns out of sight.
    @Test func longTitleIsShortenedInTheTable() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await origin(segments: ["0.ts": "zero", "1.ts": "one"])
        let title = String(repeating: "映画", count: 200)
        #expect(try await run("download", origin.address("a.m3u8"), "--title", title).status == 0)
        await origin.stop()
        let table = try await run("library", "list")
        // Each character has two columns, and the ellipsis one.
        let shown = String(repeating: "映画", count: 14) + "映…"
        #expect(table.output.contains(" \(shown) "), "\(table.output)")
        let report = try await run("library", "list", "--json")
        let assets = try #require(JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [[String: Any]])
        #expect(assets.first?["title"] as? String == title)
    }
}

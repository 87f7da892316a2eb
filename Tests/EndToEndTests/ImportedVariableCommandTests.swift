import Foundation
import Testing

/// Tests the commands with a media playlist that imports a variable that no multivariant playlist defines.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(10)))
final class ImportedVariableCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("imports-\(UUID())")
        .standardizedFileURL

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let media = """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-DEFINE:IMPORT="token"
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS=\"avc1.64001e\"\nmedia.m3u8\n"
        let parameterized = main.replacing("#EXT-X-STREAM", with: "#EXT-X-DEFINE:QUERYPARAM=\"token\"\n#EXT-X-STREAM")
        for (name, text) in [
            ("media.m3u8", media), ("main.m3u8", main), ("parameterized.m3u8", parameterized), ("0.ts", "zero"),
        ] {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test(arguments: ["media.m3u8", "main.m3u8"]) func playAndDownloadNameTheVariable(name: String) async throws {
        let message = "the playlist imports the variable \"token\", which no multivariant playlist defines"
        let played = try await run("play", path(name), "--no-decode")
        #expect(played.status == 2 && played.errors.contains(message), "\(played)")
        let downloaded = try await run("download", path(name), "--library", path("library"))
        #expect(downloaded.status == 2 && downloaded.errors.contains(message), "\(downloaded)")
        #expect(downloaded.errors.contains("(import-undeclared)\nhint: name the multivariant"), "\(downloaded)")
    }

    /// The media playlist imports the variable, but the cause is the URL of the multivariant playlist.
    @Test(arguments: ["play", "download", "edit"]) func missingParameterIsNamed(command: String) async throws {
        let options = [
            "play": ["--no-decode"], "download": ["--library", path("library")], "edit": ["--duration", "9"],
        ]
        let arguments = [command, path("parameterized.m3u8")] + (options[command] ?? [])
        let refused = try await RunningProgram(arguments).result()
        let message = "the URL of the multivariant playlist has no parameter \"token\""
        #expect(refused.status == 2 && refused.errors.contains(message), "\(refused)")
        #expect(command == "play" || refused.errors.contains("\nhint: add ?token=VALUE to the URL"), "\(refused)")
    }

    @Test func validateReportsAParameterThatTheURLOfAFileDoesNotHave() async throws {
        let missing = try await run("validate", path("parameterized.m3u8"))
        #expect(missing.output.contains("query-parameter-missing"), "\(missing)")
        let address = "file://\(path("parameterized.m3u8"))?token=1"
        let complete = try await run("validate", address)
        #expect(!complete.output.contains("query-parameter-missing"), "\(complete)")
    }

    /// Tools for authors read such a playlist, and report what players and downloads refuse.
    @Test(arguments: ["media.m3u8", "main.m3u8"]) func inspectReportsTheVariable(name: String) async throws {
        let message = "the playlist imports the variable \"token\", which no multivariant playlist defines"
        let inspected = try await run("inspect", path(name), "--follow")
        #expect(inspected.status == 0 && inspected.output.contains("import-undeclared"), "\(inspected)")
        #expect(inspected.errors.contains("\(message) (import-undeclared)\n"), "\(inspected)")
    }

    /// The multivariant playlist of a media playlist that is validated alone is not known.
    @Test func validateReportsTheVariable() async throws {
        let alone = try await run("validate", path("media.m3u8"))
        #expect(!alone.output.contains("import-undeclared"), "\(alone)")
        #expect(alone.errors.contains("imports the variable \"token\""), "\(alone)")
        let validated = try await run("validate", path("main.m3u8"), "--follow")
        #expect(validated.status == 2 && validated.output.contains("import-undeclared"), "\(validated)")
    }
}

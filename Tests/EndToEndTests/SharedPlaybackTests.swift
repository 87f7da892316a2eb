import Foundation
import TestSamples
import Testing

/// Tests that `play` combines what the library has stored of a URL with what the origin has.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct SharedPlaybackTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shared-playback-\(UUID())")

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram(arguments + ["--library", folder.path])
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    private func play(_ source: String, _ options: [String] = []) async throws -> String {
        let played = try await run(["play", source, "--no-decode", "--speed", "max"] + options)
        #expect(played.status == 0 && played.output.contains("Watched: "), "\(played)")
        return played.errors
    }

    @Test(arguments: ["fmp4/multivariant.m3u8", "dash-timeline/manifest.mpd"])
    func storedMediaIsNotRequested(stream: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address(stream)
        let download = try await run(["download", source, "--max-height", "400", "--quiet"])
        #expect(download.status == 0, "\(download)")
        origin.clearPaths()
        // The stored variant is played, although the network carries a better one.
        #expect(try await play(source).contains("of the library has media of this stream"))
        #expect(origin.paths.isEmpty, "\(origin.paths)")
        _ = try await play(source, ["--ignore-library"])
        #expect(origin.paths.contains { $0.hasSuffix(stream) }, "\(origin.paths)")
        await origin.stop()
        _ = try await play(source)
    }

    @Test func whatIsNotStoredIsStreamed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address("fmp4/multivariant.m3u8")
        let download = try await run(["download", source, "--max-height", "400", "--audio", "en", "--quiet"])
        #expect(download.status == 0, "\(download)")
        origin.clearPaths()
        _ = try await play(source, ["--audio", "ko"])
        #expect(origin.paths.contains { $0.contains("audio-ko") }, "\(origin.paths)")
        #expect(origin.paths.allSatisfy { $0.contains("audio-ko") }, "\(origin.paths)")
    }

    @Test func variantOfWhichAPartIsStoredIsNotPreferred() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address("ts/multivariant.m3u8")
        let options = ["--variants", "lowest", "--range", "0...12", "--quiet"]
        let download = try await run(["download", source] + options)
        #expect(download.status == 0, "\(download)")
        origin.clearPaths()
        #expect(try await play(source).contains("of the library has media of this stream"))
        #expect(origin.paths.contains { $0.contains("1080p") && $0.hasSuffix(".ts") }, "\(origin.paths)")
        #expect(!origin.paths.contains { $0.hasSuffix("180p/0.ts") }, "it is stored")
    }

    @Test(arguments: [false, true])
    func playedMediaOfAnUnfinishedDownloadIsStored(isPlayedByIdentifier: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.answeredSegments = 2
        let source = origin.address("ts/multivariant.m3u8")
        let options = ["--max-height", "400", "--quiet", "--jobs", "1"]
        let download = try RunningProgram(["download", source, "--library", folder.path] + options)
        try await eventually("the third segment waits") { origin.paths.count { $0.hasSuffix(".ts") } > 2 }
        download.send(SIGKILL)
        _ = try await download.finish(within: .seconds(60))
        origin.answeredSegments = nil
        let list = try await run(["library", "list", "--json"])
        let id = String(try #require(list.output.firstMatch(of: /"id":"([^"]+)"/)?.output.1))
        // The variant that is downloaded is played, whatever the speed of the machine.
        _ = try await play(
            isPlayedByIdentifier ? id : source,
            ["--max-height", "400", "--selector", "fixed-highest"]
        )
        origin.clearPaths()
        let resumed = try await run(["download", source] + options)
        #expect(resumed.status == 0, "\(resumed)")
        #expect(!origin.paths.contains { $0.contains("360p") && $0.hasSuffix(".ts") }, "\(origin.paths)")
    }

    /// Returns the segments of the variant that a download with `--max-height 400` selects; a player may request those of others.
    private static func selectedSegments(_ paths: [String]) -> [String] {
        paths.filter { $0.contains("360p/") && $0.hasSuffix(".ts") }
    }

    @Test(arguments: [false, true])
    func downloadWaitsWhileAnotherProgramPlays(isPlayedByIdentifier: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.answeredSegments = 2
        let source = origin.address("ts/multivariant.m3u8")
        let options = ["--library", folder.path, "--max-height", "400", "--quiet", "--timeout", "120"]
        let first = try RunningProgram(["download", source, "--jobs", "1"] + options)
        try await eventually("the third segment waits") { origin.paths.count { $0.hasSuffix(".ts") } > 2 }
        first.send(SIGKILL)
        _ = try await first.finish()
        let list = try await run(["library", "list", "--json"])
        let id = String(try #require(list.output.firstMatch(of: /"id":"([^"]+)"/)?.output.1))
        // No further segment is answered.
        origin.answeredSegments = 0
        origin.clearPaths()
        let player = try RunningProgram(["play", isPlayedByIdentifier ? id : source, "--no-decode"] + options)
        try await eventually("the player waits") { origin.paths.contains { $0.hasSuffix(".ts") } }
        let asked = Self.selectedSegments(origin.paths)
        let playlists = origin.paths.count { $0.hasSuffix(".m3u8") }
        let download = try RunningProgram(["download", source, "--jobs", "3"] + options)
        try await eventually("the download begins") { origin.paths.count { $0.hasSuffix(".m3u8") } > playlists }
        try await Task.sleep(for: .seconds(2))
        #expect(Self.selectedSegments(origin.paths) == asked)
        #expect(player.isRunning && download.isRunning)
        player.send(SIGKILL)
        _ = try await player.finish()
        try await eventually("the download continues") { Self.selectedSegments(origin.paths).count > asked.count }
        origin.answeredSegments = nil
        #expect(try await download.finish() == 0, "\(download.standardError)")
        #expect(try await run(["library", "list", "--json"]).output.contains("\"complete\""))
    }

    @Test func editedDownloadIsNotPlayedInPlaceOfItsSource() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address("fmp4/multivariant.m3u8")
        let download = try await run(["download", source, "--max-height", "400", "--edit", "duration=8", "--quiet"])
        #expect(download.status == 0, "\(download)")
        #expect(try await !play(source).contains("of the library has media of this stream"))
    }
}

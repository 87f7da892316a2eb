import Foundation
import TestSamples
import Testing

/// Tests what `millstream play --json` prints if something fails: the metrics of what was played, and the exit status.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct PlayReportTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("play-report-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func play(
        _ source: String,
        _ options: [String]
    ) async throws -> (
        status: Int32, output: String, errors: String
    ) {
        let program = try RunningProgram(["play", source, "--json", "--quiet", "--speed", "max"] + options)
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    /// Reads the only line of the output.
    private func metrics(_ output: String) throws -> [String: Any] {
        #expect(output.split(separator: "\n", omittingEmptySubsequences: false).count == 2, "\(output)")
        return try #require(JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    /// Writes a playlist whose first segment exists, followed by others.
    private func writePlaylist(_ name: String, others: [String]) throws -> String {
        let samples = try #require(Samples.directory)
        let segments = [samples.appendingPathComponent("ts/180p/0.ts").path] + others
        let lines = segments.map { "#EXTINF:6,\n\($0)\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n\(lines)#EXT-X-ENDLIST\n"
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
        return path(name)
    }

    @Test(arguments: ["--no-decode", "--headless"]) func missingFileHasNoReport(mode: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await play(path("none.m3u8"), [mode])
        #expect(result.status == 1 && result.output.isEmpty, "\(result)")
        let message = "the file \(path("none.m3u8")) does not exist (file-not-found)\n"
        #expect(result.errors.hasPrefix("millstream: error: ") && result.errors.hasSuffix(message), "\(result)")
    }

    @Test(
        arguments: [
            "", "What a film.\n", "<html><body>Not found</body></html>\n",
            // A text about playlists, with an example, is no playlist.
            "# Films\n\n#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n",
        ]
    )
    func sourceThatIsNoPlaylistHasNoReport(text: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(text.utf8).write(to: folder.appendingPathComponent("film.m3u8"))
        let result = try await play(path("film.m3u8"), ["--no-decode"])
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(result.errors.hasSuffix(" (not-a-playlist)\n"), "\(result)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
    }

    @Test func segmentsThatAreSkippedAreInTheReport() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await play(try writePlaylist("gaps.m3u8", others: ["1.ts", "2.ts"]), ["--no-decode"])
        #expect(result.status == 0, "\(result)")
        let metrics = try metrics(result.output)
        #expect(metrics["watchedDuration"] as? Double == 6 && metrics["skippedDuration"] as? Double == 12, "\(metrics)")
        #expect(metrics["errors"] as? Int == 2 && metrics["skippedSegments"] as? Int == 2, "\(metrics)")
    }

    /// Segments that are loaded completely, but of which most is damaged.
    @Test(arguments: [("ts/180p", 6.0), ("fmp4/360p", 4.0)])
    func damagedSegmentIsInTheReport(rendition: String, duration: Double) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let faults = ["path=*/2.ts&corrupt=5000", "path=*/2.m4s&corrupt=5000"]
        let origin = try RunningProgram(
            ["origin", samples.path, "--port", "0"] + faults.flatMap { ["--fault", $0] }
        )
        let port = try await origin.match(":([0-9]+)/")
        let source = "http://127.0.0.1:\(port)/\(rendition)/media.m3u8"
        let result = try await play(source, ["--headless", "--until", "24", "--error-log", path("errors")])
        #expect(result.status == 0, "\(result)")
        let metrics = try metrics(result.output)
        let skipped = try #require(metrics["skippedDuration"] as? Double)
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(abs(skipped - duration) < 0.1 && abs(watched - (24 - duration)) < 0.1, "\(metrics)")
        #expect(metrics["errors"] as? Int == 1, "\(metrics)")
        let log = try String(contentsOfFile: path("errors"), encoding: .utf8)
        let entries = log.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(entries.count == 1 && log.contains("/2.") && log.contains(" -11821 "), "\(log)")
    }

    /// Playback ends as if the segments were missing.
    @Test func streamOfDamagedSegmentsFails() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let origin = try RunningProgram(
            ["origin", samples.path, "--port", "0", "--fault", "path=*.ts&corrupt=5000"]
        )
        let port = try await origin.match(":([0-9]+)/")
        let source = "http://127.0.0.1:\(port)/ts/180p/media.m3u8"
        let result = try await play(source, ["--headless", "--error-log", path("errors")])
        #expect(result.status == 1 && result.errors.hasSuffix(" (damaged)\n"), "\(result)")
        let log = try String(contentsOfFile: path("errors"), encoding: .utf8)
        #expect(log.split(separator: "\n").contains { !$0.hasPrefix("#") && $0.contains(" -11821 ") }, "\(log)")
    }

    /// The report has the metrics of the part that was played before the failure.
    @Test(arguments: ["--no-decode", "--headless"]) func fileThatEndsEarlyHasAReport(mode: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try Data(contentsOf: try #require(Samples.directory).appendingPathComponent("movie.mp4"))
        try movie.prefix(movie.count / 2).write(to: folder.appendingPathComponent("half.mp4"))
        let result = try await play(path("half.mp4"), [mode])
        #expect(result.status == 1 && result.errors.hasSuffix(" (incomplete-file)\n"), "\(result)")
        let metrics = try metrics(result.output)
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(watched > 10 && watched < 20 && metrics["errors"] as? Int == 1, "\(metrics)")
    }

    /// An output that fails ends playback, and the error is that of the output.
    @Test func outputThatFailsInTheMiddleHasAReport() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let image = path("film.png")
        try FileManager.default.createDirectory(atPath: image, withIntermediateDirectories: true)
        let source = try writePlaylist("film.m3u8", others: [])
        let result = try await play(source, ["--headless", "--screenshot", "3=\(image)"])
        #expect(result.status == 1, "\(result)")
        #expect(result.errors == "millstream: error: \(image): cannot be created: Is a directory (file-failed)\n")
        let metrics = try metrics(result.output)
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(watched > 2.9 && watched < 6 && metrics["errors"] as? Int == 1, "\(metrics)")
    }
}

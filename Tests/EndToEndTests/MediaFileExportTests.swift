import Foundation
import Testing

/// Tests that a media file that is downloaded and exported keeps its metadata, and that notes say what is left out.
@Suite(.tags(.endToEnd), .timeLimit(.minutes(10)))
final class MediaFileExportTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("media-export-\(UUID())")
        .standardizedFileURL

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments + ["--library", path("library")]).result()
    }

    private func tool(_ arguments: [String]) async throws -> String {
        let program = try RunningProgram(arguments, of: URL(fileURLWithPath: "/usr/bin/env"))
        #expect(try await program.finish(within: .seconds(300)) == 0, "\(program.standardError)")
        return program.standardOutput
    }

    private func ffmpeg(_ arguments: [String]) async throws {
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + arguments)
    }

    private struct Probe: Decodable {
        struct Stream: Decodable {
            let disposition: [String: Int]
        }
        struct Format: Decodable {
            let tags: [String: String]
        }
        let streams: [Stream]
        let format: Format
    }

    @Test(arguments: ["m4a", "mkv"]) func metadataOfAFileIsThatOfItsExport(type: String) async throws {
        let (cover, song) = (path("image.png"), path("song.mp3"))
        try await ffmpeg(["-f", "lavfi", "-i", "testsrc2=size=64x64", "-frames:v", "1", "-update", "1", cover])
        let inputs = ["-f", "lavfi", "-i", "sine=duration=3", "-i", cover, "-map", "0", "-map", "1"]
        let texts = ["title=Song", "artist=Band", "album=Record"].flatMap { ["-metadata", $0] }
        let coding = ["-c:a", "libmp3lame", "-c:v", "copy", "-disposition:v", "attached_pic"]
        try await ffmpeg(inputs + texts + coding + [song])
        let file = path("copy.\(type)")
        let downloaded = try await run("download", song, "--output", file)
        #expect(downloaded.status == 0, "\(downloaded)")
        let report = try await tool([
            "ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", file,
        ])
        let probe = try JSONDecoder().decode(Probe.self, from: Data(report.utf8))
        // Matroska writes the names in capital letters.
        let tags = Dictionary(
            probe.format.tags.map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
        #expect(tags["title"] == "Song" && tags["artist"] == "Band" && tags["album"] == "Record", "\(report)")
        #expect(probe.streams.map { $0.disposition["attached_pic"] } == [0, 1], "\(report)")
    }

    /// Makes a file with two audio tracks and English subtitles.
    private func makeFile() async throws -> String {
        let (text, file) = (path("text.srt"), path("movie.mp4"))
        try Data("1\n00:00:01,000 --> 00:00:02,000\nHello\n".utf8).write(to: URL(fileURLWithPath: text))
        let video = ["-f", "lavfi", "-i", "testsrc=d=4:s=320x180"]
        let audio = ["-f", "lavfi", "-i", "sine=f=440:d=4", "-f", "lavfi", "-i", "sine=f=880:d=4", "-i", text]
        let tracks = ["-map", "0", "-map", "1", "-map", "2", "-map", "3"]
        let languages = [
            "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", "-metadata:s:s:0", "language=eng",
        ]
        let coding = [
            "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-c:s", "mov_text",
        ]
        try await ffmpeg(video + audio + tracks + languages + coding + [file])
        return file
    }

    @Test func selectionFromAFileIsNoted() async throws {
        let file = try await makeFile()
        let note = "note: the source is one media file, which is stored whole"
        let selected = try await run("download", file, "--audio", "eng")
        #expect(selected.status == 0 && selected.errors.components(separatedBy: note).count == 2, "\(selected)")
        let all = try await run("download", file)
        #expect(all.status == 0 && !all.errors.contains(note), "\(all)")
        let quiet = try await run("download", file, "--subtitles", "none", "--quiet")
        #expect(quiet.status == 0 && !quiet.errors.contains(note), "\(quiet)")
    }

    /// The subtitles of DVDs are images, whose handler in an MP4 file is `subp`.
    @Test(arguments: ["mp4", "mkv"]) func subtitlesOfImagesAreNoted(type: String) async throws {
        let file = URL(fileURLWithPath: try await makeFile())
        var bytes = try Data(contentsOf: file)
        for (name, replacement) in [("sbtl", "subp"), ("tx3g", "dvds")] {
            let range = try #require(bytes.firstRange(of: Data(name.utf8)))
            bytes.replaceSubrange(range, with: Data(replacement.utf8))
        }
        try bytes.write(to: file)
        let exported = try await run("download", file.path, "--output", path("copy.\(type)"))
        #expect(exported.status == 0, "\(exported)")
        #expect(exported.errors.contains("note: subtitles eng ("), "\(exported)")
        #expect(exported.errors.contains("is left out: only subtitles that consist of text"), "\(exported)")
    }
}

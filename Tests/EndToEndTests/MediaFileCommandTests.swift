import Foundation
import MillstreamTesting
import TestSamples
import Testing

/// Tests that media files are downloaded, played and exported like streams.
@Suite(
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct MediaFileCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("media-file-\(UUID())")
    private var library: String { folder.appendingPathComponent("library").path }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram(arguments + ["--library", library])
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    @Test func fileIsDownloadedAndPlayedWithoutItsOrigin() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let original = try Data(contentsOf: samples.appendingPathComponent("movie.mp4"))
        let origin = try await RecordingOrigin(samples)
        let source = origin.address("movie.mp4")
        let downloaded = try await run(["download", source])
        #expect(downloaded.status == 0 && downloaded.errors.contains("play it with"), "\(downloaded)")
        let id = try #require(downloaded.output.split(separator: " ").first.map(String.init))
        origin.clearPaths()
        let again = try await run(["play", source, "--headless", "--speed", "max"])
        #expect(again.status == 0 && again.output.contains("Watched: ") && origin.paths.isEmpty, "\(again)")
        await origin.stop()
        let list = try await run(["library", "list", "--json"])
        let assets = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        #expect(assets.first?["mediaFile"] as? Bool == true && assets.first?["playableOffline"] as? Bool == true)
        let played = try await run(["play", id, "--headless", "--speed", "max"])
        #expect(played.status == 0 && played.output.contains("Watched: "), "\(played)")
        let plain = try await run(["library", "export", id, folder.appendingPathComponent("plain").path])
        #expect(plain.output == folder.appendingPathComponent("plain/movie.mp4").path + "\n", "\(plain)")
        #expect(try Data(contentsOf: folder.appendingPathComponent("plain/movie.mp4")) == original)
        let matroska = folder.appendingPathComponent("movie.mkv").path
        let exported = try await run(["library", "export", id, "--mkv", matroska])
        #expect(exported.status == 0, "\(exported)")
        let probe = try await tool([
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv", matroska,
        ])
        #expect(probe == "stream,video\nstream,audio\n")
    }

    /// A file whose transfer was aborted is played up to its end, which is an error.
    @Test func fileThatEndsEarlyIsReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let whole = try Data(contentsOf: samples.appendingPathComponent("movie.mp4"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("half.mp4")
        try whole.prefix(whole.count / 2).write(to: path)
        let options = ["--headless", "--speed", "max", "--metrics", "-"]
        let played = try await run(["play", path.path] + options)
        #expect(played.status == 1 && played.errors.contains("the file ends early: it has about "), "\(played)")
        #expect(played.errors.contains(" of 30.0 s, and its last 727 kB are missing (incomplete-file)"), "\(played)")
        #expect(!played.errors.contains("could not be played"), "\(played)")
        // A part of a file would be taken for the whole one.
        let downloaded = try await run(["download", path.path])
        #expect(downloaded.status != 0 && downloaded.output.isEmpty, "\(downloaded)")
        #expect(downloaded.errors.contains("the file ends early: its last 727 kB are missing"), "\(downloaded)")
        let metrics = try #require(
            JSONSerialization.jsonObject(with: Data(played.output.utf8)) as? [String: Any]
        )
        let watched = try #require(metrics["watchedDuration"] as? Double)
        let frames = try #require(metrics["decodedFrames"] as? Int)
        #expect(watched > 12 && watched < 20 && frames > 360 && frames < 600, "\(metrics)")
        // The time after the end of the media is not played.
        let rest = try #require(played.errors.components(separatedBy: "it has about ").last)
        let text = try #require(rest.split(separator: " ").first)
        let available = try #require(Double(text))
        #expect(abs(watched - available) < 0.2, "\(metrics)")
        // What was requested is there.
        let part = try await run(["play", path.path, "--until", "5"] + options)
        #expect(part.status == 0 && !part.errors.contains("error"), "\(part)")
    }

    /// An MP4 file cannot be played without its index, whether that precedes or follows the media.
    @Test(arguments: [true, false]) func fileWithoutItsIndexIsAnError(isIndexFirst: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("part.mp4")
        if isIndexFirst {
            try Data(contentsOf: movie).prefix(15_000).write(to: path)
        } else {
            let whole = folder.appendingPathComponent("whole.mp4")
            _ = try await tool(["ffmpeg", "-v", "error", "-i", movie.path, "-c", "copy", whole.path])
            try Data(contentsOf: whole).prefix(700_000).write(to: path)
        }
        for arguments in [["inspect", path.path], ["inspect", "--media", path.path]] {
            let program = try RunningProgram(arguments)
            #expect(try await program.finish() == 1, "\(program.standardOutput)")
            #expect(program.standardOutput.isEmpty)
            let message = "the file ends early: its index (the moov box) is missing or incomplete"
            #expect(program.standardError.contains(message), "\(program.standardError)")
            #expect(program.standardError.contains("(incomplete-file)"), "\(program.standardError)")
        }
        let played = try await run(["play", path.path, "--no-decode", "--speed", "max"])
        #expect(played.status == 1 && played.errors.contains("(incomplete-file)"), "\(played)")
    }

    /// A recorder that is killed leaves a file whose media has no size.
    @Test func recordingThatDidNotFinishIsAnError() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (whole, path) = (folder.appendingPathComponent("whole.mp4"), folder.appendingPathComponent("killed.mp4"))
        _ = try await tool(["ffmpeg", "-v", "error", "-i", movie.path, "-c", "copy", whole.path])
        var bytes = try Data(contentsOf: whole).prefix(700_000)
        let name = try #require(bytes.firstRange(of: Data("mdat".utf8)))
        bytes.replaceSubrange(name.lowerBound - 4..<name.lowerBound, with: Data(count: 4))
        try bytes.write(to: path)
        for command in ["inspect", "play"] {
            let program = try RunningProgram([command, path.path])
            #expect(try await program.finish() == 1, "\(program.standardOutput)")
            let message =
                "the file is incomplete: it lacks its index (the moov box), because its recording did not finish"
            #expect(program.standardError.contains(message), "\(program.standardError)")
            #expect(program.standardError.contains("(incomplete-file)"), "\(program.standardError)")
        }
        let downloaded = try await run(["download", path.path])
        #expect(downloaded.errors.contains("because the recording of the file did not finish"), "\(downloaded)")
    }

    @Test func codecOfAFLACFileHasOneName() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("a.flac").path
        let sine = ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=3"]
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + sine + ["-c:a", "flac", path])
        let program = [RunningProgram.executable.path, "inspect", "--media", path]
        let table = try await tool(program)
        #expect(table.split(separator: "fLaC").count == 3 && !table.contains("audio flac"), "\(table)")
        let json = try await tool(program + ["--json"])
        #expect(json.split(separator: "\"codec\":\"fLaC\"").count == 3, "\(json)")
        #expect(!json.contains("\"codec\":\"flac\""), "\(json)")
    }

    /// Formats without an index of their bytes declare a number of samples, or the length of a page or box.
    @Test(arguments: [
        ("flac", ["-vn", "-c:a", "flac"], "it has about 1", " of 30.0 s, and about "),
        ("wav", ["-vn"], "it has about 15.0 of 30.0 s", "its last 2.88 MB are missing"),
        ("mp3", ["-vn", "-c:a", "libmp3lame", "-b:a", "128k"], "it has about 1", " of 30.0 s, and its last "),
        ("opus", ["-vn", "-c:a", "libopus"], "it has about ", " s, and at least "),
        ("ogg", ["-vn", "-c:a", "libvorbis"], "it has about ", " s, and at least "),
        ("mp4", ["-c", "copy", "-movflags", "frag_keyframe+empty_moov"], "it has about ", " s, and at least "),
    ])
    func otherFilesThatEndEarlyAreReported(
        format: String,
        coding: [String],
        available: String,
        missing: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let whole = folder.appendingPathComponent("whole.\(format)")
        let path = folder.appendingPathComponent("half.\(format)").path
        _ = try await tool(["ffmpeg", "-v", "error", "-i", movie.path] + coding + [whole.path])
        let bytes = try Data(contentsOf: whole)
        try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
        let options = ["--headless", "--speed", "max", "--metrics", "-"]
        let played = try await run(["play", path] + options)
        #expect(played.status == 1 && played.errors.contains("the file ends early: \(available)"), "\(played)")
        #expect(played.errors.contains(missing) && played.errors.contains("(incomplete-file)"), "\(played)")
        let metrics = try #require(JSONSerialization.jsonObject(with: Data(played.output.utf8)) as? [String: Any])
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(watched > 10 && watched < 20, "\(metrics)")
        let downloaded = try await run(["download", path])
        #expect(downloaded.status != 0 && downloaded.errors.contains("the file ends early: "), "\(downloaded)")
        let inspected = try await tool([RunningProgram.executable.path, "inspect", path])
        #expect(inspected.contains("the file is incomplete: "), "\(inspected)")
        // The whole file has no such report.
        let complete = try await run(["play", whole.path] + options)
        #expect(complete.status == 0 && !complete.errors.contains("ends early"), "\(complete)")
        let all = try await tool([RunningProgram.executable.path, "inspect", whole.path])
        #expect(!all.contains("incomplete"), "\(all)")
    }

    /// A Matroska file whose transfer was aborted has no index at its end, but its size and duration at its start.
    @Test func matroskaFileThatEndsEarlyIsReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (whole, path) = (folder.appendingPathComponent("whole.mkv"), folder.appendingPathComponent("half.mkv"))
        _ = try await tool(["ffmpeg", "-v", "error", "-i", movie.path, "-c", "copy", whole.path])
        let bytes = try Data(contentsOf: whole)
        try bytes.prefix(bytes.count / 2).write(to: path)
        let played = try await run(["play", path.path, "--headless", "--speed", "max", "--metrics", "-"])
        #expect(played.status == 1 && played.errors.contains("the file ends early: it has about 1"), "\(played)")
        #expect(played.errors.contains(" of 30.0 s, and its last "), "\(played)")
        let metrics = try #require(JSONSerialization.jsonObject(with: Data(played.output.utf8)) as? [String: Any])
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(watched > 10 && watched < 20, "\(metrics)")
        let complete = try await run(["play", whole.path, "--headless", "--speed", "max", "--metrics", "-"])
        #expect(complete.status == 0, "\(complete)")
        let all = try #require(JSONSerialization.jsonObject(with: Data(complete.output.utf8)) as? [String: Any])
        // Only the beginning of the file, from which its format is determined, is read twice.
        #expect(try #require(all["bytes"] as? Int) < bytes.count + 600_000, "\(all)")
    }

    /// A recording that was written to a pipe declares no duration.
    @Test func matroskaFileWithoutADurationIsPlayed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("recorded.mkv").path
        _ = try await tool(["ffmpeg", "-v", "error", "-i", movie.path, "-c", "copy", "-live", "1", path])
        let played = try await run(["play", path, "--headless", "--speed", "max", "--metrics", "-"])
        #expect(played.status == 0 && !played.errors.contains("ends early"), "\(played)")
        let metrics = try #require(JSONSerialization.jsonObject(with: Data(played.output.utf8)) as? [String: Any])
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(watched > 29 && watched < 31, "\(metrics)")
    }

    /// The duration of a WAV file without an announced size is known after all of it was loaded.
    @Test func fileOfUnknownSizePlays() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func field(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let (rate, seconds) = (48_000, 2)
        let count = rate * seconds * 2
        let format = field(1, 2) + field(1, 2) + field(rate, 4) + field(rate * 2, 4) + field(2, 2) + field(16, 2)
        let head =
            Array("RIFF".utf8) + field(count + 36, 4) + Array("WAVEfmt ".utf8) + field(16, 4) + format
            + Array("data".utf8) + field(count, 4)
        let file = MisbehavingServer.Resource(head + [UInt8](repeating: 0, count: count), contentType: "audio/wav")
        try await MisbehavingServer.withServer(["/a.wav": file]) { server in
            for (index, behavior) in [MisbehavingServer.Behavior.proper, .chunked].enumerated() {
                server.behave("/a.wav", behavior)
                let played = try await run(["play", server.address("/a.wav"), "--no-decode", "--speed", "max"])
                #expect(played.status == 0 && played.output.contains("Watched: 2.0 s"), "\(index) \(played)")
            }
        }
    }

    /// The bytes that a local file does not have will not be there after a pause.
    @Test func missingBytesOfALocalFileAreNotRequestedAgain() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let stream = samples.appendingPathComponent("byterange/720p")
        try FileManager.default.copyItem(
            at: stream.appendingPathComponent("media.m3u8"),
            to: folder.appendingPathComponent("media.m3u8")
        )
        try Data(contentsOf: stream.appendingPathComponent("media.mp4")).prefix(1_000)
            .write(to: folder.appendingPathComponent("media.mp4"))
        let played = try await run(["play", folder.appendingPathComponent("media.m3u8").path, "--no-decode"])
        #expect(played.status == 1 && played.errors.contains("exceeds the file size of 1000 bytes"), "\(played)")
        #expect(!played.errors.contains("attempts") && !played.errors.contains("waiting"), "\(played)")
    }

    @Test func killedDownloadContinuesInsideTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let origin = try await RecordingOrigin(samples)
        let source = origin.address("movie.mp4")
        let size = try Data(contentsOf: samples.appendingPathComponent("movie.mp4")).count
        let options = ["download", source, "--quiet"]
        let slow = try RunningProgram(options + ["--library", library, "--limit-rate", "\(size * 8 / 10)"])
        let packages = folder.appendingPathComponent("library/packages")
        try await eventually("bytes are noted") {
            let files = FileManager.default.subpaths(atPath: packages.path) ?? []
            return files.contains { $0.hasSuffix(".resume") }
        }
        slow.send(SIGKILL)
        _ = try await slow.finish(within: .seconds(60))
        let resumed = try await run(["download", source, "--json"])
        #expect(resumed.status == 0, "\(resumed)")
        let verified = try await run(["library", "verify"])
        #expect(verified.status == 0 && verified.output.contains("OK"), "\(verified)")
    }

    @Test func otherPlayersGetTheFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = try #require(Samples.directory).appendingPathComponent("movie.mp4").path
        let downloaded = try await run(["download", movie, "--quiet"])
        #expect(downloaded.status == 0, "\(downloaded)")
        let list = try await run(["library", "list", "--json"])
        let assets = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        let id = try #require(assets.first?["id"] as? String)
        let program = try RunningProgram(["serve", "--port", "0", "--library", library])
        let server = try await program.match("(http://[0-9.:]+)/")
        let address = "\(server)/offline/\(id)/multivariant.m3u8"
        let duration = try await tool([
            "ffprobe", "-v", "error", "-show_entries", "format=format_name", "-of", "csv", address,
        ])
        #expect(duration == "format,\"mov,mp4,m4a,3gp,3g2,mj2\"\n")
        program.send(SIGINT)
        _ = try await program.finish(within: .seconds(60))
    }

    /// Makes a file with a tone of 440 Hz in English, one of 880 Hz in German, and English subtitles.
    private func makeFile(_ name: String, subtitles codec: String) async throws -> String {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = folder.appendingPathComponent("text.srt")
        try Data("1\n00:00:01,000 --> 00:00:02,000\nHello\n".utf8).write(to: text)
        let path = folder.appendingPathComponent(name).path
        let inputs = [
            "-f", "lavfi", "-i", "testsrc=d=8:s=320x180", "-f", "lavfi", "-i", "sine=f=440:d=8", "-f", "lavfi", "-i",
            "sine=f=880:d=8", "-i", text.path, "-map", "0", "-map", "1", "-map", "2",
        ]
        let subtitles = codec.isEmpty ? [] : ["-map", "3", "-c:s", codec, "-metadata:s:s:0", "language=eng"]
        let languages = ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu"]
        _ = try await tool(
            ["ffmpeg", "-v", "error"] + inputs + subtitles + languages
                + ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", path]
        )
        return path
    }

    /// Returns the frequency of the left channel of a wave file with 16-bit samples in stereo at 48 kHz.
    private func frequency(_ path: String) throws -> Double {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(44))
        let left = stride(from: 0, to: bytes.count - 3, by: 4).map { index in
            Int(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8))
        }
        let crossings = zip(left, left.dropFirst()).count { ($0 < 0) != ($1 < 0) }
        return Double(crossings) / 2 / max(0.001, Double(left.count) / 48_000)
    }

    @Test(arguments: [("two.mp4", "mov_text"), ("two.mkv", "srt"), ("two.ts", "")])
    func audioOfAFileIsPlayedInTheSelectedLanguage(name: String, codec: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try await makeFile(name, subtitles: codec)
        let options = ["--headless", "--speed", "max", "--wave"]
        for (language, expected) in [("deu", 880.0), ("de", 880), ("eng", 440)] {
            let wave = folder.appendingPathComponent("\(language).wav").path
            let played = try await run(["play", path, "--audio", language] + options + [wave])
            #expect(played.status == 0, "\(played)")
            let heard = try frequency(wave)
            #expect(abs(heard / expected - 1) < 0.03, "\(language): \(heard) Hz")
        }
        let refused = try await run(["play", path, "--audio", "fr", "--headless"])
        #expect(refused.status == 1 && refused.errors.contains("available: eng, deu"), "\(refused)")
        // The index of a transport stream has no tracks.
        if !codec.isEmpty {
            let download = try await run(["download", path, "--audio", "fr"])
            #expect(download.status == 1 && download.errors.contains("available: eng, deu"), "\(download)")
        }
        let subtitles = try await run(["play", path, "--subtitles", "en", "--headless", "--speed", "max"])
        #expect(subtitles.status == (codec.isEmpty ? 1 : 0), "\(subtitles)")
        let inspected = try await tool([RunningProgram.executable.path, "inspect", path])
        #expect(!inspected.contains("not supported"), "\(inspected)")
    }

    /// Subtitles that consist of images are not shown.
    @Test func imagesAsSubtitlesAreRefusedAndLeftOut() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = folder.appendingPathComponent("dvd.mkv").path
        let source = try await makeFile("two.mkv", subtitles: "srt")
        // FFmpeg does not convert text to images.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: source))
        let name = try #require(bytes.firstRange(of: Data("S_TEXT/UTF8".utf8)))
        bytes.replaceSubrange(name, with: Data("S_HDMV/PGS\0".utf8))
        try bytes.write(to: URL(fileURLWithPath: text))
        let played = try await run(["play", text, "--subtitles", "en", "--headless"])
        #expect(
            played.status == 1 && played.errors.contains("subtitles of format S_HDMV/PGS are not supported"),
            "\(played)"
        )
    }

    @Test func exportsOfAFileHaveAllTracks() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try await makeFile("two.mkv", subtitles: "srt")
        let downloaded = try await run(["download", path])
        let id = try #require(downloaded.output.split(separator: " ").first.map(String.init))
        for kind in ["mp4", "mkv"] {
            let exported = folder.appendingPathComponent("all.\(kind)").path
            let result = try await run(["library", "export", id, "--\(kind)", exported])
            #expect(result.status == 0 && !result.errors.contains("left out"), "\(result)")
            let probe = try await tool([
                "ffprobe", "-v", "error", "-show_entries", "stream=codec_type:stream_tags=language", "-of", "csv=p=0",
                exported,
            ])
            let tracks = probe.split(separator: "\n").filter { !$0.hasPrefix("video") }
            #expect(tracks.count == 3 && tracks.first == "audio,eng" && tracks.last == "subtitle,eng", "\(probe)")
            #expect(["audio,deu", "audio,ger"].contains(tracks.dropFirst().first), "\(probe)")
            let wave = folder.appendingPathComponent("\(kind).wav").path
            _ = try await tool([
                "ffmpeg", "-v", "error", "-i", exported, "-map", "0:a:1", "-ac", "2", "-ar", "48000", "-f", "s16le",
                wave,
            ])
            let heard = try frequency(wave)
            #expect(abs(heard / 880 - 1) < 0.03, "\(heard) Hz")
        }
        let texts = folder.appendingPathComponent("texts").path
        let result = try await run(["library", "export", id, "--srt", texts])
        #expect(result.status == 0, "\(result)")
        let text = try String(contentsOfFile: "\(texts)/eng.srt", encoding: .utf8)
        // FFmpeg begins the audio before the other tracks by the samples that its encoder adds.
        #expect(text.contains(/00:00:01,0[0-4]\d --> 00:00:02,0[0-4]\d/) && text.contains("Hello"), "\(text)")
    }

    /// French has two codes in ISO 639-2, of which files have either.
    @Test(arguments: [("two.mp4", "mov_text"), ("two.mkv", "srt")])
    func exportsKeepTheLanguageAndTheNameOfSubtitles(name: String, codec: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let original = try await makeFile("original-\(name)", subtitles: codec)
        let path = folder.appendingPathComponent(name).path
        _ = try await tool([
            "ffmpeg", "-v", "error", "-i", original, "-map", "0", "-c", "copy", "-metadata:s:s:0", "language=fre",
            "-metadata:s:s:0", "title=Forced", path,
        ])
        let played = try await run(["play", path, "--subtitles", "forced", "--headless", "--speed", "max"])
        #expect(played.status == 0, "\(played)")
        let refused = try await run(["play", path, "--subtitles", "Full", "--headless"])
        #expect(refused.status == 1 && refused.errors.contains("available: fre (Forced)"), "\(refused)")
        let downloaded = try await run(["download", path, "--subtitles", "Forced"])
        let id = try #require(downloaded.output.split(separator: " ").first.map(String.init))
        for (kind, title) in [("mp4", "handler_name"), ("mkv", "title")] {
            let exported = folder.appendingPathComponent("all.\(kind)").path
            let result = try await run(["library", "export", id, "--\(kind)", exported])
            #expect(result.status == 0, "\(result)")
            let probe = try await tool([
                "ffprobe", "-v", "error", "-select_streams", "s", "-show_entries", "stream_tags=language,\(title)",
                "-of", "default=nw=1", exported,
            ])
            #expect(probe.contains("TAG:language=fre\n") && probe.contains("TAG:\(title)=Forced\n"), "\(probe)")
        }
        let list = try await run(["library", "list"])
        #expect(list.output.contains("eng,") && list.output.contains("(subtitles fre)"), "\(list)")
        let shown = try await run(["library", "show", id, "--json"])
        let asset = try #require(JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
        #expect(asset["subtitles"] as? [String] == ["fre"], "\(shown)")
        let audio = try #require(asset["audio"] as? [String])
        #expect(audio.count == 2 && audio.first == "eng" && ["deu", "ger"].contains(audio.last), "\(shown)")
        let text = try await run(["library", "show", id])
        #expect(text.output.contains("audio eng,") && text.output.contains("subtitles fre"), "\(text)")
    }

    private func tool(_ arguments: [String]) async throws -> String {
        let program = try RunningProgram(arguments, of: URL(fileURLWithPath: "/usr/bin/env"))
        #expect(try await program.finish(within: .seconds(300)) == 0, "\(program.standardError)")
        return program.standardOutput
    }
}

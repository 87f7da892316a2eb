import Foundation
import TestSamples
import Testing

/// Tests the export of downloaded assets to media files, which FFmpeg reads.
@Suite(.serialized, .tags(.endToEnd))
final class ExportCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("export-command-\(UUID())")
        .standardizedFileURL
    private var library: String { path("library") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func sample(_ name: String) throws -> String {
        try #require(Samples.directory).appendingPathComponent(name).path
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram(arguments + ["--library", library])
        let status = try await program.finish(within: .seconds(300))
        return (status, program.standardOutput, program.standardError)
    }

    /// Downloads a stream and returns the identifier of the asset.
    private func download(_ source: String, _ options: String...) async throws -> String {
        let result = try await run(["download", source, "--audio", "all", "--variants", "lowest"] + options)
        #expect(result.status == 0, "\(result.errors)")
        return try #require(result.output.split(separator: " ").first.map(String.init))
    }

    private func tool(_ arguments: [String]) async throws -> (output: String, errors: String) {
        let program = try RunningProgram(arguments, of: URL(fileURLWithPath: "/usr/bin/env"))
        #expect(try await program.finish(within: .seconds(300)) == 0, "\(program.standardError)")
        return (program.standardOutput, program.standardError)
    }

    /// Exports an asset, decodes the file without errors, and returns what ffprobe reads.
    private func export(_ id: String, _ type: String) async throws -> Probe {
        let file = path("\(UUID()).\(type)")
        let exported = try await run(["library", "export", id, "--\(type)", file])
        #expect(exported.status == 0 && exported.output == file + "\n", "\(exported)")
        let decoded = try await tool(["ffmpeg", "-nostdin", "-v", "error", "-i", file, "-f", "null", "-"])
        #expect(decoded.errors.isEmpty, "\(decoded.errors)")
        let report = try await tool([
            "ffprobe", "-v", "error", "-count_packets", "-show_streams", "-show_format", "-show_chapters", "-of",
            "json",
            file,
        ])
        return try JSONDecoder().decode(Probe.self, from: Data(report.output.utf8))
    }

    private struct Probe: Decodable {
        struct Stream: Decodable {
            let codecType: String
            let codecName: String?
            let packetCount: String?
            let frameRate: String?
            let tags: [String: String]?
            let disposition: [String: Int]

            private enum CodingKeys: String, CodingKey {
                case codecType = "codec_type"
                case codecName = "codec_name"
                case packetCount = "nb_read_packets"
                case frameRate = "r_frame_rate"
                case tags
                case disposition
            }
        }
        struct Format: Decodable {
            let duration: String
            let tags: [String: String]
        }
        struct Chapter: Decodable {
            let startTime: String
            let endTime: String
            let tags: [String: String]

            private enum CodingKeys: String, CodingKey {
                case startTime = "start_time"
                case endTime = "end_time"
                case tags
            }
        }
        let streams: [Stream]
        let format: Format
        let chapters: [Chapter]

        func counts(_ type: String) -> [Int?] {
            streams.filter { $0.codecType == type }.map { $0.packetCount.flatMap(Int.init) }
        }
        var duration: Double { Double(format.duration) ?? 0 }
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["ts", "aes", "byterange"], ["mp4", "mkv"])
    func streamIsExportedCompletely(_ name: String, _ type: String) async throws {
        let id = try await download(try sample("\(name)/multivariant.m3u8"))
        let file = try await export(id, type)
        let duration = name == "ts" ? 72.0 : 60
        #expect(abs(file.duration - duration) < 0.1)
        #expect(file.counts("video") == [Int(duration * Samples.frameRate)])
        #expect(file.streams.map(\.codecName) == ["h264", "aac"])
        #expect(file.format.tags["title"] == name)
    }

    /// FFmpeg reads neither the sample rate of FLAC from its header nor a configuration from VP9, which has none.
    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            ("a.flac", ["-c:a", "flac"], ["flac"]),
            (
                "v.webm", ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"],
                ["vp9", "opus"]
            ),
            ("a.ogg", ["-c:a", "libvorbis"], ["vorbis"]),
        ]
    )
    func mediaFileIsExported(_ name: String, _ options: [String], _ codecs: [String]) async throws {
        let file = path(name)
        var inputs = ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=3"]
        if codecs.count > 1 { inputs = ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3"] + inputs }
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + inputs + options + [file])
        let exported = try await export(try await download(file), "mkv")
        #expect(exported.streams.map(\.codecName) == codecs)
        #expect(abs(exported.duration - 3) < 0.1)
    }

    @Test(.timeLimit(.minutes(20)), arguments: [("a.ogg", "libvorbis"), ("a.opus", "libopus")])
    func languageOfAnOggFileIsExported(_ name: String, _ encoder: String) async throws {
        let file = path(name)
        let input = ["-f", "lavfi", "-i", "sine=sample_rate=48000:duration=3"]
        let options = ["-c:a", encoder, "-metadata:s:a:0", "language=eng"]
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + input + options + [file])
        let exported = try await export(try await download(file), "mkv")
        #expect(exported.streams.map { $0.tags?["language"] } == ["eng"])
        let list = try await run(["library", "list"])
        #expect(list.output.contains(" eng "), "\(list.output)")
    }

    /// No frame follows the last one, which would tell its duration.
    @Test(.timeLimit(.minutes(20)), arguments: [("0", 25), ("2", 30)])
    func lastFrameOfATransportStreamIsExported(_ consecutiveFrames: String, _ rate: Int) async throws {
        let input = ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=\(rate):duration=5"]
        let encoding = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", consecutiveFrames, "-g", "25"]
        let source = path("plain.ts")
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + input + encoding + ["-pix_fmt", "yuv420p", source])
        let downloaded = try await run(["download", source, "--output", path("{title} ({height}p).mp4")])
        #expect(downloaded.status == 0, "\(downloaded)")
        // The title has no extension, and the height is that of the video.
        let report = try await tool([
            "ffprobe", "-v", "error", "-select_streams", "v", "-count_frames", "-show_entries",
            "stream=duration,nb_read_frames", "-of", "csv=p=0", path("plain (180p).mp4"),
        ])
        let values = report.output.split { $0 == "," || $0.isNewline }.compactMap { Double($0) }
        #expect(values.count == 2 && abs((values.first ?? 0) - 5) < 0.001, "\(values)")
        #expect(values.last == Double(rate * 5), "\(values)")
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["mp4", "mkv"], ["png", "jpg"])
    func artworkIsTheCoverOfTheFile(_ type: String, _ format: String) async throws {
        let image = path("image.\(format)")
        let input = ["-f", "lavfi", "-i", "testsrc2=size=64x64", "-frames:v", "1", "-update", "1"]
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + input + [image])
        let id = try await download(try sample("aes/multivariant.m3u8"), "--artwork", image)
        let file = try await export(id, type)
        #expect(file.streams.map(\.codecName) == ["h264", "aac", format == "png" ? "png" : "mjpeg"])
        #expect(file.streams.map { $0.disposition["attached_pic"] } == [0, 0, 1])
        #expect(file.counts("video").first == Int(60 * Samples.frameRate))
        #expect(abs(file.duration - 60) < 0.1)
        let copied = try await run(["library", "export", id, path("copy")])
        #expect(copied.status == 0, "\(copied)")
        let cover = try Data(contentsOf: URL(fileURLWithPath: path("copy/cover.\(format)")))
        #expect(try cover == Data(contentsOf: URL(fileURLWithPath: image)))
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["mp4", "mkv"])
    func coverThatAFileDoesNotHaveIsNoted(_ type: String) async throws {
        let image = path("image.gif")
        let input = ["-f", "lavfi", "-i", "testsrc2=size=64x64", "-frames:v", "1"]
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error"] + input + [image])
        let id = try await download(try sample("aes/multivariant.m3u8"), "--artwork", image)
        let exported = try await run(["library", "export", id, "--\(type)", path("film.\(type)")])
        let note = "note: the cover is left out: only PNG and JPEG images can be written, and it is image/gif\n"
        #expect(exported.status == 0 && exported.errors == note, "\(exported)")
    }

    /// A media playlist declares no height.
    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            ("ts/180p/media.m3u8", "180"), ("fmp4/360p/media.m3u8", "360"), ("fmp4/audio-en/media.m3u8", "audio"),
        ]
    )
    func heightInTheNameOfAFileIsThatOfTheMedia(_ source: String, _ height: String) async throws {
        let downloaded = try await run(["download", try sample(source), "--output", path("{height}.mp4")])
        #expect(downloaded.status == 0, "\(downloaded)")
        #expect(FileManager.default.fileExists(atPath: path("\(height).mp4")), "\(downloaded.output)")
    }

    @Test(.timeLimit(.minutes(20))) func audioAloneIsThatOfTheSelectedLanguage() async throws {
        let file = path("ko.m4a")
        let options = ["--audio-only", "--audio", "ko", "--output", file]
        let downloaded = try await run(["download", try sample("fmp4/multivariant.m3u8")] + options)
        #expect(downloaded.status == 0, "\(downloaded)")
        let report = try await tool(["ffprobe", "-v", "error", "-show_streams", "-show_format", "-of", "json", file])
        let streams = try JSONDecoder().decode(Tracks.self, from: Data(report.output.utf8)).streams
        #expect(streams.map { $0.tags?["language"] } == ["kor"], "\(report.output)")
        #expect(streams.map { $0.disposition["default"] } == [1])
    }

    private struct Tracks: Decodable {
        let streams: [Probe.Stream]
    }

    @Test(.timeLimit(.minutes(20))) func unfinishedFileOfAKilledProcessIsRemoved() async throws {
        let id = try await download(try sample("aes/multivariant.m3u8"))
        // No process has the first number, which is above the maximum, and this one exists.
        let names = [".film.mp4.4194304", ".film.mp4.\(ProcessInfo.processInfo.processIdentifier)", ".film.mp4.old"]
        for name in names { try Data("part".utf8).write(to: URL(fileURLWithPath: path(name))) }
        let exported = try await run(["library", "export", id, "--mp4", path("film.mp4")])
        #expect(exported.status == 0, "\(exported)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == (names.dropFirst() + ["film.mp4", "library"]).sorted())
    }

    /// The message names the track, and the advice is followed.
    @Test(
        .timeLimit(.minutes(20)),
        arguments: [
            ("a.mka", ["-c:a", "pcm_s16le", "-metadata:s:a:0", "language=ger"], "audio ger (pcm_s16le)"),
            ("v.webm", ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"], "video (vp08)"),
        ]
    )
    func codecThatAFileCannotContainIsNamed(_ name: String, _ options: [String], _ track: String) async throws {
        let file = path(name)
        let isVideo = name.hasPrefix("v")
        let input = isVideo ? "testsrc2=size=320x180:rate=25:duration=3" : "sine=sample_rate=48000:duration=3"
        _ = try await tool(["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", input] + options + [file])
        let id = try await download(file)
        let refused = try await run(["library", "export", id, "--mp4", path("film.mp4")])
        #expect(refused.status == 1, "\(refused)")
        let error = "the \(track) cannot be written to an MP4 file (unsupported-in-file)\n"
        let hint = "hint: write a Matroska file, which can contain it: "
        #expect(refused.errors == "millstream: error: " + error + hint + "--mkv FILE\n", "\(refused)")
        let exported = try await run(["library", "export", id, "--mkv", path("film.mkv")])
        #expect(exported.status == 0, "\(exported)")
        let output = ["--output", path("other.mp4")]
        let downloaded = try await run(["download", file, "--audio", "all", "--variants", "lowest"] + output)
        #expect(downloaded.errors.contains(error + hint + "--output FILE.mkv\n"), "\(downloaded)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == [name, "film.mkv", "library"].sorted()
        )
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["mp4", "mkv"])
    func renditionsHaveTheirLanguagesAndNames(_ type: String) async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"))
        let file = try await export(id, type)
        let title = type == "mp4" ? "handler_name" : "title"
        let text = type == "mp4" ? "mov_text" : "subrip"
        #expect(file.streams.map(\.codecName) == ["h264", "aac", "aac", text, text])
        let renditions = file.streams.dropFirst()
        #expect(renditions.map { $0.tags?["language"] } == ["eng", "kor", "eng", "kor"])
        #expect(renditions.map { $0.tags?[title] } == ["English", "한국어", "English", "한국어"])
        #expect(renditions.map { $0.disposition["default"] } == [1, 0, 0, 0])
        #expect(file.counts("video") == [1_800] && abs(file.duration - 60) < 0.1)
        #expect(file.streams.first?.frameRate == "30/1")
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["mp4", "mkv"])
    func timestampsContinueOverDiscontinuitiesAndDateRangesAreChapters(_ type: String) async throws {
        let (first, second) = (try sample("ts/180p"), try sample("ad/240p"))
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:8
            #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z
            #EXT-X-DATERANGE:ID="a",START-DATE="2024-01-01T00:00:00Z",DURATION=4,X-TITLE="One"
            #EXT-X-DATERANGE:ID="b",CLASS="two",START-DATE="2024-01-01T00:00:04Z"
            #EXTINF:6,
            \(first)/0.ts
            #EXT-X-DISCONTINUITY
            #EXTINF:4,
            \(second)/0.ts
            #EXT-X-DISCONTINUITY
            #EXTINF:6,
            \(first)/1.ts
            #EXT-X-ENDLIST

            """
        let source = path("stitched.m3u8")
        try Data(playlist.utf8).write(to: URL(fileURLWithPath: source))
        let file = try await export(try await download(source), type)
        #expect(abs(file.duration - 16) < 0.1, "\(file.duration)")
        #expect(file.counts("video") == [480])
        #expect(file.chapters.map { $0.tags["title"] } == ["One", "two"])
        #expect(file.chapters.compactMap { Double($0.startTime) } == [0, 4])
        #expect(file.chapters.first.flatMap { Double($0.endTime) } == 4)
    }

    /// The dates of the playlists and the timestamps of the media agree, as in a recording whose audio begins a segment earlier.
    @Test(.timeLimit(.minutes(20)), arguments: ["mp4", "mkv"], [0, 2])
    func audioOfAnotherBeginningIsSynchronized(_ type: String, _ firstAudio: Int) async throws {
        let encoding = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-g", "50", "-pix_fmt", "yuv420p"]
        let segments = ["-f", "segment", "-segment_time", "2", "-segment_format", "mpegts"]
        let ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i"]
        let video = ["testsrc2=size=320x180:rate=25:duration=12"] + encoding
        let audio = ["sine=sample_rate=48000:duration=12", "-c:a", "aac"]
        _ = try await tool(ffmpeg + video + segments + [path("v%d.ts")])
        _ = try await tool(ffmpeg + audio + segments + [path("a%d.ts")])
        for (name, first) in [("v", 1), ("a", firstAudio)] {
            let date = "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:0\(2 * first)Z\n"
            let media = (first..<6).map { "#EXTINF:2,\n\(name)\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + date + media + "#EXT-X-ENDLIST\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path("\(name).m3u8")))
        }
        let main = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="a.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42c00d,mp4a.40.2",RESOLUTION=320x180,AUDIO="a"
            v.m3u8

            """
        try Data(main.utf8).write(to: URL(fileURLWithPath: path("main.m3u8")))
        let file = path("film.\(type)")
        let id = try await download(path("main.m3u8"))
        let exported = try await run(["library", "export", id, "--\(type)", file])
        #expect(exported.status == 0, "\(exported)")
        let bounds = try await packetBounds(of: file)
        let start = firstAudio == 0 ? 0.0 : 2
        #expect(abs(bounds.video.first) < 0.1 && abs(bounds.video.last - 10) < 0.2, "\(bounds)")
        #expect(abs(bounds.audio.first - start) < 0.1 && abs(bounds.audio.last - 10) < 0.2, "\(bounds)")
    }

    /// Returns the times of the first and the last packet of the video and the audio of a file, in seconds.
    private func packetBounds(
        of file: String
    ) async throws -> (video: (first: Double, last: Double), audio: (first: Double, last: Double)) {
        var bounds: [(first: Double, last: Double)] = []
        for kind in ["v:0", "a:0"] {
            let report = try await tool([
                "ffprobe", "-v", "error", "-select_streams", kind, "-show_entries", "packet=pts_time", "-of", "csv=p=0",
                file,
            ])
            let times = report.output.split { $0 == "," || $0.isNewline }.compactMap { Double($0) }
            bounds.append((try #require(times.min()), try #require(times.max())))
        }
        return (bounds[0], bounds[1])
    }

    @Test(.timeLimit(.minutes(10))) func subtitlesAreExportedAsSubRip() async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"))
        let result = try await run(["library", "export", id, "--srt", path("subtitles")])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == path("subtitles/en.srt") + "\n" + path("subtitles/ko.srt") + "\n")
        let text = try String(contentsOfFile: path("subtitles/en.srt"), encoding: .utf8)
        #expect(text.hasPrefix("1\n00:00:00,200 --> 00:00:01,100\nEnglish caption 0 s\n\n2\n"), "\(text.prefix(80))")
        #expect(text.components(separatedBy: " --> ").count == 61)
    }

    /// The last caption of the stored part is shown in the next segment too, which is not stored.
    @Test(.timeLimit(.minutes(10))) func subtitlesOfAPartEndWithTheVideo() async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"), "--range", "10...20")
        let result = try await run(["library", "export", id, "--srt", path("subtitles")])
        #expect(result.status == 0, "\(result.errors)")
        let text = try String(contentsOfFile: path("subtitles/en.srt"), encoding: .utf8)
        let ends = text.matches(of: /--> 00:00:(\d\d),(\d\d\d)/).compactMap { match in
            Double("\(match.output.1).\(match.output.2)")
        }
        let file = try await export(id, "mkv")
        let last = try #require(ends.last)
        let frames = try #require(file.counts("video").compactMap { $0 }.first)
        let duration = Double(frames) / Samples.frameRate
        #expect(ends.count > 5 && abs(last - duration) < 0.05, "\(ends) \(duration)")
    }

    /// Only the first segment of the video is needed, because the times of the subtitles are relative to it.
    @Test(.timeLimit(.minutes(10))) func completeSubtitlesOfAnIncompleteAssetAreExported() async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"))
        let whole = try await run(["library", "export", id, "--srt", path("whole")])
        #expect(whole.status == 0, "\(whole)")
        let package = library + "/packages/" + id
        let video = try FileManager.default.subpathsOfDirectory(atPath: package).sorted().filter { path in
            path.hasPrefix("variant-") && path.contains("/0") && !path.hasSuffix(".m3u8")
        }
        try FileManager.default.removeItem(atPath: package + "/" + (try #require(video.last)))
        _ = try await run(["library", "verify", id])
        let part = try await run(["library", "export", id, "--srt", path("part")])
        #expect(part.status == 0 && part.errors.isEmpty, "\(part)")
        let texts = try ["whole", "part"].map { try String(contentsOfFile: path("\($0)/en.srt"), encoding: .utf8) }
        #expect(texts[0] == texts[1])
        try FileManager.default.removeItem(atPath: package + "/" + (try #require(video.first)))
        _ = try await run(["library", "verify", id])
        let untimed = try await run(["library", "export", id, "--srt", path("untimed")])
        #expect(untimed.status == 1 && untimed.errors.contains("--partial"), "\(untimed)")
    }

    /// The first rendition is written before the second one is read.
    @Test(.timeLimit(.minutes(10))) func failedExportOfSubtitlesLeavesNothing() async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"))
        let package = URL(fileURLWithPath: library + "/packages/" + id)
        let playlist = try String(contentsOf: package.appendingPathComponent("multivariant.m3u8"), encoding: .utf8)
        let korean = try #require(
            playlist.split(separator: "\n").first { $0.contains("TYPE=SUBTITLES") && $0.contains("LANGUAGE=\"ko\"") }
        )
        let name = try #require(korean.firstMatch(of: /URI="([^"\/]+)\//)?.output.1)
        let folder = package.appendingPathComponent(String(name))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".m3u8") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
        let result = try await run(["library", "export", id, "--srt", path("exports/subtitles")])
        #expect(result.status == 1 && result.errors.contains("millstream library repair \(id)"), "\(result)")
        let files = try? FileManager.default.contentsOfDirectory(atPath: path("exports"))
        #expect(files?.isEmpty ?? true, "\(files ?? [])")
    }

    @Test(.timeLimit(.minutes(10))) func trackOfWhichNothingIsStoredIsNamed() async throws {
        let id = try await download(try sample("fmp4/multivariant.m3u8"))
        let package = URL(fileURLWithPath: library + "/packages/" + id)
        let playlist = try String(contentsOf: package.appendingPathComponent("multivariant.m3u8"), encoding: .utf8)
        let lines = playlist.split(separator: "\n")
        let korean = try #require(lines.first { $0.contains("TYPE=AUDIO") && $0.contains("LANGUAGE=\"ko\"") })
        let name = try #require(korean.firstMatch(of: /URI="([^"\/]+)\//)?.output.1)
        let folder = package.appendingPathComponent(String(name))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".m3u8") {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
        _ = try await run(["library", "verify", id])
        let result = try await run(["library", "export", id, "--mkv", path("part.mkv"), "--partial"])
        #expect(result.status == 0, "\(result.errors)")
        let note = "note: audio ko is left out, because nothing of it is stored\n"
        #expect(result.errors.contains(note), "\(result.errors)")
        #expect(!result.errors.contains("audio en"), "\(result.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func existingFileIsReplacedOnRequest() async throws {
        let id = try await download(try sample("aes/multivariant.m3u8"))
        let file = path("film.mp4")
        try Data("film".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: path("link.mp4"), withDestinationPath: file)
        let refused = try await run(["library", "export", id, "--mp4", file])
        #expect(refused.errors.contains("\(file) already exists"), "\(refused)")
        #expect(refused.errors.contains("; --overwrite replaces a file\n"), "\(refused)")
        // What exists stays if the new file cannot be completed.
        let failed = try await run(["library", "export", "none", "--mp4", file, "--overwrite"])
        #expect(failed.status == 1, "\(failed)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "film")
        let replaced = try await run(["library", "export", id, "--mp4", path("link.mp4"), "--overwrite"])
        #expect(replaced.status == 0 && replaced.output == "\(path("link.mp4"))\n", "\(replaced)")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(try #require(attributes[.size] as? Int) > 10_000)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["film.mp4", "library", "link.mp4"])
        try FileManager.default.createDirectory(atPath: path("folder.mp4"), withIntermediateDirectories: false)
        let kept = try await run(["library", "export", id, "--mp4", path("folder.mp4"), "--overwrite"])
        #expect(kept.status == 1 && kept.errors.contains("is not a file that can be replaced"), "\(kept)")
        let usage = try await run(["library", "export", id, path("copy"), "--overwrite"])
        #expect(usage.status == 64, "\(usage)")
    }

    @Test(.timeLimit(.minutes(10))) func existingFileAndIncompleteAssetAreRefused() async throws {
        let id = try await download(try sample("aes/multivariant.m3u8"))
        let file = path("film.mp4")
        try Data("film".utf8).write(to: URL(fileURLWithPath: file))
        let refused = try await run(["library", "export", id, "--mp4", file])
        #expect(refused.status == 1 && refused.errors.contains("\(file) already exists"), "\(refused)")
        #expect(refused.errors.contains("hint: choose another name, or delete what is there"), "\(refused)")
        let template = try await run(["library", "export", id, "--mp4", path("{id}/film.mp4")])
        #expect(template.status == 0, "\(template)")
        let again = try await run(["library", "export", id, "--mp4", path("{id}/film.mp4")])
        #expect(again.errors.contains("(already-exists)\nhint: choose another name"), "\(again)")
        try FileManager.default.removeItem(atPath: path(id))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "film")
        let package = library + "/packages/" + id
        let segments = try FileManager.default.subpathsOfDirectory(atPath: package).filter { $0.hasSuffix(".ts") }
        try FileManager.default.removeItem(atPath: package + "/" + (try #require(segments.sorted().last)))
        let damaged = try await run(["library", "export", id, path("copy")])
        #expect(damaged.status == 1 && damaged.errors.contains("millstream library repair \(id)\n"), "\(damaged)")
        _ = try await run(["library", "verify", id])
        let incomplete = try await run(["library", "export", id, "--mkv", path("part.mkv")])
        #expect(incomplete.status == 1 && incomplete.errors.contains("--partial"), "\(incomplete.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["film.mp4", "library"])
        let partial = try await run(["library", "export", id, "--mkv", path("part.mkv"), "--partial"])
        #expect(partial.status == 0, "\(partial.errors)")
        #expect(FileManager.default.fileExists(atPath: path("part.mkv")))
        let note = /note: [a-z ]+ is incomplete: [0-9]+ of [0-9]+ segments are stored\n/
        #expect(partial.errors.firstMatch(of: note) != nil, "\(partial.errors)")
        let usage = try await run(["library", "export", id, "--mkv", "a.mkv", "--mp4", "b.mp4"])
        #expect(usage.status == 64 && usage.errors.contains("give one of"), "\(usage.errors)")
    }
}

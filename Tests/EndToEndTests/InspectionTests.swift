import Foundation
import TestSamples
import Testing

/// Tests what `inspect` and `validate` report about several playlists, media files and segments.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct InspectionTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("inspection-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func sample(_ name: String) throws -> String {
        try #require(Samples.directory).appendingPathComponent(name).path
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: url)
        return url.path
    }

    /// Returns the output of ffprobe as lines.
    private func probe(_ arguments: [String]) async throws -> [String] {
        let program = try RunningProgram(
            ["ffprobe", "-v", "error"] + arguments + ["-of", "csv=p=0"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0, "\(program.standardError)")
        return program.standardOutput.split(separator: "\n").map(String.init)
    }

    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"

    /// Writes a multivariant playlist of four variants, of which the last is missing.
    private func makeStream() throws -> String {
        for name in ["a", "b", "c"] { _ = try file("\(name).m3u8", Self.media) }
        let variants = ["a", "b", "c", "missing"].enumerated().map { position, name in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(position + 1)00000\n\(name).m3u8\n"
        }
        return try file("multivariant.m3u8", "#EXTM3U\n" + variants.joined())
    }

    /// A text with tags is inspected, although players and downloads must refuse it.
    @Test(.timeLimit(.minutes(10))) func missingHeaderIsTheFirstFinding() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let text = "# Films\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n"
        let path = try file("films.md", text)
        let inspected = try await run("inspect", path)
        #expect(inspected.output.hasPrefix("#EXTM3U is missing at the beginning: "), "\(inspected)")
        let played = try await run("play", path, "--no-decode", "--speed", "max")
        #expect(played.status == 2 && played.errors.contains("it does not begin with #EXTM3U"), "\(played)")
        let library = folder.appendingPathComponent("library").path
        let downloaded = try await run("download", path, "--library", library)
        #expect(downloaded.status == 2 && downloaded.errors.contains("it does not begin with #EXTM3U"), "\(downloaded)")
        // Empty lines and a byte-order mark are tolerated.
        let marked = try file("marked.m3u8", text.replacing("# Films", with: "\u{FEFF}\n#EXTM3U"))
        #expect(try await run("inspect", marked).output.hasPrefix("#EXTM3U") == false)
    }

    @Test(.timeLimit(.minutes(10))) func missingMediaPlaylistIsListedWithTheOthers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stream = try makeStream()
        let text = try await run("inspect", stream, "--follow")
        #expect(text.status == 1 && text.output.components(separatedBy: "1 segment,").count == 4, "\(text)")
        #expect(text.output.contains("missing.m3u8\nerror: ") && text.output.contains("(file-not-found)"), "\(text)")
        #expect(text.errors.contains("1 of 4 media playlists could not be read"), "\(text.errors)")
        let report = try json(try await run("inspect", stream, "--follow", "--json").output)
        let playlists = try #require(report["playlists"] as? [[String: Any]])
        #expect(playlists.count == 4 && playlists.count { $0["error"] != nil } == 1)
        let validated = try await run("validate", stream, "--follow")
        #expect(validated.status == 1 && validated.output.contains("missing.m3u8: not validated: "), "\(validated)")
        #expect(validated.output.contains("4 playlists validated"), "\(validated)")
    }

    @Test(.timeLimit(.minutes(10))) func equalFindingsAreGroupedAndFiltered() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stream = try makeStream()
        _ = try file("missing.m3u8", Self.media)
        let all = try await run("validate", stream, "--follow")
        #expect(all.status == 2)
        let lines = all.output.split(separator: "\n").filter { $0.contains("[longer-than-target") }
        #expect(lines.count == 1 && lines[0].contains("a.m3u8:3: error: "), "\(all.output)")
        #expect(all.output.contains("also at \(folder.path)/b.m3u8:3, \(folder.path)/c.m3u8:3"), "\(all.output)")
        let codes = ["longer-than-target"]
        var arguments = ["validate", stream, "--follow"]
        for code in codes { arguments += ["--ignore", code] }
        let program = try RunningProgram(arguments)
        #expect(try await program.finish() == 0, "\(program.standardOutput)")
        #expect(!program.standardOutput.contains("longer-than-target"))
        let errors = try await run("validate", stream, "--follow", "--severity", "error")
        #expect(errors.status == 2 && !errors.output.contains(": warning: ") && !errors.output.contains(": note: "))
        // The counts are those of all findings, which the option only hides.
        let counts = try #require(all.output.firstMatch(of: /\d+ errors?, \d+ warnings?/)?.output)
        #expect(errors.output.contains(counts) && errors.output.contains(" not shown"), "\(errors.output)")
        let unknown = try await run("validate", stream, "--ignore", "no-such-rule")
        #expect(unknown.status == 64 && unknown.errors.contains("--ignore must be the identifier of a rule"))
        let report = try json(try await run("validate", stream, "--follow", "--json").output)
        #expect(report["errors"] as? Int == 4)
    }

    /// The samples are correct streams.
    @Test(.timeLimit(.minutes(10)), arguments: ["ts", "fmp4", "aes", "byterange", "ad"])
    func samplesHaveNoFindings(stream: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run("validate", try sample("\(stream)/multivariant.m3u8"), "--follow")
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
        #expect(result.output.hasSuffix("0 errors, 0 warnings\n"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["movie.mp4", "ts/360p/0.ts"])
    func mediaFilesAreInspected(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try sample(name)
        let report = try json(try await run("inspect", path, "--json").output)
        #expect(report["kind"] as? String == "file")
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        #expect(Set(tracks.compactMap { $0["type"] as? String }) == ["video", "audio"], "\(tracks)")
        let video = try #require(tracks.first { $0["type"] as? String == "video" })
        #expect(video["width"] as? Int == 640 && video["height"] as? Int == 360)
        #expect((video["codec"] as? String)?.hasPrefix("avc1.") == true)
        let expected = try #require(Double(try await probe(["-show_entries", "format=duration", path])[0]))
        let duration = try #require(report["duration"] as? Double)
        #expect(abs(duration - expected) < 0.1)
        let text = try await run("inspect", path)
        #expect(text.status == 0 && text.output.contains("640x360") && text.output.contains("media file"), "\(text)")
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: ["song.m4a", "song.flac", "song.opus", "song.mka", "song.wav"]
    )
    func metadataOfMediaFilesIsShown(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent(name).path
        try await makeFile(
            ["-f", "lavfi", "-i", "sine=d=1", "-metadata", "title=Song", "-metadata", "artist=Band"]
                + ["-metadata", "album=Album", path]
        )
        let report = try json(try await run("inspect", path, "--json").output)
        #expect(["title", "artist", "album"].map { report[$0] as? String } == ["Song", "Band", "Album"])
        let text = try await run("inspect", path)
        #expect(text.output.contains("title: Song\nartist: Band\nalbum: Album\n"), "\(text)")
    }

    /// The index of a Matroska file and its media describe the same tracks.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [("copy.mkv", ["-c", "copy"]), ("copy.mov", ["-c", "copy"]), ("copy.ts", ["-c", "copy"])]
    )
    func tracksAreListedOnceWithTheirProperties(name: String, coding: [String]) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (movie, path) = (try sample("movie.mp4"), folder.appendingPathComponent(name).path)
        try await makeFile(["-i", movie] + coding + [path])
        let properties = ["type", "codec", "width", "height", "sampleRate", "channels"]
        func tracks(_ path: String) async throws -> [[String]] {
            let report = try json(try await run("inspect", path, "--json").output)
            let tracks = try #require(report["tracks"] as? [[String: Any]])
            return tracks.map { track in properties.map { track[$0].map { "\($0)" } ?? "" } }
        }
        #expect(try await tracks(path) == tracks(movie))
    }

    @Test(.timeLimit(.minutes(10))) func languagesOfMatroskaTracksAreThoseOfTheirCodecs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("two.mkv").path
        try await makeFile(
            ["-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-f", "lavfi", "-i", "sine=d=1", "-map", "0", "-map", "1"]
                + ["-map", "1", "-c:v", "libx264", "-c:a:0", "libopus", "-c:a:1", "aac", "-ac:a:1", "2"]
                + ["-metadata:s:a:0", "language=kor", "-metadata:s:a:1", "language=deu", path]
        )
        let report = try json(try await run("inspect", path, "--json").output)
        let tracks = try #require(report["tracks"] as? [[String: Any]])
        #expect(tracks.map { $0["id"] as? Int } == [1, 2, 3])
        #expect(tracks.map { $0["language"] as? String } == [nil, "kor", "deu"])
        #expect(tracks.dropFirst().map { $0["codec"] as? String } == ["Opus", "mp4a.40.2"])
        #expect(tracks.map { $0["channels"] as? Int } == [nil, 1, 2])
    }

    private func makeFile(_ arguments: [String]) async throws {
        let program = try RunningProgram(
            ["ffmpeg", "-nostdin", "-v", "error"] + arguments,
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0, "\(program.standardError)")
    }

    /// A file whose transfer was interrupted has an index of more bytes than it has.
    @Test(.timeLimit(.minutes(10))) func incompleteFilesAreReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: try sample("movie.mp4")))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appendingPathComponent("half.mp4").path
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: path))
        let report = try json(try await run("inspect", path, "--json").output)
        let missing = try #require(report["missingBytes"] as? Int)
        #expect(missing > whole.count / 3 && missing <= whole.count - whole.count / 2)
        #expect(report["bitRate"] == nil)
        let text = try await run("inspect", path)
        #expect(text.output.contains("the file is incomplete: its last "), "\(text.output)")
        let complete = try json(try await run("inspect", try sample("movie.mp4"), "--json").output)
        #expect(complete["missingBytes"] == nil && complete["bitRate"] != nil)
    }

    @Test(.timeLimit(.minutes(10))) func boxWithAnImpossibleSizeIsReported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: try sample("movie.mp4")))
        let type = try #require(bytes.range(of: Data("mdat".utf8)))
        bytes.replaceSubrange((type.lowerBound - 4)..<type.lowerBound, with: Data([0x7F, 0xFF, 0xFF, 0xFF]))
        let path = folder.appendingPathComponent("damaged.mp4").path
        try bytes.write(to: URL(fileURLWithPath: path))
        let text = try await run("inspect", path)
        #expect(text.status == 0 && text.output.contains("\nwarning: the box mdat at byte "), "\(text.output)")
        let problems = try json(try await run("inspect", path, "--json").output)["problems"] as? [String]
        #expect(problems?.count == 1 && problems?.first?.hasSuffix("which exceeds the file") == true)
        #expect(try json(try await run("inspect", try sample("movie.mp4"), "--json").output)["problems"] == nil)
    }

    /// The segments of a DASH manifest are those of its translation.
    @Test(.timeLimit(.minutes(10)), arguments: ["dash-number", "dash-timeline", "dash-ondemand"])
    func segmentsOfManifestsAreInspected(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try sample("\(name)/manifest.mpd")
        let result = try await run("inspect", source, "--media", "--segments", "2", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let report = try json(result.output)
        let playlists = try #require(report["playlists"] as? [[String: Any]])
        #expect(report["kind"] as? String == "dash" && !playlists.isEmpty)
        for playlist in playlists {
            let media = try #require(playlist["media"] as? [[String: Any]])
            #expect(playlist["representation"] is String && playlist["kind"] as? String == "media")
            #expect(!media.isEmpty && media.count <= 2 && media.allSatisfy { $0["error"] == nil }, "\(media)")
        }
        let text = try await run("inspect", source, "--media", "--segments", "1")
        #expect(text.status == 0 && text.output.contains("DASH presentation, static"), "\(text.errors)")
        #expect(text.output.contains("\nrepresentation ") && text.output.contains("measured"), "\(text.output)")
    }

    /// Durations that are not used are reported with the manifest.
    @Test(.timeLimit(.minutes(10)), arguments: [("PT12Q", "dash-invalid-value"), ("-PT4S", "dash-negative-duration")])
    func durationsOfManifestsThatAreIgnoredAreReported(duration: String, code: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = try file(
            "a.mpd",
            """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" minBufferTime="PT2S" mediaPresentationDuration="\(duration)">
            <Period/></MPD>
            """
        )
        let inspected = try await run("inspect", path)
        #expect(inspected.status == 0 && inspected.output.contains("[\(code), section "), "\(inspected.output)")
        #expect(inspected.output.contains("DASH presentation, static\n"), "\(inspected.output)")
        let validated = try await run("validate", path)
        #expect(validated.status == 2 && validated.output.contains("[\(code), section "), "\(validated.output)")
    }

    /// There is nothing to follow, which a user who asked for it learns.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: [("dash-number/manifest.mpd", "a DASH manifest"), ("movie.mp4", "a media file")]
    )
    func optionWithoutEffectIsNoted(name: String, kind: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let plain = try await run("inspect", try sample(name))
        let followed = try await run("inspect", try sample(name), "--follow")
        #expect(followed.status == 0 && followed.output == plain.output, "\(followed.errors)")
        #expect(plain.errors.isEmpty, "\(plain.errors)")
        #expect(followed.errors == "note: --follow has no effect, because \(kind) has no media playlists\n")
    }

    /// The tracks, timestamps and key frames of segments are those that ffprobe reads.
    @Test(.timeLimit(.minutes(10)), arguments: ["ts/360p/media.m3u8", "fmp4/360p/media.m3u8", "aes/360p/media.m3u8"])
    func segmentsAreInspected(name: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run("inspect", try sample(name), "--media", "--segments", "3", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let media = try #require(try json(result.output)["media"] as? [[String: Any]])
        #expect(media.count == 3 && media.allSatisfy { $0["error"] == nil }, "\(media)")
        let first = try #require(media.first)
        let tracks = try #require(first["tracks"] as? [[String: Any]])
        let video = try #require(tracks.first { $0["type"] as? String == "video" })
        let declared = try #require(first["declaredDuration"] as? Double)
        #expect(abs(try #require(first["duration"] as? Double) - declared) < 0.1)
        #expect(try #require(first["bitRate"] as? Int) > 10_000)
        let keyFrames = try #require(video["keyFrames"] as? [Double])
        // A key frame every two seconds.
        #expect(keyFrames.count == Int((declared / 2).rounded(.up)))
        #expect(video["samples"] as? Int == Int((declared * 30).rounded()))
        guard name.hasPrefix("ts/") else { return }
        let packets = try await probe([
            "-select_streams", "v", "-show_entries", "packet=pts_time,flags", try sample("ts/360p/0.ts"),
        ])
        let expected = packets.filter { $0.contains("K") }.compactMap { Double($0.prefix { $0 != "," }) }
        #expect(zip(keyFrames, expected).allSatisfy { abs($0 - $1) < 0.001 } && keyFrames.count == expected.count)
    }

    @Test(.timeLimit(.minutes(10))) func unreadableSegmentIsListedWithTheReason() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let playlist = try file("a.m3u8", Self.media)
        let result = try await run("inspect", playlist, "--media")
        #expect(result.status == 1 && result.output.contains("does not exist"), "\(result)")
    }
}

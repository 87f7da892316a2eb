import Foundation
import MediaTransport
import TestSamples
import Testing

/// Tests `millstream play` without decoding, and `millstream simulate`, as they are used by scripts.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct PlayingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("playing-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await run(arguments)
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    private func lines(_ name: String) throws -> [[String: Any]] {
        try text(name).split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func metrics(_ name: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text(name).utf8)) as? [String: Any])
    }

    @Test(.timeLimit(.minutes(10))) func streamIsPlayedAndLogsAreWritten() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let result = try await run(
            "play",
            origin.address("fmp4/multivariant.m3u8"),
            "--no-decode",
            "--speed",
            "max",
            "--metrics",
            path("metrics.json"),
            "--events",
            path("events"),
            "--access-log",
            path("access"),
            "--error-log",
            path("errors"),
            "--start",
            "10",
            "--until",
            "50"
        )
        await origin.stop()
        #expect(result.status == 0, "\(result.errors)")
        let metrics = try metrics("metrics.json")
        let watched = try #require(metrics["watchedDuration"] as? Double)
        #expect(abs(watched - 40) < 0.5)
        #expect(metrics["stallCount"] as? Int == 0)
        let events = try lines("events")
        #expect(events.contains { $0["event"] as? String == "end" } && events.last?["event"] as? String == "sessionEnd")
        #expect(events.contains { $0["event"] as? String == "segmentLoaded" })
        let access = try text("access")
        #expect(access.hasPrefix("#Version: 1.0\n") && access.contains("fmp4/"))
        #expect(try text("errors").hasPrefix("#Version: 1.0\n"))
    }

    /// Edited streams are played from a server and from files.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func editedStreamIsPlayed(
        isServed: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        let origin = try await RecordingOrigin(samples)
        let file = samples.appendingPathComponent("ts/multivariant.m3u8").path
        let played = try await run(
            "play",
            isServed ? origin.address("ts/multivariant.m3u8") : file,
            "--no-decode",
            "--speed",
            "max",
            "--quiet",
            "--edit",
            "bandwidth=900k...2M&duration=12",
            "--metrics",
            path("metrics.json"),
            "--events",
            path("events")
        )
        await origin.stop()
        #expect(played.status == 0, "\(played.errors)")
        let watched = try #require(try metrics("metrics.json")["watchedDuration"] as? Double)
        #expect(abs(watched - 12) < 0.5)
        let loaded = try lines("events").filter { $0["event"] as? String == "segmentLoaded" }
            .compactMap { $0["url"] as? String }
        #expect(loaded.count == 2)
        #expect(loaded.allSatisfy { $0.contains("360p") || $0.contains("480p") }, "\(loaded)")
        let wrong = try await run("play", file, "--no-decode", "--edit", "colour=red")
        #expect(wrong.status == 64 && wrong.errors.contains("colour") && wrong.errors.contains("bandwidth"))
        let empty = try await run("play", file, "--no-decode", "--edit", "duration=0")
        #expect(empty.status == 64 && empty.errors.hasPrefix("millstream: error: --edit: duration"), "\(empty.errors)")
        // Inserted content may be a local file, named as in other arguments.
        let advertisement = samples.appendingPathComponent("ad/multivariant.m3u8").path
        let stitched = try await run(
            "play",
            file,
            "--no-decode",
            "--speed",
            "max",
            "--quiet",
            "--edit",
            "duration=6&append=\(advertisement)"
        )
        #expect(stitched.status == 0 && !stitched.output.contains("Watched: 6."), "\(stitched.errors)")
    }

    /// Time for which segments are missing is not watched, and both the JSON and the text say so.
    @Test(.timeLimit(.minutes(10))) func timeOfMissingSegmentsIsSkippedAndNotWatched() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let samples = try #require(Samples.directory)
        for name in ["0.ts", "1.ts", "3.ts"] {
            try FileManager.default.copyItem(
                at: samples.appendingPathComponent("ad/240p/\(name)"),
                to: folder.appendingPathComponent(name)
            )
        }
        let playlist = try String(contentsOf: samples.appendingPathComponent("ad/240p/media.m3u8"), encoding: .utf8)
        try Data(playlist.utf8).write(to: folder.appendingPathComponent("media.m3u8"))
        let durations = playlist.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }.compactMap {
            Double($0.dropFirst(8).prefix { $0 != "," })
        }
        try #require(durations.count == 5)
        let missing = durations[2] + durations[4]
        let source = path("media.m3u8")
        let played = try await run("play", source, "--no-decode", "--speed", "max", "--json")
        #expect(played.status == 0, "\(played.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(played.output.utf8))
        let figures = try #require(object as? [String: Any])
        let watched = try #require(figures["watchedDuration"] as? Double)
        let skipped = try #require(figures["skippedDuration"] as? Double)
        #expect(abs(skipped - missing) < 0.1, "\(played.output)")
        #expect(abs(watched - (durations.reduce(0, +) - missing)) < 0.1, "\(played.output)")
        let text = try await run("play", source, "--no-decode", "--speed", "max")
        let seconds = String(format: "%.1f", missing)
        #expect(text.output.contains("Skipped: \(seconds) s without video or audio\n"), "\(text.output)")
        #expect(text.output.contains("Skipped segments: 2 not loaded\n"), "\(text.output)")
    }

    /// A start in reverse waits for media before its position; this wait belongs to the startup time.
    @Test(.timeLimit(.minutes(10))) func reversePlaybackStartsWithoutAStall() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("ts/multivariant.m3u8").path
        let played = try await run(
            "play",
            source,
            "--no-decode",
            "--speed",
            "max",
            "--rate=-1",
            "--start",
            "6",
            "--json"
        )
        #expect(played.status == 0, "\(played.errors)")
        let object = try JSONSerialization.jsonObject(with: Data(played.output.utf8))
        let figures = try #require(object as? [String: Any])
        #expect(figures["stallCount"] as? Int == 0, "\(played.output)")
        #expect(figures["startupTime"] is Double, "\(played.output)")
        let watched = try #require(figures["watchedDuration"] as? Double)
        #expect(abs(watched - 6) < 0.1, "\(played.output)")
    }

    @Test(.timeLimit(.minutes(10))) func interruptedPlaybackWritesMetricsAndLogs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let program = try RunningProgram([
            "play", origin.address("ts/multivariant.m3u8"), "--no-decode", "--metrics", path("metrics.json"),
            "--access-log", path("access"), "--events", path("events"),
        ])
        try await eventually("it plays") { (try? text("events").contains(#""timeControl":"playing""#)) == true }
        try await Task.sleep(for: .milliseconds(500))
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        await origin.stop()
        #expect(!program.standardError.contains("error"), "\(program.standardError)")
        let watched = try #require(try metrics("metrics.json")["watchedDuration"] as? Double)
        #expect(watched > 0 && watched < 60)
        #expect(try text("access").split(separator: "\n").contains { !$0.hasPrefix("#") })
    }

    @Test(.timeLimit(.minutes(10))) func interruptedPlaybackPrintsItsSummary() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("ts/multivariant.m3u8").path
        let program = try RunningProgram(["play", sample, "--no-decode"])
        try await eventually("it plays") { program.standardError.contains("Playback started") }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(program.standardOutput.hasPrefix("Watched: "), "\(program.standardOutput)")
        #expect(program.standardError.hasSuffix("Playback ended\n"), "\(program.standardError)")
    }

    @Test(.timeLimit(.minutes(10))) func slowStartIsShown() async throws {
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .seconds(4)
        let program = try RunningProgram(["play", origin.address("ts/multivariant.m3u8"), "--no-decode"])
        try await eventually("loading is shown") { program.standardError.contains("loading for ") }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func playbackThatNeverStartedHasNoEndAndNoSummary() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let failed = try await run("play", path("missing.m3u8"), "--no-decode")
        #expect(failed.status == 1 && failed.output.isEmpty, "\(failed)")
        #expect(!failed.errors.contains("Playback ended"), "\(failed.errors)")
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .seconds(30)
        let program = try RunningProgram(["play", origin.address("ts/multivariant.m3u8"), "--no-decode"])
        try await eventually("the playlist is requested") { !origin.paths.isEmpty }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(program.standardOutput.isEmpty)
        #expect(program.standardError == "millstream: error: interrupted (interrupted)\n")
        await origin.stop()
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (["--audio", "xx"], "no audio track matches \"xx\"", "hint: available: en (English), ko (한국어)"),
            (
                ["--subtitles", "zz,cy"], "no subtitle track matches \"zz\" or \"cy\"",
                "hint: available: en (English), ko (한국어)"
            ),
            (["--start", "60"], "--start 60 is not before the end of the stream", "hint: the duration is 01:00"),
        ]
    )
    func settingsThatTheStreamCannotMeetAreRefused(option: [String], message: String, hint: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("fmp4/multivariant.m3u8").path
        for speed in ["realtime", "max"] {
            let result = try await run(["play", sample, "--no-decode", "--speed", speed] + option)
            #expect(result.status == 1 && result.output.isEmpty, "\(result)")
            #expect(result.errors.hasPrefix("millstream: error: " + message) && result.errors.contains(hint))
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (["--max-height", "100"], "no variant has a height of at most 100 pixels: playing the lowest one"),
            (["--max-bandwidth", "1k"], "no variant has a bit rate of at most 1 kbit/s: playing the lowest one"),
            (["--audio", "kor", "--subtitles", "eng"], nil),
            (["--audio", "xx,ko-KR", "--subtitles", "en-GB", "--start", "58", "--max-height", "360"], nil),
        ]
    )
    func nearestVariantIsPlayedWithANotice(option: [String], message: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("fmp4/multivariant.m3u8").path
        let result = try await run(["play", sample, "--no-decode", "--speed", "max"] + option)
        #expect(result.status == 0 && result.output.contains("Watched: "), "\(result.errors)")
        if let message {
            #expect(result.errors.contains(message), "\(result.errors)")
        } else {
            #expect(!result.errors.contains("no variant"), "\(result.errors)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func scheduledInterstitialIsPlayed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func playlist(_ name: String, count: Int, _ tags: String = "") -> String {
            let segments = (0..<count).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n\(tags)\(segments)#EXT-X-ENDLIST\n"
        }
        let tags = """
            #EXT-X-PROGRAM-DATE-TIME:2030-01-01T00:00:00Z
            #EXT-X-DATERANGE:ID="break",CLASS="com.apple.hls.interstitial",START-DATE="2030-01-01T00:00:04Z",DURATION=8,\
            X-ASSET-URI="ad.m3u8",X-RESUME-OFFSET=0

            """
        let files = ["main.m3u8": playlist("main", count: 3, tags), "ad.m3u8": playlist("ad", count: 2)]
        for (name, text) in files { try text.write(toFile: path(name), atomically: true, encoding: .utf8) }
        for name in ["main0", "main1", "main2", "ad0", "ad1"] {
            try Data(count: 188 * 100).write(to: folder.appendingPathComponent("\(name).ts"))
        }
        let origin = try await RecordingOrigin(folder)
        let played = try await run(
            "play",
            origin.address("main.m3u8"),
            "--no-decode",
            "--speed",
            "max",
            "--metrics",
            path("metrics.json")
        )
        let paths = origin.paths
        await origin.stop()
        #expect(played.status == 0, "\(played.errors)")
        #expect(played.errors.contains("interstitial: break"), "\(played.errors)")
        for name in ["main0", "main1", "main2", "ad0", "ad1"] {
            #expect(paths.contains { $0.hasSuffix("\(name).ts") }, "\(paths)")
        }
        let watched = try #require(try metrics("metrics.json")["watchedDuration"] as? Double)
        #expect(abs(watched - 12) < 0.5)
    }

    /// A live stream begins at its live edge, so that an earlier end is refused before anything is played.
    @Test(.timeLimit(.minutes(10))) func endBeforeTheLiveEdgeIsRefusedFirst() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let segments = (0..<20).map { "#EXTINF:1,\nsegment\($0).ts\n" }.joined()
        try "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:7\n\(segments)"
            .write(toFile: path("live.m3u8"), atomically: true, encoding: .utf8)
        let origin = try await RecordingOrigin(folder)
        let played = try await run("play", origin.address("live.m3u8"), "--no-decode", "--until", "4")
        await origin.stop()
        #expect(played.status == 1 && played.output.isEmpty, "\(played)")
        #expect(played.errors.hasPrefix("millstream: error: --until 4 is before the time at which"), "\(played.errors)")
    }

    /// A live stream is played in real time, which is known only after its playlist is loaded; the first attempt leaves
    /// no trace in the logs.
    @Test(.timeLimit(.minutes(10))) func liveStreamIsPlayedInRealTimeAndLoggedOnce() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let segments = (0..<5).map { "#EXTINF:1,\nsegment\($0).ts\n" }.joined()
        try "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:7\n"
            .appending("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n\(segments)")
            .write(toFile: path("live.m3u8"), atomically: true, encoding: .utf8)
        for number in 0..<5 {
            try Data(count: 188 * 100).write(to: folder.appendingPathComponent("segment\(number).ts"))
        }
        let origin = try await RecordingOrigin(folder)
        let began = ContinuousClock.now
        let played = try await run(
            "play",
            origin.address("live.m3u8"),
            "--no-decode",
            "--speed",
            "max",
            "--access-log",
            path("access"),
            "--error-log",
            path("errors"),
            "--events",
            path("events"),
            "--metrics",
            path("metrics")
        )
        await origin.stop()
        let metrics = try #require(try lines("metrics").first)
        let latency = try #require(metrics["liveLatency"] as? Double)
        #expect(latency >= 0 && latency < 60)
        let date = try #require(metrics["programDateTime"] as? String)
        #expect(date.hasPrefix("2026-01-01T00:00:0") && date.count == 24, "\(date)")
        // The playlist is not updated, so playback fails at the end of its segments.
        #expect(played.status == 1 && played.errors.contains("live"), "\(played.errors)")
        #expect(ContinuousClock.now - began > .seconds(2))
        for log in ["access", "errors"] {
            #expect(try text(log).components(separatedBy: "#Version").count == 2, "\(log)")
        }
        let known = try lines("events").filter { $0["event"] as? String == "playbackTypeKnown" }
        #expect(known.count <= 1)
        #expect(try lines("events").filter { $0["event"] as? String == "sessionEnd" }.count == 1)
    }

    /// On Control-Z, playback pauses before the process is suspended, and resumes with it.
    @Test(.timeLimit(.minutes(10))) func suspensionPausesPlayback() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("ts/multivariant.m3u8").path
        let program = try RunningProgram(["play", sample, "--no-decode", "--events", path("events")])
        try await eventually("it plays") { (try? text("events").contains(#""timeControl":"playing""#)) == true }
        program.send(SIGTSTP)
        try await eventually("the play head stops") { (try? text("events").contains("appBackgrounded")) == true }
        try await Task.sleep(for: .seconds(2))
        let stopped = try text("events")
        program.send(SIGCONT)
        try await eventually("it goes on") { (try? rates()) == [1, 0, 1] }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(try text("events").hasPrefix(stopped))
        // The time for which the process was suspended was not played.
        let times = try lines("events").filter { $0["event"] as? String == "rate" }.compactMap {
            $0["mediaTime"] as? Double
        }
        #expect(times.count >= 3 && abs(times[2] - times[1]) < 0.05)
    }

    private func rates() throws -> [Double] {
        try lines("events").filter { $0["event"] as? String == "rate" }.compactMap { $0["rate"] as? Double }
    }

    @Test(.timeLimit(.minutes(10))) func errorsAreReportedImmediately() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("ts/multivariant.m3u8").path
        for arguments in [
            ["--rate", "99"], ["--start", "x"], ["--start", "20", "--until", "10"], ["--max-bandwidth", "much"],
            ["--selector", "nobody"], ["--speed", "warp"],
        ] {
            let program = try RunningProgram(["play", sample, "--no-decode"] + arguments)
            #expect(try await program.finish() == 64, "\(arguments)")
            #expect(program.standardError.hasPrefix("millstream: error: "))
        }
        #expect(try await run("play").status == 64)
        let log = try await run("play", sample, "--no-decode", "--access-log", "/nowhere/at/all/access.log")
        #expect(log.status == 1 && log.errors.contains("/nowhere/at/all/access.log"))
        let missing = try await run("play", path("missing.m3u8"), "--no-decode")
        #expect(missing.status != 0 && missing.errors.contains("missing.m3u8"))
        let both = path("neither.txt")
        try Data("neither of both".utf8).write(to: URL(fileURLWithPath: both))
        let neither = try await run("play", both, "--no-decode")
        #expect(
            neither.status == 2 && neither.errors.contains("neither a playlist")
                && neither.errors.contains("nor a media file")
        )
    }

    /// A playlist from a server must not cause the player to read local files.
    @Test(.timeLimit(.minutes(10))) func remotePlaylistCannotReadLocalFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let secret = folder.appendingPathComponent("secret.ts")
        try Data(repeating: 0x47, count: 188 * 100).write(to: secret)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(secret.absoluteString)\n#EXT-X-ENDLIST\n"
        try Data(playlist.utf8).write(to: folder.appendingPathComponent("evil.m3u8"))
        let origin = try await RecordingOrigin(folder)
        let result = try await run(
            "play",
            origin.address("evil.m3u8"),
            "--no-decode",
            "--speed",
            "max",
            "--events",
            path("events")
        )
        await origin.stop()
        #expect(result.status != 0)
        let loaded = try lines("events").filter { $0["event"] as? String == "segmentLoaded" }
        #expect(loaded.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func simulationReportsItsResult() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sizes = (0..<30).map { _ in "[800000,2400000]" }.joined(separator: ",")
        let ladder = #"{"segment_duration_ms":4000,"bitrates_kbps":[200,600],"segment_sizes_bits":[\#(sizes)]}"#
        try Data(ladder.utf8).write(to: folder.appendingPathComponent("ladder.json"))
        let arguments = ["simulate", "--ladder", path("ladder.json"), "--json"]
        func outcome(_ conditions: String) async throws -> [String: Any] {
            let program = try RunningProgram(arguments + ["--trace", conditions])
            #expect(try await program.finish() == 0, "\(program.standardError)")
            let list = try JSONSerialization.jsonObject(with: Data(program.standardOutput.utf8)) as? [[String: Any]]
            return try #require(list?.first)
        }
        let good = try await outcome("Wi-Fi")
        #expect(good["complete"] as? Bool == true && good["segments"] as? Int == 30)
        #expect(good["rebufferTime"] as? Double == 0)
        let mean = try #require(good["meanBitrate"] as? Double)
        #expect(mean > 500_000)
        for (selector, rate) in [("fixed-lowest", 200_000.0), ("fixed-highest", 600_000)] {
            let fixed = try RunningProgram(arguments + ["--trace", "3G", "--selector", selector])
            #expect(try await fixed.finish() == 0, "\(fixed.standardError)")
            let list = try JSONSerialization.jsonObject(with: Data(fixed.standardOutput.utf8)) as? [[String: Any]]
            #expect(list?.first?["meanBitrate"] as? Double == rate && list?.first?["switches"] as? Int == 0)
        }
        // A simulation that never starts playback has a lower quality than one that starts immediately.
        let none = try await outcome("100% Loss")
        #expect(none["complete"] as? Bool == false && none["segments"] as? Int == 0)
        let waited = try #require(none["rebufferTime"] as? Double)
        let quality = try #require(none["qoeLin"] as? Double)
        #expect(waited >= 6000 && quality < -1000)
        // The wait counts once, as rebuffering.
        #expect(none["startup"] == nil)
        let table = try RunningProgram(Array(arguments.dropLast()) + ["--trace", "100% Loss"])
        #expect(try await table.finish() == 0, "\(table.standardError)")
        #expect(table.standardOutput.contains(" never "), "\(table.standardOutput)")
        #expect(try await run("simulate", "--ladder", path("none.json"), "--trace", "3G").status == 1)
        #expect(try await run("simulate", "--ladder", path("ladder.json"), "--trace", "nowhere").status != 0)
        for selector in ["", ",", "no-such"] {
            let program = try RunningProgram(arguments + ["--trace", "3G", "--selector", selector])
            #expect(try await program.finish() == 64, "\(selector)")
        }
    }

    /// The results of complete sessions are a valid array, although a later session does not end.
    @Test(.timeLimit(.minutes(10))) func interruptedSimulationReportsItsResults() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sizes = (0..<3_000).map { _ in "[800000,2400000]" }.joined(separator: ",")
        let ladder = #"{"segment_duration_ms":60000,"bitrates_kbps":[200,600],"segment_sizes_bits":[\#(sizes)]}"#
        try Data(ladder.utf8).write(to: folder.appendingPathComponent("ladder.json"))
        let traces = folder.appendingPathComponent("traces")
        try FileManager.default.createDirectory(at: traces, withIntermediateDirectories: true)
        try Data(#"{"name":"A","down":{"bandwidth":5000000}}"#.utf8).write(to: traces.appendingPathComponent("a.json"))
        // Nothing is transferred for months.
        try Data(#"{"name":"B","down":{"loss":1}}"#.utf8).write(to: traces.appendingPathComponent("b.json"))
        let program = try RunningProgram([
            "simulate", "--ladder", path("ladder.json"), "--trace", traces.path, "--json",
        ])
        try await eventually("the first session has ended") { program.standardOutput.hasSuffix("}") }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(program.standardError == "millstream: error: interrupted (interrupted)\n")
        let results = try JSONSerialization.jsonObject(with: program.outputData) as? [[String: Any]]
        #expect(results?.count == 1 && results?.first?["trace"] as? String == "A", "\(program.standardOutput)")
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["--audio", "--subtitles"], ["", ","])
    func listWithoutALanguageIsRefused(option: String, list: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let refused = try await run(["play", path("missing.m3u8"), "--no-decode", option, list])
        #expect(refused.status == 64, "\(refused.errors)")
        #expect(refused.errors.contains("\(option) must have at least one language or name"), "\(refused.errors)")
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["off", "none"]) func tracksAreTurnedOff(word: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("fmp4/multivariant.m3u8").path
        let options = ["play", source, "--no-decode", "--speed", "max", "--until", "3"]
        let played = try await run(options + ["--audio", word, "--subtitles", word, "--events", path("events")])
        #expect(played.status == 0, "\(played.errors)")
        #expect(try !text("events").contains(".vtt"))
        let other = try await run(options + ["--subtitles", "xx"])
        #expect(other.status == 1 && other.errors.contains("no subtitle track matches \"xx\""), "\(other.errors)")
    }
}

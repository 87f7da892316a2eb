import Foundation
import TestSamples
import Testing

/// Tests `millstream play` with audio and video: output to files, and in a window on a virtual display.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct DecodingTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("decoding-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func sample(_ name: String) throws -> String {
        try #require(Samples.directory).appendingPathComponent(name).path
    }

    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        let program = try RunningProgram([program] + arguments, of: URL(fileURLWithPath: "/usr/bin/env"))
        #expect(try await program.finish(within: .seconds(220)) == 0, "\(program.standardError)")
        return program.standardOutput
    }

    @Test(
        .timeLimit(.minutes(8)),
        arguments: ["ts/360p/media.m3u8", "fmp4/720p/media.m3u8", "byterange/360p/media.m3u8", "ad/540p/media.m3u8"]
    )
    func frameChecksumsMatchThoseOfFFmpeg(playlist: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram([
            "play", try sample(playlist), "--headless", "--speed", "max", "--checksums", path("ours"), "--metrics",
            path("metrics.json"),
        ])
        #expect(try await program.finish(within: .seconds(220)) == 0, "\(program.standardError)")
        let ours = try String(contentsOfFile: path("ours"), encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
        let theirs = try await run(
            "ffmpeg",
            ["-nostdin", "-v", "error", "-allowed_extensions", "ALL", "-i", try sample(playlist), "-map", "0:v"]
                + ["-vsync", "passthrough", "-f", "framemd5", "-"]
        )
        let expected = theirs.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last.map { $0.drop { $0 == " " } }
        }
        #expect(ours.count == expected.count && ours.count >= 600)
        #expect(ours.elementsEqual(expected))
        let data = try Data(contentsOf: URL(fileURLWithPath: path("metrics.json")))
        let metrics = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(metrics["decodedFrames"] as? Int == expected.count && metrics["droppedFrames"] as? Int == 0)
    }

    @Test(.timeLimit(.minutes(10))) func screenshotsAndAudioAreWritten() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram([
            "play", try sample("fmp4/multivariant.m3u8"), "--headless", "--speed", "max", "--screenshot",
            "7=" + path("seven.png"), "--screenshot", "11.5=" + path("eleven.png"), "--until", "14", "--wave",
            path("sound.wav"), "--checksums", path("frames"),
        ])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        for name in ["seven.png", "eleven.png"] {
            let size = try await run(
                "ffprobe",
                ["-v", "error", "-show_entries", "stream=codec_name,width", "-of", "csv=p=0", path(name)]
            )
            #expect(size.hasPrefix("png,640") || size.hasPrefix("png,1280"), "\(size)")
        }
        // The samples and the frames before the end are written, and no others.
        let size = try Data(contentsOf: URL(fileURLWithPath: path("sound.wav"))).count - 44
        #expect(size == 14 * 48_000 * 4)
        let frames = try String(contentsOfFile: path("frames"), encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").first.flatMap { Double($0) } }
        #expect(frames.count == Int(14 * Samples.frameRate) && frames.allSatisfy { $0 < 14 }, "\(frames.suffix(2))")
    }

    @Test(.timeLimit(.minutes(10))) func imageAtTheEndIsRefusedBeforePlayback() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram([
            "play", try sample("fmp4/multivariant.m3u8"), "--headless", "--screenshot", "60=" + path("end.png"),
        ])
        #expect(try await program.finish() == 1)
        #expect(program.standardError.contains("--screenshot 60 is not before the end"), "\(program.standardError)")
        #expect(!program.standardError.contains("Playback started"), "\(program.standardError)")
    }

    /// A user who never hears audio can still write it to a file.
    @Test(.timeLimit(.minutes(10))) func audioIsWrittenAlthoughTheConfigurationHasNone() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(
            [
                "play", try sample("fmp4/multivariant.m3u8"), "--headless", "--speed", "max", "--until", "2", "--wave",
                path("sound.wav"),
            ],
            environment: ["MILLSTREAM_AUDIO": "off"]
        )
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path("sound.wav"))).count - 44 == 2 * 48_000 * 4)
    }

    @Test(.timeLimit(.minutes(10))) func missingDisplayIsReportedBeforePlayback() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let environment = [
            "DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_RUNTIME_DIR": "", "SDL_AUDIODRIVER": "dummy",
        ]
        let window = try RunningProgram(
            ["play", try sample("fmp4/360p/media.m3u8"), "--window", "--until", "1"],
            environment: environment
        )
        #expect(try await window.finish() == 1)
        #expect(window.standardError.contains("The window cannot be opened"), "\(window.standardError)")
        #expect(window.standardError.split(separator: "\n").count == 1, "\(window.standardError)")
        #expect(!window.standardError.contains("Playback started") && window.standardOutput.isEmpty)
        let headless = try RunningProgram(
            ["play", try sample("fmp4/360p/media.m3u8"), "--until", "1"],
            environment: environment
        )
        #expect(try await headless.finish() == 0, "\(headless.standardError)")
        #expect(headless.standardError.hasPrefix("There is no display: playing without a window"))
        #expect(headless.standardOutput.hasPrefix("Watched: "))
    }

    /// Calls a function with the name of a virtual display in memory.
    private func onDisplay(_ body: (_ display: String) async throws -> Void) async throws {
        let number = Int.random(in: 200..<20_000)
        let display = try RunningProgram(
            ["Xvfb", ":\(number)", "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        try await eventually("there is a display") {
            FileManager.default.fileExists(atPath: "/tmp/.X11-unix/X\(number)")
        }
        defer { display.send(SIGTERM) }
        try await body(":\(number)")
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/xdotool"), "there is no xdotool")
    )
    func windowPlaysTheStreamAndHandlesKeys() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            let program = try RunningProgram(
                ["play", try sample("fmp4/multivariant.m3u8"), "--events", path("events"), "--start", "5"],
                environment: environment
            )
            func events(_ name: String) throws -> [[String: Any]] {
                let text = (try? String(contentsOfFile: path("events"), encoding: .utf8)) ?? ""
                return try text.split(separator: "\n").compactMap {
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                }.filter { $0["event"] as? String == name }
            }
            func press(_ key: String) async throws {
                let tool = try RunningProgram(
                    ["xdotool", "key", key],
                    of: URL(fileURLWithPath: "/usr/bin/env"),
                    environment: environment
                )
                #expect(try await tool.finish() == 0)
            }
            try await eventually("it plays") {
                try events("rate").contains { $0["rate"] as? Double == 1 }
            }
            try await Task.sleep(for: .seconds(2))
            try await press("space")
            try await eventually("it stands") { try events("rate").last?["rate"] as? Double == 0 }
            try await press("Right")
            try await eventually("it sought") { try !events("seek").isEmpty }
            // The rate applies when playback continues.
            try await press("bracketright")
            try await press("space")
            try await eventually("it plays faster") {
                try events("rate").contains { ($0["rate"] as? Double ?? 0) > 1 }
            }
            let click = try RunningProgram(
                ["xdotool", "mousemove", "700", "450", "click", "3"],
                of: URL(fileURLWithPath: "/usr/bin/env"),
                environment: environment
            )
            #expect(try await click.finish() == 0)
            try await eventually("the right mouse button pauses") { try events("rate").last?["rate"] as? Double == 0 }
            try await press("q")
            #expect(try await program.finish() == 0, "\(program.standardError)")
            // Frames were displayed, and not all of them were dropped.
            let frames = try events("frames")
            func sum(_ name: String) -> Int { frames.reduce(0) { $0 + ($1[name] as? Int ?? 0) } }
            #expect(sum("decoded") > 40 && sum("decoded") - sum("dropped") > 10, "\(frames)")
        }
    }

    /// Escape first leaves full screen, and then ends playback.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/xdotool"), "there is no xdotool")
    )
    func windowOpensInFullScreen() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            let program = try RunningProgram(
                ["play", try sample("ad/240p/media.m3u8"), "--full-screen", "--volume", "0", "--keep-open"],
                environment: environment
            )
            /// Runs xdotool; the window may not be open yet.
            func tool(_ arguments: [String]) async throws -> String {
                let tool = try RunningProgram(
                    ["xdotool"] + arguments,
                    of: URL(fileURLWithPath: "/usr/bin/env"),
                    environment: environment
                )
                _ = try await tool.finish()
                return tool.standardOutput
            }
            let size = ["search", "--onlyvisible", "--name", " - Millstream$", "getwindowgeometry"]
            try await eventually("it covers the screen") { try await tool(size).contains("Geometry: 1400x900") }
            _ = try await tool(["key", "Escape"])
            try await eventually("it is a window") {
                let text = try await tool(size)
                return text.contains("Geometry: ") && !text.contains("Geometry: 1400x900")
            }
            _ = try await tool(["key", "Escape"])
            #expect(try await program.finish() == 0, "\(program.standardError)")
        }
    }

    /// A stream without variants declares neither bit rate nor size, so that the measured ones are shown.
    @Test(.timeLimit(.minutes(10))) func measuredQualityIsShown() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(["play", try sample("fmp4/360p/media.m3u8"), "--headless", "--until", "3"])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        let line = try #require(program.standardError.split(separator: "\n").last { $0.contains("  ended  ") })
        #expect(line.contains("640x360") && line.contains("bit/s measured"), "\(program.standardError)")
        #expect(!program.standardError.contains(" 0 bit/s"))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [["--start", "3"], []]) func streamIsPlayedBackward(
        start: [String]
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(
            ["play", try sample("ad/240p/media.m3u8"), "--headless", "--rate=-1", "--checksums", path("frames")]
                + ["--events", path("events")] + (start.isEmpty ? ["--speed", "max"] : start)
        )
        #expect(try await program.finish() == 0, "\(program.standardError)")
        let watched = try #require(program.standardOutput.firstMatch(of: /Watched: ([0-9.]+) s/).map { Double($0.1) })
        #expect(abs((watched ?? 0) - (start.isEmpty ? 20 : 3)) < 0.5, "\(program.standardOutput)")
        let frames = try String(contentsOfFile: path("frames"), encoding: .utf8).split(separator: "\n")
        #expect(frames.count { !$0.hasPrefix("#") } > 30)
        #expect(program.standardError.hasPrefix("Playback started"), "\(program.standardError)")
        #expect(
            program.standardError.hasSuffix("Playback reached the beginning\nPlayback ended\n"),
            "\(program.standardError)"
        )
        #expect(program.standardError.contains("  ended  ") && !program.standardError.contains("  paused  "))
        // Nothing is loaded at the beginning, where playback would continue forward.
        let events = try String(contentsOfFile: path("events"), encoding: .utf8).split(separator: "\n")
        let end = try #require(events.firstIndex { $0.contains("reversePlaybackReachedStartOfSeekableRange") })
        #expect(!events[end...].contains { $0.contains("\"event\":\"request\"") }, "\(events[end...])")
    }

    /// The keys of the window control playback in a terminal without a window too.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "there is no script"),
        arguments: ["--headless", "--no-decode"]
    )
    func keysControlPlaybackInATerminal(mode: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = "'\(RunningProgram.executable.path)' play '\(try sample("ad/240p/media.m3u8"))' \(mode)"
        let script =
            "(sleep 3; printf '?'; sleep 1; printf i; sleep 1; printf ' '; sleep 1; printf '\\033[C'; sleep 1; printf q) "
        let program = try RunningProgram(
            ["sh", "-c", script + "| script -qec \"\(command) --events '\(path("events"))'\" /dev/null"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0)
        #expect(program.standardOutput.contains("step one frame backward, forward"), "\(program.standardOutput)")
        #expect(!program.standardOutput.contains("full screen"), "\(program.standardOutput)")
        #expect(
            program.standardOutput.contains("The key i has an effect only in a window"),
            "\(program.standardOutput)"
        )
        let events = try String(contentsOfFile: path("events"), encoding: .utf8)
        #expect(events.contains("\"event\":\"seek\"") && events.contains("\"rate\":0"), "\(events)")
        #expect(program.standardOutput.contains("Watched: "), "\(program.standardOutput)")
    }

    /// The playback keys also work in the terminal from which a window was opened.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "there is no script"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb")
    )
    func keysInTheTerminalControlTheWindow() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let command = "'\(RunningProgram.executable.path)' play '\(try sample("ad/240p/media.m3u8"))' --keep-open"
        let keys = "(sleep 6; printf i; sleep 1; printf '\\033[C'; sleep 1; printf q) | "
        try await onDisplay { display in
            let program = try RunningProgram(
                ["sh", "-c", keys + "script -qec \"\(command) --events '\(path("events"))'\" /dev/null"],
                of: URL(fileURLWithPath: "/usr/bin/env"),
                environment: ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            )
            #expect(try await program.finish() == 0)
            #expect(program.standardOutput.contains("only in a window: press it there"), "\(program.standardOutput)")
            let events = try String(contentsOfFile: path("events"), encoding: .utf8)
            #expect(events.contains("\"event\":\"seek\""), "\(events)")
        }
    }

    /// With `--keep-open`, the end is not the end of the program, and a key seeks back from it.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "there is no script")
    )
    func playbackStaysOpenAtTheEnd() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let command =
            "'\(RunningProgram.executable.path)' play '\(try sample("ad/240p/media.m3u8"))' --headless --keep-open --start 19"
        let script = "(sleep 6; printf '\\033[D'; sleep 2; printf ' '; sleep 1; printf q) "
        let program = try RunningProgram(
            ["sh", "-c", script + "| script -qec \"\(command) --events '\(path("events"))'\" /dev/null"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0)
        let events = try String(contentsOfFile: path("events"), encoding: .utf8)
        let end = try #require(events.range(of: "\"event\":\"end\""))
        #expect(events[end.upperBound...].contains("\"event\":\"seek\""), "\(events)")
    }

    /// Audio without video has a window with a title, the position and the level, which is not black.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/import"), "there is no ImageMagick")
    )
    func windowOfAudioShowsItsTitleAndLevel() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            let program = try RunningProgram(
                ["play", try sample("fmp4/audio-en/media.m3u8"), "--window"],
                environment: environment
            )
            /// Returns the number of bright pixels, and of those in the color of the level.
            func look() async throws -> (bright: Int, level: Int) {
                let tool = try RunningProgram(
                    ["import", "-silent", "-window", "root", "-depth", "8", "rgb:" + path("screen.rgb")],
                    of: URL(fileURLWithPath: "/usr/bin/env"),
                    environment: environment
                )
                #expect(try await tool.finish() == 0)
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path("screen.rgb"))))
                let pixels = stride(from: 0, to: bytes.count - 2, by: 3)
                let bright = pixels.reduce(0) { $0 + (bytes[$1] > 150 && bytes[$1 + 1] > 150 ? 1 : 0) }
                let level = pixels.reduce(0) {
                    $0 + (bytes[$1] < 120 && bytes[$1 + 1] > 140 && bytes[$1 + 2] > 220 ? 1 : 0)
                }
                return (bright, level)
            }
            var seen = (bright: 0, level: 0)
            for _ in 0..<60 where seen.bright < 500 || seen.level < 200 {
                try await Task.sleep(for: .milliseconds(250))
                seen = try await look()
            }
            #expect(seen.bright >= 500 && seen.level >= 200, "\(seen)")
            program.send(SIGINT)
            _ = try await program.finish()
        }
    }

    /// The title and the cover of a song are known only after its file was opened.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/xdotool"), "there is no xdotool"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/import"), "there is no ImageMagick"),
        .enabled(if: Transfer.executable("ffmpeg") != nil, "ffmpeg is not installed"),
        arguments: [("song.mp4", "aac", "cover.png"), ("song.mp3", "libmp3lame", "cover.jpg")]
    )
    func windowOfAudioShowsTheTitleAndTheArtworkOfTheFile(name: String, codec: String, image: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Int32 {
            let tool = try RunningProgram(
                arguments,
                of: URL(fileURLWithPath: "/usr/bin/env"),
                environment: environment
            )
            return try await tool.finish()
        }
        let (cover, song) = (path(image), path(name))
        let picture = ["-f", "lavfi", "-i", "color=red:s=320x180:d=1", "-frames:v", "1", cover]
        #expect(try await run(["ffmpeg", "-v", "error"] + picture) == 0)
        let tone = ["-f", "lavfi", "-i", "sine=500:d=120", "-i", cover, "-map", "0", "-map", "1", "-c:a", codec]
        let details = ["-c:v", "copy", "-disposition:v:0", "attached_pic", "-metadata", "title=A known song", song]
        #expect(try await run(["ffmpeg", "-v", "error"] + tone + details) == 0)
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            let program = try RunningProgram(["play", song, "--window"], environment: environment)
            /// Returns the number of pixels in the color of the darkened cover.
            func look() async throws -> Int {
                let screen = path("screen.rgb")
                let picture = ["import", "-silent", "-window", "root", "-depth", "8", "rgb:" + screen]
                #expect(try await run(picture, environment: environment) == 0)
                let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: screen)))
                return stride(from: 0, to: bytes.count - 2, by: 3).reduce(0) {
                    $0 + ((120...175).contains(bytes[$1]) && bytes[$1 + 1] < 40 && bytes[$1 + 2] < 40 ? 1 : 0)
                }
            }
            var seen = 0
            for _ in 0..<60 where seen < 400_000 {
                try await Task.sleep(for: .milliseconds(250))
                seen = try await look()
            }
            #expect(seen >= 400_000, "\(seen)")
            let search = ["xdotool", "search", "--name", "^A known song - Millstream$"]
            #expect(try await run(search, environment: environment) == 0)
            program.send(SIGINT)
            _ = try await program.finish()
        }
    }

    /// Text that cannot be drawn is reported in the events and in the terminal.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb")
    )
    func missingFontIsInTheEvents() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let media = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="Text",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=600000,CODECS="avc1.42c00d,mp4a.40.2",SUBTITLES="s"
            \(try sample("ts/180p/media.m3u8"))

            """
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:72\n#EXTINF:72,\ntext.vtt\n#EXT-X-ENDLIST\n"
        // This value in a block of Hangul is not assigned to a character.
        let cues = "WEBVTT\n\n00:00:00.000 --> 00:01:00.000\na\u{D7FF}b\n"
        for (name, text) in [("film.m3u8", media), ("text.m3u8", list), ("text.vtt", cues)] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        }
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": "dummy"]
            let program = try RunningProgram(
                [
                    "play", path("film.m3u8"), "--window", "--subtitles", "en", "--events", path("events"),
                    "--keep-open",
                ],
                environment: environment
            )
            func errors() throws -> [[String: Any]] {
                let text = (try? String(contentsOfFile: path("events"), encoding: .utf8)) ?? ""
                return try text.split(separator: "\n").compactMap {
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
                }.filter { $0["event"] as? String == "error" }
            }
            try await eventually("the font is reported") {
                try errors().contains { ($0["comment"] as? String ?? "").hasPrefix("No installed font has Korean") }
            }
            program.send(SIGINT)
            _ = try await program.finish()
            #expect(program.standardError.contains("No installed font has Korean"), "\(program.standardError)")
            let found = try errors().filter { ($0["comment"] as? String ?? "").hasPrefix("No installed font") }
            #expect(found.count == 1 && found.first?["recovered"] as? Bool == true, "\(found)")
            #expect(found.first?["domain"] as? String == "Millstream", "\(found)")
        }
    }

    /// Without an audio device, the video is played and the reason for the silence is reported.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/Xvfb"), "there is no Xvfb"),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/xdotool"), "there is no xdotool"),
        arguments: ["none-such", "alsa"]
    )
    func playbackContinuesInSilenceWithoutAnAudioDevice(driver: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await onDisplay { display in
            let environment = ["DISPLAY": display, "SDL_AUDIODRIVER": driver]
            let program = try RunningProgram(
                ["play", try sample("ad/multivariant.m3u8"), "--checksums", path("frames"), "--until", "2"],
                environment: environment
            )
            #expect(try await program.finish(within: .seconds(60)) == 0, "\(program.standardError)")
            if driver != "alsa" || !FileManager.default.fileExists(atPath: "/proc/asound/cards") {
                #expect(program.standardError.contains("playing without audio"), "\(program.standardError)")
            }
            #expect(!program.standardError.contains("ALSA lib"), "\(program.standardError)")
            let frames = try String(contentsOfFile: path("frames"), encoding: .utf8).split(separator: "\n")
            #expect(frames.count { !$0.hasPrefix("#") } > 20)
        }
    }
}

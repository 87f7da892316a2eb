import Foundation
import TestSamples
import Testing

/// Records a live stream with the program.
@Suite(.serialized, .tags(.endToEnd))
struct RecordCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("record-\(UUID())")
    private var origin: URL { folder.appendingPathComponent("origin") }
    private var library: String { folder.appendingPathComponent("library").path }

    /// Writes a version of the playlist whose window has six segments of one second.
    private func writePlaylist(from first: Int, isEnded: Bool = false, hasDates: Bool = false) throws {
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        if hasDates { text += "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(first)Z\n" }
        for number in first..<first + 6 {
            text += "#EXTINF:1,\n\(number).ts\n"
            try Data("segment \(number)".utf8).write(to: origin.appendingPathComponent("\(number).ts"))
        }
        if isEnded { text += "#EXT-X-ENDLIST\n" }
        try Data(text.utf8).write(to: origin.appendingPathComponent("live.m3u8"), options: .atomic)
    }

    /// The lines of the recorded media playlist; none if there is none.
    private var lines: [String] {
        let packages = folder.appendingPathComponent("library/packages")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: packages.path)) ?? []
        return names.flatMap { name in
            let path = packages.appendingPathComponent("\(name)/media/media.m3u8")
            return ((try? String(contentsOf: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        }
    }

    private var segmentCount: Int { lines.count { $0.hasSuffix(".ts") } }

    @Test(.timeLimit(.minutes(10))) func aStreamIsRecordedUntilItEnds() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let source = server.address("live.m3u8")
        let program = try RunningProgram(["record", source, "--library", library, "--start-over", "--json"])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        #expect(lines.contains("#EXT-X-PLAYLIST-TYPE:EVENT") && !lines.contains("#EXT-X-ENDLIST"))
        try writePlaylist(from: 14)
        try await eventually("the new segments are recorded") { segmentCount == 10 }
        try writePlaylist(from: 15, isEnded: true)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        await server.stop()
        #expect(segmentCount == 11)
        #expect(lines.contains("#EXT-X-PLAYLIST-TYPE:VOD") && lines.last == "#EXT-X-ENDLIST")
    }

    @Test(.timeLimit(.minutes(10))) func anInterruptionEndsTheRecording() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let source = server.address("live.m3u8")
        let program = try RunningProgram(["record", source, "--library", library, "--start-over"])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        program.send(SIGINT)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(lines.last == "#EXT-X-ENDLIST")
        // A killed recording continues with the segments that are available, and a download of it is refused.
        try writePlaylist(from: 12)
        let second = try RunningProgram(["record", source, "--library", library])
        try await eventually("the recording continues") { segmentCount == 8 }
        second.send(SIGKILL)
        _ = try await second.finish()
        #expect(second.standardError.contains(", live, is continued after 00:06\n"), "\(second.standardError)")
        let advice = "it is complete; to make a separate recording, name another library: --library DIR\n"
        #expect(second.standardError.contains(advice), "\(second.standardError)")
        try writePlaylist(from: 20, isEnded: true)
        let third = try RunningProgram(["record", source, "--library", library, "--title", "Evening"])
        #expect(try await third.finish() == 0, "\(third.standardError)")
        #expect(third.standardOutput.contains("  Evening  "), "\(third.standardOutput)")
        let continuation = ", live, is continued after 00:08\nits title becomes Evening\n"
        #expect(third.standardError.contains(continuation), "\(third.standardError)")
        #expect(!third.standardError.contains(advice), "\(third.standardError)")
        await server.stop()
        #expect(third.standardError.contains("lost 2 segments"))
        #expect(segmentCount == 14)
        #expect(lines.contains("#EXT-X-DISCONTINUITY") && lines.last == "#EXT-X-ENDLIST")
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
    )
    func aRecordingIsWrittenToAMediaFile() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("ts/180p/media.m3u8").path
        let file = folder.appendingPathComponent("new/evening.mp4").path
        let command = ["record", source, "--start-over", "--library", library, "--quiet"]
        let program = try RunningProgram(command + ["-o", file])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(program.standardOutput == "\(file)\n")
        #expect(FileManager.default.fileExists(atPath: file))
        // The file exists now, which is reported before anything is recorded.
        let again = try RunningProgram(command + ["-o", file])
        #expect(try await again.finish() == 1)
        #expect(again.standardError.contains("evening.mp4 already exists"), "\(again.standardError)")
        let queued = try RunningProgram(command + ["-o", file, "--queue"])
        #expect(try await queued.finish() == 64)
        #expect(queued.standardError.contains("--output cannot be combined with --queue"), "\(queued.standardError)")
    }

    /// Otherwise the part that is recorded already would be in no playlist.
    @Test(.timeLimit(.minutes(10))) func aRecordingIsContinuedWithItsSelection() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10, isEnded: true)
        let command = ["record", origin.appendingPathComponent("live.m3u8").path, "--library", library]
        let first = try RunningProgram(command + ["--max-height", "720"])
        #expect(try await first.finish() == 0, "\(first.standardError)")
        let id = try #require(first.standardOutput.split(separator: " ").first.map(String.init))
        let selection = "max-height=720&audio=default&subtitles=all"
        let refused = try RunningProgram(command + ["--max-height", "360"])
        #expect(try await refused.finish() == 1, "\(refused.standardError)")
        let message = "the recording \(id) of this URL has another selection: \(selection) (other-selection)\n"
        #expect(refused.standardError.contains(message), "\(refused.standardError)")
        let again = try RunningProgram(command)
        #expect(try await again.finish() == 0, "\(again.standardError)")
        #expect(again.standardError.contains("\nit keeps its selection: \(selection)\n"), "\(again.standardError)")
        let shown = try RunningProgram(["library", "show", id, "--library", library])
        #expect(try await shown.finish() == 0, "\(shown.standardError)")
        #expect(shown.standardOutput.contains(selection), "\(shown.standardOutput)")
    }

    /// A program needs the whole URL, as in the list of the library; people read a short one.
    @Test(.timeLimit(.minutes(10))) func theListForProgramsHasTheWholeSource() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = "https://live.example/a.m3u8?channel=a-name-that-is-long&live=loop"
        let queued = try RunningProgram(["record", source, "--queue", "--library", library])
        #expect(try await queued.finish() == 0, "\(queued.standardError)")
        let list = try RunningProgram(["downloads", "list", "--json", "--library", library])
        #expect(try await list.finish() == 0, "\(list.standardError)")
        let data = Data(list.standardOutput.utf8)
        let downloads = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(downloads.map { $0["source"] as? String } == [source], "\(list.standardOutput)")
    }

    @Test(.timeLimit(.minutes(10))) func aRecordingOfAnotherProcessIsNotSaidToBeContinued() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let command = ["record", server.address("live.m3u8"), "--library", library]
        let first = try RunningProgram(command + ["--start-over"])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        let second = try RunningProgram(command)
        #expect(try await second.finish() == 1, "\(second.standardError)")
        #expect(second.standardError.contains("(asset-busy)"), "\(second.standardError)")
        #expect(!second.standardError.contains("is continued"), "\(second.standardError)")
        first.send(SIGINT)
        #expect(try await first.finish() == 0, "\(first.standardError)")
        await server.stop()
    }

    /// The second run of the command continues the recording, which then has a gap.
    @Test(.timeLimit(.minutes(10))) func exportSaysHowLongTheGapsAre() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10, hasDates: true)
        let server = try await RecordingOrigin(origin)
        let source = server.address("live.m3u8")
        let first = try RunningProgram(["record", source, "--library", library, "--start-over"])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        first.send(SIGINT)
        #expect(try await first.finish() == 0, "\(first.standardError)")
        try writePlaylist(from: 20, isEnded: true, hasDates: true)
        let second = try RunningProgram(["record", source, "--library", library, "--json"])
        #expect(try await second.finish() == 0, "\(second.standardError)")
        #expect(!second.standardError.contains("continued"), "\(second.standardError)")
        let third = try RunningProgram(["record", source, "--library", library, "--duration", "10"])
        #expect(try await third.finish() == 0, "\(third.standardError)")
        let reason = "nothing more is recorded, because --duration includes what is recorded already\n"
        #expect(third.standardError.contains(reason), "\(third.standardError)")
        // Those of both windows, and the gap of four.
        #expect(segmentCount == 16)
        await server.stop()
        let id = try #require(first.standardOutput.split(separator: " ").first.map(String.init))
        let copy = folder.appendingPathComponent("copy").path
        let export = try RunningProgram(["library", "export", id, copy, "--library", library])
        #expect(try await export.finish() == 0, "\(export.standardError)")
        #expect(export.standardOutput == copy + "/multivariant.m3u8\n")
        let note = "note: the asset has gaps of 00:04 in all, for which there is no media\n"
        #expect(export.standardError == note, "\(export.standardError)")
    }

    /// A recording that was killed is resumed as a recording, whose usual end is an interruption.
    @Test(.timeLimit(.minutes(10))) func aRecordingIsResumed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let source = server.address("live.m3u8")
        let killed = try RunningProgram(["record", source, "--library", library, "--start-over"])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        killed.send(SIGKILL)
        _ = try await killed.finish()
        try writePlaylist(from: 12)
        let resumed = try RunningProgram(["downloads", "resume", "--library", library])
        try await eventually("the recording continues") { segmentCount == 8 }
        resumed.send(SIGINT)
        #expect(try await resumed.finish() == 0, "\(resumed.standardError)")
        await server.stop()
        #expect(segmentCount == 8 && lines.last == "#EXT-X-ENDLIST")
        #expect(resumed.standardError.contains("00:08 recorded"), "\(resumed.standardError)")
        #expect(!resumed.standardError.contains(" %"), "\(resumed.standardError)")
        #expect(resumed.standardError.contains("stored in \(library)/packages/"), "\(resumed.standardError)")
        #expect(resumed.standardOutput.split(separator: "\n").count == 1, "\(resumed.standardOutput)")
    }

    /// Without the process that recorded it, a recording is played from its beginning to its end.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
    )
    func aKilledRecordingIsPlayedToItsEnd() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sample = try #require(Samples.directory).appendingPathComponent("fmp4/360p")
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        for name in ["init.mp4", "0.m4s", "1.m4s", "2.m4s"] {
            try FileManager.default.copyItem(
                at: sample.appendingPathComponent(name),
                to: origin.appendingPathComponent(name)
            )
        }
        let segments = (0..<3).map { "#EXTINF:4,\n\($0).m4s\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"init.mp4\"\n" + segments
        try Data(text.utf8).write(to: origin.appendingPathComponent("live.m3u8"))
        let server = try await RecordingOrigin(origin)
        let killed = try RunningProgram(["record", server.address("live.m3u8"), "--library", library, "--start-over"])
        try await eventually("the segments are recorded") { lines.count { $0.hasSuffix(".m4s") } == 3 }
        killed.send(SIGKILL)
        _ = try await killed.finish()
        await server.stop()
        #expect(lines.contains("#EXT-X-PLAYLIST-TYPE:EVENT") && lines.last != "#EXT-X-ENDLIST")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: library + "/packages").first)
        let package = "\(library)/packages/\(name)"
        let player = try RunningProgram(["play", package, "--no-decode", "--speed", "max"])
        #expect(try await player.finish() == 0, "\(player.standardError)")
        #expect(player.standardOutput.contains("Watched: 12.0 s\n"), "\(player.standardOutput)")
        // The bit rate of the variant is measured.
        #expect(!player.standardOutput.contains(" 1 bit/s"), "\(player.standardOutput)")
        #expect(!player.standardError.contains(" 1 bit/s"), "\(player.standardError)")
        let copy = folder.appendingPathComponent("copy").path
        let export = try RunningProgram(["library", "export", name, copy, "--library", library])
        #expect(try await export.finish() == 0, "\(export.standardError)")
        let note = "note: the recording was interrupted; its stored part is exported\n"
        #expect(export.standardError == note, "\(export.standardError)")
        let exported = try String(contentsOfFile: copy + "/media/media.m3u8", encoding: .utf8)
        #expect(exported.contains("#EXT-X-PLAYLIST-TYPE:VOD\n"), "\(exported)")
        #expect(exported.hasSuffix("2.m4s\n#EXT-X-ENDLIST\n"), "\(exported)")
    }

    /// The limit ends the recording at once, although the playlist does not end; what fits into it is a complete recording.
    @Test(.timeLimit(.minutes(10))) func theSizeLimitEndsTheRecordingOfALiveStream() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        for number in 10..<16 { try Data(count: 100_000).write(to: origin.appendingPathComponent("\(number).ts")) }
        let server = try await RecordingOrigin(origin)
        let options = ["--library", library, "--start-over", "--jobs", "1", "--max-size", "250k"]
        let program = try RunningProgram(["record", server.address("live.m3u8")] + options)
        #expect(try await program.finish() == 1, "\(program.standardError)")
        await server.stop()
        let message = "the recording has reached its size limit of 250 kB; it is stored up to there"
        #expect(program.standardError.contains(message), "\(program.standardError)")
        #expect(program.standardError.contains("too-large"), "\(program.standardError)")
        #expect(!program.standardError.contains("marked in the playlist"), "\(program.standardError)")
        #expect(segmentCount == 2 && lines.last == "#EXT-X-ENDLIST" && !lines.contains("#EXT-X-GAP"))
        #expect(lines.contains("#EXT-X-PLAYLIST-TYPE:VOD"))
    }

    /// Without a terminal, a line is written only for what is new, and without a rate while no data is received.
    @Test(.timeLimit(.minutes(10))) func linesOfARecordingThatWaitsAreNotRepeated() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let program = try RunningProgram(
            ["record", server.address("live.m3u8"), "--library", library, "--start-over"]
        )
        try await eventually("the first window is recorded") { segmentCount == 6 }
        // An unchanged playlist is loaded again after half a second, and lines are at least five seconds apart.
        server.clearPaths()
        try await eventually("the playlist is loaded for several intervals") { server.paths.count >= 24 }
        program.send(SIGINT)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        await server.stop()
        let lines = program.standardError.split(separator: "\n").filter { $0.contains(" recorded  ") }
        let contents = lines.map { $0.split(separator: "  ").prefix(2).joined(separator: "  ") }
        #expect(contents.contains("00:06 recorded  60 bytes"), "\(program.standardError)")
        #expect(Set(contents).count == contents.count, "\(program.standardError)")
        #expect(!program.standardError.contains("  0 bit/s"), "\(program.standardError)")
    }

    @Test(.timeLimit(.minutes(10))) func stalledDownloadShowsNoRate() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10, isEnded: true)
        let server = try await RecordingOrigin(origin)
        server.answeredSegments = 0
        let program = try RunningProgram(["download", server.address("live.m3u8"), "--library", library])
        try await eventually("the wait is shown") { program.standardError.contains(" s for 10.ts\n") }
        server.answeredSegments = nil
        #expect(try await program.finish() == 0, "\(program.standardError)")
        await server.stop()
        let lines = program.standardError.split(separator: "\n")
        #expect(lines.first == "0 %  00:00 of 00:06  0 bytes", "\(program.standardError)")
        #expect(!program.standardError.contains("  0 bit/s"), "\(program.standardError)")
        #expect(lines.contains { $0.hasPrefix("100 %  00:06 of 00:06  60 bytes") }, "\(program.standardError)")
    }

    /// The progress of a recording is that of its duration, also in the list of another process; without a duration, it is
    /// the recorded time.
    @Test(.timeLimit(.minutes(10)), arguments: [nil, "12"])
    func theListHasTheProgressOfARecording(duration: String?) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let options = duration.map { ["--duration", $0] } ?? []
        let program = try RunningProgram(
            ["record", server.address("live.m3u8"), "--library", library, "--start-over"] + options
        )
        try await eventually("the first window is recorded") { segmentCount == 6 }
        try await checkList(duration == nil ? "00:06" : "50 %")
        program.send(SIGKILL)
        _ = try await program.finish()
        try await checkList(duration == nil ? "00:06" : "50 %")
        await server.stop()
    }

    private func checkList(_ progress: String) async throws {
        let list = try RunningProgram(["downloads", "list", "--library", library])
        #expect(try await list.finish() == 0, "\(list.standardError)")
        #expect(list.standardOutput.contains("  \(progress)  "), "\(list.standardOutput)")
    }

    /// A listed recording that is interrupted before its stream is loaded can be resumed later.
    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func anInterruptionBeforeTheStreamIsLoadedKeepsAResumedRecording(isBegun: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let arguments = ["record", server.address("live.m3u8"), "--library", library, "--start-over"]
        let first = try RunningProgram(arguments + (isBegun ? [] : ["--queue"]))
        if isBegun {
            try await eventually("the first window is recorded") { segmentCount == 6 }
            first.send(SIGKILL)
        }
        _ = try await first.finish()
        server.delay = .seconds(20)
        server.clearPaths()
        let interrupted = try RunningProgram(["downloads", "resume", "--library", library])
        try await eventually("the playlist is requested") { !server.paths.isEmpty }
        interrupted.send(SIGINT)
        #expect(try await interrupted.finish() == 130, "\(interrupted.standardError)")
        #expect(interrupted.standardError.contains("the recording is kept"), "\(interrupted.standardError)")
        let list = try RunningProgram(["downloads", "list", "--json", "--library", library])
        _ = try await list.finish()
        #expect(list.standardOutput.contains("\"paused\""), "\(list.standardOutput)")
        server.delay = .zero
        try writePlaylist(from: 12)
        let resumed = try RunningProgram(["downloads", "resume", "--library", library])
        try await eventually("the recording continues") { segmentCount == (isBegun ? 8 : 6) }
        resumed.send(SIGINT)
        #expect(try await resumed.finish() == 0, "\(resumed.standardError)")
        await server.stop()
        #expect(lines.last == "#EXT-X-ENDLIST")
        let ended = try RunningProgram(["downloads", "list", "--json", "--library", library])
        _ = try await ended.finish()
        #expect(!ended.standardOutput.contains("\"id\""), "\(ended.standardOutput)")
        let queued = try RunningProgram(arguments + ["--queue"])
        #expect(try await queued.finish() == 0, "\(queued.standardError)")
        #expect(queued.standardError.contains("of this URL, live, is continued after"), "\(queued.standardError)")
        #expect(queued.standardError.contains("it is recorded while millstream serve runs"), "\(queued.standardError)")
    }

    /// A recording whose command was killed is continued by millstream serve until the stream ends.
    @Test(.timeLimit(.minutes(10))) func anInterruptedRecordingIsHandedToTheServer() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let first = try RunningProgram([
            "record", server.address("live.m3u8"), "--library", library, "--start-over",
        ])
        try await eventually("the first window is recorded") { segmentCount == 6 }
        first.send(SIGKILL)
        _ = try await first.finish()
        let queued = try RunningProgram(["downloads", "resume", "--queue", "--library", library])
        #expect(try await queued.finish() == 0, "\(queued.standardError)")
        #expect(queued.standardError.contains("it is recorded while millstream serve runs"), "\(queued.standardError)")
        let daemon = try RunningProgram([
            "serve", "--port", "0", "--library", library, "--allow-host", "127.0.0.1:\(server.port)",
        ])
        try writePlaylist(from: 12)
        try await eventually("the server continues the recording") { segmentCount == 8 }
        try writePlaylist(from: 12, isEnded: true)
        try await eventually("the recording ends with the stream") { lines.last == "#EXT-X-ENDLIST" }
        // The download ends after the end marker is written.
        try await eventually("the download leaves the list") {
            let list = try RunningProgram(["downloads", "list", "--json", "--library", library])
            return try await list.finish() == 0 && !list.standardOutput.contains("\"id\"")
        }
        daemon.send(SIGTERM)
        #expect(try await daemon.finish() == 0, "\(daemon.standardError)")
        await server.stop()
    }

    /// A download that failed before an interruption is reported, although the command goes on to the next one.
    @Test(.timeLimit(.minutes(10))) func anInterruptionDoesNotHideAnEarlierFailure() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        for name in ["missing.m3u8", "live.m3u8", "other.m3u8"] {
            let queued = try RunningProgram(["record", server.address(name), "--library", library, "--queue"])
            #expect(try await queued.finish() == 0, "\(queued.standardError)")
        }
        let resumed = try RunningProgram(["downloads", "resume", "--library", library])
        try await eventually("the second is recorded") { segmentCount > 0 }
        try await eventually("the first has failed") { resumed.standardError.contains(": not completed") }
        resumed.send(SIGINT)
        #expect(try await resumed.finish() == 130, "\(resumed.standardError)")
        await server.stop()
        #expect(resumed.standardError.contains(/error: .*404/), "\(resumed.standardError)")
    }

    @Test(.timeLimit(.minutes(10))) func aStreamThatCannotBeLoadedLeavesNoRecording() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let program = try RunningProgram(["record", server.address("missing.m3u8"), "--library", library])
        #expect(try await program.finish() != 0, "\(program.standardError)")
        await server.stop()
        #expect(program.standardError.contains("404"), "\(program.standardError)")
        for command in ["library", "downloads"] {
            let list = try RunningProgram([command, "list", "--json", "--library", library])
            #expect(try await list.finish() == 0, "\(list.standardError)")
            #expect(!list.standardOutput.contains("\"id\""), "\(list.standardOutput)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func aDownloadOfALiveStreamHintsAtRecording() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let program = try RunningProgram([
            "download", origin.appendingPathComponent("live.m3u8").path, "--library", library,
        ])
        #expect(try await program.finish() != 0)
        #expect(program.standardError.contains("millstream record"))
    }

    /// A stream on demand is recorded at once; its figures are shown although the next line was not due.
    @Test(.timeLimit(.minutes(10))) func theLastLineHasTheFiguresOfTheRecording() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10, isEnded: true)
        let source = origin.appendingPathComponent("live.m3u8").path
        let program = try RunningProgram(["record", source, "--library", library])
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(program.standardError.contains("00:06 of 00:06 recorded  60 bytes"), "\(program.standardError)")
    }

    /// A recording ends with a whole segment, but its progress does not exceed its goal.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "there is no script")
    )
    func progressDoesNotExceedTheRequestedDuration() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try writePlaylist(from: 10)
        let server = try await RecordingOrigin(origin)
        let source = server.address("live.m3u8")
        let command =
            "'\(RunningProgram.executable.path)' record '\(source)' --library '\(library)' --start-over --duration 2.2"
        let program = try RunningProgram(
            ["script", "-qec", command, "/dev/null"],
            of: URL(fileURLWithPath: "/usr/bin/env")
        )
        #expect(try await program.finish() == 0, "\(program.standardOutput)")
        await server.stop()
        #expect(segmentCount == 3)
        let lines = program.standardOutput.matches(of: /(\d\d:\d\d) of (\d\d:\d\d) recorded/)
        // What was recorded is longer than the request, as the last line says.
        #expect(lines.contains { $0.1 == "00:02" && $0.2 == "00:02" }, "\(program.standardOutput)")
        #expect(lines.allSatisfy { $0.1 <= $0.2 }, "\(program.standardOutput)")
    }
}

import Foundation
import TestSamples
import Testing

/// Tests downloads that are killed, paused, resumed and handed over, by several programs on one library.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .timeLimit(.minutes(10)),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct DownloadsCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("downloads-\(UUID())")

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments + ["--library", folder.path]).result()
    }

    private func list() async throws -> [[String: Any]] {
        let result = try await run("downloads", "list", "--json")
        return try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [[String: Any]])
    }

    /// Runs `body` with a download that has fetched some segments and waits for others.
    private func whileDownloading(
        _ options: [String] = [],
        _ body: (RecordingOrigin, RunningProgram, _ id: String) async throws -> Void
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.answeredSegments = 4
        let source = origin.address("ts/multivariant.m3u8")
        let program = try RunningProgram(["download", source, "--jobs", "2", "--library", folder.path] + options)
        try await eventually("some segments are asked for") { origin.paths.count { $0.hasSuffix(".ts") } >= 5 }
        let downloads = try await list()
        #expect(downloads.count == 1 && downloads.first?["state"] as? String == "running")
        #expect(downloads.first?["source"] as? String == source)
        try await body(origin, program, try #require(downloads.first?["id"] as? String))
        await origin.stop()
    }

    @Test func killedDownloadIsListedAndResumed() async throws {
        try await whileDownloading { origin, program, id in
            program.send(SIGKILL)
            _ = try await program.finish()
            #expect(try await list().first?["state"] as? String == "interrupted")
            let table = try await run("downloads")
            #expect(table.output.hasPrefix("ID ") && table.output.contains("interrupted"), "\(table.output)")
            let percent = try #require(table.output.firstMatch(of: /[0-9]+ %/)?.output)
            let library = try await run("library", "list")
            #expect(library.output.contains(" \(percent)"), "\(library.output) \(table.output)")
            let report = try await run("library", "list", "--json")
            #expect(report.output.contains("\"percent\":\(percent.dropLast(2))"), "\(report.output)")
            let asset = try #require(try await list().first?["asset"] as? String)
            let exported = try await run("library", "export", asset, folder.path + "-copy")
            #expect(exported.status == 1 && exported.errors.contains("(\(percent) is stored)"), "\(exported.errors)")
            origin.answeredSegments = nil
            let before = Set(origin.paths.filter { $0.hasSuffix(".ts") })
            // A limit applies from now on.
            let refused = try await run("downloads", "resume", id, "--max-size", "1k")
            #expect(refused.status == 1 && refused.errors.contains("size limit of 1.00 kB"), "\(refused.errors)")
            let kept = try await run("downloads", "resume", id)
            #expect(kept.status == 1 && kept.errors.contains("size limit of 1.00 kB"), "\(kept.errors)")
            origin.clearPaths()
            let resumed = try await run("downloads", "resume", id, "--max-size", "1T", "--min-free-space", "1M")
            #expect(resumed.status == 0, "\(resumed.errors)")
            #expect(resumed.errors.contains("stored in \(folder.path)/packages/"), "\(resumed.errors)")
            #expect(resumed.errors.contains("play it with: millstream play "), "\(resumed.errors)")
            // At most the segments that were being received are fetched again.
            #expect(origin.paths.count { before.contains($0) } <= 2)
            #expect(try await list().isEmpty)
            #expect(try await run("library", "list", "--json").output.contains("\"complete\""))
        }
    }

    /// An export of what is stored is not advised, and not begun, before there is a whole segment.
    @Test func assetWithoutAWholeSegmentIsNotExported() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.answeredSegments = 0
        let program = try RunningProgram([
            "download", origin.address("ts/multivariant.m3u8"), "--library", folder.path,
        ])
        try await eventually("segments are asked for") { origin.paths.contains { $0.hasSuffix(".ts") } }
        let id = try #require(try await list().first?["asset"] as? String)
        program.send(SIGKILL)
        _ = try await program.finish()
        await origin.stop()
        let file = folder.appendingPathComponent("film.mkv").path
        let shown = try await run("library", "show", id)
        let percent = try #require(shown.output.firstMatch(of: /[0-9]+ %/)?.output)
        // What is not downloaded yet is no damage.
        let verified = try await run("library", "verify", id)
        let state = "\(id)  incomplete (\(percent)): "
        #expect(verified.status == 0 && verified.output.hasPrefix(state), "\(verified)")
        #expect(verified.output.contains("\n  variant-") && verified.output.contains(" not stored\n"), "\(verified)")
        #expect(!verified.output.contains("OK"), "\(verified)")
        let report = try await run("library", "verify", id, "--json")
        #expect(report.output.contains(#""state":"partial","lost":[]"#), "\(report)")
        #expect(report.output.contains(#""missing":[{"path":""#), "\(report)")
        let refused = try await run("library", "export", id, "--mkv", file)
        #expect(refused.status == 1 && refused.errors.contains("(\(percent) is stored)"), "\(refused.errors)")
        #expect(!refused.errors.contains("--partial"), "\(refused.errors)")
        let partial = try await run("library", "export", id, "--mkv", file, "--partial")
        let message = "nothing of the asset \(id) can be exported yet"
        #expect(partial.status == 1 && partial.errors.contains(message), "\(partial.errors)")
        #expect(partial.errors.contains("(asset-incomplete)"), "\(partial.errors)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    /// Programs that read the lines of a download learn about its failure in the same way when it is resumed.
    @Test func failureOfAResumedDownloadIsAnEvent() async throws {
        try await whileDownloading { origin, program, id in
            program.send(SIGKILL)
            _ = try await program.finish()
            let asset = try #require(try await list().first?["asset"] as? String)
            origin.answeredSegments = nil
            let refused = try await run("downloads", "resume", id, "--max-size", "1k", "--json")
            #expect(refused.status == 1 && refused.errors.contains("(too-large)"), "\(refused.errors)")
            let line = try #require(refused.output.split(separator: "\n").last)
            let event = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(event["event"] as? String == "failed" && event["id"] as? String == asset, "\(line)")
            #expect(event["code"] as? String == "too-large", "\(line)")
            #expect((event["message"] as? String)?.contains("size limit of 1.00 kB") == true, "\(line)")
        }
    }

    @Test func failureOfALocalFileIsListedWithItsPath() async throws {
        let origin = folder.appendingPathExtension("origin")
        defer { for url in [folder, origin] { try? FileManager.default.removeItem(at: url) } }
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        let playlist =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in [("a.m3u8", playlist), ("k", "abc"), ("0.ts", "media")] {
            try Data(text.utf8).write(to: origin.appendingPathComponent(name))
        }
        #expect(try await run("download", origin.appendingPathComponent("a.m3u8").path).status == 1)
        let table = try await run("downloads", "list")
        #expect(table.errors.contains("the key has 3 bytes instead of 16: /"), "\(table.errors)")
        let report = try await list()
        let message = try #require((report.first?["error"] as? [String: Any])?["message"] as? String)
        #expect(message.hasPrefix("the key has 3 bytes instead of 16: /") && message.hasSuffix("/k"), "\(message)")
        // A download that has failed does not run, and its error stays listed.
        let id = try #require(report.first?["id"] as? String)
        let paused = try await run("downloads", "pause", id)
        let reason = "cannot be paused, because it has failed"
        #expect(paused.status == 1 && paused.errors.contains(reason), "\(paused.errors)")
        let all = try await run("downloads", "pause")
        #expect(all.status == 0 && all.errors.contains("note: the download \(id) cannot be paused"), "\(all.errors)")
        let listed = try #require(try await list().first)
        #expect(listed["state"] as? String == "failed")
        #expect((listed["error"] as? [String: Any])?["message"] as? String == message)
        // The server loads no files.
        let queued = try await run("downloads", "resume", "--queue")
        let refusal = "--queue cannot hand over a download of a file: /"
        #expect(queued.status == 64 && queued.errors.contains(refusal), "\(queued.errors)")
        #expect(try await list().first?["session"] as? String == "command-line")
        for command in ["download", "record"] {
            let refused = try await run(command, origin.appendingPathComponent("b.m3u8").path, "--queue")
            #expect(refused.status == 64 && refused.errors.contains(refusal), "\(refused.errors)")
        }
        #expect(try await list().count == 1)
    }

    @Test(arguments: [
        ["--header", "A: b"], ["--retries", "1"], ["--user-agent", "x"], ["--insecure"], ["--no-dash"],
    ])
    func optionsForLoadingAreNotForTheServer(options: [String]) async throws {
        let refused = try await RunningProgram(["downloads", "resume", "--queue"] + options).result()
        #expect(refused.status == 64, "\(refused)")
        #expect(refused.errors.contains("--queue cannot be combined with options for HTTP or DASH"), "\(refused)")
    }

    /// Media that cannot be decrypted is not reported as complete; the right key completes the download.
    @Test func keyThatDoesNotMatchEndsTheDownload() async throws {
        let origin = folder.appendingPathExtension("origin")
        defer { for url in [folder, origin] { try? FileManager.default.removeItem(at: url) } }
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        let playlist = """
            #EXTM3U
            #EXT-X-VERSION:3
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x00000000000000000000000000000007
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        // The word "Gero", which begins as a transport stream does, encrypted with the key "0123456789abcdef".
        let digits = "e6bc29a20dc49f0ea18c6e2d87e323db"
        let segment = stride(from: 0, to: 32, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
        let files = [("a.m3u8", Array(playlist.utf8)), ("k", Array("fedcba9876543210".utf8)), ("0.ts", segment)]
        for (name, bytes) in files { try Data(bytes).write(to: origin.appendingPathComponent(name)) }
        let source = origin.appendingPathComponent("a.m3u8").path
        let failed = try await run("download", source)
        let message = "the key does not match: the decrypted data has no valid PKCS7 padding: "
        #expect(failed.status == 1 && failed.errors.contains(message), "\(failed.errors)")
        #expect(failed.errors.contains("/0.ts (damaged)"), "\(failed.errors)")
        let assets = try await run("library", "list", "--json")
        #expect(assets.output.contains("\"partial\"") && assets.output.contains("\"playableOffline\":false"))
        let right = try await run("download", source, "--key", "30313233343536373839616263646566")
        #expect(right.status == 0, "\(right.errors)")
        #expect(try await list().isEmpty, "the download that failed is complete")
        let wrong = try await run("download", source, "--key", "00112233445566778899aabbccddeeff")
        #expect(wrong.status == 1 && wrong.errors.contains(message), "\(wrong.errors)")
        // The key that decrypts the stored segments stays.
        let kept = try await run("library", "list", "--json")
        #expect(kept.output.contains("\"complete\"") && kept.output.contains("\"playableOffline\":true"))
    }

    /// An asset that is deleted is no progress, which `--quiet` hides.
    @Test func deletedAssetsArePrintedWithQuiet() async throws {
        let origin = folder.appendingPathExtension("origin")
        defer { for url in [folder, origin] { try? FileManager.default.removeItem(at: url) } }
        try FileManager.default.createDirectory(at: origin, withIntermediateDirectories: true)
        for (name, byte) in [("one", UInt8(1)), ("two", UInt8(2))] {
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n"
            try Data(playlist.utf8).write(to: origin.appendingPathComponent("\(name).m3u8"))
            try Data(repeating: byte, count: 30_000_000).write(to: origin.appendingPathComponent("\(name).ts"))
        }
        let first = try await run("download", origin.appendingPathComponent("one.m3u8").path, "--quiet")
        #expect(first.status == 0 && first.errors.isEmpty, "\(first.errors)")
        #expect(try await run("library", "limits", "--quota", "45M").status == 0)
        let second = try await run("download", origin.appendingPathComponent("two.m3u8").path, "--quiet")
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.errors.hasPrefix("deleted one, because the library needs space ("), "\(second.errors)")
    }

    /// The stored variant is played, whatever is missing of the one that was abandoned.
    @Test func abandonedVariantDoesNotHideThePlayableOne() async throws {
        let origin = folder.appendingPathExtension("origin")
        defer { for url in [folder, origin] { try? FileManager.default.removeItem(at: url) } }
        var main = "#EXTM3U\n"
        for (name, rate) in [("low", 900_000), ("high", 3_000_000)] {
            main +=
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(name)\",NAME=\"English\",LANGUAGE=\"en\",URI=\"a\(name)/m.m3u8\"\n"
            main += "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),AUDIO=\"\(name)\"\n\(name)/m.m3u8\n"
            for path in [name, "a\(name)"] {
                let directory = origin.appendingPathComponent(path)
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                let media = "#EXTM3U\n#EXT-X-TARGETDURATION:30\n#EXTINF:30,\n0.ts\n#EXT-X-ENDLIST\n"
                try Data(media.utf8).write(to: directory.appendingPathComponent("m.m3u8"))
                // There are no segments of the variant that is abandoned.
                if name == "low" { try Data(path.utf8).write(to: directory.appendingPathComponent("0.ts")) }
            }
        }
        try Data(main.utf8).write(to: origin.appendingPathComponent("main.m3u8"))
        let server = try await RecordingOrigin(origin)
        let source = server.address("main.m3u8")
        #expect(try await run("download", source, "--variants", "lowest").status == 0)
        #expect(try await run("download", source, "--variants", "all", "--retries", "0").status == 1)
        let id = try #require(try await list().first?["asset"] as? String)
        // The failed download of the other variant does not hide it either.
        let copy = origin.appendingPathComponent("copy")
        let exported = try await run("library", "export", id, copy.path)
        #expect(exported.status == 0 && exported.errors.contains("the asset is not complete"), "\(exported.errors)")
        let playlist = try String(contentsOf: copy.appendingPathComponent("multivariant.m3u8"), encoding: .utf8)
        #expect(playlist.contains("BANDWIDTH=900000") && !playlist.contains("BANDWIDTH=3000000"), "\(playlist)")
        #expect(try await run("downloads", "cancel", id).status == 0)
        let table = try await run("library", "list")
        #expect(table.output.contains("  playable  "), "\(table.output)")
        let shown = try await run("library", "show", id)
        // All variants that were begun count: 128.5 of 519.5 kB a second, by the bit rates.
        #expect(shown.output.contains("partial, 24 %, playable offline"), "\(shown.output)")
        #expect(shown.output.contains("3 Mbit/s, 00:00 stored"), "\(shown.output)")
        await server.stop()
    }

    @Test func helpOfResumeSaysThatADownloadKeepsItsLimits() async throws {
        let program = try RunningProgram(["downloads", "resume", "--help"])
        #expect(try await program.finish() == 0)
        let help = program.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.components(separatedBy: "of the download)").count == 5, "\(help)")
        #expect(!help.contains("1 TiB") && !help.contains("256 MiB"), "\(help)")
        let new = try RunningProgram(["download", "--help"])
        #expect(try await new.finish() == 0)
        for text in ["(default: no limit)", "(default: 1 TiB)", "(default: 256 MiB)"] {
            #expect(new.standardOutput.contains(text), "\(new.standardOutput)")
        }
    }

    @Test func downloadIsPausedAndResumedByAnotherProgram() async throws {
        try await whileDownloading { origin, program, id in
            #expect(try await run("downloads", "pause", id).status == 0)
            try await eventually("the program reports the pause") {
                program.standardError.contains("Ctrl-C ends this command; the download stays paused\n")
            }
            let waiting = "paused; waiting until another command continues it: millstream downloads resume \(id)\n"
            #expect(program.standardError.components(separatedBy: waiting).count == 2, "\(program.standardError)")
            #expect(try await list().first?["state"] as? String == "paused")
            let count = origin.paths.count
            origin.answeredSegments = nil
            try await Task.sleep(for: .seconds(1))
            #expect(origin.paths.count == count && program.isRunning)
            // The program that was paused continues.
            #expect(try await run("downloads", "resume").status == 0)
            #expect(try await program.finish() == 0, "\(program.standardError)")
            #expect(program.standardError.contains("play it with: millstream play "))
            #expect(try await list().isEmpty)
        }
    }

    @Test func pausedDownloadStaysPausedAfterAnInterruption() async throws {
        try await whileDownloading { _, program, id in
            #expect(try await run("downloads", "pause", id).status == 0)
            try await eventually("the program reports the pause") {
                program.standardError.contains("the download stays paused")
            }
            program.send(SIGINT)
            #expect(try await program.finish() == 130, "\(program.standardError)")
            #expect(try await list().first?["state"] as? String == "paused")
        }
    }

    @Test func secondDownloadFollowsTheFirst() async throws {
        try await whileDownloading { origin, program, _ in
            let second = try RunningProgram([
                "download", origin.address("ts/multivariant.m3u8"), "--library", folder.path,
            ])
            try await eventually("the second one follows") { second.standardError.contains("another process") }
            origin.answeredSegments = nil
            #expect(try await second.finish() == 0, "\(second.standardError)")
            #expect(try await program.finish() == 0, "\(program.standardError)")
            let segments = origin.paths.filter { $0.contains("1080p") && $0.hasSuffix(".ts") }
            #expect(Set(segments).count == segments.count, "\(segments)")
        }
    }

    @Test func secondDownloadContinuesAFirstOneThatIsKilled() async throws {
        try await whileDownloading { origin, program, _ in
            let second = try RunningProgram([
                "download", origin.address("ts/multivariant.m3u8"), "--library", folder.path,
            ])
            try await eventually("the second one follows") { second.standardError.contains("another process") }
            program.send(SIGKILL)
            _ = try await program.finish()
            origin.answeredSegments = nil
            #expect(try await second.finish() == 0, "\(second.standardError)")
            #expect(try await run("library", "list", "--json").output.contains("\"complete\""))
        }
    }

    @Test func interruptionOfASecondDownloadSaysThatTheFirstGoesOn() async throws {
        try await whileDownloading { origin, program, _ in
            let second = try RunningProgram([
                "download", origin.address("ts/multivariant.m3u8"), "--library", folder.path,
            ])
            try await eventually("the second one follows") { second.standardError.contains("another process") }
            second.send(SIGINT)
            #expect(try await second.finish() == 130)
            let errors = second.standardError
            #expect(errors.contains("interrupted; another process goes on with the download"), "\(errors)")
            #expect(!errors.contains("run the same command"), "\(errors)")
            origin.answeredSegments = nil
            #expect(try await program.finish() == 0, "\(program.standardError)")
        }
    }

    /// The one that loses the race follows the other one, and both have the same archive.
    @Test func downloadsThatBeginAtTheSameMomentSucceed() async throws {
        let (sources, archive) = (folder.appendingPathExtension("list"), folder.appendingPathExtension("archive"))
        defer { for url in [folder, sources, archive] { try? FileManager.default.removeItem(at: url) } }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let source = origin.address("ts/multivariant.m3u8")
        try Data("\(source)\n".utf8).write(to: sources)
        // The library exists, so that they compete for the asset only.
        #expect(try await run("library", "limits", "--quota", "none").status == 0)
        let arguments = ["download", "--list", sources.path, "--archive", archive.path, "--variants", "lowest"]
        let programs = try (0..<3).map { _ in try RunningProgram(arguments + ["--library", folder.path]) }
        for program in programs { #expect(try await program.finish() == 0, "\(program.standardError)") }
        #expect(try String(contentsOf: archive, encoding: .utf8) == "\(source)\n")
        #expect(try await list().isEmpty)
        await origin.stop()
    }

    /// A server that has given up tries again for the command, which ends with the error of the server.
    @Test func failedDownloadOfTheServerIsRetriedThere() async throws {
        let files = folder.appendingPathExtension("origin")
        defer { for url in [folder, files] { try? FileManager.default.removeItem(at: url) } }
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        for (name, text) in [("a.m3u8", playlist), ("0.ts", "zero")] {
            try Data(text.utf8).write(to: files.appendingPathComponent(name))
        }
        let origin = try await RecordingOrigin(files)
        let source = origin.address("a.m3u8")
        #expect(try await run("download", source, "--queue").status == 0)
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", folder.path, "--allow-host", "127.0.0.1:\(origin.port)",
        ])
        try await eventually("the download fails") { try await list().first?["state"] as? String == "failed" }
        let failed = try await run("download", source)
        #expect(failed.status == 1 && failed.errors.contains("(http-status)"), "\(failed.errors)")
        #expect(failed.errors.contains("the download of another process has failed ("), "\(failed.errors)")
        try Data("one".utf8).write(to: files.appendingPathComponent("1.ts"))
        let complete = try await run("download", source)
        #expect(complete.status == 0, "\(complete.errors)")
        #expect(try await list().isEmpty)
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }

    /// A command with the key completes what a running server could not.
    @Test func failedDownloadOfTheServerIsCompletedWithAKey() async throws {
        let files = folder.appendingPathExtension("origin")
        defer { for url in [folder, files] { try? FileManager.default.removeItem(at: url) } }
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x00000000000000000000000000000007
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        // The word "Gero", which begins as a transport stream does, encrypted with the key "0123456789abcdef".
        let digits = "e6bc29a20dc49f0ea18c6e2d87e323db"
        let segment = stride(from: 0, to: 32, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
        for (name, bytes) in [("a.m3u8", Array(playlist.utf8)), ("0.ts", segment)] {
            try Data(bytes).write(to: files.appendingPathComponent(name))
        }
        let origin = try await RecordingOrigin(files)
        let source = origin.address("a.m3u8")
        #expect(try await run("download", source, "--queue").status == 0)
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", folder.path, "--allow-host", "127.0.0.1:\(origin.port)",
        ])
        try await eventually("the download fails") { try await list().first?["state"] as? String == "failed" }
        let complete = try await run("download", source, "--key", "30313233343536373839616263646566")
        #expect(complete.status == 0, "\(complete.errors)")
        try await eventually("the server ends its download") { try await list().isEmpty }
        #expect(try await run("library", "list", "--json").output.contains("\"complete\""))
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }

    /// The files of a canceled selection count, and another variant that is complete is exported.
    @Test func canceledVariantCountsBesideACompleteOne() async throws {
        let file = folder.appendingPathExtension("mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        try await whileDownloading { origin, program, id in
            #expect(try await run("downloads", "cancel", id).status == 0)
            #expect(try await program.finish() == 1)
            origin.answeredSegments = nil
            let lower = try await run("download", origin.address("ts/multivariant.m3u8"), "--max-height", "200")
            #expect(lower.status == 0, "\(lower.errors)")
            let assets = try await run("library", "list", "--json")
            let asset = try #require(assets.output.firstMatch(of: /"id":"([^"]+)"/)?.output.1)
            let shown = try await run("library", "show", String(asset))
            let percent = try #require(shown.output.firstMatch(of: /partial, ([0-9]+) %, playable offline/)?.output.1)
            #expect(Int(percent).map { $0 < 90 } == true, "\(shown.output)")
            let exported = try await run("library", "export", String(asset), "--mp4", file.path)
            #expect(exported.status == 0, "\(exported.errors)")
            #expect(exported.errors.contains("the best variant that is complete is exported"), "\(exported.errors)")
        }
    }

    @Test func interruptedDownloadIsPaused() async throws {
        try await whileDownloading(["--quiet"]) { origin, program, id in
            program.send(SIGINT)
            #expect(try await program.finish() == 130)
            #expect(try await list().first?["state"] as? String == "paused")
            origin.answeredSegments = nil
            let again = try await run("download", origin.address("ts/multivariant.m3u8"))
            #expect(again.status == 0, "\(again.errors)")
            #expect(try await list().isEmpty)
        }
    }

    @Test func canceledDownloadEndsAndKeepsItsFiles() async throws {
        try await whileDownloading { _, program, id in
            #expect(try await run("downloads", "cancel", id).status == 0)
            #expect(try await program.finish() == 1)
            #expect(program.standardError.contains("the download was canceled (canceled)"))
            #expect(try await list().isEmpty)
            // The progress of the asset, whose files are the same, does not depend on the download.
            let assets = try await run("library", "list", "--json")
            #expect(assets.output.contains("\"partial\""))
            let asset = try #require(assets.output.firstMatch(of: /"percent":([0-9]+)/)?.output.1)
            let table = try await run("library", "list")
            #expect(table.output.contains(" \(asset) %"), "\(table.output) \(assets.output)")
            let again = try await run("downloads", "cancel", id)
            #expect(again.status == 1 && again.errors.contains("there is no unfinished download \(id)"))
        }
    }

    /// An asset with the same files has the same progress before and after its download is canceled.
    @Test func progressDoesNotFallWithACancellation() async throws {
        try await whileDownloading { _, program, id in
            program.send(SIGKILL)
            _ = try await program.finish()
            let before = try #require(try await run("library", "list").output.firstMatch(of: /[0-9]+ %/)?.output)
            #expect(try await run("downloads", "cancel", id).status == 0)
            #expect(try await list().isEmpty)
            let after = try await run("library", "list")
            #expect(after.output.contains(" \(before)"), "\(after.output), not \(before)")
        }
    }

    @Test func serverRunsWhatIsQueued() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let queued = try await run(
            "download",
            origin.address("ts/multivariant.m3u8"),
            "--queue",
            "--variants",
            "lowest"
        )
        #expect(queued.status == 0 && queued.output.split(separator: "\n").count == 1, "\(queued.errors)")
        #expect(queued.errors.contains("it is downloaded while millstream serve runs"), "\(queued.errors)")
        #expect(try await list().first?["session"] as? String == "server")
        #expect(try await list().first?["state"] as? String == "waiting")
        let server = try RunningProgram([
            "serve", "--port", "0", "--library", folder.path, "--allow-host", "127.0.0.1:\(origin.port)",
        ])
        let deadline = ContinuousClock.now + .seconds(60)
        while try await !list().isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(200)) }
        #expect(try await run("library", "list", "--json").output.contains("\"complete\""))
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }

    @Test func sourceThatTheServerRefusesIsListedWithTheOptionThatPermitsIt() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let queued = try await run("download", origin.address("ts/multivariant.m3u8"), "--queue")
        #expect(queued.status == 0, "\(queued.errors)")
        let server = try RunningProgram(["serve", "--port", "0", "--library", folder.path])
        let deadline = ContinuousClock.now + .seconds(60)
        while try await list().first?["state"] as? String != "failed", .now < deadline {
            try await Task.sleep(for: .milliseconds(200))
        }
        let hint = "start millstream serve again with --allow-host 127.0.0.1:\(origin.port) added to its options"
        let listed = try await run("downloads", "list")
        #expect(listed.errors.contains(hint), "\(listed.errors)")
        let error = try #require(try await list().first?["error"] as? [String: Any])
        #expect((error["hint"] as? String)?.contains(hint) == true, "\(error)")
        server.send(SIGTERM)
        #expect(try await server.finish() == 0, "\(server.standardError)")
        await origin.stop()
    }
}

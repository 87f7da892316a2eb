import Foundation
import TestSamples
import Testing

/// Tests the program as it is used by scripts.
@Suite(
    .serialized,
    .tags(.endToEnd),
    .enabled(if: Samples.directory != nil, "the sample streams were not made: run Scripts/make-samples")
)
struct CommandLineTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("command-line-\(UUID())")

    private func run(_ arguments: String...) async throws -> (status: Int32, output: String, errors: String) {
        try await run(arguments)
    }

    private func run(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await RunningProgram(arguments).result()
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// Returns the assets in the library as reported by the program.
    private func assets() async throws -> [[String: Any]] {
        let list = try await run("library", "list", "--json", "--library", folder.path)
        return try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
    }

    @Test(.timeLimit(.minutes(10))) func samplesAreInspected() async throws {
        let directory = try #require(Samples.directory)
        for stream in ["ts", "fmp4", "aes", "byterange", "ad"] {
            let path = directory.appendingPathComponent("\(stream)/multivariant.m3u8").path
            let result = try await run("inspect", path, "--json", "--follow")
            #expect(result.status == 0)
            let report = try json(result.output)
            let variants = try #require(report["variants"] as? [[String: Any]])
            let playlists = try #require(report["playlists"] as? [[String: Any]])
            let findings = try #require(report["diagnostics"] as? [[String: Any]])
            #expect(playlists.count >= variants.count && findings.allSatisfy { $0["severity"] as? String != "error" })
            let longest = playlists.compactMap { ($0["duration"] as? NSNumber)?.doubleValue }.max()
            #expect(longest.map { $0 >= (stream == "ad" ? 20 : 60) } == true)
        }
    }

    @Test(.timeLimit(.minutes(10))) func validationReportsRulesInAllFormats() async throws {
        let directory = try #require(Samples.directory)
        let sample = directory.appendingPathComponent("fmp4/multivariant.m3u8").path
        let good = try await run("validate", sample, "--follow", "--rules", "rfc,apple", "--format", "json")
        let report = try json(good.output)
        #expect((report["playlists"] as? [Any])?.count == 7 && report["rules"] as? [String] == ["apple", "rfc"])
        #expect(good.status == ((report["errors"] as? Int) == 0 ? 0 : 2), "\(good.output)")

        let bad = folder.appendingPathComponent("bad.m3u8")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("#EXTM3U\n#EXTINF:4,\na.ts\n".utf8).write(to: bad)
        let text = try await run("validate", bad.path)
        #expect(text.status == 2 && text.output.contains("error: ") && text.output.contains("missing-target-duration"))
        let sarif = try await run("validate", bad.path, "--format", "sarif")
        let runs = try #require(try json(sarif.output)["runs"] as? [[String: Any]])
        let results = try #require(runs.first?["results"] as? [[String: Any]])
        #expect(sarif.status == 2 && results.map { $0["ruleId"] as? String } == ["missing-target-duration"])
        #expect(try await run("validate", bad.path, "--rules", "none").status == 64)
        for proxy in ["127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:99999999999999999999", ":80", ""] {
            let refused = try await run("inspect", bad.path, "--proxy", proxy)
            #expect(refused.status == 64 && refused.errors.contains("--proxy must be HOST:PORT"), "\(refused)")
        }
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            ("help nope", "millstream has no command \"nope\"", "see millstream --help"),
            ("librar list", "millstream has no command \"librar\"", "did you mean millstream library?"),
            ("library shw ID", "millstream library has no command \"shw\"", "did you mean millstream library show?"),
            ("downloads puase ID", "millstream downloads has no command \"puase\"", "millstream downloads pause?"),
        ]
    )
    func unknownCommandIsNamed(arguments: String, message: String, hint: String) async throws {
        let program = try RunningProgram(arguments.split(separator: " ").map(String.init))
        #expect(try await program.finish() == 64)
        #expect(program.standardError.contains(message), "\(program.standardError)")
        #expect(program.standardError.contains(hint), "\(program.standardError)")
        #expect(program.standardOutput.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func editWithoutOptionsCopiesThePlaylist() async throws {
        let directory = try #require(Samples.directory)
        for name in ["ts/multivariant.m3u8", "byterange/360p/media.m3u8"] {
            let path = directory.appendingPathComponent(name)
            let result = try await run("edit", path.path)
            #expect(result.status == 0)
            #expect(try Data(result.output.utf8) == Data(contentsOf: path))
        }
    }

    @Test(.timeLimit(.minutes(10))) func presentationIsEditedIntoADirectory() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let directory = try #require(Samples.directory)
        func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
        let output = folder.appendingPathComponent("set").path
        let result = try await run(
            "edit",
            path("ts/multivariant.m3u8"),
            "--max-height",
            "480",
            "--duration",
            "00:00:30",
            "--append",
            path("ad/multivariant.m3u8"),
            "-o",
            output
        )
        #expect(result.status == 0, "\(result.errors)")
        let report = try json(try await run("inspect", output + "/multivariant.m3u8", "--json", "--follow").output)
        #expect((report["variants"] as? [Any])?.count == 3)
        let playlists = try #require(report["playlists"] as? [[String: Any]])
        for playlist in playlists where playlist["iFramesOnly"] as? Bool == false {
            #expect((playlist["duration"] as? NSNumber)?.doubleValue == 50)
            let segments = try #require(playlist["segments"] as? [[String: Any]])
            #expect(segments.filter { $0["discontinuity"] as? Bool == true }.count == 1)
            for segment in segments {
                let url = try #require((segment["url"] as? String).flatMap { URL(string: $0) })
                #expect(FileManager.default.fileExists(atPath: url.path))
            }
        }
    }

    /// An edited playlist plays wherever it is written.
    @Test(.timeLimit(.minutes(10))) func editedPlaylistThatLeavesItsFolderHasAbsoluteURLs() async throws {
        let source = folder.appendingPathComponent("source")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let top = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=1000
            low/media.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2000
            high/media.m3u8?a=1

            """
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        try Data(top.utf8).write(to: source.appendingPathComponent("top.m3u8"))
        for name in ["low", "high"] {
            let directory = source.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Data(media.utf8).write(to: directory.appendingPathComponent("media.m3u8"))
        }
        let input = source.appendingPathComponent("top.m3u8").path
        let absolute = "\nfile://\(source.path)/low/media.m3u8\n"
        let printed = try await run("edit", input, "--bandwidth", "500...1500")
        #expect(printed.status == 0 && printed.output.hasSuffix(absolute), "\(printed.output)")
        let relative = try await run("edit", input, "--relative", "--bandwidth", "500...1500")
        #expect(relative.output.hasSuffix("\nlow/media.m3u8\n"), "\(relative.output)")
        func written(_ path: String, _ arguments: String...) async throws -> String {
            let result = try await run(["edit"] + arguments + ["-o", path])
            #expect(result.status == 0, "\(result.errors)")
            return try String(contentsOfFile: path, encoding: .utf8)
        }
        #expect(try await written(folder.path + "/a.m3u8", input, "--bandwidth", "500...1500").hasSuffix(absolute))
        let beside = try await written(source.path + "/b.m3u8", input, "--bandwidth", "500...1500")
        #expect(beside.hasSuffix("\nlow/media.m3u8\n"))
        let single = source.path + "/low/media.m3u8"
        let cut = try await written(folder.path + "/cut.m3u8", single, "--duration", "4")
        #expect(cut.contains("\nfile://\(source.path)/low/0.ts\n") && !cut.contains("1.ts"))
        // Several playlists need a folder, in which they keep their names.
        let refused = try await run("edit", input, "--duration", "4", "-o", folder.path + "/c.m3u8")
        #expect(refused.status == 64 && refused.errors.contains("use -o FOLDER"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/c.m3u8"))
        let set = try await run("edit", input, "--duration", "4", "-o", folder.path + "/set")
        #expect(set.status == 0, "\(set.errors)")
        let names = try String(contentsOfFile: folder.path + "/set/multivariant.m3u8", encoding: .utf8)
        #expect(names.contains("\nlow/media.m3u8\n") && names.hasSuffix("\nhigh/media.m3u8\n"))
        for name in ["low", "high"] {
            let text = try String(contentsOfFile: folder.path + "/set/\(name)/media.m3u8", encoding: .utf8)
            #expect(text.contains("\nfile://\(source.path)/\(name)/0.ts\n"))
        }
    }

    @Test(.timeLimit(.minutes(10))) func everyEditIsAnOption() async throws {
        let report = try json(try await run("edits", "--json").output)
        let edits = try #require(report["edits"] as? [[String: Any]])
        #expect(edits.count >= 11)
        let list = try await run("edits").output.split(separator: "\n")
        let help = try await run("edit", "--help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let completion = try await run("--generate-completion-script", "bash").output
        #expect(list.count == edits.count)
        for (edit, line) in zip(edits, list) {
            let (name, summary) = (try #require(edit["name"] as? String), try #require(edit["summary"] as? String))
            let placeholder = (edit["parameter"] as? [String: Any])?["placeholder"] as? String
            #expect(help.contains("--\(name)\(placeholder.map { " <\($0)>" } ?? "") \(summary)"), "\(name)")
            #expect(completion.contains("--\(name)"))
            #expect(line.hasPrefix(name + (placeholder.map { "=\($0) " } ?? " ")) && line.hasSuffix("   \(summary)"))
        }
        let unknown = try await run("edit", "/dev/null", "--no-such-edit")
        #expect(unknown.status == 64 && unknown.errors.contains("--no-such-edit"))
    }

    /// Conditions whose names have spaces are completed; Bash quotes completions as it does file names.
    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/bin/bash"), "there is no bash")
    )
    func conditionsAreCompletedInBash() async throws {
        let script = try await run("--generate-completion-script", "bash").output
        let call = """
            COMP_WORDS=(millstream play a.m3u8 --conditions 'Very\\ B'); COMP_CWORD=4
            COMP_LINE='millstream play a.m3u8 --conditions Very\\ B'; COMP_POINT=${#COMP_LINE}
            _millstream millstream "${COMP_WORDS[4]}" --conditions; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let program = try RunningProgram(["-c", script + "\n" + call], of: URL(fileURLWithPath: "/bin/bash"))
        _ = try await program.finish()
        #expect(program.standardOutput == "Very Bad Network\n", "\(program.standardError)")
        #expect(script.contains("complete -o filenames -F _millstream millstream"))
        let zsh = try await run("--generate-completion-script", "zsh").output
        #expect(zsh.contains("Very Bad Network"))
    }

    @Test(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.fileExists(atPath: "/bin/bash"), "there is no bash"),
        arguments: [
            (["conditions", "show", "Very"], "Very Bad Network"),
            (["download", "a.m3u8", "--variants", "lo"], "lowest"),
            (["download", "a.m3u8", "--avoid-networks", "cell"], "cellular"),
            (["downloads", "resume", "--avoid-networks", "exp"], "expensive"),
            (["library", "policy", "a", "--priority", "imp"], "important"),
        ]
    )
    func valuesAreCompletedInBash(words: [String], completion: String) async throws {
        let script = try await run("--generate-completion-script", "bash").output
        let line = (["millstream"] + words).joined(separator: " ")
        let call = """
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); COMP_LINE='\(line)'; COMP_POINT=${#COMP_LINE}
            _millstream millstream "${COMP_WORDS[\(words.count)]}" "${COMP_WORDS[\(words.count - 1)]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let program = try RunningProgram(["-c", script + "\n" + call], of: URL(fileURLWithPath: "/bin/bash"))
        _ = try await program.finish()
        #expect(program.standardOutput == completion + "\n", "\(program.standardError)")
    }

    @Test(.timeLimit(.minutes(10))) func editsAreAppliedInTheOrderOfTheCommandLine() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ segments: Int, _ comment: String = "") throws -> String {
            let path = folder.appendingPathComponent(name).path
            let text =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
                + (0..<segments).map { "\(comment)#EXTINF:4,\n\(name)-\($0).ts\n" }.joined() + "#EXT-X-ENDLIST\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }
        let (film, advertisement) = (try write("film", 10), try write("ad", 1, "# a comment\n"))
        func edited(_ arguments: String...) async throws -> String {
            let result = try await run(["edit", film, "--relative"] + arguments)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            return result.output
        }
        func segments(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
        let limited = try await edited("--start", "8", "--duration=12")
        #expect(segments(limited) == ["film-2.ts", "film-3.ts", "film-4.ts"])
        #expect(segments(try await edited("--duration", "12", "--start", "8")) == ["film-2.ts"])
        #expect(segments(try await edited("--start", "4", "--duration", "20", "--start", "8")).count == 3)
        // Flags and options have one order.
        let before = try await edited("--canonical", "--prepend", advertisement)
        let after = try await edited("--prepend", advertisement, "--canonical")
        #expect(before.contains("# a comment") && !after.contains("# a comment"))
        #expect(segments(before) == segments(after) && segments(after).first == "ad-0.ts")
        // An argument that looks like an option can be a value.
        let missing = try await run("edit", film, "--append", "--canonical", "--start", "8")
        #expect(missing.status == 1 && missing.errors.contains("--canonical"), "\(missing.errors)")
        _ = try write("--start", 10)
        let program = try RunningProgram(
            ["edit", film, "--relative", "--append", "--start", "--duration", "60", "--start", "52"],
            directory: folder
        )
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(segments(program.standardOutput) == ["--start-3.ts", "--start-4.ts"])
    }

    @Test(.timeLimit(.minutes(10))) func fileWithEditsIsAppliedAtItsPlace() async throws {
        let directory = try #require(Samples.directory)
        let source = directory.appendingPathComponent("fmp4/multivariant.m3u8").path
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = folder.appendingPathComponent("program.json")
        try Data(#"[{"name": "resolution", "value": "...640x360"}, {"name": "no-subtitles"}]"#.utf8).write(to: program)
        let result = try await run("edit", source, "--audio-languages", "ko", "--program", program.path, "--relative")
        let lines = result.output.split(separator: "\n")
        #expect(result.status == 0 && lines.filter { !$0.hasPrefix("#") } == ["360p/media.m3u8"], "\(result.errors)")
        let renditions = lines.filter { $0.hasPrefix("#EXT-X-MEDIA:") }
        #expect(renditions.count == 1 && renditions.first?.contains(#"LANGUAGE="ko",DEFAULT=YES"#) == true)

        for (text, code) in [
            (#"{"edits": []}"#, "invalid-program"), ("", "invalid-program"), (#"[{"name": "x"}]"#, "unknown-edit"),
            (#"[{"name": "duration", "value": "0"}]"#, "invalid-value"),
        ] {
            try Data(text.utf8).write(to: program)
            let refused = try await run("edit", source, "--program", program.path)
            #expect(refused.status == 2 && refused.errors.contains("(\(code))"), "\(refused.errors)")
            #expect(refused.output.isEmpty && refused.errors.contains(program.path))
        }
        for (text, problem) in [
            ("[", "is not JSON"), (#"{"name": "x"}"#, "the edits are not a list"), ("[1]", "edit 1 is not an object"),
            (#"[{"name": "no-i-frames"}, {"value": "1"}]"#, "edit 2 has no name"),
            (#"[{"name": "max-height", "value": 360}]"#, "the value of edit 1 is not a string"),
        ] {
            try Data(text.utf8).write(to: program)
            let refused = try await run("edit", source, "--program", program.path)
            #expect(refused.status == 2 && refused.errors.contains(problem), "\(refused.errors)")
        }
        let missing = try await run("edit", source, "--program", folder.path + "/none.json")
        #expect(missing.status == 1 && missing.errors.contains("(file-failed)"), "\(missing.errors)")
    }

    /// The player tries again and reaches the end, whatever goes wrong at the origin.
    @Test(.timeLimit(.minutes(10))) func simulatedFaultsDoNotStopPlayback() async throws {
        let directory = try #require(Samples.directory)
        let faults = [
            "path=*0.ts&requests=1&status=503", "path=*1.ts&requests=1&truncate=1000",
            "path=*.m3u8&requests=1&delay=0.2",
        ]
        let origin = try RunningProgram(
            ["origin", directory.path, "--port", "0"] + faults.flatMap { ["--fault", $0] }
        )
        try await eventually("the origin listens") { origin.standardOutput.contains(":") }
        let port = try #require(origin.standardOutput.firstMatch(of: /:([0-9]+)\//)?.1)
        let played = try await run(
            "play",
            "http://127.0.0.1:\(port)/ts/multivariant.m3u8",
            "--headless",
            "--speed",
            "max",
            "--until",
            "12",
            "--metrics",
            "-",
            "--max-height",
            "180"
        )
        #expect(played.status == 0, "\(played.errors)")
        let metrics = try json(played.output)
        // The truncated segment is continued with a range request, which is no error.
        #expect(metrics["errors"] as? Int == 1 && metrics["decodedFrames"] as? Int == 360, "\(played.output)")
        let refused = try await run("origin", directory.path, "--fault", "status=200")
        #expect(refused.status == 64 && refused.errors.contains("is not valid: "))
    }

    @Test(.timeLimit(.minutes(10))) func editsOnTheCommandLineHaveTheLimitsOfTheServer() async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("media.m3u8")
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + String(repeating: "#EXTINF:4,\na.ts\n", count: 100_000)
        try Data((text + "#EXT-X-ENDLIST\n").utf8).write(to: file)
        // 200,000 entries are the most by default.
        let large = try await run("edit", file.path, "--append", file.path)
        #expect(large.status == 1 && large.errors.contains("(playlist-too-large)"), "\(large.errors)")
        #expect(large.errors.contains("hint: raise the limit with --max-playlist-entries COUNT"))
        let loaded = try await run("edit", file.path, "--max-playlist-size", "1")
        #expect(loaded.status == 1 && loaded.errors.contains("(playlist-too-large)"), "\(loaded.errors)")
        #expect(loaded.errors.contains("hint: raise the limit with --max-playlist-size MIB"))
        let entries = try await run("edit", file.path, "--max-playlist-entries", "1000")
        #expect(entries.status == 2 && entries.errors.contains("(limit-exceeded)"), "\(entries.errors)")
        let edits = try await run(["edit", file.path] + Array(repeating: "--absolute", count: 17))
        #expect(edits.status == 64 && edits.errors.contains("at most 16 edits can be applied (too-many-edits)"))
        // Each source has an edit, so that there are not too many sources first.
        let sources = try await run(["edit", file.path] + (0..<17).flatMap { ["--append", "\($0).m3u8"] })
        #expect(sources.status == 64 && sources.errors.contains("(too-many-edits)"))
        let played = try await run(
            "play",
            file.path,
            "--edit",
            Array(repeating: "absolute", count: 17).joined(separator: "&")
        )
        #expect(played.status == 64 && played.errors.contains("at most 16 edits"), "\(played.errors)")
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: [
            (["inspect", "/no/such/file"], 1), (["inspect", "/dev/null"], 2),
            (["edit", "/dev/null", "--bandwidth", "x"], 64),
            (["download", "/dev/null"], 2), (["nonsense"], 64), (["inspect"], 64), (["library", "show", "nothing"], 1),
            (["download", "http://127.0.0.1:1/x.m3u8", "--retries", "0"], 1), (["--version"], 0),
            (["edit", "--help"], 0),
            (["serve", "--catalog", "/dev/null"], 2), (["download", "x", "--jobs", "0"], 64),
            (["download", "x", "--qualifier", "height"], 64),
            (["download", "x", "--limit-rate", "0"], 64),
            (["download", "x", "--min-size", "720"], 64), (["download", "x", "--max-size", "0"], 64),
            (["download", "x", "--min-free-space", "much"], 64),
            (["inspect", "ftp://h/x"], 64), (["inspect", ""], 64), (["inspect", "/tmp"], 1),
            (["edit", "/dev/null", "--duration", "-5"], 64),
            (["serve", "--port", "0", "--host", "no-such.invalid"], 1),
            (["serve", "--port", "0", "--host", "192.0.2.1"], 1),
        ]
    )
    func errorsAreOneLineWithAStatus(arguments: [String], status: Int) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = try RunningProgram(arguments, environment: ["MILLSTREAM_LIBRARY": folder.path])
        #expect(try await program.finish() == Int32(status), "\(program.standardError)")
        let lines = program.standardError.split(separator: "\n")
        if status == 0 {
            #expect(lines.isEmpty && !program.standardOutput.isEmpty)
        } else {
            #expect(lines.first?.hasPrefix("millstream: error: ") == true && lines.first?.hasSuffix(")") == true)
            #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("hint: ") } && program.standardOutput.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(10))) func messagesContainTheProblemAndTheAvailableChoices() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let directory = try #require(Samples.directory)
        func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
        let movie = try await run("validate", path("movie.mp4"))
        #expect(movie.status == 2 && movie.errors.contains("an MP4 file, not an HLS playlist"))
        let manifest = try await run("edit", path("dash-number/manifest.mpd"), "--no-dash")
        #expect(manifest.status == 2 && manifest.errors.contains("a DASH manifest"))
        #expect(manifest.errors.contains("omit --no-dash"), "\(manifest.errors)")
        let command = try await run("nonsense")
        #expect(command.errors.contains("hint: see millstream --help"))
        // The folder of the file is created, as by all commands with -o.
        for (file, status) in [(folder.path + "/new/a.m3u8", 0), ("/dev/null/a.m3u8", 1)] as [(String, Int32)] {
            let away = try await run("edit", path("ts/180p/media.m3u8"), "--duration", "9", "-o", file)
            #expect(away.status == status, "\(away.errors)")
            #expect(status == 0 || away.errors.contains("cannot be written"), "\(away.errors)")
        }
        let seam = try await run("edit", path("ts/180p/media.m3u8"), "--append", path("ad/multivariant.m3u8"))
        #expect(seam.status == 0 && seam.errors.contains("lowest"))

        let origin = try await RecordingOrigin(directory)
        let taken = try await run("origin", directory.path, "--port", "\(origin.port)")
        #expect(taken.status == 1 && taken.errors.contains("the port is in use"))
        for (flag, value, missing) in [
            ("--audio", "xx", "no audio track matches \"xx\""),
            ("--subtitles", "en,cy", "no subtitle track matches \"cy\""),
        ] {
            let address = origin.address("fmp4/multivariant.m3u8")
            let result = try await run("download", address, flag, value, "--library", folder.path)
            #expect(result.status == 1 && result.errors.contains(missing), "\(result.errors)")
            #expect(result.errors.contains("hint: available: en (English), ko (한국어)"))
        }
        let unqualified = try await run(
            "download",
            origin.address("fmp4/multivariant.m3u8"),
            "--qualifier",
            "height>=9000",
            "--library",
            folder.path
        )
        #expect(unqualified.status == 1 && unqualified.errors.contains("no variant satisfies height>=9000"))
        #expect(unqualified.errors.contains("hint: available: "))
        #expect(try await assets().isEmpty)
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func interruptEndsACommandWithStatus130() async throws {
        let program = try RunningProgram(["inspect", "-"], keepsInputOpen: true)
        try await program.waitUntilItHandles(SIGINT)
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        #expect(program.standardError == "millstream: error: interrupted (interrupted)\n")
    }

    @Test(.timeLimit(.minutes(10))) func downloadReportsItsProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let result = try await run(
            "download",
            origin.address("fmp4/multivariant.m3u8"),
            "--json",
            "--library",
            folder.path,
            "--title",
            "Sample"
        )
        #expect(result.status == 0, "\(result.errors)")
        let events = try result.output.split(separator: "\n").map { try json(String($0)) }
        #expect(events.first?["event"] as? String == "resolved" && events.last?["event"] as? String == "completed")
        let percents = events.compactMap { ($0["percent"] as? NSNumber)?.doubleValue }
        #expect(percents == percents.sorted() && percents.last == 100)
        let asset = try #require(try await assets().first)
        #expect(asset["title"] as? String == "Sample" && asset["playableOffline"] as? Bool == true)
        #expect(asset["audio"] as? [String] == ["en"] && asset["subtitles"] as? [String] == ["en", "ko"])
        // Audio that is added later is fetched alone.
        origin.clearPaths()
        let arguments = ["--audio", "all", "--quiet", "--library", folder.path]
        let added = try await run(["download", origin.address("fmp4/multivariant.m3u8")] + arguments)
        #expect(added.status == 0, "\(added.errors)")
        let both = try #require(try await assets().first)
        #expect(both["audio"] as? [String] == ["en", "ko"] && both["subtitles"] as? [String] == ["en", "ko"])
        let segments = origin.paths.filter { $0.hasSuffix(".m4s") }
        #expect(!segments.isEmpty && segments.allSatisfy { $0.contains("ko") }, "\(segments)")
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func killedDownloadLosesOnlyTransfersInProgress() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .milliseconds(60)
        let arguments = [
            "download", origin.address("ts/multivariant.m3u8"), "--variants", "all", "--json", "--jobs", "4",
            "--library",
            folder.path,
        ]
        var counts: [String: Int] = [:]
        var kills = 0
        while kills < 6 {
            origin.clearPaths()
            let program = try RunningProgram(arguments)
            // Kill the program at a different point between the first playlist and the last segment in each round.
            let wanted = 8 + kills * 3
            try await eventually("segments are asked for") {
                origin.paths.count { $0.hasSuffix(".ts") } >= wanted || !program.isRunning
            }
            program.send(SIGKILL)
            _ = try await program.finish()
            for path in origin.paths where Self.isSegment(path) { counts[path, default: 0] += 1 }
            kills += 1
            guard try await assets().first?["state"] as? String != "complete" else { break }
        }
        #expect(kills > 1)
        origin.clearPaths()
        origin.delay = .zero
        let program = try RunningProgram(arguments)
        #expect(try await program.finish() == 0, "\(program.standardError)")
        for path in origin.paths where Self.isSegment(path) { counts[path, default: 0] += 1 }
        // Each kill may lose the four transfers in progress, and nothing else.
        let fetchedAgain = counts.values.reduce(0) { $0 + $1 - 1 }
        #expect(counts.count == 60 && fetchedAgain <= kills * 4, "\(fetchedAgain) again after \(kills) kills")
        try await expectSameMedia(as: "ts")
        let verified = try await run("library", "verify", "--library", folder.path)
        #expect(verified.status == 0)
        await origin.stop()
    }

    /// Returns whether a path is that of a segment of a variant; all I-frames are ranges of one file.
    private static func isSegment(_ path: String) -> Bool { path.hasSuffix(".ts") && !path.contains("iframe") }

    /// Expects that each stored segment has the bytes of the sample.
    private func expectSameMedia(as stream: String) async throws {
        let directory = try #require(Samples.directory).appendingPathComponent(stream)
        let id = try #require(try await assets().first?["id"] as? String)
        let package = folder.appendingPathComponent("packages/\(id)")
        for (number, height) in ["180p", "360p", "480p", "720p", "1080p"].enumerated() {
            for segment in 0..<12 {
                let name = String(repeating: "0", count: segment < 10 ? 5 : 4) + "\(segment).ts"
                let kept = try Data(contentsOf: package.appendingPathComponent("variant-\(number)/\(name)"))
                #expect(try kept == Data(contentsOf: directory.appendingPathComponent("\(height)/\(segment).ts")))
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func interruptedDownloadKeepsStoredFiles() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .milliseconds(200)
        let program = try RunningProgram([
            "download", origin.address("ts/multivariant.m3u8"), "--jobs", "2", "--library", folder.path, "--quiet",
        ])
        try await eventually("some segments were asked for") { origin.paths.count { $0.hasSuffix(".ts") } >= 5 }
        program.send(SIGINT)
        #expect(try await program.finish() == 130)
        let asset = try #require(try await assets().first)
        #expect(asset["state"] as? String == "partial" && (asset["loadedTimeRanges"] as? [Any])?.isEmpty == false)
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func assetBeingDownloadedByAnotherProcessIsBusy() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        origin.delay = .milliseconds(300)
        let arguments = ["download", origin.address("ts/multivariant.m3u8"), "--jobs", "1", "--library", folder.path]
        let program = try RunningProgram(arguments + ["--quiet"])
        try await eventually("segments are asked for") { origin.paths.contains { $0.hasSuffix(".ts") } }
        let id = try #require(try await assets().first?["id"] as? String)
        let deletion = try await run("library", "delete", id, "--library", folder.path)
        #expect(deletion.status == 1 && deletion.errors.contains("(asset-busy)"), "\(deletion.errors)")
        #expect(deletion.errors.contains("stop its download first"))
        let second = try RunningProgram(arguments + ["--max-height", "400"])
        #expect(try await second.finish() == 1)
        #expect(second.standardError.contains("(asset-busy)"), "\(second.standardError)")
        #expect(program.isRunning)
        origin.delay = .zero
        #expect(try await program.finish() == 0, "\(program.standardError)")
        #expect(try await assets().first?["state"] as? String == "complete")
        #expect(try await run("library", "verify", id, "--library", folder.path).output == "\(id)  OK\n")
        #expect(try await run("library", "delete", id, "--library", folder.path).status == 0)
        let packages = folder.appendingPathComponent("packages").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: packages).isEmpty)
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func downloadFailsAtItsSizeLimits() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let result = try await run(
            "download",
            origin.address("ts/multivariant.m3u8"),
            "--max-size",
            "100k",
            "--library",
            folder.path
        )
        #expect(result.status == 1 && result.errors.contains("(too-large)"), "\(result.errors)")
        #expect(result.errors.contains("hint: use --max-size"))
        let stored = try #require(try await assets().first?["bytes"] as? NSNumber)
        #expect(stored.int64Value <= 100_000)
        let free = try await run(
            "download",
            origin.address("ts/multivariant.m3u8"),
            "--min-free-space",
            "900000000000000",
            "--library",
            folder.path
        )
        #expect(free.status == 1 && free.errors.contains("(disk-full)"), "\(free.errors)")
        await origin.stop()
    }

    @Test(.timeLimit(.minutes(10))) func libraryThatDoesNotExistIsNotCreated() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = folder.appendingPathComponent("missing").path
        for arguments in [["list", "--json"], ["list"], ["verify"], ["path"]] {
            let result = try await run(["library"] + arguments + ["--library", library])
            #expect(result.status == 0, "\(arguments) \(result.errors)")
        }
        #expect(try await run("library", "list", "--json", "--library", library).output == "[]\n")
        let listed = try await run("library", "list", "--library", library)
        #expect(listed.errors.hasPrefix("there is no library in \(library)"), "\(listed.errors)")
        for arguments in [
            ["show", "x"], ["delete", "x"], ["verify", "x"], ["path", "x"], ["export", "x", library],
        ] {
            let result = try await run(["library"] + arguments + ["--library", library])
            #expect(result.status == 1 && result.errors.contains("there is no library in"), "\(arguments)")
        }
        #expect(!FileManager.default.fileExists(atPath: library))
    }

    @Test(.timeLimit(.minutes(10))) func deletionTriesAllIdentifiers() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = folder.appendingPathComponent("library").path
        let source = try #require(Samples.directory).appendingPathComponent("ts/180p/media.m3u8").path
        let downloaded = try await run("download", source, "--library", library)
        #expect(downloaded.status == 0, "\(downloaded.errors)")
        let id = try #require(downloaded.output.split(separator: " ").first.map(String.init))
        let refused = try await run("library", "delete", "nope", "--library", library)
        #expect(refused.status == 1 && refused.errors.contains("nope") && refused.output.isEmpty, "\(refused)")
        #expect(try await run("library", "show", id, "--library", library).status == 0)
        let deleted = try await run("library", "delete", "nope", id, id, "--library", library)
        #expect(deleted.status == 1 && deleted.output == "deleted \(id)\n", "\(deleted)")
        #expect(deleted.errors.contains("nope"))
        #expect(try await run("library", "show", id, "--library", library).status == 1)
        // A name of nothing is an error. A location without a package is what a deletion wants.
        for reference in [id, source] {
            let again = try await run("library", "delete", reference, "--library", library)
            #expect(again.status == 1 && again.output.isEmpty && again.errors.contains("(not-found)"), "\(again)")
        }
        let again = try await run("library", "delete", "\(library)/packages/\(id)", "--library", library)
        #expect(again.status == 0 && again.output.isEmpty && again.errors.contains("no asset is at "), "\(again)")
        #expect(try await run("downloads", "cancel", "--library", library).status == 64)
        #expect(try await run("downloads", "cancel", "--session", "films", "--library", library).status == 0)
    }

    @Test(.timeLimit(.minutes(10))) func downloadBeyondAllVariantsStoresTheNearestAndSaysSo() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try #require(Samples.directory).appendingPathComponent("fmp4/multivariant.m3u8").path
        for (index, (limit, message, height)) in [
            (
                ["--min-bandwidth", "99M"], "no variant has a bit rate of at least 99 Mbit/s: downloading the highest",
                720
            ),
            (["--max-height", "100"], "no variant has a height of at most 100 pixels: downloading the lowest", 360),
        ].enumerated() {
            let library = folder.appendingPathComponent("\(index)").path
            let result = try await run(["download", source, "--library", library] + limit)
            #expect(result.status == 0 && result.errors.contains(message), "\(result.errors)")
            let list = try await run("library", "list", "--json", "--library", library)
            #expect(list.output.contains(#""height":\#(height)"#), "\(list.output)")
        }
        let met = try await run("download", source, "--max-height", "360", "--library", folder.path)
        #expect(met.status == 0 && !met.errors.contains("no variant"), "\(met.errors)")
    }

    @Test(.timeLimit(.minutes(10))) func downloadedAssetIsExportedAndDeleted() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let origin = try await RecordingOrigin(try #require(Samples.directory))
        let library = folder.appendingPathComponent("library").path
        #expect(
            try await run(
                "download",
                origin.address("aes/multivariant.m3u8"),
                "--variants",
                "lowest",
                "--library",
                library
            )
            .status == 0
        )
        await origin.stop()
        let list = try await run("library", "list", "--json", "--library", library)
        let assets = try #require(JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]])
        let id = try #require(assets.first?["id"] as? String)
        let exported = folder.appendingPathComponent("exported").path
        #expect(try await run("library", "export", id, exported, "--library", library).status == 0)
        let report = try json(try await run("inspect", exported + "/multivariant.m3u8", "--json", "--follow").output)
        let media = try #require((report["playlists"] as? [[String: Any]])?.first)
        #expect((media["duration"] as? NSNumber)?.doubleValue == 60)
        #expect(try await run("library", "delete", id, "--library", library).status == 0)
        #expect(try await run("library", "show", id, "--library", library).status == 1)
        #expect(!FileManager.default.fileExists(atPath: library + "/packages/" + id))
    }
}

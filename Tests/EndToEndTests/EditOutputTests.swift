import Foundation
import TestSamples
import Testing

/// Tests where `millstream edit` writes a playlist: files, links, pipes and standard output.
@Suite(.serialized, .tags(.endToEnd))
struct EditOutputTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "edit-output-\(UUID())"
    )

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.media.utf8).write(to: folder.appendingPathComponent("media.m3u8"))
    }

    private static let media =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n"

    /// Runs a script in the test directory; `$0` is the program.
    private func run(_ script: String) async throws -> (status: Int32, output: String, errors: String) {
        let program = try RunningProgram(
            ["-c", script, RunningProgram.executable.path],
            of: URL(fileURLWithPath: "/bin/sh"),
            directory: folder
        )
        return (try await program.finish(), program.standardOutput, program.standardError)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
    }

    private func type(_ name: String) throws -> FileAttributeType? {
        let path = folder.appendingPathComponent(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["pipe", "link"]) func pipeIsWrittenToAndNotReplaced(
        output: String
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // The test fails instead of waiting if nothing is written to the pipe.
        let result = try await run(
            "mkfifo pipe; ln -s pipe link; cat pipe > copy & \"$0\" edit media.m3u8 -o \(output); status=$?; "
                + "[ $status = 0 ] && test -p pipe || { kill $!; exit 9; }; wait; exit $status"
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try text("copy") == Self.media)
        #expect(try type("link") == .typeSymbolicLink)
    }

    @Test(.timeLimit(.minutes(10))) func linkToAFileStaysALink() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run(
            "mkdir other; echo old > other/target.m3u8; ln -s other/target.m3u8 link.m3u8; "
                + "\"$0\" edit media.m3u8 -o link.m3u8"
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try type("link.m3u8") == .typeSymbolicLink)
        #expect(try text("other/target.m3u8") == Self.media)
    }

    @Test(.timeLimit(.minutes(10))) func danglingLinkCreatesItsTarget() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run(
            "umask 027; ln -s new.m3u8 link.m3u8; "
                + "\"$0\" edit media.m3u8 -o link.m3u8 && ls -l new.m3u8 | cut -c 1-10"
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "-rw-r-----\n")
        #expect(try type("link.m3u8") == .typeSymbolicLink)
        #expect(try text("new.m3u8") == Self.media)
    }

    @Test(.timeLimit(.minutes(10))) func loopOfLinksIsNotReplaced() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run("ln -s b.m3u8 a.m3u8; ln -s a.m3u8 b.m3u8; \"$0\" edit media.m3u8 -o a.m3u8")
        #expect(result.status != 0 && result.errors.contains("a.m3u8"), "\(result)")
        #expect(try type("a.m3u8") == .typeSymbolicLink)
        #expect(try type("b.m3u8") == .typeSymbolicLink)
    }

    @Test(.timeLimit(.minutes(10)), arguments: ["/dev/stdout", "/dev/fd/1", "/dev/fd/3", "link.m3u8"])
    func descriptorKeepsWhatItsFileHas(output: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run(
            "umask 022; ln -s /dev/stdout link.m3u8; echo '# old' > all.txt; "
                + "\"$0\" edit media.m3u8 -o \(output) 3>> all.txt >&3 && ls -l all.txt | cut -c 1-10"
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "-rw-r--r--\n")
        #expect(try text("all.txt") == "# old\n" + Self.media)
    }

    /// Relative URLs depend on where the bytes are, not on where a link to them is.
    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func linkIsFollowedBeforeFoldersAreCompared(
        isBeside: Bool
    ) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (link, target) = isBeside ? ("other/link.m3u8", "../new.m3u8") : ("link.m3u8", "other/new.m3u8")
        let result = try await run(
            "mkdir other; ln -s \(target) \(link); \"$0\" edit media.m3u8 --duration 4 -o \(link)"
        )
        #expect(result.status == 0, "\(result.errors)")
        let edited = try text(isBeside ? "new.m3u8" : "other/new.m3u8")
        #expect(edited.contains("\na.ts\n") == isBeside, "\(edited)")
        #expect(edited.contains("/a.ts\n") != isBeside, "\(edited)")
    }

    /// No tag ends EXT-X-MAP, so that fragmented MP4 cannot be followed by MPEG-TS.
    @Test(.timeLimit(.minutes(10))) func sourcesOfOtherSegmentFormatsAreNamed() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let movie = Self.media.replacing("#EXTINF:4,\na.ts\n", with: "#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:4,\na.m4s\n")
            .replacing("b.ts", with: "b.m4s")
        try Data(movie.utf8).write(to: folder.appendingPathComponent("movie.m3u8"))
        for edit in ["movie.m3u8 --append media.m3u8", "media.m3u8 --prepend movie.m3u8"] {
            let refused = try await run("\"$0\" edit \(edit)")
            #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
            let names = ["/media.m3u8 has segments without EXT-X-MAP", "/movie.m3u8 with EXT-X-MAP"]
            #expect(names.allSatisfy { refused.errors.contains($0) }, "\(refused)")
            let hint = "(cannot-stitch)\nhint: choose sources whose segments have the same format"
            #expect(refused.errors.contains(hint) && !refused.errors.contains("file:"), "\(refused)")
        }
        let edited = try await run("\"$0\" edit media.m3u8 --append movie.m3u8")
        #expect(edited.status == 0, "\(edited)")
    }

    /// A key is that of the segments, which are in the media playlists.
    @Test(.timeLimit(.minutes(10))) func keyIsWrittenToAllPlaylists() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let keys = ["METHOD=AES-128,URI=\"0.key\"", "METHOD=AES-128,URI=\"1.key\""]
        let media = Self.media.replacing("#EXTINF:4,\na.ts", with: "#EXT-X-KEY:\(keys[0])\n#EXTINF:4,\na.ts")
        try Data(media.utf8).write(to: folder.appendingPathComponent("v.m3u8"))
        let multivariant =
            "#EXTM3U\n" + keys.map { "#EXT-X-SESSION-KEY:\($0)\n" }.joined()
            + "#EXT-X-STREAM-INF:BANDWIDTH=100000\nv.m3u8\n"
        try Data(multivariant.utf8).write(to: folder.appendingPathComponent("m.m3u8"))
        let command = "\"$0\" edit m.m3u8 --key 00112233445566778899aabbccddeeff"
        for output in ["", " -o edited.m3u8"] {
            let refused = try await run(command + output)
            #expect(refused.status == 64 && refused.errors.contains("hint: use -o FOLDER"), "\(refused)")
        }
        let edited = try await run(command + " -o edited")
        #expect(edited.status == 0 && edited.errors.contains("2 playlists written to "), "\(edited)")
        for name in ["edited/v.m3u8", "edited/multivariant.m3u8"] {
            let playlist = try text(name)
            #expect(playlist.components(separatedBy: "base64,ABEiM0RV").count == 2, "\(playlist)")
            #expect(!playlist.contains(".key"), "\(playlist)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func hyphenIsStandardOutput() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let result = try await run("\"$0\" edit media.m3u8 -o -")
        #expect(result.status == 0 && result.output == Self.media, "\(result)")
        #expect(result.errors.isEmpty, "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/-"))
    }
}

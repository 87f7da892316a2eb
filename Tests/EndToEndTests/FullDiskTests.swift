import Foundation
import TestSamples
import Testing

/// Tests of the library on a disk without free space: a file system in memory, in a mount namespace of its own.
@Suite(
    .tags(.endToEnd),
    .enabled(if: SmallFileSystem.isAllowed, "a file system in memory cannot be mounted in a namespace of its own")
)
struct FullDiskTests {
    /// Assets are deleted and shrunk to make space, so this must work where there is none.
    @Test(.timeLimit(.minutes(10)))
    func assetsAreDeletedOnAFullDisk() async throws {
        let samples = try #require(Samples.directory)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-disk-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = """
            set -e
            mount -t tmpfs -o size=2m tmpfs "\(folder.path)"
            cd "\(folder.path)"
            millstream="\(RunningProgram.executable.path)"
            "$millstream" download "\(samples.path)/ad/240p/media.m3u8" --min-free-space 0 --library library --quiet
            dd if=/dev/zero of=fill bs=1k 2>/dev/null || true
            dd if=/dev/zero of=rest bs=1 2>/dev/null || true
            id=$(ls library/packages)
            ! "$millstream" download "\(samples.path)/ad/540p/media.m3u8" --min-free-space 0 --library library --quiet 2>errors
            "$millstream" library delete "$id" --library library
            "$millstream" library list --json --library library
            ls library/packages
            """
        let program = try RunningProgram(["-rm", "sh", "-c", script], of: try #require(SmallFileSystem.unshare))
        let status = try await program.finish()
        #expect(status == 0, "\(program.standardOutput) \(program.standardError)")
        let lines = program.standardOutput.split(separator: "\n")
        #expect(lines.first?.hasPrefix("deleted ") == true && lines.dropFirst() == ["[]"], "\(lines)")
    }

    /// The commands that write outside of the library; `full` is a folder on a full disk, and `$0` the program.
    private static let commands = [
        "library export \"$id\" full/copy", "library export \"$id\" --mp4 full/film.mp4",
        "library export \"$id\" --mkv full/film.mkv", "library export \"$id\" --srt full/subtitles",
        "edit \"$samples/ts/180p/media.m3u8\" -o full/edited.m3u8",
        "edit \"$samples/ts/180p/media.m3u8\" -o /dev/full",
        "edit \"$samples/ts/multivariant.m3u8\" --start 6 -o full/set",
        "translate \"$samples/dash-number/manifest.mpd\" -o full/translated",
        "inspect - <\"$samples/movie.mp4\"", "play - --no-decode --quiet <\"$samples/movie.mp4\"",
        "inspect \"$samples/ts/180p/media.m3u8\" --cookie-jar full/cookies",
        "download \"$samples/ad/240p/media.m3u8\" --quiet --archive full/archive",
        "play \"$samples/movie.mp4\" --no-decode --speed max --quiet --metrics full/metrics.json",
        "play \"$samples/movie.mp4\" --no-decode --speed max --quiet --access-log full/access.log",
        "play \"$samples/movie.mp4\" --no-decode --speed max --quiet --events /dev/full",
        "play \"$samples/movie.mp4\" --headless --speed max --quiet --until 2 --screenshot 1=full/film.png",
        "play \"$samples/movie.mp4\" --headless --speed max --quiet --until 2 --checksums full/film.csv",
        "play \"$samples/movie.mp4\" --headless --speed max --quiet --until 2 --wave full/film.wav",
    ]

    @Test(.timeLimit(.minutes(20)))
    func everyCommandNamesAFullDisk() async throws {
        let samples = try #require(Samples.directory)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("full-disk-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = "\"$samples/fmp4/multivariant.m3u8\" --variants lowest --subtitles all"
        let checks = Self.commands.enumerated().map { number, command in
            "echo \"<\(number)>\"; \"$0\" \(command) 2>&1 >/dev/null || echo \"status $?\""
        }
        let script = """
            cd "\(folder.path)" && mkdir full && mount -t tmpfs -o size=64k tmpfs full || exit 3
            samples="\(samples.path)"
            export MILLSTREAM_LIBRARY="$PWD/library"
            "$0" download \(source) --quiet >/dev/null || exit 4
            id=$(ls library/packages)
            dd if=/dev/zero of=full/fill bs=1k 2>/dev/null
            dd if=/dev/zero of=full/rest bs=1 2>/dev/null
            export TMPDIR="$PWD/full"
            \(checks.joined(separator: "\n"))
            echo "<files>"
            ls full
            """
        let arguments = ["-rm", "sh", "-c", script, RunningProgram.executable.path]
        let program = try RunningProgram(arguments, of: try #require(SmallFileSystem.unshare))
        let status = try await program.finish(within: .seconds(600))
        #expect(status == 0, "\(program.standardOutput) \(program.standardError)")
        let output = program.standardOutput
        for (number, command) in Self.commands.enumerated() {
            let rest = output.split(separator: "<\(number)>\n", maxSplits: 1, omittingEmptySubsequences: false).last
            let result = rest?.prefix { $0 != "<" } ?? ""
            let end = "(disk-full)\nhint: free some space, then run the same command again\nstatus 1\n"
            #expect(result.hasSuffix(end), "\(command): \(result)")
        }
        // What was only begun is removed: folders of playlists, images, checksums and audio.
        let files = output.split(separator: "<files>\n").last?.split(separator: "\n").map(String.init) ?? []
        #expect(files.contains("fill"), "\(files)")
        let begun = ["set", "translated", "film.png", "film.csv", "film.wav"]
        #expect(!files.contains { begun.contains($0) }, "\(files)")
        #expect(!output.contains("/.film."), "a temporary name: \(output)")
    }
}

/// A file system in memory with a limited size, which no other process sees.
private enum SmallFileSystem {
    static let unshare = Transfer.executable("unshare")

    static let isAllowed: Bool = {
        guard let unshare else { return false }
        let process = Process()
        process.executableURL = unshare
        process.arguments = ["-rm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}

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

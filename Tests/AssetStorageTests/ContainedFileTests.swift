import Foundation
import Testing

@testable import AssetStorage

/// Tests that symbolic links do not lead out of a folder.
@Suite struct ContainedFileTests {
    private func withFolder(_ test: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("contained-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["root/a/b", "outside"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name),
                withIntermediateDirectories: true
            )
        }
        for name in ["root/top.ts", "root/a/b/deep.ts", "outside/k.ts"] {
            try Data(name.utf8).write(to: folder.appendingPathComponent(name))
        }
        try test(folder)
    }

    private func link(_ path: String, to target: String, in folder: URL) throws {
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent(path),
            withDestinationURL: folder.appendingPathComponent(target)
        )
    }

    @Test func filesAndFoldersAreOpened() throws {
        try withFolder { folder in
            let root = folder.appendingPathComponent("root").path
            let file = try #require(ContainedFile(["a", "b", "deep.ts"], in: root))
            #expect(file.kind == .file && file.size == 16)
            #expect(try file.bytes(at: 0, count: 100) == Array("root/a/b/deep.ts".utf8))
            #expect(try file.bytes(at: 9, count: 4) == Array("deep".utf8))
            #expect(try file.bytes(at: 16, count: 4).isEmpty)
            let top = try #require(ContainedFile([], in: root))
            #expect(top.kind == .folder && top.kind(ofEntry: "a") == .folder && top.kind(ofEntry: "top.ts") == .file)
            #expect(top.kind(ofEntry: "none") == nil && top.kind(ofEntry: "..") == nil)
            #expect(ContainedFile(["a"], in: root)?.kind == .folder)
            #expect(ContainedFile(["none"], in: root) == nil && ContainedFile(["top.ts", "x"], in: root) == nil)
        }
    }

    @Test(arguments: [[".."], ["a", "..", "top.ts"], ["."], [""], ["a/b"], ["a", "", "b"], ["top.ts\0"]])
    func otherNamesAreRefused(components: [String]) throws {
        try withFolder { folder in
            #expect(ContainedFile(components, in: folder.appendingPathComponent("root").path) == nil)
        }
    }

    @Test func linksAreRefusedAtEveryPosition() throws {
        try withFolder { folder in
            let root = folder.appendingPathComponent("root").path
            try link("root/folder", to: "outside", in: folder)
            try link("root/file.ts", to: "outside/k.ts", in: folder)
            try link("root/a/inner", to: "outside", in: folder)
            try link("root/own", to: "root/a", in: folder)
            for components in [
                ["folder"], ["folder", "k.ts"], ["file.ts"], ["a", "inner"], ["a", "inner", "k.ts"],
                ["own", "b", "deep.ts"],
            ] {
                #expect(ContainedFile(components, in: root) == nil, "\(components)")
            }
            #expect(ContainedFile([], in: root)?.kind(ofEntry: "folder") == nil)
            // The user may name the root by a link.
            try link("alias", to: "root", in: folder)
            #expect(ContainedFile(["top.ts"], in: folder.appendingPathComponent("alias").path)?.kind == .file)
        }
    }

    /// A named pipe without a writer does not block.
    @Test(.timeLimit(.minutes(1))) func specialFilesAreRefused() throws {
        try withFolder { folder in
            let root = folder.appendingPathComponent("root").path
            #expect(mkfifo(root + "/pipe", 0o600) == 0)
            #expect(ContainedFile(["pipe"], in: root) == nil)
            #expect(ContainedFile([], in: root)?.kind(ofEntry: "pipe") == nil)
            #expect(ContainedFile(["a"], in: root + "/none") == nil && ContainedFile([], in: root + "/top.ts") == nil)
            let top = try #require(ContainedFile(["a"], in: root))
            let failure = #expect(throws: FileFailure.self) { try top.bytes(at: 0, count: 1) }
            #expect(failure?.number == EISDIR)
        }
    }

    @Test func timeOfTheLastChangeIsInMilliseconds() throws {
        try withFolder { folder in
            let root = folder.appendingPathComponent("root").path
            let time = timespec(tv_sec: 1_000, tv_nsec: 5_999_999)
            #expect(utimensat(AT_FDCWD, root + "/top.ts", [time, time], 0) == 0)
            let file = try #require(ContainedFile(["top.ts"], in: root))
            #expect(file.modificationMilliseconds == 1_000_005)
            #expect(try file.bytes(at: 0, count: 0).isEmpty && file.bytes(at: 0, count: -1).isEmpty)
        }
    }

    @Test func bytesAreThoseOfTheFileThatWasOpened() throws {
        try withFolder { folder in
            let root = folder.appendingPathComponent("root")
            let file = try #require(ContainedFile(["a", "b", "deep.ts"], in: root.path))
            try FileManager.default.removeItem(at: root.appendingPathComponent("a"))
            try link("root/a", to: "outside", in: folder)
            #expect(try file.bytes(at: 0, count: 4) == Array("root".utf8))
        }
    }
}

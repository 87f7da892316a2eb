import Foundation
import Testing

@testable import AssetStorage

/// Tests that contained files leave no descriptor open.
@Suite struct ContainedFileFaultTests {
    private static let count = 2_000

    /// With a descriptor that stays open each time, the next one is at least the number of calls, or there is none.
    @Test(
        arguments: [
            (["a", "file.ts"], true), ([], true), (["a", "none.ts"], false), (["a", "pipe"], false), ([".."], false),
        ] as [([String], Bool)]
    )
    func descriptorsAreClosed(components: [String], isOpened: Bool) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("contained-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appendingPathComponent("a")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.appendingPathComponent("file.ts"))
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        var opened = 0
        for _ in 0..<Self.count where ContainedFile(components, in: root.path) != nil { opened += 1 }
        #expect(opened == (isOpened ? Self.count : 0))
        let next = open(root.path, O_RDONLY | O_CLOEXEC)
        #expect(next >= 0 && next < Self.count)
        if next >= 0 { close(next) }
    }

    /// Programs that this process starts do not inherit the descriptors.
    @Test(arguments: [["a", "file.ts"], ["a"], []]) func descriptorIsNotInherited(components: [String]) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("contained-\(UUID())")
        defer { try? FileManager.default.removeItem(at: root) }
        let folder = root.appendingPathComponent("a")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.appendingPathComponent("file.ts"))
        let file = try #require(ContainedFile(components, in: root.path))
        let property = Mirror(reflecting: file).children.first { $0.label == "descriptor" }
        let descriptor = try #require(property?.value as? CInt)
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC == FD_CLOEXEC)
        // Nothing is read, so that a folder is no error.
        let bytes = try file.bytes(at: 0, count: 0)
        #expect(bytes.isEmpty)
        withExtendedLifetime(file) {}
    }
}

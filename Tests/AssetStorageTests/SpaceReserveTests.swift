import Foundation
import GRDB
import Testing

@testable import AssetStorage

/// Tests the space for deletions on a full disk.
@Suite struct SpaceReserveTests {
    private let temporary: TemporaryLibrary
    private let reserve: SpaceReserve
    private static let size: Int64 = 262_144

    init() throws {
        temporary = try TemporaryLibrary()
        reserve = SpaceReserve(path: temporary.directory.path + "/own-reserve")
    }

    private var size: Int64? { FileInspection.size(reserve.path) }

    private func write(_ count: Int) throws {
        try Data(repeating: 7, count: count).write(to: URL(fileURLWithPath: reserve.path))
    }

    @Test(arguments: [nil, 0, 1, 4_095, 4_096, 262_143, 262_144, 300_000] as [Int?])
    func fileIsFilledUpToItsSize(count: Int?) throws {
        if let count { try write(count) }
        reserve.fill()
        #expect(size == max(Self.size, Int64(count ?? 0)))
        // What was there is not written again.
        let first = try Data(contentsOf: URL(fileURLWithPath: reserve.path)).prefix { $0 == 7 }
        #expect(first.count == count ?? 0)
    }

    @Test func fileIsForItsOwnerAndNoLink() throws {
        reserve.fill()
        let mode = try FileManager.default.attributesOfItem(atPath: reserve.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.removeItem(atPath: reserve.path)
        try FileManager.default.createSymbolicLink(
            atPath: reserve.path,
            withDestinationPath: temporary.directory.path + "/target"
        )
        reserve.fill()
        #expect(!FileManager.default.fileExists(atPath: temporary.directory.path + "/target"))
    }

    /// Opening a library fills the file.
    @Test func libraryHasAFileOfTheSize() {
        #expect(FileInspection.size(temporary.directory.path + "/reserve") == Self.size)
    }

    @Test func operationThatSucceedsDoesNotUseTheSpace() throws {
        reserve.fill()
        var sizes: [Int64?] = []
        let value = try reserve.runWhenFull {
            sizes.append(size)
            return 5
        }
        #expect(value == 5 && sizes == [Self.size])
    }

    /// Runs an operation that fails at first, and returns the sizes of the file at each attempt.
    private func sizes(failingWith failure: any Error, count: Int = 1) throws -> [Int64?] {
        var sizes: [Int64?] = []
        try reserve.runWhenFull {
            sizes.append(size)
            if sizes.count <= count { throw failure }
        }
        return sizes
    }

    @Test func operationIsRepeatedWithTheSpaceOfTheFile() throws {
        let input = DatabaseError(resultCode: .SQLITE_IOERR)
        for failure in [
            StorageError(.full, "full"), DatabaseError(resultCode: .SQLITE_FULL), input,
            StorageError(.disk, "index", cause: input),
        ] as [any Error] {
            reserve.fill()
            #expect(try sizes(failingWith: failure) == [Self.size, 0])
            // The space is reserved again.
            #expect(size == Self.size)
        }
    }

    @Test func otherErrorsAreNotThoseOfAFullDisk() throws {
        reserve.fill()
        for failure in [
            StorageError(.disk, "disk"), DatabaseError(resultCode: .SQLITE_BUSY), CancellationError(),
            StorageError(.busy, "busy", cause: DatabaseError(resultCode: .SQLITE_BUSY)),
        ] as [any Error] {
            #expect(throws: (any Error).self) { try sizes(failingWith: failure) }
            #expect(size == Self.size)
        }
    }

    @Test func operationThatFailsAgainFails() throws {
        reserve.fill()
        let failure = StorageError(.full, "full")
        #expect(storageError { _ = try sizes(failingWith: failure, count: 2) }?.code == "disk-full")
        #expect(size == Self.size)
    }

    /// The operation is not repeated if nothing can be made available.
    @Test(arguments: [nil, 0] as [Int?]) func withoutTheFileTheErrorStays(count: Int?) throws {
        if let count { try write(count) }
        #expect(storageError { _ = try sizes(failingWith: StorageError(.full, "full")) }?.code == "disk-full")
        #expect(size == count.map { Int64($0) })
    }
}

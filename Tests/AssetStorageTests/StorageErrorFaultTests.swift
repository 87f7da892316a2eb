import Foundation
import Testing

@testable import AssetStorage

/// Tests the errors that follow from the numbers of the system.
@Suite struct StorageErrorFaultTests {
    @Test(
        arguments: [
            (ENOENT, .notFound), (ENOSPC, .full), (EDQUOT, .full), (EIO, .disk), (EACCES, .disk), (EROFS, .disk),
        ] as [(CInt, StorageError.Code)]
    )
    func numberDecidesAboutTheCode(number: CInt, code: StorageError.Code) {
        let failure = FileFailure(number)
        let error = StorageError(failure, writing: "/film")
        #expect(error.code == code && (error.cause as? FileFailure) == failure && error.hint == nil)
        let isAbsent = number == ENOENT
        let reason = "its directory no longer exists; the asset may have been deleted"
        let expected = isAbsent ? "/film cannot be written: \(reason)" : "/film cannot be written (\(failure.reason))"
        #expect(error.message == expected)
        let reading = StorageError(reading: "/film", number)
        #expect(reading.code == .disk && reading.message == "/film cannot be read (\(failure.reason))")
    }

    /// A file is absent if its directory is a file, too; a name that is too long has another error.
    @Test func onlyAnAbsentFileHasNoChecksum() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("absence-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try Data("text".utf8).write(to: directory.appendingPathComponent("file"))
        for name in ["none", "file/none", "none/none"] {
            #expect(try !FileInspection.hasChecksum(1, "\(directory.path)/\(name)"), "\(name)")
        }
        let long = "\(directory.path)/\(String(repeating: "x", count: 300))"
        let error = storageError { _ = try FileInspection.hasChecksum(1, long) }
        #expect(error?.code == "disk-failed")
    }
}

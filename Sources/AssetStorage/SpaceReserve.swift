import Foundation
import GRDB
import MediaTiming

/// A file of the library that occupies disk space, so that assets can be deleted when the disk is full.
///
/// The database needs a little space to open, and to record a deletion. The file is emptied for these operations where the
/// disk has no space left, and filled again after them. Nothing else uses its space, so a download that fills the disk
/// does not.
struct SpaceReserve: Sendable {
    /// The name of the file in the directory of a library.
    static let fileName = "reserve"
    /// The size of the file in bytes.
    ///
    /// An index of the write-ahead log takes 32 KiB, and a transaction that marks an asset takes a few pages of 4 KiB.
    static let size = 256 * 1_024

    let path: String

    /// Runs an operation, and runs it again with the reserved space if it fails because the disk is full.
    func runWhenFull<Value>(_ operation: () throws -> Value) throws -> Value {
        do {
            return try operation()
        } catch {
            guard Self.isFull(error), release() else { throw error }
            defer { fill() }
            return try operation()
        }
    }

    /// Makes the file as large as it is meant to be, or as the disk allows.
    ///
    /// Errors are ignored, because the library can be used without the file.
    func fill() {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4_096)
        var size = Int(clamping: lseek(file, 0, SEEK_END))
        while size < Self.size {
            let written = write(file, block, min(block.count, Self.size - size))
            guard written > 0 else { return }
            size += written
        }
    }

    /// Makes the space of the file available.
    ///
    /// - Returns: A Boolean value that indicates whether the file occupied space.
    private func release() -> Bool {
        guard let size = FileInspection.size(path), size > 0 else { return false }
        return truncate(path, 0) == 0
    }

    /// Returns a Boolean value that indicates whether an error can be the result of a full disk.
    ///
    /// SQLite reports an index of the write-ahead log that cannot be written as an input or output error.
    private static func isFull(_ error: any Error) -> Bool {
        if (error as? StorageError)?.code == .full { return true }
        let cause = (error as? StorageError)?.cause ?? error
        guard let code = (cause as? DatabaseError)?.resultCode else { return false }
        return code == .SQLITE_FULL || code == .SQLITE_IOERR
    }
}

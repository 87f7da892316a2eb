import AssetStorage
import Foundation

/// A file that exists, and that a new file replaces when it is complete.
struct ReplacedFile: Sendable {
    /// The path of the file, which is no symbolic link.
    private let path: String
    /// The path of the new file until it is complete, in the same folder.
    let newPath: String

    /// Creates the description of a file, and removes what an interrupted replacement has left; `nil` if nothing exists at the
    /// path.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: `StorageError` if what exists is not a regular file, such as a folder.
    init?(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard (attributes?[.type] as? FileAttributeType) == .typeRegular else {
            throw StorageError(.alreadyExists, "\(path) already exists, and is not a file that can be replaced")
        }
        self.path = file.path
        newPath = file.deletingLastPathComponent().appendingPathComponent(".\(file.lastPathComponent).new").path
        _ = unlink(newPath)
    }

    /// Replaces the file by the new one.
    ///
    /// - Throws: ``Failure``; what exists stays then.
    func finish() throws {
        guard rename(newPath, path) != 0 else { return }
        let number = errno
        _ = unlink(newPath)
        throw Failure(writing: path, POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO))
    }
}

import Foundation
import MediaTiming
package import MediaTransport

/// A file of a package that is being written.
///
/// The file is renamed into place after its content is on the disk, and counts as stored when the catalog lists it; see
/// ``AssetLibrary/commit(_:)``. All calls block.
package final class PackageFile: @unchecked Sendable {
    // Safe: one task writes the file and awaits each write before the next.
    private let path: String
    private let partialPath: String
    private let files: any FileOperations
    /// The file descriptor.
    ///
    /// It is opened by the first write, so that a small file is opened and written in one job on a thread that may
    /// block.
    private var descriptor: CInt = -1
    private var sum = FileChecksum()
    /// A Boolean value that indicates whether there is a note beside the unfinished file.
    private var hasNote = false
    /// The number of bytes that were written.
    package private(set) var count: Int64 = 0

    /// Creates a file object; no file is created on the disk before the first write.
    ///
    /// - Parameters:
    ///   - path: The final path of the file; its directory must exist.
    ///   - files: The file operations to use.
    init(_ path: String, files: any FileOperations) {
        self.path = path
        self.files = files
        partialPath = path + Self.partialExtension
    }

    /// The extension of an unfinished file.
    static let partialExtension = ".part"

    /// Returns the first bytes of the unfinished file; `nil` if it cannot be read.
    package func unfinishedBytes(upTo count: Int) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: partialPath) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)).map { Array($0) }
    }

    /// Returns the last bytes of the unfinished file, which can be fewer; `nil` if it cannot be read.
    package func lastUnfinishedBytes(_ count: Int) -> [UInt8]? { FileInspection.lastBytes(count, of: partialPath) }

    private var notePath: String { path + UnfinishedFile.fileExtension }

    deinit { closeFile() }

    /// The checksum of the bytes that were written.
    package var checksum: Int64 { Int64(bitPattern: sum.value) }

    /// Appends bytes to the file; with no bytes, it only creates the file.
    ///
    /// - Throws: ``StorageError``.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            if descriptor < 0 { descriptor = try files.createFile(partialPath) }
            try files.write(bytes, to: descriptor)
        } catch {
            throw StorageError(error, writing: path)
        }
        sum.update(bytes)
        count +|= Int64(clamping: bytes.count)
    }

    /// Synchronizes the content to the disk, then renames the file into place.
    ///
    /// - Throws: ``StorageError``; the file is not in place then.
    package func finish() throws {
        do {
            if descriptor < 0 { descriptor = try files.createFile(partialPath) }
            try files.synchronizeFile(descriptor)
            closeFile()
            try files.rename(partialPath, to: path)
        } catch {
            throw StorageError(error, writing: path)
        }
        removeNote()
    }

    /// A Boolean value that indicates whether the file was begun and is neither finished nor discarded.
    var isOpen: Bool { descriptor >= 0 }

    /// Closes and removes the unfinished file.
    package func discard() {
        closeFile()
        // A file that cannot be removed now is removed when the asset is downloaded again.
        try? files.removeFile(partialPath)
        removeNote()
    }

    /// Finishes the file as a further name of a stored file if both have the same content.
    ///
    /// The content of the stored file is on the disk already. The caller must synchronize the directory.
    ///
    /// - Returns: A Boolean value that indicates whether the file is finished; if not, it is unchanged.
    func finish(as stored: String) -> Bool {
        guard isOpen, Self.replace(path, byLinkTo: stored, ifEqualTo: partialPath, files) else { return false }
        discard()
        return true
    }

    /// Replaces a file by a further name of a stored file if that has the same content as a given file.
    ///
    /// - Parameters:
    ///   - path: The path of the file, which need not exist.
    ///   - stored: The path of the stored file.
    ///   - other: The path of the file with the content, which can be the file itself.
    ///   - files: The file operations.
    /// - Returns: A Boolean value that indicates whether the file was replaced. It is not if the file system has no hard
    ///   links, or allows no more of the stored file.
    static func replace(
        _ path: String,
        byLinkTo stored: String,
        ifEqualTo other: String,
        _ files: any FileOperations
    ) -> Bool {
        guard let compared = FileInspection.identity(stored), FileInspection.isEqual(stored, toFile: other) else {
            return false
        }
        let link = path + linkExtension
        // An earlier process may have been ended between the two operations.
        try? files.removeFile(link)
        do {
            try files.link(stored, to: link)
            // Another process may have replaced the stored file after the comparison.
            guard FileInspection.identity(link) == compared else {
                try files.removeFile(link)
                return false
            }
            try files.rename(link, to: path)
            // If both are names of one file already, the system keeps both.
            if FileInspection.size(link) != nil { try files.removeFile(link) }
        } catch {
            try? files.removeFile(link)
            return false
        }
        return true
    }

    /// The extension of a new name of a stored file before it replaces another file.
    private static let linkExtension = ".link"

    private func removeNote() {
        guard hasNote else { return }
        // A note without an unfinished file is ignored.
        try? files.removeFile(notePath)
        hasNote = false
    }

    // MARK: Unfinished files

    /// A Boolean value that indicates whether there is an unfinished file of this or an earlier process.
    package var isUnfinished: Bool { FileInspection.size(notePath) != nil }

    /// Returns the position at which the transfer of an unfinished file can be continued; `nil` if there is none.
    ///
    /// The file is read, and removed if its bytes are not those that were received.
    package func resumption(of resource: StoredResource) -> TransportRequest.Resumption? {
        guard isUnfinished else { return nil }
        guard let note = UnfinishedFile(contentsOf: notePath), note.isValid(for: resource, boot: files.bootIdentifier),
            note.count > 0, FileInspection.checksum(partialPath, ofFirst: note.count) == note.checksum
        else {
            discardUnfinished()
            return nil
        }
        return TransportRequest.Resumption(
            offset: note.count,
            validator: note.validator,
            totalLength: note.totalLength
        )
    }

    /// Removes the unfinished file of an earlier transfer.
    package func discardUnfinished() {
        try? files.removeFile(partialPath)
        // A note without an unfinished file is ignored.
        try? files.removeFile(notePath)
    }

    /// Removes the bytes of an earlier transfer before the file is received from its beginning.
    ///
    /// The file that is created then is another one for those who read the former, so that they get no bytes of both.
    package func removeEarlierBytes() {
        guard descriptor < 0, FileInspection.size(partialPath) != nil else { return }
        discardUnfinished()
    }

    /// Opens the unfinished file to append bytes after the given position; later bytes are removed.
    ///
    /// - Throws: ``StorageError``, also if the file is shorter.
    package func continueUnfinished(at offset: Int64) throws {
        do {
            descriptor = try files.openFile(partialPath, truncatedTo: offset)
        } catch {
            throw StorageError(error, writing: path)
        }
        hasNote = true
        guard let read = FileInspection.checksum(ofDescriptor: descriptor), read.count == offset else {
            closeFile()
            throw StorageError(.disk, "\(partialPath) cannot be read")
        }
        sum = read.sum
        count = offset
    }

    /// Notes the version of the file that is being received, and the checksum of its bytes so far, so that a later
    /// process can continue the transfer.
    package func note(_ version: ResourceVersion, of resource: StoredResource) {
        guard descriptor >= 0 else { return }
        writeNote(note(version, of: resource, boot: files.bootIdentifier))
    }

    private func note(_ version: ResourceVersion, of resource: StoredResource, boot: String?) -> UnfinishedFile {
        UnfinishedFile(resource, version, count: count, checksum: checksum, boot: boot)
    }

    /// Closes the unfinished file and keeps it, so that its transfer can be continued.
    package func keep(_ version: ResourceVersion, of resource: StoredResource) {
        guard count > 0, descriptor >= 0, (try? files.synchronizeFile(descriptor)) != nil else { return discard() }
        closeFile()
        writeNote(note(version, of: resource, boot: nil))
    }

    private func writeNote(_ note: UnfinishedFile) {
        // Without a note the file is received from its beginning.
        // The note is replaced at once, so that a process that is ended in this moment leaves the old or the new one.
        let newPath = notePath + Self.partialExtension
        guard let descriptor = try? files.createFile(newPath) else { return }
        hasNote = true
        let isWritten = note.bytes.withUnsafeBytes { (try? files.write($0, to: descriptor)) != nil }
        files.closeFile(descriptor)
        if isWritten, (try? files.rename(newPath, to: notePath)) != nil { return }
        try? files.removeFile(newPath)
    }

    private func closeFile() {
        guard descriptor >= 0 else { return }
        files.closeFile(descriptor)
        descriptor = -1
    }
}

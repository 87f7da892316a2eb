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
    package func lastUnfinishedBytes(_ count: Int) -> [UInt8]? { Self.lastBytes(count, of: partialPath) }

    /// Returns the last bytes of the file at a path, which can be fewer; `nil` if it cannot be read.
    package static func lastBytes(_ count: Int, of path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd() else { return nil }
        let wanted = min(UInt64(clamping: count), size)
        guard (try? file.seek(toOffset: size -| wanted)) != nil else { return nil }
        return (try? file.read(upToCount: Int(clamping: wanted))).map { Array($0) }
    }

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
        guard let compared = identity(stored), isEqual(stored, toFile: other) else { return false }
        let link = path + linkExtension
        // An earlier process may have been ended between the two operations.
        try? files.removeFile(link)
        do {
            try files.link(stored, to: link)
            // Another process may have replaced the stored file after the comparison.
            guard identity(link) == compared else {
                try files.removeFile(link)
                return false
            }
            try files.rename(link, to: path)
            // If both are names of one file already, the system keeps both.
            if size(link) != nil { try files.removeFile(link) }
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
    package var isUnfinished: Bool { Self.size(notePath) != nil }

    /// Returns the position at which the transfer of an unfinished file can be continued; `nil` if there is none.
    ///
    /// The file is read, and removed if its bytes are not those that were received.
    package func resumption(of resource: StoredResource) -> TransportRequest.Resumption? {
        guard isUnfinished else { return nil }
        guard let note = UnfinishedFile(contentsOf: notePath), note.isValid(for: resource, boot: files.bootIdentifier),
            note.count > 0, Self.checksum(partialPath, ofFirst: note.count) == note.checksum
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
        guard descriptor < 0, Self.size(partialPath) != nil else { return }
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
        guard let read = Self.checksum(ofDescriptor: descriptor), read.count == offset else {
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

    // MARK: Existing files

    /// Returns the size of the regular file at a path in bytes; `nil` if there is none.
    package static func size(_ path: String) -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Returns the size of the regular file at a path in bytes; `nil` if there is none.
    ///
    /// - Throws: ``StorageError/Code/disk`` if the system cannot say whether there is one.
    static func verifiedSize(_ path: String) throws -> Int64? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let number = errno
            guard isAbsence(number) else { throw StorageError(reading: path, number) }
            return nil
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    /// Returns a Boolean value that indicates whether an error number means that there is no file.
    private static func isAbsence(_ number: CInt) -> Bool { number == ENOENT || number == ENOTDIR }

    /// Returns the identity of the file at a path; `nil` if there is none.
    static func identity(_ path: String) -> FileIdentity? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return FileIdentity(status)
    }

    /// Returns a Boolean value that indicates whether a path is a directory; a symbolic link to one is not.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The number of bytes per read.
    private static let readSize = 1 << 20

    /// Returns a Boolean value that indicates whether a file has exactly the given content.
    static func isEqual(_ path: String, to bytes: [UInt8]) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var position = 0
        let isRead = forEachPart(ofDescriptor: descriptor) { part in
            let end = position +| part.count
            guard end <= bytes.count else { return false }
            let isSame = bytes.withUnsafeBytes { bytes in
                guard let own = bytes.baseAddress, let other = part.baseAddress else { return false }
                return memcmp(own + position, other, part.count) == 0
            }
            position = end
            return isSame
        }
        return isRead && position == bytes.count
    }

    /// Returns a Boolean value that indicates whether two files have the same content; false if one cannot be read.
    static func isEqual(_ path: String, toFile other: String) -> Bool {
        let second = open(other, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard second >= 0 else { return false }
        defer { close(second) }
        let first = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard first >= 0 else { return false }
        defer { close(first) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        let isRead = forEachPart(ofDescriptor: first) { part in
            guard fill(buffer, count: part.count, from: position, of: second),
                let own = part.baseAddress, let other = buffer.baseAddress, memcmp(own, other, part.count) == 0
            else { return false }
            position +|= Int64(clamping: part.count)
            return true
        }
        var status = stat()
        return isRead && fstat(second, &status) == 0 && Int64(status.st_size) == position
    }

    /// Reads bytes from a position of an open file.
    ///
    /// - Returns: A Boolean value that indicates whether all were read.
    private static func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        count: Int,
        from position: Int64,
        of descriptor: CInt
    ) -> Bool {
        var done = 0
        while done < count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<count])
            let read = pread(descriptor, rest.baseAddress, rest.count, off_t(position +| Int64(clamping: done)))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { return false }
            done +|= read
        }
        return true
    }

    /// Returns the checksum of the file at a path, which is read completely; `nil` if it cannot be read.
    static func checksum(_ path: String) -> Int64? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return checksum(ofDescriptor: descriptor).map { Int64(bitPattern: $0.sum.value) }
    }

    /// Returns whether the file at a path has a checksum of the catalog.
    ///
    /// Earlier versions entered another checksum, the value of `BlockChecksum`. The file is read again only for these, and if
    /// it is damaged.
    ///
    /// - Parameters:
    ///   - checksum: The checksum of the catalog.
    ///   - path: The path of the file.
    /// - Returns: `false` if there is no file, if its content was read and differs, or if the disk does not return it.
    /// - Throws: ``StorageError/Code/disk`` if the file cannot be opened or read.
    static func hasChecksum(_ checksum: Int64, _ path: String) throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            let number = errno
            guard isAbsence(number) else { throw StorageError(reading: path, number) }
            return false
        }
        defer { close(descriptor) }
        guard let current = self.checksum(ofDescriptor: descriptor) else { return try unreadable(path, errno) }
        if Int64(bitPattern: current.sum.value) == checksum { return true }
        var former = BlockChecksum()
        guard lseek(descriptor, 0, SEEK_SET) == 0,
            forEachPart(
                ofDescriptor: descriptor,
                { part in
                    former.update(part)
                    return true
                }
            )
        else { return try unreadable(path, errno) }
        return Int64(bitPattern: former.value) == checksum
    }

    /// Returns `false` for a file whose bytes the disk does not return, which is damaged.
    ///
    /// - Throws: ``StorageError/Code/disk`` for any other error.
    private static func unreadable(_ path: String, _ number: CInt) throws -> Bool {
        guard number == EIO else { throw StorageError(reading: path, number) }
        return false
    }

    /// Returns the checksum of the first bytes of a file; `nil` if it is shorter or cannot be read.
    private static func checksum(_ path: String, ofFirst count: Int64) -> Int64? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var sum = FileChecksum()
        var left = Int(clamping: count)
        _ = forEachPart(ofDescriptor: descriptor) { part in
            let wanted = min(part.count, left)
            sum.update(UnsafeRawBufferPointer(rebasing: part[..<wanted]))
            left -= wanted
            return left > 0
        }
        return left == 0 ? Int64(bitPattern: sum.value) : nil
    }

    /// Returns the checksum and the number of the bytes from the position of an open file to its end.
    private static func checksum(ofDescriptor descriptor: CInt) -> (sum: FileChecksum, count: Int64)? {
        var sum = FileChecksum()
        var total: Int64 = 0
        let isRead = forEachPart(ofDescriptor: descriptor) { part in
            total +|= Int64(clamping: part.count)
            sum.update(part)
            return true
        }
        return isRead ? (sum, total) : nil
    }

    /// Reads an open file from its position to its end.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the file.
    ///   - body: A closure that is called with each part and returns whether reading goes on.
    /// - Returns: A Boolean value that indicates whether the end was reached.
    private static func forEachPart(
        ofDescriptor descriptor: CInt,
        _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return false }
            guard count > 0 else { return true }
            guard body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return false }
        }
    }
}

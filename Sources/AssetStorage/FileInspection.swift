import Foundation
import MediaTiming
import MediaTransport

/// A namespace for functions that read the size, the identity and the content of files at a path.
///
/// All functions block.
package enum FileInspection {
    /// The number of bytes per read.
    private static let readSize = 1 << 20

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
    static func checksum(_ path: String, ofFirst count: Int64) -> Int64? {
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
    static func checksum(ofDescriptor descriptor: CInt) -> (sum: FileChecksum, count: Int64)? {
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

    /// Returns the first bytes of the file at a path, which can be fewer; `nil` if it cannot be read.
    package static func firstBytes(_ count: Int, of path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        return (try? file.read(upToCount: count)).map { Array($0) }
    }

    /// Returns the last bytes of the file at a path, which can be fewer; `nil` if it cannot be read.
    package static func lastBytes(_ count: Int, of path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd() else { return nil }
        let wanted = min(UInt64(clamping: count), size)
        guard (try? file.seek(toOffset: size -| wanted)) != nil else { return nil }
        return (try? file.read(upToCount: Int(clamping: wanted))).map { Array($0) }
    }
}

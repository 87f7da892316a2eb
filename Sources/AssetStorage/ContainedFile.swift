import Foundation
import MediaTiming

/// An open file or folder below a root folder, which no symbolic link leads out of it.
///
/// Each component of the path is opened relative to the folder before it, and a link is refused at every position. What is
/// read afterward is what was opened, even if the path names something else by then. The root itself may be a link. All
/// calls block.
package final class ContainedFile: Sendable {
    /// The kind of what is at a path.
    package enum Kind: Sendable, Hashable {
        /// A regular file.
        case file
        /// A folder.
        case folder
    }

    /// The kind of what was opened.
    package let kind: Kind
    /// The size in bytes when the file was opened.
    package let size: Int
    /// The time of the last change of the content, in milliseconds since 1970.
    package let modificationMilliseconds: Int64
    private let descriptor: CInt

    /// Creates an instance that opens a file or a folder; `nil` if there is none, or if its path contains a symbolic
    /// link.
    ///
    /// - Parameters:
    ///   - components: The components of the path, none of which may be empty, `.` or `..`, or contain a slash; none for
    ///     the root.
    ///   - root: The path of the root folder.
    package convenience init?(_ components: [String], in root: String) {
        let folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return nil }
        defer { close(folder) }
        self.init(components, from: folder)
    }

    /// Creates an instance that opens a file or a folder below an open folder; `nil` if there is none, or if its path contains a
    /// symbolic link.
    ///
    /// The open folder is used even if another folder has its name in the meantime.
    ///
    /// - Parameters:
    ///   - components: The components of the path; an empty array means the folder itself. No component may be empty,
    ///     `.` or `..`, or contain a slash.
    ///   - folder: The open folder.
    package convenience init?(_ components: [String], below folder: ContainedFile) {
        self.init(components, from: folder.descriptor)
    }

    /// Opens a file or a folder below the folder with the given descriptor.
    ///
    /// The descriptor stays open.
    private init?(_ components: [String], from folder: CInt) {
        guard components.allSatisfy(Self.isPlain) else { return nil }
        var current = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard current >= 0 else { return nil }
        for (index, name) in components.enumerated() {
            let isLast = index == components.count - 1
            // A named pipe without a writer must not block.
            let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (isLast ? O_NONBLOCK : O_DIRECTORY)
            let next = openat(current, name, flags)
            close(current)
            guard next >= 0 else { return nil }
            current = next
        }
        var status = stat()
        guard fstat(current, &status) == 0, let kind = Self.kind(of: status) else {
            close(current)
            return nil
        }
        descriptor = current
        self.kind = kind
        size = Int(clamping: status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        let milliseconds = Int64(clamping: time.tv_sec) *| 1_000 +| Int64(clamping: time.tv_nsec / 1_000_000)
        modificationMilliseconds = milliseconds
    }

    deinit { close(descriptor) }

    /// Returns the kind of an entry of this folder; `nil` if there is none, or if it is a link or another special file.
    package func kind(ofEntry name: String) -> Kind? {
        guard Self.isPlain(name) else { return nil }
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return Self.kind(of: status)
    }

    /// Reads bytes of the file.
    ///
    /// - Parameters:
    ///   - offset: The offset of the first byte.
    ///   - count: The maximum number of bytes.
    /// - Returns: The bytes, which are fewer at the end of the file only.
    /// - Throws: ``FileFailure`` if the file cannot be read.
    package func bytes(at offset: Int, count: Int) throws(FileFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(0, count))
        var filled = 0
        while filled < bytes.count {
            let length = bytes.withUnsafeMutableBytes { buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return pread(descriptor, rest.baseAddress, rest.count, off_t(clamping: offset +| filled))
            }
            if length < 0 {
                guard errno == EINTR else { throw FileFailure(errno) }
                continue
            }
            guard length > 0 else { break }
            filled += length
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private static func isPlain(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && !name.utf8.contains(UInt8(ascii: "/")) && !name.utf8.contains(0)
    }

    private static func kind(of status: stat) -> Kind? {
        switch status.st_mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        default: nil
        }
    }
}

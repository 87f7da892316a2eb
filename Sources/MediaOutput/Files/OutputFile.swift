import Foundation
import MediaDecoding
import MediaTiming

/// A file that is written sequentially and reports every failure, including a full disk.
struct OutputFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    /// A Boolean value that indicates whether nothing was at the path before.
    private let isNew: Bool
    private var isOpen = true

    /// Creates the file, or truncates an existing one.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed`` or ``OutputError/Code/diskFull``.
    init(_ path: String) throws(OutputError) {
        self.path = path
        let created = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        isNew = created >= 0
        descriptor = created >= 0 ? created : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Self.failure("cannot be created", path)
        }
    }

    deinit { if isOpen { _ = close(descriptor) } }

    /// Appends bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if written < 0 {
                if errno == EINTR { continue }
                throw Self.failure("cannot be written", path)
            }
            rest = rest.dropFirst(written)
        }
    }

    /// Appends bytes.
    func write(_ bytes: [UInt8]) throws(OutputError) {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(OutputError) in try write(bytes) } }
        try result.get()
    }

    /// Overwrites bytes near the beginning of the file.
    ///
    /// - Returns: `false` if the file does not support seeking, such as a pipe.
    func overwrite(_ bytes: [UInt8], at offset: Int) throws(OutputError) -> Bool {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { return false }
        try write(bytes)
        return true
    }

    /// Closes the file; some file systems report a full disk only at this point.
    consuming func finish() throws(OutputError) {
        isOpen = false
        guard close(descriptor) == 0 else {
            throw Self.failure("cannot be written", path)
        }
    }

    /// Closes a file whose content is of no use, and removes it if it did not exist before.
    consuming func discard() {
        isOpen = false
        _ = close(descriptor)
        if isNew { _ = unlink(path) }
    }

    /// Returns the error for the last failed system call.
    private static func failure(_ what: String, _ path: String) -> OutputError {
        let number = errno
        return OutputError(
            DiskErrorNumber.isFull(number) ? .diskFull : .fileFailed,
            "\(what): \(String(cString: strerror(number)))",
            path: path
        )
    }
}

import Foundation
import MediaTiming

/// A file that is written sequentially and reports every failure, including a full disk.
struct OutputFile: ~Copyable {
    let path: String
    private let descriptor: Int32
    private var isOpen = true

    /// Creates the file, or truncates an existing one.
    ///
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed``.
    init(_ path: String) throws(OutputError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw OutputError(.fileFailed, "cannot be created: \(Self.reason())", path: path)
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
                throw OutputError(.fileFailed, "cannot be written: \(Self.reason())", path: path)
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
            throw OutputError(.fileFailed, "cannot be written: \(Self.reason())", path: path)
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}

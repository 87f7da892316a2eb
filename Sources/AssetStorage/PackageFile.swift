import Foundation
import MediaTiming
import MediaTransport

#if canImport(Glibc)
import Glibc
#endif

/// A file of a package while it is written: it appears in its place whole or not at all.
///
/// Writing blocks, so it belongs on a thread that may.
public final class PackageFile: @unchecked Sendable {
    // Safe: one task writes it, and awaits each write before the next.
    private let path: String
    private let partialPath: String
    /// Open from the first write on, so that a small file costs one visit to a thread that may block.
    private var descriptor: Int32 = -1
    /// How many bytes were written.
    public private(set) var count: Int64 = 0

    /// Names a file; nothing is made before the first write.
    ///
    /// - Parameter path: Where it will appear; folders are created as needed. All of them are readable by the owner only.
    public init(_ path: String) {
        self.path = path
        partialPath = path + ".part"
    }

    /// The size of the file at a path; `nil` where there is none.
    static func size(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// Removes the file at a path, if there is one.
    static func remove(_ path: String) { unlink(path) }

    deinit { closeFile() }

    /// Adds bytes; also none, so that there is a file.
    ///
    /// - Throws: ``StorageError/Code/disk``.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        if descriptor < 0 { try openFile() }
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
            let written = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #else
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #endif
            guard written > 0 else {
                if errno == EINTR { continue }
                throw Self.failure(partialPath)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            count +|= Int64(written)
        }
    }

    /// Puts the file in its place.
    public func finish() throws {
        closeFile()
        guard rename(partialPath, path) == 0 else { throw Self.failure(path) }
    }

    /// Leaves nothing behind.
    public func abandon() {
        closeFile()
        unlink(partialPath)
    }

    private func closeFile() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    private func openFile() throws {
        do {
            do {
                descriptor = try PrivateFiles.create(partialPath)
            } catch let error as POSIXError where error.code == .ENOENT {
                try PrivateFiles.createFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
                descriptor = try PrivateFiles.create(partialPath)
            }
        } catch {
            throw StorageError(.disk, "\(partialPath) cannot be written (\(AssetLibrary.reason(error)))")
        }
    }

    private static func failure(_ path: String) -> StorageError {
        StorageError(.disk, "\(path) cannot be written (\(String(cString: strerror(errno))))")
    }
}

public import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A file of a package while it is written: it appears in its place whole or not at all.
///
/// Writing blocks, so it belongs on a thread that may.
public final class PackageFile: @unchecked Sendable {
    // Safe: one task writes it, and awaits each write before the next.
    private let url: URL
    private let partial: URL
    private var descriptor: Int32
    /// How many bytes were written.
    public private(set) var count: Int64 = 0

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - url: Where it will appear.
    ///   - isSecret: Whether only the owner may read it, as with keys.
    /// - Throws: ``StorageError/Code/disk``.
    public init(_ url: URL, isSecret: Bool) throws {
        self.url = url
        partial = url.appendingPathExtension("part")
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
        } catch {
            throw StorageError(.disk, "\(url.deletingLastPathComponent().path) cannot be made (\(error))")
        }
        descriptor = open(partial.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else { throw Self.failure(partial) }
    }

    deinit { closeFile() }

    /// Adds bytes.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
            let written = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #else
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #endif
            guard written > 0 else {
                if errno == EINTR { continue }
                throw Self.failure(partial)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            count += Int64(written)
        }
    }

    /// Puts the file in its place.
    public func finish() throws {
        closeFile()
        guard rename(partial.path, url.path) == 0 else { throw Self.failure(url) }
    }

    /// Leaves nothing behind.
    public func abandon() {
        closeFile()
        unlink(partial.path)
    }

    private func closeFile() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    private static func failure(_ url: URL) -> StorageError {
        StorageError(.disk, "\(url.path) cannot be written (\(String(cString: strerror(errno))))")
    }
}

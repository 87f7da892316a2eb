package import Foundation

extension AssetLibrary {
    /// Returns the error for a library that this process may not read; `nil` if permissions do not prevent it.
    ///
    /// Without this error, a library of another user could not be distinguished from a library that does not exist.
    package static func permissionError(for directory: URL) -> StorageError? {
        guard access(directory.appendingPathComponent(Catalog.fileName).path, R_OK) != 0 else { return nil }
        let number = errno
        guard number == EACCES || number == EPERM else { return nil }
        let reason = String(cString: strerror(number))
        return StorageError(.cannotOpen, "the library \(directory.path) cannot be read (\(reason))")
    }
}

import Foundation

/// A file, or standard input, that is read as a whole.
enum InputFile {
    /// Returns the bytes of a file; of one that is longer than the limit, one byte more than the limit.
    static func contents(_ path: String, limit: Int) throws -> Data {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else {
            throw CocoaError(.fileReadUnknown)
        }
        return try file.read(upToCount: limit + 1) ?? Data()
    }

    /// Returns what standard input holds up to its end.
    ///
    /// - Throws: ``Failure``.
    static func standardInput() throws -> Data {
        do {
            return try Foundation.FileHandle.standardInput.readToEnd() ?? Data()
        } catch {
            throw Failure(.failed, "file-failed", "standard input cannot be read")
        }
    }

    /// The output of programs that are started for the user, which is discarded.
    static var discarded: Foundation.FileHandle { .nullDevice }
}

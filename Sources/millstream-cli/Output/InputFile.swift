import Foundation

/// A file, or standard input, that is read completely.
enum InputFile {
    /// Returns the bytes of a file; if it is longer than the limit, one byte more than the limit.
    static func contents(_ path: String, limit: Int) throws -> Data {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else {
            throw CocoaError(.fileReadUnknown)
        }
        return try file.read(upToCount: limit + 1) ?? Data()
    }

    /// Returns all bytes of standard input.
    ///
    /// - Throws: ``Failure``.
    static func standardInput() throws -> Data {
        do {
            return try Foundation.FileHandle.standardInput.readToEnd() ?? Data()
        } catch {
            throw Failure(.failed, "file-failed", "standard input cannot be read")
        }
    }

    /// Returns the next bytes of standard input; empty at its end.
    ///
    /// - Throws: ``Failure``.
    static func block(upTo count: Int) throws -> Data {
        do {
            return try Foundation.FileHandle.standardInput.read(upToCount: count) ?? Data()
        } catch {
            throw Failure(.failed, "file-failed", "standard input cannot be read")
        }
    }

    /// The null device, for the output of other programs that are started for the user.
    static var discarded: Foundation.FileHandle { .nullDevice }
}

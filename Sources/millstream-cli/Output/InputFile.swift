import Foundation

/// A file, or standard input, that is read completely.
enum InputFile {
    /// The byte order mark of UTF-8, which some editors write at the start of a file.
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the bytes of a file without a byte order mark; if the file is longer than the limit, more bytes than
    /// the limit.
    static func contents(_ path: String, limit: Int) throws -> Data {
        guard let file = Foundation.FileHandle(forReadingAtPath: path) else {
            throw CocoaError(.fileReadUnknown)
        }
        return withoutMark(try file.read(upToCount: limit + 1 + byteOrderMark.count) ?? Data())
    }

    private static func withoutMark(_ data: Data) -> Data {
        data.starts(with: byteOrderMark) ? Data(data.dropFirst(byteOrderMark.count)) : data
    }

    /// Returns all bytes of standard input, without a byte order mark.
    ///
    /// - Throws: ``Failure``.
    static func standardInput() throws -> Data {
        do {
            return withoutMark(try Foundation.FileHandle.standardInput.readToEnd() ?? Data())
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

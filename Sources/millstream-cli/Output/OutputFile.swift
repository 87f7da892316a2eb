import Foundation

/// A writer of files that are complete or absent.
enum OutputFile {
    /// Verifies that the folder of a file exists.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: ``Failure``.
    static func verifyFolder(of path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw Failure(.failed, "disk-failed", "the folder \(folder) does not exist", hint: "create it first")
        }
    }

    /// Writes a file; its folder is created.
    ///
    /// A regular file is replaced as a whole, and a symbolic link keeps referring to it, also if it is created now.
    /// Pipes, devices and the descriptors of the program, such as `/dev/stdout`, are written to and never replaced.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - url: The location of the file.
    /// - Throws: ``Failure``; ``OutputError`` if the reader of a pipe has closed it; `CancellationError` if the program
    ///   was interrupted while a pipe was blocked.
    static func write(_ bytes: [UInt8], to url: URL) throws {
        do {
            switch OutputTarget(url) {
            case .file(let file):
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(),
                    withIntermediateDirectories: true
                )
                try Data(bytes).write(to: file, options: .atomic)
            case .descriptor(let number): try write(bytes, toDescriptor: number)
            case .special(let path): try writeInPlace(bytes, to: path)
            }
        } catch let error as OutputError where error.isClosed {
            throw error
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Failure(writing: url.path, error)
        }
    }

    private static func writeInPlace(_ bytes: [UInt8], to path: String) throws {
        let output = try OutputDescriptor(opening: path)
        defer { output.close() }
        try output.write(bytes)
    }

    /// Writes to what the shell has opened, which can be shared with other programs: it stays open and is not truncated.
    private static func write(_ bytes: [UInt8], toDescriptor number: Int32) throws {
        guard number != OutputDescriptor.results.rawValue else { return try StandardOutput.write(playlist: bytes) }
        try OutputDescriptor(inherited: number).write(bytes)
    }
}

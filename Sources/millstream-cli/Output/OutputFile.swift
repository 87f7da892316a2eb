import Foundation
import MediaTransport

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
    /// A regular file is replaced as a whole, and a symbolic link keeps referring to it. Pipes and devices, such as
    /// `/dev/stdout`, are written to and never replaced.
    ///
    /// - Parameters:
    ///   - bytes: The content.
    ///   - url: The location of the file.
    /// - Throws: ``Failure``; ``OutputError`` if the reader of a pipe has closed it; `CancellationError` if the program
    ///   was interrupted while a pipe was blocked.
    static func write(_ bytes: [UInt8], to url: URL) throws {
        do {
            guard let file = replaceableFile(url) else { return try writeInPlace(bytes, to: url) }
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: file, options: .atomic)
        } catch let error as OutputError {
            if error.isClosed { throw error }
            throw Failure(.failed, "disk-failed", "\(url.path) cannot be written (\(error.reason))")
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Failure(.failed, "disk-failed", "\(url.path) cannot be written (\(FileErrorText.reason(of: error)))")
        }
    }

    /// Returns the location of the regular file that a path denotes or can denote; `nil` for pipes, devices, the
    /// descriptors of the program, and links to something that does not exist.
    private static func replaceableFile(_ url: URL) -> URL? {
        guard let type = type(of: url) else { return url }
        switch type {
        case .typeRegular, .typeDirectory: return url
        case .typeSymbolicLink:
            // A link to a descriptor refers to what the shell has opened, which may be shared with other programs.
            guard !["/dev/", "/proc/"].contains(where: url.standardizedFileURL.path.hasPrefix) else { return nil }
            let target = url.resolvingSymlinksInPath()
            return self.type(of: target) == .typeRegular ? target : nil
        default: return nil
        }
    }

    private static func type(of url: URL) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: url.path))?[.type] as? FileAttributeType
    }

    private static func writeInPlace(_ bytes: [UInt8], to url: URL) throws {
        let output = try OutputDescriptor(creating: url.path)
        defer { output.close() }
        try output.write(bytes)
    }
}

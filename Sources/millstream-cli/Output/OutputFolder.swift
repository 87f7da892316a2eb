import Foundation

/// A writer of files that belong together.
///
/// If one of them cannot be written, for example because the disk is full, the files and folders that the writer
/// created are removed, because an incomplete set of playlists cannot be used.
struct OutputFolder {
    /// The paths of the files that did not exist before.
    private var files: [String] = []
    /// The paths of the folders that did not exist before, each before those inside it.
    private var folders: [String] = []

    /// Writes files into a folder, which is created.
    ///
    /// - Parameters:
    ///   - files: The paths of the files in the folder, with their contents, in the order in which they are written.
    ///   - folder: The location of the folder.
    /// - Throws: The error of ``OutputFile/write(_:to:)``.
    static func write(_ files: [(name: String, bytes: [UInt8])], to folder: URL) throws {
        var created = OutputFolder()
        do {
            for file in files {
                let location = folder.appendingPathComponent(file.name)
                created.willCreate(location)
                try OutputFile.write(file.bytes, to: location)
            }
        } catch {
            created.remove()
            throw error
        }
    }

    /// Notes a file, and the folders of its path, if they do not exist.
    private mutating func willCreate(_ location: URL) {
        let path = location.absoluteURL.path
        guard !Self.exists(path) else { return }
        files.append(path)
        var missing: [String] = []
        var folder = (path as NSString).deletingLastPathComponent
        while folder.count > 1, !Self.exists(folder) {
            missing.append(folder)
            folder = (folder as NSString).deletingLastPathComponent
        }
        folders += missing.reversed()
    }

    /// Removes the noted files, and those of the noted folders that are empty.
    private func remove() {
        for path in files { _ = unlink(path) }
        for path in folders.reversed() { _ = rmdir(path) }
    }

    /// Returns a Boolean value that indicates whether there is anything at a path, also a link to nothing.
    private static func exists(_ path: String) -> Bool {
        (try? FileManager.default.attributesOfItem(atPath: path)) != nil
    }
}

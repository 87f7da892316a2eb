public import Foundation

extension AssetLibrary {
    /// Copies an asset into a plain folder: playlists and segments that any server or player can use.
    ///
    /// The copy is for others to read, as far as the file mode creation mask of the process allows; files with keys are readable
    /// by the owner only, as in the library.
    ///
    /// - Throws: ``StorageError`` where the asset is not complete, the folder exists already, or the disk refuses.
    public func export(_ id: String, to folder: URL) throws {
        let asset = try asset(id)
        guard asset.state == .complete else {
            throw StorageError(.incomplete, "the asset \(id) is not complete; download it again first")
        }
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw StorageError(.disk, "\(folder.path) exists already")
        }
        let partial = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try FileManager.default.createDirectory(
                at: folder.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try FileManager.default.createDirectory(at: partial, withIntermediateDirectories: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: partial.path)
            let folderMode = (attributes[.posixPermissions] as? Int) ?? 0o700
            let package = packageDirectory(id)
            for name in try FileManager.default.contentsOfDirectory(atPath: package.path) where name != ".lock" {
                try FileManager.default.copyItem(
                    at: package.appendingPathComponent(name),
                    to: partial.appendingPathComponent(name)
                )
            }
            let keys = Set(try resources(id).filter { $0.kind == .key }.map(\.path))
            try Self.share(partial, folderMode: folderMode, except: keys)
            try FileManager.default.moveItem(at: partial, to: folder)
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw StorageError(.disk, "\(folder.path) cannot be written (\(Self.reason(error)))")
        }
    }

    /// Gives the files and folders below a folder the modes of new ones, but for those with keys.
    ///
    /// - Parameters:
    ///   - folder: The folder, which has the mode of a new one itself.
    ///   - folderMode: Its mode.
    ///   - keys: The paths of the files that stay as they are, below the folder.
    /// - Throws: The error of the system.
    private static func share(_ folder: URL, folderMode: Int, except keys: Set<String>) throws {
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where !keys.contains(path) {
            let file = folder.appendingPathComponent(path).path
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            try FileManager.default.setAttributes(
                [.posixPermissions: isFolder ? folderMode : folderMode & 0o666],
                ofItemAtPath: file
            )
        }
    }
}

public import Foundation
import GRDB

extension AssetLibrary {
    /// Copies an asset to a directory as playlists and segments that any server or player can use.
    ///
    /// The mode of the copies follows the file mode creation mask of the process. Key files stay readable by the owner
    /// only.
    ///
    /// - Throws: ``StorageError`` if the asset is incomplete or damaged, if the directory exists, or if it cannot be
    ///   written.
    public func export(_ id: String, to folder: URL) throws {
        let asset = try asset(id)
        guard PackageFile.isFolder(packagePath(id)) else { throw movedPackage(id) }
        guard asset.state == .complete else {
            throw StorageError(.incomplete, "the asset \(id) is not complete; download it again first")
        }
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw StorageError(.disk, "\(folder.path) already exists")
        }
        let partial = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try FileManager.default.createDirectory(
                at: folder.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try copyFiles(of: asset, to: partial)
            try FileManager.default.moveItem(at: partial, to: folder)
        } catch let error as StorageError {
            try? FileManager.default.removeItem(at: partial)
            throw error
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw StorageError(.disk, "\(folder.path) cannot be written (\(Self.reason(error)))", cause: error)
        }
    }

    private func copyFiles(of asset: StoredAsset, to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        for rendition in asset.renditions {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(rendition.folder),
                withIntermediateDirectories: true
            )
        }
        let playlists = [Self.multivariantName] + asset.renditions.map { "\($0.folder)/\(Self.mediaName)" }
        let resources = try resources(asset.id)
        for path in playlists + resources.map(\.path) {
            guard let file = file(path, of: asset.id) else {
                throw StorageError(.damaged, "\(path) is missing or damaged; download the asset again first")
            }
            try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(path))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        // Without the mode of the directory, all files stay readable by the owner only.
        guard let folderMode = attributes[.posixPermissions] as? Int else { return }
        let keys = Set(resources.filter { $0.kind.keySize != nil }.map(\.path))
        try Self.share(folder, folderMode: folderMode, except: keys)
    }

    /// Sets the modes of all files and directories in a directory to those of new ones, except for keys.
    ///
    /// - Parameters:
    ///   - folder: The directory, which itself has the mode of a new directory.
    ///   - folderMode: The mode of the directory.
    ///   - keys: The paths of the files to leave unchanged, relative to the directory.
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

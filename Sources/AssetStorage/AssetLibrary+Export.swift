public import Foundation
import GRDB

extension AssetLibrary {
    /// Copies an asset into a plain folder: playlists and segments that any server or player can use.
    ///
    /// - Throws: ``StorageError`` if the asset is not complete or damaged, the folder exists already, or the disk refuses.
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
            try copyFiles(of: asset, to: partial)
            try FileManager.default.moveItem(at: partial, to: folder)
        } catch let error as StorageError {
            try? FileManager.default.removeItem(at: partial)
            throw error
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw StorageError(.disk, "\(folder.path) cannot be written (\(Self.reason(error)))")
        }
    }

    private func copyFiles(of asset: StoredAsset, to folder: URL) throws {
        for rendition in asset.renditions {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(rendition.folder),
                withIntermediateDirectories: true
            )
        }
        let playlists = [Self.multivariantName] + asset.renditions.map { "\($0.folder)/\(Self.mediaName)" }
        for path in playlists + (try resources(asset.id).map(\.path)) {
            guard let file = file(path, of: asset.id) else {
                throw StorageError(.damaged, "\(path) is missing or damaged; download the asset again first")
            }
            try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(path))
        }
    }
}

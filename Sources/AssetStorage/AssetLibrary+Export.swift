public import Foundation

extension AssetLibrary {
    /// Copies an asset into a plain folder: playlists and segments that any server or player can use.
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
            try FileManager.default.copyItem(at: packageDirectory(id), to: partial)
            try? FileManager.default.removeItem(at: partial.appendingPathComponent(".lock"))
            try FileManager.default.moveItem(at: partial, to: folder)
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw StorageError(.disk, "\(folder.path) cannot be written (\(Self.reason(error)))")
        }
    }
}

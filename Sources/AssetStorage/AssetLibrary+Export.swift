public import Foundation
import GRDB
import ResourceAddressing

extension AssetLibrary {
    /// Copies an asset to a directory as playlists and segments that any server or player can use, or as the media
    /// file.
    ///
    /// The artwork of the asset becomes a file, such as `cover.jpg` (``AssetArtwork/fileName``).
    ///
    /// The modes of the copies depend on the file mode creation mask of the process. Key files remain readable by the
    /// owner only.
    ///
    /// If the asset is not complete, the variants and renditions that can be played are copied; see
    /// ``StoredAsset/isPlayableOffline``. If a recording was interrupted, everything that is stored is copied, and
    /// segments that are not stored become gaps. If a process continues the recording, the segments before the first
    /// one that is not stored yet are copied. In both cases, the playlists of the copy have the type `VOD`.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - folder: The directory, which must not exist.
    /// - Returns: The multivariant playlist, or the media file.
    /// - Throws: ``StorageError`` if no variant of the asset is complete, if the asset is damaged, or if the directory
    ///   exists or cannot be written.
    @discardableResult
    public func export(_ id: String, to folder: URL) throws -> URL {
        let asset = try asset(id)
        guard FileInspection.isFolder(packagePath(id)) else { throw movedPackage(id) }
        let content = try exportedContent(of: asset)
        guard !FileManager.default.fileExists(atPath: folder.path) else {
            throw StorageError(.alreadyExists, "\(folder.path) already exists")
        }
        let partial = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)")
        do {
            try FileManager.default.createDirectory(
                at: folder.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            let name =
                switch content {
                case .all: try copyFiles(of: asset, in: nil, to: partial)
                case .renditions(let folders): try copyFiles(of: asset, in: folders, to: partial)
                case .recording(let snapshot): try copyFiles(of: asset, snapshot, to: partial)
                }
            try FileManager.default.moveItem(at: partial, to: folder)
            return folder.appendingPathComponent(name)
        } catch let error as StorageError {
            try? FileManager.default.removeItem(at: partial)
            throw error
        } catch {
            try? FileManager.default.removeItem(at: partial)
            throw StorageError(writing: folder.path, error)
        }
    }

    /// The part of an asset that is exported.
    private enum ExportedContent {
        /// All of an asset that is complete.
        case all
        /// Some media playlists of an asset that is not complete, by their directories.
        case renditions(in: Set<String>)
        /// The stored part of a recording that is not complete.
        case recording(RecordingSnapshot)
    }

    /// Returns the part of an asset that is exported.
    private func exportedContent(of asset: StoredAsset) throws -> ExportedContent {
        guard asset.state != .complete else { return .all }
        if try isRecording(asset.id) { return .recording(try recordingSnapshot(of: asset.id)) }
        let folders = try playableFolders(of: asset.id)
        guard folders.isEmpty else { return .renditions(in: folders) }
        // A recording can end while a key is missing. If files were lost, the asset can be repaired instead.
        if try isRecorded(asset.id), try lostFiles(asset.id).isEmpty {
            return .recording(try recordingSnapshot(of: asset.id))
        }
        throw StorageError(.incomplete, "the asset \(asset.id) is not complete; download it again first")
    }

    /// Copies the stored part of a recording that is not complete.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - snapshot: The stored part.
    ///   - folder: The directory to create.
    /// - Returns: The name of the file to play.
    /// - Throws: ``StorageError``, or the error of the system.
    private func copyFiles(of asset: StoredAsset, _ snapshot: RecordingSnapshot, to folder: URL) throws -> String {
        try makeFolder(folder, of: asset)
        for (name, playlist) in snapshot.media {
            let media = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: media, withIntermediateDirectories: true)
            try Data(playlist).write(to: media.appendingPathComponent(Self.mediaName))
        }
        try Data(snapshot.multivariant).write(to: folder.appendingPathComponent(Self.multivariantName))
        for path in snapshot.paths {
            try FileManager.default.copyItem(
                at: storedFile(path, of: asset),
                to: folder.appendingPathComponent(path)
            )
        }
        try setModes(in: folder, exceptKeys: snapshot.keys)
        return Self.multivariantName
    }

    /// Creates the directory of an export, with the artwork of the asset.
    private func makeFolder(_ folder: URL, of asset: StoredAsset) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        if let artwork = try artwork(of: asset.id) {
            try artwork.data.write(to: folder.appendingPathComponent(artwork.fileName))
        }
    }

    /// Returns the URL of a file of an asset that must be stored.
    private func storedFile(_ path: String, of asset: StoredAsset) throws -> URL {
        guard let file = file(path, of: asset.id) else {
            throw StorageError(.damaged, "\(path) is missing or damaged; repair the asset first")
        }
        return file
    }

    /// Copies the files of an asset.
    ///
    /// - Parameters:
    ///   - asset: The asset.
    ///   - folders: The directories of the media playlists to copy; `nil` for all.
    ///   - folder: The directory to create.
    /// - Returns: The name of the file to play.
    /// - Throws: ``StorageError``, or the error of the system.
    private func copyFiles(of asset: StoredAsset, in folders: Set<String>?, to folder: URL) throws -> String {
        try makeFolder(folder, of: asset)
        if let media = try mediaFile(of: asset.id) {
            let file = try storedFile(media.path, of: asset)
            let name = Self.fileName(of: media)
            try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(name))
            try setModes(in: folder, exceptKeys: [])
            return name
        }
        let copied = folders ?? Set(asset.renditions.map(\.folder))
        for name in copied.sorted() {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name),
                withIntermediateDirectories: true
            )
        }
        let resources = try resources(asset.id).filter { copied.contains($0.folder) }
        let playlists = [Self.multivariantName] + copied.sorted().map { "\($0)/\(Self.mediaName)" }
        for path in playlists + resources.map(\.path) {
            let file = try storedFile(path, of: asset)
            if path == Self.multivariantName, let folders, let playlist = try playlist(of: asset.id, in: folders) {
                try Data(playlist).write(to: folder.appendingPathComponent(path))
            } else {
                try FileManager.default.copyItem(at: file, to: folder.appendingPathComponent(path))
            }
        }
        try setModes(in: folder, exceptKeys: Set(resources.filter { $0.kind.keySize != nil }.map(\.path)))
        return Self.multivariantName
    }

    /// Returns the name of a media file at its origin, or that in the package if the former is not suitable as a file name.
    private static func fileName(of media: StoredResource) -> String {
        let stored = URL(fileURLWithPath: media.path)
        let name = media.address.lastPathComponent.removingPercentEncoding ?? ""
        let isUsual =
            !name.hasPrefix(".") && name.utf8.count < 200
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "/" }
            && name.lowercased().hasSuffix(".\(stored.pathExtension)")
        return isUsual ? name : stored.lastPathComponent
    }

    /// Derives the modes of the files in a new directory from that of the directory, except for keys.
    private func setModes(in folder: URL, exceptKeys keys: Set<String>) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        // Without the mode of the directory, all files stay readable by the owner only.
        guard let folderMode = attributes[.posixPermissions] as? Int else { return }
        try Self.setModes(in: folder, folderMode: folderMode, exceptKeys: keys)
    }

    /// Sets the modes of all files and directories in a directory to those of new ones, except for keys.
    ///
    /// - Parameters:
    ///   - folder: The directory, which itself has the mode of a new directory.
    ///   - folderMode: The mode of the directory.
    ///   - keys: The paths of the files to leave unchanged, relative to the directory.
    /// - Throws: The error of the system.
    private static func setModes(in folder: URL, folderMode: Int, exceptKeys keys: Set<String>) throws {
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

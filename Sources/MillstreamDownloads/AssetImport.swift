public import AssetStorage
public import Foundation
import HLSPlaylist
public import MediaTiming
import MediaTransport
import PresentationLoading
import ResourceAddressing

/// An import of a local presentation into a library: its playlists and segments are copied, with checksums.
///
/// A static DASH presentation is stored as the HLS presentation that it is translated to.
public struct AssetImport: Sendable {
    /// The result of an import.
    public struct Summary: Sendable, Hashable {
        /// The complete asset, whose size counts all of its content.
        public let asset: StoredAsset
        /// The disk space that the import occupies in addition to what was stored before, in allocated blocks.
        ///
        /// Content that other assets have as well is stored once (``sharedBytes``).
        public let addedBytes: ByteCount
        /// The disk space of the content that the asset shares with others, in allocated blocks.
        public let sharedBytes: ByteCount
    }

    /// The playlist or the DASH manifest of the presentation.
    public let playlist: URL
    private let library: AssetLibrary
    private let task: AssetDownload
    /// The folder of the presentation, in which its artwork can be; `nil` if the playlist was named.
    private let folder: URL?

    /// The names of the images of which the first one in the folder of a presentation becomes the artwork of the asset.
    ///
    /// They are those of an exported asset, followed by others in common use.
    package static let artworkNames = [
        "cover.jpg", "cover.jpeg", "cover.png", "cover.webp", "cover.gif", "folder.jpg", "poster.jpg",
    ]

    /// Creates an import; it starts with ``run(_:)``.
    ///
    /// - Parameters:
    ///   - location: A playlist or a DASH manifest, or a folder with one: `multivariant.m3u8`, otherwise the only multivariant
    ///     playlist, otherwise the only playlist in the folder, otherwise the only manifest (`.mpd`). All other files must be in the
    ///     folder of the playlist or below it. An image in the folder with a name in common use, such as `cover.jpg`, becomes the
    ///     artwork of an asset that was not in the library before; links and files that cannot be stored as artwork are ignored.
    ///   - library: The library to store the asset in.
    ///   - title: The title to display; derived from the path by default.
    ///   - time: The clock for progress reports.
    /// - Throws: ``DownloadError`` if the folder has no playlist and no manifest, or several.
    public init(
        _ location: URL,
        into library: AssetLibrary,
        title: String? = nil,
        time: any TimeSource = SystemTimeSource()
    ) throws {
        let location = location.standardizedFileURL
        let playlist = try Self.playlist(at: location)
        let imported = ImportedFolder(playlist.deletingLastPathComponent())
        self.playlist = playlist
        self.library = library
        folder = playlist == location ? nil : playlist.deletingLastPathComponent()
        var options = PresentationOptions()
        options.time = time
        task = AssetDownload(
            ResourceAddress(filePath: playlist.path),
            into: library,
            loader: ResourceLoader(
                FolderTransport(imported),
                policy: RecoveryPolicy(retries: 0),
                time: time
            ).translatingPresentations(in: PresentationStore(options: options)),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .all), title: title),
            time: time
        )
    }

    /// Copies the presentation, and measures the disk space that it occupies.
    ///
    /// - Parameter report: A closure that is called with the progress; it must not block.
    /// - Returns: The asset and its disk space.
    /// - Throws: The errors of ``run(_:)``.
    public func runMeasured(
        _ report: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async throws -> Summary {
        let source = task.source
        let before = try await BlockingOperation.run { [library] in
            try library.asset(source: source).map { try library.diskUsage($0.id).freeableBytes } ?? .zero
        }
        let asset = try await run(report)
        let after = try await BlockingOperation.run { [library] in try library.diskUsage(asset.id) }
        return Summary(
            asset: asset,
            addedBytes: after.freeableBytes - before,
            sharedBytes: after.occupiedBytes - after.freeableBytes
        )
    }

    /// Copies the presentation.
    ///
    /// - Parameter report: A closure that is called with the progress; it must not block.
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``; `CancellationError` when canceled. In both cases, an asset that is not in the
    ///   library before is not in it afterward, unless only its artwork could not be stored.
    public func run(_ report: @escaping @Sendable (DownloadProgress) -> Void = { _ in }) async throws -> StoredAsset {
        let former = try library.asset(source: task.source)
        let isNew = former == nil
        let asset: StoredAsset
        do {
            // Without files of the asset, all are copied.
            if isNew { try await checkSpace() }
            asset = try await task.run { event in
                switch event {
                case .resolved(_, let progress, _), .progress(_, let progress): report(progress)
                case .ended, .completed, .waiting, .lost, .metadataOmitted, .keyNotVerified: break
                }
            }
        } catch {
            // This is not done on another thread, because the thread pool would not run it after a cancellation.
            if isNew, let partial = try? library.asset(source: task.source) { try? library.delete(partial.id) }
            throw error
        }
        // The user may have removed the artwork of an asset that was added before.
        guard former?.renditions.isEmpty ?? true else { return asset }
        return try await addArtwork(to: asset)
    }

    /// Stores the artwork in the folder of the presentation, unless the asset has artwork.
    ///
    /// - Parameter asset: The asset.
    /// - Returns: The asset with its artwork.
    /// - Throws: ``DownloadError`` if the catalog cannot be written; the asset stays in the library.
    private func addArtwork(to asset: StoredAsset) async throws -> StoredAsset {
        guard let folder else { return asset }
        do {
            return try await BlockingOperation.run { [library] in
                guard let artwork = Self.artwork(in: folder) else { return asset }
                try library.addArtwork(artwork, of: asset.id)
                return try library.asset(asset.id)
            }
        } catch let error as StorageError {
            throw DownloadError(
                .storage,
                "the asset \(asset.id) is stored, but not its artwork: \(error.message)",
                detail: error.code.rawValue,
                cause: error
            )
        }
    }

    /// Returns the first image in a folder that can be stored as artwork; `nil` if there is none.
    private static func artwork(in folder: URL) -> AssetArtwork? {
        for name in artworkNames {
            // A link could lead to a file of the user that is not part of the presentation.
            guard let file = ContainedFile([name], in: folder.path), file.kind == .file,
                Int64(clamping: file.size) <= AssetArtwork.maximumSize.bytes,
                let bytes = try? file.bytes(at: 0, count: file.size), let artwork = try? AssetArtwork(Data(bytes))
            else { continue }
            return artwork
        }
        return nil
    }

    /// Verifies that the limits of the library leave space for the presentation, so that no other asset is deleted for an import
    /// that cannot succeed.
    private func checkSpace() async throws {
        do {
            guard try library.storageLimits() != StorageLimits() else { return }
            // Playlists that cannot be loaded fail again when the files are copied, with the same error.
            guard let resolution = try? await task.resolver.resolve(task.source) else { return }
            try await BlockingOperation.run { [library] in
                try library.checkSpace(for: Self.size(of: resolution.renditions))
            }
        } catch let error as StorageError {
            throw DownloadError(error)
        }
    }

    /// Returns the size of all segments that exist; keys and initialization sections are small.
    private static func size(of renditions: [PlannedRendition]) -> ByteCount {
        var sum = ByteCount.zero
        for rendition in renditions {
            for segment in rendition.playlist.segments where !segment.isGap {
                guard let path = segment.address.filePath, let size = FileInspection.size(path) else { continue }
                let range = segment.byteRange
                sum = sum + ByteCount(min(range?.length ?? size, size -| (range?.start ?? 0)))
            }
        }
        return sum
    }

    private static func playlist(at location: URL) throws -> URL {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: location.path, isDirectory: &isFolder) else {
            throw TransportError(
                .fileNotFound,
                "\(location.path) does not exist",
                address: ResourceAddress(filePath: location.path)
            )
        }
        guard isFolder.boolValue else { return location }
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: location.path)) ?? []).sorted()
        let names = files.filter { $0.lowercased().hasSuffix(".m3u8") }
        if names.contains("multivariant.m3u8") { return location.appendingPathComponent("multivariant.m3u8") }
        let folder = ImportedFolder(location)
        let multivariant = names.filter { isMultivariant(location.appendingPathComponent($0), in: folder) }
        let manifests = files.filter { $0.lowercased().hasSuffix(".mpd") }
        let playlists = multivariant.isEmpty ? names : multivariant
        let candidates = playlists.isEmpty ? manifests : playlists
        guard let name = candidates.first else {
            throw DownloadError(
                .notAPlaylist,
                "the folder \(location.path) has no playlist (.m3u8) and no DASH manifest (.mpd)"
            )
        }
        guard candidates.count == 1 else {
            let kind = playlists.isEmpty ? "DASH manifests" : "playlists"
            throw DownloadError(
                .notAPlaylist,
                "the folder \(location.path) has several \(kind): \(candidates.joined(separator: ", "))",
                hint: "name one of them in place of the folder"
            )
        }
        return location.appendingPathComponent(name)
    }

    /// The maximum number of bytes of a playlist that are read to determine its kind.
    private static let recognizedBytes = 64 << 10

    private static func isMultivariant(_ playlist: URL, in folder: ImportedFolder) -> Bool {
        guard let components = folder.components(of: playlist.path), let file = folder.file(components),
            let bytes = try? file.bytes(at: 0, count: recognizedBytes)
        else { return false }
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .contains { $0.hasPrefix("#EXT-X-STREAM-INF:") }
    }
}

import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing

extension AssetLibrary {
    /// The file name of the multivariant playlist of a package.
    static let multivariantName = "multivariant.m3u8"
    /// The file name of the media playlist in the directory of a rendition.
    static let mediaName = "media.m3u8"

    /// Writes the playlists of a package from the catalog; intact playlists are not rewritten.
    ///
    /// The playlists are on the disk when this method returns.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - storedOnly: A Boolean value that indicates whether the media playlists of a recording that has not ended
    ///     stop before the first segment that is not stored.
    /// - Returns: The paths, relative to the package, of the playlists that were missing or damaged.
    /// - Throws: ``StorageError``, or the error of the catalog.
    @discardableResult
    func writePlaylists(_ id: String, storedOnly: Bool = false) throws -> [String] {
        let renditions = try catalog.read { try RenditionEntry.fetchAll(of: id, $0) }
        var changed: [String] = []
        for rendition in renditions {
            // One after the other, since playlists can be large.
            guard let bytes = try localPlaylist(of: rendition, storedOnly: storedOnly) else { continue }
            let path = "\(rendition.folder)/\(Self.mediaName)"
            if try write(bytes, to: path, of: id) { changed.append(path) }
        }
        let multivariant = try multivariantPlaylist(of: id, renditions)
        let former = try? Data(contentsOf: packageDirectory(id).appendingPathComponent(Self.multivariantName))
        if try write(multivariant, to: Self.multivariantName, of: id) {
            let isEstimate = renditions.contains { $0.position < 0 }
            if !Self.areEquivalent(former, multivariant, ignoringBandwidth: isEstimate) {
                changed.append(Self.multivariantName)
            }
        }
        return changed
    }

    /// Returns the multivariant playlist of a package as the catalog describes it.
    func multivariantPlaylist(of id: String) throws -> [UInt8] {
        try multivariantPlaylist(of: id, catalog.read { try RenditionEntry.fetchAll(of: id, $0) })
    }

    private func multivariantPlaylist(of id: String, _ renditions: [RenditionEntry]) throws -> [UInt8] {
        let (asset, source, keys) = try catalog.read { database in
            let record = try Self.record(id, database)
            let asset = try Self.asset(record, database)
            let source = try Self.multivariantSource(of: record, renditions, database)
            return (asset, source, try Self.keyPaths(of: id, source, database))
        }
        return try Self.multivariantPlaylist(source, renditions, asset, keys)
    }

    /// Returns the media playlist of a package; `nil` if the catalog has none that can be read.
    private func localPlaylist(of rendition: RenditionEntry, storedOnly: Bool) throws -> [UInt8]? {
        let plan = try catalog.read { database -> PackagePlan? in
            guard let record = try RenditionRecord.fetchOne(database, key: rendition.id),
                let playlist = try? MediaPlaylist(
                    parsing: storedOnly ? record.storedPlaylist(database) : record.entirePlaylist(database),
                    context: PlaylistContext(stored: ResourceAddress(record.address))
                )
            else { return nil }
            let usual = PackagePlan(folder: rendition.folder, role: rendition.role, playlist: playlist)
            return try Self.withStoredPaths(usual, of: rendition.id, database)
        }
        return plan?.localPlaylist
    }

    /// Returns the plan of a local playlist with the paths in the catalog.
    static func withStoredPaths(
        _ plan: PackagePlan,
        of rendition: Int64?,
        _ database: Database
    ) throws -> PackagePlan {
        // A playlist may have a million segments, most of which have the usual path.
        var paths: [PackagePlan.Identity: String] = [:]
        let rows = try ResourceRecord.filter(Column("renditionID") == rendition).fetchCursor(database)
        while let row = try rows.next() {
            if !plan.usesUsualPath(row) { paths[PackagePlan.Identity(row)] = row.path }
        }
        return plan.with(paths)
    }

    /// Returns the paths, relative to the package, of the files that the local media playlists name, and the catalog does not list.
    func unlistedFiles(_ id: String) throws -> [String] {
        try catalog.read { database in
            let statement = try database.makeStatement(sql: "SELECT 1 FROM resource WHERE assetID = ? AND path = ?")
            var unlisted: [String] = []
            let renditions = RenditionRecord.filter(Column("assetID") == id).order(Column("id"))
            for rendition in try renditions.fetchAll(database) {
                let context = PlaylistContext(stored: ResourceAddress(rendition.address))
                let bytes = try rendition.entirePlaylist(database)
                guard let playlist = try? MediaPlaylist(parsing: bytes, context: context) else { continue }
                let usual = PackagePlan(folder: rendition.folder, role: rendition.role, playlist: playlist)
                let plan = try Self.withStoredPaths(usual, of: rendition.id, database)
                try plan.forEachResource { resource in
                    let arguments: StatementArguments = [id, resource.path]
                    if try Row.fetchOne(statement, arguments: arguments) == nil { unlisted.append(resource.path) }
                }
            }
            return unlisted
        }
    }

    /// Returns a Boolean value that indicates whether the difference between two multivariant playlists is no damage.
    ///
    /// Session keys are a hint for players, and earlier versions did not write them. The bandwidth of a generated playlist
    /// is computed from the number of stored bytes, which changes without damage.
    private static func areEquivalent(_ former: Data?, _ new: [UInt8], ignoringBandwidth: Bool) -> Bool {
        guard let former else { return false }
        func lines(_ bytes: some Sequence<UInt8>) -> [String] {
            String(decoding: Array(bytes), as: UTF8.self)
                .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .filter { !$0.hasPrefix("#EXT-X-SESSION-KEY:") }
                .map { ignoringBandwidth ? String($0.replacing(/BANDWIDTH=[0-9]+/, with: "BANDWIDTH")) : String($0) }
        }
        return lines(former) == lines(new)
    }

    /// Returns the multivariant playlist of the source of an asset; `nil` if the source is a media playlist, or is not loaded.
    private static func multivariantSource(
        of record: AssetRecord,
        _ renditions: [RenditionEntry],
        _ database: Database
    ) throws -> MultivariantPlaylist? {
        // A media playlist, which can be large, is not read.
        guard renditions.isEmpty || renditions.contains(where: { $0.position >= 0 }),
            let bytes = try record.sourceBytes(database)
        else { return nil }
        let context = PlaylistContext(stored: ResourceAddress(record.sourceAddress ?? record.source))
        return try? MultivariantPlaylist(parsing: bytes, context: context)
    }

    /// Returns the paths of the encryption keys of an asset by their URLs at the origin; none if its source does not name them.
    private static func keyPaths(
        of id: String,
        _ source: MultivariantPlaylist?,
        _ database: Database
    ) throws -> [String: String] {
        guard let source, !source.sessionKeys.isEmpty else { return [:] }
        let kinds = [StoredResource.Kind.key, .longKey].map(\.rawValue)
        let rows = try ResourceRecord.filter(Column("assetID") == id).filter(kinds.contains(Column("kind")))
            .order(Column("id")).fetchAll(database)
        return Dictionary(rows.map { ($0.address, $0.path) }) { first, _ in first }
    }

    /// Returns the multivariant playlist of the stored renditions; it is generated if the source is a media playlist.
    private static func multivariantPlaylist(
        _ source: MultivariantPlaylist?,
        _ renditions: [RenditionEntry],
        _ asset: StoredAsset,
        _ keys: [String: String]
    ) throws -> [UInt8] {
        if let source {
            var addresses: [StoredRendition.EntryList: [Int: String]] = [:]
            for rendition in renditions {
                let address = "\(rendition.folder)/\(mediaName)"
                for position in rendition.positions {
                    addresses[rendition.role.list, default: [:]].merge([position: address]) { first, _ in first }
                }
            }
            return try source.relocated(
                variant: { addresses[.variants]?[$0] },
                rendition: { addresses[.renditions]?[$0] },
                iFrameVariant: { addresses[.iFrameVariants]?[$0] },
                sessionKey: { $0.address.flatMap { keys[$0.text] } }
            ).withoutParameters().bytes
        }
        guard let duration = asset.duration else { return Array("#EXTM3U\n".utf8) }
        return generatedPlaylist(of: renditions, size: asset.bytes.bytes, seconds: duration.seconds)
    }

    /// Returns the multivariant playlist of an asset whose source is a media playlist.
    ///
    /// - Parameters:
    ///   - renditions: The renditions of the asset.
    ///   - size: The number of bytes of stored media.
    ///   - seconds: The duration of this media in seconds.
    /// - Returns: The playlist, with the average bit rate of the media: the peak bit rate, of which it is a lower bound, is unknown.
    static func generatedPlaylist(of renditions: [RenditionEntry], size: Int64, seconds: Double) -> [UInt8] {
        let bandwidth = max(1, Int64(saturating: Double(size) * 8 / max(seconds, 0.001)))
        // A source that was recorded as a multivariant playlist before has renditions that are not listed any more.
        let listed = renditions.filter { $0.position < unlistedPosition }
        let lines = listed.map { "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\n\($0.folder)/\(mediaName)\n" }
        return Array(("#EXTM3U\n" + lines.joined()).utf8)
    }

    /// Writes a file unless it already has the given content.
    ///
    /// - Returns: A Boolean value that indicates whether the file was written.
    private func write(_ bytes: [UInt8], to path: String, of id: String) throws -> Bool {
        let url = packageDirectory(id).appendingPathComponent(path)
        if FileInspection.size(url.path) == Int64(bytes.count), FileInspection.isEqual(url.path, to: bytes) {
            // The file may not be durable yet: an earlier attempt may have ended before the directory was synchronized.
            try synchronizeFolder(url)
            return false
        }
        let file = PackageFile(url.path, files: files)
        do {
            try bytes.withUnsafeBytes { try file.write($0) }
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
        try synchronizeFolder(url)
        return true
    }

    private func synchronizeFolder(_ file: URL) throws {
        let folder = file.deletingLastPathComponent().path
        do {
            try files.synchronizeFolder(folder)
        } catch {
            throw StorageError(error, writing: folder)
        }
    }
}

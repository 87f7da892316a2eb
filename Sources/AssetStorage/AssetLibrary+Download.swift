import Foundation
import GRDB
public import HLSPlaylist
public import MediaTiming
import MediaTransport
import PlaylistEditing
public import ResourceAddressing

/// What a download is going to keep: one media playlist.
public struct PlannedRendition: Sendable {
    /// What it is in the presentation.
    public let role: StoredRendition.Role
    /// Its position among the variants, or among the renditions, of the source; -1 where the source is its playlist.
    public let position: Int
    /// Its language.
    public let language: String?
    /// The variant it is, for a variant.
    public let variant: Variant?
    /// Its playlist.
    public let playlist: MediaPlaylist
    /// Where the playlist was found.
    public let address: ResourceAddress

    /// Makes one.
    public init(
        role: StoredRendition.Role,
        position: Int,
        language: String?,
        variant: Variant?,
        playlist: MediaPlaylist,
        address: ResourceAddress
    ) {
        self.role = role
        self.position = position
        self.language = language
        self.variant = variant
        self.playlist = playlist
        self.address = address
    }

    /// The playlist with its variables replaced, so that it means the same without the playlist that defined them.
    var standalonePlaylist: MediaPlaylist {
        get throws { try playlist.variables.isEmpty ? playlist : playlist.withAbsoluteAddresses() }
    }
}

extension AssetLibrary {
    /// Enters an asset, or finds the one that came from the same address.
    ///
    /// - Parameters:
    ///   - source: Where it comes from.
    ///   - title: What people will call it.
    ///   - selection: What was asked for, as the caller spells it; kept for a resumption.
    /// - Returns: Its identifier.
    /// - Throws: ``StorageError``.
    public func enter(source: ResourceAddress, title: String, selection: String) throws -> String {
        let id = try database.write { database in
            if var record = try AssetRecord.filter(Column("source") == source.text).fetchOne(database) {
                guard record.state != .deleting else {
                    throw StorageError(.busy, "the asset is being deleted; try again in a moment")
                }
                record.selection = selection
                try record.update(database)
                return record.id
            }
            let record = AssetRecord(
                id: Self.newIdentifier(),
                title: title,
                source: source.text,
                createdAt: Date().timeIntervalSince1970,
                state: .partial,
                selection: selection
            )
            try record.insert(database)
            return record.id
        }
        do {
            try PrivateFiles.createFolder(packageDirectory(id).path)
        } catch {
            throw StorageError(.disk, "the package \(packageDirectory(id).path) cannot be made (\(Self.reason(error)))")
        }
        return id
    }

    /// Notes what a download will keep: the playlists and every file that they need.
    ///
    /// What is known already stays as it is, so that nothing is fetched twice; a rendition whose playlist changed at the
    /// origin is planned anew.
    public func plan(
        _ id: String,
        source: Playlist,
        at address: ResourceAddress,
        renditions: [PlannedRendition]
    ) throws {
        try database.write { database in
            var record = try Self.record(id, database)
            try Self.remapRenditions(of: record, to: source, database)
            record.sourcePlaylist = Data(source.bytes)
            record.sourceAddress = address.text
            record.state = .partial
            try record.update(database)
            for rendition in renditions { try plan(rendition, of: id, database) }
        }
        try writePlaylists(id)
    }

    private func plan(_ rendition: PlannedRendition, of id: String, _ database: Database) throws {
        var kept: [String: Int64] = [:]
        let playlist = try rendition.standalonePlaylist
        let all = try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
        let existing = all.first {
            $0.position == rendition.position && ($0.role == .variant) == (rendition.role == .variant)
        }
        let folder = existing?.folder ?? unusedFolder(for: rendition, besides: all.map(\.folder))
        var isKept = false
        if let existing {
            // Signed addresses change from load to load; the same segments in the same order are the same media.
            if let old = try? MediaPlaylist(parsing: Array(existing.playlist)), haveSameMedia(old, playlist) {
                isKept = true
                let stored = try ResourceRecord.filter(Column("renditionID") == existing.id).fetchAll(database)
                kept = Dictionary(uniqueKeysWithValues: stored.compactMap { row in row.bytes.map { (row.path, $0) } })
            }
            _ = try RenditionRecord.deleteOne(database, key: existing.id)
        }
        // A file in its place is taken for what belongs there: nothing of other media may lie there.
        if !isKept { try? FileManager.default.removeItem(at: packageDirectory(id).appendingPathComponent(folder)) }
        var record = RenditionRecord(
            assetID: id,
            folder: folder,
            role: rendition.role,
            position: rendition.position,
            language: rendition.language,
            bandwidth: rendition.variant?.bandwidth?.bitsPerSecond,
            width: rendition.variant?.resolution?.width,
            height: rendition.variant?.resolution?.height,
            codecs: rendition.variant?.codecs.joined(separator: ",") ?? "",
            playlist: Data(playlist.bytes),
            address: rendition.address.text
        )
        try record.insert(database)
        guard let renditionID = record.id else { return }
        for resource in PackagePlan(folder: folder, role: rendition.role, playlist: playlist).resources {
            var row = ResourceRecord(
                assetID: id,
                renditionID: renditionID,
                position: resource.position,
                kind: resource.kind,
                address: resource.address.text,
                rangeStart: resource.byteRange?.start,
                rangeLength: resource.byteRange?.length,
                path: resource.path,
                start: resource.timeRange.start.description,
                duration: resource.timeRange.duration.description,
                bytes: kept[resource.path]
            )
            try row.insert(database)
        }
    }

    /// Whether two playlists name the same media, whatever signatures their addresses carry.
    private func haveSameMedia(_ old: MediaPlaylist, _ new: MediaPlaylist) -> Bool {
        guard old.segments.count == new.segments.count else { return false }
        // Where paths alone do not tell segments apart, the query does.
        let paths = Set(new.segments.lazy.map { "\($0.address.path) \($0.byteRange?.description ?? "")" })
        let isFile = new.segments.allSatisfy { $0.address.lastPathComponent.contains(".") }
        let pathsSuffice = paths.count == new.segments.count && (paths.count > 1 || isFile)
        return zip(old.segments, new.segments).allSatisfy { first, second in
            first.duration == second.duration && first.byteRange == second.byteRange
                && ResourceAddress(first.uri).path == ResourceAddress(second.uri).path
                && (pathsSuffice || ResourceAddress(first.uri).query == ResourceAddress(second.uri).query)
        }
    }

    /// A folder that nothing in the package has: where variants moved, the first name may be taken.
    private func unusedFolder(for rendition: PlannedRendition, besides used: [String]) -> String {
        guard rendition.position >= 0 else { return "media" }
        var number = rendition.position
        while used.contains("\(rendition.role.rawValue)-\(number)") { number += 1 }
        return "\(rendition.role.rawValue)-\(number)"
    }

    /// Finds what is kept again in a source that changed: what moved gets its new position, what is gone goes.
    private static func remapRenditions(of record: AssetRecord, to source: Playlist, _ database: Database) throws {
        guard let bytes = record.sourcePlaylist.map(Array.init), bytes != source.bytes,
            let old = try? Playlist.parse(bytes)
        else { return }
        for var rendition in try RenditionRecord.filter(Column("assetID") == record.id).fetchAll(database) {
            let isVariant = rendition.role == .variant
            let names = (identities(in: old, variants: isVariant), identities(in: source, variants: isVariant))
            let isKnown = names.0.indices.contains(rendition.position)
            if rendition.position < 0, source.kind == .media { continue }
            if isKnown, let position = names.1.firstIndex(of: names.0[rendition.position]) {
                rendition.position = position
                try rendition.update(database)
            } else {
                try rendition.delete(database)
            }
        }
    }

    /// What tells the entries of a multivariant playlist apart, besides their places and signatures.
    private static func identities(in playlist: Playlist, variants: Bool) -> [String] {
        guard case .multivariant(let playlist) = playlist else { return [] }
        guard variants else {
            return playlist.renditions.map { rendition in
                [
                    rendition.attributes["TYPE"] ?? "", rendition.groupID, rendition.name, rendition.language ?? "",
                    rendition.uri.map { ResourceAddress($0).path } ?? "",
                ].joined(separator: "\u{1F}")
            }
        }
        return playlist.variants.map { variant in
            let rate = variant.bandwidth?.bitsPerSecond.description ?? ""
            return [ResourceAddress(variant.uri).path, rate, variant.resolution?.description ?? ""]
                .joined(separator: "\u{1F}")
        }
    }

    /// The files that are missing, those that are needed first in front: keys and maps, then segments by their time.
    ///
    /// A file that the catalogue has and the disk has not, or in another size, counts as missing; one that lies in its
    /// place without a note is noted: the process ended between the two.
    public func missingResources(_ id: String) throws -> [StoredResource] {
        try reconcile(id).resources.filter { $0.bytes == nil }.sorted { first, second in
            (first.timeRange.start, first.id) < (second.timeRange.start, second.id)
        }
    }

    /// All files of an asset.
    public func resources(_ id: String) throws -> [StoredResource] {
        try database.read { database in
            _ = try Self.record(id, database)
            let folders = Dictionary(
                uniqueKeysWithValues: try RenditionRecord.filter(Column("assetID") == id).fetchAll(database)
                    .compactMap { record in record.id.map { ($0, record.folder) } }
            )
            return try ResourceRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
                .compactMap { record in
                    record.id.map { StoredResource(record, id: $0, folder: folders[record.renditionID] ?? "") }
                }
        }
    }

    /// Notes that files lie in their places.
    ///
    /// One note costs about as much as a hundred, so whoever stores many small files gathers them.
    public func markStored(_ files: [(resource: StoredResource, bytes: ByteCount)]) throws {
        guard !files.isEmpty else { return }
        try database.write { database in
            for (resource, bytes) in files {
                try database.execute(
                    sql: "UPDATE resource SET bytes = ? WHERE id = ?",
                    arguments: [bytes.bytes, resource.id]
                )
            }
        }
    }

    /// Notes that everything is there and writes the playlists as they stay.
    ///
    /// - Throws: ``StorageError/Code/incomplete`` where something is missing.
    public func finish(_ id: String) throws {
        let missing = try missingResources(id)
        guard missing.isEmpty else {
            throw StorageError(.incomplete, "\(missing.count) files of the asset are missing")
        }
        try writePlaylists(id)
        try database.write { database in
            var record = try Self.record(id, database)
            record.state = .complete
            try record.update(database)
        }
    }

    /// Finds files that are gone or not what they were; they count as missing from then on.
    ///
    /// - Returns: Their paths inside the package.
    @discardableResult
    public func forgetLostFiles(_ id: String) throws -> [String] { try reconcile(id).lost }

    /// Makes the catalogue say what the disk holds.
    private func reconcile(_ id: String) throws -> (resources: [StoredResource], lost: [String]) {
        let package = packageDirectory(id).path
        var resources = try resources(id)
        var changed: [StoredResource] = []
        var lost: [String] = []
        for index in resources.indices {
            let resource = resources[index]
            let path = "\(package)/\(resource.path)"
            let size = PackageFile.size(path)
            if let bytes = resource.bytes {
                guard size != bytes.bytes else { continue }
                // What is no longer what it was must not be taken for a file that nobody noted.
                PackageFile.remove(path)
                resources[index].bytes = nil
                lost.append(resource.path)
            } else {
                // Files appear in their places whole.
                guard let size, size > 0, resource.byteRange.map({ $0.length == size }) ?? true else { continue }
                resources[index].bytes = ByteCount(size)
            }
            changed.append(resources[index])
        }
        guard !changed.isEmpty else { return (resources, []) }
        try database.write { database in
            for resource in changed {
                try ResourceRecord.filter(key: resource.id)
                    .updateAll(database, Column("bytes").set(to: resource.bytes?.bytes))
            }
            if !lost.isEmpty {
                try AssetRecord.filter(key: id)
                    .updateAll(database, Column("state").set(to: AssetRecord.State.partial.rawValue))
            }
        }
        return (resources, lost)
    }

    /// Writes the playlists of a package from what the catalogue holds.
    private func writePlaylists(_ id: String) throws {
        let (record, renditions, asset) = try database.read { database in
            let record = try Self.record(id, database)
            return (
                record, try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database),
                try Self.asset(record, database)
            )
        }
        for rendition in renditions {
            guard
                let playlist = try? MediaPlaylist(
                    parsing: Array(rendition.playlist),
                    context: PlaylistContext(address: ResourceAddress(rendition.address))
                )
            else { continue }
            let plan = PackagePlan(folder: rendition.folder, role: rendition.role, playlist: playlist)
            try write(plan.localPlaylist.bytes, to: "\(rendition.folder)/media.m3u8", of: id)
        }
        try write(
            try Self.multivariantPlaylist(record, renditions, asset),
            to: "multivariant.m3u8",
            of: id
        )
    }

    /// The multivariant playlist of what is kept; one is made where the source was a media playlist.
    private static func multivariantPlaylist(
        _ record: AssetRecord,
        _ renditions: [RenditionRecord],
        _ asset: StoredAsset
    ) throws -> [UInt8] {
        if let bytes = record.sourcePlaylist, let source = try? MultivariantPlaylist(parsing: Array(bytes)) {
            func address(_ position: Int, _ isVariant: Bool) -> String? {
                renditions.first { $0.position == position && ($0.role == .variant) == isVariant }
                    .map { "\($0.folder)/media.m3u8" }
            }
            return try source.relocated(variant: { address($0, true) }, rendition: { address($0, false) }).bytes
        }
        // Its peak is not known; the average is the least that is true.
        let seconds = max(asset.duration?.seconds ?? 1, 0.001)
        let bandwidth = max(1, Int64(saturating: Double(asset.bytes.bytes) * 8 / seconds))
        let lines = renditions.map { "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\n\($0.folder)/media.m3u8\n" }
        return Array(("#EXTM3U\n" + lines.joined()).utf8)
    }

    private func write(_ bytes: [UInt8], to path: String, of id: String) throws {
        let url = packageDirectory(id).appendingPathComponent(path)
        do {
            try PrivateFiles.createFolder(url.deletingLastPathComponent().path)
            try PrivateFiles.write(bytes, to: url.path)
        } catch {
            throw StorageError(.disk, "\(url.path) cannot be written (\(Self.reason(error)))")
        }
    }

    /// Twelve random characters that are easy to type.
    private static func newIdentifier() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}

extension StoredResource {
    fileprivate init(_ record: ResourceRecord, id: Int64, folder: String) {
        self.init(
            id: id,
            kind: record.kind,
            address: ResourceAddress(record.address),
            byteRange: record.rangeStart.flatMap { start in
                record.rangeLength.flatMap { ByteRange(start: start, length: $0) }
            },
            path: record.path,
            folder: folder,
            timeRange: record.timeRange ?? MediaTimeRange(start: .zero, duration: .zero),
            bytes: record.bytes.map { ByteCount($0) }
        )
    }
}

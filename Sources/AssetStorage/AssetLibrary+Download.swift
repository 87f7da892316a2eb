import Foundation
import GRDB
package import HLSPlaylist
import MediaTiming
import PlaylistEditing
public import ResourceAddressing

/// The stored files that a plan of a download deletes if the playlists do not have them.
package enum StoredFileReplacement: Sendable {
    /// All stored files that the playlists do not have.
    case all
    /// The files of a former version of the stream; it is an error if the playlists are another part of the
    /// presentation.
    case newVersions
    /// No files, as for a repair; it is an error if the playlists lack a stored file.
    case none
}

extension AssetLibrary {
    /// Returns the directories of planned media playlists, relative to the package.
    package func folders(of renditions: [PlannedRendition], _ id: String) throws -> Set<String> {
        let wanted = Set(renditions.map { RenditionPosition(list: $0.role.list, position: $0.position) })
        return try catalog.read { database in
            let records = try RenditionEntry.fetchAll(of: id, database)
            return Set(
                records.filter { record in
                    record.positions.contains {
                        wanted.contains(RenditionPosition(list: record.role.list, position: $0))
                    }
                }.map(\.folder)
            )
        }
    }

    /// Returns a Boolean value that indicates whether an asset has all media playlists of a plan.
    package func hasRenditions(_ renditions: [PlannedRendition], _ id: String) throws -> Bool {
        let wanted = renditions.map { RenditionPosition(list: $0.role.list, position: $0.position) }
        let entries = try catalog.read { try RenditionEntry.fetchAll(of: id, $0) }
        let planned = entries.flatMap { entry in
            entry.positions.map { RenditionPosition(list: entry.role.list, position: $0) }
        }
        return Set(wanted).isSubset(of: planned)
    }

    /// Creates the catalog entry of an asset, or returns the existing entry with the same source.
    ///
    /// An existing entry keeps its title, and its selection is replaced only on request: a download writes both when it plans
    /// its files (``planDownload(of:source:at:renditions:selection:title:replacing:)``).
    ///
    /// - Parameters:
    ///   - source: The URL of the source playlist, which identifies the asset.
    ///   - title: The title to display.
    ///   - selection: The selection as text. The library does not interpret the text, and returns it in
    ///     ``StoredAsset/selection``.
    ///   - replacesSelection: A Boolean value that indicates whether an existing entry gets the selection.
    /// - Returns: The identifier of the asset.
    /// - Throws: ``StorageError``; ``StorageError/Code/busy`` if the existing asset is being deleted.
    public func addAsset(
        source: ResourceAddress,
        title: String,
        selection: String,
        replacesSelection: Bool = true
    ) throws -> String {
        let id = try write { database in
            if var record = try AssetRecord.filter(Column("source") == source.text).fetchOne(database) {
                guard record.state != .deleting else {
                    throw StorageError(.busy, "the asset is being deleted; try again later")
                }
                if replacesSelection, record.selection != selection {
                    record.selection = selection
                    try record.update(database)
                }
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
        let package = packagePath(id)
        do {
            try files.makeFolder(package)
            try files.synchronizeFolder(directory.appendingPathComponent("packages").path)
        } catch {
            throw StorageError(error, writing: package)
        }
        return id
    }

    /// Sets the title of an asset.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    package func setTitle(_ title: String, of id: String) throws {
        try write { database in
            var record = try Self.record(id, database)
            record.title = title
            try record.update(database)
        }
    }

    /// Sets the selection of an asset, and its title if there is one; the caller must hold the lock of the asset.
    ///
    /// - Parameters:
    ///   - selection: The selection as text.
    ///   - title: The title to display; `nil` to keep the one that the asset has.
    ///   - id: The identifier of the asset.
    /// - Throws: ``StorageError/Code/notFound``.
    package func setSelection(_ selection: String, title: String?, of id: String) throws {
        try write { database in
            var record = try Self.record(id, database)
            record.selection = selection
            if let title { record.title = title }
            try record.update(database)
        }
    }

    /// Adds the playlists of a download, and every file that they need, to the catalog.
    ///
    /// Stored files are not downloaded again. A rendition whose media changed at the origin is planned again from the
    /// start. The caller must hold the lock of the asset.
    ///
    /// - Parameters:
    ///   - id: The identifier of the asset.
    ///   - source: The playlist of the source.
    ///   - address: The URL of the source after all redirects.
    ///   - renditions: The media playlists to download.
    ///   - selection: The selection as text; `nil` to keep that of the asset.
    ///   - title: The title; `nil` to keep that of the asset.
    ///   - replacement: The stored files that are deleted if they are not in the playlists.
    /// - Throws: ``StorageError``; ``StorageError/Code/wouldDelete`` if segments would be deleted that `replacement`
    ///   does not permit; ``StorageError/Code/damaged`` if a repair would lose files. After an error, nothing is
    ///   changed.
    package func planDownload(
        of id: String,
        source: Playlist,
        at address: ResourceAddress,
        renditions: [PlannedRendition],
        selection: String? = nil,
        title: String? = nil,
        replacing replacement: StoredFileReplacement = .all
    ) throws {
        try write { database in
            var record = try Self.record(id, database)
            // If the selection is the same, different segments belong to a new version of the stream.
            let isNewVersion = replacement == .newVersions && record.selection == selection
            let deleted = isNewVersion ? .all : replacement
            let isEdited = Self.isEdited(record.selection) || selection.map(Self.isEdited) ?? false
            let deletesRenditions = deleted == .newVersions && !isEdited
            try Self.remapRenditions(of: record, to: source, deleting: deletesRenditions ? .all : deleted, database)
            record.selection = selection ?? record.selection
            record.title = title ?? record.title
            try record.storeSourcePlaylist(source.bytes, database)
            record.sourceAddress = address.text
            let known = try RenditionEntry.fetchAll(of: id, database)
            var positions = Dictionary(known.map { (RenditionPosition($0), $0) }) { first, _ in first }
            var folders = Set(known.map(\.folder))
            for rendition in renditions {
                let position = RenditionPosition(list: rendition.role.list, position: rendition.position)
                let existing = positions.removeValue(forKey: position)
                let isMediaFile = rendition.mediaFileExtension != nil
                let former = existing?.folder
                let folder =
                    former.flatMap { ($0 == StoredAsset.mediaFileFolder) == isMediaFile ? $0 : nil }
                    ?? Self.unusedFolder(for: rendition, besides: folders)
                folders.insert(folder)
                try Self.plan(
                    rendition,
                    in: folder,
                    of: id,
                    replacing: existing.flatMap { try RenditionRecord.fetchOne(database, key: $0.id) },
                    deleting: deleted,
                    database
                )
            }
            let missing = ResourceRecord.filter(Column("assetID") == id).filter(Column("bytes") == nil)
            record.state = try missing.isEmpty(database) && record.state == .complete ? .complete : .partial
            try record.update(database)
        }
        try makeFolders(id)
        try removeUnreferencedFiles(id)
        try writePlaylists(id)
    }

    /// The position of a rendition in the multivariant playlist of the source.
    private struct RenditionPosition: Hashable {
        let list: StoredRendition.EntryList
        let position: Int

        init(list: StoredRendition.EntryList, position: Int) {
            self.list = list
            self.position = position
        }

        init(_ entry: RenditionEntry) { self.init(list: entry.role.list, position: entry.position) }
    }

    /// The properties of a file that it keeps when its rendition is planned again.
    private struct FormerFile {
        let path: String
        let bytes: Int64?
        let checksum: Int64?

        init(_ record: ResourceRecord) {
            path = record.path
            bytes = record.bytes
            checksum = record.checksum
        }
    }

    private static func plan(
        _ rendition: PlannedRendition,
        in folder: String,
        of id: String,
        replacing existing: RenditionRecord?,
        deleting replacement: StoredFileReplacement,
        _ database: Database
    ) throws {
        let playlist = try rendition.standalonePlaylist
        var stored: [PackagePlan.Identity: FormerFile] = [:]
        var former: [Int: Int] = [:]
        var formerShared: [PackagePlan.Identity: PackagePlan.Identity] = [:]
        if let existing {
            // The signatures in URLs change with each load, and the stored playlist may be only a part of the playlist.
            let context = PlaylistContext(stored: ResourceAddress(existing.address))
            if let old = try? MediaPlaylist(parsing: existing.entirePlaylist(database), context: context) {
                former = SegmentMatching.formerPositions(of: playlist, in: old)
                if replacement == .none {
                    // For a download, a key with another query is another key.
                    formerShared = PackagePlan.formerSharedFiles(of: playlist, in: old, former)
                }
            }
            if !former.isEmpty || replacement == .none {
                // Lost files keep their paths as well, because a repair identifies them by their paths.
                let rows = try storedFiles(of: existing, database).fetchCursor(database)
                while let row = try rows.next() { stored[PackagePlan.Identity(row)] = FormerFile(row) }
            }
            if replacement == .newVersions, rendition.role != .iFrames, rendition.isPart || existing.isPart == true {
                let lost = try lostSegments(of: existing, replacedBy: playlist, former, database)
                guard lost == 0 else { throw wouldDelete(lost, of: id) }
            }
            _ = try RenditionRecord.deleteOne(database, key: existing.id)
        }
        // The properties of the media itself are those of the former playlist, if it had the same segments.
        let isDescribed =
            rendition.position < 0 && rendition.mediaFileExtension == nil && !former.isEmpty
            && existing?.folder != StoredAsset.mediaFileFolder
        let described = isDescribed ? existing : nil
        var record = RenditionRecord(
            assetID: id,
            folder: folder,
            role: rendition.role,
            position: rendition.position,
            language: rendition.language,
            bandwidth: rendition.variant?.bandwidth?.bitsPerSecond,
            width: rendition.variant?.resolution?.width ?? described?.width,
            height: rendition.variant?.resolution?.height ?? described?.height,
            codecs: rendition.variant?.codecs.joined(separator: ",") ?? "",
            address: rendition.address.text,
            aliases: rendition.aliases.map(String.init).joined(separator: ","),
            isPart: rendition.isPart,
            audioLanguages: rendition.mediaFileExtension.map { _ in rendition.audioLanguages.joined(separator: ",") }
                ?? described?.audioLanguages,
            subtitleLanguages: rendition.mediaFileExtension.map { _ in
                rendition.subtitleLanguages.joined(separator: ",")
            } ?? described?.subtitleLanguages
        )
        try record.insert(with: playlist.bytes, database)
        guard let renditionID = record.id else { return }
        let plan = PackagePlan(
            folder: folder,
            role: rendition.role,
            playlist: playlist,
            firstPosition: rendition.firstPosition,
            segmentExtension: rendition.mediaFileExtension
        )
        // Two files never have the same usual path, so only the paths of stored files can conflict with a new path.
        let names = Set(stored.values.lazy.map(\.path))
        var matched: Set<String> = []
        try plan.forEachResource { resource in
            // A stored file keeps its name, even if an earlier version chose the name by another rule.
            let identity =
                resource.position < 0
                ? stored[resource.identity] == nil ? formerShared[resource.identity] : resource.identity
                : former[resource.position].map { .init(segmentAt: $0, resource.kind) }
            var known = identity.flatMap { stored[$0] }
            if let match = known, !matched.insert(match.path).inserted { known = nil }
            let path = known?.path ?? Self.unusedPath(resource.path, besides: names)
            var row = ResourceRecord(
                assetID: id,
                renditionID: renditionID,
                position: resource.position,
                kind: resource.kind,
                address: resource.address.text,
                rangeStart: resource.byteRange?.start,
                rangeLength: resource.byteRange?.length,
                path: path,
                start: resource.timeRange.start.description,
                duration: resource.timeRange.duration.description,
                bytes: known?.bytes,
                checksum: known?.checksum,
                startTime: StoredResource.order(
                    startingAt: resource.timeRange.start,
                    isDeferred: rendition.role == .iFrames
                )
            )
            try row.insert(database)
        }
        let lost = stored.count - matched.count
        if replacement == .none, lost > 0 { throw cannotRepair(lost, of: id) }
    }

    /// Returns the request for the files of a rendition that are stored, or were stored before they were lost.
    private static func storedFiles(
        of rendition: RenditionRecord,
        _ database: Database
    ) throws -> QueryInterfaceRequest<ResourceRecord> {
        ResourceRecord.filter(Column("renditionID") == rendition.id).filter(sql: "(bytes IS NOT NULL OR isLost)")
    }

    private static func cannotRepair(_ count: Int, of id: String) -> StorageError {
        StorageError(
            .damaged,
            "the asset \(id) cannot be repaired, because the playlists at the origin have changed: they do not have "
                + "\(count == 1 ? "1 file" : "\(count) files") of the asset; what is stored is unchanged"
        )
    }

    /// Returns the number of stored segments that a new playlist of a rendition does not have.
    private static func lostSegments(
        of existing: RenditionRecord,
        replacedBy playlist: MediaPlaylist,
        _ former: [Int: Int],
        _ database: Database
    ) throws -> Int {
        let remaining = Set(former.values)
        let names = Set(playlist.segments.map { SegmentMatching.name(of: $0.address, $0.byteRange) })
        let stored = try ResourceRecord.filter(Column("renditionID") == existing.id)
            .filter(Column("bytes") != nil).filter(Column("position") >= 0).fetchCursor(database)
        var lost = 0
        while let row = try stored.next() {
            let address = ResourceAddress(row.address)
            let range = row.rangeStart.flatMap { start in
                row.rangeLength.flatMap { ByteRange(start: start, length: $0) }
            }
            // A part of a WebVTT file is also in the entire file.
            let isClip = SubtitleClip(of: address) != nil
            if !isClip, !remaining.contains(row.position), !names.contains(SegmentMatching.name(of: address, range)) {
                lost += 1
            }
        }
        return lost
    }

    private static func wouldDelete(_ count: Int, of id: String) -> StorageError {
        StorageError(
            .wouldDelete,
            "the download would delete \(count) stored segments of the asset \(id), which are not in its selection"
        )
    }

    /// Returns a Boolean value that indicates whether a selection has edits, the only part of it that the library reads.
    static func isEdited(_ selection: String) -> Bool { selection.contains("&edit=") }

    /// Returns a path that no other file of a rendition has.
    private static func unusedPath(_ path: String, besides used: Set<String>) -> String {
        guard used.contains(path) else { return path }
        let dot = path.lastIndex(of: ".") ?? path.endIndex
        var number = 2
        while used.contains("\(path[..<dot])-\(number)\(path[dot...])") { number += 1 }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    /// Returns a directory name that is unused in the package; if variants moved, the default name may be taken.
    static func unusedFolder(for rendition: PlannedRendition, besides used: Set<String>) -> String {
        guard rendition.mediaFileExtension == nil else { return StoredAsset.mediaFileFolder }
        guard rendition.position >= 0 || used.contains(StoredAsset.mediaPlaylistFolder) else {
            return StoredAsset.mediaPlaylistFolder
        }
        let name = rendition.position < 0 ? StoredAsset.mediaPlaylistFolder : rendition.role.rawValue
        var number = max(0, rendition.position)
        while used.contains("\(name)-\(number)") { number += 1 }
        return "\(name)-\(number)"
    }

    /// Maps the stored renditions to a changed source: updates the positions of those that moved, and deletes the
    /// others.
    private static func remapRenditions(
        of record: AssetRecord,
        to source: Playlist,
        deleting replacement: StoredFileReplacement,
        _ database: Database
    ) throws {
        let renditions = try RenditionRecord.filter(Column("assetID") == record.id).fetchAll(database)
        // A media playlist, which can be large, has no entries that can have moved.
        if source.kind == .media, renditions.allSatisfy({ $0.position < 0 }) { return }
        guard let bytes = try record.sourceBytes(database), bytes != source.bytes,
            let old = try? Playlist.parse(bytes)
        else { return }
        /// Maps positions in the old source to positions in the new source.
        func moves(_ list: StoredRendition.EntryList) -> [Int: Int] {
            let new = Dictionary(
                identities(in: source, list).enumerated().map { ($1, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            let old = identities(in: old, list).enumerated()
            return Dictionary(
                uniqueKeysWithValues: old.compactMap { position, name in new[name].map { (position, $0) } }
            )
        }
        let moves = Dictionary(uniqueKeysWithValues: StoredRendition.EntryList.allCases.map { ($0, moves($0)) })
        for var rendition in renditions {
            let positions = rendition.positions.compactMap { moves[rendition.role.list]?[$0] }
            if let position = positions.first {
                rendition.position = position
                rendition.aliases = positions.dropFirst().map(String.init).joined(separator: ",")
                try rendition.update(database)
            } else {
                try checkDeletion(of: rendition, replacement, database)
                try rendition.delete(database)
            }
        }
    }

    /// Verifies that a rendition that a changed source does not have may be deleted.
    private static func checkDeletion(
        of rendition: RenditionRecord,
        _ replacement: StoredFileReplacement,
        _ database: Database
    ) throws {
        switch replacement {
        case .all: break
        case .newVersions:
            let stored = try ResourceRecord.filter(Column("renditionID") == rendition.id)
                .filter(Column("bytes") != nil).filter(Column("position") >= 0).fetchCount(database)
            guard stored == 0 || rendition.role == .iFrames else { throw wouldDelete(stored, of: rendition.assetID) }
        case .none:
            let lost = try storedFiles(of: rendition, database).fetchCount(database)
            guard lost == 0 else { throw cannotRepair(lost, of: rendition.assetID) }
        }
    }

    /// Returns keys that identify the entries of a multivariant playlist regardless of their order and URL signatures.
    static func identities(in playlist: Playlist, _ list: StoredRendition.EntryList) -> [String] {
        guard case .multivariant(let playlist) = playlist else { return [] }
        guard list != .renditions else {
            return playlist.renditions.map { rendition in
                [
                    rendition.attributes["TYPE"] ?? "", rendition.groupID, rendition.name, rendition.language ?? "",
                    rendition.uri.map { ResourceAddress($0).path } ?? "",
                ].joined(separator: "\u{1F}")
            }
        }
        return (list == .variants ? playlist.variants : playlist.iFrameVariants).map { variant in
            let rate = variant.bandwidth?.bitsPerSecond.description ?? ""
            return [ResourceAddress(variant.uri).path, rate, variant.resolution?.description ?? ""]
                .joined(separator: "\u{1F}")
        }
    }

    /// Returns a random identifier of twelve characters, without characters that are easily confused.
    static func newIdentifier() -> String {
        let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}

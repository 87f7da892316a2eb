import GRDB
import HLSPlaylist
import ResourceAddressing

/// The availability of the audio groups of a multivariant playlist without the origin.
struct StoredAudioGroups {
    /// Boolean values that indicate whether audio of a group can be played; a group of which no rendition is selected is left out.
    private var availability: [String: Bool] = [:]

    /// Creates the groups of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - isComplete: A closure that returns whether the rendition at a position is stored completely; `nil` for a rendition that is
    ///     not selected.
    init(_ playlist: MultivariantPlaylist, isComplete: (_ position: Int) -> Bool?) {
        for (position, rendition) in playlist.renditions.enumerated() where rendition.type == .audio {
            // Audio without a URI is in the segments of the variant.
            let isStored = rendition.uri == nil ? true : isComplete(position)
            guard let isStored else { continue }
            availability[rendition.groupID] = isStored || availability[rendition.groupID] == true
        }
    }

    /// Returns a Boolean value that indicates whether a variant has stored audio, or needs no audio rendition.
    ///
    /// - Parameter variant: The variant.
    /// - Returns: The value.
    func isAvailable(for variant: Variant) -> Bool {
        variant.groupID(.audio).flatMap { availability[$0] } ?? true
    }
}

extension AssetLibrary {
    /// Returns the directories of the media playlists of an asset that can be played without the origin.
    ///
    /// They are those of the complete variants whose audio group has a complete rendition, if any of its renditions are
    /// selected, and of all other complete renditions.
    ///
    /// - Parameter id: The identifier of the asset.
    /// - Returns: The directories; empty if no variant can be played.
    /// - Throws: ``StorageError``.
    package func playableFolders(of id: String) throws -> Set<String> {
        try catalog.read { database in
            let record = try Self.record(id, database)
            return try Self.playableFolders(of: id, Self.asset(record, database).renditions, database)
        }
    }

    /// Returns the directories of those of the given media playlists that can be played without the origin; see
    /// ``playableFolders(of:)``.
    static func playableFolders(
        of id: String,
        _ renditions: [StoredRendition],
        _ database: Database
    ) throws -> Set<String> {
        let complete = renditions.filter(\.isComplete)
        let variants = Set(complete.filter { $0.role == .variant }.map(\.folder))
        let playable = try variants.isEmpty ? [] : variantsWithAudio(variants, of: id, renditions, database)
        guard !playable.isEmpty else { return [] }
        return playable.union(complete.filter { $0.role != .variant }.map(\.folder))
    }

    /// Returns the directories of those variants that have stored audio, or need no audio rendition.
    private static func variantsWithAudio(
        _ variants: Set<String>,
        of id: String,
        _ renditions: [StoredRendition],
        _ database: Database
    ) throws -> Set<String> {
        let audio = renditions.filter { $0.role == .audio }
        // The source, which can be large, is read only if it makes a difference.
        if audio.allSatisfy(\.isComplete) { return variants }
        let stored = Set(audio.filter(\.isComplete).map(\.folder))
        guard let source = try source(of: id, database) else { return stored.isEmpty ? [] : variants }
        let entries = try RenditionEntry.fetchAll(of: id, database)
        var isComplete: [Int: Bool] = [:]
        for entry in entries where entry.role == .audio {
            for position in entry.positions { isComplete[position] = stored.contains(entry.folder) }
        }
        let groups = StoredAudioGroups(source) { isComplete[$0] }
        let playable = entries.filter { entry in
            entry.role == .variant && variants.contains(entry.folder)
                && entry.positions.contains { position in
                    !source.variants.indices.contains(position) || groups.isAvailable(for: source.variants[position])
                }
        }
        return Set(playable.map(\.folder))
    }

    /// Returns the multivariant playlist at the origin of an asset; `nil` if its source is a media playlist, or is not loaded.
    private static func source(of id: String, _ database: Database) throws -> MultivariantPlaylist? {
        guard let record = try AssetRecord.fetchOne(database, key: id),
            let bytes = try record.sourceBytes(database)
        else { return nil }
        let context = PlaylistContext(stored: ResourceAddress(record.sourceAddress ?? record.source))
        return try? MultivariantPlaylist(parsing: bytes, context: context)
    }
}

import GRDB
import HLSPlaylist
public import MediaTiming
import PlaylistEditing

/// The parts of a presentation that a package does not contain, although the playlists of the source refer to them.
public struct OmittedContent: Sendable, Hashable {
    /// The number of interstitials in the playlist of a stored variant (RFC 8216bis §D).
    public var interstitials = 0
    /// The number of resources with session data (`EXT-X-SESSION-DATA` with a URI).
    public var sessionData = 0
    /// The number of playlists with still images (`EXT-X-IMAGE-STREAM-INF`).
    public var imagePlaylists = 0
    /// The number of I-frame playlists that could not be stored.
    ///
    /// If several variants are stored, and the source has no others, each I-frame playlist of the source counts. Otherwise at most one
    /// counts, because a download stores the one that matches its variants. A recording stores none, so none counts.
    public var iFramePlaylists = 0
    /// The media time for which the first stored variant has no media: gaps of the source (`EXT-X-GAP`), and segments that
    /// a recording lost.
    ///
    /// Gaps count as loaded in ``StoredAsset/loadedTimeRanges``, because there is nothing to load.
    public var gapDuration = MediaTime.zero

    /// A Boolean value that indicates whether everything is stored.
    public var isEmpty: Bool { self == OmittedContent() }
}

extension AssetLibrary {
    /// Returns the parts of the presentation of an asset that its package does not contain.
    ///
    /// - Complexity: O(*n*) in the bytes of the playlists.
    /// - Throws: ``StorageError`` if the library does not have the asset.
    public func omittedContent(of id: String) throws -> OmittedContent {
        // In an interrupted recording, segments that are not stored count as gaps, as in an export.
        let isInterrupted = try self.isRecording(id) && !PackageLock.isHeld(packageDirectory(id))
        let (source, media, renditions, isRecording) = try catalog.read { database in
            let record = try Self.record(id, database)
            let renditions = try RenditionRecord.filter(Column("assetID") == id).order(Column("id")).fetchAll(database)
            let variant = renditions.first { $0.role == .variant }
            let media =
                try isInterrupted
                ? variant?.closedPlaylist(isContinued: false, database) : variant?.entirePlaylist(database)
            let isRecording = try renditions.contains { try $0.isRecording(database) }
            return (try record.sourceBytes(database), media, renditions, isRecording)
        }
        var omitted = OmittedContent()
        if let media, let playlist = try? MediaPlaylist(parsing: media) {
            omitted.interstitials = playlist.dateRanges.count { $0["X-ASSET-URI"] != nil || $0["X-ASSET-LIST"] != nil }
            omitted.gapDuration = playlist.segments.lazy.filter(\.isGap).reduce(.zero) { $0 + $1.duration }
        }
        if let source, let playlist = try? MultivariantPlaylist(parsing: source) {
            omitted.sessionData = playlist.sessionData.count { $0.uri != nil }
            omitted.imagePlaylists = Playlist.multivariant(playlist).tagEntries.count {
                MultivariantPlaylist.imageTags.contains($0.name)
            }
            if !isRecording { omitted.iFramePlaylists = Self.omittedIFrames(of: playlist, renditions) }
        }
        return omitted
    }

    /// Returns the number of I-frame playlists that a download of the stored variants has omitted.
    private static func omittedIFrames(of source: MultivariantPlaylist, _ renditions: [RenditionRecord]) -> Int {
        func positions(_ role: StoredRendition.Role) -> Set<Int> {
            Set(renditions.filter { $0.role == role }.flatMap(\.positions))
        }
        let variants = positions(.variant).filter { $0 >= 0 }
        let missing = source.iFrameVariants.count -| positions(.iFrames).count
        guard !variants.isEmpty, missing > 0 else { return 0 }
        if variants.count == source.variants.count, variants.count > 1 { return missing }
        return positions(.iFrames).isEmpty ? 1 : 0
    }
}

public import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// What can be played, and in which qualities and languages: a multivariant playlist without its tags.
///
/// It is derived from playlists, never edited and never stored. When the multivariant playlist is loaded again, make it
/// anew: variants and options are known again by their identities.
public struct Presentation: Sendable {
    /// The variants that can be played, each quality once, in the order of the playlist.
    public let variants: [Variant]
    /// The I-frame variants that can be played, for fast motion and preview pictures (RFC 8216bis §4.4.6.3).
    public let iFrameVariants: [Variant]
    /// The variants that cannot be played, and why.
    public let unplayable: [UnplayableVariant]
    /// What a viewer can choose from, one group for each type that there is.
    public let groups: [MediaSelectionGroup]
    /// Keys that may be loaded early (§4.4.6.5).
    public let sessionKeys: [EncryptionKey]
    /// Where to begin, if the multivariant playlist says so (§4.4.2.2).
    public let start: PlaylistStart?
    /// Where the steering manifest is and on which pathway to begin (§4.4.6.6).
    public let contentSteering: ContentSteering?
    /// Whether all segments of all variants can be decoded by themselves (§4.4.2.1).
    public let hasIndependentSegments: Bool
    /// The variables that media playlists may import (§4.4.2.3).
    public let variables: [String: String]

    /// A variant that is set apart.
    public struct UnplayableVariant: Sendable, Hashable {
        /// The variant.
        public let variant: Variant
        /// Everything that keeps it from being played; never empty.
        public let obstacles: [PlaybackObstacle]
    }

    /// Reads a multivariant playlist.
    ///
    /// Variants that differ only in where they are, old-style backups and those of other pathways, become one with several
    /// ``Variant/locations`` (§7.1).
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - capabilities: What can be played. Defaults to whatever the decoder will bear.
    public init(_ playlist: MultivariantPlaylist, capabilities: PlaybackCapabilities = PlaybackCapabilities()) {
        let sessionKeys = playlist.sessionKeys
        let groups = MediaSelectionGroup.groups(of: playlist.renditions)
        let contents = GroupContents(groups)
        var reader = VariantReader(capabilities: capabilities, sessionKeys: sessionKeys, contents: contents)
        for variant in playlist.variants { reader.read(variant) }
        var iFrameReader = VariantReader(capabilities: capabilities, sessionKeys: sessionKeys, contents: contents)
        for variant in playlist.iFrameVariants { iFrameReader.read(variant) }
        variants = reader.playable
        iFrameVariants = iFrameReader.playable
        unplayable = reader.unplayable + iFrameReader.unplayable
        self.groups = groups
        self.sessionKeys = sessionKeys
        start = playlist.start
        contentSteering = playlist.contentSteering
        hasIndependentSegments = playlist.hasIndependentSegments
        variables = playlist.variables
    }

    /// Makes the presentation of a media playlist that stands alone: it has one variant, of which nothing is known.
    public init(_ playlist: MediaPlaylist) {
        let variant = Variant(alone: playlist.context.address ?? ResourceAddress(""))
        variants = playlist.isIFramesOnly ? [] : [variant]
        iFrameVariants = playlist.isIFramesOnly ? [variant] : []
        unplayable = []
        groups = []
        sessionKeys = []
        start = nil
        contentSteering = nil
        hasIndependentSegments = playlist.hasIndependentSegments
        variables = [:]
    }

    /// Reads a playlist of either kind.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - capabilities: What can be played. Defaults to whatever the decoder will bear.
    public init(_ playlist: Playlist, capabilities: PlaybackCapabilities = PlaybackCapabilities()) {
        switch playlist {
        case .multivariant(let playlist): self.init(playlist, capabilities: capabilities)
        case .media(let playlist): self.init(playlist)
        }
    }

    /// The choices of one type; `nil` where there are none.
    public func group(_ type: Rendition.MediaType) -> MediaSelectionGroup? { groups.first { $0.type == type } }

    /// The variant with an identity; `nil` where there is none that can be played.
    public func variant(_ id: Variant.ID) -> Variant? {
        variants.first { $0.id == id } ?? iFrameVariants.first { $0.id == id }
    }

    /// The variants that can play a selection: those whose groups have the options that are selected.
    ///
    /// Variants of the same pictures may differ in their sound: one has it in English, the other in German. A variant
    /// without a group carries sound of its own; it goes with the option that the playlist calls the default.
    ///
    /// - Parameter selection: The options; those of text do not count, which can always be off.
    /// - Returns: All variants where none can play the whole selection.
    public func variants(for selection: MediaSelection) -> [Variant] {
        // Both the variants and the groups of an option may be many.
        let selected = [Rendition.MediaType.video, .audio].compactMap { type in
            selection[type].map { (type: type, groups: Set($0.encodings.map(\.groupID)), isDefault: $0.isDefault) }
        }
        let fitting = variants.filter { variant in
            selected.allSatisfy { option in
                variant.locations.contains { location in
                    location.groupIDs[option.type].map { option.groups.contains($0) } ?? option.isDefault
                }
            }
        }
        return fitting.isEmpty ? variants : fitting
    }

    /// Whether all variants are scored, so that scores can be compared (§4.4.6.2, SCORE).
    public var isScored: Bool { !variants.isEmpty && variants.allSatisfy { $0.score != nil } }

    /// The pathways that variants can be had from, in the order in which the playlist names them (§7.1).
    public var pathways: [String] {
        var seen: Set<String> = []
        return variants.flatMap(\.locations).map(\.pathwayID).filter { seen.insert($0).inserted }
    }
}

package import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The variants and media options of a stream, as derived from its multivariant playlist.
///
/// A presentation is never edited or stored. When the multivariant playlist is reloaded, a new presentation is created;
/// variants and options are recognized by their identities.
package struct Presentation: Sendable {
    /// The playable variants in the order of the playlist, without duplicates.
    package let variants: [Variant]
    /// The playable I-frame variants, for trick play and preview images (RFC 8216bis §4.4.6.3).
    package let iFrameVariants: [Variant]
    /// The variants that cannot be played, with the reasons.
    package let unplayable: [UnplayableVariant]
    /// The media selection groups, one for each type that occurs.
    package let groups: [MediaSelectionGroup]
    /// The keys that may be loaded in advance (§4.4.6.5).
    package let sessionKeys: [EncryptionKey]
    /// The start position of the multivariant playlist, if it contains one (§4.4.2.2).
    package let start: PlaylistStart?
    /// The URL of the steering manifest and the initial pathway (§4.4.6.6).
    package let contentSteering: ContentSteering?
    /// The pathway that is used until a steering manifest is loaded (§4.4.6.6, PATHWAY-ID).
    ///
    /// `nil` if the playlist does not declare one, or if it has no playable variant on the declared pathway; any pathway
    /// is used then.
    package let initialPathwayID: String?
    /// A Boolean value that indicates whether every segment of all variants can be decoded independently (§4.4.2.1).
    package let hasIndependentSegments: Bool
    /// The variables that media playlists may import (§4.4.2.3).
    package let variables: [String: String]
    /// The title of the content (§4.4.6.4, `com.apple.hls.title`); `nil` if the playlist has none.
    ///
    /// It has at most 1,024 Unicode scalars, and no control characters.
    package let title: String?

    /// A variant that cannot be played.
    package struct UnplayableVariant: Sendable, Hashable {
        /// The variant.
        package let variant: Variant
        /// The reasons for which it cannot be played; never empty.
        package let obstacles: [PlaybackObstacle]
    }

    /// Creates the presentation of a multivariant playlist.
    ///
    /// Variants that differ only in their URLs, such as redundant variants and those of other pathways, are combined
    /// into one with several ``Variant/locations`` (§7.1).
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - capabilities: The capabilities of the player. By default, nothing is excluded by codec.
    package init(_ playlist: MultivariantPlaylist, capabilities: PlaybackCapabilities = PlaybackCapabilities()) {
        let sessionKeys = playlist.sessionKeys
        let groups = MediaSelectionGroup.groups(of: playlist.renditions)
        let contents = GroupContents(groups)
        var reader = VariantReader(capabilities: capabilities, sessionKeys: sessionKeys, contents: contents)
        for variant in playlist.variants { reader.read(variant) }
        var iFrameReader = VariantReader(capabilities: capabilities, sessionKeys: sessionKeys, contents: contents)
        for variant in playlist.iFrameVariants { iFrameReader.read(variant) }
        let pathwayID = playlist.contentSteering?.pathwayID.flatMap { pathwayID in
            reader.playable.contains { !$0.locations(on: pathwayID).isEmpty } ? pathwayID : nil
        }
        initialPathwayID = pathwayID
        variants = reader.playable.map { $0.preferring(pathwayID) }
        iFrameVariants = iFrameReader.playable.map { $0.preferring(pathwayID) }
        unplayable = reader.unplayable + iFrameReader.unplayable
        self.groups = groups
        self.sessionKeys = sessionKeys
        start = playlist.start
        contentSteering = playlist.contentSteering
        hasIndependentSegments = playlist.hasIndependentSegments
        variables = playlist.variables
        title = Self.title(in: playlist.sessionData)
    }

    /// Returns the title that session data declares; one without a language is preferred to others.
    private static func title(in sessionData: [SessionData]) -> String? {
        let titles = sessionData.filter { $0.dataID == "com.apple.hls.title" && $0.value?.isEmpty == false }
        guard let text = (titles.first { $0.language == nil } ?? titles.first)?.value else { return nil }
        // A single character can have any number of combining marks.
        var title = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(1_024) {
            title.append(scalar.properties.generalCategory == .control ? " " : scalar)
        }
        return String(title)
    }

    /// Creates the presentation of a media playlist without a multivariant playlist: it has one variant without
    /// attributes.
    package init(_ playlist: MediaPlaylist) { self.init(playlist, groups: []) }

    /// Creates the presentation of a media file, whose tracks are the options.
    init(_ file: OpenedFile) {
        self.init(file.playlist, groups: MediaSelectionGroup.groups(of: file.tracks, in: file.container))
    }

    private init(_ playlist: MediaPlaylist, groups: [MediaSelectionGroup]) {
        let variant = Variant(standalone: playlist.context.address ?? ResourceAddress(""))
        variants = playlist.isIFramesOnly ? [] : [variant]
        iFrameVariants = playlist.isIFramesOnly ? [variant] : []
        unplayable = []
        self.groups = groups
        sessionKeys = []
        start = nil
        contentSteering = nil
        initialPathwayID = nil
        hasIndependentSegments = playlist.hasIndependentSegments
        variables = [:]
        title = nil
    }

    /// Creates the presentation of a playlist of either kind.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - capabilities: The capabilities of the player. By default, nothing is excluded by codec.
    package init(_ playlist: Playlist, capabilities: PlaybackCapabilities = PlaybackCapabilities()) {
        switch playlist {
        case .multivariant(let playlist): self.init(playlist, capabilities: capabilities)
        case .media(let playlist): self.init(playlist)
        }
    }

    /// Returns the media selection group of a type, or `nil` if there is none.
    package func group(_ type: Rendition.MediaType) -> MediaSelectionGroup? { groups.first { $0.type == type } }

    /// Returns the playable variant with an identity, or `nil` if there is none.
    package func variant(_ id: Variant.ID) -> Variant? {
        variants.first { $0.id == id } ?? iFrameVariants.first { $0.id == id }
    }

    /// Returns the variants whose rendition groups contain the selected options.
    ///
    /// Variants with the same video may differ in their audio, for example one with English and one with German audio.
    /// A variant without a rendition group has muxed media, which is assumed to be the default option.
    ///
    /// - Parameter selection: The selected options. Subtitles and closed captions are ignored, because they are
    ///   optional.
    /// - Returns: The variants for the selection, or all variants if none matches it entirely.
    package func variants(for selection: MediaSelection) -> [Variant] {
        // Collected once, because there may be many variants and many groups for an option.
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

    /// A Boolean value that indicates whether all variants have a score, so that scores can be compared (§4.4.6.2,
    /// SCORE).
    package var isScored: Bool { !variants.isEmpty && variants.allSatisfy { $0.score != nil } }

    /// The identifiers of the pathways in the order in which they occur in the playlist (§7.1).
    package var pathways: [String] {
        var seen: Set<String> = []
        return variants.flatMap(\.locations).map(\.pathwayID).filter { seen.insert($0).inserted }
    }
}

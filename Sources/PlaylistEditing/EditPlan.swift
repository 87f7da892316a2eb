public import HLSPlaylist
public import ResourceAddressing

/// A list of edits, with their application to the playlists of a presentation.
///
/// Filters apply to the multivariant playlist, all other edits to each media playlist. An edit that stitches in another
/// presentation uses, for each media playlist, the matching media playlist of that presentation.
public struct EditPlan: Sendable, Hashable {
    /// The edits in the order in which they are applied.
    public let edits: [PlaylistEdit]

    /// Creates a plan.
    public init(_ edits: [PlaylistEdit]) {
        self.edits = edits
    }

    /// The sources of all stitching edits, as named in the edits.
    public var sources: [String] { edits.compactMap(\.source) }

    /// A Boolean value that indicates whether the result of the edits changes with the date at which a playlist is requested,
    /// as that of ``PlaylistEdit/live(_:)`` does.
    public var dependsOnDate: Bool { edits.contains { $0.steps.dependsOnDate } }

    /// A Boolean value that indicates whether the edits remove all video, so that audio takes the place of the variants.
    package var removesVideo: Bool {
        edits.contains { edit in
            edit.definition.name == PlaylistEdit.contentTypesKind.definition.name
                && !edit.value.split(separator: ",").contains { $0 == ContentType.video.rawValue }
        }
    }

    /// The channel that the edits simulate; `nil` if there is none.
    package var channel: SimulatedChannel? { edits.lazy.compactMap(\.channel).first }

    /// A Boolean value that indicates whether the result for a live playlist depends on its earlier versions, as that of
    /// ``PlaylistEdit/replaceBreaks(with:at:)`` does.
    public var continuesTimelines: Bool { edits.contains { $0.steps.continuesTimeline } }

    /// Returns a Boolean value that indicates whether a live playlist is preserved if a source cannot be loaded.
    func isOptional(_ source: String) -> Bool {
        edits.allSatisfy { $0.source != source || $0.steps.continuesTimeline }
    }

    /// A Boolean value that indicates whether an edit changes the media playlists of a presentation.
    public var changesMedia: Bool { edits.contains { !$0.isFilter } }

    /// Returns a Boolean value that indicates whether edits of segments can change the time of the start position that a
    /// multivariant playlist declares, or is given by an edit.
    func movesStart(of playlist: MultivariantPlaylist) -> Bool {
        guard !dependsOnDate, edits.contains(where: \.movesSegments) else { return false }
        return playlist.start != nil || edits.contains { TagAssignment($0.value)?.name == TagName.start.name }
    }

    /// Returns the multivariant playlist after the edits that apply to it.
    ///
    /// If a presentation without I-frame playlists is stitched in, the I-frame variants are removed: their timeline
    /// would lack the stitched period, and they would show wrong images after it.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The playlists that stitching edits name.
    ///   - limits: The maximum sizes of the result of each edit.
    /// - Returns: The edited playlist, with unchanged URIs of its media playlists, and with the bit rates and formats that its variants
    ///   have once those that match them are stitched to them. Session keys remain: which of them are used is known only to a
    ///   ``PresentationEditor``.
    /// - Throws: ``PlaylistEditError`` if a filter would remove all variants or a result exceeds a limit.
    public func applied(
        to playlist: MultivariantPlaylist,
        sources: [String: Playlist] = [:],
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        let edited = try applied(to: playlist, sources: sources, EditContext(limits: limits))
        return try declaringStitchedMedia(of: sources, in: edited, limits: limits)
    }

    /// Returns an edited multivariant playlist with the bit rates and formats of what is stitched to its variants.
    ///
    /// - Parameters:
    ///   - sources: The playlists that stitching edits name. What a media playlist contains is not known.
    ///   - edited: The playlist after the edits that apply to it.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, with unchanged URIs.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func declaringStitchedMedia(
        of sources: [String: Playlist],
        in edited: MultivariantPlaylist,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        var names: Set<String> = []
        var matchings: [StitchMatching] = []
        for name in self.sources where names.insert(name).inserted {
            if case .multivariant(let other)? = sources[name] { matchings.append(StitchMatching(other)) }
        }
        return try edited.declaringStitchedMedia(of: matchings, limits: limits)
    }

    func applied(
        to playlist: MultivariantPlaylist,
        sources: [String: Playlist],
        _ context: EditContext
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        var result = playlist
        if Self.lacksIFrames(sources) { result = try result.withoutIFrameVariants() }
        for edit in edits {
            if let step = edit.steps.multivariant { result = try step(result, context) }
        }
        // After the filters, which know the audio of the presentation only as that of its variants.
        return try result.withSeparateAudio(for: sources, limits: context.limits)
    }

    /// Returns a Boolean value that indicates whether a playlist that is stitched in has no I-frame playlists.
    static func lacksIFrames(_ sources: [String: Playlist]) -> Bool {
        sources.values.contains { source in
            switch source {
            case .multivariant(let other): other.iFrameVariants.isEmpty
            case .media(let other): !other.isIFramesOnly
            }
        }
    }

    /// Returns the media playlist after all edits.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The media playlists that stitching edits name.
    ///   - date: The date at which the playlist is requested, for edits whose result depends on it.
    ///   - limits: The maximum sizes of the result of each edit.
    /// - Returns: The edited playlist.
    /// - Throws: ``PlaylistEditError``, also if the plan contains a filter, because a media playlist has no variants.
    public func applied(
        to playlist: MediaPlaylist,
        sources: [String: MediaPlaylist] = [:],
        date: ProgramDateTime? = nil,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try applied(to: playlist, EditContext(limits: limits, sources: sources, date: date))
    }

    func applied(to playlist: MediaPlaylist, _ context: EditContext) throws(PlaylistEditError) -> MediaPlaylist {
        var result = playlist
        for edit in edits {
            guard let step = edit.steps.media else {
                throw .wrongKind(edit: edit.definition.name, expected: "multivariant")
            }
            do throws(PlaylistEditError) {
                result = try step(result, context)
            } catch {
                throw error.naming([context.original ?? playlist] + context.sources.values)
            }
        }
        return result
    }

    /// Returns the plans for the media playlists of a multivariant playlist.
    ///
    /// - Parameters:
    ///   - sources: The playlists of either kind that stitching edits name.
    ///   - gaps: For each source, the address of a gap of the same duration, for renditions without a match in the
    ///     source.
    /// - Returns: The plans, by entry.
    public func childPlans(sources: [String: Playlist], gaps: [String: String] = [:]) -> ChildEditPlans {
        childPlans(sources: sources, gaps: gaps, aligned: nil)
    }

    /// Returns the plans for the media playlists of a multivariant playlist, with edits that are aligned; `nil` for those of
    /// this plan.
    func childPlans(
        sources: [String: Playlist],
        gaps: [String: String],
        aligned: EditAlignment.Plans?
    ) -> ChildEditPlans {
        ChildEditPlans(
            aligned ?? EditAlignment.Plans(videoURI: nil, video: self, others: self, subtitles: self),
            sources: sources,
            gaps: gaps
        )
    }
}

/// The edits for each media playlist of a multivariant playlist.
///
/// Each source is prepared for matching once, not again for each media playlist.
public struct ChildEditPlans: Sendable {
    private let videoURI: String?
    private let edits: [PlaylistEdit]
    private let alignedEdits: [PlaylistEdit]
    private let subtitleEdits: [PlaylistEdit]
    private let matchings: [String: StitchMatching]
    private let gaps: [String: String]

    init(_ plans: EditAlignment.Plans, sources: [String: Playlist], gaps: [String: String]) {
        videoURI = plans.videoURI
        edits = plans.video.edits.filter { !$0.isFilter }
        alignedEdits = plans.others.edits.filter { !$0.isFilter }
        subtitleEdits = plans.subtitles.edits.filter { !$0.isFilter }
        matchings = sources.compactMapValues { source in
            switch source {
            case .multivariant(let other): StitchMatching(other)
            case .media: nil
            }
        }
        self.gaps = gaps
    }

    /// Returns the plan for one media playlist.
    ///
    /// - Parameter entry: The variant or rendition that refers to the media playlist.
    /// - Returns: The edits of that media playlist.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if a source has no matching media playlist and no gap is
    ///   given.
    /// - Complexity: O(*e* log *n*) for *e* edits and sources with *n* entries.
    public func plan(for entry: PresentationEntry) throws(PlaylistEditError) -> EditPlan {
        var result: [PlaylistEdit] = []
        let isVideo = entry.hasVideo && videoURI.map { $0 == entry.uri } ?? true
        for edit in entry.isSubtitles ? subtitleEdits : isVideo ? edits : alignedEdits {
            guard let source = edit.source else {
                result.append(edit)
                continue
            }
            guard let matching = matchings[source] else {
                // A media playlist has no subtitles in segments of their own.
                result.append(entry.isSubtitles ? edit.replacingSource(gaps[source] ?? source) : edit)
                continue
            }
            let match =
                switch entry {
                case .variant(let variant): matching.address(for: variant)
                case .rendition(let rendition): matching.address(for: rendition)
                }
            if let match {
                result.append(edit.replacingSource(match.text))
            } else if let gap = gaps[source] {
                result.append(edit.replacingSource(gap))
            } else {
                throw .cannotStitch(reason: "\(ResourceAddress(source)) has no match for \(entry.name)")
            }
        }
        return EditPlan(result)
    }
}

/// An entry of a multivariant playlist that may have a media playlist.
public enum PresentationEntry: Sendable {
    /// A variant or an I-frame variant.
    case variant(Variant)
    /// A rendition.
    case rendition(Rendition)

    /// The name of the entry in messages.
    public var name: String {
        switch self {
        case .variant(let variant): ResourceAddress(variant.uri).description
        case .rendition(let rendition): "the rendition \(rendition.name)"
        }
    }

    /// A Boolean value that indicates whether the entry is a variant with video.
    fileprivate var hasVideo: Bool {
        switch self {
        case .variant(let variant): !variant.isIFramesOnly && variant.resolution != nil
        case .rendition: false
        }
    }

    /// A Boolean value that indicates whether the entry is a rendition with subtitles.
    fileprivate var isSubtitles: Bool {
        switch self {
        case .variant: false
        case .rendition(let rendition): rendition.type == .subtitles
        }
    }

    /// The URI of the media playlist as written, with variables replaced; `nil` for a rendition without a URI.
    var uri: String? {
        switch self {
        case .variant(let variant): variant.uri
        case .rendition(let rendition): rendition.uri
        }
    }

    /// The URL of the media playlist, or `nil` for a rendition without a URI.
    public var address: ResourceAddress? {
        switch self {
        case .variant(let variant): variant.address
        case .rendition(let rendition): rendition.address
        }
    }
}

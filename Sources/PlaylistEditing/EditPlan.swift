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

    /// A Boolean value that indicates whether an edit changes the media playlists of a presentation.
    public var changesMedia: Bool { edits.contains { !$0.isFilter } }

    /// Returns the multivariant playlist after the edits that apply to it.
    ///
    /// If a presentation without I-frame playlists is stitched in, the I-frame variants are removed: their timeline
    /// would lack the stitched period, and they would show wrong images after it.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The playlists that stitching edits name.
    ///   - limits: The maximum sizes of the result of each edit.
    /// - Returns: The edited playlist, with unchanged URIs of its media playlists.
    /// - Throws: ``PlaylistEditError`` if a filter would remove all variants or a result exceeds a limit.
    public func applied(
        to playlist: MultivariantPlaylist,
        sources: [String: Playlist] = [:],
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        var result = playlist
        let lacksIFrames = sources.values.contains { source in
            switch source {
            case .multivariant(let other): other.iFrameVariants.isEmpty
            case .media(let other): !other.isIFramesOnly
            }
        }
        if lacksIFrames { result = try result.withoutIFrameVariants() }
        for edit in edits {
            switch edit {
            case .bandwidth(let range): result = try result.limited(to: range)
            case .maxHeight(let height): result = try result.limited(toHeight: height)
            case .noIFrames: result = try result.withoutIFrameVariants()
            case .absolute:
                result = try Playlist.multivariant(result).withAbsoluteAddresses(limits: limits)
                    .asMultivariant(after: "absolute")
            case .canonical:
                result = try Playlist.multivariant(result).canonicalized(limits: limits).asMultivariant(
                    after: "canonical"
                )
            case .start, .duration, .append, .prepend, .insert, .dropRange: continue
            }
        }
        return result
    }

    /// Returns the media playlist after all edits.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The media playlists that stitching edits name.
    ///   - limits: The maximum sizes of the result of each edit.
    /// - Returns: The edited playlist.
    /// - Throws: ``PlaylistEditError``, also if the plan contains a filter, because a media playlist has no variants.
    public func applied(
        to playlist: MediaPlaylist,
        sources: [String: MediaPlaylist] = [:],
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        var result = playlist
        for edit in edits {
            func other() throws(PlaylistEditError) -> MediaPlaylist {
                guard let source = edit.source, let playlist = sources[source] ?? GapPlaylist.playlist(at: source)
                else {
                    throw .cannotStitch(
                        reason: "\(edit.source.map { "\(ResourceAddress($0))" } ?? "the other playlist") was not loaded"
                    )
                }
                return playlist
            }
            switch edit {
            case .start(let time): result = try result.dropped(before: time, limits: limits)
            case .duration(let time): result = try result.limited(to: time, limits: limits)
            case .append: result = try result.appending(try other(), limits: limits)
            case .prepend: result = try result.prepending(try other(), limits: limits)
            case .insert(_, let time): result = try result.inserting(try other(), at: time, limits: limits)
            case .dropRange(let range): result = try result.dropping(range, limits: limits)
            case .absolute: result = try result.withAbsoluteAddresses(limits: limits)
            case .canonical:
                result = try Playlist.media(result).canonicalized(limits: limits).asMedia(after: "canonical")
            case .bandwidth, .maxHeight, .noIFrames:
                throw .wrongKind(edit: edit.nameAndValue.name, expected: "multivariant")
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
        ChildEditPlans(self, sources: sources, gaps: gaps)
    }
}

/// The edits for each media playlist of a multivariant playlist.
///
/// Each source is prepared for matching once, not again for each media playlist.
public struct ChildEditPlans: Sendable {
    private let edits: [PlaylistEdit]
    private let matchings: [String: StitchMatching]
    private let gaps: [String: String]

    init(_ plan: EditPlan, sources: [String: Playlist], gaps: [String: String]) {
        edits = plan.edits.filter { !$0.isFilter }
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
        for edit in edits {
            guard let source = edit.source, let matching = matchings[source] else {
                result.append(edit)
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

    /// The URL of the media playlist, or `nil` for a rendition without a URI.
    public var address: ResourceAddress? {
        switch self {
        case .variant(let variant): variant.address
        case .rendition(let rendition): rendition.address
        }
    }
}

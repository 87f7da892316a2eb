public import HLSPlaylist
public import ResourceAddressing

/// Edits in their order, and how they are carried out on a presentation of many playlists.
///
/// Filters work on the multivariant playlist; everything else works on each media playlist, where a stitch with another
/// presentation means the one of its playlists that matches.
public struct EditPlan: Sendable, Hashable {
    /// The edits in the order in which they are applied.
    public let edits: [PlaylistEdit]

    /// Makes a plan.
    public init(_ edits: [PlaylistEdit]) {
        self.edits = edits
    }

    /// The sources of all stitches, as the edits name them.
    public var sources: [String] { edits.compactMap(\.source) }

    /// Whether an edit changes the media playlists below a multivariant one.
    public var changesMedia: Bool { edits.contains { !$0.isFilter } }

    /// The multivariant playlist after the edits that are about it.
    ///
    /// Where something without I-frame playlists is stitched in, the I-frame variants go: one that lacks a stretch of the
    /// timeline would show the wrong pictures behind it.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The playlists that stitches name.
    ///   - limits: The maximum size of the result of each edit.
    /// - Returns: The edited playlist, the addresses of its children unchanged.
    /// - Throws: ``PlaylistEditError`` where a filter would leave nothing or a result passes a limit.
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
                result = try Playlist.multivariant(result).respelled(limits: limits).asMultivariant(after: "canonical")
            case .start, .duration, .append, .prepend, .insert, .dropRange: continue
            }
        }
        return result
    }

    /// The media playlist after all edits.
    ///
    /// - Parameters:
    ///   - playlist: The playlist to edit.
    ///   - sources: The media playlists that stitches name.
    ///   - limits: The maximum size of the result of each edit.
    /// - Returns: The edited playlist.
    /// - Throws: ``PlaylistEditError``, also where a filter is asked for: a media playlist has no variants.
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
                result = try Playlist.media(result).respelled(limits: limits).asMedia(after: "canonical")
            case .bandwidth, .maxHeight, .noIFrames:
                throw .wrongKind(edit: edit.spelling.name, expected: "multivariant")
            }
        }
        return result
    }

    /// The plans of the playlists below a multivariant one.
    ///
    /// - Parameters:
    ///   - sources: The playlists that stitches name, each of either kind.
    ///   - gaps: The address of a gap as long as each source, for renditions that have nothing to put there.
    /// - Returns: The plans, by entry.
    public func childPlans(sources: [String: Playlist], gaps: [String: String] = [:]) -> ChildEditPlans {
        ChildEditPlans(self, sources: sources, gaps: gaps)
    }
}

/// The edits that remain for each playlist below a multivariant one.
///
/// Each source that is stitched in is read once, not once for each playlist.
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

    /// The plan of one playlist.
    ///
    /// - Parameter entry: The variant or rendition whose playlist it is.
    /// - Returns: The edits of that one playlist.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` where a source has nothing that goes with it.
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
                throw .cannotStitch(reason: "\(ResourceAddress(source)) has nothing that goes with \(entry.name)")
            }
        }
        return EditPlan(result)
    }
}

/// An entry of a multivariant playlist that has a media playlist of its own.
public enum PresentationEntry: Sendable {
    /// A variant, an I-frame variant among them.
    case variant(Variant)
    /// A rendition.
    case rendition(Rendition)

    /// What to call it in a message.
    public var name: String {
        switch self {
        case .variant(let variant): ResourceAddress(variant.uri).description
        case .rendition(let rendition): "the rendition \(rendition.name)"
        }
    }

    /// Where its media playlist is; `nil` where it has none of its own.
    public var address: ResourceAddress? {
        switch self {
        case .variant(let variant): variant.address
        case .rendition(let rendition): rendition.address
        }
    }
}

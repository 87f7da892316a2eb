import HLSPlaylist

/// The lines of the host of an assembly that are written independently of its segments.
///
/// The host is the playlist that provides the header.
struct HostLines {
    /// The lines before those of the first segment.
    let header: ArraySlice<MediaPlaylist.EditableLine>
    /// The lines that concern the whole playlist but follow tags of the first segment, if they are written before the first
    /// run.
    let moved: [MediaPlaylist.EditableLine]
    /// The number of lines at the end of ``header`` that are left out, because they announce a break at a first segment
    /// that is removed.
    let removedCueLineCount: Int
    /// The offsets of ``moved``.
    private let movedOffsets: Set<Int>

    /// Creates the lines.
    ///
    /// - Parameters:
    ///   - host: The playlist that provides the header.
    ///   - runs: The segments of the assembled playlist.
    ///   - preservesPlaylistTags: Whether the tags of the host that concern the whole playlist are preserved.
    init(of host: MediaPlaylist, in runs: [SegmentRun], preservesPlaylistTags: Bool) {
        let header = Self.header(of: host, isSeparate: !preservesPlaylistTags)
        self.header = header
        let first = runs.first
        if preservesPlaylistTags, first?.isPrimary ?? true, first?.positions.lowerBound ?? 0 == 0 {
            moved = []
        } else {
            moved = host.lines(ofSegment: 0).dropFirst(header.count).filter { $0.isPlaylistWide && $0.tag != .endList }
        }
        movedOffsets = Set(moved.map(\.range.lowerBound))
        let hasFirstSegment = runs.contains { $0.isPrimary && $0.positions.lowerBound == 0 }
        removedCueLineCount = hasFirstSegment ? 0 : Self.cueLineCount(of: host, atEndOf: header)
    }

    /// Returns a Boolean value that indicates whether a line of the host is written with the header.
    func isMoved(_ line: MediaPlaylist.EditableLine) -> Bool { movedOffsets.contains(line.range.lowerBound) }

    /// Returns the playlist-wide lines before the lines of the first segment.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - isSeparate: Whether the lines are written without the first segment, so that unknown tags after the last
    ///     playlist-wide tag belong to the segment.
    /// - Returns: The lines.
    static func header(of playlist: MediaPlaylist, isSeparate: Bool) -> ArraySlice<MediaPlaylist.EditableLine> {
        let lines = playlist.lines(ofSegment: 0)
        let header = lines.prefix { !$0.isURI && $0.tag?.scope != .segment && $0.tag?.scope != .metadata }
        guard isSeparate else { return header }
        return header.lastIndex { $0.isPlaylistWide }.map { header.prefix(through: $0) } ?? []
    }

    /// Returns the number of lines at the end of a header, from the first tag that announces a break after the last
    /// playlist-wide tag.
    private static func cueLineCount(
        of playlist: MediaPlaylist,
        atEndOf header: ArraySlice<MediaPlaylist.EditableLine>
    ) -> Int {
        let last = header.lastIndex { $0.isPlaylistWide } ?? header.startIndex
        let cue = header[last...].firstIndex { line in
            BreakCues.cueTags.contains(String(playlist.text(line.text).drop { $0 == "#" }.prefix { $0 != ":" }))
        }
        return cue.map { header.endIndex - $0 } ?? 0
    }
}

extension MediaPlaylist.EditableLine {
    /// A Boolean value that indicates whether the line is a tag that concerns the whole playlist.
    var isPlaylistWide: Bool {
        guard let tag else { return false }
        return tag == .header || [.any, .mediaPlaylist].contains(tag.scope)
    }

    /// A Boolean value that indicates whether the line is preserved if its segment is removed.
    var isPreservedWithoutSegment: Bool {
        guard let tag, tag != .endList else { return false }
        return tag == .dateRange || [.any, .mediaPlaylist].contains(tag.scope)
    }
}

import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// A writer that assembles runs of segments into one playlist, with the tags that players need at each transition.
///
/// One playlist, the host, provides the header and the lines after the last segment. Its lines are copied byte for byte
/// unless the edit concerns them. Tags that apply to a segment but precede its run (key, map, bit rate, date) are
/// repeated at the transition (RFC 8216bis §4.4.4).
struct MediaPlaylistAssembly {
    private let primary: MediaPlaylist
    private let runs: [SegmentRun]
    private let limits: PlaylistLimits
    /// The numbers of a live playlist; `nil` for those that follow from the host.
    private let numbering: Numbering?
    /// A Boolean value that indicates whether a live host ends with its last segment in the result; `nil` if that follows
    /// from the host and its segments.
    private let isEnded: Bool?
    /// The lines of the host that are written independently of its segments.
    private let hostLines: HostLines
    /// The values of the tags that concern the whole result.
    private let values: AssembledTagValues
    private var output: AssemblyOutput
    /// The run whose map applies at the current position of the output; `nil` if no map applies.
    private var mappedRun: SegmentRun?

    /// The numbers of a live playlist.
    struct Numbering {
        /// The media sequence number of the first segment.
        let mediaSequence: Int64
        /// The discontinuity sequence number of the first segment, without its own discontinuity tag.
        let discontinuitySequence: Int64
        /// A Boolean value that indicates whether the playlist has ended.
        let isEnded: Bool
        /// A Boolean value that indicates whether the host is live itself, so that its tags that concern the whole playlist are
        /// preserved.
        var isHostLive = false
        /// A Boolean value that indicates whether the start position of the host is that of the same media in the result.
        var movesStart = false
        /// The smallest permitted target duration, in whole seconds.
        var targetDuration: Int64 = 0
        /// The smallest permitted version.
        var version = 1
    }

    private init(
        primary: MediaPlaylist,
        runs: [SegmentRun],
        numbering: Numbering?,
        isEnded: Bool?,
        limits: PlaylistLimits
    ) {
        self.primary = primary
        self.limits = limits
        self.numbering = numbering
        self.isEnded = isEnded
        output = AssemblyOutput(lineEnd: primary.lineEnd)
        let planned = runs.filter { !$0.positions.isEmpty }
        let prepared = SegmentRun.prepared(
            planned,
            firstSequence: AssembledTagValues.mediaSequence(of: primary, in: planned, numbering),
            isHostLive: numbering?.isHostLive ?? false
        )
        self.runs = prepared
        values = AssembledTagValues(of: primary, runs: prepared, numbering: numbering)
        hostLines = HostLines(of: primary, in: prepared, preservesPlaylistTags: numbering?.isHostLive ?? true)
    }

    /// Returns the playlist of the given runs.
    ///
    /// - Parameters:
    ///   - primary: The host.
    ///   - runs: The segments.
    ///   - numbering: The numbers of a live playlist; `nil` for those that follow from the host.
    ///   - isEnded: Whether a live host ends with its last segment in the result; `nil` if that follows from the host and its
    ///     segments.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` or ``PlaylistEditError/mapCannotEnd(at:after:)`` if the runs cannot be
    ///   combined in one playlist,
    ///   ``PlaylistEditError/tooLarge(_:)`` if the result exceeds a limit.
    static func assemble(
        primary: MediaPlaylist,
        runs: [SegmentRun],
        numbering: Numbering? = nil,
        isEnded: Bool? = nil,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard primary.skippedSegmentCount == 0 else {
            throw .cannotStitch(reason: "the playlist is a delta update; load the full playlist")
        }
        guard !primary.segments.isEmpty else { throw .cannotStitch(reason: "the playlist has no segments") }
        var context = primary.context
        if runs.contains(where: { !$0.isPrimary && $0.playlist.context.address != context.address }) {
            context.isStitched = true
        }
        var assembly = MediaPlaylistAssembly(
            primary: primary,
            runs: runs,
            numbering: numbering,
            isEnded: isEnded,
            limits: limits
        )
        try assembly.write()
        do {
            return try MediaPlaylist(parsing: assembly.output.bytes, context: context, limits: limits)
        } catch {
            throw PlaylistEditError(error, edit: "stitching")
        }
    }

    private mutating func write() throws(PlaylistEditError) {
        writeHeader()
        for (number, run) in runs.enumerated() {
            if number == 0, preservesPlaylistTags {
                writePlaylistLines(ofRemovedSegments: 0..<(nextPrimaryPosition(after: -1)))
            }
            // A run that begins with the first segment of the host can keep implied offsets, because no segment
            // precedes it.
            let isMoved = number > 0 || !run.isPrimary || run.positions.lowerBound > 0
            for position in run.positions {
                let isFirst = position == run.positions.lowerBound
                if isFirst { try writeTransition(to: run, isFirstRun: number == 0) }
                writeSegment(position, of: run, isFirstOfRun: isFirst && isMoved)
                // The output can be larger than the input, because a long key may be repeated for each segment.
                guard output.bytes.count <= limits.byteCount else { throw .tooLarge(.byteCount(limits.byteCount)) }
            }
            let last = run.positions.upperBound - 1
            output.keyFormats = Set(run.playlist.keyLines(for: last).map(\.format))
            mappedRun = run.playlist.mapLine(for: last) == nil ? nil : run
            if run.isPrimary {
                writePlaylistLines(ofRemovedSegments: run.positions.upperBound..<nextPrimaryPosition(after: number))
            }
        }
        writeTrailer()
    }

    /// Returns the position of the host's next segment in the result, or the number of segments if there is none.
    private func nextPrimaryPosition(after number: Int) -> Int {
        runs[(number + 1)...].first { $0.isPrimary }?.positions.lowerBound ?? primary.segments.count
    }

    // MARK: Header and trailer

    /// A Boolean value that indicates whether the tags of the host that concern the whole playlist are preserved.
    private var preservesPlaylistTags: Bool { numbering?.isHostLive ?? true }

    private mutating func writeHeader() {
        let targetIsMissing = primary.targetDuration == nil
        let declaresDiscontinuities =
            primary.discontinuitySequence > 0
            || primary.lines(ofSegment: 0).contains { $0.tag == .discontinuitySequence }
        for line in hostLines.header.dropLast(hostLines.removedCueLineCount) + hostLines.moved {
            // An end marker before the segments is left out; the trailer is written with one if it applies.
            if line.tag == .endList { continue }
            // A live playlist is not complete, and players join it near its end.
            if !preservesPlaylistTags, [.playlistType, .start, .dateRange].contains(line.tag) { continue }
            write(line, of: primary)
            guard line.tag == .header else { continue }
            if targetIsMissing, let target = values.targetDuration {
                output.writeLine("#EXT-X-TARGETDURATION:\(target)")
            }
            if primary.declaredVersion == nil, let version = values.version {
                output.writeLine("#EXT-X-VERSION:\(version)")
            }
            if primary.declaredMediaSequence == nil, values.mediaSequence > 0 {
                output.writeLine("#EXT-X-MEDIA-SEQUENCE:\(values.mediaSequence)")
            }
            if !declaresDiscontinuities, values.discontinuitySequence > 0 {
                output.writeLine("#EXT-X-DISCONTINUITY-SEQUENCE:\(values.discontinuitySequence)")
            }
        }
    }

    /// Writes the lines of removed segments that concern the whole playlist.
    private mutating func writePlaylistLines(ofRemovedSegments positions: Range<Int>) {
        for position in positions {
            for line in primary.lines(ofSegment: position).dropFirst(position == 0 ? hostLines.header.count : 0) {
                if line.isPreservedWithoutSegment, !hostLines.isMoved(line) { write(line, of: primary) }
            }
        }
    }

    private mutating func writeTrailer() {
        guard preservesPlaylistTags else {
            if numbering?.isEnded ?? false { output.writeLine("#EXT-X-ENDLIST") }
            return
        }
        let lines = primary.lines(ofSegment: primary.segments.count)
        guard let last = runs.last, !last.isPrimary || last.positions.upperBound < primary.segments.count else {
            for line in lines { write(line, of: primary) }
            // An end marker can be anywhere in a playlist (§4.4.3.4); one before other segments was not written.
            if isEnded ?? primary.hasEndMarker, !lines.contains(where: { $0.tag == .endList }) {
                output.writeLine("#EXT-X-ENDLIST")
            }
            return
        }
        // Parts, preload hints and rendition reports refer to media after the original end.
        for line in lines where line.isPreservedWithoutSegment { write(line, of: primary) }
        guard numbering?.isEnded ?? isEnded ?? (last.isPrimary || last.playlist.hasEndMarker) else { return }
        if let line = lines.first(where: { $0.tag == .endList }) {
            write(line, of: primary)
        } else {
            output.writeLine("#EXT-X-ENDLIST")
        }
    }

    // MARK: Segments

    private mutating func writeTransition(to run: SegmentRun, isFirstRun: Bool) throws(PlaylistEditError) {
        let position = run.positions.lowerBound
        let playlist = run.playlist
        let own = playlist.lines(ofSegment: position)
        if let discontinuities = run.discontinuities {
            let missing = discontinuities.count - own.count { $0.tag == .discontinuity }
            for _ in 0..<max(missing, 0) { output.writeLine("#EXT-X-DISCONTINUITY") }
        } else if let hasDiscontinuity = run.beginsWithDiscontinuity {
            let isWritten = run.date == nil && own.contains { $0.tag == .discontinuity }
            if hasDiscontinuity, !isWritten { output.writeLine("#EXT-X-DISCONTINUITY") }
        } else if !isFirstRun, !own.contains(where: { $0.tag == .discontinuity }) {
            output.writeLine("#EXT-X-DISCONTINUITY")
        }
        let map = playlist.mapLine(for: position)
        if let mappedRun, map == nil {
            throw .mapCannotEnd(
                at: playlist.source(of: position),
                after: mappedRun.playlist.source(of: mappedRun.positions.upperBound - 1)
            )
        }
        if let map {
            // The keys that precede the map encrypt it; they may differ from those of the segment.
            let mapKeys = playlist.mapKeyLines(for: position)
            output.writeKeys(mapKeys, of: playlist, hasOwnKeys: map.isOwn && own.hasKey(before: map.line.lowerBound))
            if !map.isOwn { output.writeLine(playlist.text(map.line)) }
        }
        // Keys with explicit vectors are written with the segment itself.
        let keys = playlist.keyLines(for: position)
        let isUnderOwnMap = map?.isOwn ?? false
        if !isUnderOwnMap {
            output.writeKeys(
                keys,
                of: playlist,
                hasOwnKeys: own.contains { $0.tag == .key },
                withLines: !run.needsExplicitVectors
            )
        }
        if !run.omitsBitRates, let bitRate = playlist.bitRateLine(for: position), !bitRate.isOwn {
            output.writeLine(playlist.text(bitRate.line))
        }
        let segment = playlist.segments[position]
        if let date = run.date {
            output.writeLine("#EXT-X-PROGRAM-DATE-TIME:\(date)")
        } else if let date = segment.programDateTime, !segment.hasOwnProgramDateTime {
            output.writeLine("#EXT-X-PROGRAM-DATE-TIME:\(date)")
        }
    }

    private mutating func writeSegment(_ position: Int, of run: SegmentRun, isFirstOfRun: Bool) {
        var lines = run.playlist.lines(ofSegment: position)[...]
        if position == 0 {
            lines = lines.dropFirst(HostLines.header(of: run.playlist, isSeparate: !run.isPrimary).count)
        }
        // Keys encrypt the maps after them, so keys with explicit vectors are written after the last map of the
        // segment.
        let lastMap = run.needsExplicitVectors ? lines.last { $0.tag == .map }?.range.lowerBound : nil
        var hasPendingVectors = run.needsExplicitVectors
        if hasPendingVectors, lastMap == nil, !lines.contains(where: { $0.tag == .key }),
            !run.playlist.keyLines(for: position).isEmpty
        {
            output.writeKeysWithVectors(position, of: run.playlist)
        }
        let needsExplicitOffset = isFirstOfRun && run.playlist.hasImpliedOffset(position)
        for line in lines {
            switch line.tag {
            case .map where line.range.lowerBound == lastMap:
                write(line, of: run.playlist)
                output.keyFormats = Set(run.playlist.mapKeyLines(for: position).map(\.format))
                if !output.keyFormats.isEmpty || !run.playlist.keyLines(for: position).isEmpty {
                    output.writeKeysWithVectors(position, of: run.playlist)
                }
                hasPendingVectors = false
            case .key where run.needsExplicitVectors && line.range.lowerBound >= lastMap ?? 0:
                if hasPendingVectors { output.writeKeysWithVectors(position, of: run.playlist) }
                hasPendingVectors = false
            case .byteRange where needsExplicitOffset:
                if let range = run.playlist.segments[position].byteRange {
                    output.writeLine("#EXT-X-BYTERANGE:\(range)")
                }
            case .endList, .skip: break
            case .bitRate where run.omitsBitRates: break
            case _ where run.isPrimary && hostLines.isMoved(line): break
            case .discontinuity where isFirstOfRun && run.beginsWithDiscontinuity == false: break
            case .discontinuity, .programDateTime:
                if run.date == nil { write(line, of: run.playlist) }
            case .dateRange where run.date != nil: writeDateRange(line, at: position, of: run)
            case let tag? where !run.isPrimary && (tag.scope == .any || tag.scope == .mediaPlaylist): break
            case .preloadHint, .renditionReport:
                if run.isPrimary { write(line, of: primary) }
            default: write(line, of: run.playlist)
            }
        }
    }

    /// Writes a date range with the difference between the date of its segment in the run and that in its playlist.
    ///
    /// The identifier becomes unique, because the same range is written for each run. A range of a playlist without dates
    /// has no position in the run, so it is left out.
    private mutating func writeDateRange(_ line: MediaPlaylist.EditableLine, at position: Int, of run: SegmentRun) {
        let segments = run.playlist.segments
        guard let date = run.date, let original = segments[position].programDateTime, let value = line.value else {
            return
        }
        let offset = segments.timeRange(at: position).start - segments.timeRange(at: run.positions.lowerBound).start
        let difference = date.advanced(by: offset).sinceEpoch - original.sinceEpoch
        let attributes = AttributeList(run.playlist.bytes, in: value)
        var patch = PlaylistPatch()
        for name in ["START-DATE", "END-DATE"] {
            guard let written = attributes[name].flatMap({ ProgramDateTime($0) }) else { continue }
            attributes.set(name, to: "\"\(written.advanced(by: difference))\"", in: &patch)
        }
        if let identifier = attributes.attribute("ID") {
            let seconds = difference.roundedUpSeconds
            attributes.set("ID", to: "\"\(identifier.value)-\(seconds)\"", in: &patch)
        }
        output.append(patch.applied(to: run.playlist.bytes, in: line.range))
    }

    // MARK: Lines

    private mutating func write(_ line: MediaPlaylist.EditableLine, of playlist: MediaPlaylist) {
        if line.tag == .start, values.removesStart { return }
        if let value = line.value, let text = values.replacement(for: line.tag) {
            var patch = PlaylistPatch()
            patch.replace(value, with: text)
            output.append(patch.applied(to: playlist.bytes, in: line.range))
        } else {
            output.append(playlist.bytes[line.range])
        }
    }
}

extension Collection where Element == MediaPlaylist.EditableLine {
    /// Returns a Boolean value that indicates whether a key precedes the given offset.
    fileprivate func hasKey(before offset: Int) -> Bool {
        contains { $0.tag == .key && $0.range.lowerBound < offset }
    }
}

extension MediaPlaylist {
    /// Returns the address of the playlist that a segment is from: that of this playlist, or of the segment itself if earlier edits have
    /// inserted segments of other playlists; ``EditPlan`` then knows the playlist.
    fileprivate func source(of position: Int) -> ResourceAddress? {
        context.isStitched ? segments[position].address : context.address
    }

    /// Returns the text of a line without its line ending.
    func text(_ line: Range<Int>) -> String {
        String(decoding: bytes[line].prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}

extension MediaTime {
    /// The time in whole seconds, rounded up.
    var roundedUpSeconds: Int64 {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        return part > 0 ? whole +| 1 : whole
    }
}

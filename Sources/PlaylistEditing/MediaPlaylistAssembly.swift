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
    private let lineEnd: String
    private var output: [UInt8] = []
    /// The media sequence number of the first segment in the result.
    private let firstSequence: Int64
    /// The formats of the keys in force at the current position of the output.
    private var keyFormats: Set<String> = []
    /// The run whose map applies at the current position of the output; `nil` if no map applies.
    private var mappedRun: SegmentRun?
    private let limits: PlaylistLimits
    /// The numbers of a live playlist; `nil` for those that follow from the host.
    private let numbering: Numbering?
    /// A Boolean value that indicates whether a live host ends with its last segment in the result; `nil` if that follows from the
    /// host and its segments.
    private let isEnded: Bool?
    /// The lines of the host before those of its first segment.
    private let headerLines: ArraySlice<MediaPlaylist.EditableLine>
    /// The lines that concern the whole playlist but follow tags of the first segment of the host, if they are written before
    /// the first run.
    private let movedLines: [MediaPlaylist.EditableLine]
    /// The offsets of ``movedLines``.
    private let movedOffsets: Set<Int>
    /// The start position of the host in the result.
    private let start: MovedStart

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
        lineEnd = primary.lineEnd
        var planned = runs.filter { !$0.positions.isEmpty }
        var sequence = primary.mediaSequence
        if let first = planned.first { sequence +|= Int64(first.positions.lowerBound) }
        sequence = numbering?.mediaSequence ?? sequence
        firstSequence = sequence
        for index in planned.indices {
            planned[index].needsExplicitVectors = Self.losesImplicitVectors(planned[index], newSequence: sequence)
            sequence +|= Int64(planned[index].positions.count)
        }
        // A bit rate applies to all segments up to the next one (§4.4.4.8), and no tag ends it.
        // In a live playlist, later runs would change segments that are already published (§6.2.1).
        var omitsBitRates = numbering?.isHostLive ?? false
        for index in planned.indices.reversed() {
            planned[index].omitsBitRates = omitsBitRates
            let first = planned[index].positions.lowerBound
            omitsBitRates = omitsBitRates || planned[index].playlist.bitRateLine(for: first) == nil
        }
        self.runs = planned
        let preservesPlaylistTags = numbering?.isHostLive ?? true
        headerLines = Self.headerLines(of: primary, isSeparate: !preservesPlaylistTags)
        let first = planned.first
        if preservesPlaylistTags, first?.isPrimary ?? true, first?.positions.lowerBound ?? 0 == 0 {
            movedLines = []
        } else {
            movedLines = primary.lines(ofSegment: 0).dropFirst(headerLines.count).filter {
                $0.isPlaylistWide && $0.tag != .endList
            }
        }
        movedOffsets = Set(movedLines.map(\.range.lowerBound))
        start = numbering?.movesStart ?? true ? MovedStart(of: primary, in: planned) : .unchanged
    }

    /// Returns a Boolean value that indicates whether keys of the run derive initialization vectors from sequence
    /// numbers that change (§5.2).
    private static func losesImplicitVectors(_ run: SegmentRun, newSequence: Int64) -> Bool {
        let playlist = run.playlist
        guard playlist.segments[run.positions.lowerBound].sequence != newSequence else { return false }
        return run.positions.contains { position in
            playlist.keys(for: position).contains { $0.isIdentity && $0.initializationVector == nil }
        }
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
            return try MediaPlaylist(parsing: assembly.output, context: context, limits: limits)
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
                guard output.count <= limits.byteCount else { throw .tooLarge(.byteCount(limits.byteCount)) }
            }
            let last = run.positions.upperBound - 1
            keyFormats = Set(run.playlist.keyLines(for: last).map(\.format))
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

    /// Returns the playlist-wide lines before the lines of the first segment.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - isSeparate: Whether the lines are written without the first segment, so that unknown tags after the last
    ///     playlist-wide tag belong to the segment.
    /// - Returns: The lines.
    private static func headerLines(
        of playlist: MediaPlaylist,
        isSeparate: Bool
    ) -> ArraySlice<MediaPlaylist.EditableLine> {
        let lines = playlist.lines(ofSegment: 0)
        let header = lines.prefix { !$0.isURI && $0.tag?.scope != .segment && $0.tag?.scope != .metadata }
        guard isSeparate else { return header }
        return header.lastIndex { $0.isPlaylistWide }.map { header.prefix(through: $0) } ?? []
    }

    /// A Boolean value that indicates whether the tags of the host that concern the whole playlist are preserved.
    private var preservesPlaylistTags: Bool { numbering?.isHostLive ?? true }

    /// The number of lines at the end of ``headerLines`` that are left out: from the first tag that announces a break at the first
    /// segment of the host, if that segment is removed.
    private var removedCueLineCount: Int {
        guard !runs.contains(where: { $0.isPrimary && $0.positions.lowerBound == 0 }) else { return 0 }
        let last = headerLines.lastIndex { $0.isPlaylistWide } ?? headerLines.startIndex
        let cue = headerLines[last...].firstIndex { line in
            BreakCues.cueTags.contains(String(primary.text(line.text).drop { $0 == "#" }.prefix { $0 != ":" }))
        }
        return cue.map { headerLines.endIndex - $0 } ?? 0
    }

    private mutating func writeHeader() {
        let targetIsMissing = primary.targetDuration == nil
        let declaresDiscontinuities =
            primary.discontinuitySequence > 0
            || primary.lines(ofSegment: 0).contains { $0.tag == .discontinuitySequence }
        for line in headerLines.dropLast(removedCueLineCount) + movedLines {
            // An end marker before the segments is left out; the trailer is written with one if it applies.
            if line.tag == .endList { continue }
            // A live playlist is not complete, and players join it near its end.
            if !preservesPlaylistTags, [.playlistType, .start, .dateRange].contains(line.tag) { continue }
            write(line, of: primary)
            guard line.tag == .header else { continue }
            if targetIsMissing, let target { writeLine("#EXT-X-TARGETDURATION:\(target)") }
            if primary.declaredVersion == nil, let version { writeLine("#EXT-X-VERSION:\(version)") }
            if primary.declaredMediaSequence == nil, firstSequence > 0 {
                writeLine("#EXT-X-MEDIA-SEQUENCE:\(firstSequence)")
            }
            if !declaresDiscontinuities, firstDiscontinuitySequence > 0 {
                writeLine("#EXT-X-DISCONTINUITY-SEQUENCE:\(firstDiscontinuitySequence)")
            }
        }
    }

    /// Writes the lines of removed segments that concern the whole playlist.
    private mutating func writePlaylistLines(ofRemovedSegments positions: Range<Int>) {
        for position in positions {
            for line in primary.lines(ofSegment: position).dropFirst(position == 0 ? headerLines.count : 0) {
                if line.isPreservedWithoutSegment, !isMoved(line) { write(line, of: primary) }
            }
        }
    }

    /// Returns a Boolean value that indicates whether a line of the host was written with the header.
    private func isMoved(_ line: MediaPlaylist.EditableLine) -> Bool { movedOffsets.contains(line.range.lowerBound) }

    private mutating func writeTrailer() {
        guard preservesPlaylistTags else {
            if numbering?.isEnded ?? false { writeLine("#EXT-X-ENDLIST") }
            return
        }
        let lines = primary.lines(ofSegment: primary.segments.count)
        guard let last = runs.last, !last.isPrimary || last.positions.upperBound < primary.segments.count else {
            for line in lines { write(line, of: primary) }
            // An end marker can be anywhere in a playlist (§4.4.3.4); one before other segments was not written.
            if isEnded ?? primary.hasEndMarker, !lines.contains(where: { $0.tag == .endList }) {
                writeLine("#EXT-X-ENDLIST")
            }
            return
        }
        // Parts, preload hints and rendition reports refer to media after the original end.
        for line in lines where line.isPreservedWithoutSegment { write(line, of: primary) }
        guard numbering?.isEnded ?? isEnded ?? (last.isPrimary || last.playlist.hasEndMarker) else { return }
        if let line = lines.first(where: { $0.tag == .endList }) {
            write(line, of: primary)
        } else {
            writeLine("#EXT-X-ENDLIST")
        }
    }

    // MARK: Segments

    private mutating func writeTransition(to run: SegmentRun, isFirstRun: Bool) throws(PlaylistEditError) {
        let position = run.positions.lowerBound
        let playlist = run.playlist
        let own = playlist.lines(ofSegment: position)
        if let hasDiscontinuity = run.beginsWithDiscontinuity {
            let isWritten = run.date == nil && own.contains { $0.tag == .discontinuity }
            if hasDiscontinuity, !isWritten { writeLine("#EXT-X-DISCONTINUITY") }
        } else if !isFirstRun, !own.contains(where: { $0.tag == .discontinuity }) {
            writeLine("#EXT-X-DISCONTINUITY")
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
            writeKeys(mapKeys, of: playlist, hasOwnKeys: map.isOwn && own.hasKey(before: map.line.lowerBound))
            if !map.isOwn { writeLine(playlist.text(map.line)) }
        }
        // Keys with explicit vectors are written with the segment itself.
        let keys = playlist.keyLines(for: position)
        let isUnderOwnMap = map?.isOwn ?? false
        if !isUnderOwnMap {
            writeKeys(
                keys,
                of: playlist,
                hasOwnKeys: own.contains { $0.tag == .key },
                withLines: !run.needsExplicitVectors
            )
        }
        if !run.omitsBitRates, let bitRate = playlist.bitRateLine(for: position), !bitRate.isOwn {
            writeLine(playlist.text(bitRate.line))
        }
        let segment = playlist.segments[position]
        if let date = run.date {
            writeLine("#EXT-X-PROGRAM-DATE-TIME:\(date)")
        } else if let date = segment.programDateTime, !segment.hasOwnProgramDateTime {
            writeLine("#EXT-X-PROGRAM-DATE-TIME:\(date)")
        }
    }

    /// Writes the keys that apply to the following lines, and ends the keys of the preceding run.
    ///
    /// - Parameters:
    ///   - keys: All keys that apply to a segment or a map.
    ///   - playlist: The playlist of the keys.
    ///   - hasOwnKeys: Whether the segment's own lines set the keys, possibly with `METHOD=NONE`, before they are
    ///     needed.
    ///   - withLines: Whether to write the lines of inherited keys.
    private mutating func writeKeys(
        _ keys: [MediaPlaylist.KeyLine],
        of playlist: MediaPlaylist,
        hasOwnKeys: Bool,
        withLines: Bool = true
    ) {
        let formats = Set(keys.map(\.format))
        // A key replaces only the key of the same format, whereas `METHOD=NONE` in the segment's own lines ends all of
        // them.
        if !keyFormats.isSubset(of: formats), !(keys.isEmpty && hasOwnKeys) {
            writeLine("#EXT-X-KEY:METHOD=NONE")
            keyFormats = []
        }
        guard withLines else { return }
        for key in keys where !key.isOwn { writeLine(playlist.text(key.line)) }
        keyFormats = formats
    }

    private mutating func writeSegment(_ position: Int, of run: SegmentRun, isFirstOfRun: Bool) {
        var lines = run.playlist.lines(ofSegment: position)[...]
        if position == 0 {
            lines = lines.dropFirst(Self.headerLines(of: run.playlist, isSeparate: !run.isPrimary).count)
        }
        // Keys encrypt the maps after them, so keys with explicit vectors are written after the last map of the
        // segment.
        let lastMap = run.needsExplicitVectors ? lines.last { $0.tag == .map }?.range.lowerBound : nil
        var hasPendingVectors = run.needsExplicitVectors
        if hasPendingVectors, lastMap == nil, !lines.contains(where: { $0.tag == .key }),
            !run.playlist.keyLines(for: position).isEmpty
        {
            writeKeysWithVectors(position, of: run.playlist)
        }
        let needsExplicitOffset = isFirstOfRun && run.playlist.hasImpliedOffset(position)
        for line in lines {
            switch line.tag {
            case .map where line.range.lowerBound == lastMap:
                write(line, of: run.playlist)
                keyFormats = Set(run.playlist.mapKeyLines(for: position).map(\.format))
                if !keyFormats.isEmpty || !run.playlist.keyLines(for: position).isEmpty {
                    writeKeysWithVectors(position, of: run.playlist)
                }
                hasPendingVectors = false
            case .key where run.needsExplicitVectors && line.range.lowerBound >= lastMap ?? 0:
                if hasPendingVectors { writeKeysWithVectors(position, of: run.playlist) }
                hasPendingVectors = false
            case .byteRange where needsExplicitOffset:
                if let range = run.playlist.segments[position].byteRange {
                    writeLine("#EXT-X-BYTERANGE:\(range)")
                }
            case .endList, .skip: break
            case .bitRate where run.omitsBitRates: break
            case _ where run.isPrimary && isMoved(line): break
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
        append(patch.applied(to: run.playlist.bytes, in: line.range))
    }

    /// Writes the keys of a segment with explicit initialization vectors, computed from its original sequence number.
    private mutating func writeKeysWithVectors(_ position: Int, of playlist: MediaPlaylist) {
        let keys = playlist.keyLines(for: position)
        let formats = Set(keys.map(\.format))
        if keys.isEmpty || !keyFormats.isSubset(of: formats) { writeLine("#EXT-X-KEY:METHOD=NONE") }
        keyFormats = formats
        for key in keys {
            let text = playlist.text(key.line)
            guard key.usesSequenceAsVector else {
                writeLine(text)
                continue
            }
            let digits = String(playlist.segments[position].sequence, radix: 16)
            writeLine(text + ",IV=0x" + String(repeating: "0", count: 32 - digits.count) + digits)
        }
    }

    // MARK: Lines

    private mutating func write(_ line: MediaPlaylist.EditableLine, of playlist: MediaPlaylist) {
        if line.tag == .start, start == .removed { return }
        if let value = line.value, let text = replacement(for: line.tag) {
            var patch = PlaylistPatch()
            patch.replace(value, with: text)
            append(patch.applied(to: playlist.bytes, in: line.range))
        } else {
            append(playlist.bytes[line.range])
        }
    }

    /// Returns the new value of a tag of the host, or `nil` if its value is unchanged.
    private func replacement(for tag: TagName?) -> String? {
        func changed<Value: Equatable>(_ value: Value?, from written: Value?) -> String? {
            value == written ? nil : value.map { "\($0)" }
        }
        if tag == .start, case .moved(let attributes) = start { return attributes }
        if tag == .targetDuration { return changed(target, from: primary.targetDuration?.roundedSeconds) }
        if tag == .version { return changed(version, from: primary.declaredVersion) }
        if tag == .mediaSequence { return changed(firstSequence, from: primary.mediaSequence) }
        if tag == .discontinuitySequence {
            return changed(firstDiscontinuitySequence, from: primary.discontinuitySequence)
        }
        return nil
    }

    /// The discontinuity sequence number of the first segment in the result, without its own discontinuity tag.
    private var firstDiscontinuitySequence: Int64 {
        if let numbering { return numbering.discontinuitySequence }
        // A run of another playlist before the host starts at position 0, like the host.
        guard let first = runs.first else { return primary.discontinuitySequence }
        let segment = primary.segments[first.positions.lowerBound]
        return segment.discontinuitySequence -| (segment.hasDiscontinuity ? 1 : 0)
    }

    private mutating func writeLine(_ text: String) {
        append(Array((text + lineEnd).utf8))
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        // A playlist may have no line ending after its last line.
        if let last = output.last, last != UInt8(ascii: "\n") { output += Array(lineEnd.utf8) }
        output += bytes
    }

    /// The largest target duration of all playlists, in whole seconds (§4.4.3.1).
    private var target: Int64? {
        let target = runs.map(\.playlist).compactMap { $0.targetDuration?.roundedUpSeconds }.max()
        return target.map { max($0, numbering?.targetDuration ?? 0) }
    }

    /// The largest version of all playlists (§8), at least 2 for explicit initialization vectors.
    private var version: Int? {
        var declared = ([primary] + runs.map(\.playlist)).compactMap(\.declaredVersion).max()
        if let minimum = numbering?.version, minimum > 1 { declared = max(declared ?? minimum, minimum) }
        return runs.contains { $0.needsExplicitVectors } ? max(declared ?? 2, 2) : declared
    }
}

extension MediaPlaylist.EditableLine {
    /// A Boolean value that indicates whether the line is a tag that concerns the whole playlist.
    fileprivate var isPlaylistWide: Bool {
        guard let tag else { return false }
        return tag == .header || [.any, .mediaPlaylist].contains(tag.scope)
    }

    /// A Boolean value that indicates whether the line is preserved if its segment is removed.
    fileprivate var isPreservedWithoutSegment: Bool {
        guard let tag, tag != .endList else { return false }
        return tag == .dateRange || [.any, .mediaPlaylist].contains(tag.scope)
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

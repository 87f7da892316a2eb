import HLSPlaylist
import MediaTiming

/// Puts runs of segments together into one playlist, with everything at the seams that a player needs.
///
/// One playlist, the host, gives the header and what stands behind the last segment. Its lines are copied byte for
/// byte except where the edit concerns them. What holds for a segment but stands before a run's first one (key, map,
/// bit rate, date) is written again at the seam (RFC 8216bis §4.4.4).
struct MediaPlaylistAssembly {
    private let host: MediaPlaylist
    private let runs: [SegmentRun]
    private let lineEnd: String
    private var output: [UInt8] = []
    /// The number of the first segment that is written.
    private let firstSequence: Int64
    /// The formats of the keys that are in force for what is written next.
    private var keyFormats: Set<String> = []
    /// A Boolean value that indicates whether a map holds for what was written last.
    private var hasMap = false
    private let limits: PlaylistLimits

    private init(host: MediaPlaylist, runs: [SegmentRun], limits: PlaylistLimits) {
        self.host = host
        self.limits = limits
        lineEnd = host.lineEnd
        var planned = runs.filter { !$0.positions.isEmpty }
        var sequence = host.mediaSequence
        if let first = planned.first { sequence +|= Int64(first.positions.lowerBound) }
        firstSequence = sequence
        for index in planned.indices {
            planned[index].needsOwnVectors = Self.losesVectors(planned[index], newSequence: sequence)
            sequence +|= Int64(planned[index].positions.count)
        }
        self.runs = planned
    }

    /// Whether segments lose the number that their initialization vector is made of (§5.2).
    private static func losesVectors(_ run: SegmentRun, newSequence: Int64) -> Bool {
        let playlist = run.playlist
        guard playlist.segments[run.positions.lowerBound].sequence != newSequence else { return false }
        return run.positions.contains { position in
            playlist.keys(for: position).contains { $0.isIdentity && $0.initializationVector == nil }
        }
    }

    /// The playlist of these runs.
    ///
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` where one timeline cannot hold them,
    ///   ``PlaylistEditError/tooLarge(_:)`` where the result passes a limit.
    static func assemble(
        host: MediaPlaylist,
        runs: [SegmentRun],
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard host.skippedSegmentCount == 0 else {
            throw .cannotStitch(reason: "a delta update leaves segments out; load the whole playlist")
        }
        guard !host.segments.isEmpty else { throw .cannotStitch(reason: "the playlist has no segments") }
        var assembly = MediaPlaylistAssembly(host: host, runs: runs, limits: limits)
        try assembly.write()
        do {
            return try MediaPlaylist(parsing: assembly.output, context: host.context, limits: limits)
        } catch {
            throw PlaylistEditError(error, edit: "stitching")
        }
    }

    private mutating func write() throws(PlaylistEditError) {
        writeHeader()
        for (number, run) in runs.enumerated() {
            if number == 0 { writeKeptLines(ofSegments: 0..<run.positions.lowerBound) }
            // Before the first segment of the host, nothing is left out that an implied offset follows from.
            let isMoved = number > 0 || !run.isHost || run.positions.lowerBound > 0
            for position in run.positions {
                let isFirst = position == run.positions.lowerBound
                if isFirst { try writeSeam(of: run, isFirstRun: number == 0) }
                writeSegment(position, of: run, isFirstOfRun: isFirst && isMoved)
                // A long key that is written for each segment makes more of a playlist than it was.
                guard output.count <= limits.byteCount else { throw .tooLarge(.byteCount(limits.byteCount)) }
            }
            let last = run.positions.upperBound - 1
            keyFormats = Set(run.playlist.keyLines(for: last).map(\.format))
            hasMap = run.playlist.mapLine(for: last) != nil
            if run.isHost { writeKeptLines(ofSegments: run.positions.upperBound..<nextHostPosition(after: number)) }
        }
        writeTrailer()
    }

    /// The host's next segment that is written, behind all of them where none is.
    private func nextHostPosition(after number: Int) -> Int {
        runs[(number + 1)...].first { $0.isHost }?.positions.lowerBound ?? host.segments.count
    }

    // MARK: Header and trailer

    /// The lines before the first segment's own: those that are about the whole playlist.
    private var headerLines: ArraySlice<MediaPlaylist.EditableLine> {
        let lines = host.lines(ofSegment: 0)
        return lines.prefix { !$0.isAddress && $0.tag?.scope != .segment && $0.tag?.scope != .metadata }
    }

    private mutating func writeHeader() {
        let targetIsMissing = host.targetDuration == nil
        for line in headerLines {
            // An end marker in front of segments would end them before they began.
            if line.tag == .endList { continue }
            write(line, of: host)
            guard line.tag == .header else { continue }
            if targetIsMissing, let target { writeLine("#EXT-X-TARGETDURATION:\(target)") }
            if host.declaredVersion == nil, let version { writeLine("#EXT-X-VERSION:\(version)") }
            if host.declaredMediaSequence == nil, firstSequence > 0 {
                writeLine("#EXT-X-MEDIA-SEQUENCE:\(firstSequence)")
            }
            if host.discontinuitySequence == 0, firstDiscontinuitySequence > 0 {
                writeLine("#EXT-X-DISCONTINUITY-SEQUENCE:\(firstDiscontinuitySequence)")
            }
        }
    }

    /// What is written of lines whose segments are left out: everything that is not about those segments.
    private mutating func writeKeptLines(ofSegments positions: Range<Int>) {
        for position in positions {
            for line in host.lines(ofSegment: position).dropFirst(position == 0 ? headerLines.count : 0) {
                if line.concernsPlaylist { write(line, of: host) }
            }
        }
    }

    private mutating func writeTrailer() {
        let lines = host.lines(ofSegment: host.segments.count)
        guard let last = runs.last, !last.isHost || last.positions.upperBound < host.segments.count else {
            for line in lines { write(line, of: host) }
            // An end marker may be anywhere in a playlist (§4.4.3.4); before other segments it is not written.
            if host.hasEndMarker, !lines.contains(where: { $0.tag == .endList }) { writeLine("#EXT-X-ENDLIST") }
            return
        }
        // Parts, hints and reports announce media after an end that is now somewhere else.
        for line in lines where line.concernsPlaylist { write(line, of: host) }
        guard last.isHost || last.playlist.hasEndMarker else { return }
        if let line = lines.first(where: { $0.tag == .endList }) {
            write(line, of: host)
        } else {
            writeLine("#EXT-X-ENDLIST")
        }
    }

    // MARK: Segments

    private mutating func writeSeam(of run: SegmentRun, isFirstRun: Bool) throws(PlaylistEditError) {
        let position = run.positions.lowerBound
        let playlist = run.playlist
        let own = playlist.lines(ofSegment: position)
        if !isFirstRun, !own.contains(where: { $0.tag == .discontinuity }) { writeLine("#EXT-X-DISCONTINUITY") }
        let map = playlist.mapLine(for: position)
        if hasMap, map == nil {
            throw .cannotStitch(
                reason: "segments without EXT-X-MAP cannot follow segments with one: nothing takes a map back"
            )
        }
        if let map {
            // The map is under the keys before it, which may not be the segment's.
            let mapKeys = playlist.mapKeyLines(for: position)
            restate(mapKeys, of: playlist, hasOwnKeys: map.isOwn && own.hasKey(before: map.line.lowerBound))
            if !map.isOwn { writeLine(playlist.text(map.line)) }
        }
        // Keys with vectors are written with the segment itself.
        let keys = playlist.keyLines(for: position)
        let isUnderOwnMap = map?.isOwn ?? false
        if !isUnderOwnMap {
            restate(keys, of: playlist, hasOwnKeys: own.contains { $0.tag == .key }, withLines: !run.needsOwnVectors)
        }
        if let bitRate = playlist.bitRateLine(for: position), !bitRate.isOwn { writeLine(playlist.text(bitRate.line)) }
        let segment = playlist.segments[position]
        if let date = segment.programDateTime, !segment.hasOwnProgramDateTime {
            writeLine("#EXT-X-PROGRAM-DATE-TIME:\(date)")
        }
    }

    /// Puts keys in force that hold for what follows, and ends those of what was written before.
    ///
    /// - Parameters:
    ///   - keys: All keys that hold for a segment or a map.
    ///   - playlist: The playlist that they are from.
    ///   - hasOwnKeys: Whether some key line, be it one with `METHOD=NONE`, is written with the segment before it matters.
    ///   - withLines: Whether to write the lines of inherited keys.
    private mutating func restate(
        _ keys: [MediaPlaylist.KeyLine],
        of playlist: MediaPlaylist,
        hasOwnKeys: Bool,
        withLines: Bool = true
    ) {
        let formats = Set(keys.map(\.format))
        // A key replaces the one of its format only; an own line with METHOD=NONE ends all of them.
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
        if position == 0, run.isHost { lines = lines.dropFirst(headerLines.count) }
        // Keys stay on their side of a map, which they would encrypt otherwise: those with vectors follow the last one.
        let lastMap = run.needsOwnVectors ? lines.last { $0.tag == .map }?.range.lowerBound : nil
        var vectorsAreDue = run.needsOwnVectors
        if vectorsAreDue, lastMap == nil, !lines.contains(where: { $0.tag == .key }),
            !run.playlist.keyLines(for: position).isEmpty
        {
            writeKeysWithVectors(position, of: run.playlist)
        }
        let keptOffset = isFirstOfRun && run.playlist.hasImpliedOffset(position)
        for line in lines {
            switch line.tag {
            case .map where line.range.lowerBound == lastMap:
                write(line, of: run.playlist)
                keyFormats = Set(run.playlist.mapKeyLines(for: position).map(\.format))
                if !keyFormats.isEmpty || !run.playlist.keyLines(for: position).isEmpty {
                    writeKeysWithVectors(position, of: run.playlist)
                }
                vectorsAreDue = false
            case .key where run.needsOwnVectors && line.range.lowerBound >= lastMap ?? 0:
                if vectorsAreDue { writeKeysWithVectors(position, of: run.playlist) }
                vectorsAreDue = false
            case .byteRange where keptOffset:
                if let range = run.playlist.segments[position].byteRange {
                    writeLine("#EXT-X-BYTERANGE:\(range)")
                }
            case .endList, .skip: break
            case let tag? where !run.isHost && (tag.scope == .any || tag.scope == .mediaPlaylist): break
            case .preloadHint, .renditionReport:
                if run.isHost { write(line, of: host) }
            default: write(line, of: run.playlist)
            }
        }
    }

    /// Writes a segment's keys with the vectors that its number used to give them.
    private mutating func writeKeysWithVectors(_ position: Int, of playlist: MediaPlaylist) {
        let keys = playlist.keyLines(for: position)
        let formats = Set(keys.map(\.format))
        if keys.isEmpty || !keyFormats.isSubset(of: formats) { writeLine("#EXT-X-KEY:METHOD=NONE") }
        keyFormats = formats
        for key in keys {
            let text = playlist.text(key.line)
            guard key.needsVector else {
                writeLine(text)
                continue
            }
            let digits = String(playlist.segments[position].sequence, radix: 16)
            writeLine(text + ",IV=0x" + String(repeating: "0", count: 32 - digits.count) + digits)
        }
    }

    // MARK: Lines

    private mutating func write(_ line: MediaPlaylist.EditableLine, of playlist: MediaPlaylist) {
        if let value = line.value, let text = replacement(for: line.tag) {
            var patch = PlaylistPatch()
            if String(decoding: playlist.bytes[value], as: UTF8.self) != text { patch.replace(value, with: text) }
            append(patch.applied(to: playlist.bytes, in: line.range))
        } else {
            append(playlist.bytes[line.range])
        }
    }

    /// The value that a line of the host's gets; `nil` where it keeps its own.
    private func replacement(for tag: TagName?) -> String? {
        switch tag {
        case .targetDuration: target == host.targetDuration?.roundedSeconds ? nil : target.map(String.init)
        case .version: version == host.declaredVersion ? nil : version.map(String.init)
        case .mediaSequence:
            firstSequence == host.mediaSequence ? nil : String(firstSequence)
        case .discontinuitySequence:
            firstDiscontinuitySequence == host.discontinuitySequence ? nil : String(firstDiscontinuitySequence)
        default: nil
        }
    }

    /// The discontinuity number of the first segment that is written, less the discontinuity it brings itself.
    private var firstDiscontinuitySequence: Int64 {
        // Another playlist is written from its first segment on, before the first of the host.
        guard let first = runs.first else { return host.discontinuitySequence }
        let segment = host.segments[first.positions.lowerBound]
        return segment.discontinuitySequence -| (segment.hasDiscontinuity ? 1 : 0)
    }

    private mutating func writeLine(_ text: String) {
        append(Array((text + lineEnd).utf8))
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        // A playlist may end without a line end, and another may be put behind it.
        if let last = output.last, last != UInt8(ascii: "\n") { output += Array(lineEnd.utf8) }
        output += bytes
    }

    /// The largest target duration of all, whole seconds (§4.4.3.1).
    private var target: Int64? { runs.map(\.playlist).compactMap { $0.targetDuration?.roundedUpSeconds }.max() }

    /// The largest version of all (§8).
    private var version: Int? {
        let declared = ([host] + runs.map(\.playlist)).compactMap(\.declaredVersion).max()
        return runs.contains { $0.needsOwnVectors } ? max(declared ?? 2, 2) : declared
    }
}

extension MediaPlaylist.EditableLine {
    /// A Boolean value that indicates whether the line stays where the segment it is written with is left out.
    fileprivate var concernsPlaylist: Bool {
        guard let tag, tag != .endList else { return false }
        return tag == .dateRange || [.any, .mediaPlaylist].contains(tag.scope)
    }
}

extension Collection where Element == MediaPlaylist.EditableLine {
    /// A Boolean value that indicates whether a key is written before the given position.
    fileprivate func hasKey(before offset: Int) -> Bool {
        contains { $0.tag == .key && $0.range.lowerBound < offset }
    }
}

extension MediaPlaylist {
    /// The text of a line without its end.
    func text(_ line: Range<Int>) -> String {
        String(decoding: bytes[line].prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}

extension MediaTime {
    /// Whole seconds, any part of one counted as one.
    var roundedUpSeconds: Int64 {
        let (whole, part) = value.quotientAndRemainder(dividingBy: timescale)
        return part > 0 ? whole +| 1 : whole
    }
}

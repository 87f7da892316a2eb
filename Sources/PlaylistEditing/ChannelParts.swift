import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The partial segments of a simulated channel, and the tags with which a playlist refers to them (RFC 8216bis §4.4.3.7,
/// §4.4.3.8, §4.4.4.9 and §4.4.5.3).
struct ChannelParts {
    private let schedule: ChannelSchedule
    private let source: MediaPlaylist
    private let target: MediaTime

    /// The number of target durations before the end of a playlist in which segments have parts (§6.2.2).
    private static let partWindow: Int64 = 3

    /// Creates the parts of a channel.
    ///
    /// - Returns: `nil` if the channel has no parts.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the segments cannot be divided.
    init?(_ schedule: ChannelSchedule, _ source: MediaPlaylist) throws(PlaylistEditError) {
        guard let target = schedule.channel.partTarget else { return nil }
        guard source.keys.isEmpty else {
            throw .cannotStitch(reason: "encrypted segments cannot be divided into parts; leave out part=\(target)")
        }
        let longest = source.segments.indices.lazy.map { source.segments.timeRange(at: $0).duration }.max() ?? .zero
        guard longest <= target * Int64(SegmentPart.maximumCount) else {
            throw .cannotStitch(
                reason: "a segment of \(longest) s has more than \(SegmentPart.maximumCount) parts of \(target) s"
            )
        }
        self.schedule = schedule
        self.source = source
        self.target = target
    }

    /// Returns the number of parts of a segment.
    ///
    /// It is zero for a gap, for a key frame, and for a WebVTT file, because players show all cues of a file.
    private func count(of number: Int64) -> Int {
        let segment = schedule.segment(number)
        let media = source.segments[segment.position]
        guard !source.isIFramesOnly, !media.isGap, !SubtitleClip.isWebVTT(media.address) else { return 0 }
        var count = 1
        while segment.start + target * Int64(count) < segment.publication { count += 1 }
        return count
    }

    /// Returns the time since the start of the channel at which a part is published.
    private func publication(of part: Int, in number: Int64) -> MediaTime {
        let segment = schedule.segment(number)
        return min(segment.start + target * (Int64(part) +| 1), segment.publication)
    }

    /// Returns the time since the start of the channel at which the playlist contains a position.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - end: The number after that of the last finished segment.
    /// - Returns: The time, which is zero for a position that any playlist of the channel contains.
    /// - Throws: ``PlaylistEditError/invalidValue(edit:value:expected:)`` for a segment that is too far in the future.
    func publication(of position: PartDelivery.Position, after end: Int64) throws(PlaylistEditError) -> MediaTime {
        // The last segment has the number before `end`, and clients wait for the next two at most (§6.2.5.2).
        guard position.sequence <= end +| 1 else {
            throw .invalidValue(
                edit: "_HLS_msn",
                value: "\(position.sequence)",
                expected: "at most \(end +| 1), two more than the last segment"
            )
        }
        guard position.sequence >= end else { return .zero }
        guard schedule.hasSegment(position.sequence) else { return schedule.cycle }
        let count = count(of: position.sequence)
        guard let part = position.part, count > 0 else { return schedule.segment(position.sequence).publication }
        guard part >= count else { return publication(of: part, in: position.sequence) }
        // The part is the first one of the next segment (§6.2.5.2).
        guard schedule.hasSegment(position.sequence +| 1) else { return schedule.cycle }
        return publication(of: 0, in: position.sequence +| 1)
    }

    /// Returns a playlist with the tags of the parts that are published.
    ///
    /// - Parameters:
    ///   - playlist: The playlist of whole segments.
    ///   - numbers: The numbers of its segments.
    ///   - isLastUnfinished: Whether its last segment is not published, so that only its parts are listed.
    ///   - elapsed: The time since the start of the channel.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func writing(
        into playlist: MediaPlaylist,
        _ numbers: Range<Int64>,
        isLastUnfinished: Bool,
        at elapsed: MediaTime,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        var patch = PlaylistPatch()
        let end = playlist.lineEnd
        writeHeader(of: playlist, &patch)
        let window = MediaTime(seconds: Self.partWindow *| (playlist.targetDuration?.roundedUpSeconds ?? 0))
        for position in playlist.segments.indices {
            let number = numbers.lowerBound +| Int64(position)
            let isUnfinished = isLastUnfinished && number == numbers.upperBound -| 1
            guard isUnfinished || schedule.segment(number).publication > elapsed - window else { continue }
            let lines = playlist.lines(ofSegment: position)
            let parts = (0..<count(of: number)).filter { publication(of: $0, in: number) <= elapsed }
            let text = parts.map { line(of: $0, in: number) + end }.joined()
            guard isUnfinished else {
                if let first = lines.first(where: { $0.tag == .segmentInformation }) {
                    patch.replace(first.range.lowerBound..<first.range.lowerBound, with: text)
                }
                continue
            }
            let hint = parts.count < count(of: number) ? preloadHint(of: parts.count, in: number) + end : ""
            let removed = lines.filter {
                $0.isURI || [.segmentInformation, .byteRange, .gap, .bitRate].contains($0.tag)
            }
            for (index, line) in removed.enumerated() {
                patch.replace(line.range, with: index == removed.count - 1 ? text + hint : "")
            }
        }
        return try Playlist.media(playlist).patched(patch, edit: "live", limits: limits).asMedia(after: "live")
    }

    /// Writes the tags that concern the whole playlist in place of those of the source.
    private func writeHeader(of playlist: MediaPlaylist, _ patch: inout PlaylistPatch) {
        let lines = playlist.lines(ofSegment: 0)
        for line in lines where line.tag == .serverControl || line.tag == .partInformation { patch.remove(line.range) }
        guard let first = lines.first(where: { $0.tag == .targetDuration }) ?? lines.first else { return }
        let end = playlist.lineEnd
        // Clients stay three parts behind the end (§4.4.3.8).
        patch.replace(
            first.range.upperBound..<first.range.upperBound,
            with: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=\(target * 3)\(end)"
                + "#EXT-X-PART-INF:PART-TARGET=\(target)\(end)"
        )
    }

    private func line(of part: Int, in number: Int64) -> String {
        let segment = schedule.segment(number)
        let start = segment.start + target * Int64(part)
        let duration = publication(of: part, in: number) - start
        // Decoding can start at the beginning of a segment.
        let independence = part == 0 ? ",INDEPENDENT=YES" : ""
        return "#EXT-X-PART:DURATION=\(duration),URI=\"\(uri(of: part, in: number))\"\(independence)"
    }

    private func preloadHint(of part: Int, in number: Int64) -> String {
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(uri(of: part, in: number))\""
    }

    private func uri(of part: Int, in number: Int64) -> String {
        let date = schedule.channel.start.advanced(by: publication(of: part, in: number))
        let position = schedule.segment(number).position
        return SegmentPart(
            part,
            of: source.segments[position],
            count: count(of: number),
            target: target,
            publication: date
        ).address.text.replacing("\"", with: "%22")
    }
}

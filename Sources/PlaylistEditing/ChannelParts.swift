import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The partial segments of a simulated channel, and the tags with which a playlist refers to them (RFC 8216bis §4.4.3.7,
/// §4.4.3.8, §4.4.4.9 and §4.4.5.3).
struct ChannelParts {
    /// The parts of a segment.
    private struct Segment {
        let position: Int
        let start: MediaTime
        let end: MediaTime
        /// The number of parts.
        let count: Int
        let target: MediaTime

        /// Returns the time since the start of the channel at which a part is published.
        func publication(of part: Int) -> MediaTime { min(start + target * (Int64(part) +| 1), end) }
    }

    private let schedule: ChannelSchedule
    private let source: MediaPlaylist
    private let target: MediaTime

    /// The number of target durations before the end of a playlist in which segments have parts (§6.2.2).
    private static let partWindow: Int64 = 3
    /// The lowest version of a playlist with delta updates that skip date ranges (§8).
    private static let deltaUpdateVersion = 10

    /// Creates the parts of a channel.
    ///
    /// - Returns: `nil` if the channel has no parts.
    /// - Throws: ``PlaylistEditError/cannotStitch(reason:)`` if the segments cannot be divided.
    init?(_ schedule: ChannelSchedule, _ source: MediaPlaylist) throws(PlaylistEditError) {
        guard let target = schedule.channel.partTarget else { return nil }
        guard source.keys.isEmpty else {
            throw .cannotStitch(reason: "encrypted segments cannot be divided into parts; leave out part=\(target)")
        }
        let divided = source.segments.indices.lazy.filter { Self.isDivided(source, $0) }
        let longest = divided.map { source.segments.timeRange(at: $0).duration }.max() ?? .zero
        guard longest <= target * Int64(SegmentPart.maximumCount) else {
            throw .cannotStitch(
                reason: "a segment of \(ClockText.seconds(longest)) has more than \(SegmentPart.maximumCount) parts of "
                    + ClockText.seconds(target)
            )
        }
        self.schedule = schedule
        self.source = source
        self.target = target
    }

    /// Returns a Boolean value that indicates whether a segment has parts.
    ///
    /// A gap and a key frame have none, and a WebVTT file neither, because players show all cues of a file.
    private static func isDivided(_ source: MediaPlaylist, _ position: Int) -> Bool {
        let segment = source.segments[position]
        return !source.isIFramesOnly && !segment.isGap && !SubtitleClip.isWebVTT(segment.address)
    }

    private func segment(_ number: Int64) -> Segment {
        let (position, start, end) = schedule.segment(number)
        var count = 0
        if Self.isDivided(source, position) {
            count = 1
            while start + target * Int64(count) < end { count += 1 }
        }
        return Segment(position: position, start: start, end: end, count: count, target: target)
    }

    /// Returns the time since the start of the channel at which the playlist contains a position.
    ///
    /// - Parameters:
    ///   - position: The position.
    ///   - end: The number after that of the last finished segment.
    ///   - elapsed: The time since the start of the channel.
    /// - Returns: The time, which is zero for a position that any playlist of the channel contains.
    /// - Throws: ``PlaylistEditError/invalidValue(edit:value:expected:)`` for a position that is too far in the future.
    func publication(
        of position: PartDelivery.Position,
        after end: Int64,
        at elapsed: MediaTime
    ) throws(PlaylistEditError) -> MediaTime {
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
        let segment = segment(position.sequence)
        guard let part = position.part, segment.count > 0 else { return segment.end }
        let next = position.sequence == end ? publishedCount(of: segment, at: elapsed) : 0
        guard part < next +| advanceLimit else {
            throw .invalidValue(
                edit: "_HLS_part",
                value: "\(part)",
                expected: "less than \(next +| advanceLimit), \(advanceLimit) after the last part"
            )
        }
        guard part >= segment.count else { return segment.publication(of: part) }
        // The part is the first one of the next segment (§6.2.5.2).
        guard schedule.hasSegment(position.sequence +| 1) else { return schedule.cycle }
        let following = self.segment(position.sequence +| 1)
        return following.count > 0 ? following.publication(of: 0) : following.end
    }

    /// The number of parts after the last one for which clients wait at most, the advance part limit (§6.2.5.2).
    private var advanceLimit: Int {
        target < MediaTime(seconds: 1) ? Int(saturating: (3 / target.seconds).rounded(.up)) : 3
    }

    /// Returns the number of parts of a segment that are published.
    private func publishedCount(of segment: Segment, at elapsed: MediaTime) -> Int {
        (0..<segment.count).prefix { segment.publication(of: $0) <= elapsed }.count
    }

    // MARK: Tags

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
        writeHeader(of: playlist, &patch)
        var size = playlist.bytes.count
        var entryCount = Playlist.media(playlist).entryCount
        let window = MediaTime(seconds: Self.partWindow *| (playlist.targetDuration?.roundedUpSeconds ?? 0))
        for position in playlist.segments.indices {
            let number = numbers.lowerBound +| Int64(position)
            let isUnfinished = isLastUnfinished && number == numbers.upperBound -| 1
            guard isUnfinished || schedule.segment(number).publication > elapsed - window else { continue }
            let segment = segment(number)
            // The last segment is replaced with its parts.
            entryCount +|= isUnfinished ? 0 : segment.count
            guard entryCount <= limits.entryCount else { throw .tooLarge(.entryCount(limits.entryCount)) }
            let text = try text(of: segment, isUnfinished, playlist.lineEnd, at: elapsed, after: size, limits)
            size +|= text.utf8.count
            let lines = playlist.lines(ofSegment: position)
            if isUnfinished {
                let removed = lines.filter {
                    $0.isURI || [.segmentInformation, .byteRange, .gap, .bitRate].contains($0.tag)
                }
                for line in removed.dropLast() { patch.remove(line.range) }
                if let last = removed.last { patch.replace(last.range, with: text) }
            } else if let start = Self.start(of: lines) {
                patch.replace(start..<start, with: text)
            }
        }
        return try Playlist.media(playlist).patched(patch, edit: "live", limits: limits).asMedia(after: "live")
    }

    /// Returns the offset of the parts among the lines of their segment: before its duration, but after all tags that apply to
    /// its media.
    private static func start(of lines: [MediaPlaylist.EditableLine]) -> Int? {
        let applied = lines.last { [.map, .key, .discontinuity, .programDateTime].contains($0.tag) }
        guard let duration = lines.first(where: { $0.tag == .segmentInformation }) else { return nil }
        return max(duration.range.lowerBound, applied?.range.upperBound ?? 0)
    }

    /// Returns the tags of the parts of a segment, and of the next part of an unfinished one.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - isUnfinished: Whether the segment is not published yet.
    ///   - lineEnd: The line ending of the playlist.
    ///   - elapsed: The time since the start of the channel.
    ///   - size: The size of the playlist so far, in bytes.
    ///   - limits: The maximum sizes of the playlist.
    /// - Returns: The lines.
    /// - Throws: ``PlaylistEditError/tooLarge(_:)`` if the playlist would exceed its maximum size.
    private func text(
        of segment: Segment,
        _ isUnfinished: Bool,
        _ lineEnd: String,
        at elapsed: MediaTime,
        after size: Int,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> String {
        var text = ""
        let published = isUnfinished ? publishedCount(of: segment, at: elapsed) : segment.count
        for part in 0..<min(published +| 1, segment.count) {
            let address = address(of: part, in: segment)
            if part < published {
                let duration = segment.publication(of: part) - (segment.start + target * Int64(part))
                // Decoding can start at the beginning of a segment.
                let independence = part == 0 ? ",INDEPENDENT=YES" : ""
                text += "#EXT-X-PART:DURATION=\(duration),URI=\"\(address)\"\(independence)\(lineEnd)"
            } else {
                text += "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(address)\"\(lineEnd)"
            }
            guard size +| text.utf8.count <= limits.byteCount else { throw .tooLarge(.byteCount(limits.byteCount)) }
        }
        return text
    }

    /// Writes the tags that concern the whole playlist.
    private func writeHeader(of playlist: MediaPlaylist, _ patch: inout PlaylistPatch) {
        let lines = playlist.lines(ofSegment: 0)
        guard let first = lines.first(where: { $0.tag == .targetDuration }) ?? lines.first else { return }
        let end = playlist.lineEnd
        let boundary = MediaTime(
            seconds: MediaPlaylist.skipBoundaryTargetCount *| (playlist.targetDuration?.roundedUpSeconds ?? 0)
        )
        // A shorter window has no segments that a delta update could skip.
        let offersDeltaUpdates = boundary > .zero && schedule.channel.window > boundary
        if offersDeltaUpdates { playlist.raiseVersion(to: Self.deltaUpdateVersion, in: &patch) }
        let skipping = offersDeltaUpdates ? ",CAN-SKIP-UNTIL=\(boundary),CAN-SKIP-DATERANGES=YES" : ""
        // Clients stay three parts behind the end (§4.4.3.8).
        patch.replace(
            first.range.upperBound..<first.range.upperBound,
            with: "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=\(target * 3)\(skipping)\(end)"
                + "#EXT-X-PART-INF:PART-TARGET=\(target)\(end)"
        )
    }

    private func address(of part: Int, in segment: Segment) -> String {
        let published = SegmentPart(
            part,
            of: source.segments[segment.position],
            count: segment.count,
            target: target,
            publication: schedule.channel.start.advanced(by: segment.publication(of: part))
        )
        return WrittenText.uri(published.address.text)
    }
}

extension MediaPlaylist {
    /// The tags of a playlist with low latency, which concern the server that publishes it.
    private static let lowLatencyTags: [TagName] = [
        .serverControl, .partInformation, .part, .preloadHint, .renditionReport,
    ]

    /// Returns the playlist without the tags of a playlist with low latency.
    ///
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    func withoutLowLatency(limits: PlaylistLimits) throws(PlaylistEditError) -> MediaPlaylist {
        var patch = PlaylistPatch()
        for position in 0...segments.count {
            for line in lines(ofSegment: position) {
                if let tag = line.tag, Self.lowLatencyTags.contains(tag) { patch.remove(line.range) }
            }
        }
        let name = "the removal of the tags of low latency"
        return try Playlist.media(self).patched(patch, edit: name, limits: limits).asMedia(after: name)
    }
}

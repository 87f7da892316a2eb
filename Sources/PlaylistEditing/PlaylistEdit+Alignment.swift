import HLSPlaylist
import MediaTiming

/// The playlists that determine where the tracks of a presentation are cut together.
struct EditAlignment: Sendable {
    /// The edits of the media playlists of a presentation.
    struct Plans: Sendable {
        /// The URI of the media playlist with which the others are aligned; `nil` for all variants with video.
        var videoURI: String?
        /// The edits of this media playlist.
        var video: EditPlan
        /// The edits of all other tracks but subtitles.
        var others: EditPlan
        /// The edits of the subtitles, whose files are divided where they are cut.
        var subtitles: EditPlan
    }

    /// The media playlist of the video, before the edits.
    let video: MediaPlaylist
    /// The URI of this media playlist in the multivariant playlist.
    let videoURI: String
    /// The edits of this media playlist, in order.
    let edits: [PlaylistEdit]
    /// The number of edits up to the last one that is aligned.
    let alignedCount: Int
    /// A Boolean value that indicates whether the start position of the multivariant playlist may move.
    let movesStart: Bool
    /// The playlists that the edits insert into it, by name.
    let inserted: [String: MediaPlaylist]

    /// Returns the plans for the tracks of a presentation.
    ///
    /// - Parameters:
    ///   - plan: The plan of the presentation.
    ///   - context: The circumstances of the edits.
    ///   - check: A closure that is called between edits, and throws an error to stop.
    /// - Returns: The plans; `nil` if an edit cannot be applied, which is reported when the variant is edited.
    /// - Throws: The error of `check`.
    func plans(for plan: EditPlan, _ context: EditContext, check: () throws -> Void) throws -> Plans? {
        var ofVideo = plan.edits.filter { !$0.isFilter }
        var ofOthers = ofVideo
        var combined = RemainingTimes.CombinedEdits()
        var context = context
        context.sources = inserted
        var video = video
        for index in 0..<alignedCount {
            try check()
            let inserted = edits[index].source.flatMap { try? context.insertedPlaylist($0) }
            ofOthers[index] = ofOthers[index].aligned(with: video, inserted)
            combined.append(ofOthers[index], of: video)
            if ofVideo[index].isAlignedForVideo { ofVideo[index] = ofVideo[index].aligned(with: video, inserted) }
            guard index < alignedCount - 1 else { break }
            guard let edited = try? EditPlan([edits[index]]).applied(to: video, context) else { return nil }
            video = edited
        }
        // The segments of other tracks are known only in complete presentations.
        if !self.video.isLive {
            for edit in ofOthers.dropFirst(alignedCount) { combined.append(edit, of: nil) }
            ofOthers = combined.all
        }
        return Plans(
            videoURI: videoURI,
            video: EditPlan(ofVideo),
            others: EditPlan(ofOthers),
            subtitles: EditPlan(Self.dividingSubtitles(for: ofOthers))
        )
    }

    /// Returns an edited multivariant playlist whose start position (RFC 8216bis §4.4.2.2), if any, is that of the same media
    /// as before the edits.
    ///
    /// - Parameters:
    ///   - edited: The playlist after the edits that apply to it.
    ///   - original: The playlist before the edits.
    ///   - context: The circumstances of the edits.
    ///   - check: A closure that is called between edits, and throws an error to stop.
    /// - Returns: The playlist, without a start position if that media is removed.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit, or the error of `check`.
    func movingStart(
        of edited: MultivariantPlaylist,
        from original: MultivariantPlaylist,
        _ context: EditContext,
        check: () throws -> Void
    ) throws -> MultivariantPlaylist {
        guard movesStart, let declared = edited.start else { return edited }
        var context = context
        context.sources = inserted
        // The video has the position as its own, which the edits move.
        var video = video
        for edit in [original.start?.edit].compactMap(\.self) + edits {
            try check()
            // An edit that cannot be applied is reported when the variant is edited.
            guard let next = try? EditPlan([edit]).applied(to: video, context) else { return edited }
            video = next
        }
        guard video.start != declared else { return edited }
        let change = video.start?.edit ?? .stripTags([TagName.start.name])
        return try EditPlan([change]).applied(to: edited, sources: [:], context)
    }

    /// Returns edits of subtitles, each after a division of their files where it cuts.
    private static func dividingSubtitles(for edits: [PlaylistEdit]) -> [PlaylistEdit] {
        var result: [PlaylistEdit] = []
        for (index, edit) in edits.enumerated() {
            let times = edit.steps.cutTimes.filter { $0 > .zero && $0 < MediaTimeRange.unbounded.end }
            // A file is divided only if it is the only segment at first.
            if index == 0 || !times.isEmpty {
                result.append(.split(times.isEmpty ? [.zero] : times))
            }
            result.append(edit)
        }
        return result
    }
}

extension PlaylistEdit {
    /// A Boolean value that indicates whether the edit of each track depends on the video of the presentation.
    var isAligned: Bool { steps.alignment != nil }

    /// A Boolean value that indicates whether the edit of the video itself depends on the reference too.
    var isAlignedForVideo: Bool { steps.alignment?.includesVideo ?? false }

    /// Returns the edit for the other tracks of a presentation.
    ///
    /// - Parameters:
    ///   - video: The media playlist of the video, before this edit.
    ///   - inserted: The playlist that the edit inserts into that of the video.
    /// - Returns: The edit; the same edit if it does not depend on the video, or cannot be applied to it.
    func aligned(with video: MediaPlaylist, _ inserted: MediaPlaylist?) -> PlaylistEdit {
        guard let aligned = steps.alignment?.edit(video, inserted) else { return self }
        guard video.isLive else { return aligned }
        // Segments that are published later can be within the times.
        let end = MediaTimeRange.unbounded.end
        let (own, times) = (steps.cutTimes, aligned.steps.cutTimes)
        guard own.allSatisfy({ $0 <= video.duration || $0 == end }) else { return self }
        // An edit up to the end concerns them, and no other edit does.
        return !times.isEmpty && own.contains(end) == times.contains(end) ? aligned : self
    }
}

// The other tracks are cut at their boundaries nearest to the cuts of the video; see ``TrackSeam``.

extension TrackAlignment where Value == MediaTime {
    /// The rule for an edit that removes segments before a time.
    static var start: TrackAlignment {
        TrackAlignment { time, video, _ in
            guard let position = video.segments.position(at: time) else { return nil }
            let start = video.segments.timeRange(at: position).start
            return .trim(MediaTimeRange(start: start, end: MediaTimeRange.unbounded.end))
        }
    }

    /// The rule for an edit that limits the duration.
    static var duration: TrackAlignment {
        TrackAlignment { time, video, _ in
            let count = video.segmentCount(within: time)
            guard count > 0 else { return nil }
            // The other tracks are not shortened either, whatever their durations are.
            guard count < video.segments.count else { return .trim(.unbounded) }
            return .trim(MediaTimeRange(start: .zero, end: video.segments.timeRange(at: count - 1).end))
        }
    }
}

extension TrackAlignment where Value == MediaTimeRange {
    /// The rule for an edit that removes the segments inside a range.
    static var dropRange: TrackAlignment {
        TrackAlignment { range, video, _ in
            video.positions(inside: range).map { .cut(Range($0), of: video) }
        }
    }

    /// The rule for an edit that preserves the segments between boundaries.
    static var trim: TrackAlignment {
        TrackAlignment { range, video, _ in
            let positions = video.positions(trimmedToBoundariesNear: range)
            return positions.isEmpty ? nil : .trim(video.timeRange(of: positions))
        }
    }

    /// The rule for an edit that removes the segments between boundaries.
    static var cut: TrackAlignment {
        TrackAlignment { range, video, _ in
            let positions = video.positions(betweenBoundariesNear: range)
            // A range without a duration removes nothing from the other tracks either.
            guard !positions.isEmpty else { return .cut(MediaTimeRange(start: range.start, end: range.start)) }
            return .cut(positions, of: video)
        }
    }
}

extension PlaylistEdit {
    /// Returns the edit that cuts the other tracks at the place where segments are removed from the video.
    ///
    /// - Parameters:
    ///   - positions: The positions of the removed segments, at least one.
    ///   - video: The media playlist of the video, before this edit.
    /// - Returns: The edit. It adds no discontinuity at the start and at the end of the video.
    fileprivate static func cut(_ positions: Range<Int>, of video: MediaPlaylist) -> PlaylistEdit {
        guard positions.lowerBound > 0, positions.upperBound < video.segments.count else {
            return .cut(video.timeRange(of: positions))
        }
        return .exclude(.seams([video.seam(removing: positions)], of: nil))
    }
}

extension TrackAlignment where Value == SourceAtTime {
    /// The rule for an edit that inserts another playlist.
    static var insert: TrackAlignment {
        TrackAlignment { value, video, _ in
            let position = video.boundary(near: value.time)
            guard position < video.segments.count else { return .append(value.source) }
            guard position > 0 else { return .insert(value.source, at: .zero) }
            return .insert(value.source, at: video.seam(removing: position..<position))
        }
    }
}

extension TrackAlignment where Value == SourceAtBreaks {
    /// The rule for an edit that plays another playlist in breaks: the breaks of the other tracks are where those of the video are.
    static var breaks: TrackAlignment {
        TrackAlignment(dependsOnInserted: true) { value, video, inserted in
            guard !video.isLive, let inserted,
                let ranges = try? video.replacedRanges(value.rule.announced, with: inserted),
                ranges.count <= BreakRule.maximumLocationCount
            else { return nil }
            return .replaceBreaks(with: value.source, at: .located(at: ranges, of: value.rule.announced))
        }
    }
}

extension TrackAlignment where Value == SimulatedChannel {
    /// The rule for a simulated channel: all tracks have the target duration of the video, and their periods have the
    /// durations of those of the video.
    static var channel: TrackAlignment {
        TrackAlignment(includesVideo: true) { channel, video, _ in
            var aligned = channel
            aligned.periods = video.periodDurations
            aligned.targetDuration = video.targetDuration?.roundedUpSeconds
            // Durations that a URL cannot contain are an error when the media playlist is edited.
            guard channel.periods == nil, let readable = SimulatedChannel(aligned.description) else { return nil }
            return .live(readable)
        }
    }
}

extension MediaPlaylist {
    /// Returns the times of segments; the end is unbounded after the last segment, where other tracks may end later.
    func timeRange(of positions: Range<Int>) -> MediaTimeRange {
        MediaTimeRange(
            start: segments.timeRange(at: positions.lowerBound).start,
            end: positions.upperBound == segments.count
                ? MediaTimeRange.unbounded.end : segments.timeRange(at: positions.upperBound - 1).end
        )
    }
}

extension MediaTimeRange {
    /// The start and the end.
    var ends: [MediaTime] { [start, end] }

    /// The range as the value of an edit: without an end if it is unbounded.
    var editText: String { "\(start)...\(end < Self.unbounded.end ? end.description : "")" }

    /// The range of all times in a playlist.
    static var unbounded: MediaTimeRange { MediaTimeRange(start: .zero, end: MediaTime(seconds: 1 << 40)) }

    /// Creates a range from text of the form `START...END`; a missing end is after that of any playlist.
    init?(partial text: String) {
        guard let range = PartialRange<MediaTime>(text) else { return nil }
        self.init(start: range.low ?? .zero, end: range.high ?? Self.unbounded.end)
    }
}

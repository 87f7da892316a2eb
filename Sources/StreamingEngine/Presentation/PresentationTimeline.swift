package import HLSPlaylist
package import MediaTiming

/// The segments of a media playlist with their presentation times.
///
/// Presentation time is zero at the start of the first timeline of a presentation when it was first loaded, and never
/// changes: a segment keeps its time through all reloads, and later segments follow it. Times are sums of the durations
/// in the playlist, exact to the nanosecond.
///
/// A timeline is a value without a clock. Only the times of segments are stored; all other properties are parsed from
/// the playlist on access. A timeline of a hundred thousand segments has 16 bytes for each in addition to the playlist.
package struct PresentationTimeline: Sendable {
    /// The start and duration of a segment, in nanoseconds.
    struct Placement: Sendable {
        var start: Int64
        var duration: Int64

        var end: Int64 { start.addingSaturated(duration) }
        var range: MediaTimeRange {
            MediaTimeRange(start: MediaTime(nanoseconds: start), duration: MediaTime(nanoseconds: duration))
        }
    }

    /// The complete playlist of the last load.
    package internal(set) var playlist: MediaPlaylist
    /// The placements, one for each segment of the playlist.
    var placements: [Placement] = []
    /// The start of the next segment, in nanoseconds.
    var endPosition: Int64
    var anchors = DateAnchors()
    /// The number of times that the numbering of the playlist restarted.
    var epoch: Int
    /// The offset that is added to the discontinuity sequence numbers of the playlist, so that those of known segments
    /// do not change.
    var domainShift: Int64
    /// A Boolean value that indicates whether no segments are expected, even if a later playlist lacks the end marker.
    package internal(set) var hasEnded: Bool
    /// A Boolean value that indicates whether the playlist was a sliding window when it was first loaded.
    ///
    /// In this case the first segment may not be the beginning of the presentation.
    let startedAsWindow: Bool

    /// Creates the timeline of a loaded playlist.
    ///
    /// - Parameters:
    ///   - playlist: The complete playlist, not a delta update.
    ///   - start: The presentation time of the first segment. Default: 0, which is correct for the first timeline of a
    ///     presentation; for others see ``TimelineAlignment``.
    /// - Complexity: O(*n*) in the number of segments, without parsing their lines.
    package init(_ playlist: MediaPlaylist, start: MediaTime = .zero) {
        self.init(playlist, start: start.nanoseconds, epoch: 0, domainShift: 0)
    }

    /// Creates the timeline of a loaded playlist with a given alignment.
    ///
    /// - Complexity: O(*n*) in the number of segments, without parsing their lines.
    package init(_ playlist: MediaPlaylist, alignment: TimelineAlignment) {
        self.init(
            playlist,
            start: alignment.start.nanoseconds,
            epoch: alignment.epoch,
            domainShift: alignment.domainShift
        )
    }

    init(_ playlist: MediaPlaylist, start: Int64, epoch: Int, domainShift: Int64) {
        self.playlist = playlist
        self.epoch = epoch
        self.domainShift = domainShift
        endPosition = start
        hasEnded = !playlist.isLive
        startedAsWindow = playlist.isLive && playlist.playlistType != .event
        append(from: 0)
    }

    /// Places the segments from a position on, each after the previous one.
    mutating func append(from first: Int) {
        let segments = playlist.segments
        guard first < segments.count else { return }
        if placements.isEmpty { placements.reserveCapacity(segments.count - first) }
        let base = segments.timeRange(at: first).start.nanoseconds
        let origin = endPosition
        for position in first..<segments.count {
            let range = segments.timeRange(at: position)
            let start = origin.addingSaturated(range.start.nanoseconds -| base)
            let end = origin.addingSaturated(range.end.nanoseconds -| base)
            placements.append(Placement(start: start, duration: end.subtractingSaturated(start)))
            endPosition = end
        }
        addDates(from: first)
    }

    mutating func addDates(from first: Int) {
        // The last segment has a date whenever any segment has one, because dates are extrapolated to all later
        // segments. Without this test, each segment of a playlist without dates would be searched for one.
        guard let last = placements.indices.last, playlist.segments[last].programDateTime != nil else { return }
        for position in first..<placements.count {
            // The date may be from the playlist or extrapolated from an earlier one. Both are passed on, because
            // `append` ignores a date that the previous anchor already implies.
            guard let date = playlist.segments[position].programDateTime else { continue }
            anchors.append(date, at: placements[position].start)
        }
    }
}

extension PresentationTimeline {
    /// A Boolean value that indicates whether segments may be added.
    package var isLive: Bool { !hasEnded }
    /// A Boolean value that indicates whether segments may be removed at the beginning.
    ///
    /// False for playlists of the type EVENT or VOD (RFC 8216bis §4.4.3.5).
    package var isSliding: Bool { isLive && playlist.playlistType == nil }
    /// A Boolean value that indicates whether each segment is one I-frame (§4.4.3.6), with the time to the next one as
    /// its duration.
    package var isIFramesOnly: Bool { playlist.isIFramesOnly }

    /// The presentation time range from the first segment to the end of the last complete one.
    package var range: MediaTimeRange {
        MediaTimeRange(start: MediaTime(nanoseconds: startPosition), end: MediaTime(nanoseconds: endPosition))
    }
    /// The presentation time of the first segment, or of the next one if there are none.
    package var start: MediaTime { MediaTime(nanoseconds: startPosition) }
    /// The end of the last complete segment, in presentation time.
    package var end: MediaTime { MediaTime(nanoseconds: endPosition) }
    /// The end of the last partial segment, in presentation time; the same as ``end`` without partial segments.
    package var edge: MediaTime { pendingSegment?.end ?? end }
    /// The presentation time at which playback ends, or `nil` if it is unknown, as in a live presentation.
    ///
    /// Zero if all segments precede the start of presentation time.
    package var duration: MediaTime? { hasEnded ? max(.zero, end) : nil }

    /// The media sequence numbers of the segments.
    package var sequences: Range<Int64> { playlist.segmentSequences }

    var startPosition: Int64 { placements.first?.start ?? endPosition }

    /// The target duration that is used for timing, 1 s to 120 s.
    ///
    /// The declared value or, if it is missing, the longest duration of the last segments in whole seconds. The limits
    /// prevent a wrong value from causing excessive requests or stopping playback.
    package var targetDuration: MediaTime { playlist.effectiveTargetDuration }

    /// The approximate size in memory, in bytes: the text of the playlist and the data of each segment.
    var byteCount: Int { playlist.bytes.count + placements.count *| 64 }

    /// Shifts all presentation times, if the timestamps of the media show that the alignment was inaccurate.
    ///
    /// - Parameter offset: The shift; negative to an earlier time.
    /// - Complexity: O(*n*) in the number of segments.
    package mutating func shift(by offset: MediaTime) {
        let offset = offset.nanoseconds
        for position in placements.indices {
            placements[position].start = placements[position].start.addingSaturated(offset)
        }
        endPosition = endPosition.addingSaturated(offset)
        anchors.shift(by: offset)
    }
}

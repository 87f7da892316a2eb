public import HLSPlaylist
public import MediaTiming

/// The segments of one media playlist in presentation time: where each lies, for as long as the playlist lists it.
///
/// Presentation time begins where the first timeline of a presentation did when it was loaded first, and never moves: a
/// segment keeps its time through all reloads, and what comes later follows it. Times are sums of durations as the
/// playlist writes them, exact to the nanosecond.
///
/// It is a value that knows no clock. A segment's places are kept, everything else is read from the playlist when it is
/// asked for: a timeline of a hundred thousand segments costs 16 bytes each beside the playlist.
public struct PresentationTimeline: Sendable {
    /// When a segment begins and how long it is, in nanoseconds.
    struct Placement: Sendable {
        var start: Int64
        var duration: Int64

        var end: Int64 { start.addingSaturated(duration) }
        var range: MediaTimeRange {
            MediaTimeRange(start: MediaTime(nanoseconds: start), duration: MediaTime(nanoseconds: duration))
        }
    }

    /// The playlist as it was loaded last, whole.
    public internal(set) var playlist: MediaPlaylist
    /// One for each segment of the playlist.
    var placements: [Placement] = []
    /// Where the next segment begins.
    var endPlace: Int64
    var anchors = DateAnchors()
    /// How often the playlist has begun to count anew.
    var epoch: Int
    /// What has to be added to the playlist's discontinuity numbers, so that those of known segments stay.
    var domainShift: Int64
    /// Whether the last segment is known to be the last; it stays so where the end mark is lost.
    public internal(set) var hasEnded: Bool
    /// Whether it lost segments at its beginning, now or when it was loaded first.
    let beganLive: Bool

    /// Makes the timeline of a playlist that was just loaded.
    ///
    /// - Parameters:
    ///   - playlist: The playlist, whole: a delta update is not enough.
    ///   - start: When its first segment begins, in presentation time. Defaults to 0, which is right for the first timeline
    ///     of a presentation; for others see ``TimelineAlignment``.
    /// - Complexity: O(*n*) in segments, without reading their lines.
    public init(_ playlist: MediaPlaylist, start: MediaTime = .zero) {
        self.init(playlist, start: start.nanoseconds, epoch: 0, domainShift: 0)
    }

    /// Makes the timeline of a playlist that was just loaded and lies as an alignment says.
    ///
    /// - Complexity: O(*n*) in segments, without reading their lines.
    public init(_ playlist: MediaPlaylist, alignment: TimelineAlignment) {
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
        endPlace = start
        hasEnded = !playlist.isLive
        beganLive = playlist.isLive && playlist.playlistType != .event
        append(from: 0)
    }

    /// Places the segments from a position on, one behind the other.
    mutating func append(from first: Int) {
        let segments = playlist.segments
        guard first < segments.count else { return }
        if placements.isEmpty { placements.reserveCapacity(segments.count - first) }
        let base = segments.timeRange(at: first).start.nanoseconds
        let origin = endPlace
        for position in first..<segments.count {
            let range = segments.timeRange(at: position)
            let start = origin.addingSaturated(range.start.nanoseconds -| base)
            let end = origin.addingSaturated(range.end.nanoseconds -| base)
            placements.append(Placement(start: start, duration: end.subtractingSaturated(start)))
            endPlace = end
        }
        noteDates(from: first)
    }

    mutating func noteDates(from first: Int) {
        // Without this, a playlist without dates would cost a search for each segment.
        guard let last = placements.indices.last, playlist.segments[last].programDateTime != nil else { return }
        for position in first..<placements.count {
            // Whether the date is the segment's own would cost another reading; one that is counted on changes nothing.
            guard let date = playlist.segments[position].programDateTime else { continue }
            anchors.append(date, at: placements[position].start)
        }
    }
}

extension PresentationTimeline {
    /// Whether segments may still be added.
    public var isLive: Bool { !hasEnded }
    /// Whether segments may go at its beginning: not in a playlist of the type EVENT or VOD (RFC 8216bis §4.4.3.5).
    public var isSliding: Bool { isLive && playlist.playlistType == nil }
    /// Whether each segment is one I-frame (§4.4.3.6): its duration is the time to the next one.
    public var isIFramesOnly: Bool { playlist.isIFramesOnly }

    /// The stretch of presentation time from the first segment to the end of the last one that is complete.
    public var range: MediaTimeRange {
        MediaTimeRange(start: MediaTime(nanoseconds: startPlace), end: MediaTime(nanoseconds: endPlace))
    }
    /// When the first segment begins; where there is none, when it will.
    public var start: MediaTime { MediaTime(nanoseconds: startPlace) }
    /// When the last complete segment ends.
    public var end: MediaTime { MediaTime(nanoseconds: endPlace) }
    /// When the last part of the segment that is not complete ends; ``end`` where there are no parts.
    public var edge: MediaTime { pendingSegment?.end ?? end }
    /// The presentation time at which playback ends; `nil` while it is not known, as in a live presentation.
    ///
    /// It is zero where everything that is listed lies before the first time of the presentation.
    public var duration: MediaTime? { hasEnded ? max(.zero, end) : nil }

    /// The media sequence numbers of its segments.
    public var sequences: Range<Int64> { playlist.segmentSequences }

    var startPlace: Int64 { placements.first?.start ?? endPlace }

    /// The target duration that times are reckoned with: as declared, else the longest of the last segments, in whole
    /// seconds; 1 s to 120 s, so that a mistake neither hammers a server nor stops a player.
    public var targetDuration: MediaTime { playlist.effectiveTargetDuration }

    /// About how much memory the timeline takes, in bytes: the text of the playlist, and what is known of each segment.
    var byteCount: Int { playlist.bytes.count + placements.count *| 64 }

    /// Moves everything in presentation time, when the timestamps of its media show that it was placed wrong.
    ///
    /// - Parameter offset: How much later; negative for earlier.
    /// - Complexity: O(*n*) in segments.
    public mutating func shift(by offset: MediaTime) {
        let offset = offset.nanoseconds
        for position in placements.indices {
            placements[position].start = placements[position].start.addingSaturated(offset)
        }
        endPlace = endPlace.addingSaturated(offset)
        anchors.shift(by: offset)
    }
}

import HLSPlaylist
import MediaTiming

/// The start position that a playlist declares (RFC 8216bis §4.4.2.2), in an edited playlist with runs of its segments.
enum MovedStart: Equatable {
    /// The declared position is that of the same media, or there is none.
    case unchanged
    /// The attributes with the new position of the same media.
    case moved(String)
    /// The media at the position is not in the edited playlist.
    case removed

    /// Creates the start position of a complete edited playlist.
    ///
    /// The beginning of a playlist remains its beginning, also after media was inserted before it.
    ///
    /// - Parameters:
    ///   - playlist: The playlist that declares the position.
    ///   - runs: The segments of the edited playlist.
    init(of playlist: MediaPlaylist, in runs: [SegmentRun]) {
        self = .unchanged
        // An offset that is longer than the playlist means its beginning or its end.
        guard let start = playlist.start, start.offset != .zero, start.offset < playlist.duration,
            .zero - start.offset < playlist.duration
        else { return }
        let isFromEnd = start.offset < .zero
        let time = isFromEnd ? playlist.duration + start.offset : start.offset
        var elapsed = MediaTime.zero
        var moved: MediaTime?
        for run in runs {
            let segments = run.playlist.segments
            let range = MediaTimeRange(
                start: segments.timeRange(at: run.positions.lowerBound).start,
                end: segments.timeRange(at: run.positions.upperBound - 1).end
            )
            if moved == nil, run.isPrimary, range.start <= time, time < range.end {
                moved = elapsed + (time - range.start)
            }
            elapsed = elapsed + range.duration
        }
        guard let moved else {
            self = .removed
            return
        }
        guard (isFromEnd ? moved - elapsed : moved) != start.offset else { return }
        self = .moved(start.attributes(at: moved))
    }
}

extension PlaylistStart {
    /// The edit that gives a playlist this position; `nil` if the offset has no decimal form.
    var edit: PlaylistEdit? {
        TagAssignment("\(TagName.start.name)=\(attributes(at: offset))").map { .setTag($0) }
    }

    /// Returns the attributes of the tag with another offset.
    fileprivate func attributes(at offset: MediaTime) -> String {
        "TIME-OFFSET=\(offset)" + (isPrecise ? ",PRECISE=YES" : "")
    }
}

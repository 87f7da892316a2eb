import AssetStorage
import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The decision which segments of each version of a live playlist are new, and what was lost before them.
struct RecordingCursor {
    /// The relation of a version of a playlist to the last recorded segment.
    private enum Continuity {
        case continued
        /// The origin restarted its media sequence numbers.
        case restarted
        /// The next version decides.
        case unknown
    }

    /// The previous version of the playlist; `nil` before the first one.
    private var previous: MediaPlaylist?
    /// A Boolean value that indicates whether the segments have other names in each version, for example because of a token.
    private var hasChangingNames = false
    /// The number and the name of a segment that took the place of the last recorded one; `nil` if there is none.
    private var replacement: (sequence: Int64, name: String)?

    /// The segments to add to a recording.
    struct Step: Equatable {
        /// The positions of the new segments in the playlist.
        var positions: Range<Int>
        /// The durations of the lost segments before them, if they are known.
        var gaps: [MediaTime] = []
        /// A Boolean value that indicates whether the first new segment does not continue the last recorded one.
        var hasDiscontinuity = false
        /// The number of segments that left the playlist before they were seen.
        var lostCount: Int64 = 0
    }

    /// The maximum number of lost segments that are marked one by one; a longer loss is marked as a discontinuity, because
    /// a player gives up after many missing segments.
    static let maximumGapCount: Int64 = 32

    /// Returns the step from the last recorded segment to a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The new version of the playlist.
    ///   - last: The last recorded segment; `nil` if there is none.
    ///   - start: The position at which a recording without a segment begins.
    /// - Returns: The step; without positions if there is nothing new.
    mutating func step(to playlist: MediaPlaylist, after last: RecordingWriter.Last?, startingAt start: Int) -> Step {
        let count = playlist.segments.count
        if let previous, last != nil, previous.bytes == playlist.bytes { return Step(positions: count..<count) }
        defer { previous = playlist }
        guard count > 0, let last else { return Step(positions: min(start, count)..<count) }
        switch continuity(of: playlist, after: last) {
        case .continued: break
        case .restarted: return Step(positions: 0..<count, hasDiscontinuity: true)
        case .unknown: return Step(positions: count..<count)
        }
        let next = last.sequence +| 1
        let first = playlist.segments[0].sequence
        // An older version can come from a cache.
        guard first +| Int64(count) > next else { return Step(positions: count..<count) }
        guard first > next else { return Step(positions: Int(clamping: next -| first)..<count) }
        let lost = first -| next
        let gaps = Self.durations(of: lost, from: last, to: playlist)
        return Step(positions: 0..<count, gaps: gaps, hasDiscontinuity: gaps.isEmpty, lostCount: lost)
    }

    /// Returns whether a playlist continues the last recorded segment, or the origin restarted its media sequence numbers.
    private mutating func continuity(of playlist: MediaPlaylist, after last: RecordingWriter.Last) -> Continuity {
        let segments = playlist.segments
        let index = last.sequence -| segments[0].sequence
        if index >= 0, index < Int64(segments.count) {
            // The last recorded segment is listed; another one in its place has another date, or name.
            let segment = segments[Int(index)]
            if let end = last.endDate?.sinceEpoch, let date = segment.programDateTime?.advanced(by: segment.duration) {
                let isSame = abs((date.sinceEpoch - end).seconds) <= max(segment.duration.seconds, 1)
                return isSame ? .continued : .restarted
            }
            return continuity(ofNameAt: Int(index), in: playlist, after: last)
        }
        guard index >= Int64(segments.count), let final = segments.last else { return .continued }
        // The numbers are lower than before: either the version is old, or the numbers begin again.
        if let end = last.endDate?.sinceEpoch, let date = final.programDateTime?.advanced(by: final.duration) {
            return date.sinceEpoch > end ? .restarted : .continued
        }
        return index >= Int64(segments.count) +| max(3, Int64(segments.count)) ? .restarted : .continued
    }

    /// Returns whether the segment with the number of the last recorded one is the same, by its name.
    ///
    /// After a restart, the segment has another name, which stays. A name with a token is another one in each version.
    private mutating func continuity(
        ofNameAt index: Int,
        in playlist: MediaPlaylist,
        after last: RecordingWriter.Last
    ) -> Continuity {
        let segment = playlist.segments[index]
        let (name, recorded) = (Self.name(of: segment), Self.name(in: last.uri))
        guard name != recorded, !hasChangingNames,
            replacement?.sequence != segment.sequence || replacement?.name != name
        else { return .continued }
        // There is no further version.
        guard playlist.isLive else { return .restarted }
        guard let previous, let first = previous.segments.first?.sequence else { return .unknown }
        let offset = playlist.segments[0].sequence -| first
        let former = Int(clamping: Int64(index) +| offset)
        guard previous.segments.indices.contains(former) else { return .unknown }
        switch Self.name(of: previous.segments[former]) {
        case name: return .restarted
        case recorded:
            // If other segments have the names that they had, only this one was replaced.
            let hasSameNames = playlist.segments.indices.contains { position in
                let former = Int(clamping: Int64(position) +| offset)
                guard previous.segments.indices.contains(former) else { return false }
                return Self.name(of: previous.segments[former]) == Self.name(of: playlist.segments[position])
            }
            guard hasSameNames else { return .unknown }
            replacement = (segment.sequence, name)
            return .continued
        default:
            hasChangingNames = true
            return .continued
        }
    }

    /// Returns the last path component of the URL of a segment in the form in which it is recorded.
    private static func name(of segment: MediaSegment) -> String { name(in: segment.address.text) }

    private static func name(in uri: String) -> String { ResourceAddress(WrittenText.uri(uri)).lastPathComponent }

    /// Returns the durations of lost segments; empty if they are unknown.
    private static func durations(
        of lost: Int64,
        from last: RecordingWriter.Last,
        to playlist: MediaPlaylist
    ) -> [MediaTime] {
        guard lost <= maximumGapCount, let end = last.endDate?.sinceEpoch,
            let start = playlist.segments[0].programDateTime?.sinceEpoch
        else { return [] }
        let total = Int64(saturating: ((start - end).seconds * 1_000).rounded())
        let each = total.dividedSaturated(by: lost)
        let longest = (playlist.targetDuration?.seconds ?? 0) * 1_000 + 500
        guard each > 0, Double(each) <= longest else { return [] }
        return (0..<lost).map { number in
            let rest = number == lost -| 1 ? total -| each *| lost : 0
            return MediaTime(value: each +| rest, timescale: 1_000)
        }
    }

    // MARK: Start

    /// Returns the position at which a recording of a live playlist begins, as a player does: at the distance
    /// `HOLD-BACK`, or three target durations, from the end.
    static func livePosition(in playlist: MediaPlaylist) -> Int {
        let segments = playlist.segments
        guard let first = segments.indices.first else { return 0 }
        let target = playlist.targetDuration ?? segments[segments.count - 1].duration
        let distance = playlist.serverControl?.holdBack ?? target * 3
        return segments.position(at: max(.zero, playlist.duration - distance)) ?? first
    }

    /// The time by which a rendition may begin late: the frames of audio do not end exactly where a segment of video does, and the
    /// segment before would begin early by its duration.
    private static let startTolerance = MediaTime(value: 1, timescale: 4)

    /// Returns the position at which a rendition begins so that it is synchronized with another one.
    ///
    /// - Parameters:
    ///   - playlist: The playlist of the rendition.
    ///   - leading: The playlist of the other rendition, and the position at which it begins.
    /// - Returns: The position of the segment with the same date, or that of the next one if it begins at most a quarter of a second
    ///   later; without dates, that of the segment with the same media sequence number. If there is no such segment, that of
    ///   ``livePosition(in:)``.
    static func position(in playlist: MediaPlaylist, with leading: (playlist: MediaPlaylist, position: Int)) -> Int {
        let segments = playlist.segments
        guard leading.position < leading.playlist.segments.count else { return livePosition(in: playlist) }
        let segment = leading.playlist.segments[leading.position]
        if let date = segment.programDateTime?.sinceEpoch, let first = segments.first?.programDateTime?.sinceEpoch {
            let time = max(.zero, date - first)
            guard let position = segments.position(at: time) else { return livePosition(in: playlist) }
            let isNextNearer = segments.timeRange(at: position).end - time <= startTolerance
            return isNextNearer && position + 1 < segments.count ? position + 1 : position
        }
        let index = segment.sequence -| playlist.mediaSequence
        guard index >= 0, index < Int64(segments.count) else { return livePosition(in: playlist) }
        return Int(index)
    }
}

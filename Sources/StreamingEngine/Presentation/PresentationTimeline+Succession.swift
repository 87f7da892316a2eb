import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// The relation of a reloaded playlist to the previous one.
    enum PlaylistRelation: Equatable {
        /// The previous playlist contained no segments.
        case first
        /// The playlist does not contain segments any more.
        case emptied
        /// The playlist is older than the previous one.
        case stale
        /// The playlist continues the previous one; `changed` is the sequence number of the first segment that differs.
        case continued(changed: Int64?)
        /// The playlist continues the previous one after segments that were never seen.
        case afterGap(missed: Int64)
        /// The media sequence numbers restarted.
        case restarted
    }

    /// The maximum duration of missed segments in nanoseconds, 30 days; beyond that, the sequence numbers restarted.
    private static let maximumMissedDuration: Int64 = 30 * 86_400 * 1_000_000_000

    func succession(of whole: MediaPlaylist) -> PlaylistRelation {
        let (old, new) = (sequences, whole.segmentSequences)
        if old.isEmpty { return .first }
        if new.isEmpty { return .emptied }
        if new.lowerBound >= old.upperBound {
            let missed = new.lowerBound -| old.upperBound
            let lost = Int128(averageDuration) *| Int128(missed)
            return lost > Int128(Self.maximumMissedDuration) ? .restarted : .afterGap(missed: missed)
        }
        let common = old.clamped(to: new)
        guard !common.isEmpty else { return isEarlier(whole) ? .stale : .restarted }
        let (checked, changed) = changes(in: common, to: whole)
        let isOther = changed.count == checked
        if new.upperBound < old.upperBound {
            if isOther { return .restarted }
            // A server may remove its last segments when the stream ends; a cache never adds an end marker.
            return whole.hasEndMarker && !playlist.hasEndMarker ? .continued(changed: changed.first) : .stale
        }
        if isOther, new.lowerBound < old.lowerBound { return .restarted }
        return .continued(changed: changed.first)
    }

    /// Returns whether the dates indicate that a playlist ends before the known timeline begins.
    private func isEarlier(_ whole: MediaPlaylist) -> Bool {
        guard let last = whole.segments.last?.programDateTime, let first = anchors.anchor(at: startPosition) else {
            return false
        }
        return last.sinceEpoch.nanoseconds < first.nanoseconds(at: startPosition)
    }

    /// The maximum number of common segments that are compared, counted from the end.
    ///
    /// A restarted encoder changes all of them, and comparing more would increase the cost of each reload of a long
    /// playlist.
    private static let maximumComparedCount: Int64 = 16

    /// Compares the segments with the same sequence numbers in both playlists.
    private func changes(in common: Range<Int64>, to whole: MediaPlaylist) -> (checked: Int, changed: [Int64]) {
        let (first, firstNow) = (sequences.lowerBound, whole.segmentSequences.lowerBound)
        let compared = max(common.lowerBound, common.upperBound -| Self.maximumComparedCount)..<common.upperBound
        let changed = compared.filter { sequence in
            !isSame(playlist.segments[Int(sequence -| first)], whole.segments[Int(sequence -| firstNow)])
        }
        return (compared.count, changed)
    }

    /// Returns whether two segments are the same media.
    ///
    /// The queries of their URLs may differ, because they may contain signatures that change with each reload, and so
    /// may the hosts.
    private func isSame(_ then: MediaSegment, _ now: MediaSegment) -> Bool {
        if then.uri != now.uri, then.address.path != now.address.path { return false }
        if then.byteRange != now.byteRange { return false }
        guard let dateThen = then.programDateTime, let dateNow = now.programDateTime else { return true }
        let difference = dateThen.sinceEpoch - dateNow.sinceEpoch
        return difference <= targetDuration && difference >= .zero - targetDuration
    }
}

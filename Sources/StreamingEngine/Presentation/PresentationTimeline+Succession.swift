import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// What a playlist is to the one before.
    enum Succession: Equatable {
        /// There was none with segments before.
        case first
        /// It lists none any more.
        case emptied
        /// It is an older one.
        case stale
        /// It goes on; with the number of the first segment that is not what it was.
        case continued(changed: Int64?)
        /// It goes on, but so many segments between were never seen.
        case ahead(missed: Int64)
        /// It counts anew.
        case restarted
    }

    /// More than this cannot have been missed: then the numbers mean something else.
    private static let longestLoss: Int64 = 30 * 86_400 * 1_000_000_000

    func succession(of whole: MediaPlaylist) -> Succession {
        let (old, new) = (sequences, whole.segmentSequences)
        if old.isEmpty { return .first }
        if new.isEmpty { return .emptied }
        if new.lowerBound >= old.upperBound {
            let missed = new.lowerBound -| old.upperBound
            let lost = Int128(averageDuration) *| Int128(missed)
            return lost > Int128(Self.longestLoss) ? .restarted : .ahead(missed: missed)
        }
        let common = old.clamped(to: new)
        guard !common.isEmpty else { return isEarlier(whole) ? .stale : .restarted }
        let (checked, changed) = changes(in: common, to: whole)
        let isOther = changed.count == checked
        if new.upperBound < old.upperBound {
            if isOther { return .restarted }
            // A server may take back its last segments when it ends; a cache never adds an end.
            return whole.hasEndMarker && !playlist.hasEndMarker ? .continued(changed: changed.first) : .stale
        }
        if isOther, new.lowerBound < old.lowerBound { return .restarted }
        return .continued(changed: changed.first)
    }

    /// Whether dates say that a playlist ends before what is known begins.
    private func isEarlier(_ whole: MediaPlaylist) -> Bool {
        guard let last = whole.segments.last?.programDateTime, let first = anchors.anchor(at: startPlace) else {
            return false
        }
        return last.sinceEpoch.nanoseconds < first.nanoseconds(at: startPlace)
    }

    /// How many of the last common segments are compared: an encoder that begins anew changes all of them, and more
    /// would cost the same again with each reload of a long playlist.
    private static let mostCompared: Int64 = 16

    /// Compares segments that have the same numbers then and now.
    private func changes(in common: Range<Int64>, to whole: MediaPlaylist) -> (checked: Int, changed: [Int64]) {
        let (first, firstNow) = (sequences.lowerBound, whole.segmentSequences.lowerBound)
        let compared = max(common.lowerBound, common.upperBound -| Self.mostCompared)..<common.upperBound
        let changed = compared.filter { sequence in
            !isSame(playlist.segments[Int(sequence -| first)], whole.segments[Int(sequence -| firstNow)])
        }
        return (compared.count, changed)
    }

    /// Whether two entries mean the same media.
    ///
    /// Queries may differ: they hold signatures that are made anew for each load. So may hosts.
    private func isSame(_ then: MediaSegment, _ now: MediaSegment) -> Bool {
        if then.uri != now.uri, then.address.path != now.address.path { return false }
        if then.byteRange != now.byteRange { return false }
        guard let dateThen = then.programDateTime, let dateNow = now.programDateTime else { return true }
        let difference = dateThen.sinceEpoch - dateNow.sinceEpoch
        return difference <= targetDuration && difference >= .zero - targetDuration
    }
}

import HLSPlaylist
import MediaTiming

/// The values that the tags of the host have in an assembled playlist, which has other segments than the host.
struct AssembledTagValues {
    /// The media sequence number of the first segment.
    let mediaSequence: Int64
    private let primary: MediaPlaylist
    private let runs: [SegmentRun]
    /// The numbers of a live playlist; `nil` for those that follow from the host.
    private let numbering: MediaPlaylistAssembly.Numbering?
    /// The start position of the host in the assembled playlist.
    private let start: MovedStart

    /// Creates the values.
    ///
    /// - Parameters:
    ///   - primary: The host.
    ///   - runs: The segments of the assembled playlist, in runs that are prepared.
    ///   - numbering: The numbers of a live playlist; `nil` for those that follow from the host.
    init(of primary: MediaPlaylist, runs: [SegmentRun], numbering: MediaPlaylistAssembly.Numbering?) {
        self.primary = primary
        self.runs = runs
        self.numbering = numbering
        mediaSequence = Self.mediaSequence(of: primary, in: runs, numbering)
        start = numbering?.movesStart ?? true ? MovedStart(of: primary, in: runs) : .unchanged
    }

    /// Returns the media sequence number of the first segment of an assembled playlist.
    static func mediaSequence(
        of primary: MediaPlaylist,
        in runs: [SegmentRun],
        _ numbering: MediaPlaylistAssembly.Numbering?
    ) -> Int64 {
        if let numbering { return numbering.mediaSequence }
        return primary.mediaSequence +| Int64(runs.first?.positions.lowerBound ?? 0)
    }

    /// The discontinuity sequence number of the first segment, without its own discontinuity tag.
    var discontinuitySequence: Int64 {
        if let numbering { return numbering.discontinuitySequence }
        // A run of another playlist before the host starts at position 0, like the host.
        guard let first = runs.first else { return primary.discontinuitySequence }
        if let discontinuities = first.discontinuities { return discontinuities.preceding }
        let segment = primary.segments[first.positions.lowerBound]
        return segment.discontinuitySequence -| (segment.hasDiscontinuity ? 1 : 0)
    }

    /// The largest target duration of all playlists, in whole seconds (RFC 8216bis §4.4.3.1); `nil` if none declares one.
    var targetDuration: Int64? {
        let target = runs.map(\.playlist).compactMap { $0.targetDuration?.roundedUpSeconds }.max()
        return target.map { max($0, numbering?.targetDuration ?? 0) }
    }

    /// The largest version of all playlists (RFC 8216bis §8), at least 2 for explicit initialization vectors; `nil` if none is
    /// declared or needed.
    var version: Int? {
        var declared = ([primary] + runs.map(\.playlist)).compactMap(\.declaredVersion).max()
        if let minimum = numbering?.version, minimum > 1 { declared = max(declared ?? minimum, minimum) }
        return runs.contains { $0.needsExplicitVectors } ? max(declared ?? 2, 2) : declared
    }

    /// A Boolean value that indicates whether the start position of the host is left out, because its media is removed.
    var removesStart: Bool { start == .removed }

    /// Returns the new value of a tag of the host, or `nil` if its value is unchanged.
    func replacement(for tag: TagName?) -> String? {
        func changed<Value: Equatable>(_ value: Value?, from written: Value?) -> String? {
            value == written ? nil : value.map { "\($0)" }
        }
        if tag == .start, case .moved(let attributes) = start { return attributes }
        if tag == .targetDuration { return changed(targetDuration, from: primary.targetDuration?.roundedSeconds) }
        if tag == .version { return changed(version, from: primary.declaredVersion) }
        if tag == .mediaSequence { return changed(mediaSequence, from: primary.mediaSequence) }
        if tag == .discontinuitySequence {
            return changed(discontinuitySequence, from: primary.discontinuitySequence)
        }
        return nil
    }
}

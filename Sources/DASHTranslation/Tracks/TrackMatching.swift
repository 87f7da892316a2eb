import HLSPlaylist
import MediaTiming

/// A namespace for finding the representation of a track in a period.
///
/// A video track continues in the representation of the same identifier and codec, otherwise in that of the same codec
/// with the nearest height and bandwidth. An audio or subtitle track continues in the set of the same language, role,
/// characteristics and label, otherwise of the same language, and audio otherwise in the first set of the period.
/// Subtitles and I-frames without a match have gaps.
enum TrackMatching {
    /// The result of a search.
    struct Match {
        let candidate: TrackCandidate
        /// A Boolean value that indicates whether the match has another language or role than the track.
        let isApproximate: Bool
    }

    /// Returns the representation of a track in a period, or `nil` if there is none.
    static func match(_ track: TrackDescriptor, in tracks: PeriodTracks) -> Match? {
        let all = tracks.candidates(track.kind)
        switch track.kind {
        case .video, .iFrames:
            return nearest(track, all).map { Match(candidate: $0, isApproximate: false) }
        case .audio, .subtitles:
            let key = track.renditionKey
            let same = all.filter { $0.descriptor.renditionKey == key }
            if let found = nearest(track, same) { return Match(candidate: found, isApproximate: false) }
            let close = all.filter { candidate in
                LanguageMatching.isSame(candidate.descriptor.language, track.language)
                    && candidate.descriptor.characteristics == track.characteristics
                    && candidate.descriptor.isForced == track.isForced
            }
            if let found = nearest(track, close) { return Match(candidate: found, isApproximate: true) }
            guard track.kind == .audio, let first = all.first else { return nil }
            let firstKey = first.descriptor.renditionKey
            return nearest(track, all.filter { $0.descriptor.renditionKey == firstKey })
                .map { Match(candidate: $0, isApproximate: true) }
        }
    }

    private static func nearest(_ track: TrackDescriptor, _ candidates: [TrackCandidate]) -> TrackCandidate? {
        let sameFamily = candidates.filter { $0.descriptor.codecFamily == track.codecFamily }
        let pool = sameFamily.isEmpty ? candidates : sameFamily
        return pool.min { distance(track, $0.descriptor) < distance(track, $1.descriptor) }
    }

    private static func distance(_ track: TrackDescriptor, _ other: TrackDescriptor) -> (Int, UInt64, Int, UInt64) {
        let isSame = other.representationID == track.representationID && other.height == track.height
        let heights = ((other.height ?? 0) -| (track.height ?? 0)).magnitude
        let bandwidths = (other.bandwidth -| track.bandwidth).magnitude
        return (isSame ? 0 : 1, heights, other.channels == track.channels ? 0 : 1, bandwidths)
    }
}

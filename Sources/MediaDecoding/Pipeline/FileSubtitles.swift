import MediaTiming
import SegmentFormat
import StreamingEngine

/// The cues of the subtitle tracks of a media file, of which at most one track is shown.
///
/// The segments of a file have all of its tracks, so that another one is shown at once when it is selected.
struct FileSubtitles: Sendable {
    /// The cues of tracks.
    typealias Cues = [FileTrack: [SubtitleCue]]

    /// The track that is shown; `nil` for none.
    var selected: FileTrack?
    private var timelines: [FileTrack: SubtitleTimeline] = [:]

    /// The maximum number of cues of all tracks together, beyond which only those of the selected track are added.
    private static let maximumCueCount = SubtitleTimeline.maximumCueCount
    /// The maximum size of all TTML documents of a segment together, in bytes; further ones are ignored.
    private static let maximumDocumentByteCount = 4 << 20

    /// Adds the cues of a segment.
    mutating func insert(_ cues: Cues) {
        var count = timelines.values.reduce(0) { $0 +| $1.count }
        for (track, cues) in cues {
            guard track == selected || count +| cues.count <= Self.maximumCueCount else { continue }
            timelines[track, default: SubtitleTimeline()].insert(cues)
            count +|= cues.count
        }
    }

    /// Removes the cues in a time range.
    mutating func discard(_ range: MediaTimeRange) {
        for track in timelines.keys { timelines[track]?.discard(range) }
    }

    /// Returns the cues of the selected track at a time.
    func cues(at time: MediaTime) -> [SubtitleCue] {
        selected.flatMap { timelines[$0] }?.cues(at: time) ?? []
    }

    /// Returns the time of the next change of the selected track; `nil` if there is none.
    func nextChange(after time: MediaTime) -> MediaTime? {
        selected.flatMap { timelines[$0] }?.nextChange(after: time)
    }

    /// Returns the cues of the subtitle tracks in a segment of a file.
    ///
    /// - Parameters:
    ///   - segment: The segment.
    ///   - offset: The offset to add to the timestamps of the file.
    /// - Returns: The cues of the tracks whose format can be shown.
    static func cues(of segment: DemuxedSegment, offset: MediaTime) -> Cues {
        var tracks: [Int: (track: FileTrack, format: FileSubtitleFormat)] = [:]
        for (track, format) in segment.fileTracks(.subtitles) {
            if let kind = FileSubtitleFormat(format, in: segment.container) { tracks[format.id] = (track, kind) }
        }
        guard !tracks.isEmpty else { return [:] }
        var cues: Cues = [:]
        var documentByteCount = 0
        // A cue that is in progress at the start of the segment may already be known, and must not be added twice.
        for packet in segment.earlierSubtitles + segment.packets {
            guard let (track, format) = tracks[packet.trackID], packet.duration > .zero else { continue }
            // Documents have the times of the file.
            let range = MediaTimeRange(start: packet.presentationTime, duration: packet.duration)
            guard cues[track]?.count ?? 0 < WebVTTDocument.maximumCueCount else { continue }
            if format == .documents {
                documentByteCount +|= packet.byteCount
                guard documentByteCount <= Self.maximumDocumentByteCount else { continue }
            }
            let bytes = unsafe packet.withBytes { unsafe Array($0) }
            let found = format.cues(bytes.span, range: range)
            if !found.isEmpty { cues[track, default: []] += found.map { $0.shifted(by: offset) } }
        }
        return cues
    }
}

extension FileSubtitleFormat {
    /// Creates the format of a demuxed track; `nil` if it cannot be shown.
    init?(_ track: TrackFormat, in container: MediaContainer?) {
        guard track.kind == .subtitles, track.encryptionScheme == nil else { return nil }
        let isMatroska = container == .matroska || container == .webM
        // The names of FFmpeg do not tell these formats.
        if container == .isoBaseMedia {
            let listed = MediaTrack(id: 0, mediaType: .subtitles, codec: track.codec)
            if let format = FileSubtitleFormat(listed, in: .isoBaseMedia) {
                self = format
                return
            }
        }
        switch track.codecName {
        case "mov_text" where container == .isoBaseMedia: self = .timedText
        case "subrip", "text": self = .subRip
        case "webvtt" where isMatroska: self = .webVTT
        case "ass", "ssa": self = .subStation
        default: return nil
        }
    }
}

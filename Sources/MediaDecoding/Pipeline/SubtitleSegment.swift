import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The cues of a subtitle segment, whose times depend on the timestamp offset of the media.
struct SubtitleSegment {
    /// The contents of a subtitle segment.
    private enum Contents {
        /// Cues in container time, which need the timestamp offset of the media.
        case timed([SubtitleCue])
        /// A document that declares the relation of its times to those of the media.
        case document(WebVTTDocument)
    }

    /// The time range of the segment according to the playlist.
    let range: MediaTimeRange
    /// The discontinuity sequence number.
    let sequence: Int64
    /// The length of the segment from which the cues were read, in bytes.
    let byteCount: Int
    private let text: Contents

    /// Parses a segment; returns `nil` for a gap and for an empty segment.
    ///
    /// - Throws: `MediaPipelineError` if the format is unknown or the segment is damaged.
    init?(_ segment: PipelineSegment) throws {
        guard case .media(let bytes, let initialization) = segment.content, bytes.readableBytes > 0 else { return nil }
        text = try Self.parse(Array(bytes.readableBytesView), initialization: initialization)
        range = segment.range
        sequence = segment.discontinuityDomain.sequence
        byteCount = bytes.readableBytes
    }

    /// Returns the cues on the timeline of the playlist.
    ///
    /// - Parameter offset: The offset to add to the timestamps of the media; `nil` if there is no media, so that only
    ///   the times in the segment determine those of its cues.
    /// - Returns: The cues.
    func cues(offset: MediaTime?) -> [SubtitleCue] {
        switch text {
        case .timed(let cues):
            guard let offset else { return cues }
            let moved = cues.map { $0.shifted(by: offset) }
            return Self.isNear(moved, range) || !Self.isNear(cues, range) ? moved : cues
        case .document(let document):
            guard let offset else { return document.subtitles }
            let moved = document.subtitles(near: range.start - offset).map { $0.shifted(by: offset) }
            // Without a timestamp map, cue times are relative to the media timestamps (RFC 8216bis §3.1.4), but many
            // streams use the time of the presentation.
            guard document.timestampMap == nil, !Self.isNear(moved, range) else { return moved }
            let plain = document.subtitles
            return Self.isNear(plain, range) ? plain : moved
        }
    }

    /// Returns whether any of the cues is shown within a second of the range of the segment; true without cues.
    private static func isNear(_ cues: [SubtitleCue], _ range: MediaTimeRange) -> Bool {
        let slack = MediaTime(seconds: 1)
        let wide = MediaTimeRange(start: range.start - slack, end: range.end + slack)
        return cues.isEmpty || cues.contains { $0.timeRange.intersection(wide) != nil }
    }

    private static func parse(_ bytes: [UInt8], initialization: PipelineSegment.Initialization?) throws -> Contents {
        do {
            if let initialization, let track = FragmentedSubtitles(initialization: initialization.bytes.span) {
                return .timed(try track.cues(in: bytes.span))
            }
            switch bytes.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) {
            case UInt8(ascii: "<"): return .timed(try TimedTextDocument(bytes.span).cues)
            case UInt8(ascii: "W"): return .document(try WebVTTDocument(bytes.span))
            default: return .timed(try SubRipDocument(bytes.span).cues)
            }
        } catch {
            throw MediaPipelineError(.notDecodable, "the subtitles cannot be read: \(error)")
        }
    }
}

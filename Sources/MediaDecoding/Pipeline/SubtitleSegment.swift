import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The cues of a subtitle segment of a stream.
struct SubtitleSegment {
    /// The time range of the segment according to the playlist.
    let range: MediaTimeRange
    /// The discontinuity sequence number.
    let sequence: Int64
    /// The length of the segment from which the cues were read, in bytes.
    let byteCount: Int
    private let text: SubtitleSegmentCues

    /// Creates a parsed segment; `nil` for a gap and for an empty segment.
    ///
    /// - Throws: `MediaPipelineError` if the format is unknown or the segment is damaged; `CancellationError`.
    init?(_ segment: PipelineSegment) throws {
        guard case .media(let bytes, let initialization) = segment.content, bytes.readableBytes > 0 else { return nil }
        do {
            text = try SubtitleSegmentCues(
                Array(bytes.readableBytesView),
                initialization: initialization?.bytes
            )
        } catch {
            // A document that was not read to its end is not damaged.
            if CancelableWork.isCanceled { throw CancellationError() }
            throw MediaPipelineError(.notDecodable, "the subtitles cannot be read: \(error)")
        }
        range = segment.range
        sequence = segment.discontinuityDomain.sequence
        byteCount = bytes.readableBytes
    }

    /// Returns the cues on the timeline of the playlist.
    ///
    /// - Parameter offset: The offset to add to the timestamps of the media; `nil` if there is no media, so that only
    ///   the times in the segment determine those of its cues.
    /// - Returns: The cues.
    func cues(offset: MediaTime?) -> [SubtitleCue] { text.cues(offset: offset, range: range) }
}

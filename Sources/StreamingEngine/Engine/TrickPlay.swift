import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting

/// The state of trick play: the main track is fetched from an I-frame playlist (RFC 8216bis §4.4.3.6, §4.4.6.3) while
/// the pipeline shows only I-frames at the current rate.
enum TrickPlay: Sendable {
    /// The source to which the main track returns after trick play.
    struct Return: Sendable {
        let source: StreamSource
        /// The timeline of the source; `nil` if its playlist was not loaded.
        let timeline: PresentationTimeline?
    }

    case off
    case on(Return)
    /// The I-frames are being removed from the pipeline, during which nothing is fetched.
    case leaving(Return)

    /// The maximum number of I-frames that are fetched for each second of the clock.
    private static let framesPerSecond = 8.0
    /// The fraction of the throughput that I-frames may use.
    private static let throughputFraction = 0.7
    /// The duration of the buffer ahead, in seconds of the clock.
    private static let bufferDuration = Duration.seconds(4)

    /// A Boolean value that indicates whether the main track is fetched from an I-frame playlist.
    var isActive: Bool { if case .off = self { false } else { true } }
    /// A Boolean value that indicates whether I-frames are being removed.
    var isLeaving: Bool { if case .leaving = self { true } else { false } }

    /// The source to which the main track returns after trick play; `nil` outside of trick play.
    var returning: Return? {
        switch self {
        case .off: nil
        case .on(let returning), .leaving(let returning): returning
        }
    }

    /// Returns the duration of media to buffer ahead at a rate.
    static func capacity(rate: Double) -> MediaTime { MediaTime(bufferDuration, scaledBy: abs(rate)) }

    /// Returns the I-frame variant for a rate: the best one that the throughput allows, or else the smallest.
    static func variant(
        of variants: [Presentation.Variant],
        rate: Double,
        throughput: BitRate?
    ) -> Presentation.Variant? {
        let available = Double(throughput?.bitsPerSecond ?? 0) * throughputFraction
        let fastest = available / min(abs(rate), framesPerSecond)
        let sorted = variants.sorted { bitRate(of: $0) < bitRate(of: $1) }
        return sorted.last { Double(bitRate(of: $0)) <= fastest } ?? sorted.first
    }

    private static func bitRate(of variant: Presentation.Variant) -> Int64 {
        (variant.peakBitRate ?? variant.averageBitRate)?.bitsPerSecond ?? 0
    }

    /// Returns an I-frame, extended to the next one that is needed; at higher rates fewer are needed.
    static func frame(
        _ segment: SegmentReference,
        in timeline: PresentationTimeline,
        _ loaded: MediaTimeRangeSet,
        rate: Double,
        isBackward: Bool
    ) -> SegmentReference {
        let stride = MediaTime(.seconds(1), scaledBy: abs(rate) / framesPerSecond)
        guard stride > segment.duration, var position = timeline.position(sequence: segment.sequence) else {
            return segment
        }
        var segment = segment
        if isBackward {
            let end = segment.end
            while position > 0, timeline.range(at: position - 1).start >= end - stride,
                !loaded.contains(timeline.range(at: position - 1).start)
            {
                position -= 1
                let earlier = timeline.segments[position]
                if !earlier.isGap { segment = earlier }
            }
            segment.range = MediaTimeRange(start: segment.start, end: end)
        } else {
            var end = segment.end
            while position + 1 < timeline.segments.count,
                timeline.range(at: position + 1).start < segment.start + stride,
                !loaded.contains(timeline.range(at: position + 1).end - MediaTime(value: 1, timescale: 1_000))
            {
                position += 1
                end = timeline.range(at: position).end
            }
            segment.range = MediaTimeRange(start: segment.start, end: end)
        }
        return segment
    }
}

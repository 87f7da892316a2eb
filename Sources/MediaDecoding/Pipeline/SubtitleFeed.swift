import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The subtitles of segments and the closed captions of frames, by time.
struct SubtitleFeed {
    /// The cues of a segment whose timestamp offset is not known yet.
    private struct PendingSegment {
        let range: MediaTimeRange
        let sequence: Int64
        let text: Contents
        /// The length of the segment from which the cues were read, in bytes.
        let byteCount: Int
    }

    /// The contents of a subtitle segment.
    private enum Contents {
        /// Cues in container time, which need the timestamp offset of the media.
        case timed([SubtitleCue])
        /// A document that declares the relation of its times to those of the media.
        case document(WebVTTDocument)
    }

    private var timeline = SubtitleTimeline()
    private var pendingSegments: [PendingSegment] = []
    private var layout = SubtitlePositioner()
    private var cea608Decoder: CEA608Decoder?
    private var cea708Decoder: CEA708Decoder?
    private var shown: [SubtitleCue] = []

    /// The maximum number of segments whose timestamp offset is not known yet; beyond it, the media that would
    /// determine it is not being played.
    private static let maximumPendingCount = 1_000
    /// The maximum length of the segments whose timestamp offset is not known yet, in bytes; beyond it, the oldest ones
    /// are discarded.
    static let maximumPendingSize = 16 << 20
    private(set) var pendingSize = 0

    /// A Boolean value that indicates whether closed captions are decoded from video frames.
    var decodesCaptions: Bool { cea608Decoder != nil || cea708Decoder != nil }

    /// Parses a segment.
    ///
    /// - Throws: `MediaPipelineError` if the format is unknown or the segment is damaged.
    mutating func append(_ segment: PipelineSegment) throws {
        guard case .media(let bytes, let initialization) = segment.content, bytes.readableBytes > 0 else { return }
        let text = try Self.parse(Array(bytes.readableBytesView), initialization: initialization)
        pendingSegments.append(
            PendingSegment(
                range: segment.range,
                sequence: segment.discontinuityDomain.sequence,
                text: text,
                byteCount: bytes.readableBytes
            )
        )
        pendingSize += bytes.readableBytes
        while pendingSegments.count > Self.maximumPendingCount || pendingSize > Self.maximumPendingSize,
            let first = pendingSegments.first
        {
            pendingSize -= first.byteCount
            pendingSegments.removeFirst()
        }
    }

    /// Removes the cues in a time range, and the segments in it whose times are not known yet.
    mutating func discard(_ range: MediaTimeRange) {
        timeline.discard(range)
        pendingSegments.removeAll { entry in
            guard entry.range.intersection(range) != nil else { return false }
            pendingSize -= entry.byteCount
            return true
        }
    }

    /// Resets the layout and the caption decoders, as required after a seek or a change of subtitles.
    mutating func reset() {
        layout = SubtitlePositioner()
        cea608Decoder = cea608Decoder.map { _ in CEA608Decoder() }
        cea708Decoder = cea708Decoder.map { _ in CEA708Decoder() }
    }

    /// Selects the caption channel to decode, as in `INSTREAM-ID`: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`; `nil`
    /// selects none.
    mutating func selectCaptions(_ channel: String?) {
        cea608Decoder = nil
        cea708Decoder = nil
        guard let channel else { return }
        if let number = channel.wholeNumber(after: "CC"), let known = CEA608Decoder.Channel(rawValue: number) {
            cea608Decoder = CEA608Decoder(channel: known)
        } else if let number = channel.wholeNumber(after: "SERVICE") {
            cea708Decoder = CEA708Decoder(service: number)
        }
    }

    /// Decodes the captions of a frame that is shown now.
    mutating func decodeCaptions(of frame: VideoFrame) {
        guard decodesCaptions, !frame.captionData.isEmpty else { return }
        let triplets = CaptionTriplet.triplets(in: frame.captionData.span)
        _ = cea608Decoder?.decode(triplets, at: frame.time)
        _ = cea708Decoder?.decode(triplets, at: frame.time)
    }

    /// Returns the cues to show at a time; `nil` if they are already shown.
    mutating func takeChangedCues(at time: MediaTime, mapping: TimestampMapping) -> [SubtitleCue]? {
        mapPendingSegments(mapping)
        let cues = timeline.cues(at: time) + (cea608Decoder?.currentCues ?? []) + (cea708Decoder?.currentCues ?? [])
        guard cues != shown else { return nil }
        shown = cues
        return layout.position(cues)
    }

    /// Returns the time of the next change of the subtitles, without captions; `nil` if there is none.
    func nextChange(after time: MediaTime) -> MediaTime? { timeline.nextChange(after: time) }

    private mutating func mapPendingSegments(_ mapping: TimestampMapping) {
        guard !pendingSegments.isEmpty else { return }
        pendingSegments.removeAll { entry in
            guard let cues = Self.mappedCues(of: entry, mapping: mapping) else { return false }
            timeline.insert(cues)
            pendingSize -= entry.byteCount
            return true
        }
    }

    /// Returns the cues in the timeline of the player item; `nil` while the timestamp offset of their discontinuity
    /// sequence is unknown.
    private static func mappedCues(of entry: PendingSegment, mapping: TimestampMapping) -> [SubtitleCue]? {
        guard let offset = mapping.offset(ofSequence: entry.sequence) else { return nil }
        switch entry.text {
        case .timed(let cues):
            let moved = cues.map { $0.shifted(by: offset) }
            return isNear(moved, entry.range) || !isNear(cues, entry.range) ? moved : cues
        case .document(let document):
            let moved = document.subtitles(near: entry.range.start - offset).map { $0.shifted(by: offset) }
            // Without a timestamp map, cue times are relative to the media timestamps (RFC 8216bis §3.1.4), but many
            // streams use the time of the presentation.
            guard document.timestampMap == nil, !isNear(moved, entry.range) else { return moved }
            let plain = document.subtitles
            return isNear(plain, entry.range) ? plain : moved
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

extension String {
    /// Returns the number after a prefix; `nil` for any other string.
    fileprivate func wholeNumber(after prefix: String) -> Int? {
        hasPrefix(prefix) ? Int(dropFirst(prefix.count)) : nil
    }
}

import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// The subtitles of segments and the closed captions of frames, by time.
struct SubtitleFeed {
    /// The cues of a segment whose timestamp offset is not known yet.
    private struct Waiting {
        let range: MediaTimeRange
        let sequence: Int64
        let text: Text
        /// The length of the segment from which the cues were read, in bytes.
        let byteCount: Int
    }

    /// The contents of a subtitle segment.
    private enum Text {
        /// Cues in container time, which need the timestamp offset of the media.
        case timed([SubtitleCue])
        /// A document that declares the relation of its times to those of the media.
        case document(WebVTTDocument)
    }

    private var timeline = SubtitleTimeline()
    private var waiting: [Waiting] = []
    private var arrangement = SubtitleArrangement()
    private var line21: CEA608Decoder?
    private var service: CEA708Decoder?
    private var shown: [SubtitleCue] = []

    /// The maximum number of segments whose timestamp offset is not known yet; beyond it, the media that would
    /// determine it is not being played.
    private static let mostWaiting = 1_000
    /// The maximum length of the segments whose timestamp offset is not known yet, in bytes; beyond it, the oldest ones
    /// are discarded.
    static let mostWaitingBytes = 16 << 20
    private(set) var waitingBytes = 0

    /// A Boolean value that indicates whether closed captions are decoded from video frames.
    var wantsCaptions: Bool { line21 != nil || service != nil }

    /// Parses a segment.
    ///
    /// - Throws: `MediaPipelineError` if the format is unknown or the segment is damaged.
    mutating func append(_ piece: MediaPiece) throws {
        guard case .media(let bytes, let initialization) = piece.content, bytes.readableBytes > 0 else { return }
        let text = try Self.text(Array(bytes.readableBytesView), initialization)
        waiting.append(
            Waiting(
                range: piece.range,
                sequence: piece.domain.sequence,
                text: text,
                byteCount: bytes.readableBytes
            )
        )
        waitingBytes += bytes.readableBytes
        while waiting.count > Self.mostWaiting || waitingBytes > Self.mostWaitingBytes, let first = waiting.first {
            waitingBytes -= first.byteCount
            waiting.removeFirst()
        }
    }

    /// Removes the cues in a time range.
    mutating func discard(_ range: MediaTimeRange) { timeline.discard(range) }

    /// Resets the layout and the caption decoders, as required after a seek or a change of subtitles.
    mutating func reset() {
        arrangement = SubtitleArrangement()
        line21 = line21.map { _ in CEA608Decoder() }
        service = service.map { _ in CEA708Decoder() }
    }

    /// Selects the caption channel to decode, as in `INSTREAM-ID`: `CC1` to `CC4` or `SERVICE1` to `SERVICE63`; `nil`
    /// selects none.
    mutating func select(_ channel: String?) {
        line21 = nil
        service = nil
        guard let channel else { return }
        if let number = channel.wholeNumber(after: "CC"), let known = CEA608Decoder.Channel(rawValue: number) {
            line21 = CEA608Decoder(channel: known)
        } else if let number = channel.wholeNumber(after: "SERVICE") {
            service = CEA708Decoder(service: number)
        }
    }

    /// Decodes the captions of a frame that is shown now.
    mutating func read(_ frame: VideoFrame) {
        guard wantsCaptions, !frame.captionData.isEmpty else { return }
        let triplets = CaptionTriplet.list(frame.captionData.span)
        _ = line21?.decode(triplets, at: frame.time)
        _ = service?.decode(triplets, at: frame.time)
    }

    /// Returns the cues to show at a time; `nil` if they are already shown.
    mutating func change(at time: MediaTime, _ mapping: TimestampMapping) -> [SubtitleCue]? {
        place(mapping)
        let cues = timeline.cues(at: time) + (line21?.shown ?? []) + (service?.shown ?? [])
        guard cues != shown else { return nil }
        shown = cues
        return arrangement.arrange(cues)
    }

    /// Returns the time of the next change of the subtitles, without captions; `nil` if there is none.
    func nextChange(after time: MediaTime) -> MediaTime? { timeline.nextChange(after: time) }

    private mutating func place(_ mapping: TimestampMapping) {
        guard !waiting.isEmpty else { return }
        waiting.removeAll { entry in
            guard let cues = Self.placed(entry, mapping) else { return false }
            timeline.insert(cues)
            waitingBytes -= entry.byteCount
            return true
        }
    }

    /// Returns the cues in the timeline of the player item; `nil` while the timestamp offset of their discontinuity
    /// sequence is unknown.
    private static func placed(_ entry: Waiting, _ mapping: TimestampMapping) -> [SubtitleCue]? {
        guard let offset = mapping.offset(ofSequence: entry.sequence) else { return nil }
        switch entry.text {
        case .timed(let cues):
            let moved = cues.map { $0.moved(by: offset) }
            return isNear(moved, entry.range) || !isNear(cues, entry.range) ? moved : cues
        case .document(let document):
            let moved = document.subtitles(near: entry.range.start - offset).map { $0.moved(by: offset) }
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

    private static func text(_ bytes: [UInt8], _ initialization: MediaPiece.Initialization?) throws -> Text {
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

import MediaTiming
import NIOCore
import SegmentFormat
import StreamingEngine

/// Text at its time: subtitles from segments, and captions from pictures.
struct SubtitleFeed {
    /// Cues of a segment whose place on the timeline of the item is not known yet.
    private struct Waiting {
        let range: MediaTimeRange
        let sequence: Int64
        let text: Text
        /// The length of the segment that it was read from, in bytes.
        let byteCount: Int
    }

    /// What a segment held.
    private enum Text {
        /// Times of the media: they need what its timestamps need.
        case timed([SubtitleCue])
        /// A document that says itself how its times relate to those of the media.
        case document(WebVTTDocument)
    }

    private var timeline = SubtitleTimeline()
    private var waiting: [Waiting] = []
    private var arrangement = SubtitleArrangement()
    private var line21: CEA608Decoder?
    private var service: CEA708Decoder?
    private var shown: [SubtitleCue] = []

    /// A stream with more segments whose media never comes is none that is played.
    private static let mostWaiting = 1_000
    /// The maximum length of the segments whose place is not known yet, in bytes; beyond, the first of them are forgotten.
    static let mostWaitingBytes = 16 << 20
    private(set) var waitingBytes = 0

    /// Whether captions are looked for in pictures.
    var wantsCaptions: Bool { line21 != nil || service != nil }

    /// Reads a segment.
    ///
    /// - Throws: `MediaPipelineError` for what is no text that is known.
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

    /// Forgets what lies in a range.
    mutating func discard(_ range: MediaTimeRange) { timeline.discard(range) }

    /// Goes to another place, or to other subtitles.
    mutating func reset() {
        arrangement = SubtitleArrangement()
        line21 = line21.map { _ in CEA608Decoder() }
        service = service.map { _ in CEA708Decoder() }
    }

    /// Looks for captions of a channel from now on, as `INSTREAM-ID` names it: `CC1` to `CC4`, `SERVICE1` to `SERVICE63`.
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

    /// Reads the captions of a picture that is shown now.
    mutating func read(_ frame: VideoFrame) {
        guard wantsCaptions, !frame.captionData.isEmpty else { return }
        let triplets = CaptionTriplet.list(frame.captionData.span)
        _ = line21?.decode(triplets, at: frame.time)
        _ = service?.decode(triplets, at: frame.time)
    }

    /// What is to be shown at a time; `nil` where that is what is shown already.
    mutating func change(at time: MediaTime, _ mapping: TimestampMapping) -> [SubtitleCue]? {
        place(mapping)
        let cues = timeline.cues(at: time) + (line21?.shown ?? []) + (service?.shown ?? [])
        guard cues != shown else { return nil }
        shown = cues
        return arrangement.arrange(cues)
    }

    /// When something else is to be shown.
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

    /// The cues on the timeline of the item; `nil` while nothing is known of the media beside them.
    private static func placed(_ entry: Waiting, _ mapping: TimestampMapping) -> [SubtitleCue]? {
        guard let offset = mapping.offset(ofSequence: entry.sequence) else { return nil }
        switch entry.text {
        case .timed(let cues):
            let moved = cues.map { $0.moved(by: offset) }
            return isNear(moved, entry.range) || !isNear(cues, entry.range) ? moved : cues
        case .document(let document):
            let moved = document.subtitles(near: entry.range.start - offset).map { $0.moved(by: offset) }
            // Without a map, times begin with those of the media (RFC 8216bis §3.1.4); many mean the item's.
            guard document.timestampMap == nil, !isNear(moved, entry.range) else { return moved }
            let plain = document.subtitles
            return isNear(plain, entry.range) ? plain : moved
        }
    }

    /// Whether any of the cues is shown while its segment is; true without cues.
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
    /// The number behind a prefix; `nil` for anything else.
    fileprivate func wholeNumber(after prefix: String) -> Int? {
        hasPrefix(prefix) ? Int(dropFirst(prefix.count)) : nil
    }
}

import CFFmpeg
import MediaTiming
import SegmentFormat

/// A subtitle in the form that a file stores.
struct SubtitlePacket {
    /// The start and the duration, in milliseconds.
    let start, duration: Int64
    let bytes: [UInt8]

    /// The description of samples of timed text without styles (3GPP TS 26.245 §5.16): white text at the bottom.
    static let sampleDescription: [UInt8] =
        [0, 0, 0, 0, 1, 0xFF] + [0, 0, 0, 0] + [0, 0, 0, 0, 0, 0, 0, 0]
        + [0, 0, 0, 0, 0, 1, 0, 18, 0xFF, 0xFF, 0xFF, 0xFF]
        + [0, 0, 0, 18] + Array("ftab".utf8) + [0, 1, 0, 1, 5] + Array("Serif".utf8)

    fileprivate init?(_ range: MediaTimeRange, _ bytes: [UInt8]) {
        start = max(0, range.start.units(in: MediaFileWriter.textTimeBase))
        duration = (range.end.units(in: MediaFileWriter.textTimeBase) -| start)
        self.bytes = bytes
        guard duration > 0 else { return nil }
    }
}

/// The packets of a subtitle track in the order of their start times, each of which is made when it is needed.
///
/// Timed text in MP4 files cannot overlap, so cues that are shown at the same time are combined. Their text is then
/// repeated at each change, and all packets of a track together are limited.
struct SubtitlePackets {
    private let type: MediaFileType
    private let properties: ExportSource.Properties
    /// The cues that are written each on its own.
    private var cues: ArraySlice<SubtitleCue>
    /// The cues that are combined.
    private var timeline = SubtitleTimeline()
    /// The start of the next packet of combined cues; `nil` at the end.
    private var time: MediaTime?
    /// The maximum number of bytes of all combined cues.
    private let maximumByteCount: Int
    private var byteCount = 0

    /// The maximum size of combined cues as a multiple of that of their text, and the size that is always permitted, in bytes.
    private static let growth = (factor: 64, minimum: 16 << 10)
    /// The maximum number of bytes of the combined cues of a track.
    private static let trackLimit = 64 << 20

    /// Creates the packets of a track.
    ///
    /// - Parameters:
    ///   - cues: The cues in the order of their start times.
    ///   - type: The type of the file.
    ///   - properties: The properties of the track, for messages.
    init(_ cues: [SubtitleCue], for type: MediaFileType, of properties: ExportSource.Properties) {
        self.type = type
        self.properties = properties
        switch type {
        case .matroska:
            self.cues = cues[...]
            maximumByteCount = Self.trackLimit
        case .mp4:
            self.cues = []
            timeline.insert(cues)
            time = timeline.firstStart
            let permitted = Self.byteCount(of: cues) *| Self.growth.factor +| Self.growth.minimum
            maximumByteCount = min(permitted, Self.trackLimit)
        }
    }

    /// Returns the next packet; `nil` at the end.
    ///
    /// - Throws: `DecodingError` if the combined cues are too large.
    mutating func next() throws(DecodingError) -> SubtitlePacket? {
        switch type {
        case .matroska:
            while let cue = cues.popFirst() {
                let bytes = Array(SubRipWriter.text(of: [cue]).utf8)
                if let packet = SubtitlePacket(cue.timeRange, bytes) { return packet }
            }
        case .mp4:
            while let start = time {
                time = timeline.nextChange(after: start)
                let shown = timeline.cues(at: start)
                guard let end = time, !shown.isEmpty else { continue }
                byteCount +|= Self.byteCount(of: shown)
                guard byteCount <= maximumByteCount else { throw sizeError }
                let text = Array(shown.map(\.plainText).joined(separator: "\n").utf8.prefix(Int(UInt16.max)))
                let length = UInt16(clamping: text.count)
                let bytes = [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)] + text
                if let packet = SubtitlePacket(MediaTimeRange(start: start, end: end), bytes) { return packet }
            }
        }
        return nil
    }

    /// Returns the number of bytes of the text of cues, with the ends of their lines.
    private static func byteCount(of cues: [SubtitleCue]) -> Int {
        cues.reduce(0) { sum, cue in
            cue.lines.reduce(sum) { sum, line in line.spans.reduce(sum +| 1) { $0 +| $1.text.utf8.count } }
        }
    }

    private var sizeError: DecodingError {
        let name = properties.title ?? properties.languageTag ?? properties.language ?? "without a name"
        return DecodingError(
            status: .unsupported,
            operation: "the subtitles \"\(name.prefix(100))\" cannot be written to an MP4 file: so many cues are shown "
                + "at the same time that they would have more than \(maximumByteCount) bytes; "
                + "export them as SubRip, or to a Matroska file"
        )
    }
}

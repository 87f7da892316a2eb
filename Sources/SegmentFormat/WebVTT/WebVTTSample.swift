public import MediaTiming

/// A sample of WebVTT in an ISO base media file, format `wvtt` (ISO/IEC 14496-30 §7).
public struct WebVTTSample: Sendable, Hashable {
    /// What is shown for the whole time of the sample; empty for a gap (`vtte`).
    public let cues: [WebVTTCue]

    /// Further cues of a sample are not read.
    public static let mostCues = 1_000

    /// Reads a sample.
    ///
    /// Cues of one sample have all its time; a cue that goes on in the next sample is whole there again, and
    /// ``SubtitleTimeline`` and ``WebVTTCueGathering`` put them together. Texts between cues (`vtta`) are left out.
    ///
    /// - Parameters:
    ///   - bytes: The sample: boxes `vttc`, `vtte` and `vtta`.
    ///   - timeRange: When it is presented.
    /// - Throws: ``MediaFormatError/malformed(_:)`` where there is something else.
    public init(_ bytes: Span<UInt8>, timeRange: MediaTimeRange) throws(MediaFormatError) {
        var cues: [WebVTTCue] = []
        var walker = BoxWalker(0..<bytes.count, in: bytes)
        var end = 0
        while let box = walker.next(bytes) {
            end = box.range.upperBound
            switch box.type {
            case "vttc" where cues.count < Self.mostCues: cues.append(Self.cue(box, timeRange, bytes))
            case "vttc", "vtte", "vtta", "vttx", "free", "skip": break
            default: throw .malformed("WebVTT sample")
            }
        }
        guard end == bytes.count else { throw .malformed("WebVTT sample") }
        self.cues = cues
    }

    /// A cue: its name, settings and text each in a box of its own (§7.4).
    private static func cue(_ box: Box, _ timeRange: MediaTimeRange, _ bytes: Span<UInt8>) -> WebVTTCue {
        var id = ""
        var settings = WebVTTCueSettings()
        var text = ""
        var walker = BoxWalker(box.payload, in: bytes)
        while let child = walker.next(bytes) {
            switch child.type {
            case "iden": id = string(child, bytes)
            case "sttg": settings = WebVTTCueSettings(string(child, bytes))
            case "payl": text = string(child, bytes)
            default: break
            }
        }
        return WebVTTCue(id: id, timeRange: timeRange, settings: settings, text: text)
    }

    /// The text of a box, with or without a zero byte at its end.
    private static func string(_ box: Box, _ bytes: Span<UInt8>) -> String {
        var cursor = ByteCursor(box.payload, in: bytes)
        return cursor.terminatedText(bytes).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .joined(separator: "\n")
    }
}

extension WebVTTDocument {
    /// The header of a `wvtt` track, with its regions and style sheets, from the initialization section (`vttC`).
    ///
    /// `nil` where there is none. The track is the first with such a header, or the one named.
    public init?(initialization bytes: Span<UInt8>, trackID: UInt32? = nil) {
        var walker = BoxWalker(0..<bytes.count, in: bytes)
        while let movie = walker.next(bytes) {
            guard movie.type == .moov else { continue }
            var tracks = BoxWalker(movie.payload, in: bytes)
            while let track = tracks.next(bytes) {
                guard track.type == .trak, let range = Self.header(track, trackID, bytes) else { continue }
                guard let document = try? WebVTTDocument(bytes.array(range).span) else { continue }
                self = document
                return
            }
        }
        return nil
    }

    private static func header(_ track: Box, _ trackID: UInt32?, _ bytes: Span<UInt8>) -> Range<Int>? {
        if let trackID {
            guard let header = track.child(.tkhd, bytes) else { return nil }
            var (version, _, cursor) = header.fields(bytes)
            cursor.skip(version == 1 ? 16 : 8)
            guard cursor.uint32(bytes) == trackID else { return nil }
        }
        guard let table = track.child(.mdia, bytes)?.child(.minf, bytes)?.child(.stbl, bytes)?.child(.stsd, bytes)
        else {
            return nil
        }
        let (_, _, cursor) = table.fields(bytes)
        var entries = BoxWalker(cursor.offset + 4..<max(cursor.offset + 4, cursor.end), in: bytes)
        while let entry = entries.next(bytes) {
            // Eight bytes that every entry begins with, and no fields of text's own.
            let rest = Box(
                type: entry.type,
                range: entry.range,
                payload: entry.payload.dropFirst(8),
                isCut: entry.isCut
            )
            if entry.type == "wvtt", let configuration = rest.child("vttC", bytes) { return configuration.payload }
        }
        return nil
    }
}

package import MediaTiming

/// A WebVTT sample in an ISO base media file, format `wvtt` (ISO/IEC 14496-30 §7).
package struct WebVTTSample: Sendable, Hashable {
    /// The cues that are shown during the whole sample; empty for a gap (`vtte`).
    package let cues: [WebVTTCue]

    /// The maximum number of cues that are read from a sample.
    package static let maximumCueCount = 1_000

    /// Creates a sample from its boxes.
    ///
    /// All cues have the time range of the sample. A cue that continues in the next sample is repeated there;
    /// ``SubtitleTimeline`` and ``WebVTTCueDeduplicator`` merge the repetitions. Additional text (`vtta`) is ignored.
    ///
    /// - Parameters:
    ///   - bytes: The sample data: boxes `vttc`, `vtte` and `vtta`.
    ///   - timeRange: The presentation time range of the sample.
    /// - Throws: ``MediaFormatError/malformed(_:)`` if the data contain anything else.
    package init(_ bytes: Span<UInt8>, timeRange: MediaTimeRange) throws(MediaFormatError) {
        var cues: [WebVTTCue] = []
        var walker = BoxIterator(0..<bytes.count, in: bytes)
        var end = 0
        while let box = walker.next(bytes) {
            end = box.range.upperBound
            switch box.type {
            case "vttc" where cues.count < Self.maximumCueCount: cues.append(Self.cue(box, timeRange, bytes))
            case "vttc", "vtte", "vtta", "vttx", "free", "skip": break
            default: throw .malformed("WebVTT sample")
            }
        }
        guard end == bytes.count else { throw .malformed("WebVTT sample") }
        self.cues = cues
    }

    /// Returns a cue, whose identifier, settings and text are each in a box (§7.4).
    private static func cue(_ box: Box, _ timeRange: MediaTimeRange, _ bytes: Span<UInt8>) -> WebVTTCue {
        var id = ""
        var settings = WebVTTCueSettings()
        var text = ""
        var walker = BoxIterator(box.payload, in: bytes)
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

    /// Returns the string in a box, with or without a terminating zero byte.
    private static func string(_ box: Box, _ bytes: Span<UInt8>) -> String {
        var cursor = ByteCursor(box.payload, in: bytes)
        return cursor.readTerminatedString(bytes).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .joined(separator: "\n")
    }
}

extension WebVTTDocument {
    /// Creates the header of a `wvtt` track, with its regions and style sheets, from an initialization section
    /// (`vttC`).
    ///
    /// The result is `nil` if there is none. Without a track ID, the first track with such a header is used.
    package init?(initialization bytes: Span<UInt8>, trackID: UInt32? = nil) {
        var walker = BoxIterator(0..<bytes.count, in: bytes)
        while let movie = walker.next(bytes) {
            guard movie.type == .moov else { continue }
            var tracks = BoxIterator(movie.payload, in: bytes)
            while let track = tracks.next(bytes) {
                guard track.type == .trak, let range = Self.header(track, trackID, bytes) else { continue }
                guard let document = try? WebVTTDocument(bytes.byteArray(in: range).span) else { continue }
                self = document
                return
            }
        }
        return nil
    }

    private static func header(_ track: Box, _ trackID: UInt32?, _ bytes: Span<UInt8>) -> Range<Int>? {
        if let trackID {
            guard let header = track.firstChild(.tkhd, in: bytes) else { return nil }
            var (version, _, cursor) = header.fullBoxFields(in: bytes)
            cursor.skip(version == 1 ? 16 : 8)
            guard cursor.readUInt32(bytes) == trackID else { return nil }
        }
        guard
            let table = track.firstChild(.mdia, in: bytes)?.firstChild(.minf, in: bytes)?.firstChild(.stbl, in: bytes)?
                .firstChild(.stsd, in: bytes)
        else {
            return nil
        }
        let (_, _, cursor) = table.fullBoxFields(in: bytes)
        var entries = BoxIterator(cursor.offset + 4..<max(cursor.offset + 4, cursor.end), in: bytes)
        while let entry = entries.next(bytes) {
            // Each entry starts with eight bytes common to all formats; this format has no further fields before its
            // boxes.
            let rest = Box(
                type: entry.type,
                range: entry.range,
                payload: entry.payload.dropFirst(8),
                isTruncated: entry.isTruncated
            )
            if entry.type == "wvtt", let configuration = rest.firstChild("vttC", in: bytes) {
                return configuration.payload
            }
        }
        return nil
    }
}

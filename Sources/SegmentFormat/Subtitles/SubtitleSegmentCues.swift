package import MediaTiming

/// The cues of a subtitle segment, whose times depend on the timestamp offset of the media.
package struct SubtitleSegmentCues: Sendable {
    /// The contents of a subtitle segment.
    private enum Contents {
        /// Cues in container time, which need the timestamp offset of the media.
        case timed([SubtitleCue])
        /// A document that declares the relation of its times to those of the media.
        case document(WebVTTDocument)
    }

    private let contents: Contents

    /// Creates the cues of a segment: WebVTT, TTML or SubRip, also within movie fragments.
    ///
    /// - Parameters:
    ///   - bytes: The segment.
    ///   - initialization: The media initialization section; `nil` if the segment has none.
    /// - Throws: An error with a description if the format is unknown or the segment is damaged.
    package init(_ bytes: [UInt8], initialization: [UInt8]?) throws {
        if let initialization, let track = FragmentedSubtitles(initialization: initialization.span) {
            contents = .timed(try track.cues(in: bytes.span))
            return
        }
        switch bytes.first(where: { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }) {
        case UInt8(ascii: "<"): contents = .timed(try TimedTextDocument(bytes.span).cues)
        case UInt8(ascii: "W"): contents = .document(try WebVTTDocument(bytes.span))
        default: contents = .timed(try SubRipDocument(bytes.span).cues)
        }
    }

    /// Returns the cues on the timeline of the playlist.
    ///
    /// - Parameters:
    ///   - offset: The offset to add to the timestamps of the media; `nil` if there is no media, so that only the times in
    ///     the segment determine those of its cues.
    ///   - range: The time range of the segment according to the playlist.
    /// - Returns: The cues.
    package func cues(offset: MediaTime?, range: MediaTimeRange) -> [SubtitleCue] {
        switch contents {
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
}

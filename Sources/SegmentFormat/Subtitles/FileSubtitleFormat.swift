package import MediaTiming

/// The format of the samples of a subtitle track in a media file.
package enum FileSubtitleFormat: Sendable, Hashable {
    /// SubRip in Matroska: the text of a cue with its tags.
    case subRip
    /// WebVTT in Matroska: the text of a cue with its tags.
    case webVTT
    /// SubStation Alpha in Matroska: the fields of an event, of which the last one is the text.
    ///
    /// Styles that the header defines are not applied.
    case subStation
    /// Timed text of 3GPP in an ISO base media file (3GPP TS 26.245 §5.17): the length of the text, and the text.
    ///
    /// The boxes after it, with styles, are ignored.
    case timedText
    /// WebVTT in an ISO base media file (ISO/IEC 14496-30 §7): boxes with the cues that are shown during a sample.
    ///
    /// The style sheets and regions of the header are not applied.
    case webVTTBoxes
    /// TTML in an ISO base media file (ISO/IEC 14496-30 §5): a document for each sample.
    case documents

    /// The maximum size of a sample, in bytes; larger ones are ignored.
    ///
    /// Documents have a limit of their own, ``TimedTextDocument/maximumSize``.
    private static let maximumSampleSize = 128 << 10
    /// The number of fields of an event before its text.
    private static let eventFieldCount = 8

    /// Creates the format of a track; `nil` if the track does not have subtitles, or its format cannot be shown, such
    /// as image-based subtitles.
    ///
    /// - Parameters:
    ///   - track: The track.
    ///   - container: The container format of the file.
    package init?(_ track: MediaTrack, in container: MediaContainer) {
        guard track.mediaType == .subtitles, track.encryptionScheme == nil, let codec = track.codec else { return nil }
        if container == .isoBaseMedia {
            switch codec {
            case "tx3g": self = .timedText
            case "wvtt": self = .webVTTBoxes
            case _ where codec == "stpp" || codec.hasPrefix("stpp."): self = .documents
            default: return nil
            }
        } else if container == .matroska || container == .webM {
            switch codec {
            case "S_TEXT/UTF8", "S_TEXT/ASCII": self = .subRip
            case "wvtt", "S_TEXT/WEBVTT", "D_WEBVTT/SUBTITLES", "D_WEBVTT/CAPTIONS": self = .webVTT
            case "S_TEXT/ASS", "S_TEXT/SSA", "S_ASS", "S_SSA": self = .subStation
            default: return nil
            }
        } else {
            return nil
        }
    }

    /// Returns a Boolean value that indicates whether the subtitles of a codec can be shown, in any container.
    package static func isSupported(codec: String) -> Bool {
        let track = MediaTrack(id: 0, mediaType: .subtitles, codec: codec)
        return [MediaContainer.isoBaseMedia, .matroska].contains { FileSubtitleFormat(track, in: $0) != nil }
    }

    /// Returns the cues of a sample.
    ///
    /// A cue that continues in the next sample is repeated there; ``SubtitleTimeline`` joins the repetitions.
    ///
    /// - Parameters:
    ///   - sample: The bytes of the sample.
    ///   - range: The time range of the sample on the timeline of its track.
    /// - Returns: The cues, within the time range; none if the sample has no text or cannot be read.
    package func cues(_ sample: Span<UInt8>, range: MediaTimeRange) -> [SubtitleCue] {
        switch self {
        case .subRip, .webVTT, .subStation, .timedText: return cue(sample, range: range).map { [$0] } ?? []
        case .webVTTBoxes:
            guard sample.count <= Self.maximumSampleSize, let boxes = try? WebVTTSample(sample, timeRange: range) else {
                return []
            }
            return boxes.cues.compactMap { SubtitleCue($0) }
        case .documents: return (try? TimedTextDocument(sample))?.cues(within: range) ?? []
        }
    }

    /// Returns the cue of a sample in a format with one cue for each; `nil` if the sample has no text.
    private func cue(_ sample: Span<UInt8>, range: MediaTimeRange) -> SubtitleCue? {
        guard sample.count <= Self.maximumSampleSize else { return nil }
        switch self {
        case .subRip: return Self.cue(SubRipText.decoded(sample), range)
        case .webVTT: return SubtitleCue(WebVTTCue(timeRange: range, text: SubRipText.decoded(sample)))
        case .subStation:
            let fields = SubRipText.decoded(sample).split(
                separator: ",",
                maxSplits: Self.eventFieldCount,
                omittingEmptySubsequences: false
            )
            // Events that draw shapes have no text.
            guard fields.count > Self.eventFieldCount, let text = fields.last, text.firstRange(of: "\\p1") == nil else {
                return nil
            }
            return Self.cue(Self.textWithoutEscapes(text), range)
        case .timedText:
            guard sample.count > 2 else { return nil }
            let length = min(Int(sample[0]) << 8 | Int(sample[1]), sample.count - 2)
            guard length > 0 else { return nil }
            var builder = SubtitleTextBuilder()
            let text = SubRipText.decoded(sample.extracting(2..<(2 + length)))
            for (index, line) in Self.lines(text).enumerated() {
                if index > 0 { builder.endLine() }
                builder.append(String(line), SubtitleStyle())
            }
            let lines = builder.finish()
            return lines.isEmpty ? nil : SubtitleCue(timeRange: range, lines: lines)
        case .webVTTBoxes, .documents: return nil
        }
    }

    private static func cue(_ text: String, _ range: MediaTimeRange) -> SubtitleCue? {
        var parser = SubRipText()
        return parser.cue(lines(text), id: "", range: range)
    }

    private static func lines(_ text: String) -> [Substring] {
        Array(
            text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .prefix(SubRipDocument.maximumLineCount)
        )
    }

    /// Returns the text of an event with line breaks and spaces instead of `\N`, `\n` and `\h`.
    private static func textWithoutEscapes(_ text: Substring) -> String {
        var plain = ""
        var isEscape = false
        for character in text {
            if isEscape {
                isEscape = false
                switch character {
                case "N", "n": plain.append("\n")
                case "h": plain.append(" ")
                default:
                    plain.append("\\")
                    plain.append(character)
                }
            } else if character == "\\" {
                isEscape = true
            } else {
                plain.append(character)
            }
        }
        return plain
    }
}

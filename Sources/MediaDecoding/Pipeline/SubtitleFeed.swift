import MediaTiming
import SegmentFormat
import StreamingEngine

/// The subtitles of segments and the closed captions of frames, by time.
struct SubtitleFeed {
    private var timeline = SubtitleTimeline()
    /// The subtitle tracks of a media file.
    var fileSubtitles = FileSubtitles()
    private var pendingSegments: [SubtitleSegment] = []
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
    /// - Throws: `MediaPipelineError` if the format is unknown or the segment is damaged; `CancellationError`.
    mutating func append(_ segment: PipelineSegment) throws {
        guard let parsed = try SubtitleSegment(segment) else { return }
        pendingSegments.append(parsed)
        pendingSize += parsed.byteCount
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
        let text = timeline.cues(at: time) + fileSubtitles.cues(at: time)
        let cues = text + (cea608Decoder?.currentCues ?? []) + (cea708Decoder?.currentCues ?? [])
        guard cues != shown else { return nil }
        shown = cues
        return layout.position(cues)
    }

    /// Returns the time of the next change of the subtitles, without captions; `nil` if there is none.
    func nextChange(after time: MediaTime) -> MediaTime? {
        [timeline.nextChange(after: time), fileSubtitles.nextChange(after: time)].compactMap(\.self).min()
    }

    private mutating func mapPendingSegments(_ mapping: TimestampMapping) {
        guard !pendingSegments.isEmpty else { return }
        pendingSegments.removeAll { entry in
            guard let offset = mapping.offset(ofSequence: entry.sequence) else { return false }
            timeline.insert(entry.cues(offset: offset))
            pendingSize -= entry.byteCount
            return true
        }
    }
}

extension String {
    /// Returns the number after a prefix; `nil` for any other string.
    fileprivate func wholeNumber(after prefix: String) -> Int? {
        hasPrefix(prefix) ? Int(dropFirst(prefix.count)) : nil
    }
}

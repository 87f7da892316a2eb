package import MediaTiming

/// The subtitles of a track in a fragmented file: WebVTT (`wvtt`) or TTML (`stpp`) (ISO/IEC 14496-30).
package struct FragmentedSubtitles: Sendable {
    /// The format of subtitle samples.
    package enum Format: Sendable, Hashable {
        /// WebVTT: samples consist of boxes with cues.
        case webVTT
        /// TTML: each sample is a document.
        case timedText
    }

    /// The format of the track's samples.
    package let format: Format
    /// The track ID.
    package let trackID: UInt32
    private let movie: Movie
    /// The style sheets and regions of the header, parsed once instead of for each sample.
    private let converter: WebVTTSubtitleConverter?

    /// Creates subtitles from a subtitle track of an initialization section, or `nil` if there is none in a supported
    /// format.
    ///
    /// - Parameters:
    ///   - bytes: The initialization section.
    ///   - trackID: The track ID; by default that of the first subtitle track.
    package init?(initialization bytes: Span<UInt8>, trackID: UInt32? = nil) {
        let segment = FragmentedSegment(bytes)
        guard let movie = segment.movie else { return nil }
        for track in movie.tracks where trackID == nil || track.id == trackID {
            guard let format = track.sampleEntries.lazy.compactMap({ Self.format($0.format) }).first else { continue }
            self.format = format
            self.trackID = track.id
            self.movie = movie
            let header = format == .webVTT ? WebVTTDocument(initialization: bytes, trackID: track.id) : nil
            converter = header.map { WebVTTSubtitleConverter($0) }
            return
        }
        return nil
    }

    private static func format(_ code: FourCharacterCode) -> Format? {
        switch code {
        case "wvtt": .webVTT
        case "stpp": .timedText
        default: nil
        }
    }

    /// Returns the cues of a segment, on the track's timeline with its edit list applied.
    ///
    /// Samples that cannot be parsed are omitted, unless all of them fail.
    ///
    /// - Parameter segment: Movie fragments with their media data.
    /// - Returns: The cues, each with the time range of its sample; ``SubtitleTimeline`` joins cues that continue.
    /// - Throws: The ``MediaFormatError`` of the first sample if no sample can be parsed.
    package func cues(in segment: Span<UInt8>) throws(MediaFormatError) -> [SubtitleCue] {
        let offset = movie.track(trackID)?.firstEdit?.offset ?? .zero
        var cues: [SubtitleCue] = []
        var firstError: MediaFormatError?
        var isAnyRead = false
        for sample in FragmentSample.samples(in: segment, movie: movie, trackID: trackID) where !sample.bytes.isEmpty {
            do throws(MediaFormatError) {
                let bytes = segment.extracting(sample.bytes)
                cues += try self.cues(inSample: bytes, timeRange: sample.timeRange).map { $0.shifted(by: offset) }
                isAnyRead = true
            } catch {
                firstError = firstError ?? error
            }
            guard cues.count < WebVTTDocument.maximumCueCount else { break }
        }
        if let firstError, !isAnyRead { throw firstError }
        return cues
    }

    /// Returns the cues of a sample.
    ///
    /// - Parameters:
    ///   - bytes: The sample data.
    ///   - timeRange: The presentation time range of the sample on the track's timeline.
    /// - Returns: The cues, limited to the time range.
    /// - Throws: ``MediaFormatError`` if the sample cannot be parsed.
    package func cues(
        inSample bytes: Span<UInt8>,
        timeRange: MediaTimeRange
    ) throws(MediaFormatError) -> [SubtitleCue] {
        switch format {
        case .timedText:
            return try TimedTextDocument(bytes).cues(within: timeRange)
        case .webVTT:
            let sample = try WebVTTSample(bytes, timeRange: timeRange)
            if let converter { return converter.subtitles(of: sample.cues) }
            return sample.cues.compactMap { SubtitleCue($0) }
        }
    }
}

public import MediaTiming

/// The subtitles of a track in a fragmented file: WebVTT (`wvtt`) or TTML (`stpp`) (ISO/IEC 14496-30).
public struct FragmentedSubtitles: Sendable {
    /// How the track's samples are coded.
    public enum Format: Sendable, Hashable {
        /// Samples of boxes with cues.
        case webVTT
        /// Samples that are each a document of TTML.
        case timedText
    }

    /// How the track's samples are coded.
    public let format: Format
    /// The track.
    public let trackID: UInt32
    private let movie: Movie
    /// The style sheets of the header, read once and not for each sample.
    private let presenter: WebVTTPresenter?

    /// Looks for a track of text in an initialization section; `nil` where there is none that is known.
    ///
    /// - Parameters:
    ///   - bytes: The initialization section.
    ///   - trackID: Which track; by default the first of text.
    public init?(initialization bytes: Span<UInt8>, trackID: UInt32? = nil) {
        let segment = FragmentedSegment(bytes)
        guard let movie = segment.movie else { return nil }
        for track in movie.tracks where trackID == nil || track.id == trackID {
            guard let format = track.sampleEntries.lazy.compactMap({ Self.format($0.format) }).first else { continue }
            self.format = format
            self.trackID = track.id
            self.movie = movie
            let header = format == .webVTT ? WebVTTDocument(initialization: bytes, trackID: track.id) : nil
            presenter = header.map { WebVTTPresenter($0) }
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

    /// The cues of a segment, on the track's timeline, with its edit list taken into account.
    ///
    /// Samples that cannot be read are left out, unless none of them can be.
    ///
    /// - Parameter segment: Fragments with their media.
    /// - Returns: The cues, each with the time of its sample; ``SubtitleTimeline`` joins those that go on.
    /// - Throws: ``MediaFormatError`` of the first sample, where no sample can be read.
    public func cues(in segment: Span<UInt8>) throws(MediaFormatError) -> [SubtitleCue] {
        let offset = movie.track(trackID)?.edit?.offset ?? .zero
        var cues: [SubtitleCue] = []
        var firstError: MediaFormatError?
        var isAnyRead = false
        for sample in FragmentSample.samples(in: segment, movie: movie, trackID: trackID) where !sample.bytes.isEmpty {
            do throws(MediaFormatError) {
                let bytes = segment.extracting(sample.bytes)
                cues += try self.cues(inSample: bytes, timeRange: sample.timeRange).map { $0.moved(by: offset) }
                isAnyRead = true
            } catch {
                firstError = firstError ?? error
            }
            guard cues.count < WebVTTDocument.mostCues else { break }
        }
        if let firstError, !isAnyRead { throw firstError }
        return cues
    }

    /// The cues of a sample.
    ///
    /// - Parameters:
    ///   - bytes: The sample.
    ///   - timeRange: When it is presented, on the track's timeline.
    /// - Returns: The cues, none of which reaches beyond that.
    /// - Throws: ``MediaFormatError`` where the sample cannot be read.
    public func cues(
        inSample bytes: Span<UInt8>,
        timeRange: MediaTimeRange
    ) throws(MediaFormatError) -> [SubtitleCue] {
        switch format {
        case .timedText:
            return try TimedTextDocument(bytes).cues(within: timeRange)
        case .webVTT:
            let sample = try WebVTTSample(bytes, timeRange: timeRange)
            if let presenter { return presenter.subtitles(of: sample.cues) }
            return sample.cues.compactMap { SubtitleCue($0) }
        }
    }
}

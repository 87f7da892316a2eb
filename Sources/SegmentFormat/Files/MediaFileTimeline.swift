public import MediaTiming

/// A media file as a timeline of byte ranges.
public struct MediaFileTimeline: Sendable, Hashable {
    /// What the file is.
    public var container: MediaContainer
    /// The length of the timeline; `nil` where it is not known.
    public var duration: MediaTime?
    /// What the file holds; empty where that is not read of its container.
    public var tracks: [MediaTrack]
    /// The parts of the file, in order, from zero to ``duration``.
    ///
    /// A single piece with an empty time range stands for a file whose duration is not known; there is none where its
    /// length in bytes is not known either.
    public var pieces: [MediaFilePiece]
    /// What a decoder needs before any piece: `moov`, FLAC's metadata, WAV's header; `nil` where there is no such thing.
    public var initialization: ByteRange?
    /// The timestamp that samples at zero of the timeline have: the first one in the file, after edits.
    public var firstTimestamp: MediaTime
    /// How the pieces are cut.
    public var cuts: Cuts
    /// Whether the samples lie where tables in the initialization say, counted from the start of the file.
    ///
    /// The pieces then tell which bytes are needed for which time, but no demultiplexer understands them by themselves:
    /// it needs to be able to read the whole file at any place.
    public var isProgressive: Bool
    /// Whether the duration is reckoned from the bit rate of parts of the file.
    public var isDurationEstimated: Bool
    /// What could not be read of the file, so that the timeline is poorer than it might be; `nil` where all was.
    public var problem: MediaFormatError?

    /// How pieces are cut.
    public enum Cuts: Sendable, Hashable {
        /// Each piece begins with a unit that can be decoded by itself, at the time it says.
        case exact
        /// Pieces begin in the middle of frames, at about the time they say.
        ///
        /// One demultiplexer must be given them in a row; after a seek it begins with the first whole frame.
        case approximate
    }

    /// Makes a timeline that says no more than what the file is.
    public init(container: MediaContainer) {
        self.container = container
        tracks = []
        pieces = []
        firstTimestamp = .zero
        cuts = .exact
        isProgressive = false
        isDurationEstimated = false
    }
}

extension MediaFileTimeline {
    /// Makes a timeline of a single piece that holds the whole file.
    init(wholeFile container: MediaContainer, length: Int64?, duration: MediaTime? = nil) {
        self.init(container: container)
        self.duration = duration
        if let length, length > 0, let bytes = ByteRange(start: 0, length: length) {
            pieces = [
                MediaFilePiece(timeRange: MediaTimeRange(start: .zero, duration: duration ?? .zero), byteRange: bytes)
            ]
        }
    }
}

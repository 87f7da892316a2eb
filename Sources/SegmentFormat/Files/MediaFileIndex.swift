public import MediaTiming

/// An incremental reader that determines the byte ranges and time ranges of a media file without loading all of it.
///
/// The index is created from the first bytes of the file and requests further ones, usually a few kilobytes at a time:
///
/// ```swift
/// guard var index = MediaFileIndex(head: head, length: length) else { return }
/// while case .needs(let range) = index.state { index.add(try await load(range)) }
/// ```
///
/// The process ends for any input: after ``Options/mostRequests`` requests, the timeline is created from the bytes
/// loaded so far.
public struct MediaFileIndex: Sendable {
    /// The progress of an index.
    public enum State: Sendable, Hashable {
        /// The given byte range is required next; its length is at most ``MediaFileIndex/mostRequestBytes``.
        case needs(ByteRange)
        /// The timeline is complete, as far as it can be determined.
        case ready(MediaFileTimeline)
    }

    /// The options of an index.
    public struct Options: Sendable, Hashable {
        /// The minimum duration of a segment, if the file allows it; 6 s by default, the usual duration of HLS
        /// segments.
        public var pieceDuration: MediaTime
        /// The maximum number of requests; 400 by default, enough for about half an hour of fragments without an index.
        public var mostRequests: Int

        /// Creates options with the given values; the segment duration is at least 0.1 s.
        public init(pieceDuration: MediaTime = MediaTime(seconds: 6), mostRequests: Int = 400) {
            self.pieceDuration = max(pieceDuration, MediaTime(value: 1, timescale: 10))
            self.mostRequests = max(0, mostRequests)
        }
    }

    /// The maximum length of a requested byte range; a larger `moov` box is not read.
    public static let mostRequestBytes = 64 << 20

    /// The current state.
    public private(set) var state: State
    /// The number of requests made so far.
    public private(set) var requestCount = 0

    private let options: Options
    private var file: FileBytes
    private var reading: any FileReading

    /// Creates an index from the first bytes of a file, or `nil` if they are not those of a supported media file.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the file; 64 KiB are sufficient to start.
    ///   - length: The length of the file in bytes; `nil` if the server does not report it.
    ///   - options: The options of the index.
    public init?(head: [UInt8], length: Int64?, options: Options = Options()) {
        guard let container = MediaContainer(head.span) else { return nil }
        switch container {
        case .isoBaseMedia: reading = MovieFileReading(options.pieceDuration)
        case .transportStream: reading = TransportFileReading(options.pieceDuration)
        case .aac, .mpegAudio, .ac3, .enhancedAC3, .id3: reading = AudioFileReading(options.pieceDuration)
        case .flac: reading = FLACFileReading(options.pieceDuration)
        case .wave: reading = WaveFileReading(options.pieceDuration)
        case .matroska, .webM: reading = MatroskaFileReading(container, options.pieceDuration)
        case .ogg: reading = OggFileReading()
        case .webVTT, .ttml: reading = WholeFileReading(container: container)
        case .hlsPlaylist, .mediaPresentation, .html: return nil
        }
        self.options = options
        file = FileBytes(head: head, length: length)
        state = .needs(FileBytes.nothing)
        advance()
    }

    /// Adds the bytes that ``state`` requires.
    ///
    /// If fewer bytes than requested are given, the file is assumed to end there; additional bytes are used as well.
    /// The call has no effect if no bytes are required.
    public mutating func add(_ bytes: [UInt8]) {
        guard case .needs(let range) = state else { return }
        file.add(bytes, for: range)
        advance()
    }

    private mutating func advance() {
        switch reading.step(file) {
        case .needs(let range) where requestCount < options.mostRequests && range.length > 0:
            requestCount += 1
            state = .needs(range)
        case .needs:
            state = .ready(reading.settle(file))
        case .ready(let timeline):
            state = .ready(timeline)
        }
    }
}

/// A reader that builds the timeline of a file in one container format.
protocol FileReading: Sendable {
    /// Continues with the bytes loaded so far and returns the next request or the timeline.
    mutating func step(_ file: FileBytes) -> MediaFileIndex.State
    /// Returns the timeline that results from the bytes read so far.
    func settle(_ file: FileBytes) -> MediaFileTimeline
}

/// A reader for formats of which only the container format is determined.
struct WholeFileReading: FileReading {
    let container: MediaContainer

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State { .ready(settle(file)) }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        MediaFileTimeline(wholeFile: container, length: file.length)
    }
}

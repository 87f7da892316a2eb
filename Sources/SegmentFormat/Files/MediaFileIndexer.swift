package import MediaTiming

/// An incremental reader that determines the byte ranges and time ranges of a media file without loading all of it.
///
/// The index is created from the first bytes of the file and requests further ones, usually a few kilobytes at a time:
///
/// ```swift
/// guard var index = MediaFileIndexer(head: head, length: length) else { return }
/// while case .needsBytes(let range) = index.state { index.add(try await load(range)) }
/// ```
///
/// The process ends for any input: after ``Options/maximumRequestCount`` requests, the timeline is created from the bytes
/// loaded so far.
package struct MediaFileIndexer: Sendable {
    /// The progress of an index.
    package enum State: Sendable, Hashable {
        /// The given byte range is required next; its length is at most ``MediaFileIndexer/maximumRequestSize``.
        case needsBytes(ByteRange)
        /// The timeline is complete, as far as it can be determined.
        case ready(MediaFileTimeline)
    }

    /// The options of an index.
    package struct Options: Sendable, Hashable {
        /// The minimum duration of a segment, if the file allows it; 6 s by default, the usual duration of HLS
        /// segments.
        package var minimumSegmentDuration: MediaTime
        /// The maximum number of requests; 400 by default, enough for about half an hour of fragments without an index.
        package var maximumRequestCount: Int

        /// Creates options with the given values; the segment duration is at least 0.1 s.
        package init(minimumSegmentDuration: MediaTime = MediaTime(seconds: 6), maximumRequestCount: Int = 400) {
            self.minimumSegmentDuration = max(minimumSegmentDuration, MediaTime(value: 1, timescale: 10))
            self.maximumRequestCount = max(0, maximumRequestCount)
        }
    }

    /// The maximum length of a requested byte range; a larger `moov` box is not read.
    package static let maximumRequestSize = 64 << 20
    /// The number of bytes that a caller should load at most to find the index of a file, 256 MiB.
    package static let maximumIndexSize: Int64 = 256 << 20

    /// The current state.
    package private(set) var state: State
    /// The number of requests made so far.
    package private(set) var requestCount = 0

    private let options: Options
    private var file: LoadedFileParts
    private var reader: any MediaFileReader

    /// Creates an index from the first bytes of a file, or `nil` if they are not those of a supported media file.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the file; 64 KiB are sufficient to start.
    ///   - length: The length of the file in bytes; `nil` if the server does not report it.
    ///   - options: The options of the index.
    package init?(head: [UInt8], length: Int64?, options: Options = Options()) {
        guard let container = MediaContainer(head.span) else { return nil }
        switch container {
        case .isoBaseMedia: reader = MovieFileReader(options.minimumSegmentDuration)
        case .transportStream: reader = TransportStreamFileReader(options.minimumSegmentDuration)
        case .aac, .mpegAudio, .ac3, .enhancedAC3, .id3: reader = AudioFileReader(options.minimumSegmentDuration)
        case .flac: reader = FLACFileReader(options.minimumSegmentDuration)
        case .wave: reader = WaveFileReader(options.minimumSegmentDuration)
        case .matroska, .webM: reader = MatroskaFileReader(container, options.minimumSegmentDuration)
        case .ogg: reader = OggFileReader()
        case .webVTT, .ttml: reader = ContainerOnlyFileReader(container: container)
        case .hlsPlaylist, .mediaPresentation, .html: return nil
        }
        self.options = options
        file = LoadedFileParts(head: head, length: length)
        state = .needsBytes(LoadedFileParts.emptyRange)
        advance()
    }

    /// Adds the bytes that ``state`` requires.
    ///
    /// If fewer bytes than requested are given, the file is assumed to end there; additional bytes are used as well.
    /// The call has no effect if no bytes are required.
    package mutating func add(_ bytes: [UInt8]) {
        guard case .needsBytes(let range) = state else { return }
        file.add(bytes, for: range)
        advance()
    }

    private mutating func advance() {
        switch reader.advance(with: file) {
        case .needsBytes(let range) where requestCount < options.maximumRequestCount && range.length > 0:
            requestCount += 1
            state = .needsBytes(range)
        case .needsBytes:
            state = .ready(reader.makeTimeline(from: file))
        case .ready(let timeline):
            state = .ready(timeline)
        }
    }
}

/// A reader that builds the timeline of a file in one container format.
protocol MediaFileReader: Sendable {
    /// Continues with the bytes loaded so far and returns the next request or the timeline.
    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State
    /// Returns the timeline that results from the bytes read so far.
    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline
}

/// A reader for formats for which only the container format is determined.
struct ContainerOnlyFileReader: MediaFileReader {
    let container: MediaContainer

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State { .ready(makeTimeline(from: file)) }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        MediaFileTimeline(wholeFile: container, length: file.length)
    }
}

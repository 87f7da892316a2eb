public import MediaTiming

/// Finds out which bytes of a file hold which time, without loading the file.
///
/// It begins with the first bytes and says which ones it needs next, a few kilobytes at a time:
///
/// ```swift
/// guard var index = MediaFileIndex(head: head, length: length) else { return }
/// while case .needs(let range) = index.state { index.add(try await load(range)) }
/// ```
///
/// Whatever the bytes are, there is an end: after ``Options/mostRequests`` it makes do with what it has.
public struct MediaFileIndex: Sendable {
    /// How far it is.
    public enum State: Sendable, Hashable {
        /// These bytes are needed next; at most ``MediaFileIndex/mostRequestBytes`` at once.
        case needs(ByteRange)
        /// All is known that can be.
        case ready(MediaFileTimeline)
    }

    /// What may be chosen.
    public struct Options: Sendable, Hashable {
        /// How long a piece is at least, as far as the file allows; 6 s by default, as long as segments usually are.
        public var pieceDuration: MediaTime
        /// How often bytes are asked for; 400 by default, which is half an hour of fragments that no index lists.
        public var mostRequests: Int

        /// Makes options.
        public init(pieceDuration: MediaTime = MediaTime(seconds: 6), mostRequests: Int = 400) {
            self.pieceDuration = max(pieceDuration, MediaTime(value: 1, timescale: 10))
            self.mostRequests = max(0, mostRequests)
        }
    }

    /// No larger part of a file is asked for at once: a `moov` beyond it is not read.
    public static let mostRequestBytes = 64 << 20

    /// How far it is.
    public private(set) var state: State
    /// How often bytes were asked for.
    public private(set) var requestCount = 0

    private let options: Options
    private var file: FileBytes
    private var reading: any FileReading

    /// Begins with the first bytes of a file; `nil` where they are not those of a media file.
    ///
    /// - Parameters:
    ///   - head: The first bytes; 64 KiB are enough for a good start.
    ///   - length: How many bytes the file has; `nil` where the server does not say.
    ///   - options: What may be chosen.
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

    /// Takes the bytes that ``state`` needs.
    ///
    /// Fewer bytes than asked for, or none, mean that the file ends there; further ones are taken as well. Nothing
    /// happens where nothing is needed.
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

/// Reads one kind of file.
protocol FileReading: Sendable {
    /// Goes on with the bytes there are now, as far as they go.
    mutating func step(_ file: FileBytes) -> MediaFileIndex.State
    /// Makes do with what was read so far.
    func settle(_ file: FileBytes) -> MediaFileTimeline
}

/// A file of which no more is read than what it is.
struct WholeFileReading: FileReading {
    let container: MediaContainer

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State { .ready(settle(file)) }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        MediaFileTimeline(wholeFile: container, length: file.length)
    }
}

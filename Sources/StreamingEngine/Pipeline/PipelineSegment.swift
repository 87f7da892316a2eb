public import MediaTiming
public import NIOCore
public import PlaybackReporting
package import SegmentFormat

/// A segment of media, or a gap, that is appended to a pipeline.
public struct PipelineSegment: Sendable {
    /// The media of a segment.
    public enum Content: Sendable {
        /// The bytes of a segment, from which any encryption of the entire segment has been removed.
        case media(ByteBuffer, initialization: Initialization?)
        /// No media: the last video frame remains visible, and there is no audio.
        case gap
    }

    /// A media initialization section.
    public struct Initialization: Sendable, Hashable {
        /// The identifier of the section; sections with the same identifier have to be parsed only once.
        public let id: String
        /// The bytes of the section.
        public let bytes: [UInt8]

        /// Creates an initialization section.
        public init(id: String, bytes: [UInt8]) {
            self.id = id
            self.bytes = bytes
        }
    }

    /// The media type.
    public let type: MediaType
    /// The media.
    public let content: Content
    /// The time range on the timeline of the item, according to the playlist.
    public let range: MediaTimeRange
    /// The part of the rendition, between two discontinuities, that contains the segment.
    public let discontinuityDomain: Domain
    /// The parameters with which the pipeline decrypts the samples; `nil` if they are not encrypted.
    public let sampleProtection: SampleProtection?
    /// The variant, for video and the media muxed with it.
    public let variant: VariantDescription?
    /// The position in a media file, or `nil` for a segment of a stream.
    public let filePosition: FilePosition?
    /// A Boolean value that indicates whether the playlist declares a duration for the segment alone: the segment is the last one
    /// of a stream, and has another duration than the segment before; `false` by default.
    ///
    /// Some playlists declare the same duration for all segments, although the last one is shorter.
    package var declaresOwnDuration = false

    /// The position of a segment in a media file, with properties of the file.
    public struct FilePosition: Sendable, Hashable {
        /// The number of bytes of the file that precede the segment.
        public let offset: Int64
        /// The sample timestamp that corresponds to zero on the timeline.
        public let firstTimestamp: MediaTime
        /// A Boolean value that indicates whether segments may begin within a frame, so that they must be demultiplexed
        /// in order.
        public let beginsWithinFrames: Bool
        /// A Boolean value that indicates whether the segment is the last one of the file.
        public let isLast: Bool
        /// The number of bytes at the start that precede the segment and are read for subtitles in progress.
        package let earlierLength: Int64
        /// The container format of the file, which the bytes of a segment in its middle do not tell; `nil` if it is unknown.
        package let container: MediaContainer?

        /// Creates a position in a file.
        public init(offset: Int64, firstTimestamp: MediaTime, beginsWithinFrames: Bool, isLast: Bool) {
            self.offset = offset
            self.firstTimestamp = firstTimestamp
            self.beginsWithinFrames = beginsWithinFrames
            self.isLast = isLast
            earlierLength = 0
            container = nil
        }

        /// Creates the position of a byte range of an opened file; `nil` means the whole file.
        init(_ range: ByteRange?, in file: OpenedFile, isLast: Bool) {
            offset = range?.start ?? 0
            earlierLength = range.flatMap { file.earlierLengths[$0] } ?? 0
            self.isLast = isLast
            firstTimestamp = file.firstTimestamp
            beginsWithinFrames = file.beginsWithinFrames
            container = file.container
        }
    }

    /// A part of a rendition between two discontinuities, in which timestamps and formats are continuous.
    public struct Domain: Sendable, Hashable {
        /// The URL of the playlist.
        public let playlist: String
        /// The discontinuity sequence number.
        public let sequence: Int64

        /// Creates a domain.
        public init(playlist: String, sequence: Int64) {
            self.playlist = playlist
            self.sequence = sequence
        }
    }

    /// The parameters of sample encryption (RFC 8216bis §4.4.4.4).
    public struct SampleProtection: Sendable, Hashable {
        /// The method: `SAMPLE-AES` or `SAMPLE-AES-CTR`.
        public let method: String
        /// The key, 16 bytes.
        public let key: [UInt8]
        /// The initialization vector, 16 bytes, or `nil` if the media contains it.
        public let initializationVector: [UInt8]?

        /// Creates the parameters of sample encryption.
        public init(method: String, key: [UInt8], initializationVector: [UInt8]?) {
            self.method = method
            self.key = key
            self.initializationVector = initializationVector
        }
    }

    /// Creates a segment.
    public init(
        type: MediaType,
        content: Content,
        range: MediaTimeRange,
        discontinuityDomain: Domain,
        sampleProtection: SampleProtection? = nil,
        variant: VariantDescription? = nil,
        position: FilePosition? = nil
    ) {
        self.type = type
        self.content = content
        self.range = range
        self.discontinuityDomain = discontinuityDomain
        self.sampleProtection = sampleProtection
        self.variant = variant
        self.filePosition = position
    }

    /// The size of the segment in memory, in bytes.
    var byteCount: Int {
        guard case .media(let bytes, _) = content else { return 0 }
        return bytes.readableBytes
    }
}

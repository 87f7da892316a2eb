public import MediaTiming
public import NIOCore
public import PlaybackReporting

/// A stretch of media on its way to the decoder.
public struct MediaPiece: Sendable {
    /// What there is to decode.
    public enum Content: Sendable {
        /// A segment as its container holds it, decrypted as far as the transport may.
        case media(ByteBuffer, initialization: Initialization?)
        /// Nothing: the time passes with the last picture and without sound.
        case gap
    }

    /// What a decoder needs before media of a rendition.
    public struct Initialization: Sendable, Hashable {
        /// Tells it from others; equal ones need to be read once.
        public let id: String
        /// Its bytes.
        public let bytes: [UInt8]

        /// Makes one.
        public init(id: String, bytes: [UInt8]) {
            self.id = id
            self.bytes = bytes
        }
    }

    /// What it carries.
    public let type: MediaType
    /// The bytes.
    public let content: Content
    /// Where it belongs on the timeline of the item, as the playlist says.
    public let range: MediaTimeRange
    /// The stretch between discontinuities that it belongs to, in one rendition: timestamps go on inside.
    public let domain: Domain
    /// Encryption that only a decoder can undo; `nil` for none.
    public let sampleProtection: SampleProtection?
    /// The variant, for pictures and what comes with them.
    public let variant: VariantDescription?
    /// Where it lies in the file that is played; `nil` for segments of a stream.
    public let place: FilePlace?

    /// Where a piece lies in a media file, and what is known of that.
    public struct FilePlace: Sendable, Hashable {
        /// The number of bytes before it.
        public let offset: Int64
        /// The timestamp of samples at zero of the timeline.
        public let firstTimestamp: MediaTime
        /// Whether pieces begin in the middle of frames: then they have to be taken apart in a row.
        public let isCutAnywhere: Bool
        /// Whether nothing comes behind it.
        public let isLast: Bool

        /// Makes a place.
        public init(offset: Int64, firstTimestamp: MediaTime, isCutAnywhere: Bool, isLast: Bool) {
            self.offset = offset
            self.firstTimestamp = firstTimestamp
            self.isCutAnywhere = isCutAnywhere
            self.isLast = isLast
        }
    }

    /// The stretch in which timestamps and formats go on.
    public struct Domain: Sendable, Hashable {
        /// The address of the playlist.
        public let playlist: String
        /// The discontinuity sequence number.
        public let sequence: Int64

        /// Makes a domain.
        public init(playlist: String, sequence: Int64) {
            self.playlist = playlist
            self.sequence = sequence
        }
    }

    /// How samples are encrypted (RFC 8216bis §4.4.4.4).
    public struct SampleProtection: Sendable, Hashable {
        /// `SAMPLE-AES` or `SAMPLE-AES-CTR`.
        public let method: String
        /// The key: 16 octets.
        public let key: [UInt8]
        /// The initialization vector: 16 octets; `nil` where the media holds it.
        public let initializationVector: [UInt8]?

        /// Makes a protection.
        public init(method: String, key: [UInt8], initializationVector: [UInt8]?) {
            self.method = method
            self.key = key
            self.initializationVector = initializationVector
        }
    }

    /// Makes a piece.
    public init(
        type: MediaType,
        content: Content,
        range: MediaTimeRange,
        domain: Domain,
        sampleProtection: SampleProtection? = nil,
        variant: VariantDescription? = nil,
        place: FilePlace? = nil
    ) {
        self.type = type
        self.content = content
        self.range = range
        self.domain = domain
        self.sampleProtection = sampleProtection
        self.variant = variant
        self.place = place
    }

    /// How many bytes it holds in memory.
    var byteCount: Int {
        guard case .media(let bytes, _) = content else { return 0 }
        return bytes.readableBytes
    }
}

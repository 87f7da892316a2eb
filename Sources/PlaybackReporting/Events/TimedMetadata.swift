public import MediaTiming

/// A metadata item in the media with a presentation time.
public struct TimedMetadata: Sendable, Hashable {
    /// The carriage of timed metadata.
    public enum Kind: String, Sendable, Hashable {
        /// An ID3 tag, in a metadata stream of a transport stream or at the beginning of packed audio.
        case id3
        /// An event message box, `emsg`.
        case eventMessage = "emsg"
    }

    /// The carriage of the metadata.
    public let kind: Kind
    /// The presentation time.
    ///
    /// A demultiplexer sets it to the timestamp in the container; timestamp mapping replaces it by the time on the
    /// timeline of the item.
    public var time: MediaTime
    /// The duration, or `nil` if it is unknown.
    public let duration: MediaTime?
    /// The scheme: the URI of an event message, or `https://aomedia.org/emsg/ID3` for all ID3 tags.
    public let scheme: String
    /// The value of an event message within its scheme; empty for ID3 tags in transport streams.
    public let value: String
    /// The identifier that distinguishes event messages of the same scheme and value; 0 for ID3 tags in transport
    /// streams.
    public let id: UInt32
    /// The message data; for ID3, a complete tag.
    public let payload: [UInt8]

    /// The scheme that identifies an ID3 tag.
    public static let id3Scheme = "https://aomedia.org/emsg/ID3"

    /// Creates a metadata item.
    public init(
        kind: Kind,
        time: MediaTime,
        duration: MediaTime? = nil,
        scheme: String = TimedMetadata.id3Scheme,
        value: String = "",
        id: UInt32 = 0,
        payload: [UInt8]
    ) {
        self.kind = kind
        self.time = time
        self.duration = duration
        self.scheme = scheme
        self.value = value
        self.id = id
        self.payload = payload
    }
}

public import MediaTiming

/// A message that came with the media and belongs to a time.
public struct TimedMetadata: Sendable, Hashable {
    /// How it came.
    public enum Kind: String, Sendable, Hashable {
        /// An ID3 tag: a stream of them in a transport stream, or in front of packed audio.
        case id3
        /// An event message box, `emsg`.
        case eventMessage = "emsg"
    }

    /// How it came.
    public let kind: Kind
    /// When it applies: the container's time as it leaves the demultiplexer, the item's once it is mapped.
    public var time: MediaTime
    /// How long it applies; `nil` where that is not known.
    public let duration: MediaTime?
    /// What it is written in: a URI for event messages, `https://aomedia.org/emsg/ID3` for ID3 tags however they came.
    public let scheme: String
    /// What the scheme takes it for; empty for ID3 tags of transport streams.
    public let value: String
    /// Tells repeated event messages of one scheme and value; 0 for ID3 tags of transport streams.
    public let id: UInt32
    /// The message: for ID3 a whole tag.
    public let payload: [UInt8]

    /// What says that a message is an ID3 tag.
    public static let id3Scheme = "https://aomedia.org/emsg/ID3"

    /// Makes a message.
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

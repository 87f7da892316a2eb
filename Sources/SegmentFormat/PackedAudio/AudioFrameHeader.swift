public import MediaTiming

/// The header of a frame of packed audio.
public struct AudioFrameHeader: Sendable, Hashable {
    /// What the frame is: ``MediaContainer/aac``, `mpegAudio`, `ac3` or `enhancedAC3`.
    public let container: MediaContainer
    /// Samples a second.
    public let sampleRate: Int
    /// How many channels there are; `nil` where the frame's own data say it.
    public let channelCount: Int?
    /// How many samples of each channel the frame holds; 0 for a substream beside the first.
    public let samplesPerFrame: Int
    /// How many bytes the frame has, with its header.
    public let frameLength: Int
    /// The bit rate that the header names; `nil` where it names none.
    public let bitRate: BitRate?
    /// RFC 6381's spelling of the codec.
    public let codec: String

    /// How long the frame is.
    public var duration: MediaTime {
        MediaTime(value: Int64(samplesPerFrame), timescale: Int64(sampleRate))
    }

    /// No header is longer than this.
    static let mostBytes = 8

    /// Reads the header at a place; `nil` where none stands there or it is not whole.
    public init?(_ bytes: Span<UInt8>, at offset: Int = 0) {
        guard offset >= 0, bytes.count - offset >= 7 else { return nil }
        let first = bytes[offset]
        let second = bytes[offset + 1]
        let header: AudioFrameHeader?
        if first == 0xFF, second & 0xF6 == 0xF0 {
            header = Self.adts(bytes, at: offset)
        } else if first == 0xFF, second & 0xE0 == 0xE0 {
            header = Self.mpegAudio(bytes, at: offset)
        } else if first == 0x0B, second == 0x77 {
            header = bytes[offset + 5] >> 3 <= 10 ? Self.ac3(bytes, at: offset) : Self.enhancedAC3(bytes, at: offset)
        } else {
            header = nil
        }
        guard let header else { return nil }
        self = header
    }

    /// The first frame that another one of its kind, or the end of the bytes, follows.
    ///
    /// It is looked for at `start` and up to `distance` bytes behind.
    static func first(
        _ bytes: Span<UInt8>,
        from start: Int,
        within distance: Int
    ) -> (offset: Int, header: AudioFrameHeader)? {
        var offset = start
        while offset - start <= distance, offset < bytes.count {
            if let header = AudioFrameHeader(bytes, at: offset) {
                let next = offset + header.frameLength
                if bytes.count - next < mostBytes { return (offset, header) }
                if let other = AudioFrameHeader(bytes, at: next), other.container == header.container,
                    other.sampleRate == header.sampleRate
                {
                    return (offset, header)
                }
            }
            offset += 1
        }
        return nil
    }

    init(
        _ container: MediaContainer,
        sampleRate: Int,
        channelCount: Int?,
        samplesPerFrame: Int,
        frameLength: Int,
        bitRate: Int?,
        codec: String
    ) {
        self.container = container
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.samplesPerFrame = samplesPerFrame
        self.frameLength = frameLength
        self.bitRate = bitRate.map { BitRate(bitsPerSecond: Int64($0)) }
        self.codec = codec
    }
}

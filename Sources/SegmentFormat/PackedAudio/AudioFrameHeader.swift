package import MediaTiming

/// The header of an audio frame in packed audio.
package struct AudioFrameHeader: Sendable, Hashable {
    /// The format of the frame: ``MediaContainer/aac``, `mpegAudio`, `ac3` or `enhancedAC3`.
    package let container: MediaContainer
    /// The sample rate, in hertz.
    package let sampleRate: Int
    /// The number of channels; `nil` if it is specified only in the frame's payload.
    package let channelCount: Int?
    /// The number of samples per channel; 0 for substreams other than the first independent one.
    package let samplesPerFrame: Int
    /// The length of the frame in bytes, including its header.
    package let frameLength: Int
    /// The bit rate in the header; `nil` if the format does not store one.
    package let bitRate: BitRate?
    /// The codec string according to RFC 6381.
    package let codec: String

    /// The duration of the frame.
    package var duration: MediaTime {
        MediaTime(value: Int64(samplesPerFrame), timescale: Int64(sampleRate))
    }

    /// The maximum length of a frame header, in bytes.
    static let maximumLength = 8

    /// Creates a header from the bytes at `offset`, or `nil` if they are not a complete, valid header.
    package init?(_ bytes: Span<UInt8>, at offset: Int = 0) {
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

    /// Returns the first frame that is followed by another frame of the same format or by the end of the bytes.
    ///
    /// The search starts at `start` and ends `distance` bytes after it.
    static func firstFrame(
        in bytes: Span<UInt8>,
        from start: Int,
        within distance: Int
    ) -> (offset: Int, header: AudioFrameHeader)? {
        var offset = start
        while offset - start <= distance, offset < bytes.count {
            if let header = AudioFrameHeader(bytes, at: offset) {
                let next = offset + header.frameLength
                if bytes.count - next < maximumLength { return (offset, header) }
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

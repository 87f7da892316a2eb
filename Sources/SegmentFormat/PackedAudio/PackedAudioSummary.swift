public import MediaTiming

/// What a piece of packed audio says: its tag, its first frame and how long all frames are (RFC 8216bis §3.1.4).
public struct PackedAudioSummary: Sendable, Hashable {
    /// The tag at the beginning, `nil` where there is none.
    ///
    /// Of several the one with a timestamp counts, else the first.
    public let tag: ID3Tag?
    /// The first frame.
    public let firstFrame: AudioFrameHeader
    /// Where it begins.
    public let firstFrameOffset: Int
    /// How many whole frames there are.
    public let frameCount: Int
    /// How long they are together.
    public let duration: MediaTime
    /// How many bytes they have together.
    public let frameByteCount: Int
    /// Bytes behind the first frame that belong to no whole frame.
    public let skippedByteCount: Int

    /// What it is, whatever container it lies in.
    public var track: MediaTrack {
        MediaTrack(
            id: 0,
            kind: .audio,
            codec: firstFrame.codec,
            channelCount: firstFrame.channelCount,
            sampleRate: firstFrame.sampleRate
        )
    }

    /// Counts all frames; `nil` where none is found in the first 4,096 bytes behind the tags.
    ///
    /// Tags between frames, which joined segments have, are passed over.
    public init?(_ bytes: Span<UInt8>) {
        var tag: ID3Tag?
        var offset = 0
        for _ in 0..<16 {
            guard let next = ID3Tag(bytes, at: offset) else { break }
            if tag == nil || tag?.transportTimestamp == nil && next.transportTimestamp != nil { tag = next }
            offset += next.byteCount
        }
        guard let first = AudioFrameHeader.first(bytes, from: offset, within: 4_096) else { return nil }
        self.tag = tag
        firstFrame = first.header
        firstFrameOffset = first.offset

        var count = 0
        var used = 0
        var lengths = Lengths()
        offset = first.offset
        while offset < bytes.count {
            if let header = AudioFrameHeader(bytes, at: offset), header.container == first.header.container {
                // The end of a file may cut its last frame, which then cannot be decoded.
                guard header.frameLength <= bytes.count - offset else { break }
                count += 1
                used += header.frameLength
                lengths.add(header)
                offset += header.frameLength
            } else if let header = ID3Tag.Header(bytes, at: offset) {
                offset += header.byteCount
            } else {
                offset += 1
            }
        }
        frameCount = count
        frameByteCount = used
        skippedByteCount = bytes.count - first.offset - used
        duration = lengths.total
    }

    /// Adds whole samples as long as the sample rate stays the same: millions of fractions would be slow.
    private struct Lengths {
        private var before = MediaTime.zero
        private var samples: Int64 = 0
        private var sampleRate = 1

        var total: MediaTime { before + MediaTime(value: samples, timescale: Int64(sampleRate)) }

        mutating func add(_ header: AudioFrameHeader) {
            if header.sampleRate != sampleRate {
                before = total
                samples = 0
                sampleRate = header.sampleRate
            }
            samples +|= Int64(header.samplesPerFrame)
        }
    }
}

package import MediaTiming

/// A summary of a packed audio segment: its ID3 tag, first frame, frame count and duration (RFC 8216bis §3.1.4).
package struct PackedAudioSummary: Sendable, Hashable {
    /// The ID3 tag at the start; `nil` if there is none.
    ///
    /// If there are several tags, this is the first one with a timestamp, or else the first.
    package let tag: ID3Tag?
    /// The header of the first frame.
    package let firstFrame: AudioFrameHeader
    /// The offset of the first frame.
    package let firstFrameOffset: Int
    /// The number of complete frames.
    package let frameCount: Int
    /// The total duration of the complete frames.
    package let duration: MediaTime
    /// The total size of the complete frames, in bytes.
    package let frameByteCount: Int
    /// The number of bytes from the first frame on that do not belong to a complete frame, such as tags between frames.
    package let skippedByteCount: Int

    /// The properties of the track, independent of the container.
    package var mediaTrack: MediaTrack {
        MediaTrack(
            id: 0,
            mediaType: .audio,
            codec: firstFrame.codec,
            channelCount: firstFrame.channelCount,
            sampleRate: firstFrame.sampleRate
        )
    }

    /// Creates a summary of all frames, or `nil` if no frame starts in the first 4,096 bytes after the tags.
    ///
    /// Tags between frames, which occur in concatenated segments, are skipped.
    package init?(_ bytes: Span<UInt8>) {
        var tag: ID3Tag?
        var offset = 0
        for _ in 0..<16 {
            guard let next = ID3Tag(bytes, at: offset) else { break }
            if tag == nil || tag?.transportTimestamp == nil && next.transportTimestamp != nil { tag = next }
            offset += next.byteCount
        }
        guard let first = AudioFrameHeader.firstFrame(in: bytes, from: offset, within: 4_096) else { return nil }
        self.tag = tag
        firstFrame = first.header
        firstFrameOffset = first.offset

        var count = 0
        var used = 0
        var lengths = DurationSum()
        offset = first.offset
        while offset < bytes.count {
            if let header = AudioFrameHeader(bytes, at: offset), header.container == first.header.container {
                // The last frame of a truncated file cannot be decoded and is not counted.
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

    /// A sum of durations that adds samples while the sample rate is constant; adding a fraction per frame would be
    /// slow.
    private struct DurationSum {
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

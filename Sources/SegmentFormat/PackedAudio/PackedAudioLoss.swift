package import MediaTiming

/// The part of a packed audio segment that is damaged: bytes that belong neither to a frame nor to a tag.
///
/// A segment may begin and end within a frame, whose parts do not count. Neither do a few bytes after the last frame,
/// such as the tag of 128 bytes at the end of an MP3 file.
package struct PackedAudioLoss: Sendable, Hashable {
    /// The number of bytes that are lost; 0 if the segment is intact.
    package private(set) var byteCount = 0
    /// The duration of the frames that precede the first lost byte.
    package private(set) var start = MediaTime.zero
    /// The duration of the frames that precede the end of the last lost bytes, and of the audio that is estimated to be
    /// lost, from the average bit rate of the other frames.
    package private(set) var end = MediaTime.zero

    /// The minimum number of bytes after the last frame that count as lost, as many as eight transport packets have.
    private static let minimumTrailingByteCount = 1_504

    /// Creates the loss of a complete segment.
    ///
    /// - Parameter bytes: The segment; the loss of bytes without any frame is all of them.
    /// - Complexity: O(*n*) in the number of bytes.
    package init(_ bytes: Span<UInt8>) {
        var offset = ID3Tag.endOffset(in: bytes)
        let tagByteCount = min(offset, bytes.count)
        var first: AudioFrameHeader?
        var frames = (count: 0, bytes: 0, samples: Int64(0))
        var samples = (start: Int64(0), end: Int64(0))
        while offset < bytes.count {
            if let frame = AudioFrameHeader(bytes, at: offset), Self.isSameFormat(frame, first ?? frame) {
                first = first ?? frame
                frames.count +|= 1
                frames.bytes +|= frame.frameLength
                frames.samples +|= Int64(frame.samplesPerFrame)
                offset += max(1, frame.frameLength)
                continue
            }
            if let tag = ID3Tag.Header(bytes, at: offset) {
                offset += max(1, tag.byteCount)
                continue
            }
            let next = AudioFrameHeader.firstFrame(in: bytes, from: offset + 1, within: bytes.count)
            let gapEnd = next?.offset ?? bytes.count
            let skipped = gapEnd - offset
            let isLost: Bool
            if next == nil {
                isLost = skipped >= Self.minimumTrailingByteCount
            } else if frames.count == 0 {
                // The previous segment may end with the first part of a frame.
                let maximumSize = 2 *| (next?.header.frameLength ?? 0)
                isLost = skipped > maximumSize
            } else {
                // A frame whose header is damaged has about the average size; less may be padding.
                let averageSize = frames.bytes.dividedSaturated(by: frames.count)
                isLost = skipped >= averageSize - skipped
            }
            if isLost {
                if byteCount == 0 { samples.start = frames.samples }
                byteCount +|= skipped
                samples.end = frames.samples
            }
            offset = gapEnd
        }
        guard let sampleRate = first?.sampleRate else {
            byteCount = bytes.count - tagByteCount
            return
        }
        guard byteCount > 0 else { return }
        let second = Int64(sampleRate)
        let lost = (Int64(byteCount) *| frames.samples).dividedSaturated(by: Int64(max(1, frames.bytes)))
        start = MediaTime(value: samples.start, timescale: second)
        end = MediaTime(value: samples.end +| lost, timescale: second)
    }

    /// Returns a Boolean value that indicates whether two frames may be part of the same stream, which may have frames
    /// of AC-3 and of Enhanced AC-3.
    private static func isSameFormat(_ frame: AudioFrameHeader, _ other: AudioFrameHeader) -> Bool {
        func isDolby(_ container: MediaContainer) -> Bool { container == .ac3 || container == .enhancedAC3 }
        return frame.container == other.container || isDolby(frame.container) && isDolby(other.container)
    }
}

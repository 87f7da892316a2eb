import MediaTiming

/// A reader of the metadata blocks of a FLAC file (RFC 9639 §8), the first of which contains the number of samples, and of
/// its last frames, which tell whether the file has them all.
///
/// Comments and pictures are read as well; other blocks are skipped.
struct FLACFileReader: MediaFileReader {
    private let minimumSegmentDuration: MediaTime
    private var position: Int64 = 0
    private var hasStarted = false
    private var blockCount = 0
    private var information: FLACStreamInformation?
    private var metadata = MediaFileMetadata()
    private var metadataEnd: Int64?
    /// The last frame; `nil` if it is unknown.
    private var lastFrame: FLACFrameHeader.LastFrame?
    private var hasReadEnd = false
    private var endSize: Int64 = 65_536

    /// The maximum number of bytes at the end of the file in which the last frames are searched.
    private static let maximumEndSize: Int64 = 1 << 20

    init(_ minimumSegmentDuration: MediaTime) {
        self.minimumSegmentDuration = minimumSegmentDuration
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        if !hasStarted {
            guard let found = file.loadedBytes(at: position, count: 10) else {
                return file.request(at: position, count: 4_096)
            }
            if let tag = ID3Tag.Header(found.bytes.span, at: found.offset), blockCount < 16 {
                blockCount += 1
                position +|= Int64(tag.byteCount)
                return advance(with: file)
            }
            hasStarted = true
            position +|= 4
        }
        while metadataEnd == nil, blockCount < 1_000, !file.ends(at: position) {
            guard let found = file.loadedBytes(at: position, count: 38) else {
                return file.request(at: position, count: 4_096)
            }
            guard found.count >= 4 else { break }
            let header = found.bytes.span.uint32(at: found.offset)
            let length = Int(header & 0xFF_FFFF) + 4
            if position <= Int64(MediaFileMetadata.maximumSize), Self.hasMetadata(found, length: length) {
                guard let block = file.loadedBytes(at: position, count: length) else {
                    return file.request(at: position, count: length + 4_096)
                }
                readMetadata(block, length: length)
            }
            if information == nil {
                let range = found.offset..<min(found.bytes.count, found.offset + length)
                information = FLACStreamInformation(block: range, in: found.bytes.span)
            }
            blockCount += 1
            position +|= Int64(length)
            if header >> 31 == 1 { metadataEnd = position }
        }
        if let needed = readLastFrames(file) { return needed }
        return .ready(makeTimeline(from: file))
    }

    /// The types of the metadata blocks that are read besides the first one (RFC 9639 §8.1).
    private static let commentBlockType: UInt8 = 4
    private static let pictureBlockType: UInt8 = 6

    /// Returns whether a block has comments, or an image that is not too large and is contained in the file.
    private static func hasMetadata(_ found: LoadedFileParts.LoadedBytes, length: Int) -> Bool {
        guard length <= MediaFileMetadata.maximumSize else { return false }
        switch found.bytes.span[found.offset] & 0x7F {
        case commentBlockType: return true
        // The media type follows the type of the picture; it is an arrow if the image is at a URL.
        case pictureBlockType: return found.bytes.span.hasBytes("image/", at: found.offset + 12)
        default: return false
        }
    }

    private mutating func readMetadata(_ block: LoadedFileParts.LoadedBytes, length: Int) {
        let bytes = block.bytes.span
        let content = (block.offset..<min(block.bytes.count, block.offset + length)).dropFirst(4)
        if bytes[block.offset] & 0x7F == Self.commentBlockType {
            metadata.addVorbisComments(content, in: bytes)
        } else {
            metadata.addPicture(content, in: bytes)
        }
    }

    /// Reads the last frames of a file that declares its number of samples; returns a request if more bytes are required.
    private mutating func readLastFrames(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard let information, information.sampleCount != nil, let metadataEnd, let length = file.length,
            length > metadataEnd
        else { return nil }
        while !hasReadEnd {
            let start = max(metadataEnd, length -| endSize)
            let count = Int(clamping: length -| start)
            guard let found = file.loadedBytes(at: start, count: count) else {
                return file.request(at: start, count: count)
            }
            let range = found.offset..<min(found.offset +| count, found.bytes.count)
            let blockSize = information.maximumBlockSize
            lastFrame = FLACFrameHeader.lastFrame(in: found.bytes.span, range, blockSize: blockSize)
            // Two frames are not consecutive in a file that ends within the first one.
            if lastFrame == nil, start == metadataEnd {
                lastFrame = FLACFrameHeader.onlyFrame(in: found.bytes.span, range, blockSize: blockSize)
            }
            hasReadEnd = lastFrame != nil || start == metadataEnd || endSize >= Self.maximumEndSize
            endSize *|= 4
        }
        return nil
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .flac, length: file.length)
        guard let information else {
            timeline.error = .missing("STREAMINFO")
            return timeline
        }
        timeline.tracks = [
            MediaTrack(
                id: 0,
                mediaType: .audio,
                codec: "fLaC",
                channelCount: information.channelCount,
                sampleRate: information.sampleRate
            )
        ]
        timeline.metadata = metadata
        timeline.duration = information.duration
        if let length = file.length, length <= position, let declared = information.duration,
            let missing = ByteRange(start: length, length: max(1, position -| length))
        {
            // The file ends before its first frame.
            let range = MediaTimeRange(start: .zero, end: declared)
            timeline.segments = [MediaFileSegment(timeRange: range, byteRange: missing)]
            timeline.missingLengthAccuracy = .minimum
            return timeline
        }
        guard let metadataEnd else { return timeline }
        timeline.initializationRange = ByteRange(start: 0, length: metadataEnd)
        timeline.boundaryAccuracy = .approximate
        guard let duration = information.duration, let length = file.length, length > metadataEnd else {
            return timeline
        }
        let available = availableDuration(information) ?? duration
        timeline.segments = TimeByteMap(start: metadataEnd, end: length, duration: available).segments(
            duration: minimumSegmentDuration
        )
        if available < duration {
            let bytesPerSecond = Double(length -| metadataEnd) / max(0.001, available.seconds)
            let missing = max(1, Int64(saturating: (bytesPerSecond * (duration - available).seconds).rounded()))
            timeline.addMissingEnd(from: available, length: missing, .estimated)
        }
        return timeline
    }

    /// Returns the duration of the samples in a file that has fewer than it declares; `nil` if it has all of them.
    ///
    /// A file that ends with a whole frame is a part of a longer one that some programs copy with its number of samples.
    private func availableDuration(_ information: FLACStreamInformation) -> MediaTime? {
        guard let lastFrame, let count = information.sampleCount, lastFrame.endSample < Int64(clamping: count),
            !lastFrame.isWhole
        else { return nil }
        return MediaTime(value: lastFrame.endSample, timescale: Int64(information.sampleRate))
    }
}

import MediaTiming

/// A reader of the metadata blocks of a FLAC file (RFC 9639 §8); the first block contains the number of samples.
struct FLACFileReader: MediaFileReader {
    private let minimumSegmentDuration: MediaTime
    private var position: Int64 = 0
    private var hasStarted = false
    private var blockCount = 0
    private var information: FLACStreamInformation?
    private var metadataEnd: Int64?

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
            if information == nil {
                let range = found.offset..<min(found.bytes.count, found.offset + length)
                information = FLACStreamInformation(block: range, in: found.bytes.span)
            }
            blockCount += 1
            position +|= Int64(length)
            if header >> 31 == 1 { metadataEnd = position }
        }
        return .ready(makeTimeline(from: file))
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
        timeline.duration = information.duration
        guard let metadataEnd else { return timeline }
        timeline.initializationRange = ByteRange(start: 0, length: metadataEnd)
        timeline.boundaryAccuracy = .approximate
        guard let duration = information.duration, let length = file.length, length > metadataEnd else {
            return timeline
        }
        timeline.segments = TimeByteMap(start: metadataEnd, end: length, duration: duration).segments(
            duration: minimumSegmentDuration
        )
        return timeline
    }
}

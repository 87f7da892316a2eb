import MediaTiming

/// A reader of the metadata blocks of a FLAC file (RFC 9639 §8); the first block contains the number of samples.
struct FLACFileReading: FileReading {
    private let pieceDuration: MediaTime
    private var position: Int64 = 0
    private var hasStarted = false
    private var blockCount = 0
    private var information: FLACStreamInformation?
    private var metadataEnd: Int64?

    init(_ pieceDuration: MediaTime) {
        self.pieceDuration = pieceDuration
    }

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State {
        if !hasStarted {
            guard let found = file.found(at: position, 10) else { return file.request(position, 4_096) }
            if let tag = ID3Tag.Header(found.bytes.span, at: found.offset), blockCount < 16 {
                blockCount += 1
                position +|= Int64(tag.byteCount)
                return step(file)
            }
            hasStarted = true
            position +|= 4
        }
        while metadataEnd == nil, blockCount < 1_000, !file.ends(at: position) {
            guard let found = file.found(at: position, 38) else { return file.request(position, 4_096) }
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
        return .ready(settle(file))
    }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .flac, length: file.length)
        guard let information else {
            timeline.problem = .missing("STREAMINFO")
            return timeline
        }
        timeline.tracks = [
            MediaTrack(
                id: 0,
                kind: .audio,
                codec: "fLaC",
                channelCount: information.channelCount,
                sampleRate: information.sampleRate
            )
        ]
        timeline.duration = information.duration
        guard let metadataEnd else { return timeline }
        timeline.initialization = ByteRange(start: 0, length: metadataEnd)
        timeline.cuts = .approximate
        guard let duration = information.duration, let length = file.length, length > metadataEnd else {
            return timeline
        }
        timeline.pieces = TimeByteMap(start: metadataEnd, end: length, duration: duration).pieces(of: pieceDuration)
        return timeline
    }
}

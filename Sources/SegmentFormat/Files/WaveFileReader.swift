import MediaTiming

/// A reader of the chunks before the samples of a WAV file.
///
/// Formats: Microsoft and IBM, Multimedia Programming Interface 1.0; EBU Tech 3306 for RF64.
struct WaveFileReader: MediaFileReader {
    private let minimumSegmentDuration: MediaTime
    private var position: Int64 = 12
    private var chunkCount = 0
    private var format: Format?
    private var rf64DataLength: Int64?
    private var data: ByteRange?
    private var metadata = MediaFileMetadata()
    /// The number of bytes that the header declares and the file does not have.
    private var missingLength: Int64 = 0

    /// The length of samples from which it is a placeholder of writers that cannot seek back, such as `arecord`.
    private static let minimumPlaceholderLength: Int64 = 0x7FFF_0000

    /// The maximum size of a list of texts, such as the title, that is read; larger ones have other contents.
    private static let maximumListSize: UInt64 = 64 << 10

    fileprivate struct Format {
        let tag: UInt16
        let channelCount: Int
        let sampleRate: Int
        let bytesPerSecond: Int64
        let blockLength: Int64
    }

    init(_ minimumSegmentDuration: MediaTime) {
        self.minimumSegmentDuration = minimumSegmentDuration
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        while data == nil, chunkCount < 1_000, !file.ends(at: position) {
            guard let found = file.loadedBytes(at: position, count: 32) else {
                return file.request(at: position, count: 4_096)
            }
            let bytes = found.bytes.span
            guard found.count >= 8 else { break }
            let length = Self.littleEndian(4, bytes, at: found.offset + 4)
            let body = position +| 8
            if bytes.hasBytes("fmt ", at: found.offset), length >= 16, found.count >= 24 {
                format = Format(bytes, found.offset + 8)
            } else if bytes.hasBytes("LIST", at: found.offset), length <= Self.maximumListSize {
                // Bounded: the length is at most that of a list.
                let count = Int(length) + 8
                guard let list = file.loadedBytes(at: position, count: count) else {
                    return file.request(at: position, count: count + 4_096)
                }
                let content = list.offset + 8..<max(list.offset + 8, min(list.bytes.count, list.offset + count))
                metadata.addInformationList(content, in: list.bytes.span)
            } else if bytes.hasBytes("ds64", at: found.offset), length >= 16, found.count >= 24 {
                rf64DataLength = Int64(clamping: Self.littleEndian(8, bytes, at: found.offset + 16))
            } else if bytes.hasBytes("data", at: found.offset) {
                // Writers that cannot seek back leave the length unset.
                let isOpen = length == 0xFFFF_FFFF || length == 0
                let claimed = isOpen ? rf64DataLength ?? .max : Int64(clamping: length)
                let rest = (file.length ?? .max) -| body
                data = ByteRange(start: body, length: max(0, min(claimed, rest)))
                // Some writers count the header as well.
                let missing = claimed -| rest
                if claimed < Self.minimumPlaceholderLength, missing > body { missingLength = missing }
                break
            }
            chunkCount += 1
            // Chunks start at even offsets.
            position = body.addingSaturated(Int64(clamping: length +| (length & 1)))
        }
        return .ready(makeTimeline(from: file))
    }

    private static func littleEndian(_ length: Int, _ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
        let value = bytes.unsigned(length, at: offset)
        return value.byteSwapped >> (64 - 8 *| length)
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .wave, length: file.length)
        guard let format, let data else {
            timeline.error = .missing(format == nil ? "fmt" : "data")
            return timeline
        }
        timeline.tracks = [
            MediaTrack(
                id: 0,
                mediaType: .audio,
                codec: format.tag == 1 || format.tag == 0xFFFE ? "pcm" : nil,
                channelCount: format.channelCount,
                sampleRate: format.sampleRate
            )
        ]
        timeline.metadata = metadata
        timeline.initializationRange = ByteRange(start: 0, length: data.start)
        guard file.length != nil else { return timeline }
        let duration = MediaTime(value: data.length, timescale: format.bytesPerSecond)
        timeline.duration = duration
        let map = TimeByteMap(start: data.start, end: data.end, duration: duration)
        timeline.segments = map.segments(duration: minimumSegmentDuration, unit: format.blockLength)
        if missingLength > 0 {
            timeline.duration = MediaTime(value: data.length +| missingLength, timescale: format.bytesPerSecond)
            timeline.addMissingEnd(from: duration, length: missingLength, .exact)
        }
        timeline.boundaryAccuracy = format.tag == 1 || format.tag == 0xFFFE ? .exact : .approximate
        return timeline
    }
}

extension WaveFileReader.Format {
    init?(_ bytes: Span<UInt8>, _ offset: Int) {
        func little(_ length: Int, _ position: Int) -> Int {
            Int(clamping: bytes.unsigned(length, at: offset + position).byteSwapped >> (64 - 8 *| length))
        }
        tag = UInt16(clamping: little(2, 0))
        channelCount = little(2, 2)
        sampleRate = little(4, 4)
        bytesPerSecond = Int64(little(4, 8))
        blockLength = Int64(max(1, little(2, 12)))
        guard channelCount > 0, sampleRate > 0, bytesPerSecond > 0 else { return nil }
    }
}

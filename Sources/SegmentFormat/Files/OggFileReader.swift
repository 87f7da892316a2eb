import MediaTiming

/// A reader that determines the duration of an Ogg file with one audio stream from its last page (RFC 3533 §6).
struct OggFileReader: MediaFileReader {
    private var tailSize: Int64 = 65_536
    private var rate: Int64?
    private var serial: UInt32 = 0
    private var preSkip: Int64 = 0
    private var codec = ""
    private var channelCount = 0
    private var duration: MediaTime?
    private var hasTail = false
    /// The end of the last page that begins in the file, which can be after the end of the file; `nil` if it is unknown.
    private var lastPageEnd: Int64?

    /// The maximum number of bytes read at the end of the file; a page has at most 65,307 bytes.
    private static let maximumTailSize: Int64 = 1 << 20

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        if rate == nil {
            guard let head = file.loadedBytes(at: 0, count: 64) else { return file.request(at: 0, count: 4_096) }
            readFirstPage(head)
        }
        guard let length = file.length else { return .ready(makeTimeline(from: file)) }
        while !hasTail {
            let start = max(0, length -| tailSize)
            guard let found = file.loadedBytes(at: start, count: Int(length -| start)) else {
                return file.request(at: start, count: Int(length -| start))
            }
            if let rate, let samples = lastGranulePosition(found) {
                duration = MediaTime(value: max(0, samples.subtractingSaturated(preSkip)), timescale: rate)
            }
            lastPageEnd = Self.lastPageEnd(found).map { start +| Int64($0 - found.offset) }
            hasTail = duration != nil || rate == nil || start == 0 || tailSize >= Self.maximumTailSize
            tailSize *|= 4
        }
        return .ready(makeTimeline(from: file))
    }

    private mutating func readFirstPage(_ found: LoadedFileParts.LoadedBytes) {
        let bytes = found.bytes.span
        guard found.count > 28 else { return }
        serial = UInt32(truncatingIfNeeded: Self.littleEndian(4, bytes, at: 14))
        let start = 27 + Int(bytes[26])
        if bytes.hasBytes("OpusHead", at: start), found.count >= start + 12 {
            // Opus timestamps count at 48 kHz, and the first samples (pre-skip) are not played (RFC 7845 §5.1).
            (rate, codec, channelCount) = (48_000, "Opus", Int(bytes[start + 9]))
            preSkip = Self.littleEndian(2, bytes, at: start + 10)
        } else if bytes.hasBytes("\u{1}vorbis", at: start), found.count >= start + 16 {
            let value = Self.littleEndian(4, bytes, at: start + 12)
            if value > 0 { (rate, codec, channelCount) = (value, "vorbis", Int(bytes[start + 11])) }
        }
    }

    /// Returns the granule position of the stream's last page on which a packet ends.
    private func lastGranulePosition(_ found: LoadedFileParts.LoadedBytes) -> Int64? {
        let bytes = found.bytes.span
        var last: Int64?
        var offset = found.offset
        while offset + 27 <= bytes.count {
            if bytes[offset] == 0x4F, bytes.hasBytes("OggS", at: offset),
                UInt32(truncatingIfNeeded: Self.littleEndian(4, bytes, at: offset + 14)) == serial
            {
                let position = Self.littleEndian(8, bytes, at: offset + 6)
                if position >= 0 { last = position }
                offset += 27
            } else {
                offset += 1
            }
        }
        return last
    }

    /// Returns the index after the last page that begins in the bytes, as its header declares it; `nil` if none does.
    private static func lastPageEnd(_ found: LoadedFileParts.LoadedBytes) -> Int? {
        let bytes = found.bytes.span
        var end: Int?
        var offset = found.offset
        while offset + 4 <= bytes.count {
            guard bytes[offset] == 0x4F, bytes.hasBytes("OggS", at: offset) else {
                offset += 1
                continue
            }
            let table = offset + 27
            guard table <= bytes.count else { return table }
            let tableEnd = table + Int(bytes[offset + 26])
            guard tableEnd <= bytes.count else { return tableEnd }
            offset = tableEnd
            for index in table..<tableEnd { offset += Int(bytes[index]) }
            end = offset
        }
        return end
    }

    private static func littleEndian(_ length: Int, _ bytes: Span<UInt8>, at offset: Int) -> Int64 {
        Int64(bitPattern: bytes.unsigned(length, at: offset).byteSwapped >> (64 - 8 *| length))
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        // The end of a page after that of the file shows that the file was cut off.
        let length = file.length.map { max($0, lastPageEnd ?? 0) }
        var timeline = MediaFileTimeline(wholeFile: .ogg, length: length, duration: duration)
        timeline.missingLengthAccuracy = .minimum
        guard rate != nil else { return timeline }
        timeline.tracks = [
            MediaTrack(
                id: 0,
                mediaType: .audio,
                codec: codec,
                channelCount: channelCount,
                sampleRate: rate.map { Int($0) }
            )
        ]
        return timeline
    }
}

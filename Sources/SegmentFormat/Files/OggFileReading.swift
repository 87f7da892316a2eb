import MediaTiming

/// A reader that determines the duration of an Ogg file with one audio stream from its last page (RFC 3533 §6).
struct OggFileReading: FileReading {
    private var tailBytes: Int64 = 65_536
    private var rate: Int64?
    private var serial: UInt32 = 0
    private var delay: Int64 = 0
    private var codec = ""
    private var channelCount = 0
    private var duration: MediaTime?
    private var hasTail = false

    /// The maximum number of bytes read at the end of the file; a page has at most 65,307 bytes.
    private static let mostTailBytes: Int64 = 1 << 20

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State {
        if rate == nil {
            guard let head = file.found(at: 0, 64) else { return file.request(0, 4_096) }
            readFirstPage(head)
        }
        guard let rate, let length = file.length else { return .ready(settle(file)) }
        while !hasTail {
            let start = max(0, length -| tailBytes)
            guard let found = file.found(at: start, Int(length -| start)) else {
                return file.request(start, Int(length -| start))
            }
            if let samples = lastPosition(found) {
                duration = MediaTime(value: max(0, samples.subtractingSaturated(delay)), timescale: rate)
            }
            hasTail = duration != nil || start == 0 || tailBytes >= Self.mostTailBytes
            tailBytes *|= 4
        }
        return .ready(settle(file))
    }

    private mutating func readFirstPage(_ found: FileBytes.Found) {
        let bytes = found.bytes.span
        guard found.count > 28 else { return }
        serial = UInt32(truncatingIfNeeded: Self.little(4, bytes, 14))
        let start = 27 + Int(bytes[26])
        if bytes.hasBytes("OpusHead", at: start), found.count >= start + 12 {
            // Opus timestamps count at 48 kHz, and the first samples (pre-skip) are not played (RFC 7845 §5.1).
            (rate, codec, channelCount) = (48_000, "Opus", Int(bytes[start + 9]))
            delay = Self.little(2, bytes, start + 10)
        } else if bytes.hasBytes("\u{1}vorbis", at: start), found.count >= start + 16 {
            let value = Self.little(4, bytes, start + 12)
            if value > 0 { (rate, codec, channelCount) = (value, "vorbis", Int(bytes[start + 11])) }
        }
    }

    /// Returns the granule position of the stream's last page on which a packet ends.
    private func lastPosition(_ found: FileBytes.Found) -> Int64? {
        let bytes = found.bytes.span
        var last: Int64?
        var offset = found.offset
        while offset + 27 <= bytes.count {
            if bytes[offset] == 0x4F, bytes.hasBytes("OggS", at: offset),
                UInt32(truncatingIfNeeded: Self.little(4, bytes, offset + 14)) == serial
            {
                let position = Self.little(8, bytes, offset + 6)
                if position >= 0 { last = position }
                offset += 27
            } else {
                offset += 1
            }
        }
        return last
    }

    private static func little(_ length: Int, _ bytes: Span<UInt8>, _ offset: Int) -> Int64 {
        Int64(bitPattern: bytes.unsigned(length, at: offset).byteSwapped >> (64 - 8 *| length))
    }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .ogg, length: file.length, duration: duration)
        guard rate != nil else { return timeline }
        timeline.tracks = [
            MediaTrack(id: 0, kind: .audio, codec: codec, channelCount: channelCount, sampleRate: rate.map { Int($0) })
        ]
        return timeline
    }
}

import CostOperations

/// Returns the bytes of a number in big-endian order.
func bigEndian(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
}

/// Returns the given number of zero bytes.
func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// Returns the given number of bytes that are neither zero nor part of a start code.
func media(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x55, count: count) }

/// A writer of boxes of ISO/IEC 14496-12.
enum MovieWriter {
    /// Returns a box.
    static func box(_ type: String, _ payload: [UInt8] = []) -> [UInt8] {
        bigEndian(payload.count + 8, 4) + Array(type.utf8) + payload
    }

    /// Returns a box with a version and flags.
    static func full(_ type: String, version: UInt8 = 0, flags: Int = 0, _ payload: [UInt8]) -> [UInt8] {
        box(type, [version] + bigEndian(flags, 3) + payload)
    }

    /// Returns the header of a movie with a video track, whose time unit is a hundredth of a second.
    ///
    /// - Parameters:
    ///   - entry: The sample entry.
    ///   - table: The boxes that locate the samples.
    ///   - more: The boxes after the track.
    /// - Returns: The box `moov`.
    static func movie(entry: [UInt8], table: [UInt8], more: [UInt8]) -> [UInt8] {
        let description = full("stsd", bigEndian(1, 4) + entry)
        let media =
            full("mdhd", zeros(8) + bigEndian(100, 4) + zeros(4) + bigEndian(0x55C4, 2) + zeros(2))
            + full("hdlr", zeros(4) + Array("vide".utf8) + zeros(13))
            + box("minf", full("vmhd", flags: 1, zeros(8)) + box("stbl", description + table))
        let track = full("tkhd", flags: 7, zeros(8) + bigEndian(1, 4) + zeros(68)) + box("mdia", media)
        let header = full("mvhd", zeros(8) + bigEndian(100, 4) + zeros(84))
        return box("moov", header + box("trak", track) + more)
    }

    /// Returns the sample entry of a video track.
    static func videoEntry(_ type: String = "avc1", _ children: [UInt8] = []) -> [UInt8] {
        let size = bigEndian(64, 2) + bigEndian(64, 2)
        return box(type, zeros(6) + bigEndian(1, 2) + zeros(16) + size + zeros(50) + children)
    }

    /// Returns the sample entry of an encrypted video track.
    ///
    /// - Parameters:
    ///   - scheme: The protection scheme.
    ///   - vectorSize: The size of the initialization vector of each sample, in bytes.
    /// - Returns: The box `encv`.
    static func encryptedEntry(_ scheme: String, vectorSize: UInt8) -> [UInt8] {
        let usesPattern = scheme == "cbcs" || scheme == "cens"
        let defaults: [UInt8] = [0, usesPattern ? 0x11 : 0, 1, vectorSize] + media(16)
        let information =
            box("frma", Array("avc1".utf8))
            + full("schm", Array(scheme.utf8) + bigEndian(0x10000, 4))
            + box("schi", full("tenc", version: usesPattern ? 1 : 0, defaults))
        return videoEntry("encv", box("sinf", information))
    }

    /// Returns the initialization section of a movie in fragments.
    static func initialization(entry: [UInt8] = MovieWriter.videoEntry()) -> [UInt8] {
        let tables =
            full("stts", zeros(4)) + full("stsc", zeros(4)) + full("stsz", zeros(8)) + full("stco", zeros(4))
        let defaults = full("trex", bigEndian(1, 4) + bigEndian(1, 4) + bigEndian(4, 4) + bigEndian(16, 4) + zeros(4))
        return movie(entry: entry, table: tables, more: box("mvex", defaults))
    }

    /// Returns a fragment with its media data.
    ///
    /// - Parameters:
    ///   - time: The decode time of the first sample.
    ///   - runs: The sizes of the samples of each run; the samples of all runs follow each other.
    ///   - more: The boxes after the runs.
    /// - Returns: The boxes `moof` and `mdat`.
    static func fragment(_ time: Int, _ runs: [[Int]], more: [UInt8] = []) -> [UInt8] {
        func header(_ offset: Int) -> [UInt8] {
            var position = offset
            var list: [UInt8] = []
            for sizes in runs {
                let samples = sizes.flatMap { bigEndian(4, 4) + bigEndian($0, 4) }
                list += full("trun", flags: 0x301, bigEndian(sizes.count, 4) + bigEndian(position, 4) + samples)
                position += sizes.reduce(0, +)
            }
            let track =
                full("tfhd", flags: 0x20000, bigEndian(1, 4))
                + full("tfdt", version: 1, bigEndian(time, 8)) + list + more
            return box("moof", full("mfhd", bigEndian(1, 4)) + box("traf", track))
        }
        let size = runs.reduce(0) { $0 + $1.reduce(0, +) }
        return header(header(0).count + 8) + box("mdat", media(size))
    }
}

/// A writer of transport packets of ISO/IEC 13818-1.
struct TransportStreamWriter {
    /// The packet identifier of the program map table.
    private static let tablePID = 0x100
    /// The packet identifier of the stream.
    private static let mediaPID = 0x101

    /// The packets so far.
    private(set) var bytes: [UInt8] = []
    /// The continuity counter of the next packet of the stream.
    private var counter = 0

    /// Creates a writer, which begins with the tables of a stream.
    ///
    /// - Parameter type: The type of the only stream, such as 0x1B for H.264.
    init(streamType type: UInt8) {
        let program = bigEndian(1, 2) + bigEndian(0xE000 | Self.tablePID, 2)
        let pid = bigEndian(0xE000 | Self.mediaPID, 2)
        let stream: [UInt8] = pid + [0xF0, 0, type] + pid + [0xF0, 0]
        appendTable(0, Self.section(0, program))
        appendTable(Self.tablePID, Self.section(2, stream))
    }

    /// Returns a section with its header and its checksum.
    private static func section(_ table: UInt8, _ content: [UInt8]) -> [UInt8] {
        let header: [UInt8] = [table] + bigEndian(0xB000 | (content.count + 9), 2) + [0, 1, 0xC1, 0, 0]
        let section = header + content
        return section + checksum(section)
    }

    /// Returns the cyclic redundancy check of a section (ISO/IEC 13818-1 Annex A), without which FFmpeg ignores it.
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            value ^= UInt32(byte) << 24
            for _ in 0..<8 { value = value & 0x8000_0000 != 0 ? (value << 1) ^ 0x04C1_1DB7 : value << 1 }
        }
        return bigEndian(Int(value), 4)
    }

    /// Appends the packet of a section.
    private mutating func appendTable(_ pid: Int, _ section: [UInt8]) {
        let packet: [UInt8] = [0x47] + bigEndian(0x4000 | pid, 2) + [0x10, 0] + section
        bytes += packet + [UInt8](repeating: 0xFF, count: 188 - packet.count)
    }

    /// Appends the packets of a video frame.
    ///
    /// - Parameters:
    ///   - time: The presentation time, in units of the 90 kHz clock.
    ///   - frame: The bytes of the frame; a byte of 0x55 is added until the last packet is full.
    mutating func appendFrame(_ time: Int, _ frame: [UInt8]) {
        let stamp: [UInt8] = [
            0x21 | UInt8(truncatingIfNeeded: time >> 29 & 0x0E), UInt8(truncatingIfNeeded: time >> 22),
            1 | UInt8(truncatingIfNeeded: time >> 14 & 0xFE), UInt8(truncatingIfNeeded: time >> 7),
            1 | UInt8(truncatingIfNeeded: time << 1 & 0xFE),
        ]
        let payload: [UInt8] = [0, 0, 1, 0xE0, 0, 0, 0x80, 0x80, 5] + stamp + frame
        for start in stride(from: 0, to: payload.count, by: 184) {
            let part = payload[start..<min(payload.count, start + 184)]
            let flags = start == 0 ? 0x4000 : 0
            let header: [UInt8] = [0x47] + bigEndian(flags | Self.mediaPID, 2)
            bytes += header + [0x10 | UInt8(truncatingIfNeeded: counter)]
            bytes += Array(part) + media(184 - part.count)
            counter = (counter + 1) % 16
        }
    }
}

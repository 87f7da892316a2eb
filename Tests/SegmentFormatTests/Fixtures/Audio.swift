/// Synthetic audio frames and files.
enum Audio {
    /// Returns a frame of AAC-LC in ADTS: 44.1 kHz, two channels.
    static func adts(_ length: Int = 200) -> [UInt8] {
        [0xFF, 0xF1, 0x50] + u8(0x80 | length >> 11) + u8(length >> 3) + u8((length & 7) << 5 | 0x1F) + [0xFC]
            + zeros(length - 7)
    }

    /// A frame of MP3: 128 kbit/s, 44.1 kHz, stereo: 417 bytes.
    static let mp3 = [0xFF, 0xFB, 0x90, 0x00] as [UInt8] + zeros(413)

    /// A frame of AC-3: 48 kHz, 448 kbit/s, 5.1: 1,792 bytes.
    static let ac3 = [0x0B, 0x77, 0, 0, 0x1E, 0x40, 0xE1] as [UInt8] + zeros(1_785)

    /// A frame of E-AC-3: 48 kHz, six blocks, 5.1, 768 bytes.
    static let enhancedAC3 = [0x0B, 0x77, 0x01, 0x7F, 0x3F, 0x80] as [UInt8] + zeros(762)

    static func repeated(_ frame: [UInt8], _ count: Int) -> [UInt8] { (0..<count).flatMap { _ in frame } }

    static func id3(version: Int = 4, flags: Int = 0, _ frames: [UInt8]) -> [UInt8] {
        ascii("ID3") + u8(version) + [0] + u8(flags) + syncSafe(frames.count) + frames
    }

    static func syncSafe(_ value: Int) -> [UInt8] {
        u8(value >> 21 & 0x7F) + u8(value >> 14 & 0x7F) + u8(value >> 7 & 0x7F) + u8(value & 0x7F)
    }

    static func frame(_ id: String, _ content: [UInt8], flags: Int = 0) -> [UInt8] {
        ascii(id) + syncSafe(content.count) + u16(flags) + content
    }

    static func timestamp(_ value: Int) -> [UInt8] {
        frame("PRIV", ascii("com.apple.streaming.transportStreamTimestamp") + [0] + u64(value))
    }

    static func wave(seconds: Int, rate: Int = 8_000) -> [UInt8] {
        func little(_ bytes: [UInt8]) -> [UInt8] { bytes.reversed() }
        let data = zeros(seconds * rate * 2)
        let format =
            little(u16(1)) + little(u16(1)) + little(u32(rate)) + little(u32(rate * 2)) + little(u16(2))
            + little(u16(16))
        let chunks = ascii("WAVEfmt ") + little(u32(16)) + format + ascii("data") + little(u32(data.count)) + data
        return ascii("RIFF") + little(u32(chunks.count)) + chunks
    }

    static func flac(
        rate: Int = 44_100,
        channels: Int = 2,
        samples: Int,
        picture: Int,
        blockSize: Int = 0,
        frames: Int
    ) -> [UInt8] {
        let sizes = u16(blockSize) + u16(blockSize) + zeros(6)
        let information = sizes + u64(rate << 44 | (channels - 1) << 41 | 15 << 36 | samples) + zeros(16)
        return ascii("fLaC") + [0] + u24(34) + information + [0x86] + u24(picture) + zeros(picture) + zeros(frames)
    }

    /// Returns a frame of 4,096 samples, whose number is below 128.
    static func flacFrame(_ number: Int) -> [UInt8] {
        let header = [0xFF, 0xF8, 0xC9, 0x18] + u8(number)
        let checksum = header.reduce(UInt8(0)) { value, byte in
            (0..<8).reduce(value ^ byte) { value, _ in value & 0x80 == 0 ? value << 1 : value << 1 ^ 0x07 }
        }
        return header + [checksum] + zeros(500)
    }
}

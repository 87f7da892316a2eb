import MediaTiming

extension AudioFrameHeader {
    /// Returns the header of an ADTS frame (ISO/IEC 14496-3 §1.A.2.2).
    static func adts(_ bytes: Span<UInt8>, at offset: Int) -> AudioFrameHeader? {
        let rate = Int(bytes[offset + 2] >> 2 & 15)
        let type = Int(bytes[offset + 2] >> 6) + 1
        let channels = Int(bytes[offset + 2] & 1) << 2 | Int(bytes[offset + 3] >> 6)
        let length = Int(bytes[offset + 3] & 3) << 11 | Int(bytes[offset + 4]) << 3 | Int(bytes[offset + 5] >> 5)
        let blocks = Int(bytes[offset + 6] & 3) + 1
        guard rate < AudioSpecificConfiguration.sampleRates.count, length >= 7 else { return nil }
        return AudioFrameHeader(
            .aac,
            sampleRate: AudioSpecificConfiguration.sampleRates[rate],
            channelCount: AudioSpecificConfiguration.channelCount(channels),
            samplesPerFrame: 1_024 *| blocks,
            frameLength: length,
            bitRate: nil,
            codec: "mp4a.40.\(type)"
        )
    }

    /// Returns the header of an MPEG audio frame (ISO/IEC 11172-3 §2.4.1.3 and ISO/IEC 13818-3 §2.4.2.3).
    ///
    /// MPEG 2.5 is an unofficial extension that players support.
    static func mpegAudio(_ bytes: Span<UInt8>, at offset: Int) -> AudioFrameHeader? {
        let version = bytes[offset + 1] >> 3 & 3
        let layer = 4 - Int(bytes[offset + 1] >> 1 & 3)
        let rateIndex = Int(bytes[offset + 2] >> 4)
        let frequency = Int(bytes[offset + 2] >> 2 & 3)
        guard version != 1, layer < 4, (1...14).contains(rateIndex), frequency < 3 else { return nil }
        let isMPEG1 = version == 3
        // Bounded: the divisor is 1, 2 or 4.
        let sampleRate = [44_100, 48_000, 32_000][frequency] / (version == 3 ? 1 : version == 2 ? 2 : 4)
        let kilobits =
            isMPEG1
            ? mpeg1BitRates[layer - 1][rateIndex - 1] : mpeg2BitRates[layer == 1 ? 0 : 1][rateIndex - 1]
        let padding = Int(bytes[offset + 2] >> 1 & 1)
        let samples = layer == 1 ? 384 : layer == 2 || isMPEG1 ? 1_152 : 576
        let slot = layer == 1 ? 4 : 1
        // Bounded: rates and slots come from tables without zeros.
        let length = (samples / 8 * kilobits * 1_000 / sampleRate / slot + padding) * slot
        return AudioFrameHeader(
            .mpegAudio,
            sampleRate: sampleRate,
            channelCount: bytes[offset + 3] >> 6 == 3 ? 1 : 2,
            samplesPerFrame: samples,
            frameLength: length,
            bitRate: kilobits *| 1_000,
            codec: layer == 3 ? "mp4a.40.34" : layer == 2 ? "mp4a.40.33" : "mp4a.40.32"
        )
    }

    /// Returns the header of an AC-3 frame (ETSI TS 102 366 §4.3 and §4.4).
    static func ac3(_ bytes: Span<UInt8>, at offset: Int) -> AudioFrameHeader? {
        let size = Int(bytes[offset + 4] & 0x3F)
        let halvings = max(0, Int(bytes[offset + 5] >> 3) - 8)
        guard let rate = sampleRate(ac3: UInt32(bytes[offset + 4] >> 6)), size < 2 *| ac3BitRates.count else {
            return nil
        }
        let kilobits = ac3BitRates[size / 2]
        // At 44.1 kHz the length is not a whole number of words, and every second frame size code has one more word.
        // Bounded: rates come from a table without zeros.
        let words = kilobits * 1_000 * 1_536 / rate / 16 + (rate == 44_100 ? size & 1 : 0)
        var bits = BitCursor(offset + 6..<offset + 8, in: bytes)
        let mode = bits.readBits(3, bytes)
        if mode & 1 != 0, mode != 1 { _ = bits.readBits(2, bytes) }
        if mode & 4 != 0 { _ = bits.readBits(2, bytes) }
        if mode == 2 { _ = bits.readBits(2, bytes) }
        return AudioFrameHeader(
            .ac3,
            sampleRate: rate >> halvings,
            channelCount: channels(ac3Mode: mode) + Int(bits.readBits(1, bytes)),
            samplesPerFrame: 1_536,
            frameLength: words *| 2,
            bitRate: kilobits *| 1_000 >> halvings,
            codec: "ac-3"
        )
    }

    /// Returns the header of an Enhanced AC-3 frame (ETSI TS 102 366 §E.1.2.2).
    static func enhancedAC3(_ bytes: Span<UInt8>, at offset: Int) -> AudioFrameHeader? {
        guard bytes[offset + 5] >> 3 <= 16 else { return nil }
        var bits = BitCursor(offset + 2..<offset + 7, in: bytes)
        let type = bits.readBits(2, bytes)
        let substream = bits.readBits(3, bytes)
        let length = (Int(bits.readBits(11, bytes)) + 1) *| 2
        let code = bits.readBits(2, bytes)
        let further = bits.readBits(2, bytes)
        let rate = code == 3 ? sampleRate(ac3: further).map { $0 / 2 } : sampleRate(ac3: code)
        guard type < 3, let rate, length >= maximumLength else { return nil }
        let mode = bits.readBits(3, bytes)
        let lowFrequency = bits.readBits(1, bytes)
        let blocks = code == 3 ? 6 : [1, 2, 3, 6][Int(further)]
        let isFirst = type != 1 && substream == 0
        return AudioFrameHeader(
            .enhancedAC3,
            sampleRate: rate,
            channelCount: channels(ac3Mode: mode) + Int(lowFrequency),
            samplesPerFrame: isFirst ? 256 *| blocks : 0,
            frameLength: length,
            bitRate: nil,
            codec: "ec-3"
        )
    }

    /// Returns the number of full-range channels of an audio coding mode; mode 0 is two independent mono channels.
    static func channels(ac3Mode mode: UInt32) -> Int { [2, 1, 2, 3, 3, 4, 4, 5][Int(mode & 7)] }

    static func sampleRate(ac3 code: UInt32) -> Int? { code < 3 ? [48_000, 44_100, 32_000][Int(code)] : nil }

    /// The bit rates of MPEG-1 in kbit/s, by layer and bit rate index, starting at index 1.
    private static let mpeg1BitRates = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    ]

    /// The bit rates of MPEG-2 and 2.5 in kbit/s: layer 1, then layers 2 and 3.
    private static let mpeg2BitRates = [
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    private static let ac3BitRates = [
        32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
    ]
}

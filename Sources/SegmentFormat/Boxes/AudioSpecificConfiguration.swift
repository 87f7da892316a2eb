import MediaTiming

/// The first fields of an AAC AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1).
struct AudioSpecificConfiguration {
    /// The audio object type: 2 for AAC-LC, 5 for HE-AAC, 29 for HE-AAC v2, 42 for xHE-AAC.
    let objectType: Int
    /// The output sample rate in hertz, including spectral band replication if it is signaled explicitly.
    let sampleRate: Int?
    let channelCount: Int?

    init?(_ range: Range<Int>, in bytes: Span<UInt8>) {
        var cursor = BitCursor(range, in: bytes)
        let type = Self.objectType(&cursor, bytes)
        var rate = Self.sampleRate(&cursor, bytes)
        let channels = cursor.readBits(4, bytes)
        if type == 5 || type == 29 { rate = Self.sampleRate(&cursor, bytes) }
        guard !cursor.isPastEnd, type > 0 else { return nil }
        objectType = type
        sampleRate = rate
        // Parametric stereo produces two channels from one.
        channelCount = type == 29 ? 2 : Self.channelCount(Int(channels))
    }

    /// Returns the number of channels of a channel configuration; `nil` if it is reserved or defined elsewhere in the
    /// stream.
    static func channelCount(_ configuration: Int) -> Int? {
        switch configuration {
        case 1...6: configuration
        case 7, 12, 14: 8
        case 11: 7
        case 13: 24
        default: nil
        }
    }

    /// The sample rates by their index (ISO/IEC 14496-3 table 1.18).
    static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    private static func objectType(_ cursor: inout BitCursor, _ bytes: Span<UInt8>) -> Int {
        let type = cursor.readBits(5, bytes)
        return Int(type == 31 ? 32 +| cursor.readBits(6, bytes) : type)
    }

    private static func sampleRate(_ cursor: inout BitCursor, _ bytes: Span<UInt8>) -> Int? {
        let index = Int(cursor.readBits(4, bytes))
        if index == 15 { return Int(cursor.readBits(24, bytes)) }
        return index < sampleRates.count ? sampleRates[index] : nil
    }
}

import MediaTiming

/// The `STREAMINFO` metadata block, the first block of a FLAC stream (RFC 9639 §8.2).
struct FLACStreamInformation {
    /// The maximum number of samples of a frame, per channel.
    let maximumBlockSize: Int
    let sampleRate: Int
    let channelCount: Int
    /// The number of samples per channel; `nil` if the encoder did not know it.
    let sampleCount: UInt64?

    /// Creates the information from a metadata block including its header, or `nil` if the block is invalid.
    init?(block range: Range<Int>, in bytes: Span<UInt8>) {
        var cursor = ByteCursor(range, in: bytes)
        guard cursor.readUInt8(bytes) & 0x7F == 0 else { return nil }
        cursor.skip(3 + 2)
        maximumBlockSize = Int(cursor.readUInt16(bytes))
        cursor.skip(6)
        let packed = cursor.readUInt64(bytes)
        guard !cursor.isPastEnd, packed >> 44 > 0 else { return nil }
        sampleRate = Int(clamping: packed >> 44)
        channelCount = Int(clamping: packed >> 41 & 7) + 1
        let count = packed & 0xF_FFFF_FFFF
        sampleCount = count == 0 ? nil : count
    }

    var duration: MediaTime? {
        sampleCount.map { MediaTime(value: Int64(clamping: $0), timescale: Int64(sampleRate)) }
    }
}

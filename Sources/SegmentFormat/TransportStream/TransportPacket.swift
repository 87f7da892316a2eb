import MediaTiming

/// The header of a transport stream packet (ISO/IEC 13818-1 §2.4.3.2).
struct TransportPacket {
    let pid: UInt16
    let isUnitStart: Bool
    let isScrambled: Bool
    let isRandomAccess: Bool
    let isDiscontinuity: Bool
    /// The continuity counter, from 0 to 15.
    let continuityCounter: UInt8
    /// A Boolean value that indicates whether the packet has a payload, so that its continuity counter is that of the
    /// previous packet plus one.
    let hasPayload: Bool
    /// The base of the program clock reference, a 33-bit value at 90 kHz.
    let clockReference: UInt64?
    let payload: Range<Int>

    /// The packet identifier of null packets, which carry no data.
    static let nullPID: UInt16 = 0x1FFF

    /// Creates a header from the packet whose sync byte is at `start`, or `nil` if it is incomplete or marked as
    /// erroneous.
    init?(_ bytes: Span<UInt8>, at start: Int) {
        guard start >= 0, bytes.count - start >= TransportPacketLayout.packetLength,
            bytes[start] == TransportPacketLayout.syncByte, bytes[start + 1] & 0x80 == 0
        else { return nil }
        let end = start + TransportPacketLayout.packetLength
        pid = UInt16(bytes[start + 1] & 0x1F) << 8 | UInt16(bytes[start + 2])
        isUnitStart = bytes[start + 1] & 0x40 != 0
        let control = bytes[start + 3]
        isScrambled = control & 0xC0 != 0
        continuityCounter = control & 0x0F
        hasPayload = control & 0x10 != 0
        var offset = start + 4
        var flags: UInt8 = 0
        var clock: UInt64?
        if control & 0x20 != 0 {
            let length = Int(bytes[offset])
            if length > 0, length <= 183 {
                flags = bytes[offset + 1]
                if flags & 0x10 != 0, length >= 7 { clock = bytes.unsigned(5, at: offset + 2) >> 7 }
            }
            offset += 1 + length
        }
        isRandomAccess = flags & 0x40 != 0
        isDiscontinuity = flags & 0x80 != 0
        clockReference = clock
        payload = control & 0x10 != 0 && offset < end ? offset..<end : end..<end
    }
}

/// The timestamps in the header of a packetized elementary stream (PES) packet (ISO/IEC 13818-1 §2.4.3.6).
struct PESTimestamps {
    let presentation: UInt64
    let decode: UInt64?

    /// Creates timestamps from the PES header at the start of a payload, or `nil` if it has none.
    init?(_ payload: Range<Int>, in bytes: Span<UInt8>) {
        var cursor = ByteCursor(payload, in: bytes)
        guard cursor.readUInt24(bytes) == 1 else { return nil }
        cursor.skip(3)
        guard cursor.readUInt8(bytes) & 0xC0 == 0x80 else { return nil }
        let flags = cursor.readUInt8(bytes) >> 6
        cursor.skip(1)
        guard flags & 2 != 0, let time = Self.timestamp(cursor.readUnsigned(5, bytes)) else { return nil }
        presentation = time
        decode = flags == 3 ? Self.timestamp(cursor.readUnsigned(5, bytes)) : nil
        guard !cursor.isPastEnd else { return nil }
    }

    /// Returns a 33-bit timestamp stored in three groups of bits, or `nil` if one of the marker bits after them is not
    /// set.
    private static func timestamp(_ packed: UInt64) -> UInt64? {
        guard packed & 0x01_0001_0001 == 0x01_0001_0001 else { return nil }
        return (packed >> 33 & 7) << 30 | (packed >> 17 & 0x7FFF) << 15 | packed >> 1 & 0x7FFF
    }
}

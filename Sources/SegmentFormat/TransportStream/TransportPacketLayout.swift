/// How long the packets of a transport stream are, and where the first one begins.
///
/// Besides the standard's 188 bytes there are 192, with four bytes of arrival time in front (Blu-ray's M2TS), and 204,
/// with sixteen bytes of error correction behind (DVB).
public struct TransportPacketLayout: Sendable, Hashable {
    /// How far one packet is from the next: 188, 192 or 204 bytes.
    public let stride: Int
    /// The place of the first sync byte.
    public let firstSync: Int

    /// The first byte of a packet (ISO/IEC 13818-1 §2.4.3.3).
    static let syncByte: UInt8 = 0x47
    static let packetLength = 188

    /// Searches for packets at the beginning; `nil` where three in a row are not found in the first 204 bytes.
    ///
    /// Shorter input counts where all of it is packets and at least one is whole.
    public init?(_ bytes: Span<UInt8>) {
        for start in 0..<min(205, bytes.count) where bytes[start] == Self.syncByte {
            for stride in [188, 192, 204] {
                var place = start
                var found = 0
                while place < bytes.count, found < 5, bytes[place] == Self.syncByte {
                    found += 1
                    place += stride
                }
                let isShort = start <= 4 && bytes.count - start >= Self.packetLength && place >= bytes.count
                guard found >= 3 || isShort && found >= 1 else { continue }
                guard found == 5 || place >= bytes.count else { continue }
                self.stride = stride
                firstSync = start
                return
            }
        }
        return nil
    }
}

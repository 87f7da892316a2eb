/// The packet size of a transport stream and the position of its first packet.
///
/// Besides the 188 bytes of the standard, packets may have 192 bytes, with an arrival time of four bytes before each
/// packet (Blu-ray M2TS), or 204 bytes, with sixteen bytes of error correction after each packet (DVB).
package struct TransportPacketLayout: Sendable, Hashable {
    /// The distance from one packet to the next: 188, 192 or 204 bytes.
    package let stride: Int
    /// The offset of the first sync byte.
    package let firstSync: Int

    /// The sync byte, the first byte of each packet (ISO/IEC 13818-1 §2.4.3.3).
    static let syncByte: UInt8 = 0x47
    static let packetLength = 188

    /// Creates the layout of the given bytes, or `nil` if they are not a transport stream.
    ///
    /// Sync bytes must repeat at the packet size from an offset of at most 204 on: five times, or at least three times
    /// if the bytes end there. Shorter input is accepted if it starts with a packet and has at least one complete
    /// packet.
    package init?(_ bytes: Span<UInt8>) {
        for start in 0..<min(205, bytes.count) where bytes[start] == Self.syncByte {
            for stride in [188, 192, 204] {
                var position = start
                var found = 0
                while position < bytes.count, found < 5, bytes[position] == Self.syncByte {
                    found += 1
                    position += stride
                }
                let isShort = start <= 4 && bytes.count - start >= Self.packetLength && position >= bytes.count
                guard found >= 3 || isShort && found >= 1 else { continue }
                guard found == 5 || position >= bytes.count else { continue }
                self.stride = stride
                firstSync = start
                return
            }
        }
        return nil
    }

    /// Returns the bytes that belong to no packet, because there are no sync bytes, and the streams in which packets are
    /// missing.
    ///
    /// - Parameter bytes: The bytes for which the layout was created.
    /// - Returns: The parts that are lost.
    /// - Complexity: O(*n*) in the number of bytes.
    package func loss(in bytes: Span<UInt8>) -> TransportStreamLoss {
        var continuity = TransportContinuity()
        let skipped = TransportStreamSummary.forEachPacket(in: bytes, self) { packet, _ in continuity.add(packet) }
        return TransportStreamLoss(
            skippedByteCount: skipped + firstSync,
            discontinuousPIDs: continuity.discontinuousPIDs
        )
    }

    /// Returns a Boolean value that indicates whether the bytes end within a packet, because their end was cut off.
    ///
    /// - Parameter bytes: The bytes for which the layout was created.
    /// - Returns: `true` if the last packet is not complete; `false` also for other bytes after the last packet.
    package func endsWithinPacket(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count > firstSync else { return false }
        // Bounded: the distance of packets is not zero, and the remainder is less than the number of bytes.
        let rest = (bytes.count - firstSync) % stride
        return rest > 0 && rest < Self.packetLength && bytes[bytes.count - rest] == Self.syncByte
    }
}

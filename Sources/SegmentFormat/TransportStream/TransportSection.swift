import MediaTiming

/// A reassembler of table sections, which may extend over several packets (ISO/IEC 13818-1 §2.4.4).
struct TransportSection {
    private var gathered: [UInt8] = []

    /// The maximum section length; sections of these tables have at most 1,024 bytes, others 4,096.
    private static let mostBytes = 4_096

    /// Adds the payload of a packet and returns a section once it is complete, or `nil`.
    ///
    /// The section starts at its table ID and has no checksum. Further sections in the same packet are ignored.
    mutating func add(_ packet: TransportPacket, _ bytes: Span<UInt8>) -> [UInt8]? {
        var start = packet.payload.lowerBound
        if packet.isUnitStart {
            guard start < packet.payload.upperBound else { return nil }
            // The end of a previous section in this packet is dropped: tables are repeated frequently.
            start += 1 + Int(bytes[start])
            gathered.removeAll(keepingCapacity: true)
        } else if gathered.isEmpty {
            return nil
        }
        guard start < packet.payload.upperBound else { return nil }
        let room = max(0, Self.mostBytes - gathered.count)
        gathered += bytes.array(start..<min(packet.payload.upperBound, start + room))
        guard gathered.count >= 3 else { return nil }
        let length = 3 + (Int(gathered[1] & 0x0F) << 8 | Int(gathered[2]))
        guard length <= gathered.count else {
            if gathered.count >= Self.mostBytes { gathered.removeAll() }
            return nil
        }
        let section = Array(gathered.prefix(max(0, length - 4)))
        gathered.removeAll(keepingCapacity: true)
        return section
    }
}

import MediaTiming

/// Puts the sections of a table together, which may go over several packets (ISO/IEC 13818-1 §2.4.4).
struct TransportSection {
    private var gathered: [UInt8] = []

    /// A section of these tables has at most 1,024 bytes, others 4,096.
    private static let mostBytes = 4_096

    /// Takes the payload of a packet; gives a section once it is whole, from its table identifier on, without checksum.
    mutating func add(_ packet: TransportPacket, _ bytes: Span<UInt8>) -> [UInt8]? {
        var start = packet.payload.lowerBound
        if packet.isUnitStart {
            guard start < packet.payload.upperBound else { return nil }
            // A section of which the end is in this packet is dropped: the table comes again soon.
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

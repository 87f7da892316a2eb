import MediaTiming

/// A reassembler of table sections, which may extend over several packets (ISO/IEC 13818-1 §2.4.4).
struct TransportSectionAssembler {
    /// The bytes of the sections that are not complete yet: at most one section of 4,098 bytes and one packet.
    private var collectedBytes: [UInt8] = []

    /// Adds the payload of a packet and returns the sections that it completes.
    ///
    /// A section starts at its table ID and has no checksum.
    mutating func add(_ packet: TransportPacket, _ bytes: Span<UInt8>) -> [[UInt8]] {
        var payload = packet.payload
        guard packet.isUnitStart, let first = payload.first else {
            guard !collectedBytes.isEmpty else { return [] }
            collectedBytes += bytes.byteArray(in: payload)
            guard let section = takeSection() else { return [] }
            // A section starts only in packets that say so.
            collectedBytes.removeAll(keepingCapacity: true)
            return [section]
        }
        // The pointer field is the length of the end of the previous section.
        let start = min(payload.upperBound, first + 1 + Int(bytes[first]))
        var sections: [[UInt8]] = []
        if !collectedBytes.isEmpty {
            collectedBytes += bytes.byteArray(in: (first + 1)..<start)
            sections += [takeSection()].compactMap(\.self)
        }
        payload = start..<payload.upperBound
        collectedBytes = bytes.byteArray(in: payload)
        while let section = takeSection() { sections.append(section) }
        return sections
    }

    /// Removes the first section and returns it without its checksum, or returns `nil` if it is not complete.
    private mutating func takeSection() -> [UInt8]? {
        // A table ID of 0xFF marks stuffing up to the end of the packet (§2.4.4.1).
        if collectedBytes.first == 0xFF { collectedBytes.removeAll(keepingCapacity: true) }
        guard collectedBytes.count >= 3 else { return nil }
        let length = 3 + (Int(collectedBytes[1] & 0x0F) << 8 | Int(collectedBytes[2]))
        guard length <= collectedBytes.count else { return nil }
        let section = Array(collectedBytes.prefix(max(0, length - 4)))
        collectedBytes.removeFirst(length)
        return section
    }
}

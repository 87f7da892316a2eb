import MediaTiming

/// The continuity counters of a transport stream, which tell that packets are missing (ISO/IEC 13818-1 §2.4.3.3).
package struct TransportContinuity: Sendable {
    /// The packet identifiers of the streams in which packets are missing.
    private(set) var discontinuousPIDs: Set<UInt16> = []
    /// The counter of the last packet with a payload, by packet identifier.
    private var counters: [UInt16: UInt8] = [:]

    /// Creates counters before the first packet.
    package init() {}

    /// Compares the counters of a section with those of the sections before.
    ///
    /// - Parameter bytes: The next packets, which are complete and have 188 bytes each.
    /// - Returns: The packet identifiers of the streams that have lost packets in the section or directly before it.
    /// - Complexity: O(*n*) in the number of bytes.
    package mutating func takeDiscontinuousPIDs(in bytes: Span<UInt8>) -> Set<UInt16> {
        discontinuousPIDs = []
        var offset = 0
        while offset < bytes.count {
            if let packet = TransportPacket(bytes, at: offset) { add(packet) }
            offset +|= TransportPacketLayout.packetLength
        }
        return discontinuousPIDs
    }

    /// Compares the counter of a packet with that of the previous packet of its stream.
    ///
    /// A packet may be sent twice, and then has the counter of the first one. Some multiplexers also write the same
    /// counter into all packets. An announced discontinuity permits any counter, and packets without a payload are not
    /// counted.
    ///
    /// - Parameter packet: The next packet of the transport stream.
    mutating func add(_ packet: TransportPacket) {
        guard packet.pid != TransportPacket.nullPID else { return }
        if packet.isDiscontinuity { counters[packet.pid] = nil }
        guard packet.hasPayload else { return }
        let counter = packet.continuityCounter
        if let last = counters[packet.pid], counter != last, counter != (last &+ 1) & 0x0F {
            discontinuousPIDs.insert(packet.pid)
        }
        counters[packet.pid] = counter
    }
}

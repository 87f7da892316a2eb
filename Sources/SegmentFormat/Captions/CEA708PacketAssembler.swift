import MediaTiming

/// A reassembler of CTA-708 caption channel packets that extracts the blocks of one service (CTA-708-E §5 and §6).
struct CEA708PacketAssembler {
    private let service: Int
    private var bytes: [UInt8] = []
    private var length = 0

    init(service: Int) {
        self.service = service
    }

    mutating func reset() { (bytes, length) = ([], 0) }

    /// Adds a triplet; if it completes a packet, returns the blocks of the service in it.
    mutating func add(_ triplet: CaptionTriplet) -> [[UInt8]] {
        switch triplet.kind {
        case .firstField, .secondField: return []
        case .packetStart:
            let code = Int(triplet.first & 0x3F)
            length = code == 0 ? 127 : code.multipliedSaturated(by: 2) - 1
            bytes = [triplet.second]
        case .packetData:
            guard length > 0 else { return [] }
            bytes += [triplet.first, triplet.second]
        }
        guard bytes.count >= length else { return [] }
        defer { reset() }
        return blocks()
    }

    /// Returns the blocks of the service; each block starts with its service number and size, and service 0 is padding.
    private func blocks() -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        let packet = bytes.span
        var cursor = ByteCursor(0..<min(length, packet.count), in: packet)
        while cursor.remaining > 0 {
            let header = cursor.readUInt8(packet)
            var number = Int(header >> 5)
            let size = Int(header & 0x1F)
            if number == 0 { break }
            if number == 7, size > 0 { number = Int(cursor.readUInt8(packet) & 0x3F) }
            guard !cursor.isPastEnd, size <= cursor.remaining else { break }
            if number == service, size > 0 { blocks.append(packet.byteArray(in: cursor.offset..<cursor.offset + size)) }
            cursor.skip(size)
        }
        return blocks
    }
}

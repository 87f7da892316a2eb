import MediaTiming
import SegmentFormat

/// A buffer that splits a transport stream, received in chunks of any size, at the boundaries of complete payloads.
///
/// Packets of payloads that may continue are held back and returned with a later chunk, after the tables that describe
/// the streams.
struct TransportCutting {
    private static let packetLength = 188
    /// The packet identifier of null packets.
    private static let nothing: UInt16 = 0x1FFF
    /// The maximum number of bytes that are held back; the bytes of a longer payload are discarded.
    private static let mostBytes = 32 << 20

    /// The packets that are held back, of 188 bytes each, whatever the packet size of the stream.
    private var held: [UInt8] = []
    /// The bytes received since packets were last extracted, and the start of the next packet before them.
    private var unread: [UInt8] = []
    /// The number of bytes to skip up to the next packet.
    private var gap = 0
    /// The packet size of the stream; `nil` until it is known.
    private var stride: Int?
    /// The number of held bytes up to which they are examined again with each chunk.
    ///
    /// Above it, they are examined only after a quarter of their length has been received, so that a payload that never
    /// ends does not cost its whole length for each chunk.
    private static let mostHeldForEach = 1 << 20
    /// The number of bytes from which a packet size is found reliably: five packets of the largest size.
    private static let layoutLength = 5 * 204
    /// The total number of bytes examined, including repeated examinations.
    private(set) var lookedAtByteCount = 0
    /// The approximate memory of the buffer, in bytes.
    var byteCount: Int { held.count + unread.count + tableByteCount }
    private var tableByteCount: Int { tables.values.reduce(0) { $0 + $1.count } }
    private var tables: [UInt16: [UInt8]] = [:]
    private var tablePIDs: Set<UInt16> = [0]

    /// Appends a chunk and returns the complete payloads after the tables; `nil` if there are none yet.
    mutating func add(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        unsafe unread.append(contentsOf: bytes)
        guard held.count <= Self.mostHeldForEach || unread.count >= held.count / 4 else { return nil }
        extractPackets()
        let all = held
        lookedAtByteCount += all.count
        held = []
        let packets = Swift.stride(from: 0, to: all.count, by: Self.packetLength).map { start in
            let pid = UInt16(all[start + 1] & 0x1F) << 8 | UInt16(all[start + 2])
            return (start: start, pid: pid, begins: all[start + 1] & 0x40 != 0)
        }
        var last: [UInt16: Int] = [:]
        for (index, packet) in packets.enumerated() {
            if tablePIDs.contains(packet.pid) {
                noteTable(all[packet.start..<packet.start + Self.packetLength], packet.pid, begins: packet.begins)
            } else if packet.begins {
                last[packet.pid] = index
            }
        }
        var whole: [UInt8] = tables.keys.sorted().flatMap { tables[$0] ?? [] }
        whole.reserveCapacity(whole.count + all.count)
        var hasMedia = false
        for (index, packet) in packets.enumerated() {
            let range = packet.start..<packet.start + Self.packetLength
            let isHeld = !tablePIDs.contains(packet.pid) && index >= last[packet.pid] ?? (packets.count + 1)
            if isHeld {
                held.append(contentsOf: all[range])
            } else {
                whole.append(contentsOf: all[range])
                hasMedia = hasMedia || !tablePIDs.contains(packet.pid) && packet.pid != Self.nothing
            }
        }
        if held.count > Self.mostBytes { held = [] }
        return hasMedia ? whole : nil
    }

    /// Moves the complete packets of the received bytes to the held ones.
    ///
    /// Packets of 192 bytes start with a 4-byte timestamp and packets of 204 bytes end with 16 bytes of parity; both are
    /// omitted.
    private mutating func extractPackets() {
        lookedAtByteCount += unread.count
        var offset = min(gap, unread.count)
        gap -= offset
        while gap == 0, unread.count - offset >= Self.packetLength {
            if stride == nil || unread[offset] != 0x47 {
                guard let start = findPacket(from: offset) else { break }
                offset = start
                continue
            }
            held.append(contentsOf: unread[offset..<(offset + Self.packetLength)])
            offset += stride ?? Self.packetLength
            if offset > unread.count { (gap, offset) = (offset - unread.count, unread.count) }
        }
        unread.removeFirst(offset)
        // Bytes in which no packet is found are not a transport stream.
        if stride == nil, unread.count >= Self.mostBytes { unread = [] }
    }

    /// Finds the packet size and the next packet at an offset where none starts.
    ///
    /// - Returns: The offset of the next sync byte or of the bytes before which there is none, or `nil` if more bytes are
    ///   needed.
    private mutating func findPacket(from offset: Int) -> Int? {
        let layout = TransportPacketLayout(unread.span.extracting(offset...))
        if let layout {
            stride = layout.stride
            return offset + layout.firstSync
        }
        guard stride != nil, unread.count - offset >= Self.layoutLength else { return nil }
        // The stream is damaged here: the packet size is assumed to be unchanged.
        return unread[(offset + 1)...].firstIndex(of: 0x47) ?? unread.count
    }

    /// Returns the remaining packets after the tables; `nil` if there are none.
    mutating func finish() -> [UInt8]? {
        extractPackets()
        guard !held.isEmpty || !unread.isEmpty, !tables.isEmpty else { return nil }
        defer { (held, unread) = ([], []) }
        return tables.keys.sorted().flatMap { tables[$0] ?? [] } + held + unread
    }

    /// Stores the latest packets of each table, and reads the packet identifiers of the program map tables from the
    /// program association table (ISO/IEC 13818-1 §2.4.4.3).
    private mutating func noteTable(_ packet: ArraySlice<UInt8>, _ pid: UInt16, begins: Bool) {
        if begins {
            tables[pid] = Array(packet)
        } else if tables[pid, default: []].count < 16 * Self.packetLength {
            tables[pid, default: []].append(contentsOf: packet)
        }
        guard pid == 0, begins else { return }
        let bytes = Array(packet)
        var offset = 4
        if bytes[3] & 0x20 != 0 { offset += 1 + Int(bytes[4]) }
        guard offset < bytes.count else { return }
        offset += 1 + Int(bytes[offset])
        guard offset + 8 <= bytes.count, bytes[offset] == 0 else { return }
        let length = Int(bytes[offset + 1] & 0x0F) << 8 | Int(bytes[offset + 2])
        let end = min(bytes.count, offset + 3 + length - 4)
        var place = offset + 8
        while place + 4 <= end {
            let program = UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
            let mapPID = UInt16(bytes[place + 2] & 0x1F) << 8 | UInt16(bytes[place + 3])
            if program != 0 { tablePIDs.insert(mapPID) }
            place += 4
        }
    }
}

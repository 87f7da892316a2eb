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

    private var held: [UInt8] = []
    /// The number of bytes received since the stored packets were last examined.
    private var unread: [UInt8] = []
    /// The number of held bytes up to which they are examined again with each chunk.
    ///
    /// Above it, they are examined only after a quarter of their length has been received, so that a payload that never
    /// ends does not cost its whole length for each chunk.
    private static let mostHeldForEach = 1 << 20
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
        let all = held + unread
        lookedAtByteCount += all.count
        held = []
        unread = []
        guard let layout = TransportPacketLayout(all.span) else {
            if all.count < Self.mostBytes { held = all }
            return nil
        }
        // Packets of 192 bytes start with a 4-byte timestamp and packets of 204 bytes end with 16 bytes of parity; both
        // are ignored.
        let lead = layout.stride == 192 ? min(4, layout.firstSync) : 0
        var packets: [(start: Int, pid: UInt16, begins: Bool)] = []
        var offset = layout.firstSync
        while all.count - offset >= Self.packetLength {
            if all[offset] == 0x47 {
                let pid = UInt16(all[offset + 1] & 0x1F) << 8 | UInt16(all[offset + 2])
                packets.append((offset, pid, all[offset + 1] & 0x40 != 0))
                offset += layout.stride
            } else {
                offset += 1
            }
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
        whole.reserveCapacity(whole.count + packets.count * Self.packetLength)
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
        let rest = max(0, offset - lead)
        if rest < all.count { held.append(contentsOf: all[min(offset, all.count)...]) }
        if held.count > Self.mostBytes { held = [] }
        return hasMedia ? whole : nil
    }

    /// Returns the remaining packets after the tables; `nil` if there are none.
    mutating func finish() -> [UInt8]? {
        guard byteCount > tableByteCount, !tables.isEmpty else { return nil }
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

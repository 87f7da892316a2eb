import MediaTiming
import SegmentFormat

/// Keeps what a piece of a transport stream leaves unfinished, for a stream that is cut anywhere.
///
/// Packets that belong to a payload that may go on are held back and stand at the start of the next piece, behind the
/// tables that name the streams.
struct TransportCutting {
    private static let packetLength = 188
    /// The packet identifier of packets that fill.
    private static let nothing: UInt16 = 0x1FFF
    /// So much is held back at most: a stream whose payloads do not begin again is given as it is.
    private static let mostBytes = 32 << 20

    private var held: [UInt8] = []
    /// The number of bytes received since the stored packets were last examined.
    private var unread: [UInt8] = []
    /// What is held beyond this length is looked at again only when a quarter as much has come, so that a packet that never
    /// ends does not cost its length again for each piece.
    private static let mostHeldForEach = 1 << 20
    /// The number of bytes that were looked at, as often as they were.
    private(set) var lookedAtByteCount = 0
    /// About how much memory is held, in bytes.
    var byteCount: Int { held.count + unread.count + tableByteCount }
    private var tableByteCount: Int { tables.values.reduce(0) { $0 + $1.count } }
    private var tables: [UInt16: [UInt8]] = [:]
    private var tablePIDs: Set<UInt16> = [0]

    /// Takes a piece; `nil` where it and what was held back are not enough for anything.
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
        // Longer packets have four bytes of time in front, or sixteen of parity behind, which nobody needs here.
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

    /// What is left, with the tables in front; `nil` where nothing is.
    mutating func finish() -> [UInt8]? {
        guard byteCount > tableByteCount, !tables.isEmpty else { return nil }
        defer { (held, unread) = ([], []) }
        return tables.keys.sorted().flatMap { tables[$0] ?? [] } + held + unread
    }

    /// Keeps the last packets of the tables, and learns from the first table where the others are (ISO/IEC 13818-1 §2.4.4.3).
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

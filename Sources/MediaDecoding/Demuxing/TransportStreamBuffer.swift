import MediaTiming
import SegmentFormat

/// A buffer that splits a transport stream, received in chunks of any size, at the boundaries of complete payloads.
///
/// Packets of payloads that may continue are held back and returned with a later chunk, after the tables that describe
/// the streams.
struct TransportStreamBuffer {
    private static let packetLength = 188
    /// The packet identifier of null packets.
    private static let nullPacketPID: UInt16 = 0x1FFF
    /// The maximum number of bytes that are held back; the bytes of a longer payload are discarded.
    private static let maximumHeldSize = 32 << 20

    /// The packets that are held back, of 188 bytes each, whatever the packet size of the stream.
    private var heldBytes: [UInt8] = []
    /// The bytes received since packets were last extracted, and the start of the next packet before them.
    private var unexaminedBytes: [UInt8] = []
    /// The number of bytes to skip up to the next packet.
    private var gap = 0
    /// The packet size of the stream; `nil` until it is known.
    private var stride: Int?
    /// The number of held bytes up to which they are examined again with each chunk.
    ///
    /// Above it, they are examined only after a quarter of their length has been received, so that a payload that never
    /// ends does not cost its whole length for each chunk.
    private static let alwaysExaminedSize = 1 << 20
    /// The number of bytes from which a packet size is found reliably: five packets of the largest size.
    private static let layoutLength = 5 * 204
    /// The total number of bytes examined, including repeated examinations.
    private(set) var examinedByteCount = 0
    /// The approximate memory of the buffer, in bytes.
    var byteCount: Int { heldBytes.count + unexaminedBytes.count + tableByteCount }
    private var tableByteCount: Int { tables.values.reduce(0) { $0 + $1.count } }
    private var tables: [UInt16: [UInt8]] = [:]
    private var tablePIDs: Set<UInt16> = [0]

    /// Appends a chunk and returns the complete payloads after the tables; `nil` if there are none yet.
    mutating func append(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        unsafe unexaminedBytes.append(contentsOf: bytes)
        guard heldBytes.count <= Self.alwaysExaminedSize || unexaminedBytes.count >= heldBytes.count / 4 else {
            return nil
        }
        extractPackets()
        let all = heldBytes
        examinedByteCount += all.count
        heldBytes = []
        let packets = Swift.stride(from: 0, to: all.count, by: Self.packetLength).map { start in
            let pid = UInt16(all[start + 1] & 0x1F) << 8 | UInt16(all[start + 2])
            return (start: start, pid: pid, begins: all[start + 1] & 0x40 != 0)
        }
        var last: [UInt16: Int] = [:]
        for (index, packet) in packets.enumerated() {
            if tablePIDs.contains(packet.pid) {
                storeTable(
                    all[packet.start..<packet.start + Self.packetLength],
                    pid: packet.pid,
                    startsPayload: packet.begins
                )
            } else if packet.begins {
                last[packet.pid] = index
            }
        }
        var output: [UInt8] = tables.keys.sorted().flatMap { tables[$0] ?? [] }
        output.reserveCapacity(output.count + all.count)
        var hasMedia = false
        for (index, packet) in packets.enumerated() {
            let range = packet.start..<packet.start + Self.packetLength
            let isHeld = !tablePIDs.contains(packet.pid) && index >= last[packet.pid] ?? (packets.count + 1)
            if isHeld {
                heldBytes.append(contentsOf: all[range])
            } else {
                output.append(contentsOf: all[range])
                hasMedia = hasMedia || !tablePIDs.contains(packet.pid) && packet.pid != Self.nullPacketPID
            }
        }
        if heldBytes.count > Self.maximumHeldSize { heldBytes = [] }
        return hasMedia ? output : nil
    }

    /// Moves the complete packets of the received bytes to the held ones.
    ///
    /// Packets of 192 bytes start with a 4-byte timestamp and packets of 204 bytes end with 16 bytes of parity; both are
    /// omitted.
    private mutating func extractPackets() {
        examinedByteCount += unexaminedBytes.count
        var offset = min(gap, unexaminedBytes.count)
        gap -= offset
        while gap == 0, unexaminedBytes.count - offset >= Self.packetLength {
            if stride == nil || unexaminedBytes[offset] != 0x47 {
                guard let start = findPacket(from: offset) else { break }
                offset = start
                continue
            }
            heldBytes.append(contentsOf: unexaminedBytes[offset..<(offset + Self.packetLength)])
            offset += stride ?? Self.packetLength
            if offset > unexaminedBytes.count {
                (gap, offset) = (offset - unexaminedBytes.count, unexaminedBytes.count)
            }
        }
        unexaminedBytes.removeFirst(offset)
        // Bytes in which no packet is found are not a transport stream.
        if stride == nil, unexaminedBytes.count >= Self.maximumHeldSize { unexaminedBytes = [] }
    }

    /// Finds the packet size and the next packet at an offset where none starts.
    ///
    /// - Returns: The offset of the next sync byte or of the bytes before which there is none, or `nil` if more bytes are
    ///   needed.
    private mutating func findPacket(from offset: Int) -> Int? {
        let layout = TransportPacketLayout(unexaminedBytes.span.extracting(offset...))
        if let layout {
            stride = layout.stride
            return offset + layout.firstSync
        }
        guard stride != nil, unexaminedBytes.count - offset >= Self.layoutLength else { return nil }
        // The stream is damaged here: the packet size is assumed to be unchanged.
        return unexaminedBytes[(offset + 1)...].firstIndex(of: 0x47) ?? unexaminedBytes.count
    }

    /// Returns the remaining packets after the tables; `nil` if there are none.
    mutating func finish() -> [UInt8]? {
        extractPackets()
        guard !heldBytes.isEmpty || !unexaminedBytes.isEmpty, !tables.isEmpty else { return nil }
        defer { (heldBytes, unexaminedBytes) = ([], []) }
        return tables.keys.sorted().flatMap { tables[$0] ?? [] } + heldBytes + unexaminedBytes
    }

    /// Stores the latest packets of each table, and reads the packet identifiers of the program map tables from the
    /// program association table (ISO/IEC 13818-1 §2.4.4.3).
    private mutating func storeTable(_ packet: ArraySlice<UInt8>, pid: UInt16, startsPayload: Bool) {
        if startsPayload {
            tables[pid] = Array(packet)
        } else if tables[pid, default: []].count < 16 * Self.packetLength {
            tables[pid, default: []].append(contentsOf: packet)
        }
        guard pid == 0, startsPayload else { return }
        let bytes = Array(packet)
        var offset = 4
        if bytes[3] & 0x20 != 0 { offset += 1 + Int(bytes[4]) }
        guard offset < bytes.count else { return }
        offset += 1 + Int(bytes[offset])
        guard offset + 8 <= bytes.count, bytes[offset] == 0 else { return }
        let length = Int(bytes[offset + 1] & 0x0F) << 8 | Int(bytes[offset + 2])
        let end = min(bytes.count, offset + 3 + length - 4)
        var position = offset + 8
        while position + 4 <= end {
            let program = UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
            let mapPID = UInt16(bytes[position + 2] & 0x1F) << 8 | UInt16(bytes[position + 3])
            if program != 0 { tablePIDs.insert(mapPID) }
            position += 4
        }
    }
}

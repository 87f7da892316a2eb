/// Writes transport streams for tests: one program with any stream types and times.
struct TransportWriter {
    struct Stream {
        let pid: UInt16
        let type: UInt8
        let streamID: UInt8
        var descriptors: [UInt8] = []
    }

    private(set) var bytes: [UInt8] = []
    private var counters: [UInt16: UInt8] = [:]
    private let mapPID: UInt16 = 0x1000

    init(_ streams: [Stream], programDescriptors: [UInt8] = []) {
        let association: [UInt8] = [
            0x00, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xE0 | UInt8(mapPID >> 8), UInt8(mapPID & 0xFF),
        ]
        table(association, 0)
        var list: [UInt8] = []
        for stream in streams {
            list += [
                stream.type, 0xE0 | UInt8(stream.pid >> 8), UInt8(stream.pid & 0xFF), 0xF0,
                UInt8(stream.descriptors.count),
            ]
            list += stream.descriptors
        }
        let clock = streams[0].pid
        var map: [UInt8] = [0, 1, 0xC1, 0, 0, 0xE0 | UInt8(clock >> 8), UInt8(clock & 0xFF)]
        map += [0xF0, UInt8(programDescriptors.count)] + programDescriptors + list
        let length = map.count + 4
        table([0x02, 0xB0 | UInt8(length >> 8), UInt8(length & 0xFF)] + map, mapPID)
    }

    private mutating func table(_ section: [UInt8], _ pid: UInt16) {
        let code = Self.check(section)
        let codeBytes = (0..<4).map { UInt8(code >> UInt32(24 - $0 * 8) & 0xFF) }
        let payload = [0] + section + codeBytes
        packet(pid, Array((payload + [UInt8](repeating: 0xFF, count: 184)).prefix(184)), begins: true)
    }

    /// Writes an access unit as one PES packet.
    mutating func write(
        _ payload: [UInt8],
        _ stream: Stream,
        presentation: UInt64,
        decode: UInt64? = nil,
        isKey: Bool = false
    ) {
        var header: [UInt8] = [0, 0, 1, stream.streamID]
        let times = decode.map { Self.time(presentation, 3) + Self.time($0, 1) } ?? Self.time(presentation, 2)
        let length = stream.streamID & 0xF0 == 0xE0 ? 0 : payload.count + times.count + 3
        header += [
            UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), 0x84, decode == nil ? 0x80 : 0xC0, UInt8(times.count),
        ]
        let all = header + times + payload
        var offset = 0
        while offset < all.count {
            var field: [UInt8] = []
            if offset == 0 {
                field = [isKey ? 0x50 : 0x10] + Self.clock((decode ?? presentation) &- 9_000)
            }
            let space = 184 - (field.isEmpty ? 0 : field.count + 1)
            let count = min(space, all.count - offset)
            let chunk = Array(all[offset..<offset + count])
            if count < space || !field.isEmpty {
                let stuffing = space - count
                if field.isEmpty {
                    field = stuffing > 1 ? [0] + [UInt8](repeating: 0xFF, count: stuffing - 2) : []
                } else {
                    field += [UInt8](repeating: 0xFF, count: stuffing)
                }
                packet(stream.pid, [UInt8(field.count)] + field + chunk, begins: offset == 0, hasField: true)
            } else {
                packet(stream.pid, chunk, begins: offset == 0)
            }
            offset += count
        }
    }

    private mutating func packet(_ pid: UInt16, _ rest: [UInt8], begins: Bool, hasField: Bool = false) {
        let counter = counters[pid, default: 0]
        counters[pid] = (counter + 1) & 15
        bytes +=
            [0x47, (begins ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF), (hasField ? 0x30 : 0x10) | counter] + rest
    }

    private static func time(_ value: UInt64, _ mark: UInt8) -> [UInt8] {
        let value = value & 0x1_FFFF_FFFF
        return [
            mark << 4 | UInt8(value >> 30 & 7) << 1 | 1, UInt8(value >> 22 & 0xFF), UInt8(value >> 15 & 0x7F) << 1 | 1,
            UInt8(value >> 7 & 0xFF), UInt8(value & 0x7F) << 1 | 1,
        ]
    }

    private static func clock(_ value: UInt64) -> [UInt8] {
        let value = value & 0x1_FFFF_FFFF
        return [
            UInt8(value >> 25 & 0xFF), UInt8(value >> 17 & 0xFF), UInt8(value >> 9 & 0xFF), UInt8(value >> 1 & 0xFF),
            UInt8(value & 1) << 7 | 0x7E, 0,
        ]
    }

    private static func check(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(0xFFFF_FFFF) { code, byte in
            var code = code ^ UInt32(byte) << 24
            for _ in 0..<8 { code = code & 0x8000_0000 != 0 ? code << 1 ^ 0x04C1_1DB7 : code << 1 }
            return code
        }
    }
}

/// A builder of synthetic MPEG-2 transport streams.
struct TransportStreamBuilder {
    private(set) var bytes: [UInt8] = []
    private var counters: [Int: Int] = [:]
    /// The number of extra bytes before each packet; ``suffix`` is the number after it.
    var prefix = 0
    var suffix = 0

    init(prefix: Int = 0, suffix: Int = 0) {
        self.prefix = prefix
        self.suffix = suffix
    }

    mutating func packet(
        _ pid: Int,
        isStart: Bool,
        _ payload: [UInt8],
        clock: Int? = nil,
        isRandomAccess: Bool = false
    ) {
        let counter = counters[pid, default: 0]
        counters[pid] = (counter + 1) & 15
        var adaptation: [UInt8] = []
        if clock != nil || isRandomAccess || payload.count < 184 {
            var flags = isRandomAccess ? 0x40 : 0
            var fields: [UInt8] = []
            if let clock {
                flags |= 0x10
                fields =
                    u8(clock >> 25) + u8(clock >> 17) + u8(clock >> 9) + u8(clock >> 1) + u8((clock & 1) << 7 | 0x7E)
                    + [0]
            }
            let room = 184 - payload.count
            if room == 1 {
                adaptation = [0]
            } else {
                let body = u8(flags) + fields
                adaptation = u8(room - 1) + body + [UInt8](repeating: 0xFF, count: room - 1 - body.count)
            }
        }
        let control = (adaptation.isEmpty ? 0x10 : 0x30) | counter
        bytes += zeros(prefix) + [0x47] + u16((isStart ? 0x4000 : 0) | pid) + u8(control) + adaptation + payload
        bytes += zeros(suffix)
    }

    mutating func section(_ pid: Int, _ table: Int, number: Int, _ body: [UInt8]) {
        let length = 5 + body.count + 4
        let section = u8(table) + u16(0xB000 | length) + u16(number) + [0xC1, 0, 0] + body + zeros(4)
        packet(pid, isStart: true, [0] + section + [UInt8](repeating: 0xFF, count: 183 - section.count))
    }

    mutating func tables(_ streams: [(type: Int, pid: Int, descriptors: [UInt8])], map: Int = 0x1000) {
        section(0, 0, number: 1, u16(1) + u16(0xE000 | map))
        let list = streams.flatMap {
            u8($0.type) + u16(0xE000 | $0.pid) + u16(0xF000 | $0.descriptors.count) + $0.descriptors
        }
        section(map, 2, number: 1, u16(0xE000 | (streams.first?.pid ?? 0x1FFF)) + u16(0xF000) + list)
    }

    static func timestamp(_ value: Int, _ mark: Int) -> [UInt8] {
        u8(mark << 4 | (value >> 30 & 7) << 1 | 1) + u16((value >> 15 & 0x7FFF) << 1 | 1)
            + u16((value & 0x7FFF) << 1 | 1)
    }

    mutating func unit(
        _ pid: Int,
        _ presentation: Int,
        decode: Int? = nil,
        clock: Int? = nil,
        isRandomAccess: Bool = false,
        stream: Int = 0xE0
    ) {
        var times = Self.timestamp(presentation, decode == nil ? 2 : 3)
        if let decode { times += Self.timestamp(decode, 1) }
        let header = [0, 0, 1] + u8(stream) + u16(0) + [0x80] + u8(decode == nil ? 0x80 : 0xC0) + u8(times.count)
        packet(pid, isStart: true, header + times + zeros(100), clock: clock, isRandomAccess: isRandomAccess)
    }

    /// Returns a stream with video at 25 frames per second, a key frame every second, and audio.
    static func film(seconds: Int, from start: Int = 126_000, prefix: Int = 0, suffix: Int = 0) -> [UInt8] {
        var builder = TransportStreamBuilder(prefix: prefix, suffix: suffix)
        let mask = 1 << 33 - 1
        for index in 0..<seconds * 25 {
            if index % 25 == 0 { builder.tables([(0x1B, 0x100, []), (0x0F, 0x101, [0x0A, 4] + ascii("deu") + [0])]) }
            let time = start + index * 3_600
            builder.unit(
                0x100,
                (time + 7_200) & mask,
                decode: time & mask,
                clock: (time - 9_000) & mask,
                isRandomAccess: index % 25 == 0
            )
            builder.packet(0x100, isStart: false, zeros(184))
            builder.unit(0x101, (time + 7_200) & mask, stream: 0xC0)
        }
        return builder.bytes
    }
}

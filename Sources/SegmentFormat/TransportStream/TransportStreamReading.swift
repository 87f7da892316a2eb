import MediaTiming

/// The state of reading a transport stream.
struct TransportStreamReading {
    private(set) var packetCount = 0
    private(set) var programs: [UInt16: TransportProgram] = [:]
    private(set) var times: [UInt16: TransportStreamSummary.Times] = [:]
    private(set) var clocks: [UInt16: ClosedRange<Int64>] = [:]
    private(set) var accessPoints: [TransportStreamSummary.RandomAccessPoint] = []

    private let reference: Int64?
    private var firstTime: Int64?
    private var lastClock: [UInt16: Int64] = [:]
    private var association = TransportSection()
    private var maps: [UInt16: TransportSection] = [:]

    /// The maximum number of programs that are read.
    private static let mostPrograms = 256

    init(reference: Int64?, programs: [TransportProgram]) {
        self.reference = reference
        for program in programs { self.programs[program.number] = program }
    }

    mutating func add(_ packet: TransportPacket, at offset: Int, _ bytes: Span<UInt8>) {
        packetCount += 1
        guard packet.pid != TransportPacket.nullPID else { return }
        if let clock = packet.clockReference { noteClock(clock, packet.pid) }
        guard !packet.payload.isEmpty, !packet.isScrambled else { return }
        if packet.pid == 0 {
            for section in association.add(packet, bytes) { readAssociation(section) }
        } else if var map = maps[packet.pid] {
            for section in map.add(packet, bytes) {
                guard let program = TransportProgram(section.span),
                    programs.count < Self.mostPrograms || programs[program.number] != nil
                else { continue }
                programs[program.number] = program
            }
            maps[packet.pid] = map
        } else if packet.isUnitStart {
            noteStart(packet, at: offset, bytes)
        }
    }

    private mutating func readAssociation(_ section: [UInt8]) {
        for (_, pid) in TransportProgram.association(section.span) where maps.count < Self.mostPrograms {
            if maps[pid] == nil { maps[pid] = TransportSection() }
        }
    }

    private mutating func noteStart(_ packet: TransportPacket, at offset: Int, _ bytes: Span<UInt8>) {
        var unrolled: Int64?
        if let start = StreamPacketTimes(packet.payload, in: bytes) {
            // All streams of a program share one clock, so that other streams are unwrapped near the first timestamp.
            let known = times[packet.pid]?.add(start.presentation)
            if let known {
                unrolled = known
            } else {
                let new = TransportStreamSummary.Times(start, near: firstTime ?? reference)
                times[packet.pid] = new
                unrolled = new.latest
            }
            if firstTime == nil { firstTime = unrolled }
        }
        if packet.isRandomAccess, accessPoints.count < TransportStreamSummary.mostAccessPoints {
            accessPoints.append(.init(pid: packet.pid, offset: offset, presentationTimestamp: unrolled))
        }
    }

    private mutating func noteClock(_ clock: UInt64, _ pid: UInt16) {
        guard let range = clocks[pid], let last = lastClock[pid] else {
            let value = (reference ?? firstTime).map { TimestampWrap.unroll(clock, near: $0) } ?? Int64(clamping: clock)
            clocks[pid] = value...value
            lastClock[pid] = value
            return
        }
        let value = TimestampWrap.unroll(clock, near: last)
        lastClock[pid] = value
        clocks[pid] = min(range.lowerBound, value)...max(range.upperBound, value)
    }
}

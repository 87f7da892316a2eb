import MediaTiming

/// The state of reading a transport stream.
struct TransportStreamReader {
    private(set) var packetCount = 0
    private(set) var programs: [UInt16: TransportProgram] = [:]
    private(set) var times: [UInt16: TransportStreamSummary.TimestampSummary] = [:]
    private(set) var clocks: [UInt16: ClosedRange<Int64>] = [:]
    private(set) var accessPoints: [TransportStreamSummary.RandomAccessPoint] = []

    private let reference: Int64?
    private var firstTime: Int64?
    private var lastClock: [UInt16: Int64] = [:]
    private var association = TransportSectionAssembler()
    private var maps: [UInt16: TransportSectionAssembler] = [:]

    /// The maximum number of programs that are read.
    private static let maximumProgramCount = 256

    init(reference: Int64?, programs: [TransportProgram]) {
        self.reference = reference
        for program in programs { self.programs[program.number] = program }
    }

    mutating func add(_ packet: TransportPacket, at offset: Int, _ bytes: Span<UInt8>) {
        packetCount += 1
        guard packet.pid != TransportPacket.nullPID else { return }
        if let clock = packet.clockReference { recordClockReference(clock, pid: packet.pid) }
        guard !packet.payload.isEmpty, !packet.isScrambled else { return }
        if packet.pid == 0 {
            for section in association.add(packet, bytes) { readAssociation(section) }
        } else if var map = maps[packet.pid] {
            for section in map.add(packet, bytes) {
                guard let program = TransportProgram(section.span),
                    programs.count < Self.maximumProgramCount || programs[program.number] != nil
                else { continue }
                programs[program.number] = program
            }
            maps[packet.pid] = map
        } else if packet.isUnitStart {
            recordUnitStart(packet, at: offset, bytes)
        }
    }

    private mutating func readAssociation(_ section: [UInt8]) {
        for (_, pid) in TransportProgram.parseAssociation(section.span) where maps.count < Self.maximumProgramCount {
            if maps[pid] == nil { maps[pid] = TransportSectionAssembler() }
        }
    }

    private mutating func recordUnitStart(_ packet: TransportPacket, at offset: Int, _ bytes: Span<UInt8>) {
        var unrolled: Int64?
        if let start = PESTimestamps(packet.payload, in: bytes) {
            // All streams of a program share one clock, so that other streams are unwrapped near the first timestamp.
            let known = times[packet.pid]?.add(start.presentation)
            if let known {
                unrolled = known
            } else {
                let new = TransportStreamSummary.TimestampSummary(start, near: firstTime ?? reference)
                times[packet.pid] = new
                unrolled = new.latest
            }
            if firstTime == nil { firstTime = unrolled }
        }
        if packet.isRandomAccess, accessPoints.count < TransportStreamSummary.maximumRandomAccessPointCount {
            accessPoints.append(.init(pid: packet.pid, offset: offset, presentationTimestamp: unrolled))
        }
    }

    private mutating func recordClockReference(_ clock: UInt64, pid: UInt16) {
        guard let range = clocks[pid], let last = lastClock[pid] else {
            let value =
                (reference ?? firstTime).map { TimestampUnwrapper.unwrap(clock, near: $0) } ?? Int64(clamping: clock)
            clocks[pid] = value...value
            lastClock[pid] = value
            return
        }
        let value = TimestampUnwrapper.unwrap(clock, near: last)
        lastClock[pid] = value
        clocks[pid] = min(range.lowerBound, value)...max(range.upperBound, value)
    }
}

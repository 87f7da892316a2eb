public import MediaTiming

/// What a stretch of a transport stream says about its programs and times.
public struct TransportStreamSummary: Sendable, Hashable {
    /// The timestamps of one stream.
    public struct Times: Sendable, Hashable {
        /// The first presentation timestamp that was read: 33 bits of 90 kHz.
        public let first: UInt64
        /// The earliest, unrolled; it may be before the first, as B-frames are.
        public private(set) var earliest: Int64
        /// The latest, unrolled.
        public private(set) var latest: Int64
        /// The first decode timestamp, unrolled near the first presentation timestamp; the same where there is none.
        public let firstDecode: Int64
        /// How many were read.
        public private(set) var count: Int
        private var wrap: TimestampWrap

        // Bounded: the divisor is at least one.
        /// How far one is from the next on average, in units of 1/90000 s; zero where there is only one.
        public var step: Int64 { count > 1 ? latest.subtractingSaturated(earliest) / Int64(count - 1) : 0 }

        /// The presentation time from the earliest timestamp to the end of the latest, if that lasts as long as the average.
        public var timeRange: MediaTimeRange {
            MediaTimeRange(
                start: TimestampWrap.time(earliest),
                duration: TimestampWrap.time(latest.subtractingSaturated(earliest).addingSaturated(step))
            )
        }
    }

    /// A packet that decoding can begin at, as its adaptation field says.
    public struct RandomAccessPoint: Sendable, Hashable {
        /// Which stream.
        public let pid: UInt16
        /// Where the packet begins in the bytes.
        public let offset: Int
        /// Its presentation timestamp, unrolled; `nil` where the packet has none.
        public let presentationTimestamp: Int64?
    }

    /// How long packets are.
    public let layout: TransportPacketLayout
    /// How many packets were whole and undamaged.
    public let packetCount: Int
    /// Bytes that belong to no packet.
    public let skippedByteCount: Int
    /// The programs whose maps were read, by their numbers; the last map of each counts.
    public let programs: [TransportProgram]
    /// Timestamps by packet identifier.
    public let times: [UInt16: Times]
    /// The first and the last program clock reference, unrolled, by packet identifier.
    public let clocks: [UInt16: ClosedRange<Int64>]
    /// Packets that decoding can begin at; at most ``mostAccessPoints``.
    public let randomAccessPoints: [RandomAccessPoint]

    /// Further ones are not noted.
    public static let mostAccessPoints = 10_000

    /// Reads all packets.
    ///
    /// Checksums of tables are not looked at: a table that is wrong is rarer than a writer that leaves them out. `nil`
    /// where the bytes are no transport stream.
    ///
    /// - Parameters:
    ///   - bytes: A stretch of a stream; it may begin and end inside of a packet.
    ///   - reference: An unrolled timestamp that the first one is near to, such as the last of the stretch before.
    ///   - programs: Programs that are known already, for stretches without tables.
    public init?(_ bytes: Span<UInt8>, near reference: Int64? = nil, programs: [TransportProgram] = []) {
        guard let layout = TransportPacketLayout(bytes) else { return nil }
        var reading = TransportStreamReading(reference: reference, programs: programs)
        var offset = layout.firstSync
        var skipped = 0
        while offset < bytes.count {
            if bytes[offset] != TransportPacketLayout.syncByte {
                let next = Self.nextSync(bytes, from: offset, layout.stride)
                skipped += next - offset
                offset = next
                continue
            }
            if let packet = TransportPacket(bytes, at: offset) { reading.add(packet, at: offset, bytes) }
            offset += layout.stride
        }
        self.layout = layout
        packetCount = reading.packetCount
        skippedByteCount = skipped + layout.firstSync
        self.programs = reading.programs.values.sorted { $0.number < $1.number }
        times = reading.times
        clocks = reading.clocks
        randomAccessPoints = reading.accessPoints
    }

    /// The next sync byte that another one follows a packet later, or the end.
    private static func nextSync(_ bytes: Span<UInt8>, from start: Int, _ stride: Int) -> Int {
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == TransportPacketLayout.syncByte,
                offset + stride >= bytes.count || bytes[offset + stride] == TransportPacketLayout.syncByte
            {
                return offset
            }
            offset += 1
        }
        return bytes.count
    }

    /// The stream whose times stand for all: the first video of a program, else the first audio, else any with times.
    public var leadingPID: UInt16? {
        let streams = programs.flatMap(\.streams).filter { times[$0.pid] != nil }
        return
            (streams.first { $0.kind == .video } ?? streams.first { $0.kind == .audio } ?? streams.first)?.pid
            ?? times.keys.min()
    }

    /// The time from the earliest timestamp of this stretch to the latest of a later one, whatever lies between.
    ///
    /// `nil` where no stream has timestamps in both. The stretches may be up to 26 hours apart; the clock is taken to run
    /// through without discontinuities.
    public func timeRange(through tail: TransportStreamSummary) -> MediaTimeRange? {
        var start: Int64?
        var end: Int64?
        let leadingPID = leadingPID
        for (pid, first) in times {
            guard let last = tail.times[pid] else { continue }
            // Behind, by less than a period: so the later stretch may be further than half a period away.
            let distance = (last.latest &- first.earliest) & (TimestampWrap.period -| 1)
            start = min(start ?? first.earliest, first.earliest)
            // A packet of sound holds several frames, the last one fewer: only pictures tell how long the last is.
            let step = pid == leadingPID ? max(first.step, last.step) : 0
            let reached = first.earliest.addingSaturated(distance).addingSaturated(step)
            end = max(end ?? reached, reached)
        }
        guard let start, let end else { return nil }
        return MediaTimeRange(start: TimestampWrap.time(start), end: TimestampWrap.time(end))
    }
}

extension TransportStreamSummary.Times {
    init(_ packet: StreamPacketTimes, near reference: Int64?) {
        var wrap = TimestampWrap(near: reference)
        let value = wrap.unroll(packet.presentation)
        first = packet.presentation
        firstDecode = packet.decode.map { TimestampWrap.unroll($0, near: value) } ?? value
        earliest = value
        latest = value
        count = 1
        self.wrap = wrap
    }

    /// Takes a further timestamp and gives it unrolled.
    mutating func add(_ timestamp: UInt64) -> Int64 {
        let value = wrap.unroll(timestamp)
        earliest = min(earliest, value)
        latest = max(latest, value)
        count += 1
        return value
    }
}

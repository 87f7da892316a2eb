package import MediaTiming

/// A summary of the programs and timestamps in a section of a transport stream.
package struct TransportStreamSummary: Sendable, Hashable {
    /// The presentation timestamps of one elementary stream.
    package struct TimestampSummary: Sendable, Hashable {
        /// The first presentation timestamp in the order of the stream, a 33-bit value at 90 kHz.
        package let first: UInt64
        /// The earliest timestamp, unwrapped; it may be less than the first one if there are B-frames.
        package private(set) var earliest: Int64
        /// The latest timestamp, unwrapped.
        package private(set) var latest: Int64
        /// The first decode timestamp, unwrapped near the first presentation timestamp; equal to the latter if it is
        /// missing.
        package let firstDecode: Int64
        /// The number of timestamps.
        package private(set) var count: Int
        private var timestampUnwrapper: TimestampUnwrapper

        // Bounded: the divisor is at least one.
        /// The average distance between timestamps, in units of 1/90000 s; zero if there is only one.
        package var averageInterval: Int64 { count > 1 ? latest.subtractingSaturated(earliest) / Int64(count - 1) : 0 }

        /// The time range from the earliest timestamp to the estimated end of the latest one.
        ///
        /// The last frame is assumed to last for ``averageInterval``.
        package var timeRange: MediaTimeRange {
            MediaTimeRange(
                start: TimestampUnwrapper.mediaTime(of: earliest),
                duration: TimestampUnwrapper.mediaTime(
                    of: latest.subtractingSaturated(earliest).addingSaturated(averageInterval)
                )
            )
        }
    }

    /// A packet whose adaptation field indicates a random access point, at which decoding can start.
    package struct RandomAccessPoint: Sendable, Hashable {
        /// The packet identifier of the stream.
        package let pid: UInt16
        /// The offset of the packet in the bytes.
        package let offset: Int
        /// The presentation timestamp, unwrapped; `nil` if the packet has none.
        package let presentationTimestamp: Int64?
    }

    /// The packet size and the position of the first packet.
    package let layout: TransportPacketLayout
    /// The number of complete packets that are not marked as erroneous.
    package let packetCount: Int
    /// The number of bytes that do not belong to a packet.
    package let skippedByteCount: Int
    /// The programs whose maps were read, by number; the last map of each program applies.
    package let programs: [TransportProgram]
    /// The timestamps by packet identifier.
    package let timestamps: [UInt16: TimestampSummary]
    /// The lowest and the highest program clock reference, unwrapped, by packet identifier.
    package let clockReferences: [UInt16: ClosedRange<Int64>]
    /// The random access points; at most ``maximumRandomAccessPointCount``.
    package let randomAccessPoints: [RandomAccessPoint]

    /// The maximum number of random access points that are recorded.
    package static let maximumRandomAccessPointCount = 10_000

    /// Creates a summary of all packets, or `nil` if the bytes are not a transport stream.
    ///
    /// Checksums of tables are not verified, because incorrect tables are less common than writers that omit the
    /// checksums.
    ///
    /// - Parameters:
    ///   - bytes: A section of a transport stream; it may start and end within a packet.
    ///   - reference: An unwrapped timestamp near the first one, such as the last one of the previous section.
    ///   - programs: The programs that are already known, for sections without tables.
    package init?(_ bytes: Span<UInt8>, near reference: Int64? = nil, programs: [TransportProgram] = []) {
        guard let layout = TransportPacketLayout(bytes) else { return nil }
        var reading = TransportStreamReader(reference: reference, programs: programs)
        let skipped = Self.forEachPacket(in: bytes, layout) { reading.add($0, at: $1, bytes) }
        self.layout = layout
        packetCount = reading.packetCount
        skippedByteCount = skipped + layout.firstSync
        self.programs = reading.programs.values.sorted { $0.number < $1.number }
        timestamps = reading.times
        clockReferences = reading.clocks
        randomAccessPoints = reading.accessPoints
    }

    /// Calls a closure for each packet that is complete and not marked as erroneous.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - layout: Their layout.
    ///   - body: A closure that receives a packet and its offset.
    /// - Returns: The number of bytes between packets.
    @discardableResult
    static func forEachPacket(
        in bytes: Span<UInt8>,
        _ layout: TransportPacketLayout,
        _ body: (TransportPacket, Int) -> Void
    ) -> Int {
        var offset = layout.firstSync
        var skipped = 0
        while offset < bytes.count {
            if bytes[offset] != TransportPacketLayout.syncByte {
                let next = nextSync(bytes, from: offset, layout.stride)
                skipped += next - offset
                offset = next
                continue
            }
            if let packet = TransportPacket(bytes, at: offset) { body(packet, offset) }
            offset += layout.stride
        }
        return skipped
    }

    /// Returns the offset of the next sync byte that is followed by another one a packet later, or the end of the
    /// bytes.
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

    /// The packet identifier of the stream that determines the duration.
    ///
    /// This is the first video stream with timestamps, or else the first audio stream, or else any stream with
    /// timestamps.
    package var leadingPID: UInt16? {
        let streams = programs.flatMap(\.streams).filter { timestamps[$0.pid] != nil }
        return
            (streams.first { $0.mediaType == .video } ?? streams.first { $0.mediaType == .audio } ?? streams.first)?.pid
            ?? timestamps.keys.min()
    }

    /// Returns the time range from the earliest timestamp of this section to the latest one of a later section.
    ///
    /// The result is `nil` if no stream has timestamps in both sections. The sections may be up to 26 hours apart; the
    /// clock is assumed to have no discontinuities between them.
    package func timeRange(upTo tail: TransportStreamSummary) -> MediaTimeRange? {
        var start: Int64?
        var end: Int64?
        let leadingPID = leadingPID
        for (pid, first) in timestamps {
            guard let last = tail.timestamps[pid] else { continue }
            // The difference is taken modulo the period, because the later section may be more than half a period away.
            let distance = (last.latest &- first.earliest) & (TimestampUnwrapper.period -| 1)
            start = min(start ?? first.earliest, first.earliest)
            // Only the leading stream extends the end by its step: an audio PES packet contains several frames, the
            // last one fewer.
            let step = pid == leadingPID ? max(first.averageInterval, last.averageInterval) : 0
            let reached = first.earliest.addingSaturated(distance).addingSaturated(step)
            end = max(end ?? reached, reached)
        }
        guard let start, let end else { return nil }
        return MediaTimeRange(
            start: TimestampUnwrapper.mediaTime(of: start),
            end: TimestampUnwrapper.mediaTime(of: end)
        )
    }
}

extension TransportStreamSummary.TimestampSummary {
    init(_ packet: PESTimestamps, near reference: Int64?) {
        var wrap = TimestampUnwrapper(near: reference)
        let value = wrap.unwrap(packet.presentation)
        first = packet.presentation
        firstDecode = packet.decode.map { TimestampUnwrapper.unwrap($0, near: value) } ?? value
        earliest = value
        latest = value
        count = 1
        self.timestampUnwrapper = wrap
    }

    /// Adds a timestamp and returns its unwrapped value.
    mutating func add(_ timestamp: UInt64) -> Int64 {
        let value = timestampUnwrapper.unwrap(timestamp)
        earliest = min(earliest, value)
        latest = max(latest, value)
        count += 1
        return value
    }
}

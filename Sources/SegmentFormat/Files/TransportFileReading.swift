import MediaTiming

/// A reader that determines the times of a transport stream from its first and last timestamps and from some in
/// between.
///
/// The stream is assumed to be a single recording: its timestamps may wrap once but have no discontinuities.
struct TransportFileReading: FileReading {
    private let pieceDuration: MediaTime
    private var headBytes = 64 << 10
    private var tailBytes: Int64 = 188 * 1_024
    private var head: TransportStreamSummary?
    private var timeRange: MediaTimeRange?
    private var map: TimeByteMap?
    /// The file offsets that are still to be read, in reverse order.
    private var probes: [Int64]?

    /// The maximum size of the windows at the start and end of the file, which grow until they contain timestamps.
    private static let mostWindowBytes = 6 << 20
    private static let probeBytes = 64 << 10
    private static let mostProbes: Int64 = 8

    init(_ pieceDuration: MediaTime) {
        self.pieceDuration = pieceDuration
    }

    mutating func step(_ file: FileBytes) -> MediaFileIndex.State {
        if let needed = readHead(file) ?? readTail(file) ?? readProbes(file) { return needed }
        return .ready(settle(file))
    }

    private mutating func readHead(_ file: FileBytes) -> MediaFileIndex.State? {
        while head == nil {
            guard let found = file.found(at: 0, headBytes) else { return file.request(0, headBytes) }
            let summary = TransportStreamSummary(found.bytes.span)
            let isEnough = summary.map { $0.leadingPID != nil && !$0.programs.isEmpty } ?? false
            if isEnough || file.ends(at: Int64(found.count)) || headBytes >= Self.mostWindowBytes || summary == nil {
                head = summary
                if file.ends(at: Int64(found.count)) { timeRange = summary.flatMap { $0.timeRange(through: $0) } }
                break
            }
            headBytes *|= 8
        }
        return nil
    }

    private mutating func readTail(_ file: FileBytes) -> MediaFileIndex.State? {
        guard let head, let length = file.length, !head.times.isEmpty else { return nil }
        while timeRange == nil, tailBytes <= Self.mostWindowBytes {
            let start = aligned(max(0, length -| tailBytes), head.layout)
            guard let found = file.found(at: start, Int(length -| start)) else {
                return file.request(start, Int(length -| start))
            }
            let tail = found.bytes[found.offset...]
            timeRange = TransportStreamSummary(Array(tail).span, programs: head.programs)
                .flatMap { head.timeRange(through: $0) }
            if timeRange == nil { tailBytes *|= 8 }
        }
        return nil
    }

    /// Reads timestamps at several positions, because interpolation is inaccurate if the bit rate varies.
    private mutating func readProbes(_ file: FileBytes) -> MediaFileIndex.State? {
        guard let head, let pid = head.leadingPID, let first = head.times[pid]?.earliest, let timeRange,
            let length = file.length
        else { return nil }
        let layout = head.layout
        var map = map ?? TimeByteMap(start: Int64(layout.firstSync), end: length, duration: timeRange.duration)
        var probes =
            self.probes
            ?? {
                let count = min(Self.mostProbes, length / (4 << 20))
                // Bounded: the count is not negative.
                return stride(from: count, to: 0, by: -1).map { aligned(length / (count +| 1) *| $0, layout) }
            }()
        defer {
            self.map = map
            self.probes = probes
        }
        while let place = probes.last {
            let count = min(Self.probeBytes, Int(clamping: length -| place))
            guard let found = file.found(at: place, count) else { return file.request(place, count) }
            probes.removeLast()
            let window = Array(found.bytes[found.offset..<found.offset + min(count, found.count)])
            let expected = first.addingSaturated(
                Int64(saturating: timeRange.duration.seconds * 90_000 / Double(length) * Double(place))
            )
            guard let summary = TransportStreamSummary(window.span, near: expected, programs: head.programs),
                let time = summary.times[pid]?.earliest
            else { continue }
            map.insert(TimestampWrap.time(time) - timeRange.start, at: place)
        }
        return nil
    }

    private func aligned(_ place: Int64, _ layout: TransportPacketLayout) -> Int64 {
        let first = Int64(layout.firstSync)
        // Bounded: packets have 188 or more bytes.
        return max(first, first +| (place -| first) / Int64(layout.stride) *| Int64(layout.stride))
    }

    func settle(_ file: FileBytes) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .transportStream, length: file.length)
        guard let head else {
            timeline.problem = .missing("transport packet")
            return timeline
        }
        timeline.tracks = head.programs.flatMap(\.streams).map(\.summary)
        if let pid = head.leadingPID, let first = head.times[pid] {
            timeline.firstTimestamp = TimestampWrap.time(first.earliest)
        }
        guard let timeRange, let length = file.length else { return timeline }
        timeline.firstTimestamp = timeRange.start
        timeline.duration = timeRange.duration
        timeline.cuts = .approximate
        let map = map ?? TimeByteMap(start: Int64(head.layout.firstSync), end: length, duration: timeRange.duration)
        timeline.pieces = map.pieces(of: pieceDuration, unit: Int64(head.layout.stride))
        return timeline
    }
}

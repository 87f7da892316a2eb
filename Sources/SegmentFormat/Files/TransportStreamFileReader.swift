import MediaTiming

/// A reader that determines the times of a transport stream from its first and last timestamps and from some in
/// between.
///
/// The stream is assumed to be a single recording: its timestamps may wrap once but have no discontinuities.
struct TransportStreamFileReader: MediaFileReader {
    private let minimumSegmentDuration: MediaTime
    private var headSize = 64 << 10
    private var tailSize: Int64 = 188 * 1_024
    private var head: TransportStreamSummary?
    private var timeRange: MediaTimeRange?
    private var map: TimeByteMap?
    /// The file offsets that are still to be read, in reverse order.
    private var probes: [Int64]?

    /// The maximum size of the windows at the start and end of the file, which grow until they contain timestamps.
    private static let maximumWindowSize = 6 << 20
    private static let probeSize = 64 << 10
    private static let maximumProbeCount: Int64 = 8

    init(_ minimumSegmentDuration: MediaTime) {
        self.minimumSegmentDuration = minimumSegmentDuration
    }

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        if let needed = readHead(file) ?? readTail(file) ?? readProbes(file) { return needed }
        return .ready(makeTimeline(from: file))
    }

    private mutating func readHead(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        while head == nil {
            guard let found = file.loadedBytes(at: 0, count: headSize) else {
                return file.request(at: 0, count: headSize)
            }
            let summary = TransportStreamSummary(found.bytes.span)
            let isEnough = summary.map { $0.leadingPID != nil && !$0.programs.isEmpty } ?? false
            if isEnough || file.ends(at: Int64(found.count)) || headSize >= Self.maximumWindowSize || summary == nil {
                head = summary
                if file.ends(at: Int64(found.count)) { timeRange = summary.flatMap { $0.timeRange(upTo: $0) } }
                break
            }
            headSize *|= 8
        }
        return nil
    }

    private mutating func readTail(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard let head, let length = file.length, !head.timestamps.isEmpty else { return nil }
        while timeRange == nil, tailSize <= Self.maximumWindowSize {
            let start = aligned(max(0, length -| tailSize), head.layout)
            guard let found = file.loadedBytes(at: start, count: Int(length -| start)) else {
                return file.request(at: start, count: Int(length -| start))
            }
            let tail = found.bytes[found.offset...]
            timeRange = TransportStreamSummary(Array(tail).span, programs: head.programs)
                .flatMap { head.timeRange(upTo: $0) }
            if timeRange == nil { tailSize *|= 8 }
        }
        return nil
    }

    /// Reads timestamps at several positions, because interpolation is inaccurate if the bit rate varies.
    private mutating func readProbes(_ file: LoadedFileParts) -> MediaFileIndexer.State? {
        guard let head, let pid = head.leadingPID, let first = head.timestamps[pid]?.earliest, let timeRange,
            let length = file.length
        else { return nil }
        let layout = head.layout
        var map = map ?? TimeByteMap(start: Int64(layout.firstSync), end: length, duration: timeRange.duration)
        var probes =
            self.probes
            ?? {
                let count = min(Self.maximumProbeCount, length / (4 << 20))
                // Bounded: the count is not negative.
                return stride(from: count, to: 0, by: -1).map { aligned(length / (count +| 1) *| $0, layout) }
            }()
        defer {
            self.map = map
            self.probes = probes
        }
        while let position = probes.last {
            let count = min(Self.probeSize, Int(clamping: length -| position))
            guard let found = file.loadedBytes(at: position, count: count) else {
                return file.request(at: position, count: count)
            }
            probes.removeLast()
            let window = Array(found.bytes[found.offset..<found.offset + min(count, found.count)])
            let expected = first.addingSaturated(
                Int64(saturating: timeRange.duration.seconds * 90_000 / Double(length) * Double(position))
            )
            guard let summary = TransportStreamSummary(window.span, near: expected, programs: head.programs),
                let time = summary.timestamps[pid]?.earliest
            else { continue }
            map.insert(TimestampUnwrapper.mediaTime(of: time) - timeRange.start, at: position)
        }
        return nil
    }

    private func aligned(_ position: Int64, _ layout: TransportPacketLayout) -> Int64 {
        let first = Int64(layout.firstSync)
        // Bounded: packets have 188 or more bytes.
        return max(first, first +| (position -| first) / Int64(layout.stride) *| Int64(layout.stride))
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        var timeline = MediaFileTimeline(wholeFile: .transportStream, length: file.length)
        guard let head else {
            timeline.error = .missing("transport packet")
            return timeline
        }
        timeline.tracks = head.programs.flatMap(\.streams).map(\.mediaTrack)
        if let pid = head.leadingPID, let first = head.timestamps[pid] {
            timeline.firstTimestamp = TimestampUnwrapper.mediaTime(of: first.earliest)
        }
        guard let timeRange, let length = file.length else { return timeline }
        timeline.firstTimestamp = timeRange.start
        timeline.duration = timeRange.duration
        timeline.boundaryAccuracy = .approximate
        let map = map ?? TimeByteMap(start: Int64(head.layout.firstSync), end: length, duration: timeRange.duration)
        timeline.segments = map.segments(duration: minimumSegmentDuration, unit: Int64(head.layout.stride))
        return timeline
    }
}

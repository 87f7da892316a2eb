import MediaTiming

/// A mapping between time and file offset that interpolates between known points.
struct TimeByteMap {
    /// A point at which both the time and the file offset are known.
    struct Point {
        let time: MediaTime
        let byte: Int64
    }

    private(set) var points: [Point]

    /// Creates a map from its start and end points; the start has time zero.
    init(start: Int64, end: Int64, duration: MediaTime) {
        points = [Point(time: .zero, byte: start), Point(time: max(.zero, duration), byte: max(start, end))]
    }

    var duration: MediaTime { points.last?.time ?? .zero }

    /// Inserts a point, unless time or file offset would not increase from point to point.
    mutating func insert(_ time: MediaTime, at byte: Int64) {
        guard let index = points.firstIndex(where: { $0.byte > byte }), index > 0, points[index - 1].byte < byte,
            points[index - 1].time < time, time < points[index].time
        else { return }
        points.insert(Point(time: time, byte: byte), at: index)
    }

    /// Returns the file offset of the given time by linear interpolation.
    func byte(at time: MediaTime) -> Int64 {
        guard let index = points.firstIndex(where: { $0.time > time }), index > 0 else {
            return time <= .zero ? points.first?.byte ?? 0 : points.last?.byte ?? 0
        }
        let (low, high) = (points[index - 1], points[index])
        let part = (time - low.time).seconds / (high.time - low.time).seconds
        let step = part * Double(high.byte -| low.byte)
        guard step.isFinite else { return low.byte }
        return min(high.byte, low.byte +| Int64(saturating: max(0, min(step, 9e18))))
    }

    /// Returns segments of equal duration, each of which starts at a multiple of `unit` bytes after the first point.
    ///
    /// There are fewer segments if they would be shorter than one unit, and never more than ``Movie/maximumSegmentCount``.
    func segments(duration length: MediaTime, unit: Int64 = 1) -> [MediaFileSegment] {
        guard let first = points.first?.byte, let last = points.last?.byte, last > first else { return [] }
        let wanted = duration.seconds / max(0.1, length.seconds)
        let count = Int64(saturating: max(1, min(wanted.isFinite ? wanted : 1, Double(Movie.maximumSegmentCount))))
        let end = duration
        var segments: [MediaFileSegment] = []
        var (lastTime, lastByte) = (MediaTime.zero, first)
        for index in 1...count {
            let isLast = index == count
            let time = isLast ? end : end.scaled(by: MediaTime(value: index, timescale: count))
            let exact = isLast ? last : byte(at: time)
            // Bounded: callers pass a block of at least one byte.
            let position = isLast ? last : first +| (exact -| first) / unit *| unit
            guard position > lastByte, time > lastTime || isLast,
                let bytes = ByteRange(start: lastByte, length: position -| lastByte)
            else { continue }
            segments.append(MediaFileSegment(timeRange: MediaTimeRange(start: lastTime, end: time), byteRange: bytes))
            (lastTime, lastByte) = (time, position)
        }
        return segments
    }
}

import MediaTiming

/// The index entries of the subtitle tracks of a Matroska file, with the times of the subtitles (`Cues`, RFC 9559
/// §5.1.5).
struct MatroskaSubtitleCues: Sendable {
    private struct Entry: Sendable {
        /// The start, in units of the timestamp scale.
        let start: UInt64
        /// The end, in units of the timestamp scale.
        let end: UInt64
        /// The file offset of the cluster that contains the subtitles.
        let cluster: Int64
    }

    private static let maximumCount = 100_000
    /// The maximum number of subtitles that are in progress at one time; only the latest ones are considered.
    private static let maximumActiveCount = 64

    private var entries: [Entry] = []

    /// Adds the positions of a cue point that belong to subtitle tracks and have a duration.
    ///
    /// - Parameters:
    ///   - content: The content of the `CuePoint` element.
    ///   - bytes: The bytes that contain it.
    ///   - tracks: The numbers of the subtitle tracks.
    ///   - segmentStart: The file offset to which the positions of clusters are relative.
    mutating func add(_ content: Range<Int>, _ bytes: Span<UInt8>, tracks: Set<UInt64>, segmentStart: Int64) {
        guard !tracks.isEmpty, entries.count < Self.maximumCount else { return }
        var walker = MatroskaElementIterator(content, in: bytes)
        var time: UInt64?
        var found: [(cluster: UInt64, duration: UInt64)] = []
        while let child = walker.next(bytes) {
            if child.id == 0xB3 { time = bytes.matroskaUnsigned(child.content) }
            guard child.id == 0xB7, found.count < Self.maximumActiveCount else { continue }
            var positions = MatroskaElementIterator(child.content, in: bytes)
            var (track, cluster, duration) = (UInt64?.none, UInt64?.none, UInt64(0))
            while let field = positions.next(bytes) {
                switch field.id {
                case 0xF7: track = bytes.matroskaUnsigned(field.content)
                case 0xF1: cluster = bytes.matroskaUnsigned(field.content)
                case 0xB2: duration = bytes.matroskaUnsigned(field.content)
                default: break
                }
            }
            if let track, let cluster, duration > 0, tracks.contains(track) { found.append((cluster, duration)) }
        }
        guard let time else { return }
        for cue in found {
            let cluster = segmentStart.addingSaturated(Int64(clamping: cue.cluster))
            entries.append(Entry(start: time, end: time +| cue.duration, cluster: cluster))
        }
    }

    /// Sets the offsets of the subtitles that are in progress at the starts of segments.
    ///
    /// - Parameters:
    ///   - segments: The segments in order.
    ///   - time: A closure that returns the time of a number of units of the timestamp scale.
    func setOffsets(of segments: inout [MediaFileSegment], time: (UInt64) -> MediaTime) {
        guard !entries.isEmpty else { return }
        let sorted = entries.sorted { $0.start < $1.start }
        var next = 0
        var active: [Entry] = []
        for index in segments.indices {
            let start = segments[index].timeRange.start
            while next < sorted.count, time(sorted[next].start) < start {
                active.append(sorted[next])
                next += 1
            }
            active = Array(active.filter { time($0.end) > start }.suffix(Self.maximumActiveCount))
            let first = segments[index].byteRange.start
            let nearest = first.subtractingSaturated(MediaFileSegment.maximumSubtitleDistance)
            let offsets = active.map(\.cluster).filter { $0 < first && $0 >= nearest }
            segments[index].earlierSubtitleOffset = offsets.min()
        }
    }
}

package import MediaTiming

/// The time range and location of a sample in a fragmented segment; intended for subtitle tracks, which have few
/// samples.
package struct FragmentSample: Sendable, Hashable {
    /// The presentation time range on the track's timeline, without the edit list.
    package let timeRange: MediaTimeRange
    /// The range of the sample's data in the segment; empty for a sample without data.
    package let bytes: Range<Int>

    /// The maximum number of samples that are read from a segment.
    package static let maximumCount = 100_000

    /// Returns the samples of a track in a segment (ISO/IEC 14496-12 §8.8).
    ///
    /// The total size of the samples is limited to the size of the segment, and their number to its number of bytes.
    /// The list ends at the first sample that exceeds these limits, such as with runs that refer repeatedly to the same
    /// bytes or declare billions of empty samples.
    ///
    /// - Parameters:
    ///   - segment: Movie fragments and their media data, complete or truncated; samples that exceed the segment are
    ///     omitted.
    ///   - movie: The initialization section, which provides the timescale and the default values.
    ///   - trackID: The track ID; by default that of the movie's first track.
    /// - Returns: The samples in the order of the segment.
    package static func samples(
        in segment: Span<UInt8>,
        movie: Movie,
        trackID: UInt32? = nil
    ) -> [FragmentSample] {
        guard let track = trackID.map({ movie.track($0) }) ?? movie.tracks.first else { return [] }
        var reading = FragmentSampleReader(track, of: movie, segmentLength: segment.count)
        var walker = BoxIterator(0..<segment.count, in: segment)
        var boxes = 0
        while boxes < FragmentedSegment.maximumBoxCount, let box = walker.next(segment) {
            boxes += 1
            if box.type == .moof, !box.isTruncated { reading.read(box, segment) }
        }
        return reading.samples
    }
}

/// The state of reading a track's samples from consecutive movie fragments.
struct FragmentSampleReader {
    private let track: Movie.Track
    private let movieDefaults: [UInt32: Movie.FragmentDefaults]
    private(set) var samples: [FragmentSample] = []
    // The decode time of the next fragment if it does not specify its own.
    private var nextTime: UInt64 = 0
    /// The number of bytes of the segment that are not assigned to a sample yet.
    private var unusedBytes: Int64
    private let maximumSampleCount: Int

    init(_ track: Movie.Track, of movie: Movie, segmentLength: Int) {
        self.track = track
        movieDefaults = Dictionary(
            movie.tracks.compactMap { track in track.fragmentDefaults.map { (track.id, $0) } },
            uniquingKeysWith: { first, _ in first }
        )
        unusedBytes = Int64(segmentLength)
        maximumSampleCount = min(FragmentSample.maximumCount, segmentLength)
    }

    mutating func read(_ fragment: Box, _ bytes: Span<UInt8>) {
        // Without a data offset, the data of a track fragment follow those of the previous one (§8.8.7.1).
        var nextData = fragment.range.lowerBound
        var children = BoxIterator(fragment.payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .traf { readTrack(child, moof: fragment.range.lowerBound, &nextData, bytes) }
        }
    }

    private mutating func readTrack(_ box: Box, moof: Int, _ nextData: inout Int, _ bytes: Span<UInt8>) {
        guard let fragment = try? TrackFragment(box, bytes, movieDefaults: { [movieDefaults] in movieDefaults[$0] })
        else { return }
        let origin = Int64(fragment.dataOrigin(fragment: moof, previousEnd: nextData))
        var position = origin
        let isSelected = fragment.trackID == track.id
        if isSelected { nextTime = fragment.baseDecodeTime ?? nextTime }
        fragment.forEachRun(bytes) { run in
            guard let run else { return }
            if let offset = run.dataOffset { position = origin.addingSaturated(Int64(offset)) }
            guard isSelected else {
                position = position.addingSaturated(run.dataSize(bytes))
                return
            }
            guard samples.count < maximumSampleCount else { return }
            run.forEachSample(bytes) { appendSample($0, at: &position, segmentLength: Int64(bytes.count)) }
        }
        nextData = Int(clamping: position)
    }

    /// Appends a sample if its data are inside the segment.
    ///
    /// - Returns: Whether further samples can be appended.
    private mutating func appendSample(
        _ sample: TrackRun.Sample,
        at position: inout Int64,
        segmentLength: Int64
    ) -> Bool {
        let start = Int64(clamping: nextTime).addingSaturated(Int64(sample.compositionOffset))
        let end = position.addingSaturated(Int64(sample.size))
        if position >= 0, end <= segmentLength {
            unusedBytes -|= Int64(sample.size)
            guard unusedBytes >= 0 else { return false }
            samples.append(
                FragmentSample(
                    timeRange: MediaTimeRange(
                        start: .units(start, per: track.timescale),
                        duration: .units(UInt64(sample.duration), per: track.timescale)
                    ),
                    bytes: Int(position)..<Int(end)
                )
            )
        } else {
            // The samples that follow are also after the end of the segment.
            return false
        }
        position = end
        nextTime = nextTime.addingSaturated(UInt64(sample.duration))
        return samples.count < maximumSampleCount
    }
}

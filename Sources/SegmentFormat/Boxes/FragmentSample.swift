public import MediaTiming

/// Where the samples of a track lie in a fragmented segment, one by one: for tracks of text, whose samples are few.
public struct FragmentSample: Sendable, Hashable {
    /// When it is presented, on the track's timeline, before edits.
    public let timeRange: MediaTimeRange
    /// Its bytes in the segment that was read; empty for a sample without any.
    public let bytes: Range<Int>

    /// Further samples of a segment are not read.
    public static let mostSamples = 100_000

    /// Goes through the samples of a track in a segment (ISO/IEC 14496-12 §8.8).
    ///
    /// Together they are no larger than the segment, and no more than it has bytes: runs that name the same bytes again and
    /// again, or billions of empty samples, end the list.
    ///
    /// - Parameters:
    ///   - segment: Fragments and their media, whole or cut; samples that are not whole in it are left out.
    ///   - movie: The initialization section, for the timescale and defaults.
    ///   - trackID: Which track; by default the first of the movie.
    /// - Returns: Its samples, in the order of the segment.
    public static func samples(
        in segment: Span<UInt8>,
        movie: Movie,
        trackID: UInt32? = nil
    ) -> [FragmentSample] {
        guard let track = trackID.map({ movie.track($0) }) ?? movie.tracks.first else { return [] }
        var reading = FragmentSampleReading(track, segmentLength: segment.count)
        var walker = BoxWalker(0..<segment.count, in: segment)
        var boxes = 0
        while boxes < FragmentedSegment.mostBoxes, let box = walker.next(segment) {
            boxes += 1
            if box.type == .moof, !box.isCut { reading.read(box, segment) }
        }
        return reading.samples
    }
}

/// Adds up sizes and durations of a track's runs.
struct FragmentSampleReading {
    private let track: Movie.Track
    private(set) var samples: [FragmentSample] = []
    // Where a fragment that does not say its time begins.
    private var nextTime: UInt64 = 0
    /// The bytes of the segment that no sample has yet.
    private var unusedBytes: Int64
    private let mostSamples: Int

    init(_ track: Movie.Track, segmentLength: Int) {
        self.track = track
        unusedBytes = Int64(segmentLength)
        mostSamples = min(FragmentSample.mostSamples, segmentLength)
    }

    mutating func read(_ fragment: Box, _ bytes: Span<UInt8>) {
        var children = BoxWalker(fragment.payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .traf { readTrack(child, moof: Int64(fragment.range.lowerBound), bytes) }
        }
    }

    private mutating func readTrack(_ box: Box, moof: Int64, _ bytes: Span<UInt8>) {
        guard
            let fragment = try? TrackFragment(
                box,
                bytes,
                movieDefaults: { [track] in
                    $0 == track.id ? track.fragmentDefaults : nil
                }
            ), fragment.trackID == track.id
        else { return }
        nextTime = fragment.baseDecodeTime ?? nextTime
        var place = moof
        fragment.forEachRun(bytes) { run in
            guard let run else { return }
            if let offset = run.dataOffset { place = moof.addingSaturated(Int64(offset)) }
            guard samples.count < mostSamples else { return }
            run.forEachSample(bytes) { take($0, at: &place, segmentLength: Int64(bytes.count)) }
        }
    }

    /// Lists a sample.
    ///
    /// - Returns: Whether there is place for further ones.
    private mutating func take(_ sample: TrackRun.Sample, at place: inout Int64, segmentLength: Int64) -> Bool {
        let start = Int64(clamping: nextTime).addingSaturated(Int64(sample.compositionOffset))
        let end = place.addingSaturated(Int64(sample.size))
        if place >= 0, end <= segmentLength {
            unusedBytes -|= Int64(sample.size)
            guard unusedBytes >= 0 else { return false }
            samples.append(
                FragmentSample(
                    timeRange: MediaTimeRange(
                        start: .units(start, per: track.timescale),
                        duration: .units(UInt64(sample.duration), per: track.timescale)
                    ),
                    bytes: Int(place)..<Int(end)
                )
            )
        } else {
            // The samples that follow are behind the end of the segment, too.
            return false
        }
        place = end
        nextTime = nextTime.addingSaturated(UInt64(sample.duration))
        return samples.count < mostSamples
    }
}

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
        guard let header = box.child(.tfhd, bytes) else { return }
        var (_, flags, cursor) = header.fields(bytes)
        guard cursor.uint32(bytes) == track.id else { return }
        // A base counts from the start of the file, which is not known here: in segments it stands for `moof`.
        if flags & 0x1 != 0 { cursor.skip(8) }
        if flags & 0x2 != 0 { cursor.skip(4) }
        let duration = flags & 0x8 != 0 ? cursor.uint32(bytes) : track.fragmentDefaults?.sampleDuration ?? 0
        let size = flags & 0x10 != 0 ? cursor.uint32(bytes) : track.fragmentDefaults?.sampleSize ?? 0
        guard !cursor.isPastEnd else { return }
        if let box = box.child(.tfdt, bytes) {
            var (version, _, cursor) = box.fields(bytes)
            let value = cursor.unsigned(version == 0 ? 4 : 8, bytes)
            if !cursor.isPastEnd { nextTime = value }
        }
        var place = moof
        var children = BoxWalker(box.payload, in: bytes)
        while let child = children.next(bytes) {
            guard child.type == .trun else { continue }
            readRun(child, moof: moof, place: &place, duration: duration, size: size, bytes)
        }
    }

    private mutating func readRun(
        _ box: Box,
        moof: Int64,
        place: inout Int64,
        duration: UInt32,
        size: UInt32,
        _ bytes: Span<UInt8>
    ) {
        var (version, flags, cursor) = box.fields(bytes)
        let count = cursor.uint32(bytes)
        if flags & 0x1 != 0 { place = moof.addingSaturated(Int64(cursor.int32(bytes))) }
        if flags & 0x4 != 0 { cursor.skip(4) }
        var index: UInt32 = 0
        while index < count, samples.count < mostSamples {
            index +|= 1
            let length = flags & 0x100 != 0 ? cursor.uint32(bytes) : duration
            let bytesOfSample = Int64(flags & 0x200 != 0 ? cursor.uint32(bytes) : size)
            if flags & 0x400 != 0 { cursor.skip(4) }
            var offset: Int64 = 0
            if flags & 0x800 != 0 {
                offset = version == 0 ? Int64(cursor.uint32(bytes)) : Int64(cursor.int32(bytes))
            }
            guard !cursor.isPastEnd else { return }
            let start = Int64(clamping: nextTime).addingSaturated(offset)
            let end = place.addingSaturated(bytesOfSample)
            if place >= 0, end <= Int64(bytes.count) {
                unusedBytes -|= bytesOfSample
                guard unusedBytes >= 0 else { return }
                samples.append(
                    FragmentSample(
                        timeRange: MediaTimeRange(
                            start: .units(start, per: track.timescale),
                            duration: .units(UInt64(length), per: track.timescale)
                        ),
                        bytes: Int(place)..<Int(end)
                    )
                )
            } else if bytesOfSample > 0 || flags & 0x200 == 0 {
                // Behind the bytes: what follows is too.
                return
            }
            place = end
            nextTime = nextTime.addingSaturated(UInt64(length))
        }
    }
}

package import MediaTiming

/// The sample table of a track in a progressive file, `stbl` (ISO/IEC 14496-12 §8.5 to §8.7).
///
/// The tables are not copied: a value of this type has only their offsets, and its methods require the bytes from which
/// it was read. With other bytes the results are meaningless, but the methods do not trap.
package struct SampleTable: Sendable, Hashable {
    /// A table whose entries have equal width.
    struct Entries: Hashable {
        let start: Int
        let count: Int
        let width: Int

        func offset(of index: Int) -> Int { start + index *| width }
    }

    /// The number of samples that have both a size and a time.
    package let sampleCount: Int64
    /// The timescale of the track, in units per second.
    package let timescale: UInt32
    /// The total duration of the samples.
    package let duration: MediaTime

    /// The presentation time of the first sample without the edit list.
    ///
    /// It is greater than zero if the decode order differs from the presentation order.
    private(set) var firstPresentationTime = MediaTime.zero

    /// The number of samples in the table of sizes, including samples for which there is no time.
    let declaredCount: Int64
    let timeToSample: Entries
    let compositionOffsets: Entries?
    let sampleToChunk: Entries
    let chunkOffsets: Entries
    let syncSamples: Entries?
    let sizes: Sizes

    /// The sizes of the samples, in bytes.
    enum Sizes: Hashable {
        case constant(UInt32)
        /// A table with entries of 4, 8, 16 or 32 bits.
        case table(start: Int, bits: Int)
    }

    /// The maximum number of samples in a table with a size for each; enough for three days of video and audio.
    ///
    /// Larger tables are rejected.
    package static let maximumSampleCount = 20_000_000

    /// A Boolean value that indicates whether every sample is a sync sample.
    package var isEverySampleSync: Bool { syncSamples == nil }

    init?(_ box: Box, timescale: UInt32, _ bytes: Span<UInt8>) {
        func entries(_ type: FourCharacterCode, _ width: Int) -> Entries? {
            guard let box = box.firstChild(type, in: bytes) else { return nil }
            var (_, _, cursor) = box.fullBoxFields(in: bytes)
            let count = Int(cursor.readUInt32(bytes))
            guard !cursor.isPastEnd, count *| width <= cursor.remaining else { return nil }
            return Entries(start: cursor.offset, count: count, width: width)
        }
        guard let times = entries(.stts, 8), let chunks = entries(.stsc, 12),
            let offsets = entries(.stco, 4) ?? entries(.co64, 8),
            let (sizes, count) = Self.sizes(box, bytes)
        else { return nil }
        timeToSample = times
        sampleToChunk = chunks
        chunkOffsets = offsets
        compositionOffsets = entries(.ctts, 8)
        syncSamples = entries(.stss, 4)
        self.sizes = sizes
        self.timescale = timescale

        var units: UInt64 = 0
        var samples: UInt64 = 0
        for index in 0..<times.count {
            let repeated = UInt64(bytes.uint32(at: times.offset(of: index)))
            let delta = UInt64(bytes.uint32(at: times.offset(of: index) + 4))
            samples +|= repeated
            units = units.addingSaturated(repeated.multipliedSaturated(by: delta))
        }
        sampleCount = min(count, Int64(clamping: samples))
        declaredCount = count
        duration = .units(units, per: timescale)
        var clock = SampleTimeIterator(self)
        firstPresentationTime = .units(clock.presentationTime(of: 0, bytes), per: timescale)
    }

    private static func sizes(_ box: Box, _ bytes: Span<UInt8>) -> (Sizes, Int64)? {
        if let box = box.firstChild(.stsz, in: bytes) {
            var (_, _, cursor) = box.fullBoxFields(in: bytes)
            let size = cursor.readUInt32(bytes)
            let count = Int(cursor.readUInt32(bytes))
            guard !cursor.isPastEnd else { return nil }
            if size != 0 { return (.constant(size), Int64(count)) }
            guard count <= maximumSampleCount, count *| 4 <= cursor.remaining else { return nil }
            return (.table(start: cursor.offset, bits: 32), Int64(count))
        }
        guard let box = box.firstChild(.stz2, in: bytes) else { return nil }
        var (_, _, cursor) = box.fullBoxFields(in: bytes)
        cursor.skip(3)
        let bits = Int(cursor.readUInt8(bytes))
        let count = Int(cursor.readUInt32(bytes))
        guard !cursor.isPastEnd, [4, 8, 16].contains(bits), count <= maximumSampleCount,
            (count *| bits + 7) / 8 <= cursor.remaining
        else { return nil }
        return (.table(start: cursor.offset, bits: bits), Int64(count))
    }

    /// Returns the presentation times of all sync samples without the edit list; `nil` if every sample is a sync
    /// sample.
    ///
    /// - Complexity: O(*n*) in the entries of the tables.
    package func syncSampleTimes(_ bytes: Span<UInt8>) -> [MediaTime]? {
        guard let syncSamples else { return nil }
        var times: [MediaTime] = []
        var clock = SampleTimeIterator(self)
        var last: Int64 = -1
        for index in 0..<syncSamples.count {
            let sample = Int64(bytes.uint32(at: syncSamples.offset(of: index))) -| 1
            guard sample > last, sample < sampleCount else { continue }
            last = sample
            times.append(.units(clock.presentationTime(of: sample, bytes), per: timescale))
        }
        return times
    }

    /// Returns an upper bound on the number of index entries that a demultiplexer creates for the table.
    ///
    /// This is one entry for each sample. For audio samples with a duration of one unit, such as uncompressed audio, it
    /// is one entry for several samples of a chunk.
    ///
    /// - Complexity: O(*n*) in the entries of `stsc`, independent of the number of samples.
    func indexEntryCount(isAudio: Bool, _ bytes: Span<UInt8>) -> Int64 {
        guard isAudio, timeToSample.count == 1, bytes.uint32(at: timeToSample.offset(of: 0) + 4) == 1 else {
            return declaredCount
        }
        var count: Int64 = 0
        for index in 0..<sampleToChunk.count {
            let position = sampleToChunk.offset(of: index)
            let first = Int64(bytes.uint32(at: position))
            let next =
                index + 1 < sampleToChunk.count
                ? Int64(bytes.uint32(at: sampleToChunk.offset(of: index + 1))) : Int64(chunkOffsets.count) +| 1
            let perChunk = Int64(bytes.uint32(at: position + 4)) / Self.minimumJoinedSampleCount +| 1
            count = count.addingSaturated(max(0, next.subtractingSaturated(first)).multipliedSaturated(by: perChunk))
        }
        return count
    }

    /// The minimum number of uncompressed audio samples that a demultiplexer combines in one entry.
    private static let minimumJoinedSampleCount: Int64 = 128
}

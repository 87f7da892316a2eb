import MediaTiming

/// The location and times of a sample in a progressive file; times are in units of the track's timescale.
///
/// Uncompressed audio has tens of thousands of samples of a few bytes per second. For such tracks, one value represents
/// several samples that are contiguous in the file and have equal duration.
package struct ProgressiveSample: Sendable, Hashable {
    /// The offset of the first byte, relative to the start of the file.
    package let offset: Int64
    /// The decode time without the edit list.
    package let decodeTime: Int64
    fileprivate let compositionOffset: Int32
    fileprivate let storedSize: UInt32
    /// The duration of one of the samples.
    fileprivate let sampleDuration: UInt32
    fileprivate let storedCount: UInt16
    /// A Boolean value that indicates whether the sample is a sync sample (`stss`).
    package let isSync: Bool

    /// The default maximum number of values per track; enough for about one day of video.
    ///
    /// A track with more is not listed.
    package static let maximumCount = 5_000_000
    /// The maximum number of audio samples in one value.
    package static let maximumJoinedSampleCount = 8_192
    fileprivate static let maximumJoinedSize: Int64 = 1 << 20

    /// The size in bytes.
    package var size: Int { Int(storedSize) }
    /// The offset of the first byte after the sample.
    package var endOffset: Int64 { offset.addingSaturated(Int64(storedSize)) }
    /// The presentation time without the edit list.
    package var presentationTime: Int64 { decodeTime.addingSaturated(Int64(compositionOffset)) }
    /// The duration (`stts`), the sum over all samples of the value.
    package var duration: Int64 { Int64(sampleDuration) *| Int64(storedCount) }
    /// The number of samples that the value represents; always 1 for compressed media.
    package var count: Int { Int(storedCount) }

    /// Returns the number of samples that are decoded before the given time, from 0 to ``count``.
    package func count(before time: Int64) -> Int {
        let distance = time.subtractingSaturated(decodeTime)
        guard distance > 0 else { return 0 }
        guard distance < duration else { return count }
        // The duration is greater than zero here.
        return Int((distance -| 1).dividedSaturated(by: Int64(sampleDuration))) + 1
    }

    /// Returns the indices of the samples that are completely inside the given byte range of the file.
    package func indices(in stretch: Range<Int64>) -> Range<Int> {
        let each = Int64(storedSize / UInt32(max(1, storedCount)))
        guard each > 0 else { return 0..<count }
        let before = max(0, stretch.lowerBound.subtractingSaturated(offset))
        let until = max(0, stretch.upperBound.subtractingSaturated(offset))
        // Bounded: the size of a sample is not zero here.
        let first = min(Int64(count), before / each +| (before % each == 0 ? 0 : 1))
        // Bounded: the size of a sample is not zero here.
        return Int(first)..<Int(max(first, min(Int64(count), until / each)))
    }

    /// Returns a value that represents the samples with the given indices; indices outside `0..<count` are ignored.
    package func subrange(_ range: Range<Int>) -> ProgressiveSample {
        let range = range.clamped(to: 0..<count)
        let each = storedSize / UInt32(max(1, storedCount))
        return ProgressiveSample(
            offset: offset.addingSaturated(Int64(each) *| Int64(range.lowerBound)),
            decodeTime: decodeTime.addingSaturated(Int64(sampleDuration) *| Int64(range.lowerBound)),
            compositionOffset: compositionOffset,
            storedSize: each *| UInt32(clamping: range.count),
            sampleDuration: sampleDuration,
            storedCount: UInt16(clamping: range.count),
            isSync: isSync
        )
    }
}

extension Movie.Track {
    /// Returns the samples of a progressive file in decode order.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from which the movie was read; with others the result is meaningless, but the method does
    ///     not trap.
    ///   - limit: The maximum number of values; ``ProgressiveSample/maximumCount`` by default.
    /// - Returns: The samples; empty without a sample table, `nil` if there are more than the limit.
    /// - Complexity: O(*n*) in the samples.
    package func samples(
        in bytes: Span<UInt8>,
        limit: Int = ProgressiveSample.maximumCount
    ) -> [ProgressiveSample]? {
        guard let table = sampleTable else { return [] }
        var extents = SampleExtentIterator(table)
        var clock = SampleTimeIterator(table)
        var syncs = SyncSampleIterator(table)
        var samples: [ProgressiveSample] = []
        while case let left = extents.samplesLeftInChunk(bytes), left > 0 {
            let sample = extents.sample
            let decode = clock.decodeTime(of: sample, bytes)
            let presentation = clock.presentationTime(of: sample, bytes)
            let (equal, duration) = clock.equalDurationRun(from: sample, bytes)
            let count = min(left, equal, joinedSamples(table, lasting: duration))
            guard let extent = extents.advance(to: sample +| count, bytes) else { break }
            guard samples.count < limit else { return nil }
            samples.append(
                ProgressiveSample(
                    offset: extent.lowerBound,
                    decodeTime: decode,
                    compositionOffset: Int32(clamping: presentation.subtractingSaturated(decode)),
                    storedSize: UInt32(clamping: extent.upperBound -| extent.lowerBound),
                    sampleDuration: UInt32(clamping: duration),
                    storedCount: UInt16(clamping: count),
                    isSync: syncs.isSync(sample, bytes)
                )
            )
        }
        return samples
    }

    /// Returns the maximum number of samples in one value.
    ///
    /// Samples are combined only if they last at most one millisecond, because every frame of compressed audio lasts
    /// longer.
    private func joinedSamples(_ table: SampleTable, lasting duration: Int64) -> Int64 {
        guard mediaType == .audio, case .constant(let size) = table.sizes, table.compositionOffsets == nil,
            table.isEverySampleSync, duration > 0, duration *| 1_000 <= Int64(timescale)
        else { return 1 }
        let fitting = ProgressiveSample.maximumJoinedSize / Int64(max(1, size))
        return max(1, min(Int64(ProgressiveSample.maximumJoinedSampleCount), fitting))
    }
}

/// An iterator over the sync samples, which moves only forward.
private struct SyncSampleIterator {
    private let table: SampleTable
    private var entry = 0

    init(_ table: SampleTable) {
        self.table = table
    }

    /// Returns whether the sample, counted from 0, is a sync sample.
    ///
    /// The entries are sample numbers from 1; entries that do not increase are ignored.
    mutating func isSync(_ sample: Int64, _ bytes: Span<UInt8>) -> Bool {
        guard let syncs = table.syncSamples else { return true }
        while entry < syncs.count {
            let found = Int64(bytes.uint32(at: syncs.offset(of: entry))) -| 1
            if found >= sample { return found == sample }
            entry += 1
        }
        return false
    }
}

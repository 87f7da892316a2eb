import MediaTiming

/// A sample of a progressive file: where it lies and when it is decoded and presented, in units of its track.
///
/// Sound that is not coded has samples of a few bytes, tens of thousands a second. Of those, one value holds many that lie
/// behind each other and last equally long.
public struct ProgressiveSample: Sendable, Hashable {
    /// Where it begins, counted from the start of the file.
    public let offset: Int64
    /// When it is decoded, before edits.
    public let decodeTime: Int64
    fileprivate let compositionOffset: Int32
    fileprivate let storedSize: UInt32
    /// How long one of the samples lasts.
    fileprivate let sampleDuration: UInt32
    fileprivate let storedCount: UInt16
    /// Whether it can be decoded without others (`stss`).
    public let isSync: Bool

    /// A track with more of them is not listed: a day of pictures.
    public static let mostSamples = 5_000_000
    /// So many samples of sound are one value at most.
    public static let mostJoinedSamples = 8_192
    fileprivate static let mostJoinedBytes: Int64 = 1 << 20

    /// How many bytes it has.
    public var size: Int { Int(storedSize) }
    /// The first byte behind it.
    public var endOffset: Int64 { offset.addingSaturated(Int64(storedSize)) }
    /// When it is presented, before edits.
    public var presentationTime: Int64 { decodeTime.addingSaturated(Int64(compositionOffset)) }
    /// How long it lasts (`stts`).
    public var duration: Int64 { Int64(sampleDuration) *| Int64(storedCount) }
    /// How many samples it holds: 1 of all that are coded.
    public var count: Int { Int(storedCount) }

    /// How many of its samples are decoded before a time in units of the track, from 0 to ``count``.
    public func count(before time: Int64) -> Int {
        let distance = time.subtractingSaturated(decodeTime)
        guard distance > 0 else { return 0 }
        guard distance < duration else { return count }
        // The duration is above zero here.
        return Int((distance -| 1).dividedSaturated(by: Int64(sampleDuration))) + 1
    }

    /// Which of its samples lie wholly in a stretch of the file.
    public func samples(in stretch: Range<Int64>) -> Range<Int> {
        let each = Int64(storedSize / UInt32(max(1, storedCount)))
        guard each > 0 else { return 0..<count }
        let before = max(0, stretch.lowerBound.subtractingSaturated(offset))
        let until = max(0, stretch.upperBound.subtractingSaturated(offset))
        // Bounded: the size of a sample is not zero here.
        let first = min(Int64(count), before / each +| (before % each == 0 ? 0 : 1))
        // Bounded: the size of a sample is not zero here.
        return Int(first)..<Int(max(first, min(Int64(count), until / each)))
    }

    /// Some of its samples alone; what it does not have is left out.
    public func part(_ range: Range<Int>) -> ProgressiveSample {
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
    /// The samples of a progressive file in the order of decoding.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the movie was read from; others give nonsense, and no trap.
    ///   - limit: How many there may be; ``ProgressiveSample/mostSamples`` by default.
    /// - Returns: The samples; empty without a sample table, `nil` where there are more than the limit.
    /// - Complexity: O(*n*) in the samples.
    public func samples(
        in bytes: Span<UInt8>,
        atMost limit: Int = ProgressiveSample.mostSamples
    ) -> [ProgressiveSample]? {
        guard let table = sampleTable else { return [] }
        var extents = SampleExtents(table)
        var clock = SampleClock(table)
        var syncs = SyncSampleWalk(table)
        var samples: [ProgressiveSample] = []
        while case let left = extents.samplesLeftInChunk(bytes), left > 0 {
            let sample = extents.sample
            let decode = clock.decodeTime(of: sample, bytes)
            let presentation = clock.presentationTime(of: sample, bytes)
            let (equal, duration) = clock.equalSamples(from: sample, bytes)
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

    /// How many samples one value holds at most.
    ///
    /// No coded frame of sound is as short as a millisecond.
    private func joinedSamples(_ table: SampleTable, lasting duration: Int64) -> Int64 {
        guard kind == .audio, case .constant(let size) = table.sizes, table.compositionOffsets == nil,
            table.isEverySampleSync, duration > 0, duration *| 1_000 <= Int64(timescale)
        else { return 1 }
        let fitting = ProgressiveSample.mostJoinedBytes / Int64(max(1, size))
        return max(1, min(Int64(ProgressiveSample.mostJoinedSamples), fitting))
    }
}

/// Goes forwards through the sync samples; steps backwards are not possible.
private struct SyncSampleWalk {
    private let table: SampleTable
    private var entry = 0

    init(_ table: SampleTable) {
        self.table = table
    }

    /// Entries hold numbers from 1; those that do not rise are passed over.
    mutating func isSync(_ sample: Int64, _ bytes: Span<UInt8>) -> Bool {
        guard let syncs = table.syncSamples else { return true }
        while entry < syncs.count {
            let found = Int64(bytes.uint32(at: syncs.place(entry))) -| 1
            if found >= sample { return found == sample }
            entry += 1
        }
        return false
    }
}

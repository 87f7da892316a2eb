import MediaTiming

/// An iterator over the times of samples, which moves only forward.
struct SampleTimeIterator {
    private let table: SampleTable
    // The index of the current entry of `stts`, and the totals of the entries before it.
    private var entry = 0
    private var samplesBefore: Int64 = 0
    private var unitsBefore: Int64 = 0
    // The index of the current entry of `ctts`, and the number of samples before it.
    private var offsetEntry = 0
    private var samplesBeforeOffset: Int64 = 0

    init(_ table: SampleTable) {
        self.table = table
    }

    /// Returns the decode time of a sample in units of the timescale; for samples after the last one, the total
    /// duration.
    mutating func decodeTime(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        while let (count, delta) = current(bytes) {
            if sample < samplesBefore +| count {
                return unitsBefore.addingSaturated(max(0, sample -| samplesBefore).multipliedSaturated(by: delta))
            }
            advanceEntry(count: count, delta: delta)
        }
        return unitsBefore
    }

    mutating func presentationTime(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        decodeTime(of: sample, bytes).addingSaturated(compositionOffset(of: sample, bytes))
    }

    /// Returns the number of samples from the given one on that have equal duration, and that duration.
    ///
    /// After the last sample, the result is one sample with a duration of zero.
    mutating func equalDurationRun(from sample: Int64, _ bytes: Span<UInt8>) -> (count: Int64, duration: Int64) {
        while let (count, delta) = current(bytes) {
            let left = samplesBefore +| count -| sample
            if left > 0 { return (left, delta) }
            advanceEntry(count: count, delta: delta)
        }
        return (1, 0)
    }

    /// Returns the first sample whose decode time is at or after `units`, or the number of samples if there is none.
    mutating func sample(notBefore units: Int64, _ bytes: Span<UInt8>) -> Int64 {
        while let (count, delta) = current(bytes) {
            let distance = max(0, units.subtractingSaturated(unitsBefore))
            let index: Int64
            if distance == 0 {
                index = 0
            } else if delta == 0 {
                index = count
            } else {
                index = (distance -| 1).dividedSaturated(by: delta).addingSaturated(1)
            }
            if index < count { return min(samplesBefore +| index, table.sampleCount) }
            advanceEntry(count: count, delta: delta)
        }
        return table.sampleCount
    }

    private func current(_ bytes: Span<UInt8>) -> (count: Int64, delta: Int64)? {
        guard entry < table.timeToSample.count else { return nil }
        let position = table.timeToSample.offset(of: entry)
        return (Int64(bytes.uint32(at: position)), Int64(bytes.uint32(at: position + 4)))
    }

    private mutating func advanceEntry(count: Int64, delta: Int64) {
        entry += 1
        samplesBefore +|= count
        unitsBefore = unitsBefore.addingSaturated(count.multipliedSaturated(by: delta))
    }

    /// Returns the composition offset of a sample, in units of the timescale.
    ///
    /// Offsets are signed in version 1. They are read as signed in version 0 as well, because some files have negative
    /// values there.
    private mutating func compositionOffset(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        guard let offsets = table.compositionOffsets else { return 0 }
        while offsetEntry < offsets.count {
            let count = Int64(bytes.uint32(at: offsets.offset(of: offsetEntry)))
            if sample < samplesBeforeOffset +| count {
                return Int64(Int32(bitPattern: bytes.uint32(at: offsets.offset(of: offsetEntry) + 4)))
            }
            samplesBeforeOffset +|= count
            offsetEntry += 1
        }
        return 0
    }
}

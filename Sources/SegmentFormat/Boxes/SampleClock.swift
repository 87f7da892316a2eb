import MediaTiming

/// Goes forwards through the times of samples; steps backwards are not possible.
struct SampleClock {
    private let table: SampleTable
    // The entry of `stts` that is read, and what the entries before it add up to.
    private var entry = 0
    private var samplesBefore: Int64 = 0
    private var unitsBefore: Int64 = 0
    // The same of `ctts`.
    private var offsetEntry = 0
    private var samplesBeforeOffset: Int64 = 0

    init(_ table: SampleTable) {
        self.table = table
    }

    /// The decode time of a sample, in units of the track; the end of all behind the last.
    mutating func decodeTime(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        while let (count, delta) = current(bytes) {
            if sample < samplesBefore +| count {
                return unitsBefore.addingSaturated(max(0, sample -| samplesBefore).multipliedSaturated(by: delta))
            }
            step(count, delta)
        }
        return unitsBefore
    }

    mutating func presentationTime(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        decodeTime(of: sample, bytes).addingSaturated(compositionOffset(of: sample, bytes))
    }

    /// How many samples from one on last equally long, and how long each does; one of no length behind the last.
    mutating func equalSamples(from sample: Int64, _ bytes: Span<UInt8>) -> (count: Int64, duration: Int64) {
        while let (count, delta) = current(bytes) {
            let left = samplesBefore +| count -| sample
            if left > 0 { return (left, delta) }
            step(count, delta)
        }
        return (1, 0)
    }

    /// The first sample whose decode time is not before `units`; the number of samples where there is none.
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
            step(count, delta)
        }
        return table.sampleCount
    }

    private func current(_ bytes: Span<UInt8>) -> (count: Int64, delta: Int64)? {
        guard entry < table.timeToSample.count else { return nil }
        let place = table.timeToSample.place(entry)
        return (Int64(bytes.uint32(at: place)), Int64(bytes.uint32(at: place + 4)))
    }

    private mutating func step(_ count: Int64, _ delta: Int64) {
        entry += 1
        samplesBefore +|= count
        unitsBefore = unitsBefore.addingSaturated(count.multipliedSaturated(by: delta))
    }

    /// Offsets are signed in version 1; files of version 0 with a highest bit set meant the same.
    private mutating func compositionOffset(of sample: Int64, _ bytes: Span<UInt8>) -> Int64 {
        guard let offsets = table.compositionOffsets else { return 0 }
        while offsetEntry < offsets.count {
            let count = Int64(bytes.uint32(at: offsets.place(offsetEntry)))
            if sample < samplesBeforeOffset +| count {
                return Int64(Int32(bitPattern: bytes.uint32(at: offsets.place(offsetEntry) + 4)))
            }
            samplesBeforeOffset +|= count
            offsetEntry += 1
        }
        return 0
    }
}

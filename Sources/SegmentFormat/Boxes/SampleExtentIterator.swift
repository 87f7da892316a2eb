import MediaTiming

/// An iterator over the locations of samples in the file, which moves only forward.
struct SampleExtentIterator {
    private let table: SampleTable
    /// The index of the next sample, from 0.
    private(set) var sample: Int64 = 0
    private var chunk = 0
    private var sampleInChunk: Int64 = 0
    private var bytesInChunk: Int64 = 0
    // The index of the entry of `stsc` for the current chunk.
    private var entry = 0
    private(set) var lastSampleRange: Range<Int64>?

    init(_ table: SampleTable) {
        self.table = table
    }

    /// Advances to the given sample and returns the byte range that contains all samples passed; `nil` if there are
    /// none.
    mutating func advance(to target: Int64, _ bytes: Span<UInt8>) -> Range<Int64>? {
        var low = Int64.max
        var high: Int64 = 0
        let target = min(target, table.sampleCount)
        while sample < target, chunk < table.chunkOffsets.count {
            let left = samplesInChunk(bytes) -| sampleInChunk
            guard left > 0 else {
                nextChunk()
                continue
            }
            let count = min(left, target -| sample)
            let width = table.chunkOffsets.width
            let base = Int64(clamping: bytes.unsigned(width, at: table.chunkOffsets.offset(of: chunk)))
            let start = base.addingSaturated(bytesInChunk)
            let (length, last) = size(count, bytes)
            let end = start.addingSaturated(length)
            low = min(low, start)
            high = max(high, end)
            lastSampleRange = max(start, end -| last)..<end
            sample +|= count
            sampleInChunk +|= count
            bytesInChunk = bytesInChunk.addingSaturated(length)
            if count == left { nextChunk() }
        }
        return low <= high ? low..<high : nil
    }

    /// Returns the number of contiguous samples in the file from the next sample on; 0 at the end.
    mutating func samplesLeftInChunk(_ bytes: Span<UInt8>) -> Int64 {
        while sample < table.sampleCount, chunk < table.chunkOffsets.count {
            let left = samplesInChunk(bytes) -| sampleInChunk
            if left > 0 { return min(left, table.sampleCount -| sample) }
            nextChunk()
        }
        return 0
    }

    private mutating func nextChunk() {
        chunk += 1
        sampleInChunk = 0
        bytesInChunk = 0
    }

    /// Returns the number of samples in the current chunk.
    ///
    /// Each entry of `stsc` has the number of its first chunk, counted from 1, and applies until the next entry.
    private mutating func samplesInChunk(_ bytes: Span<UInt8>) -> Int64 {
        let entries = table.sampleToChunk
        while entry + 1 < entries.count, Int(bytes.uint32(at: entries.offset(of: entry + 1))) <= chunk + 1 {
            entry += 1
        }
        guard entry < entries.count else { return 0 }
        return Int64(bytes.uint32(at: entries.offset(of: entry) + 4))
    }

    /// Returns the total size of the next `count` samples and the size of the last of them, in bytes.
    private func size(_ count: Int64, _ bytes: Span<UInt8>) -> (all: Int64, last: Int64) {
        switch table.sizes {
        case .constant(let size):
            return (count.multipliedSaturated(by: Int64(size)), Int64(size))
        case .table(let start, let bits):
            var all: Int64 = 0
            var last: Int64 = 0
            for index in Int(sample)..<Int(sample +| count) {
                if bits == 4 {
                    let pair = bytes.unsigned(1, at: start + index / 2)
                    last = Int64(clamping: index % 2 == 0 ? pair >> 4 : pair & 15)
                } else {
                    last = Int64(clamping: bytes.unsigned(bits / 8, at: start + index *| (bits / 8)))
                }
                all +|= last
            }
            return (all, last)
        }
    }
}

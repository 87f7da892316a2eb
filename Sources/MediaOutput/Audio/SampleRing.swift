/// A ring buffer of samples with a fixed capacity, which allocates no memory after its creation.
struct SampleRing {
    private var storage: [Float]
    private var head = 0
    private(set) var count = 0

    /// Creates an empty buffer.
    init(capacity: Int) {
        storage = [Float](repeating: 0, count: max(1, capacity))
    }

    var capacity: Int { storage.count }

    /// Appends all of the samples or none.
    ///
    /// - Returns: `false` if there is not enough space.
    mutating func write(_ samples: [Float]) -> Bool {
        guard samples.count <= capacity - count else { return false }
        samples.withUnsafeBufferPointer { source in
            storage.withUnsafeMutableBufferPointer { storage in
                // Bounded: the ring has a capacity of at least one sample.
                let tail = (head + count) % storage.count
                let first = min(source.count, storage.count - tail)
                for index in 0..<first { storage[tail + index] = source[index] }
                for index in first..<source.count { storage[index - first] = source[index] }
            }
        }
        count += samples.count
        return true
    }

    /// Removes samples from the start.
    ///
    /// - Returns: The number of samples removed; the rest of the buffer is unchanged.
    mutating func read(into buffer: UnsafeMutableBufferPointer<Float>) -> Int {
        let taken = min(buffer.count, count)
        storage.withUnsafeBufferPointer { storage in
            let first = min(taken, storage.count - head)
            for index in 0..<first { buffer[index] = storage[head + index] }
            for index in first..<taken { buffer[index] = storage[index - first] }
        }
        // Bounded: the ring has a capacity of at least one sample.
        head = (head + taken) % storage.count
        count -= taken
        return taken
    }

    /// Removes all samples.
    mutating func removeAll() {
        head = 0
        count = 0
    }
}

/// A queue of samples of fixed size: nothing is allocated once it is made.
struct SampleRing {
    private var storage: [Float]
    private var head = 0
    private(set) var count = 0

    /// Makes an empty queue.
    init(capacity: Int) {
        storage = [Float](repeating: 0, count: max(1, capacity))
    }

    var capacity: Int { storage.count }

    /// Puts samples at the end, all or none.
    ///
    /// - Returns: Whether there was room.
    mutating func write(_ samples: [Float]) -> Bool {
        guard samples.count <= capacity - count else { return false }
        samples.withUnsafeBufferPointer { source in
            storage.withUnsafeMutableBufferPointer { storage in
                // Bounded: the ring has room for at least one sample.
                let tail = (head + count) % storage.count
                let first = min(source.count, storage.count - tail)
                for index in 0..<first { storage[tail + index] = source[index] }
                for index in first..<source.count { storage[index - first] = source[index] }
            }
        }
        count += samples.count
        return true
    }

    /// Takes samples from the beginning.
    ///
    /// - Returns: How many there were; the rest of the buffer is left as it is.
    mutating func read(into buffer: UnsafeMutableBufferPointer<Float>) -> Int {
        let taken = min(buffer.count, count)
        storage.withUnsafeBufferPointer { storage in
            let first = min(taken, storage.count - head)
            for index in 0..<first { buffer[index] = storage[head + index] }
            for index in first..<taken { buffer[index] = storage[index - first] }
        }
        // Bounded: the ring has room for at least one sample.
        head = (head + taken) % storage.count
        count -= taken
        return taken
    }

    /// Takes everything out.
    mutating func removeAll() {
        head = 0
        count = 0
    }
}

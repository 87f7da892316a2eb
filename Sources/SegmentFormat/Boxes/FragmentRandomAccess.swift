import MediaTiming

/// A table of the times and offsets of fragments, `tfra` in `mfra` at the end of a file (ISO/IEC 14496-12 §8.8.10).
struct FragmentRandomAccess {
    struct Entry {
        let time: UInt64
        let fragmentOffset: Int64
    }

    let trackID: UInt32
    let entries: [Entry]

    /// Returns the size of the whole `mfra` box, as stored in the `mfro` box in the last 16 bytes of the file.
    static func size(atEndOf bytes: Span<UInt8>) -> Int? {
        guard bytes.count >= 16, let header = BoxHeader(bytes, at: bytes.count - 16), header.type == .mfro else {
            return nil
        }
        var cursor = ByteCursor(bytes.count - 4..<bytes.count, in: bytes)
        return Int(cursor.readUInt32(bytes))
    }

    /// Returns all tables of the `mfra` box at `offset`.
    static func tables(_ bytes: Span<UInt8>, at offset: Int) -> [FragmentRandomAccess] {
        guard offset >= 0, offset < bytes.count else { return [] }
        var walker = BoxIterator(offset..<bytes.count, in: bytes)
        guard let box = walker.next(bytes), box.type == .mfra else { return [] }
        var tables: [FragmentRandomAccess] = []
        var children = BoxIterator(box.payload, in: bytes)
        while tables.count < Movie.maximumTrackCount, let child = children.next(bytes) {
            if child.type == .tfra, let table = FragmentRandomAccess(child, bytes) { tables.append(table) }
        }
        return tables
    }

    private init?(_ box: Box, _ bytes: Span<UInt8>) {
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        trackID = cursor.readUInt32(bytes)
        let lengths = cursor.readUInt32(bytes)
        let count = Int(cursor.readUInt32(bytes))
        let width = version == 1 ? 8 : 4
        let numbers = Int(lengths >> 4 & 3) + Int(lengths >> 2 & 3) + Int(lengths & 3) + 3
        guard !cursor.isPastEnd, count *| (2 *| width + numbers) <= cursor.remaining else { return nil }
        var list: [Entry] = []
        list.reserveCapacity(count)
        for _ in 0..<count {
            let time = cursor.readUnsigned(width, bytes)
            guard let position = Int64(exactly: cursor.readUnsigned(width, bytes)) else { return nil }
            cursor.skip(numbers)
            list.append(Entry(time: time, fragmentOffset: position))
        }
        entries = list
    }
}

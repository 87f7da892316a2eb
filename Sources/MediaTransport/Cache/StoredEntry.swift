import MediaTiming
import NIOCore

/// An entry that is open for reading; it can still be read after it is removed from the cache.
struct StoredEntry: Sendable {
    let file: EntryFile
    let disk: DiskFile
    var tail: EntryTail

    var metadata: EntryMetadata { tail.metadata }

    /// Returns the bytes of a range up to the end of the first block; `nil` if the file is damaged.
    ///
    /// This method blocks.
    func bytes(from start: Int64, to end: Int64) -> ByteBuffer? {
        let size = Int64(EntryTail.blockSize)
        // Bounded: the block size is a positive constant.
        let index = start / size
        let blockStart = index *| size
        let length = Int(min(size, tail.bodyLength -| blockStart))
        guard let position = Int(exactly: index), tail.blockChecksums.indices.contains(position),
            let block = disk.read(at: blockStart, count: length),
            block.withUnsafeReadableBytes({ BlockChecksum.of($0) }) == tail.blockChecksums[position]
        else { return nil }
        let offset = Int(start -| blockStart)
        return block.getSlice(at: block.readerIndex + offset, length: min(length - offset, Int(clamping: end -| start)))
    }
}

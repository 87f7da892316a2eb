import MediaTiming
import NIOCore

/// An entry that is open for reading; removing it meanwhile does no harm.
struct StoredEntry: Sendable {
    let file: EntryFile
    let disk: DiskFile
    var tail: EntryTail

    var metadata: EntryMetadata { tail.metadata }

    /// The bytes of one block that lie in a stretch of the body; `nil` where the file is damaged.
    ///
    /// This blocks.
    func bytes(from start: Int64, to end: Int64) -> ByteBuffer? {
        let size = Int64(EntryTail.blockSize)
        // Bounded: a block is larger than nothing.
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

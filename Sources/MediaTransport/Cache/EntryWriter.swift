import MediaTiming
import NIOCore
import NIOPosix

/// A writer that stores a body in the cache while it is being read; its errors do not affect the reader.
///
/// The body is written in whole blocks, and the rest of it at the end. If the writer is deallocated before
/// ``finish()``, its file is removed.
final class EntryWriter: @unchecked Sendable {
    // Safe: one iterator holds the writer, and each call ends before the next begins.
    private let folder: EntryFolder
    private let file: EntryFile
    private let metadata: EntryMetadata
    /// The expected length of the body in bytes; `nil` if it was not announced.
    private let announcedLength: Int64?
    /// The ``EntryFolder/generation`` when the writer was created.
    private let generation: Int
    private var disk: DiskFile?
    private var isFinished = false
    /// The bytes that do not fill a block yet.
    private var pending = ByteBuffer()
    private var blockChecksums: [UInt64] = []
    private var writtenLength: Int64 = 0
    private var reserved: Int64 = 0

    /// Creates a writer for the body of a response.
    init(_ metadata: EntryMetadata, announcedLength: Int64?, in folder: EntryFolder) {
        self.folder = folder
        self.metadata = metadata
        self.announcedLength = announcedLength
        file = EntryFile(name: metadata.key.name)
        generation = folder.generation
    }

    deinit { discard() }

    /// Appends the next bytes of the body.
    func append(_ buffer: ByteBuffer) async {
        guard !isFinished else { return }
        let length = writtenLength +| Int64(pending.readableBytes) +| Int64(buffer.readableBytes)
        guard length <= min(folder.maximumEntrySize, announcedLength ?? .max) else { return discard() }
        pending.writeImmutableBuffer(buffer)
        guard pending.readableBytes >= EntryTail.blockSize else { return }
        let isWritten = await folder.perform { self.writeBlocks(atLeast: EntryTail.blockSize) }
        if isWritten != true { discard() }
    }

    /// Adds the entry to the cache if the body has the announced length; otherwise discards it.
    func finish() async {
        guard !isFinished else { return }
        let length = writtenLength +| Int64(pending.readableBytes)
        guard announcedLength == nil || announcedLength == length else { return discard() }
        let isPublished = await folder.perform { self.writeBlocks(atLeast: 1) && self.publish() }
        if isPublished == true { (isFinished, disk) = (true, nil) } else { discard() }
    }

    /// Stops writing and removes the file.
    func discard() {
        guard !isFinished else { return }
        isFinished = true
        pending = ByteBuffer()
        guard disk != nil || reserved > 0 else { return }
        disk = nil
        let (folder, file, reserved) = (folder, file, reserved)
        folder.pool.submit { _ in folder.discard(file, reserved: reserved) }
    }

    // MARK: On a thread that may block

    private func writeBlocks(atLeast least: Int) -> Bool {
        while pending.readableBytes >= least {
            guard let block = pending.readSlice(length: min(pending.readableBytes, EntryTail.blockSize)),
                write(block, at: writtenLength)
            else { return false }
            blockChecksums.append(block.withUnsafeReadableBytes { BlockChecksum.of($0) })
            writtenLength +|= Int64(block.readableBytes)
        }
        pending.discardReadBytes()
        return true
    }

    private func publish() -> Bool {
        let tail = EntryTail(bodyLength: writtenLength, blockChecksums: blockChecksums, metadata: metadata)
        guard let bytes = tail.encoded(), write(bytes, at: writtenLength), let disk else { return false }
        return folder.publish(file, disk, size: reserved, generation: generation)
    }

    private func write(_ bytes: ByteBuffer, at offset: Int64) -> Bool {
        let growth = EntryIndex.diskSpace(for: offset +| Int64(bytes.readableBytes)) -| reserved
        guard folder.reserve(growth) else { return false }
        reserved +|= growth
        if disk == nil { disk = folder.createFile(file) }
        return disk?.write(bytes, at: offset) ?? false
    }
}

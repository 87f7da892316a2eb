import MediaTiming
import NIOCore
import NIOPosix

/// Writes one body to the folder while somebody else reads it, who notices nothing of what goes wrong.
///
/// Nothing is written before there is a whole block, or the end. Where it is let go before the end, nothing is left.
final class EntryWriter: @unchecked Sendable {
    // Safe: one iterator holds it, and each call ends before the next begins.
    private let folder: EntryFolder
    private let file: EntryFile
    private let metadata: EntryMetadata
    /// How long the body has to be; `nil` where nobody said.
    private let announcedLength: Int64?
    /// When it began, by how often everything was removed.
    private let generation: Int
    private var disk: DiskFile?
    private var isOver = false
    /// Bytes that are no whole block yet.
    private var pending = ByteBuffer()
    private var blockChecksums: [UInt64] = []
    private var writtenLength: Int64 = 0
    private var reserved: Int64 = 0

    /// Makes a writer for the body of a response.
    init(_ metadata: EntryMetadata, announcedLength: Int64?, in folder: EntryFolder) {
        self.folder = folder
        self.metadata = metadata
        self.announcedLength = announcedLength
        file = EntryFile(name: metadata.key.name)
        generation = folder.generation
    }

    deinit { giveUp() }

    /// Takes the next bytes.
    func append(_ buffer: ByteBuffer) async {
        guard !isOver else { return }
        let length = writtenLength +| Int64(pending.readableBytes) +| Int64(buffer.readableBytes)
        guard length <= min(folder.largestEntry, announcedLength ?? .max) else { return giveUp() }
        pending.writeImmutableBuffer(buffer)
        guard pending.readableBytes >= EntryTail.blockSize else { return }
        let isWritten = await folder.perform { self.writeBlocks(atLeast: EntryTail.blockSize) }
        if isWritten != true { giveUp() }
    }

    /// Makes an entry of the bytes, if they are all.
    func finish() async {
        guard !isOver else { return }
        let length = writtenLength +| Int64(pending.readableBytes)
        guard announcedLength == nil || announcedLength == length else { return giveUp() }
        let isPublished = await folder.perform { self.writeBlocks(atLeast: 1) && self.publish() }
        if isPublished == true { (isOver, disk) = (true, nil) } else { giveUp() }
    }

    /// Leaves nothing behind.
    func giveUp() {
        guard !isOver else { return }
        isOver = true
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
        let growth = EntryIndex.room(offset +| Int64(bytes.readableBytes)) -| reserved
        guard folder.reserve(growth) else { return false }
        reserved +|= growth
        if disk == nil { disk = folder.make(file) }
        return disk?.write(bytes, at: offset) ?? false
    }
}

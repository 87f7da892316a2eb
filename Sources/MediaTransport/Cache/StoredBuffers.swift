import MediaTiming
import NIOCore

/// The body of an entry, or a byte range of it; each block is verified before it is returned.
struct StoredBuffers: AsyncSequence, Sendable {
    let entry: StoredEntry
    let range: ByteRange
    /// The bytes of the first block, which are already read and verified.
    let firstBytes: ByteBuffer
    let folder: EntryFolder

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffers: StoredBuffers
        var position: Int64

        mutating func next() async throws -> ByteBuffer? {
            try Task.checkCancellation()
            let (start, end) = (position, buffers.range.end)
            guard start < end else { return nil }
            let bytes = start == buffers.range.start ? buffers.firstBytes : await read(from: start, to: end)
            guard let bytes, bytes.readableBytes > 0 else {
                throw TransportError(
                    .connectionLost,
                    "the cached copy was damaged and has been removed; send the request again",
                    address: buffers.entry.metadata.address
                )
            }
            position +|= Int64(bytes.readableBytes)
            return bytes
        }

        private func read(from start: Int64, to end: Int64) async -> ByteBuffer? {
            let (entry, folder) = (buffers.entry, buffers.folder)
            return await folder.perform {
                let bytes = entry.bytes(from: start, to: end)
                if bytes == nil { folder.drop(entry.file) }
                return bytes
            } ?? nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffers: self, position: range.start) }
}

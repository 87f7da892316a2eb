import NIOCore

/// A body that is stored in the cache while it is read; the entry is added when the body is read to its end.
struct StoringBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let metadata: EntryMetadata
    let announcedLength: Int64?
    let folder: EntryFolder

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let writer: EntryWriter

        mutating func next() async throws -> ByteBuffer? {
            do {
                guard let buffer = try await iterator.next() else {
                    await writer.finish()
                    return nil
                }
                await writer.append(buffer)
                return buffer
            } catch {
                writer.discard()
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            iterator: body.makeAsyncIterator(),
            writer: EntryWriter(metadata, announcedLength: announcedLength, in: folder)
        )
    }
}

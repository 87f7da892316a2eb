import MediaTiming
import NIOCore

/// What stands behind the body in a file of the cache: a checksum for each block of it, the metadata, and a trailer.
///
/// The body comes first, so that it can be written before its length is known, and stays where it is when the metadata
/// are written anew.
struct EntryTail: Sendable {
    /// The body is checked in pieces of this many bytes, so that a range can be checked without the rest.
    static let blockSize = 64 << 10
    /// Metadata that take more bytes are not kept.
    static let longestMetadata = 256 << 10

    let bodyLength: Int64
    let blockChecksums: [UInt64]
    var metadata: EntryMetadata

    /// Writes it down; `nil` where the metadata are too long.
    func encoded() -> ByteBuffer? {
        let metadataBytes = metadata.encoded()
        guard metadataBytes.readableBytes <= Self.longestMetadata else { return nil }
        var buffer = ByteBuffer()
        for checksum in blockChecksums { buffer.writeInteger(checksum) }
        buffer.writeImmutableBuffer(metadataBytes)
        buffer.writeInteger(Int64(metadataBytes.readableBytes))
        buffer.writeInteger(bodyLength)
        buffer.writeInteger(Self.checksum(buffer.readableBytesView))
        buffer.writeInteger(Trailer.mark)
        return buffer
    }

    /// Reads the tail of a file; `nil` where the file is none of ours, or damaged.
    init?(of file: DiskFile) {
        guard let size = file.size, let trailer = Trailer(of: file, size: size),
            var buffer = file.read(at: trailer.bodyLength, count: Int(size -| trailer.bodyLength))
        else { return nil }
        let checked = buffer.readableBytesView.dropLast(Trailer.uncheckedLength)
        guard Self.checksum(checked) == trailer.checksum else { return nil }
        var checksums: [UInt64] = []
        for _ in 0..<Self.blockCount(trailer.bodyLength) {
            guard let checksum = buffer.readInteger(as: UInt64.self) else { return nil }
            checksums.append(checksum)
        }
        guard let metadataBytes = buffer.readSlice(length: trailer.metadataLength),
            let metadata = EntryMetadata(metadataBytes)
        else { return nil }
        self.init(bodyLength: trailer.bodyLength, blockChecksums: checksums, metadata: metadata)
    }

    /// Makes a tail.
    init(bodyLength: Int64, blockChecksums: [UInt64], metadata: EntryMetadata) {
        self.bodyLength = bodyLength
        self.blockChecksums = blockChecksums
        self.metadata = metadata
    }

    /// Whether a file looks whole, by its last bytes and its size; the rest of it is checked when it is read.
    static func isWhole(_ file: DiskFile) -> Bool {
        guard let size = file.size else { return false }
        return Trailer(of: file, size: size) != nil
    }

    fileprivate static func blockCount(_ bodyLength: Int64) -> Int64 {
        // Bounded: a block is larger than nothing.
        bodyLength / Int64(blockSize) +| (bodyLength % Int64(blockSize) == 0 ? 0 : 1)
    }

    private static func checksum(_ bytes: ByteBufferView) -> UInt64 {
        bytes.withUnsafeBytes { BlockChecksum.of($0) }
    }
}

/// The last bytes of a file.
private struct Trailer {
    static let mark: UInt64 = 0x6D6C_7374_6361_0001
    /// The checksum and the mark.
    static let uncheckedLength = 16
    private static let length = 32

    let metadataLength: Int
    let bodyLength: Int64
    let checksum: UInt64

    /// Reads it; `nil` where the figures do not make up the size of the file.
    init?(of file: DiskFile, size: Int64) {
        guard size >= Self.length, var buffer = file.read(at: size -| Int64(Self.length), count: Self.length),
            let metadataLength = buffer.readInteger(as: Int64.self),
            let bodyLength = buffer.readInteger(as: Int64.self),
            let checksum = buffer.readInteger(as: UInt64.self), buffer.readInteger(as: UInt64.self) == Self.mark,
            (0...Int64(EntryTail.longestMetadata)).contains(metadataLength), (0...size).contains(bodyLength)
        else { return nil }
        let checksumBytes = EntryTail.blockCount(bodyLength) *| 8
        guard size -| bodyLength -| Int64(Self.length) == checksumBytes +| metadataLength else { return nil }
        self.metadataLength = Int(metadataLength)
        self.bodyLength = bodyLength
        self.checksum = checksum
    }
}

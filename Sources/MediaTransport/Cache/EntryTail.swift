import MediaTiming
import NIOCore

/// The part of a cache file after the body: a checksum for each block of the body, the metadata, and a trailer.
///
/// The body comes first, so that it can be written before its length is known and does not move when the metadata is
/// rewritten.
struct EntryTail: Sendable {
    /// The size of a block with its own checksum, in bytes; a byte range can be verified without the rest of the body.
    static let blockSize = 64 << 10
    /// The maximum size of the metadata in bytes; larger responses are not stored.
    static let maximumMetadataSize = 256 << 10

    let bodyLength: Int64
    let blockChecksums: [UInt64]
    var metadata: EntryMetadata

    /// Returns the serialized tail; `nil` if the metadata is too large.
    func encoded() -> ByteBuffer? {
        let metadataBytes = metadata.encoded()
        guard metadataBytes.readableBytes <= Self.maximumMetadataSize else { return nil }
        var buffer = ByteBuffer()
        for checksum in blockChecksums { buffer.writeInteger(checksum) }
        buffer.writeImmutableBuffer(metadataBytes)
        buffer.writeInteger(Int64(metadataBytes.readableBytes))
        buffer.writeInteger(bodyLength)
        buffer.writeInteger(Self.checksum(buffer.readableBytesView))
        buffer.writeInteger(Trailer.mark)
        return buffer
    }

    /// Creates a tail from a file; `nil` if the file is not a cache file or is damaged.
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

    /// Creates a tail.
    init(bodyLength: Int64, blockChecksums: [UInt64], metadata: EntryMetadata) {
        self.bodyLength = bodyLength
        self.blockChecksums = blockChecksums
        self.metadata = metadata
    }

    /// Returns a Boolean value that indicates whether the trailer of a file is consistent with its size; the rest of
    /// the file is verified when it is read.
    static func isComplete(_ file: DiskFile) -> Bool {
        guard let size = file.size else { return false }
        return Trailer(of: file, size: size) != nil
    }

    fileprivate static func blockCount(_ bodyLength: Int64) -> Int64 {
        // Bounded: the block size is a positive constant.
        bodyLength / Int64(blockSize) +| (bodyLength % Int64(blockSize) == 0 ? 0 : 1)
    }

    private static func checksum(_ bytes: ByteBufferView) -> UInt64 {
        bytes.withUnsafeBytes { BlockChecksum.of($0) }
    }
}

/// The last bytes of a cache file: two lengths, a checksum, and a format mark.
private struct Trailer {
    static let mark: UInt64 = 0x6D6C_7374_6361_0001
    /// The size of the checksum and the mark in bytes; the checksum does not cover them.
    static let uncheckedLength = 16
    private static let length = 32

    let metadataLength: Int
    let bodyLength: Int64
    let checksum: UInt64

    /// Creates a trailer from a file; `nil` if its lengths do not add up to the size of the file.
    init?(of file: DiskFile, size: Int64) {
        guard size >= Self.length, var buffer = file.read(at: size -| Int64(Self.length), count: Self.length),
            let metadataLength = buffer.readInteger(as: Int64.self),
            let bodyLength = buffer.readInteger(as: Int64.self),
            let checksum = buffer.readInteger(as: UInt64.self), buffer.readInteger(as: UInt64.self) == Self.mark,
            (0...Int64(EntryTail.maximumMetadataSize)).contains(metadataLength), (0...size).contains(bodyLength)
        else { return nil }
        let checksumBytes = EntryTail.blockCount(bodyLength) *| 8
        guard size -| bodyLength -| Int64(Self.length) == checksumBytes +| metadataLength else { return nil }
        self.metadataLength = Int(metadataLength)
        self.bodyLength = bodyLength
        self.checksum = checksum
    }
}

import MediaTiming
import SegmentFormat

/// The encryption parameters of the samples of a fragment, read in order (ISO/IEC 23001-7 §7).
struct SampleEncryptionReader {
    /// The length of the initialization vector of each sample, in bytes; 0 if all samples share one.
    var initializationVectorSize = 0

    /// The maximum number of bytes to read from a list that `saio` locates, which may be anywhere in the segment.
    var maximumSize = Int.max
    /// The number of bytes read so far.
    private(set) var readSize = 0
    private var entries: ByteCursor?
    private var entrySizes: ByteCursor?
    /// The size of each entry, in bytes; 0 if ``entrySizes`` lists the sizes.
    private var commonEntrySize = 0
    private var hasSubsamples = false
    private var remainingCount = 0

    /// Returns the encryption parameters of the next sample; `nil` if they are missing.
    mutating func next(_ bytes: Span<UInt8>) -> SampleEncryption? {
        guard var entries, remainingCount > 0 else {
            // Samples that share one vector, as audio often does, need no entries.
            return initializationVectorSize == 0 ? SampleEncryption(vector: [], subsamples: []) : nil
        }
        remainingCount -= 1
        if var entrySizes {
            let size = commonEntrySize > 0 ? commonEntrySize : Int(entrySizes.readUInt8(bytes))
            guard !entrySizes.isPastEnd else { return nil }
            hasSubsamples = size > initializationVectorSize
            self.entrySizes = entrySizes
        }
        let start = entries.offset
        let vector = entries.readBytes(initializationVectorSize, bytes)
        var subsamples: [SampleEncryption.Subsample] = []
        if hasSubsamples {
            for _ in 0..<entries.readUInt16(bytes) where !entries.isPastEnd {
                let clear = Int(entries.readUInt16(bytes))
                subsamples.append(SampleEncryption.Subsample(clear: clear, encrypted: Int(entries.readUInt32(bytes))))
            }
        }
        readSize += entries.offset - start
        self.entries = entries
        return entries.isPastEnd ? nil : SampleEncryption(vector: vector, subsamples: subsamples)
    }

    /// Reads a `senc` box.
    mutating func readSenc(_ box: Box, _ bytes: Span<UInt8>) {
        var (_, flags, cursor) = box.fullBoxFields(in: bytes)
        hasSubsamples = flags & 2 != 0
        remainingCount = Int(cursor.readUInt32(bytes))
        entries = cursor
    }

    /// Reads `saiz` and `saio`, whose offsets are relative to the movie fragment.
    mutating func readSaiz(_ sizeBox: Box, saio offsetBox: Box, moof: Box, bytes: Span<UInt8>) {
        var (_, sizeFlags, sizes) = sizeBox.fullBoxFields(in: bytes)
        if sizeFlags & 1 != 0 { sizes.skip(8) }
        commonEntrySize = Int(sizes.readUInt8(bytes))
        let count = Int(sizes.readUInt32(bytes))
        var (version, offsetFlags, positions) = offsetBox.fullBoxFields(in: bytes)
        if offsetFlags & 1 != 0 { positions.skip(8) }
        guard positions.readUInt32(bytes) > 0 else { return }
        let offset = Int(clamping: positions.readUnsigned(version == 1 ? 8 : 4, bytes))
        let origin = moof.range.lowerBound
        guard !positions.isPastEnd, !sizes.isPastEnd, offset < bytes.count - origin else { return }
        let start = origin + offset
        entries = ByteCursor(start..<start + min(bytes.count - start, maximumSize), in: bytes)
        self.entrySizes = sizes
        remainingCount = count
    }
}

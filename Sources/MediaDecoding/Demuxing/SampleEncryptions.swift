import MediaTiming
import SegmentFormat

/// The encryption parameters of the samples of a fragment, read in order (ISO/IEC 23001-7 §7).
struct SampleEncryptions {
    /// The length of the initialization vector of each sample, in bytes; 0 if all samples share one.
    var vectorLength = 0

    /// The maximum number of bytes to read from a list that `saio` locates, which may be anywhere in the segment.
    var mostBytes = Int.max
    /// The number of bytes read so far.
    private(set) var bytesRead = 0
    private var entries: ByteCursor?
    private var sizes: ByteCursor?
    /// The size of each entry, in bytes; 0 if ``sizes`` lists the sizes.
    private var commonSize = 0
    private var hasSubsamples = false
    private var left = 0

    /// Returns the encryption parameters of the next sample; `nil` if they are missing.
    mutating func next(_ bytes: Span<UInt8>) -> SampleEncryption? {
        guard var entries, left > 0 else {
            // Samples that share one vector, as audio often does, need no entries.
            return vectorLength == 0 ? SampleEncryption(vector: [], subsamples: []) : nil
        }
        left -= 1
        if var sizes {
            let size = commonSize > 0 ? commonSize : Int(sizes.uint8(bytes))
            guard !sizes.isPastEnd else { return nil }
            hasSubsamples = size > vectorLength
            self.sizes = sizes
        }
        let start = entries.offset
        let vector = entries.array(vectorLength, bytes)
        var subsamples: [SampleEncryption.Subsample] = []
        if hasSubsamples {
            for _ in 0..<entries.uint16(bytes) where !entries.isPastEnd {
                let clear = Int(entries.uint16(bytes))
                subsamples.append(SampleEncryption.Subsample(clear: clear, encrypted: Int(entries.uint32(bytes))))
            }
        }
        bytesRead += entries.offset - start
        self.entries = entries
        return entries.isPastEnd ? nil : SampleEncryption(vector: vector, subsamples: subsamples)
    }

    /// Reads a `senc` box.
    mutating func read(_ box: Box, _ bytes: Span<UInt8>) {
        var (_, flags, cursor) = box.fields(bytes)
        hasSubsamples = flags & 2 != 0
        left = Int(cursor.uint32(bytes))
        entries = cursor
    }

    /// Reads `saiz` and `saio`, whose offsets are relative to the movie fragment.
    mutating func read(sizes sizeBox: Box, places placeBox: Box, in moof: Box, _ bytes: Span<UInt8>) {
        var (_, sizeFlags, sizes) = sizeBox.fields(bytes)
        if sizeFlags & 1 != 0 { sizes.skip(8) }
        commonSize = Int(sizes.uint8(bytes))
        let count = Int(sizes.uint32(bytes))
        var (version, placeFlags, places) = placeBox.fields(bytes)
        if placeFlags & 1 != 0 { places.skip(8) }
        guard places.uint32(bytes) > 0 else { return }
        let offset = Int(clamping: places.unsigned(version == 1 ? 8 : 4, bytes))
        let origin = moof.range.lowerBound
        guard !places.isPastEnd, !sizes.isPastEnd, offset < bytes.count - origin else { return }
        let start = origin + offset
        entries = ByteCursor(start..<start + min(bytes.count - start, mostBytes), in: bytes)
        self.sizes = sizes
        left = count
    }
}

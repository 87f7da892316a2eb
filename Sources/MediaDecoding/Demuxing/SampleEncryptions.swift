import MediaTiming

/// What a fragment says about the encryption of its samples, one after the other (ISO/IEC 23001-7 §7).
struct SampleEncryptions {
    /// Bytes of the vector that each sample has; 0 where all have the same.
    var vectorLength = 0

    /// The maximum number of bytes that are read of a list that lies anywhere in the segment.
    var mostBytes = Int.max
    /// The number of bytes that were read.
    private(set) var bytesRead = 0
    private var reader: FieldReader?
    private var sizes: FieldReader?
    /// The size of each entry; 0 where ``sizes`` lists them.
    private var commonSize = 0
    private var hasSubsamples = false
    private var left = 0

    /// What is said of the next sample; `nil` where that is missing.
    mutating func next() -> SampleEncryption? {
        guard var reader, left > 0 else {
            // Sound with the vector of all needs nothing for each sample.
            return vectorLength == 0 ? SampleEncryption(vector: [], subsamples: []) : nil
        }
        left -= 1
        if var sizes {
            let size = commonSize > 0 ? commonSize : sizes.uint8()
            guard !sizes.isPastEnd else { return nil }
            hasSubsamples = size > vectorLength
            self.sizes = sizes
        }
        let start = reader.offset
        let vector = reader.array(vectorLength)
        var subsamples: [SampleEncryption.Subsample] = []
        if hasSubsamples {
            for _ in 0..<reader.uint16() where !reader.isPastEnd {
                let clear = reader.uint16()
                subsamples.append(SampleEncryption.Subsample(clear: clear, encrypted: Int(reader.uint32())))
            }
        }
        bytesRead += reader.offset - start
        self.reader = reader
        return reader.isPastEnd ? nil : SampleEncryption(vector: vector, subsamples: subsamples)
    }

    /// Takes `senc`.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ box: BoxPlace) {
        var reader = FieldReader(bytes, box.payload)
        hasSubsamples = reader.uint32() & 2 != 0
        left = Int(reader.uint32())
        self.reader = reader
    }

    /// Takes `saiz` and `saio`, whose offsets count from the `moof`.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ sizeBox: BoxPlace, _ placeBox: BoxPlace, _ moof: BoxPlace) {
        var sizes = FieldReader(bytes, sizeBox.payload)
        if sizes.uint32() & 1 != 0 { sizes.skip(8) }
        commonSize = sizes.uint8()
        let count = Int(sizes.uint32())
        var places = FieldReader(bytes, placeBox.payload)
        let version = places.uint8()
        if places.unsigned(3) & 1 != 0 { places.skip(8) }
        guard places.uint32() > 0 else { return }
        let offset = Int(clamping: places.unsigned(version == 1 ? 8 : 4))
        guard !places.isPastEnd, !sizes.isPastEnd, offset < bytes.count - moof.start else { return }
        let start = moof.start + offset
        reader = FieldReader(bytes, start..<start + min(bytes.count - start, mostBytes))
        self.sizes = sizes
        left = count
    }
}

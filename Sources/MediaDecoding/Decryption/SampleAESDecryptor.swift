import MediaTiming

/// A decryptor for samples of transport streams and packed audio that are encrypted with SAMPLE-AES.
///
/// The rules are those of Apple's "MPEG-2 Stream Encryption Format for HTTP Live Streaming".
struct SampleAESDecryptor {
    /// The codecs whose samples can be encrypted.
    enum Codec { case h264, aac, ac3 }

    /// The number of clear bytes before the first encrypted block of an audio frame: after the ADTS header for AAC,
    /// from the start of the frame for AC-3.
    static let audioClearLeadSize = 16
    /// The number of clear bytes before the first encrypted block of a NAL unit, including the type byte.
    static let nalUnitClearLeadSize = 32
    /// The maximum length of a NAL unit that is not encrypted, in bytes.
    static let maximumClearNALUnitSize = 48
    /// The number of clear bytes after each encrypted block of a NAL unit.
    static let nalUnitClearRunSize = 144

    private let cipher: BlockCipher
    private let vector: [UInt8]

    init(_ key: SampleKey) throws(DecodingError) {
        guard let vector = key.initializationVector else {
            throw DecodingError(status: .encrypted, operation: "SAMPLE-AES requires an initialization vector")
        }
        cipher = try BlockCipher(key: key.key)
        self.vector = vector
    }

    /// Returns the decrypted sample; the bytes are unchanged if none of them are encrypted.
    func decrypt(_ sample: UnsafeRawBufferPointer, codec coding: Codec) -> [UInt8] {
        switch coding {
        case .h264: unsafe decryptVideo(sample)
        case .aac, .ac3: unsafe decryptAudio(sample, codec: coding)
        }
    }
}

// MARK: Audio

extension SampleAESDecryptor {
    private func decryptAudio(_ sample: UnsafeRawBufferPointer, codec coding: Codec) -> [UInt8] {
        var bytes = unsafe Array(sample)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var start = 0
            while start < bytes.count {
                guard let (header, length) = unsafe Self.audioFrameLayout(bytes, at: start, codec: coding) else {
                    return
                }
                let end = min(bytes.count, start + length)
                let first = start + header + Self.audioClearLeadSize
                if first < end {
                    var chain = vector
                    let whole = (end - first) / BlockCipher.blockLength * BlockCipher.blockLength
                    unsafe cipher.decryptCBC(
                        UnsafeMutableRawBufferPointer(rebasing: bytes[first..<first + whole]),
                        vector: &chain
                    )
                }
                start = end
            }
        }
        return bytes
    }

    /// Returns the length of the clear header of an audio frame and the length of the whole frame, in bytes; `nil` if
    /// there is no frame at the offset.
    private static func audioFrameLayout(
        _ bytes: UnsafeMutableRawBufferPointer,
        at start: Int,
        codec coding: Codec
    ) -> (header: Int, length: Int)? {
        guard bytes.count - start >= 7 else { return nil }
        switch coding {
        case .aac:
            guard unsafe bytes[start] == 0xFF, unsafe bytes[start + 1] & 0xF6 == 0xF0 else { return nil }
            let length =
                unsafe Int(bytes[start + 3] & 3) << 11 | Int(bytes[start + 4]) << 3 | Int(bytes[start + 5]) >> 5
            let header = unsafe bytes[start + 1] & 1 == 0 ? 9 : 7
            return length > header ? (header, length) : nil
        case .ac3:
            guard unsafe bytes[start] == 0x0B, unsafe bytes[start + 1] == 0x77 else { return nil }
            // Enhanced AC-3 frames declare their length. AC-3 frames do not, but a packet contains only one of them.
            guard unsafe bytes[start + 5] >> 3 > 10 else { return (0, bytes.count - start) }
            let words = unsafe Int(bytes[start + 2] & 7) << 8 | Int(bytes[start + 3])
            return (0, (words + 1) * 2)
        case .h264:
            return nil
        }
    }
}

// MARK: Video

extension SampleAESDecryptor {
    private func decryptVideo(_ sample: UnsafeRawBufferPointer) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(sample.count)
        var start = unsafe Self.startCode(sample, from: 0)
        unsafe output.append(contentsOf: sample[0..<(start?.end ?? sample.count)])
        while let unit = start {
            let next = unsafe Self.startCode(sample, from: unit.end)
            let range = unsafe UnsafeRawBufferPointer(rebasing: sample[unit.end..<(next?.start ?? sample.count)])
            let type = unsafe range.first.map { $0 & 0x1F } ?? 0
            if range.count > Self.maximumClearNALUnitSize, type == 1 || type == 5 {
                unsafe output.append(contentsOf: decryptNALUnit(range))
            } else {
                unsafe output.append(contentsOf: range)
            }
            if let next { unsafe output.append(contentsOf: sample[next.start..<next.end]) }
            start = next
        }
        return output
    }

    private func decryptNALUnit(_ unit: UnsafeRawBufferPointer) -> [UInt8] {
        // Encryption adds emulation prevention bytes on top of the original ones; only the added ones are removed here.
        var bytes = unsafe Self.removingEmulationPrevention(from: unit)
        unsafe bytes.withUnsafeMutableBytes { bytes in
            var chain = vector
            var offset = Self.nalUnitClearLeadSize
            while bytes.count - offset > BlockCipher.blockLength {
                let block = unsafe bytes[offset..<offset + BlockCipher.blockLength]
                unsafe cipher.decryptCBC(UnsafeMutableRawBufferPointer(rebasing: block), vector: &chain)
                offset += BlockCipher.blockLength + Self.nalUnitClearRunSize
            }
        }
        return bytes
    }

    static func removingEmulationPrevention(from unit: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(unit.count)
        var zeros = 0
        for index in unit.indices {
            let byte = unsafe unit[index]
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }

    /// Returns the range of the next start code, including a zero byte directly before it.
    private static func startCode(_ bytes: UnsafeRawBufferPointer, from offset: Int) -> (start: Int, end: Int)? {
        var index = offset
        while index + 2 < bytes.count {
            if unsafe bytes[index + 2] > 1 {
                index += 3
            } else if unsafe bytes[index] == 0, unsafe bytes[index + 1] == 0, unsafe bytes[index + 2] == 1 {
                let start = unsafe index > offset && bytes[index - 1] == 0 ? index - 1 : index
                return (start, index + 3)
            } else {
                index += 1
            }
        }
        return nil
    }
}

import MediaTiming

/// A sample entry of `stsd`, which describes the coding of a track's samples (ISO/IEC 14496-12 §8.5.2).
package struct SampleEntry: Sendable, Hashable {
    /// The type of the entry as stored, such as `encv` or `enca` for encrypted samples.
    package let codingName: FourCharacterCode
    /// The type of the entry without encryption (`frma`).
    package let format: FourCharacterCode
    /// The codec string according to RFC 6381, such as `avc1.64001f` or `mp4a.40.2`; only the format if no details are
    /// stored.
    package let codec: String
    /// The width of the video, in pixels; `nil` for other tracks.
    package let width: Int?
    /// The height of the video, in pixels; `nil` for other tracks.
    package let height: Int?
    /// The number of audio channels in the codec-specific box, or else in the entry.
    package let channelCount: Int?
    /// The audio sample rate in the codec-specific box, or else in the entry, in hertz.
    package let sampleRate: Int?
    /// The encryption of the samples; `nil` if they are not encrypted.
    package let protection: SampleProtection?

    /// The maximum number of entries that are read from `stsd`.
    package static let maximumCount = 32
}

/// The encryption of samples: `sinf` (ISO/IEC 14496-12 §8.12, ISO/IEC 23001-7 §8.2).
package struct SampleProtection: Sendable, Hashable {
    /// The protection scheme: `cenc`, `cens`, `cbc1` or `cbcs`; `nil` if `schm` is missing.
    package let scheme: FourCharacterCode?
    /// The default key ID, 16 bytes, which applies to samples without a key ID of their own; `nil` if `tenc` is
    /// missing.
    package let defaultKeyIdentifier: [UInt8]?
    /// A Boolean value that indicates whether samples are encrypted unless a group of them says otherwise; `true` if `tenc` is
    /// missing.
    package let isProtectedByDefault: Bool
    /// The size of each sample's initialization vector in bytes: 0, 8 or 16; with 0, ``constantInitializationVector`` applies.
    package let initializationVectorSize: UInt8
    /// The constant initialization vector of all samples; empty if each sample has its own.
    package let constantInitializationVector: [UInt8]
    /// The pattern of encrypted and unencrypted blocks of 16 bytes; `nil` if all blocks are encrypted.
    package let pattern: Pattern?

    /// A repeating pattern of encrypted and unencrypted blocks (ISO/IEC 23001-7 §9.6).
    package struct Pattern: Sendable, Hashable {
        /// The number of consecutive encrypted blocks.
        package let encryptedBlockCount: UInt8
        /// The number of unencrypted blocks that follow them.
        package let skippedBlockCount: UInt8
    }
}

extension SampleProtection {
    init(_ box: Box, _ bytes: Span<UInt8>) {
        scheme = box.firstChild(.schm, in: bytes).flatMap { box in
            var (_, _, cursor) = box.fullBoxFields(in: bytes)
            let code = cursor.readFourCharacterCode(bytes)
            return cursor.isPastEnd ? nil : code
        }
        var key: [UInt8]?
        var isProtectedByDefault = true
        var length: UInt8 = 0
        var vector: [UInt8] = []
        var pattern: Pattern?
        if let box = box.firstChild(.schi, in: bytes)?.firstChild(.tenc, in: bytes) {
            var (version, _, cursor) = box.fullBoxFields(in: bytes)
            cursor.skip(1)
            let blocks = cursor.readUInt8(bytes)
            let isProtected = cursor.readUInt8(bytes)
            length = cursor.readUInt8(bytes)
            let start = cursor.offset
            cursor.skip(16)
            if !cursor.isPastEnd {
                isProtectedByDefault = isProtected != 0
                key = bytes.byteArray(in: start..<cursor.offset)
                if version > 0, blocks != 0 {
                    pattern = Pattern(encryptedBlockCount: blocks >> 4, skippedBlockCount: blocks & 15)
                }
                if isProtected == 1, length == 0 {
                    let count = Int(cursor.readUInt8(bytes))
                    vector = bytes.byteArray(in: cursor.offset..<min(cursor.end, cursor.offset + count))
                }
            }
        }
        defaultKeyIdentifier = key
        self.isProtectedByDefault = isProtectedByDefault
        initializationVectorSize = length
        constantInitializationVector = vector
        self.pattern = pattern
    }
}

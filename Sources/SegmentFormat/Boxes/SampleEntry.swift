import MediaTiming

/// How the samples of a track are coded: an entry of `stsd` (ISO/IEC 14496-12 §8.5.2).
public struct SampleEntry: Sendable, Hashable {
    /// The type of the entry as it is stored: `encv`, `enca` and the like where samples are encrypted.
    public let storedFormat: FourCharacterCode
    /// The type of the entry without encryption.
    public let format: FourCharacterCode
    /// The codec as RFC 6381 spells it: `avc1.64001f`, `mp4a.40.2`; the format alone where nothing more is stored.
    public let codec: String
    /// The width of the pictures, in pixels; `nil` for other tracks.
    public let width: Int?
    /// The height of the pictures, in pixels; `nil` for other tracks.
    public let height: Int?
    /// How many channels sound has: what the codec's own header says, else the entry.
    public let channelCount: Int?
    /// Samples a second of sound: what the codec's own header says, else the entry.
    public let sampleRate: Int?
    /// How samples are encrypted; `nil` where they are not.
    public let protection: SampleProtection?

    /// Further entries are not read.
    public static let mostEntries = 32
}

/// How samples are encrypted: `sinf` (ISO/IEC 14496-12 §8.12, ISO/IEC 23001-7 §8.2).
public struct SampleProtection: Sendable, Hashable {
    /// The scheme: `cenc`, `cens`, `cbc1`, `cbcs`; `nil` where `schm` is missing.
    public let scheme: FourCharacterCode?
    /// The 16 bytes that name the key, if samples name no other; `nil` where `tenc` is missing.
    public let defaultKeyIdentifier: [UInt8]?
    /// How many bytes the vector of a sample has: 0, 8 or 16; 0 means that ``constantVector`` counts.
    public let vectorLength: UInt8
    /// The vector of all samples; empty where each has its own.
    public let constantVector: [UInt8]
    /// How many blocks of 16 bytes are encrypted, and how many behind them are not; `nil` where all are.
    public let pattern: Pattern?

    /// Which blocks are encrypted (ISO/IEC 23001-7 §9.6).
    public struct Pattern: Sendable, Hashable {
        /// Blocks that are encrypted.
        public let encryptedBlocks: UInt8
        /// Blocks behind them that are not.
        public let clearBlocks: UInt8
    }
}

extension SampleProtection {
    init(_ box: Box, _ bytes: Span<UInt8>) {
        scheme = box.child(.schm, bytes).flatMap { box in
            var (_, _, cursor) = box.fields(bytes)
            let code = cursor.code(bytes)
            return cursor.isPastEnd ? nil : code
        }
        var key: [UInt8]?
        var length: UInt8 = 0
        var vector: [UInt8] = []
        var pattern: Pattern?
        if let box = box.child(.schi, bytes)?.child(.tenc, bytes) {
            var (version, _, cursor) = box.fields(bytes)
            cursor.skip(1)
            let blocks = cursor.uint8(bytes)
            let isProtected = cursor.uint8(bytes)
            length = cursor.uint8(bytes)
            let start = cursor.offset
            cursor.skip(16)
            if !cursor.isPastEnd {
                key = bytes.array(start..<cursor.offset)
                if version > 0, blocks != 0 {
                    pattern = Pattern(encryptedBlocks: blocks >> 4, clearBlocks: blocks & 15)
                }
                if isProtected == 1, length == 0 {
                    let count = Int(cursor.uint8(bytes))
                    vector = bytes.array(cursor.offset..<min(cursor.end, cursor.offset + count))
                }
            }
        }
        defaultKeyIdentifier = key
        vectorLength = length
        constantVector = vector
        self.pattern = pattern
    }
}

import MediaTiming

/// The codec string and audio properties in the codec-specific boxes of a sample entry.
struct CodecDescription {
    /// The codec string according to RFC 6381.
    var codec: String
    var channelCount: Int?
    var sampleRate: Int?

    init(_ format: FourCharacterCode, children: Box, subtitleFields: Range<Int>?, _ bytes: Span<UInt8>) {
        codec = format.description.trimmed
        switch format {
        case "avc1", "avc2", "avc3", "avc4":
            if let box = children.firstChild("avcC", in: bytes) { readAVC(box, bytes) }
        case "hvc1", "hev1", "hvc2", "hev2":
            if let box = children.firstChild("hvcC", in: bytes) { readHEVC(box, bytes) }
        case "dvh1", "dvhe", "dva1", "dvav", "dav1":
            if let box = children.firstChild("dvcC", in: bytes) ?? children.firstChild("dvvC", in: bytes) {
                readDolbyVision(box, bytes)
            }
        case "av01":
            if let box = children.firstChild("av1C", in: bytes) { readAV1(box, bytes) }
        case "vp08", "vp09":
            if let box = children.firstChild("vpcC", in: bytes) { readVP9(box, bytes) }
        case "mp4a", "mp4v":
            // QuickTime files store the descriptor inside a `wave` box.
            if let box = children.firstChild("esds", in: bytes)
                ?? children.firstChild("wave", in: bytes)?.firstChild("esds", in: bytes)
            {
                readElementaryStream(box, bytes)
            }
        case "ac-3":
            if let box = children.firstChild("dac3", in: bytes) { readAC3(box, bytes) }
        case "ec-3":
            if let box = children.firstChild("dec3", in: bytes) { readEnhancedAC3(box, bytes) }
        case "Opus":
            if let box = children.firstChild("dOps", in: bytes) { readOpus(box, bytes) }
        case "fLaC":
            if let box = children.firstChild("dfLa", in: bytes) { readFLAC(box, bytes) }
        case "stpp":
            readTimedText(children, subtitleFields, bytes)
        default:
            break
        }
    }
}

// MARK: Records without a box

extension CodecDescription {
    /// Creates a description from the decoder configuration record of a codec, which containers other than ISO base media
    /// store without a box; `nil` if the record is invalid, or not supported for the codec.
    ///
    /// - Parameters:
    ///   - format: The type of the sample entry that the codec has in ISO base media.
    ///   - record: The content of `avcC`, `hvcC` or `av1C`, or an AudioSpecificConfig.
    init?(_ format: FourCharacterCode, record: Span<UInt8>) {
        codec = format.description.trimmed
        let range = 0..<record.count
        let box = Box(type: format, range: range, payload: range, isTruncated: false)
        switch format {
        // Without this version, the bytes are those of a byte stream.
        case "avc1" where record.count >= 4 && record[0] == 1: readAVC(box, record)
        case "hvc1" where record.count >= 13 && record[0] == 1: readHEVC(box, record)
        case "av01" where record.count >= 4 && record[0] == 0x81: readAV1(box, record)
        case "mp4a":
            guard let audio = AudioSpecificConfiguration(range, in: record) else { return nil }
            codec += ".40.\(audio.objectType)"
            channelCount = audio.channelCount
            sampleRate = audio.sampleRate
        default: return nil
        }
    }
}

// MARK: Video

extension CodecDescription {
    /// Appends the profile and level of AVC (ISO/IEC 14496-15 §5.3.3.1; RFC 6381 §3.3).
    private mutating func readAVC(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        cursor.skip(1)
        let profile = cursor.readUInt24(bytes)
        if !cursor.isPastEnd { codec += "." + profile.hexadecimal(digits: 6) }
    }

    /// Appends the profile, tier, level and constraints of HEVC (ISO/IEC 14496-15 §8.3.3.1 and §E.3).
    private mutating func readHEVC(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        cursor.skip(1)
        let profile = cursor.readUInt8(bytes)
        let compatibility = cursor.readUInt32(bytes)
        var constraints = (0..<6).map { _ in cursor.readUInt8(bytes) }
        let level = cursor.readUInt8(bytes)
        guard !cursor.isPastEnd else { return }
        let space = ["", "A", "B", "C"][Int(profile >> 6)]
        let tier = profile & 0x20 == 0 ? "L" : "H"
        // The codec string has the compatibility flags in reverse bit order.
        var reversed: UInt32 = 0
        // Bounded: 31 minus a number of at most 31.
        for bit: UInt32 in 0..<32 { reversed |= (compatibility >> bit & 1) << (31 - bit) }
        while constraints.last == 0 { constraints.removeLast() }
        codec += ".\(space)\(profile & 0x1F).\(reversed.hexadecimal(uppercase: true)).\(tier)\(level)"
        for byte in constraints { codec += "." + UInt32(byte).hexadecimal(uppercase: true) }
    }

    /// Appends the profile and level of Dolby Vision (Dolby Vision Streams Within the ISO Base Media File Format,
    /// §2.2).
    private mutating func readDolbyVision(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        cursor.skip(2)
        let fields = cursor.readUInt16(bytes)
        if !cursor.isPastEnd { codec += ".\(Int(fields >> 9).twoDigits).\(Int(fields >> 3 & 0x3F).twoDigits)" }
    }

    /// Appends the profile, level, tier and bit depth of AV1 (AV1 Codec ISO Media File Format Binding, §2.3 and §5).
    ///
    /// This is the short form; the optional fields are omitted and therefore have their default values.
    private mutating func readAV1(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        cursor.skip(1)
        let profile = cursor.readUInt8(bytes)
        let flags = cursor.readUInt8(bytes)
        guard !cursor.isPastEnd else { return }
        let depth = flags & 0x40 == 0 ? 8 : profile >> 5 == 2 && flags & 0x20 != 0 ? 12 : 10
        let tier = flags & 0x80 == 0 ? "M" : "H"
        codec += ".\(profile >> 5).\(Int(profile & 0x1F).twoDigits)\(tier).\(depth.twoDigits)"
    }

    /// Appends the profile, level and bit depth of VP8 or VP9 (VP Codec ISO Media File Format Binding).
    ///
    /// The values of the VP codec configuration box are appended in the order that the codecs parameter string
    /// requires.
    private mutating func readVP9(_ box: Box, _ bytes: Span<UInt8>) {
        var (_, _, cursor) = box.fullBoxFields(in: bytes)
        let profile = cursor.readUInt8(bytes)
        let level = cursor.readUInt8(bytes)
        let depth = cursor.readUInt8(bytes) >> 4
        guard !cursor.isPastEnd else { return }
        codec += ".\(Int(profile).twoDigits).\(Int(level).twoDigits).\(Int(depth).twoDigits)"
    }
}

// MARK: Audio

extension CodecDescription {
    /// Reads the decoder configuration of ISO/IEC 14496-1 §7.2.6.6 down to the audio object type.
    private mutating func readElementaryStream(_ box: Box, _ bytes: Span<UInt8>) {
        var (_, _, cursor) = box.fullBoxFields(in: bytes)
        guard Self.enterDescriptor(3, &cursor, bytes) else { return }
        cursor.skip(2)
        let flags = cursor.readUInt8(bytes)
        if flags & 0x80 != 0 { cursor.skip(2) }
        if flags & 0x40 != 0 { cursor.skip(Int(cursor.readUInt8(bytes))) }
        if flags & 0x20 != 0 { cursor.skip(2) }
        guard Self.enterDescriptor(4, &cursor, bytes) else { return }
        let objectType = cursor.readUInt8(bytes)
        cursor.skip(12)
        guard !cursor.isPastEnd else { return }
        codec += "." + UInt32(objectType).hexadecimal()
        guard objectType == 0x40, Self.enterDescriptor(5, &cursor, bytes) else { return }
        guard let audio = AudioSpecificConfiguration(cursor.offset..<cursor.end, in: bytes) else { return }
        codec += ".\(audio.objectType)"
        channelCount = audio.channelCount
        sampleRate = audio.sampleRate
    }

    /// Skips the tag and length of a descriptor and returns whether it has the expected tag (ISO/IEC 14496-1 §8.3.3).
    private static func enterDescriptor(_ tag: UInt8, _ cursor: inout ByteCursor, _ bytes: Span<UInt8>) -> Bool {
        guard cursor.readUInt8(bytes) == tag else { return false }
        for _ in 0..<4 where cursor.readUInt8(bytes) & 0x80 == 0 { break }
        return !cursor.isPastEnd
    }

    /// Reads the channel count and sample rate of AC-3 (ETSI TS 102 366 §F.4).
    private mutating func readAC3(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = BitCursor(box.payload, in: bytes)
        let rate = cursor.readBits(2, bytes)
        _ = cursor.readBits(8, bytes)
        let mode = cursor.readBits(3, bytes)
        let lowFrequency = cursor.readBits(1, bytes)
        guard !cursor.isPastEnd else { return }
        channelCount = AudioFrameHeader.channels(ac3Mode: mode) + Int(lowFrequency)
        sampleRate = AudioFrameHeader.sampleRate(ac3: rate)
    }

    /// Reads the channel count and sample rate of Enhanced AC-3 from its first independent substream (ETSI TS 102 366
    /// §F.6).
    private mutating func readEnhancedAC3(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = BitCursor(box.payload, in: bytes)
        _ = cursor.readBits(16, bytes)
        let rate = cursor.readBits(2, bytes)
        _ = cursor.readBits(10, bytes)
        let mode = cursor.readBits(3, bytes)
        let lowFrequency = cursor.readBits(1, bytes)
        _ = cursor.readBits(3, bytes)
        let dependent = cursor.readBits(4, bytes)
        guard !cursor.isPastEnd else { return }
        channelCount = AudioFrameHeader.channels(ac3Mode: mode) + Int(lowFrequency)
        if dependent > 0 {
            let locations = cursor.readBits(9, bytes)
            channelCount? += cursor.isPastEnd ? 0 : Self.additionalChannels(enhancedAC3Locations: UInt64(locations))
        }
        sampleRate = AudioFrameHeader.sampleRate(ac3: rate)
    }

    /// Returns the number of channels that dependent substreams add (ETSI TS 102 366 §F.6).
    ///
    /// Bits 0, 1, 4, 5 and 6 are pairs of channels, the other bits single ones. Zero means that dependent substreams have
    /// the channels of the independent one.
    private static func additionalChannels(enhancedAC3Locations locations: UInt64) -> Int {
        let pairs: UInt64 = 0b0_0111_0011
        return (locations & 0x1FF).nonzeroBitCount + (locations & pairs).nonzeroBitCount
    }

    /// Reads the channel count of Opus, which always decodes to 48 kHz (Encapsulation of Opus in ISOBMFF, §4.3.2).
    private mutating func readOpus(_ box: Box, _ bytes: Span<UInt8>) {
        var cursor = ByteCursor(box.payload, in: bytes)
        cursor.skip(1)
        let channels = cursor.readUInt8(bytes)
        guard !cursor.isPastEnd, channels > 0 else { return }
        channelCount = Int(channels)
        sampleRate = 48_000
    }

    /// Reads the channel count and sample rate of FLAC (Encapsulation of FLAC in ISO Base Media File Format, §3.3.2).
    private mutating func readFLAC(_ box: Box, _ bytes: Span<UInt8>) {
        let (_, _, cursor) = box.fullBoxFields(in: bytes)
        guard let stream = FLACStreamInformation(block: cursor.offset..<cursor.end, in: bytes) else { return }
        channelCount = stream.channelCount
        sampleRate = stream.sampleRate
    }
}

// MARK: Subtitles

extension CodecDescription {
    /// Appends `ttml` according to the namespace (ISO/IEC 14496-12 §12.6.3) and the IMSC profile.
    ///
    /// The profile, `im1t` or `im1i`, is read from the `mime` box. Without it, the image profile is assumed if the
    /// schema location contains it.
    private mutating func readTimedText(_ children: Box, _ fields: Range<Int>?, _ bytes: Span<UInt8>) {
        guard let fields else { return }
        var cursor = ByteCursor(fields, in: bytes)
        let namespace = cursor.readTerminatedString(bytes)
        let schema = cursor.readTerminatedString(bytes)
        _ = cursor.readTerminatedString(bytes)
        guard namespace.hasPrefix("http://www.w3.org/ns/ttml") else { return }
        codec += ".ttml"
        let rest = Box(
            type: children.type,
            range: children.range,
            payload: cursor.offset..<cursor.end,
            isTruncated: false
        )
        if let box = rest.firstChild("mime", in: bytes) {
            var (_, _, cursor) = box.fullBoxFields(in: bytes)
            let type = cursor.readTerminatedString(bytes)
            if type.contains("im1i") {
                codec += ".im1i"
            } else if type.contains("im1t") {
                codec += ".im1t"
            }
        } else if schema.contains("imsc1/image") {
            codec += ".im1i"
        }
    }
}

extension UInt32 {
    fileprivate func hexadecimal(digits: Int = 1, uppercase: Bool = false) -> String {
        let text = String(self, radix: 16, uppercase: uppercase)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }
}

extension Int {
    fileprivate var twoDigits: String { self < 10 ? "0\(self)" : "\(self)" }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.hasSuffix(" ") { text.removeLast() }
        return String(text)
    }
}

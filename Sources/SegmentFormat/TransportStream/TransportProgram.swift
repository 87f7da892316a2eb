import MediaTiming

/// A program of a transport stream, from its program map table (PMT) (ISO/IEC 13818-1 §2.4.4.8).
package struct TransportProgram: Sendable, Hashable {
    /// The program number.
    package let number: UInt16
    /// The packet identifier of the packets with the program clock reference.
    package let clockPID: UInt16
    /// The elementary streams, in the order of the table.
    package let streams: [Stream]

    /// An elementary stream of a program.
    package struct Stream: Sendable, Hashable {
        /// The packet identifier.
        package let pid: UInt16
        /// The stream type (ISO/IEC 13818-1 table 2-34, and Apple's types for sample encryption).
        package let streamType: UInt8
        /// The media type.
        package let mediaType: MediaTrack.MediaType
        /// The codec name; `nil` if it cannot be derived from the stream type and descriptors.
        package let codec: String?
        /// The ISO 639-2 language code; `nil` if it is not specified.
        package let language: String?
        /// A Boolean value that indicates whether samples are encrypted.
        ///
        /// This is the `SAMPLE-AES` method (MPEG-2 Stream Encryption Format for HLS §2.3.1).
        package let isSampleEncrypted: Bool

        /// The properties of the track, independent of the container.
        package var mediaTrack: MediaTrack {
            MediaTrack(
                id: UInt32(pid),
                mediaType: mediaType,
                codec: codec,
                language: language,
                encryptionScheme: isSampleEncrypted ? "sample-aes" : nil
            )
        }
    }
}

extension TransportProgram {
    /// Returns the program numbers and PMT packet identifiers of a program association section.
    static func parseAssociation(_ section: Span<UInt8>) -> [(number: UInt16, pid: UInt16)] {
        guard section.count >= 8, section[0] == 0 else { return [] }
        var cursor = ByteCursor(8..<section.count, in: section)
        var entries: [(UInt16, UInt16)] = []
        while cursor.remaining >= 4 {
            let number = cursor.readUInt16(section)
            let pid = cursor.readUInt16(section) & 0x1FFF
            // Program number zero refers to the network information table.
            if number != 0 { entries.append((number, pid)) }
        }
        return entries
    }

    /// Creates a program from a program map section, or `nil` if the section is invalid.
    init?(_ section: Span<UInt8>) {
        guard section.count >= 12, section[0] == 2 else { return nil }
        var cursor = ByteCursor(3..<section.count, in: section)
        number = cursor.readUInt16(section)
        cursor.skip(3)
        clockPID = cursor.readUInt16(section) & 0x1FFF
        cursor.skip(Int(cursor.readUInt16(section) & 0x0FFF))
        var list: [Stream] = []
        while cursor.remaining >= 5 {
            let type = cursor.readUInt8(section)
            let pid = cursor.readUInt16(section) & 0x1FFF
            let length = Int(cursor.readUInt16(section) & 0x0FFF)
            let start = cursor.offset
            cursor.skip(length)
            list.append(Stream(pid: pid, type: type, descriptors: start..<cursor.offset, section))
        }
        streams = list
    }
}

extension TransportProgram.Stream {
    init(pid: UInt16, type: UInt8, descriptors: Range<Int>, _ bytes: Span<UInt8>) {
        self.pid = pid
        streamType = type
        var language: String?
        var registration: FourCharacterCode?
        var tags: Set<UInt8> = []
        var cursor = ByteCursor(descriptors, in: bytes)
        while cursor.remaining >= 2 {
            let tag = cursor.readUInt8(bytes)
            let length = Int(cursor.readUInt8(bytes))
            let start = cursor.offset
            cursor.skip(length)
            guard !cursor.isPastEnd else { break }
            tags.insert(tag)
            switch tag {
            case 0x05 where length >= 4: registration = FourCharacterCode(bytes.uint32(at: start))
            case 0x0A where length >= 4, 0x59 where length >= 8:
                let letters = bytes.byteArray(in: start..<start + 3).map { $0 | 0x20 }
                if letters.allSatisfy({ (0x61...0x7A).contains($0) }) {
                    language = String(decoding: letters, as: UTF8.self)
                }
            default: break
            }
        }
        self.language = language == "und" ? nil : language
        (mediaType, codec, isSampleEncrypted) = Self.properties(
            streamType: type,
            registration: registration,
            tags: tags
        )
    }

    private static func properties(
        streamType type: UInt8,
        registration: FourCharacterCode?,
        tags: Set<UInt8>
    ) -> (MediaTrack.MediaType, String?, Bool) {
        switch type {
        case 0x01: (.video, "mp4v.6a", false)
        case 0x02: (.video, "mp4v.61", false)
        case 0x03: (.audio, "mp4a.6b", false)
        case 0x04: (.audio, "mp4a.69", false)
        case 0x0F: (.audio, "mp4a.40", false)
        case 0x10: (.video, "mp4v.20", false)
        case 0x11: (.audio, "mp4a.40", false)
        case 0x15: (.metadata, registration == nil || registration == "ID3 " ? "id3" : nil, false)
        case 0x1B: (.video, "avc1", false)
        case 0x24: (.video, "hvc1", false)
        case 0x33: (.video, "vvc1", false)
        case 0x81: (.audio, "ac-3", false)
        case 0x87: (.audio, "ec-3", false)
        case 0x86: (.metadata, "scte35", false)
        case 0xDB: (.video, "avc1", true)
        case 0xCF: (.audio, "mp4a.40", true)
        case 0xC1: (.audio, "ac-3", true)
        case 0xC2: (.audio, "ec-3", true)
        default: privateProperties(registration: registration, tags: tags)
        }
    }

    /// Returns the properties of a private stream type, from its registration (SMPTE-RA) or DVB descriptors.
    ///
    /// The descriptors are those of ETSI EN 300 468 §6.1.
    private static func privateProperties(
        registration: FourCharacterCode?,
        tags: Set<UInt8>
    ) -> (MediaTrack.MediaType, String?, Bool) {
        switch registration {
        case "AC-3"?: return (.audio, "ac-3", false)
        case "EAC3"?: return (.audio, "ec-3", false)
        case "Opus"?: return (.audio, "Opus", false)
        case "HEVC"?: return (.video, "hvc1", false)
        case "AV01"?: return (.video, "av01", false)
        case "CUEI"?: return (.metadata, "scte35", false)
        case "ID3 "?, "KLVA"?: return (.metadata, registration == "ID3 " ? "id3" : "klv", false)
        default: break
        }
        if tags.contains(0x7A) { return (.audio, "ec-3", false) }
        if tags.contains(0x6A) { return (.audio, "ac-3", false) }
        if tags.contains(0x59) { return (.subtitles, "dvbsub", false) }
        if tags.contains(0x56) { return (.subtitles, "teletext", false) }
        return (.other, nil, false)
    }
}

import MediaTiming

/// A reader that determines the duration of an Ogg file with one audio stream from its last page (RFC 3533 §6), and its
/// metadata from the comments at its beginning.
struct OggFileReader: MediaFileReader {
    private var tailSize: Int64 = 65_536
    private var rate: Int64?
    private var serial: UInt32 = 0
    private var preSkip: Int64 = 0
    private var codec = ""
    private var channelCount = 0
    /// The language in the comments of the stream; `nil` if they have none.
    private var language: String?
    private var metadata = MediaFileMetadata()
    /// The number of bytes at the beginning of the file that are read; `nil` if all that are needed have been read.
    private var headSize: Int? = 64
    private var duration: MediaTime?
    private var hasTail = false
    /// The end of the last page that begins in the file, which can be after the end of the file; `nil` if it is unknown.
    private var lastPageEnd: Int64?

    /// The maximum number of bytes read at the end of the file; a page has at most 65,307 bytes.
    private static let maximumTailSize: Int64 = 1 << 20

    mutating func advance(with file: LoadedFileParts) -> MediaFileIndexer.State {
        while let size = headSize {
            guard let head = file.loadedBytes(at: 0, count: size) else {
                return file.request(at: 0, count: max(4_096, size))
            }
            readFirstPage(head)
            headSize = readComments(head, file)
        }
        guard let length = file.length else { return .ready(makeTimeline(from: file)) }
        while !hasTail {
            let start = max(0, length -| tailSize)
            guard let found = file.loadedBytes(at: start, count: Int(length -| start)) else {
                return file.request(at: start, count: Int(length -| start))
            }
            if let rate, let samples = lastGranulePosition(found) {
                duration = MediaTime(value: max(0, samples.subtractingSaturated(preSkip)), timescale: rate)
            }
            lastPageEnd = Self.lastPageEnd(found).map { start +| Int64($0 - found.offset) }
            hasTail = duration != nil || rate == nil || start == 0 || tailSize >= Self.maximumTailSize
            tailSize *|= 4
        }
        return .ready(makeTimeline(from: file))
    }

    private mutating func readFirstPage(_ found: LoadedFileParts.LoadedBytes) {
        let bytes = found.bytes.span
        guard found.count > 28 else { return }
        serial = UInt32(truncatingIfNeeded: Self.littleEndian(4, bytes, at: 14))
        let start = 27 + Int(bytes[26])
        if bytes.hasBytes("OpusHead", at: start), found.count >= start + 12 {
            // Opus timestamps count at 48 kHz, and the first samples (pre-skip) are not played (RFC 7845 §5.1).
            (rate, codec, channelCount) = (48_000, "Opus", Int(bytes[start + 9]))
            preSkip = Self.littleEndian(2, bytes, at: start + 10)
        } else if bytes.hasBytes("\u{1}vorbis", at: start), found.count >= start + 16 {
            let value = Self.littleEndian(4, bytes, at: start + 12)
            if value > 0 { (rate, codec, channelCount) = (value, "vorbis", Int(bytes[start + 11])) }
        }
    }

    /// Reads the metadata in the comments, and returns the number of bytes at the beginning of the file that are required
    /// for all of them; `nil` if no more are required.
    ///
    /// The comments are a packet that extends over several pages if it contains an image.
    private mutating func readComments(_ found: LoadedFileParts.LoadedBytes, _ file: LoadedFileParts) -> Int? {
        let bytes = found.bytes.span
        guard rate != nil, let page = Self.endOfPage(bytes, at: found.offset) else { return nil }
        let (comments, isComplete) = packet(bytes, at: page)
        let start: Int
        if comments.span.hasBytes("\u{3}vorbis", at: 0) {
            start = 7
        } else if comments.span.hasBytes("OpusTags", at: 0) {
            start = 8
        } else {
            return nil
        }
        language = Self.language(comments, from: start)
        let size = bytes.count - found.offset
        if !isComplete, size < Self.maximumHeadSize, !file.ends(at: Int64(size)) {
            return min(Self.maximumHeadSize, max(65_536, 4 *| size))
        }
        metadata.addVorbisComments(start..<max(start, comments.count), in: comments.span)
        return nil
    }

    /// The maximum number of bytes at the beginning of the file that are read.
    ///
    /// Images in comments are encoded in base64, which needs four bytes for three.
    private static let maximumHeadSize = 2 *| MediaFileMetadata.maximumSize

    /// Returns the packet of the stream that begins on the page at an offset, as far as it is loaded, and whether it is
    /// complete.
    private func packet(_ bytes: Span<UInt8>, at start: Int) -> (packet: [UInt8], isComplete: Bool) {
        var packet: [UInt8] = []
        var page = start
        while bytes.hasBytes("OggS", at: page), page + 27 <= bytes.count {
            let table = page + 27
            var offset = table + Int(bytes[page + 26])
            guard offset <= bytes.count else { break }
            let isOurs = UInt32(truncatingIfNeeded: Self.littleEndian(4, bytes, at: page + 14)) == serial
            for index in table..<offset {
                let length = Int(bytes[index])
                if isOurs {
                    guard length <= bytes.count - offset else {
                        return (packet + bytes.byteArray(in: offset..<bytes.count), false)
                    }
                    packet.append(contentsOf: bytes.byteArray(in: offset..<offset + length))
                    // A segment of less than 255 bytes ends a packet.
                    if length < 255 { return (packet, true) }
                }
                offset += length
            }
            page = offset
        }
        // If no page follows, the stream is damaged, and further bytes would not complete the packet.
        return (packet, page <= bytes.count - 4 && !bytes.hasBytes("OggS", at: page))
    }

    /// The maximum length of a language tag (RFC 5646 §4.4.1).
    private static let maximumLanguageLength = 35

    /// Returns the language in comments (Vorbis I §5.2.1, RFC 7845 §5.2), as far as they are loaded; `nil` if they have
    /// none.
    ///
    /// - Parameters:
    ///   - comments: The packet with the comments.
    ///   - start: The position of the length of the encoder's name.
    /// - Returns: The language tag.
    private static func language(_ comments: [UInt8], from start: Int) -> String? {
        let bytes = comments.span
        var cursor = ByteCursor(start..<max(start, comments.count), in: bytes)
        cursor.skip(Int(cursor.readUInt32(bytes).byteSwapped))
        let count = min(Int(cursor.readUInt32(bytes).byteSwapped), MediaFileMetadata.maximumItemCount)
        for _ in 0..<count {
            let length = Int(cursor.readUInt32(bytes).byteSwapped)
            let position = cursor.offset
            cursor.skip(length)
            guard !cursor.isPastEnd else { return nil }
            if let value = language(ofComment: comments[position..<cursor.offset]) { return value }
        }
        return nil
    }

    /// Returns the value of a comment such as `LANGUAGE=en`; `nil` for other comments, and for other texts than a language tag.
    private static func language(ofComment comment: ArraySlice<UInt8>) -> String? {
        let name = "language="
        let limit = name.utf8.count + maximumLanguageLength
        guard comment.count > name.utf8.count, comment.count <= limit else { return nil }
        let text = String(decoding: comment, as: UTF8.self)
        guard text.prefix(name.count).lowercased() == name else { return nil }
        let value = text.dropFirst(name.count)
        let primary = value.prefix { $0 != "-" }
        guard (2...3).contains(primary.utf8.count), primary.allSatisfy({ $0.isASCII && $0.isLetter }),
            primary.lowercased() != "und"
        else { return nil }
        return String(value)
    }

    /// Returns the index after a page, which can be after the loaded bytes; `nil` if there is no page header.
    private static func endOfPage(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard bytes.hasBytes("OggS", at: start), start + 27 <= bytes.count else { return nil }
        let table = start + 27
        var end = table + Int(bytes[start + 26])
        guard end <= bytes.count else { return nil }
        for index in table..<end { end += Int(bytes[index]) }
        return end
    }

    /// Returns the granule position of the stream's last page on which a packet ends.
    private func lastGranulePosition(_ found: LoadedFileParts.LoadedBytes) -> Int64? {
        let bytes = found.bytes.span
        var last: Int64?
        var offset = found.offset
        while offset + 27 <= bytes.count {
            if bytes[offset] == 0x4F, bytes.hasBytes("OggS", at: offset),
                UInt32(truncatingIfNeeded: Self.littleEndian(4, bytes, at: offset + 14)) == serial
            {
                let position = Self.littleEndian(8, bytes, at: offset + 6)
                if position >= 0 { last = position }
                offset += 27
            } else {
                offset += 1
            }
        }
        return last
    }

    /// Returns the index after the last page that begins in the bytes, as its header declares it; `nil` if none does.
    private static func lastPageEnd(_ found: LoadedFileParts.LoadedBytes) -> Int? {
        let bytes = found.bytes.span
        var end: Int?
        var offset = found.offset
        while offset + 4 <= bytes.count {
            guard bytes[offset] == 0x4F, bytes.hasBytes("OggS", at: offset) else {
                offset += 1
                continue
            }
            let table = offset + 27
            guard table <= bytes.count else { return table }
            let tableEnd = table + Int(bytes[offset + 26])
            guard tableEnd <= bytes.count else { return tableEnd }
            offset = tableEnd
            for index in table..<tableEnd { offset += Int(bytes[index]) }
            end = offset
        }
        return end
    }

    private static func littleEndian(_ length: Int, _ bytes: Span<UInt8>, at offset: Int) -> Int64 {
        Int64(bitPattern: bytes.unsigned(length, at: offset).byteSwapped >> (64 - 8 *| length))
    }

    func makeTimeline(from file: LoadedFileParts) -> MediaFileTimeline {
        // The end of a page after that of the file shows that the file was cut off.
        let length = file.length.map { max($0, lastPageEnd ?? 0) }
        var timeline = MediaFileTimeline(wholeFile: .ogg, length: length, duration: duration)
        timeline.missingLengthAccuracy = .minimum
        timeline.metadata = metadata
        guard rate != nil else { return timeline }
        timeline.tracks = [
            MediaTrack(
                id: 0,
                mediaType: .audio,
                codec: codec,
                language: language,
                channelCount: channelCount,
                sampleRate: rate.map { Int($0) }
            )
        ]
        return timeline
    }
}

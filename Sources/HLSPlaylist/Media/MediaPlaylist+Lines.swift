import MediaTiming

extension MediaPlaylist {
    /// A line of the playlist as an editor sees it.
    package struct EditableLine: Sendable {
        /// Where it stands, with its line end.
        package let range: Range<Int>
        /// Its text without white space at either side.
        package let text: Range<Int>
        /// The tag it holds, where the standard knows it.
        package let tag: TagName?
        /// Where the tag's value stands.
        package let value: Range<Int>?
        /// Whether it is a segment's address.
        package let isAddress: Bool
    }

    /// The keys in force for a segment, one for each key format (§4.4.4.4).
    package func keys(for position: Int) -> [EncryptionKey] { storage.keys(for: position) }

    /// The lines that belong to a segment; with the number of segments, those behind the last.
    ///
    /// The lines of the first segment begin with those that are about the whole playlist.
    package func lines(ofSegment position: Int) -> [EditableLine] {
        let records = index.segments
        let start = position < records.count ? Int(records[position].blockStart) : index.trailerStart
        let address = position < records.count ? Int(records[position].uriStart) : nil
        var scanner = LineScanner(start..<bytes.count)
        var result: [EditableLine] = []
        while let line = scanner.next(in: bytes.span) {
            let tagLine = TagLine(line, in: bytes)
            result.append(
                EditableLine(
                    range: line.range,
                    text: line.trimmed(in: bytes.span),
                    tag: tagLine?.tag(in: bytes),
                    value: tagLine?.value,
                    isAddress: line.start == address
                )
            )
            if line.start == address { break }
        }
        return result
    }

    /// A line with a key that is in force for a segment or a map.
    package struct KeyLine: Sendable {
        /// The line, with its line end.
        package let line: Range<Int>
        /// A Boolean value that indicates whether the line belongs to the segment itself.
        package let isOwn: Bool
        /// The key format; `identity` where the playlist does not say.
        package let format: String
        /// A Boolean value that indicates whether the initialization vector is the segment's number (§5.2).
        package let needsVector: Bool
    }

    /// The lines with the keys in force for a segment, one for each key format.
    package func keyLines(for position: Int) -> [KeyLine] {
        storage.keyTags(for: position).compactMap { keyLine($0, for: position) }
    }

    /// The lines with the keys that hold for the map of a segment.
    package func mapKeyLines(for position: Int) -> [KeyLine] {
        guard let map = storage.lastTag(of: header.maps, before: position) else { return [] }
        return storage.keyTags(before: map).compactMap { keyLine($0, for: position) }
    }

    private func keyLine(_ tag: UInt32, for position: Int) -> KeyLine? {
        let record = index.tags[Int(tag)]
        guard let line = bytes.line(at: Int(record.lineStart))?.range else { return nil }
        let attributes = storage.attributes(at: record)
        let format = attributes["KEYFORMAT"].flatMap { $0.isEmpty ? nil : $0 } ?? EncryptionKey.identityFormat
        return KeyLine(
            line: line,
            isOwn: Int(record.segment) == position,
            format: format,
            needsVector: format == EncryptionKey.identityFormat && attributes["IV"] == nil
        )
    }

    /// The line of the map in force for a segment, and whether it stands at the segment itself.
    package func mapLine(for position: Int) -> (line: Range<Int>, isOwn: Bool)? { line(of: header.maps, for: position) }

    /// The line of the bit rate in force for a segment, and whether it stands at the segment itself.
    package func bitRateLine(for position: Int) -> (line: Range<Int>, isOwn: Bool)? {
        line(of: header.bitRates, for: position)
    }

    /// Whether a segment's byte range leaves its offset to the one before.
    package func hasImpliedOffset(_ position: Int) -> Bool {
        let written = storage.ownLines(of: position).byteRange.flatMap { WrittenByteRange(bytes, in: $0) }
        return written.map { $0.start == nil } ?? false
    }

    /// How a line of this playlist ends, as its first line does.
    package var lineEnd: String {
        guard let feed = bytes.firstIndex(of: UInt8(ascii: "\n")), feed > 0, bytes[feed - 1] == UInt8(ascii: "\r")
        else {
            return "\n"
        }
        return "\r\n"
    }

    private func line(of list: [UInt32], for position: Int) -> (line: Range<Int>, isOwn: Bool)? {
        guard let tag = storage.lastTag(of: list, before: position),
            let range = bytes.line(at: Int(tag.lineStart))?.range
        else { return nil }
        return (range, Int(tag.segment) == position)
    }
}

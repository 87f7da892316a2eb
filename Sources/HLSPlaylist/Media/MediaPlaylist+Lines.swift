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

    /// The tag lines with the keys in force for a segment, and whether each stands at the segment itself.
    package func keyLines(for position: Int) -> [(line: Range<Int>, isOwn: Bool)] {
        storage.keyTags(for: position).compactMap { tag in
            range(of: tag).map { ($0, Int(index.tags[Int(tag)].segment) == position) }
        }
    }

    /// The tag lines with the keys that hold for the map of a segment.
    package func mapKeyLines(for position: Int) -> [Range<Int>] {
        guard let map = storage.lastTag(of: header.maps, before: position) else { return [] }
        return storage.keyTags(before: map).compactMap { range(of: $0) }
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

    private func range(of tag: UInt32) -> Range<Int>? { bytes.line(at: Int(index.tags[Int(tag)].lineStart))?.range }
}

import MediaTiming

extension MediaPlaylist {
    /// A line of the playlist, with the ranges that an edit needs.
    package struct EditableLine: Sendable {
        /// The range of the line, including its line ending.
        package let range: Range<Int>
        /// The range of the text, without white space at both ends.
        package let text: Range<Int>
        /// The tag of the line, or `nil` if the line has none or the standard does not define it.
        package let tag: TagName?
        /// The range of the tag's value.
        package let value: Range<Int>?
        /// A Boolean value that indicates whether the line is the URI of a segment.
        package let isURI: Bool
    }

    /// Returns the keys in force for a segment, one for each key format (§4.4.4.4).
    package func keys(for position: Int) -> [EncryptionKey] { storage.keys(for: position) }

    /// The keys of all `EXT-X-KEY` tags, in order.
    package var keys: [EncryptionKey] { storage.allKeys }

    /// Returns the lines that belong to a segment; for the number of segments, the lines after the last segment.
    ///
    /// The lines of the first segment include the playlist-wide tags before it.
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
                    isURI: line.start == address
                )
            )
            if line.start == address { break }
        }
        return result
    }

    /// A line with a key that is in force for a segment or a map.
    package struct KeyLine: Sendable {
        /// The range of the line, including its line ending.
        package let line: Range<Int>
        /// A Boolean value that indicates whether the line belongs to the segment itself.
        package let isOwn: Bool
        /// The key format; `identity` by default.
        package let format: String
        /// A Boolean value that indicates whether the media sequence number is used as initialization vector (§5.2).
        package let usesSequenceAsVector: Bool
    }

    /// Returns the lines with the keys in force for a segment, one for each key format.
    package func keyLines(for position: Int) -> [KeyLine] {
        storage.keyTags(for: position).compactMap { keyLine($0, for: position) }
    }

    /// Returns the lines with the keys in force for the map of a segment.
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
            usesSequenceAsVector: format == EncryptionKey.identityFormat && attributes["IV"] == nil
        )
    }

    /// Returns the line of the map in force for a segment, and whether the line belongs to the segment itself.
    package func mapLine(for position: Int) -> (line: Range<Int>, isOwn: Bool)? { line(of: header.maps, for: position) }

    /// Returns the line of the bit rate in force for a segment, and whether the line belongs to the segment itself.
    package func bitRateLine(for position: Int) -> (line: Range<Int>, isOwn: Bool)? {
        line(of: header.bitRates, for: position)
    }

    /// Returns a Boolean value that indicates whether the byte range of a segment has no offset, so that it follows the
    /// range of the previous segment.
    package func hasImpliedOffset(_ position: Int) -> Bool {
        let written = storage.writtenByteRange(of: position).flatMap { WrittenByteRange(bytes, in: $0) }
        return written.map { $0.start == nil } ?? false
    }

    /// Verifies that each variable that the playlist imports is defined by the multivariant playlist, without which a client must
    /// not play it (RFC 8216bis §4.4.2.3).
    ///
    /// The parser accepts such a playlist, so that it can be inspected, validated and edited.
    ///
    /// - Throws: ``PlaylistParsingError/undeclaredImport(_:)``.
    package func checkImports() throws(PlaylistParsingError) {
        if let name = header.variables.undefinedImport { throw .undeclaredImport(name) }
    }

    /// Returns a text with the values of the variables of the playlist (RFC 8216bis §4.3); undefined names are unchanged.
    package func substitutingVariables(_ text: String) -> String { header.variables.substitute(text) }

    /// The line ending of the playlist, which is that of its first line.
    package var lineEnd: String { Playlist.media(self).lineEnd }

    private func line(of list: [UInt32], for position: Int) -> (line: Range<Int>, isOwn: Bool)? {
        guard let tag = storage.lastTag(of: list, before: position),
            let range = bytes.line(at: Int(tag.lineStart))?.range
        else { return nil }
        return (range, Int(tag.segment) == position)
    }
}

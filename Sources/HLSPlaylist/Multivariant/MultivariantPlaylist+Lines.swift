import MediaTiming

extension MultivariantPlaylist {
    /// The lines that refer to resources other than variants and renditions.
    ///
    /// These are the lines of I-frame variants, session keys, session data with a URI, and content steering.
    package var otherURILines: [Range<Int>] {
        index.tags.compactMap { record in
            guard let tag = record.tag, tag != .media, tag.scope == .multivariant, !tag.addresses.isEmpty else {
                return nil
            }
            var scanner = LineScanner(Int(record.lineStart)..<bytes.count)
            guard let line = scanner.next(in: bytes.span) else { return nil }
            let isPlainData =
                record.tag == .sessionData
                && AttributeList(bytes, in: TagLine(line, in: bytes)?.value)["URI"] == nil
            return isPlainData ? nil : line.range
        }
    }
}

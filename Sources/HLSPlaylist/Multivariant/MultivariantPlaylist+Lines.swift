import MediaTiming

extension MultivariantPlaylist {
    /// The lines that lead to something besides variants and renditions: I-frame variants, session keys, session data
    /// behind an address, a steering manifest.
    package var linesLeadingElsewhere: [Range<Int>] {
        index.tags.compactMap { record in
            switch record.tag {
            case .iFrameVariant, .sessionKey, .contentSteering, .sessionData: break
            default: return nil
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

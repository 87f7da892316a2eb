import MediaTiming

/// A tag that this version of the standard does not know, kept in its place.
public struct UnknownTag: Sendable {
    /// The name without the number sign, such as `EXT-X-CUE-OUT`.
    public let name: String
    /// What stands behind the colon; `nil` where there is none.
    public let value: String?
    /// The value read as an attribute list; meaningless where the tag has none.
    public let attributes: AttributeList
    /// The line it stands in, from 1.
    public let line: Int
}

extension UnknownTag {
    static func all(in bytes: [UInt8], _ index: PlaylistIndex) -> [UnknownTag] {
        var result: [UnknownTag] = []
        var lineNumber = 1
        var scanner = LineScanner(index.textStart..<bytes.count)
        for record in index.tags where record.tag == nil {
            let offset = Int(record.lineStart)
            while scanner.position < offset, scanner.next(in: bytes.span) != nil { lineNumber += 1 }
            guard let tag = bytes.tagLine(at: offset) else { continue }
            result.append(
                UnknownTag(
                    name: bytes.text(tag.name),
                    value: tag.value.map { bytes.text($0) },
                    attributes: AttributeList(bytes, in: tag.value),
                    line: lineNumber
                )
            )
        }
        return result
    }
}

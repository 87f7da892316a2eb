import MediaTiming

/// A tag that the standard does not define, preserved at its position.
public struct UnknownTag: Sendable {
    /// The name without the number sign, such as `EXT-X-CUE-OUT`.
    public let name: String
    /// The text after the colon, or `nil` if there is no colon.
    public let value: String?
    /// The value parsed as an attribute list; not meaningful for other values.
    public let attributes: AttributeList
    /// The number of the line, from 1.
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

/// A line with a tag: the ranges of its name and value.
struct TagLine {
    let line: Line
    /// The range of the name, without the number sign.
    let name: Range<Int>
    /// The range after the colon without trailing white space, or `nil` if there is no colon.
    let value: Range<Int>?

    /// Creates a tag line from a line, or returns `nil` for comments, URIs and blank lines.
    init?(_ line: Line, in bytes: [UInt8]) {
        let text = line.trimmed(in: bytes.span)
        guard let name = Self.name(in: text, bytes.span) else { return nil }
        self.line = line
        self.name = name
        value = name.upperBound < text.upperBound ? (name.upperBound + 1)..<text.upperBound : nil
    }

    /// Returns the range of the tag name in the text of a line, or `nil` if the line has no tag.
    static func name(in text: Range<Int>, _ bytes: Span<UInt8>) -> Range<Int>? {
        guard bytes.hasPrefix("#EXT", at: text.lowerBound, before: text.upperBound) else { return nil }
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"), in: text)
        return (text.lowerBound + 1)..<(colon ?? text.upperBound)
    }

    func tag(in bytes: [UInt8]) -> TagName? { TagName(bytes.span, in: name) }
}

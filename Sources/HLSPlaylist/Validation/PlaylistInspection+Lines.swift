import MediaTiming

/// The rules for bytes, lines and white space (RFC 8216bis §4.1, §4.4).
extension PlaylistInspection {
    /// Reads all lines, and checks the rules that concern one line alone.
    func readLines() {
        let bytes = bytes
        let span = bytes.span
        var start = 0
        if span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count) {
            start = 3
            note(.byteOrderMark, line: 1)
        }
        let hasCarriageReturns = span.firstIndex(of: UInt8(ascii: "\r"), in: 0..<bytes.count) != nil
        var scanner = LineScanner(start..<bytes.count, mayContainCarriageReturns: hasCarriageReturns)
        var collector = LineCollector(self)
        while let line = scanner.next(in: span) { collector.read(line, in: span) }
        // ASCII is valid UTF-8, so the text is checked only if it has other characters.
        if !collector.isASCII, String(validating: bytes, as: UTF8.self) == nil { note(.notUTF8, line: nil) }
        store(collector.lines)
    }

    /// Checks that a text is a decimal integer of at most 64 bits (§4.2).
    ///
    /// - Returns: A Boolean value that indicates whether the text is such an integer.
    @discardableResult
    func inspectInteger(_ text: String, _ line: Int?, _ detail: String) -> Bool {
        guard Grammar.isDigits(text) else {
            if let line { note(.notAnInteger, line: line, detail) }
            return false
        }
        guard text.utf8.count <= 20, UInt64(text) != nil else {
            if let line { note(.integerTooLarge, line: line, detail) }
            return false
        }
        return true
    }
}

/// A collector of the lines of a playlist, which checks the rules that concern one line alone.
private struct LineCollector {
    private let inspection: PlaylistInspection
    private let kind: Playlist.Kind
    private(set) var lines: [InspectedLine] = []
    /// A Boolean value that indicates whether the lines that have been read consist of ASCII characters.
    private(set) var isASCII = true
    /// The number of the line that is read, from 1.
    private var number = 0
    /// A Boolean value that indicates whether an `EXT-X-STREAM-INF` tag precedes its URI line, which has not been read
    /// yet.
    private var hasVariant = false
    /// The tag of the other kind of playlist whose URI line has not been read yet.
    private var foreignTag: TagName?

    init(_ inspection: PlaylistInspection) {
        self.inspection = inspection
        kind = inspection.kind
        // Most segments have two tags and a URI.
        lines.reserveCapacity(3 *| inspection.expectedSegmentCount)
    }

    private func note(_ rule: Rule, _ detail: String? = nil) { inspection.note(rule, line: number, detail) }

    mutating func read(_ line: Line, in bytes: Span<UInt8>) {
        number += 1
        if line.end == line.contentEnd + 1, bytes[line.contentEnd] == UInt8(ascii: "\r") { note(.loneCarriageReturn) }
        let content = line.start..<line.contentEnd
        let text = bytes.trimmingBlanks(content)
        if number == 1, !bytes.matches("#EXTM3U", in: text) { note(.headerNotFirst) }
        if !bytes.isPrintableASCII(content) { inspectBytes(line, text, in: bytes) }
        guard !text.isEmpty else { return }
        if bytes[text.lowerBound] != UInt8(ascii: "#") {
            if text != content { inspectEdges(line, text, in: bytes) }
            readURI(text, in: bytes)
        } else if kind == .media, let frequent = frequentTag(text, in: bytes) {
            if text != content { inspectEdges(line, text, in: bytes) }
            append(frequent)
        } else if let name = TagLine.name(in: text, bytes) {
            if text != content { inspectEdges(line, text, in: bytes) }
            readTag(text, name, in: bytes)
        }
    }

    // MARK: Bytes

    /// Checks for control characters and for text that is not in normalization form C.
    private mutating func inspectBytes(_ line: Line, _ text: Range<Int>, in bytes: Span<UInt8>) {
        var hasControl = false
        var isASCII = true
        var isInRemovedRanges = false
        let isSkip = bytes.hasPrefix("#EXT-X-SKIP:", at: text.lowerBound, before: text.upperBound)
        var index = line.start
        let end = endOfCheckedBytes(line, text, in: bytes)
        while index < end {
            let byte = bytes[index]
            if byte >= 0x80 {
                isASCII = false
                if byte == 0xC2, index + 1 < end, bytes[index + 1] < 0xA0 { hasControl = true }
            } else if byte < 0x20 || byte == 0x7F {
                // The IDs of removed date ranges are separated by tabs.
                if !(isSkip && byte == UInt8(ascii: "\t") && isInRemovedRanges) { hasControl = true }
            } else if isSkip, byte == UInt8(ascii: "\"") {
                isInRemovedRanges.toggle()
            }
            index += 1
        }
        if hasControl { note(.controlCharacter) }
        guard !isASCII else { return }
        self.isASCII = false
        if !Composition.isComposed(inspection.text(line.start..<line.contentEnd)) { note(.notNFC) }
    }

    /// Returns the offset up to which the bytes of a line are checked.
    ///
    /// A title that consists of white space is ignored, because Apple's own tools write a tab there.
    private func endOfCheckedBytes(_ line: Line, _ text: Range<Int>, in bytes: Span<UInt8>) -> Int {
        guard bytes.hasPrefix("#EXTINF:", at: line.start, before: line.contentEnd),
            let comma = bytes.firstIndex(of: UInt8(ascii: ","), in: text), comma + 1 == text.upperBound
        else { return line.contentEnd }
        return comma
    }

    private func inspectEdges(_ line: Line, _ text: Range<Int>, in bytes: Span<UInt8>) {
        if bytes[line.start] == UInt8(ascii: " ") { note(.leadingSpace) }
        guard bytes[line.contentEnd - 1] == UInt8(ascii: " ") else { return }
        let isTitle =
            bytes.hasPrefix("#EXTINF", at: text.lowerBound, before: text.upperBound)
            && bytes.firstIndex(of: UInt8(ascii: ","), in: text) != nil
        if !isTitle { note(.trailingSpace) }
    }

    // MARK: Lines

    private mutating func append(_ line: InspectedLine) {
        if line.tag == .variant { hasVariant = true }
        if line.tag == .segmentInformation { foreignTag = nil }
        lines.append(line)
    }

    private mutating func readURI(_ text: Range<Int>, in bytes: Span<UInt8>) {
        let hasSpace = bytes.firstIndex(of: UInt8(ascii: " "), in: text) != nil
        if hasSpace { note(.spaceInAddress) }
        var fault: AuthorityFault?
        if bytes.firstIndex(of: UInt8(ascii: "{"), in: text) != nil {
            let (address, isOpaque) = inspection.substitute(inspection.text(text), line: number, notes: true)
            fault = isOpaque ? nil : Grammar.authorityFault(address)
        } else {
            fault = Grammar.authorityFault(bytes, in: text)
        }
        // A space was reported already, and makes the host invalid too.
        if let fault, !hasSpace { note(.invalidURI, "(\(fault.rawValue))") }
        // A URI that belongs to a tag of the other kind of playlist is ignored, like the tag.
        if claimsURILine() { append(InspectedLine(number, nil, text: text, value: nil)) }
    }

    /// Records that the next URI may belong to a tag of the other kind of playlist.
    private mutating func expectURI(ofForeign tag: TagName) {
        if tag == .variant || tag == .segmentInformation { foreignTag = tag }
    }

    /// Ends the expectation of a URI line after a tag.
    ///
    /// - Returns: A Boolean value that indicates whether the URI belongs to this kind of playlist; a variant tag takes
    ///   precedence over a segment tag.
    private mutating func claimsURILine() -> Bool {
        defer { (hasVariant, foreignTag) = (false, foreignTag == .segmentInformation && hasVariant ? foreignTag : nil) }
        return foreignTag == nil || kind == .multivariant && hasVariant
    }

    private mutating func readTag(_ text: Range<Int>, _ written: Range<Int>, in bytes: Span<UInt8>) {
        var name = written
        // The name begins with `EXT`, so the loop ends.
        while bytes[name.upperBound - 1] == UInt8(ascii: " ") {
            name = name.lowerBound..<(name.upperBound - 1)
        }
        if name != written { note(.spaceInTag) }
        guard let tag = TagName(bytes, in: name) else {
            inspection.noteUnknown(inspection.text(name), line: number)
            return
        }
        let definition = tag.definition
        let isForeign = kind == .media ? definition.scope.isMultivariantOnly : definition.scope.isMediaOnly
        guard !isForeign else {
            expectURI(ofForeign: tag)
            note(.mixedKinds, "(\(tag.name) in a \(kind.rawValue) playlist)")
            return
        }
        append(inspectedLine(tag, definition, text, written, in: bytes))
    }

    /// Returns the line of a tag that almost every segment has, if it has a value that begins directly after the colon.
    ///
    /// The rules for segments check these values.
    private func frequentTag(_ text: Range<Int>, in bytes: Span<UInt8>) -> InspectedLine? {
        let (tag, value): (TagName, Range<Int>)
        if text.count > 8, TagBytes.isSegmentInformation(bytes, in: text) {
            (tag, value) = (.segmentInformation, text.dropFirst(8))
        } else if TagBytes.isByteRange(bytes, in: text) {
            (tag, value) = (.byteRange, text.dropFirst(17))
        } else {
            return nil
        }
        guard !value.isEmpty, !bytes[value.lowerBound].isBlank else { return nil }
        return InspectedLine(number, tag, text: text, value: value.lowerBound)
    }

    /// Checks the value of a tag, and returns the line.
    private func inspectedLine(
        _ tag: TagName,
        _ definition: TagDefinition,
        _ text: Range<Int>,
        _ written: Range<Int>,
        in bytes: Span<UInt8>
    ) -> InspectedLine {
        let hasColon = written.upperBound < text.upperBound
        var valueStart = hasColon ? written.upperBound + 1 : text.upperBound
        var line = InspectedLine(number, tag, text: text, value: valueStart)
        if tag == .header { return line }
        if case .none = definition.value {
            if hasColon { note(.unexpectedValue, "(\(tag.name))") }
            return line
        }
        // A tab was reported as a control character.
        while valueStart < text.upperBound, bytes[valueStart].isBlank { valueStart += 1 }
        guard valueStart < text.upperBound else {
            note(.missingValue, "(\(tag.name))")
            line.isMalformed = true
            return line
        }
        if bytes[written.upperBound + 1] == UInt8(ascii: " ") { note(.spaceInTag) }
        line = InspectedLine(number, tag, text: text, value: valueStart)
        inspectValue(definition, &line, in: bytes)
        return line
    }

    private func inspectValue(_ definition: TagDefinition, _ line: inout InspectedLine, in bytes: Span<UInt8>) {
        switch definition.value {
        case .integer(let maximum):
            let (text, detail) = (inspection.text(line.value), "(\(definition.name))")
            guard inspection.inspectInteger(text, number, detail) else { return }
            let isReadable = Int64(text).map { $0 <= maximum } ?? false
            if !isReadable { note(.integerAboveLimit, detail) }
        case .wholeSeconds:
            inspection.inspectInteger(inspection.text(line.value), number, "(\(definition.name))")
        case .date:
            if bytes.firstIndex(of: UInt8(ascii: " "), in: line.value) != nil { note(.spaceInTag) }
        case .word(let known):
            let word = inspection.text(line.value)
            if !known.words.contains(word) { note(known.rule, "(\(word))") }
        case .attributes: line.isMalformed = inspection.readAttributes(of: line, noting: true).isMalformed
        // The rules for segments check these values.
        case .none, .byteRange, .segmentInformation: break
        }
    }
}

extension Span<UInt8> {
    /// Returns a Boolean value that indicates whether a range has only printable ASCII characters.
    ///
    /// Eight bytes are tested at once, because almost every line has only such characters.
    fileprivate func isPrintableASCII(_ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        guard range.count >= 8 else {
            while index < range.upperBound {
                guard self[index] >= 0x20, self[index] < 0x7F else { return false }
                index += 1
            }
            return true
        }
        let last = range.upperBound - 8
        while index < last {
            guard Self.isPrintableASCII(word(at: index)) else { return false }
            index += 8
        }
        // The last eight bytes may overlap those before.
        return Self.isPrintableASCII(word(at: last))
    }

    /// Returns a Boolean value that indicates whether each of eight bytes is a printable ASCII character.
    @inline(__always)
    private static func isPrintableASCII(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // A byte below 0x20 borrows from its highest bit, and 0x7F becomes 0x80 by addition of 1.
        return (word | (word &- ones &* 0x20) | (word &+ ones)) & (ones &* 0x80) == 0
    }
}

/// A check for Unicode normalization form C that covers the characters common in playlists.
enum Composition {
    /// The characters that can be written as a single scalar or as a letter with combining marks.
    private static let composed: Set<Character> = {
        let ranges: [ClosedRange<UInt32>] = [
            0xC0...0x24F, 0x386...0x3CE, 0x400...0x4F9, 0x622...0x6D3, 0x1E00...0x1FFC,
        ]
        return Set(ranges.joined().compactMap { Unicode.Scalar($0) }.map { Character($0) })
    }()

    /// The scalars whose canonical equivalent is a different single scalar.
    private static let singletons: Set<UInt32> = [
        0x340, 0x341, 0x343, 0x344, 0x374, 0x37E, 0x387, 0x2126, 0x212A, 0x212B,
    ]

    static func isComposed(_ text: String) -> Bool {
        for character in text {
            let scalars = character.unicodeScalars
            if scalars.contains(where: { singletons.contains($0.value) || (0xF900...0xFA0D).contains($0.value) }) {
                return false
            }
            guard scalars.count > 1 else { continue }
            // A letter with marks that has an equivalent single scalar must be that scalar; so must Hangul jamo of one
            // syllable.
            let values = scalars.map(\.value)
            if (0x1100...0x1112).contains(values[0]), (0x1161...0x1175).contains(values[1]) { return false }
            if isHangulWithoutFinal(values[0]), (0x11A8...0x11C2).contains(values[1]) { return false }
            for length in 2...3 {
                var front = String.UnicodeScalarView()
                front.append(contentsOf: scalars.prefix(length))
                if let first = String(front).first, composed.contains(first) { return false }
            }
        }
        return true
    }

    /// Returns a Boolean value that indicates whether a scalar is a Hangul syllable without a final consonant.
    private static func isHangulWithoutFinal(_ value: UInt32) -> Bool {
        (0xAC00...0xD7A3).contains(value) && (value -| 0xAC00).isMultiple(of: 28)
    }
}

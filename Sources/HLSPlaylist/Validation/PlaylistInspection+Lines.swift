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
        if String(validating: bytes, as: UTF8.self) == nil { note(.notUTF8, line: nil) }
        var scanner = LineScanner(start..<bytes.count)
        var number = 0
        while let line = scanner.next(in: span) {
            number += 1
            read(line, number)
        }
    }

    private func read(_ line: Line, _ number: Int) {
        let bytes = bytes
        let span = bytes.span
        if line.end == line.contentEnd + 1, bytes[line.contentEnd] == UInt8(ascii: "\r") {
            note(.loneCarriageReturn, line: number)
        }
        let text = span.trimmingBlanks(line.start..<line.contentEnd)
        if number == 1, !span.matches("#EXTM3U", in: text) { note(.headerNotFirst, line: 1) }
        inspectBytes(line, text, number)
        guard !text.isEmpty else { return }
        let isHash = bytes[text.lowerBound] == UInt8(ascii: "#")
        guard let name = TagLine.name(in: text, span) else {
            if !isHash { readURILine(line, text, number) }
            return
        }
        inspectEdges(line, text, number)
        readTag(text, name, number)
    }

    /// Checks for control characters and for text that is not in normalization form C.
    private func inspectBytes(_ line: Line, _ text: Range<Int>, _ number: Int) {
        let bytes = bytes
        let span = bytes.span
        if isPlain(span, in: line.start..<line.contentEnd) { return }
        var hasControl = false
        var isASCII = true
        var isInRemovedRanges = false
        let isSkip = span.hasPrefix("#EXT-X-SKIP:", at: text.lowerBound, before: text.upperBound)
        var index = line.start
        let end = endOfCheckedBytes(line, text)
        while index < end {
            let byte = span[index]
            if byte >= 0x80 {
                isASCII = false
                if byte == 0xC2, index + 1 < end, span[index + 1] < 0xA0 { hasControl = true }
            } else if byte < 0x20 || byte == 0x7F {
                // The IDs of removed date ranges are separated by tabs.
                if !(isSkip && byte == UInt8(ascii: "\t") && isInRemovedRanges) { hasControl = true }
            } else if isSkip, byte == UInt8(ascii: "\"") {
                isInRemovedRanges.toggle()
            }
            index += 1
        }
        if hasControl { note(.controlCharacter, line: number) }
        if !isASCII, !Composition.isComposed(bytes.text(line.start..<line.contentEnd)) { note(.notNFC, line: number) }
    }

    /// Returns a Boolean value that indicates whether a range has only printable ASCII characters.
    ///
    /// Eight bytes are tested at once, because almost every line is plain.
    private func isPlain(_ bytes: Span<UInt8>, in range: Range<Int>) -> Bool {
        let high: UInt64 = 0x8080_8080_8080_8080
        let ones: UInt64 = 0x0101_0101_0101_0101
        var index = range.lowerBound
        while range.upperBound - index >= 8 {
            let word = bytes.word(at: index)
            // A byte below 0x20 borrows from its highest bit, and 0x7F becomes 0x80 by addition of 1.
            guard word & high == 0, (word &- ones &* 0x20) & high == 0, (word &+ ones) & high == 0 else { return false }
            index += 8
        }
        while index < range.upperBound {
            guard bytes[index] >= 0x20, bytes[index] < 0x7F else { return false }
            index += 1
        }
        return true
    }

    /// Returns the offset up to which the bytes of a line are checked.
    ///
    /// A title that consists of white space is ignored, because Apple's own tools write a tab there.
    private func endOfCheckedBytes(_ line: Line, _ text: Range<Int>) -> Int {
        let bytes = bytes
        guard bytes.span.hasPrefix("#EXTINF:", at: line.start, before: line.contentEnd),
            let comma = bytes.span.firstIndex(of: UInt8(ascii: ","), in: text), comma + 1 == text.upperBound
        else { return line.contentEnd }
        return comma
    }

    private func inspectEdges(_ line: Line, _ text: Range<Int>, _ number: Int) {
        let bytes = bytes
        if bytes[line.start] == UInt8(ascii: " ") { note(.leadingSpace, line: number) }
        guard bytes[line.contentEnd - 1] == UInt8(ascii: " ") else { return }
        let isTitle =
            bytes.span.hasPrefix("#EXTINF", at: text.lowerBound, before: text.upperBound)
            && bytes.span.firstIndex(of: UInt8(ascii: ","), in: text) != nil
        if !isTitle { note(.trailingSpace, line: number) }
    }

    private func readURILine(_ line: Line, _ text: Range<Int>, _ number: Int) {
        let bytes = bytes
        inspectEdges(line, text, number)
        if bytes.span.firstIndex(of: UInt8(ascii: " "), in: text) != nil { note(.spaceInAddress, line: number) }
        if bytes.span.firstIndex(of: UInt8(ascii: "{"), in: text) != nil {
            _ = substitute(bytes.text(text), line: number, notes: true)
        }
        // A URI that belongs to a tag of the other kind of playlist is ignored, like the tag.
        if claimsURILine() { append(InspectedLine(number, nil, text: text, value: nil)) }
    }

    private func readTag(_ text: Range<Int>, _ written: Range<Int>, _ number: Int) {
        let bytes = bytes
        var name = written
        // The name begins with `EXT`, so the loop ends.
        while bytes[name.upperBound - 1] == UInt8(ascii: " ") {
            name = name.lowerBound..<(name.upperBound - 1)
        }
        if name != written { note(.spaceInTag, line: number) }
        guard let tag = TagName(bytes.span, in: name) else {
            noteUnknown(bytes.text(name), line: number)
            return
        }
        let isForeign = kind == .media ? tag.scope.isMultivariantOnly : tag.scope.isMediaOnly
        guard !isForeign else {
            expectURI(ofForeign: tag)
            note(.mixedKinds, line: number, "(\(tag.name) in a \(kind.rawValue) playlist)")
            return
        }
        let hasColon = written.upperBound < text.upperBound
        var valueStart = hasColon ? written.upperBound + 1 : text.upperBound
        var line = InspectedLine(number, tag, text: text, value: valueStart)
        if tag == .header {
            append(line)
            return
        }
        if case .none = tag.definition.value {
            if hasColon { note(.unexpectedValue, line: number, "(\(tag.name))") }
            append(line)
            return
        }
        // A tab was reported as a control character.
        while valueStart < text.upperBound, bytes[valueStart].isBlank { valueStart += 1 }
        guard valueStart < text.upperBound else {
            note(.missingValue, line: number, "(\(tag.name))")
            line.isMalformed = true
            append(line)
            return
        }
        if bytes[written.upperBound + 1] == UInt8(ascii: " ") { note(.spaceInTag, line: number) }
        line = InspectedLine(number, tag, text: text, value: valueStart)
        inspectValue(tag, &line)
        append(line)
    }

    private func inspectValue(_ tag: TagName, _ line: inout InspectedLine) {
        switch tag.definition.value {
        case .integer, .wholeSeconds: inspectInteger(text(line.value), line.number, "(\(tag.name))")
        case .date:
            if bytes[line.value].contains(UInt8(ascii: " ")) { note(.spaceInTag, line) }
        case .word(let known):
            let word = text(line.value)
            if !known.words.contains(word) { note(known.rule, line, "(\(word))") }
        case .attributes: line.isMalformed = readAttributes(of: line, noting: true).isMalformed
        // The rules for segments check these values.
        case .none, .byteRange, .segmentInformation: break
        }
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

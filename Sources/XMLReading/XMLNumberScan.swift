/// A document in which each series of elements with numbers is replaced by one empty element of the same name.
///
/// An XML parser takes several times as long for an element as it takes to read its numbers. White space between the
/// elements of a series is replaced by line feeds in the tag, so that the lines of the document keep their numbers.
struct XMLReducedDocument {
    /// A series of elements that was replaced.
    struct Series {
        /// The position in the document after the first character of the element that stands for the series.
        let position: Int
        let table: XMLNumberTable
    }

    /// The bytes, encoded as before.
    fileprivate(set) var bytes: [UInt8] = []
    /// The series in the order of the document.
    fileprivate(set) var series: [Series] = []
}

/// A scan of a document for elements whose attributes are numbers.
///
/// Every other construct stays as it is, and so does a document whose markup the scan does not know, such as a document
/// type declaration.
struct XMLNumberScan {
    /// The maximum number of digits of a number; more may not fit in 64 bits.
    private static let maximumDigitCount = 18
    /// The maximum length of the name of an element with its prefix, in bytes.
    private static let maximumNameLength = 64

    private let element: XMLNumberElement
    /// The column of each lowercase letter, or -1 if the letter is not the name of an attribute.
    private var columns = [Int](repeating: -1, count: 26)
    private var table: XMLNumberTable
    private var result = XMLReducedDocument()
    /// The position in the original document up to which the result is complete.
    private var copied = 0

    private init(_ element: XMLNumberElement) {
        self.element = element
        table = XMLNumberTable(columnCount: element.attributes.count)
        for (column, letter) in element.attributes.enumerated() {
            if let position = Self.position(ofLetter: letter) { columns[position] = column }
        }
    }

    /// Replaces the elements of a document.
    ///
    /// - Parameters:
    ///   - bytes: The document, in an encoding in which ASCII bytes represent ASCII characters.
    ///   - element: The elements with numbers.
    /// - Returns: The document with its series, or `nil` if it has none or cannot be scanned.
    /// - Complexity: O(*n*) in bytes.
    static func reduce(_ bytes: Span<UInt8>, _ element: XMLNumberElement) -> XMLReducedDocument? {
        var scan = XMLNumberScan(element)
        guard scan.scan(bytes), !scan.result.series.isEmpty else { return nil }
        scan.copy(bytes, to: bytes.count)
        return scan.result
    }

    /// Scans the document; returns `false` at a construct that is not known.
    private mutating func scan(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while true {
            while index < bytes.count, bytes[index] != UInt8(ascii: "<") { index += 1 }
            guard index + 1 < bytes.count else { return true }
            switch bytes[index + 1] {
            case UInt8(ascii: "!"):
                guard let end = Self.endOfSection(bytes, index) else { return false }
                index = end
            case UInt8(ascii: "?"):
                guard let end = Self.position(of: "?>", in: bytes, from: index + 2) else { return false }
                index = end
            case UInt8(ascii: "/"): index += 2
            default: index = scanSeries(bytes, index) ?? index + 1
            }
        }
    }

    /// Returns the end of a comment or CDATA section at a position, or `nil` for another construct.
    private static func endOfSection(_ bytes: Span<UInt8>, _ index: Int) -> Int? {
        if hasText("<!--", bytes, index) { return position(of: "-->", in: bytes, from: index + 4) }
        guard hasText("<![CDATA[", bytes, index) else { return nil }
        return position(of: "]]>", in: bytes, from: index + 9)
    }

    private static func hasText(_ text: StaticString, _ bytes: Span<UInt8>, _ index: Int) -> Bool {
        guard text.utf8CodeUnitCount <= bytes.count - index else { return false }
        return text.withUTF8Buffer { units in
            (0..<units.count).allSatisfy { unsafe units[$0] == bytes[index + $0] }
        }
    }

    /// Returns the position after the next occurrence of a text, or `nil` if there is none.
    private static func position(of text: StaticString, in bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index + text.utf8CodeUnitCount <= bytes.count {
            if hasText(text, bytes, index) { return index + text.utf8CodeUnitCount }
            index += 1
        }
        return nil
    }

    // MARK: Series

    /// Replaces the series of elements that begins with a tag.
    ///
    /// - Returns: The end of the last element, or `nil` if the first one is something else.
    private mutating func scanSeries(_ bytes: Span<UInt8>, _ start: Int) -> Int? {
        guard let nameEnd = nameEnd(bytes, start + 1) else { return nil }
        let length = nameEnd - start - 1
        var end = start
        var lineCount = 0
        var index = start
        while index + 1 + length < bytes.count, Self.isSame(bytes, index + 1, start + 1, length) {
            var lines = 0
            guard let next = readElement(bytes, index + 1 + length, name: start + 1..<nameEnd, &lines) else { break }
            (end, index, lineCount) = (next, next, lineCount + lines)
            lines = 0
            Self.skipWhiteSpace(bytes, &index, &lines)
            guard index < bytes.count, bytes[index] == UInt8(ascii: "<") else { break }
            lineCount += lines
        }
        guard table.count > 0 else { return nil }
        // Line feeds before the tag after the series are copied with it.
        var lines = 0
        var position = end
        Self.skipWhiteSpace(bytes, &position, &lines)
        let isFollowed = position < bytes.count && bytes[position] == UInt8(ascii: "<")
        if isFollowed { lineCount -= lines }
        store(bytes, start, nameEnd: nameEnd, end: end, lineCount: max(0, lineCount))
        return end
    }

    /// Adds the element that stands for a series, with the line feeds of the series.
    private mutating func store(_ bytes: Span<UInt8>, _ start: Int, nameEnd: Int, end: Int, lineCount: Int) {
        copy(bytes, to: nameEnd)
        let position = result.bytes.count - (nameEnd - start) + 1
        // Within the tag, they do not become part of text.
        result.bytes.append(contentsOf: repeatElement(UInt8(ascii: "\n"), count: lineCount))
        result.bytes += [UInt8(ascii: "/"), UInt8(ascii: ">")]
        result.series.append(XMLReducedDocument.Series(position: position, table: table))
        table = XMLNumberTable(columnCount: table.columnCount)
        copied = end
    }

    /// Copies the original document up to a position.
    private mutating func copy(_ bytes: Span<UInt8>, to end: Int) {
        // Safe: the buffer is used only within the closure.
        unsafe bytes.extracting(copied..<end).withUnsafeBufferPointer { buffer in
            unsafe result.bytes.append(contentsOf: buffer)
        }
        copied = end
    }

    /// Returns the end of the name of a tag if its local name is that of the elements with numbers.
    private func nameEnd(_ bytes: Span<UInt8>, _ start: Int) -> Int? {
        var index = start
        while index < bytes.count, index - start <= Self.maximumNameLength {
            let byte = bytes[index]
            if Self.isWhiteSpace(byte) || byte == UInt8(ascii: "/") || byte == UInt8(ascii: ">") { break }
            index += 1
        }
        guard index > start, index < bytes.count, bytes[index - 1] == element.name else { return nil }
        guard index - start == 1 || bytes[index - 2] == UInt8(ascii: ":") else { return nil }
        return index
    }

    private static func isSame(_ bytes: Span<UInt8>, _ first: Int, _ second: Int, _ length: Int) -> Bool {
        guard first != second else { return true }
        for offset in 0..<length where bytes[first + offset] != bytes[second + offset] { return false }
        return true
    }

    // MARK: Elements

    /// Reads an element after its name, and adds a row for it.
    ///
    /// - Returns: The end of the element, or `nil` if it is not an empty element whose attributes are numbers.
    private mutating func readElement(
        _ bytes: Span<UInt8>,
        _ start: Int,
        name: Range<Int>,
        _ lineCount: inout Int
    ) -> Int? {
        let row = table.appendRow()
        var index = start
        while index < bytes.count {
            let before = index
            Self.skipWhiteSpace(bytes, &index, &lineCount)
            guard index + 1 < bytes.count else { break }
            if bytes[index] == UInt8(ascii: "/") {
                guard bytes[index + 1] == UInt8(ascii: ">") else { break }
                return index + 2
            }
            if bytes[index] == UInt8(ascii: ">") {
                guard let end = Self.endOfEndTag(bytes, index + 1, name: name) else { break }
                return end
            }
            guard index > before, readAttribute(bytes, &index, row: row, &lineCount) else { break }
        }
        table.removeLastRow()
        return nil
    }

    /// Returns the end of the end tag at a position, or `nil` if there is something else.
    private static func endOfEndTag(_ bytes: Span<UInt8>, _ start: Int, name: Range<Int>) -> Int? {
        let end = start + name.count + 3
        guard end <= bytes.count, bytes[start] == UInt8(ascii: "<"), bytes[start + 1] == UInt8(ascii: "/"),
            isSame(bytes, start + 2, name.lowerBound, name.count), bytes[end - 1] == UInt8(ascii: ">")
        else { return nil }
        return end
    }

    /// Reads an attribute; returns `false` if it is not a number under a name that is new.
    private mutating func readAttribute(
        _ bytes: Span<UInt8>,
        _ index: inout Int,
        row: Int,
        _ lineCount: inout Int
    ) -> Bool {
        guard let letter = Self.position(ofLetter: bytes[index]), columns[letter] >= 0 else { return false }
        let position = row + columns[letter]
        index += 1
        if index < bytes.count, bytes[index] != UInt8(ascii: "=") { Self.skipWhiteSpace(bytes, &index, &lineCount) }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return false }
        index += 1
        Self.skipWhiteSpace(bytes, &index, &lineCount)
        guard index + 1 < bytes.count else { return false }
        let quote = bytes[index]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { return false }
        index += 1
        let isNegative = bytes[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        var number: Int64 = 0
        let first = index
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            // Wrong numbers of more digits are refused below.
            number = number &* 10 &+ Int64(truncatingIfNeeded: digit)
            index += 1
        }
        guard index > first, index - first <= Self.maximumDigitCount, index < bytes.count, bytes[index] == quote else {
            return false
        }
        index += 1
        return table.set(position, isNegative ? 0 &- number : number)
    }

    private static func skipWhiteSpace(_ bytes: Span<UInt8>, _ index: inout Int, _ lineCount: inout Int) {
        while index < bytes.count, isWhiteSpace(bytes[index]) {
            if bytes[index] == UInt8(ascii: "\n") { lineCount += 1 }
            index += 1
        }
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Returns the position of a lowercase letter in the alphabet, or `nil` for other characters.
    private static func position(ofLetter letter: UInt8) -> Int? {
        // Bounded: a byte fits in an integer.
        letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") ? Int(letter &- UInt8(ascii: "a")) : nil
    }
}

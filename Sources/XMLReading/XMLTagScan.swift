/// A scan of a document's tags for excessive numbers of attributes, before the document is parsed.
///
/// An XML parser compares each attribute of an element with all others, which takes quadratic time, and reports the
/// attributes only afterwards.
struct XMLTagScan {
    private let limit: Int
    private var state = State.text
    private var count = 0
    /// A Boolean value that indicates whether the contents of comments, CDATA sections and processing instructions are skipped.
    ///
    /// A document type declaration may contain the start of a comment in a quoted value, and so may markup that is not
    /// well-formed. After either of them, the scan looks for tags everywhere, which can only find too many attributes.
    private var skipsContents = true

    private enum State: Equatable {
        case text
        /// After a less-than sign.
        case afterLessThan
        /// After `<!` and the given number of characters of `--` or `[CDATA[`.
        case declaration(Section, matched: Int)
        /// In the contents of a section, after the given number of characters of its end.
        case contents(Section, matched: Int)
        case tag
        case value(quote: UInt16)
    }

    /// The constructs whose contents are not tags.
    private enum Section {
        case comment
        case characterData
        case instruction

        /// The characters between `<!` and the contents of a CDATA section.
        private static let characterDataStart: [UInt16] = [0x5B, 0x43, 0x44, 0x41, 0x54, 0x41, 0x5B]

        /// The number of characters between `<!` and the contents.
        var startLength: Int { self == .characterData ? Self.characterDataStart.count : 2 }
        /// The number of characters of `-->`, `]]>` or `?>`.
        var endLength: Int { self == .instruction ? 2 : 3 }
        /// The character that the end begins with: all but the last, which is a greater-than sign.
        var endUnit: UInt16 {
            switch self {
            case .comment: 0x2D
            case .characterData: 0x5D
            case .instruction: 0x3F
            }
        }

        func startUnit(_ index: Int) -> UInt16 { self == .characterData ? Self.characterDataStart[index] : 0x2D }
    }

    private init(limit: Int) { self.limit = limit }

    /// Returns whether a tag has more attributes than `limit`, including namespace declarations.
    ///
    /// The scan counts the equals signs of a tag outside quotation marks: each attribute has one. The document must
    /// have one of the encodings that ``hasKnownEncoding(_:)`` accepts.
    ///
    /// - Complexity: O(*n*) in bytes.
    static func hasElement(withMoreAttributesThan limit: Int, in bytes: Span<UInt8>) -> Bool {
        var scan = XMLTagScan(limit: limit)
        guard let order = utf16ByteOrder(bytes) else {
            guard mayHaveElement(withMoreAttributesThan: limit, in: bytes) else { return false }
            var index = 0
            while index < bytes.count {
                // Most bytes change nothing in text and tags, so they are passed over without the state machine.
                switch scan.state {
                case .text: while index < bytes.count, bytes[index] != 0x3C { index += 1 }
                // Quotation marks and less-than, equals and greater-than signs are the only bytes with a meaning.
                case .tag: while index < bytes.count, bytes[index] > 0x3E { index += 1 }
                case .value(let quote):
                    // Bounded: a byte fits in 16 bits.
                    while index < bytes.count, bytes[index] != 0x3C, UInt16(bytes[index]) != quote { index += 1 }
                case .afterLessThan, .declaration, .contents: break
                }
                guard index < bytes.count else { break }
                // Bounded: a byte fits in 16 bits.
                if scan.processUnit(UInt16(bytes[index])) { return true }
                index += 1
            }
            return false
        }
        var index = 0
        while index + 1 < bytes.count {
            let (high, low) = order == .bigEndian ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
            // Bounded: a byte fits in 16 bits.
            if scan.processUnit(UInt16(high) << 8 | UInt16(low)) { return true }
            index += 2
        }
        return false
    }

    /// Returns whether a document in single bytes has more than `limit` equals signs between two less-than signs, so that
    /// a tag may have more attributes.
    ///
    /// The search for less-than signs goes back from the end of each such number of bytes, so that it reads only some of
    /// them in most documents.
    private static func mayHaveElement(withMoreAttributesThan limit: Int, in bytes: Span<UInt8>) -> Bool {
        var start = 0
        while bytes.count - start > limit {
            var index = start + limit
            while index >= start, bytes[index] != 0x3C { index -= 1 }
            if index < start {
                var count = 0
                index = start
                while index < bytes.count, bytes[index] != 0x3C {
                    if bytes[index] == 0x3D { count += 1 }
                    index += 1
                }
                guard count <= limit else { return true }
            }
            start = index + 1
        }
        return false
    }

    private mutating func processUnit(_ unit: UInt16) -> Bool {
        if case .contents(let section, let matched) = state {
            readContents(of: section, unit, matched: matched)
            return false
        }
        // Attribute values cannot contain a less-than sign, so each one begins a tag.
        if unit == 0x3C {
            if state != .text { skipsContents = false }
            state = .afterLessThan
            count = 0
            return false
        }
        switch (state, unit) {
        // Comments, processing instructions, declarations and CDATA sections are not tags.
        case (.afterLessThan, 0x21): state = skipsContents ? .declaration(.comment, matched: 0) : .text
        case (.afterLessThan, 0x3F): state = skipsContents ? .contents(.instruction, matched: 0) : .text
        case (.afterLessThan, _): state = .tag
        case (.declaration(let section, let matched), _): readDeclaration(of: section, unit, matched: matched)
        case (.tag, 0x3E): state = .text
        case (.tag, 0x22), (.tag, 0x27): state = .value(quote: unit)
        case (.tag, 0x3D):
            count += 1
            return count > limit
        case (.value(let quote), unit) where quote == unit: state = .tag
        default: break
        }
        return false
    }

    private mutating func readDeclaration(of section: Section, _ unit: UInt16, matched: Int) {
        let section = matched == 0 && unit == Section.characterData.startUnit(0) ? .characterData : section
        guard section.startUnit(matched) == unit else {
            skipsContents = false
            state = .text
            return
        }
        let matched = matched + 1
        state =
            matched == section.startLength ? .contents(section, matched: 0) : .declaration(section, matched: matched)
    }

    private mutating func readContents(of section: Section, _ unit: UInt16, matched: Int) {
        if matched == section.endLength - 1, unit == 0x3E {
            state = .text
        } else if unit == section.endUnit {
            // Of three hyphens, the last two begin the end of a comment.
            state = .contents(section, matched: min(matched + 1, section.endLength - 1))
        } else if matched > 0 {
            state = .contents(section, matched: 0)
        }
    }
}

extension XMLTagScan {
    private enum ByteOrder {
        case bigEndian
        case littleEndian
    }

    /// Returns the byte order of a document in UTF-16, or `nil` for encodings with single-byte units.
    private static func utf16ByteOrder(_ bytes: Span<UInt8>) -> ByteOrder? {
        guard bytes.count >= 2 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0xFE, 0xFF), (0, 0x3C): return .bigEndian
        case (0xFF, 0xFE), (0x3C, 0): return .littleEndian
        default: return nil
        }
    }

    /// Returns whether a document is in UTF-8, UTF-16 or another encoding in which ASCII bytes represent ASCII
    /// characters.
    ///
    /// In other encodings, markup can be represented by other bytes, which the scan would miss.
    static func hasKnownEncoding(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 4 else { return true }
        let start = (bytes[0], bytes[1], bytes[2], bytes[3])
        // UTF-32 with and without a byte order mark, and EBCDIC.
        switch start {
        case (0, 0, _, _), (0x3C, 0, 0, 0), (0xFF, 0xFE, 0, 0), (0x4C, 0x6F, 0xA7, 0x94): return false
        default: break
        }
        guard let name = declaredEncoding(bytes) else { return true }
        return ["utf-8", "utf8", "us-ascii", "ascii", "latin1"].contains(name)
            || ["utf-16", "iso-8859-", "iso8859-", "windows-125", "iso-10646-ucs-2"].contains { name.hasPrefix($0) }
    }

    /// Returns whether the parser reads a document without converting its encoding.
    static func isUTF8(_ bytes: Span<UInt8>) -> Bool {
        guard utf16ByteOrder(bytes) == nil, hasKnownEncoding(bytes) else { return false }
        return declaredEncoding(bytes).map { $0 == "utf-8" } ?? true
    }

    /// Returns the name of the encoding that the XML declaration of a document contains, in lowercase letters.
    private static func declaredEncoding(_ bytes: Span<UInt8>) -> String? {
        var declaration = ""
        for index in 0..<min(bytes.count, 512) {
            let byte = bytes[index]
            if byte == 0x3E { break }
            if (0x20..<0x7F).contains(byte) { declaration.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
        guard declaration.hasPrefix("<?xml") else { return nil }
        let words = declaration.split { $0 == " " || $0 == "=" || $0 == "\"" || $0 == "'" || $0 == "?" }
        guard let position = words.firstIndex(of: "encoding"), position + 1 < words.count else { return nil }
        return words[position + 1].lowercased()
    }
}

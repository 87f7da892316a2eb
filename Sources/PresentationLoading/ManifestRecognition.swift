/// A decision whether a resource is a DASH manifest, from its first bytes.
///
/// A manifest is an XML document with the root element `MPD`, whatever its media type and its name are. The decision
/// reads the document up to the name of the root element.
package enum ManifestRecognition: Sendable, Hashable {
    /// The resource is a manifest, although it may be damaged.
    case manifest
    /// The resource is something else.
    case other
    /// More bytes are needed.
    case undecided

    /// The maximum number of bytes before the name of the root element; 64 KiB is enough for long license comments.
    package static let maximumPrologSize = 64 << 10

    /// Creates the result for the first bytes of a resource.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes.
    ///   - isComplete: A Boolean value that indicates whether these are all bytes.
    /// - Complexity: O(*n*) in bytes, at most ``maximumPrologSize``.
    package init(_ bytes: [UInt8], isComplete: Bool) {
        // Less than a byte order mark may become one.
        guard
            isComplete || bytes.isEmpty
                || !Self.marks.contains(where: { $0.count > bytes.count && $0.starts(with: bytes) })
        else {
            self = .undecided
            return
        }
        var reader = PrologReader(Self.singleByteText(bytes.prefix(Self.maximumPrologSize)))
        self = reader.read()
        if self == .undecided, isComplete || bytes.count >= Self.maximumPrologSize { self = .other }
    }

    /// The beginnings of documents in UTF-16, with or without a byte order mark, and the byte order mark of UTF-8.
    private static let marks: [[UInt8]] = [
        [0xFE, 0xFF], [0xFF, 0xFE], [0x00, 0x3C], [0x3C, 0x00], [0xEF, 0xBB, 0xBF],
    ]

    /// Returns the text without a byte order mark; of UTF-16, the bytes other than zero, since markup is ASCII.
    private static func singleByteText(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        if marks.dropLast().contains(where: { bytes.starts(with: $0) }) {
            let start = bytes.first == 0xFE || bytes.first == 0xFF ? 2 : 0
            return bytes.dropFirst(start).filter { $0 != 0 }
        }
        return Array(bytes.starts(with: marks[4]) ? bytes.dropFirst(3) : bytes)
    }
}

/// A reader of an XML document up to the name of its root element.
private struct PrologReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() -> ManifestRecognition {
        while true {
            skipSpace()
            guard offset < bytes.count else { return .undecided }
            guard bytes[offset] == UInt8(ascii: "<") else { return .other }
            guard offset + 1 < bytes.count else { return .undecided }
            let isSkipped: Bool
            switch bytes[offset + 1] {
            case UInt8(ascii: "?"): isSkipped = skip(past: "?>")
            case UInt8(ascii: "!"):
                // A comment begins with two hyphens; until they are there, the markup may be either.
                guard offset + 3 < bytes.count else { return .undecided }
                isSkipped = starts(with: "<!--") ? skip(past: "-->") : skipDeclaration()
            default: return rootElement()
            }
            guard isSkipped else { return .undecided }
        }
    }

    private func rootElement() -> ManifestRecognition {
        let name = bytes[(offset + 1)...].prefix { byte in
            !Self.isSpace(byte) && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "/")
        }
        guard name.endIndex < bytes.count else {
            // The name of an element with a prefix is longer, but not without end.
            return name.count > 256 ? .other : .undecided
        }
        let local = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last ?? []
        return local.elementsEqual("MPD".utf8) ? .manifest : .other
    }

    private mutating func skipSpace() {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func starts(with text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

    /// Skips past the next occurrence of a text; returns `false` if there is none.
    private mutating func skip(past text: String) -> Bool {
        while offset < bytes.count {
            if starts(with: text) {
                offset += text.utf8.count
                return true
            }
            offset += 1
        }
        return false
    }

    /// Skips a document type declaration with its internal subset; returns `false` if it does not end.
    private mutating func skipDeclaration() -> Bool {
        var depth = 0
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            switch byte {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return true
            default: continue
            }
        }
        return false
    }
}

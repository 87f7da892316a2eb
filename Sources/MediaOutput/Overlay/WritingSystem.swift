/// A writing system with the characters that one font has, such as those of Korean.
enum WritingSystem: String, Sendable, Hashable, CaseIterable {
    case korean = "Korean"
    case japanese = "Japanese"
    case chinese = "Chinese"
    case arabic = "Arabic"
    case hebrew = "Hebrew"
    case thai = "Thai"
    case devanagari = "Devanagari"
    case emoji = "emoji"
    case other = "other"

    /// The ranges of characters, by the blocks of Unicode.
    private var ranges: [ClosedRange<UInt32>] {
        switch self {
        case .korean: [0x1100...0x11FF, 0x3130...0x318F, 0xA960...0xA97F, 0xAC00...0xD7FF]
        case .japanese: [0x3040...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9F]
        case .chinese:
            [
                0x2E80...0x303F, 0x3100...0x312F, 0x31A0...0x31EF, 0x3200...0x9FFF, 0xF900...0xFAFF, 0xFE30...0xFE4F,
                0xFF00...0xFF65, 0x20000...0x3FFFF,
            ]
        case .arabic: [0x0600...0x06FF, 0x0750...0x077F, 0x0870...0x08FF, 0xFB50...0xFDFF, 0xFE70...0xFEFE]
        case .hebrew: [0x0590...0x05FF, 0xFB1D...0xFB4F]
        case .thai: [0x0E00...0x0E7F]
        case .devanagari: [0x0900...0x097F, 0xA8E0...0xA8FF]
        case .emoji: [0x1F000...0x1FAFF]
        case .other: [0x0000_00A0...0x10_FFFF]
        }
    }

    /// Creates the writing system of a character.
    ///
    /// - Parameter character: The Unicode scalar value; control characters have no writing system.
    init?(ofCharacter character: UInt32) {
        guard let found = Self.allCases.first(where: { system in system.ranges.contains { $0.contains(character) } })
        else { return nil }
        self = found
    }

    /// The package of Debian and Ubuntu with a font for the writing system.
    private var fontPackage: String {
        switch self {
        case .korean, .japanese, .chinese: "fonts-noto-cjk"
        case .emoji: "fonts-symbola"
        case .arabic, .hebrew, .thai, .devanagari, .other: "fonts-noto-core"
        }
    }

    /// The error that no installed font has the characters of the writing system.
    var missingFont: OutputError {
        let characters = self == .other ? "some characters" : "\(rawValue) characters"
        let advice = "install one that has them, such as the package \(fontPackage) of Debian and Ubuntu"
        return OutputError(.missingFont, "No installed font has \(characters) of a text; \(advice)")
    }
}

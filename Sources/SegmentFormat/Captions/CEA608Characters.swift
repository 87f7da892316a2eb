import MediaTiming

/// The characters of CTA-608 (CTA-608-E §6.4.2 and annex; 47 CFR 15.119(g)).
enum CEA608Characters {
    /// What stands for a character that was damaged.
    static let block: Character = "\u{2588}"

    /// A character of one byte, 0x20 to 0x7F: ASCII but for ten places.
    static func basic(_ code: UInt8) -> Character {
        switch code {
        case 0x27: "\u{2019}"
        case 0x2A: "á"
        case 0x5C: "é"
        case 0x5E: "í"
        case 0x5F: "ó"
        case 0x60: "ú"
        case 0x7B: "ç"
        case 0x7C: "÷"
        case 0x7D: "Ñ"
        case 0x7E: "ñ"
        case 0x7F: block
        default: Character(Unicode.Scalar(code))
        }
    }

    /// A character of the second byte 0x30 to 0x3F behind 0x11; `nil` for the space that is not drawn.
    static func special(_ code: UInt8) -> Character? {
        let character = specials[Int(code & 0x0F)]
        return character == "\u{0}" ? nil : character
    }

    /// A character of the second byte 0x20 to 0x3F behind 0x12 or 0x13, which takes the place of the one before it.
    static func extended(_ first: UInt8, _ code: UInt8) -> Character {
        (first == 0x12 ? spanishAndFrench : portugueseAndGerman)[Int(code & 0x1F)]
    }

    private static let specials: [Character] = [
        "®", "°", "½", "¿", "™", "¢", "£", "♪", "à", "\u{0}", "è", "â", "ê", "î", "ô", "û",
    ]

    private static let spanishAndFrench: [Character] = [
        "Á", "É", "Ó", "Ú", "Ü", "ü", "\u{2018}", "¡", "*", "'", "—", "©", "℠", "•", "“", "”",
        "À", "Â", "Ç", "È", "Ê", "Ë", "ë", "Î", "Ï", "ï", "Ô", "Ù", "ù", "Û", "«", "»",
    ]

    private static let portugueseAndGerman: [Character] = [
        "Ã", "ã", "Í", "Ì", "ì", "Ò", "ò", "Õ", "õ", "{", "}", "\\", "^", "_", "|", "~",
        "Ä", "ä", "Ö", "ö", "ß", "¥", "¤", "│", "Å", "å", "Ø", "ø", "┌", "┐", "└", "┘",
    ]
}

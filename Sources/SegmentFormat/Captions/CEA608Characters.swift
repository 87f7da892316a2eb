import MediaTiming

/// The character sets of CTA-608 (CTA-608-E §6.4.2 and annex; 47 CFR 15.119(g)).
enum CEA608Characters {
    /// The replacement for a damaged character.
    static let replacementCharacter: Character = "\u{2588}"

    /// Returns the character of a single byte, 0x20 to 0x7F: ASCII except for eleven codes.
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
        case 0x7F: replacementCharacter
        default: Character(Unicode.Scalar(code))
        }
    }

    /// Returns the character of a second byte 0x30 to 0x3F after 0x11, or `nil` for the transparent space.
    static func special(_ code: UInt8) -> Character? {
        let character = specials[Int(code & 0x0F)]
        return character == "\u{0}" ? nil : character
    }

    /// Returns the character of a second byte 0x20 to 0x3F after 0x12 or 0x13, which replaces the previous character.
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

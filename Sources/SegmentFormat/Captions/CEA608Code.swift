import MediaTiming

/// A character or command of CTA-608, encoded in a pair of bytes.
enum CEA608Code: Equatable {
    case character(Character)
    /// A transparent space.
    case transparentSpace
    /// A character that replaces the previous one.
    case extended(Character)
    /// A preamble address code: the row from 0, the column at which text starts, and the text attributes.
    case address(row: Int, column: Int, attributes: CEA608TextAttributes)
    case midRow(CEA608TextAttributes)
    case background(SubtitleColor)
    case foregroundBlack(isUnderlined: Bool)
    case tab(Int)
    case resumeCaptionLoading
    case backspace
    case deleteToEndOfRow
    case rollUp(Int)
    case resumeDirectCaptioning
    case text
    case eraseDisplayed
    case carriageReturn
    case eraseNonDisplayed
    case endOfCaption
    case flashOn

    /// A Boolean value that indicates whether a line that is built character by character is complete before this code.
    var completesLine: Bool {
        switch self {
        case .carriageReturn, .eraseDisplayed, .endOfCaption, .rollUp, .resumeCaptionLoading, .resumeDirectCaptioning,
            .text:
            true
        case .address: true
        default: false
        }
    }
}

/// The text attributes of a preamble address code or mid-row code; a color of `nil` means italics in the current color.
struct CEA608TextAttributes: Equatable {
    let color: SubtitleColor?
    let isUnderlined: Bool

    static let colors: [SubtitleColor] = [
        .white, .init(0x00FF00), .init(0x0000FF), .init(0x00FFFF), .init(0xFF0000), .init(0xFFFF00), .init(0xFF00FF),
    ]

    /// Creates attributes from four bits: three for the color or italics, and one for underline.
    init(_ bits: UInt8) {
        let index = Int(bits >> 1 & 7)
        color = index < 7 ? Self.colors[index] : nil
        isUnderlined = bits & 1 != 0
    }

    init(color: SubtitleColor?, isUnderlined: Bool) {
        self.color = color
        self.isUnderlined = isUnderlined
    }
}

/// A parser for the codes of one channel in the byte pairs of a field (47 CFR 15.119(e) to (i)).
struct CEA608Parser {
    let kind: CaptionTriplet.Kind
    /// The data channel within the field, 0 or 1.
    private let channel: UInt8
    private var isCurrent = false
    private var isExtendedData = false
    private var last: (UInt8, UInt8)?

    init(_ channel: CEA608Decoder.Channel) {
        kind = channel.rawValue <= 2 ? .firstField : .secondField
        self.channel = UInt8(clamping: (channel.rawValue - 1) % 2)
    }

    mutating func reset() {
        isCurrent = false
        isExtendedData = false
        last = nil
    }

    mutating func codes(_ firstByte: UInt8, _ secondByte: UInt8) -> [CEA608Code] {
        let (first, second) = (firstByte & 0x7F, secondByte & 0x7F)
        let isFirstValid = firstByte.nonzeroBitCount % 2 == 1
        let isSecondValid = secondByte.nonzeroBitCount % 2 == 1
        let previous = last
        last = nil
        if first == 0, second == 0 { return [] }
        guard isFirstValid else {
            // A damaged repetition of a control code is ignored like an intact one.
            if let previous, previous.1 == second, isSecondValid { return [] }
            guard isCurrent, !isExtendedData, first >= 0x20 else { return [] }
            return [.character(CEA608Characters.replacementCharacter)] + characters(second, isValid: isSecondValid)
        }
        switch first {
        case 0x01...0x0F:
            // Extended data services are transmitted between the captions of the second field (CTA-608-E §9).
            isExtendedData = kind == .secondField && first != 0x0F
            return []
        case 0x10...0x1F:
            guard isSecondValid else { return [] }
            if let previous, previous == (first, second) { return [] }
            last = (first, second)
            isExtendedData = false
            isCurrent = first >> 3 & 1 == channel
            guard isCurrent, let code = Self.control(first & 0x17, second) else { return [] }
            return [code]
        default:
            guard first >= 0x20, isCurrent, !isExtendedData else { return [] }
            return [.character(CEA608Characters.basic(first))] + characters(second, isValid: isSecondValid)
        }
    }

    private func characters(_ code: UInt8, isValid: Bool) -> [CEA608Code] {
        guard isValid else { return [.character(CEA608Characters.replacementCharacter)] }
        return code >= 0x20 ? [.character(CEA608Characters.basic(code))] : []
    }

    private static func control(_ first: UInt8, _ second: UInt8) -> CEA608Code? {
        switch (first, second) {
        case (_, 0x40...0x7F): address(first, second)
        case (0x10, 0x20...0x2F): background(second)
        case (0x11, 0x20...0x2F): .midRow(CEA608TextAttributes(second & 0x0F))
        case (0x11, 0x30...0x3F): CEA608Characters.special(second).map { .character($0) } ?? .transparentSpace
        case (0x12, 0x20...0x3F), (0x13, 0x20...0x3F): .extended(CEA608Characters.extended(first, second))
        case (0x14, 0x20...0x2F), (0x15, 0x20...0x2F): command(second)
        case (0x17, 0x21...0x23): .tab(Int(second & 3))
        case (0x17, 0x2D): .background(.transparent)
        case (0x17, 0x2E), (0x17, 0x2F): .foregroundBlack(isUnderlined: second & 1 != 0)
        default: nil
        }
    }

    private static func background(_ second: UInt8) -> CEA608Code {
        let index = Int(second >> 1 & 7)
        var color = index < 7 ? CEA608TextAttributes.colors[index] : .black
        if second & 1 != 0 { color.alpha = 128 }
        return .background(color)
    }

    /// Returns the row, in the order of the table in 47 CFR 15.119(f), and the indent or color.
    private static func address(_ first: UInt8, _ second: UInt8) -> CEA608Code? {
        let rows: [(Int, Int)] = [(11, 0), (1, 2), (3, 4), (12, 13), (14, 15), (5, 6), (7, 8), (9, 10)]
        let pair = rows[Int(first & 7)]
        let row = second & 0x20 == 0 ? pair.0 : pair.1
        guard row > 0 else { return nil }
        if second & 0x10 != 0 {
            let look = CEA608TextAttributes(color: .white, isUnderlined: second & 1 != 0)
            return .address(row: row - 1, column: Int(second >> 1 & 7) *| 4, attributes: look)
        }
        return .address(row: row - 1, column: 0, attributes: CEA608TextAttributes(second & 0x0F))
    }

    private static func command(_ second: UInt8) -> CEA608Code? {
        switch second {
        case 0x20: .resumeCaptionLoading
        case 0x21: .backspace
        case 0x24: .deleteToEndOfRow
        case 0x25...0x27: .rollUp(Int(second) - 0x23)
        case 0x28: .flashOn
        case 0x29: .resumeDirectCaptioning
        case 0x2A, 0x2B: .text
        case 0x2C: .eraseDisplayed
        case 0x2D: .carriageReturn
        case 0x2E: .eraseNonDisplayed
        case 0x2F: .endOfCaption
        default: nil
        }
    }
}

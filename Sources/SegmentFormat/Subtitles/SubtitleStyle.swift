import MediaTiming

/// The visual style of a span of text.
public struct SubtitleStyle: Sendable, Hashable {
    /// A Boolean value that indicates whether the text is bold; `false` by default.
    public var isBold = false
    /// A Boolean value that indicates whether the text is italic; `false` by default.
    public var isItalic = false
    /// A Boolean value that indicates whether the text is underlined; `false` by default.
    public var isUnderlined = false
    /// The text color; `nil`, the default, uses the renderer's default, usually white.
    public var color: SubtitleColor?
    /// The background color; `nil`, the default, uses the renderer's default, usually an outline without a background.
    public var background: SubtitleColor?
    /// The text size relative to ``SubtitleLayout/lineHeight``; 1 by default, limited to 0.2 to 5.
    public var relativeSize: Double {
        get { storedSize }
        set { storedSize = newValue.isFinite ? min(max(newValue, 0.2), 5) : 1 }
    }
    private var storedSize: Double = 1

    /// Creates the default style.
    public init() {}
}

/// An RGBA color with 8 bits per component.
public struct SubtitleColor: Sendable, Hashable {
    /// The red component.
    public var red: UInt8
    /// The green component.
    public var green: UInt8
    /// The blue component.
    public var blue: UInt8
    /// The opacity: 255 is opaque, 0 is transparent.
    public var alpha: UInt8

    /// Creates a color with the given components; opaque by default.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Creates an opaque color from a 24-bit value, whose highest byte is red.
    init(_ hexadecimal: UInt32) {
        self.init(
            red: UInt8(truncatingIfNeeded: hexadecimal >> 16),
            green: UInt8(truncatingIfNeeded: hexadecimal >> 8),
            blue: UInt8(truncatingIfNeeded: hexadecimal)
        )
    }

    static let white = SubtitleColor(0xFFFFFF)
    static let black = SubtitleColor(0x000000)
    static let transparent = SubtitleColor(red: 0, green: 0, blue: 0, alpha: 0)
}

extension SubtitleColor {
    /// The range of the alpha component in `rgba()`.
    enum AlphaRange {
        /// 0 to 255, as in TTML; values with a decimal point are nevertheless interpreted as 0 to 1.
        case byte
        /// 0 to 1, as in CSS.
        case unitInterval
    }

    /// Creates a color from TTML or CSS notation: a name, `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb()` or `rgba()`.
    ///
    /// The names are those of TTML2 §8.3.12, which include the sixteen of HTML.
    init?(_ text: some StringProtocol, alpha: AlphaRange = .byte) {
        guard text.utf8.count <= 64 else { return nil }
        let name = text.lowercased().filter { !$0.isWhitespace }
        if let named = Self.named[name] {
            self = named
        } else if name.hasPrefix("#") {
            self.init(digits: name.dropFirst())
        } else if name.hasPrefix("rgb"), name.hasSuffix(")"), let open = name.firstIndex(of: "(") {
            let values = name[name.index(after: open)...].dropLast().split(separator: ",")
            guard values.count == 3 || values.count == 4 else { return nil }
            var components: [UInt8] = []
            for (index, value) in values.enumerated() {
                guard let number = Double(value), number.isFinite, number >= 0 else { return nil }
                let isPart = index == 3 && (alpha == .unitInterval || value.contains("."))
                components.append(UInt8(saturating: min(255, (isPart ? number * 255 : number).rounded())))
            }
            self.init(
                red: components[0],
                green: components[1],
                blue: components[2],
                alpha: components.count == 4 ? components[3] : 255
            )
        } else {
            return nil
        }
    }

    private init?(digits: Substring) {
        guard digits.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2D }), let value = UInt32(digits, radix: 16) else {
            return nil
        }
        switch digits.utf8.count {
        case 3:
            let (red, green, blue) = (value >> 8 & 15, value >> 4 & 15, value & 15)
            self.init(red << 20 | red << 16 | green << 12 | green << 8 | blue << 4 | blue)
        case 6:
            self.init(value)
        case 8:
            self.init(value >> 8)
            alpha = UInt8(truncatingIfNeeded: value)
        default:
            return nil
        }
    }

    private static let named: [String: SubtitleColor] = [
        "transparent": .transparent, "black": .black, "silver": .init(0xC0C0C0), "gray": .init(0x808080),
        "grey": .init(0x808080), "white": .white, "maroon": .init(0x800000), "red": .init(0xFF0000),
        "purple": .init(0x800080), "fuchsia": .init(0xFF00FF), "magenta": .init(0xFF00FF), "green": .init(0x008000),
        "lime": .init(0x00FF00), "olive": .init(0x808000), "yellow": .init(0xFFFF00), "navy": .init(0x000080),
        "blue": .init(0x0000FF), "teal": .init(0x008080), "aqua": .init(0x00FFFF), "cyan": .init(0x00FFFF),
        "orange": .init(0xFFA500), "pink": .init(0xFFC0CB),
    ]
}

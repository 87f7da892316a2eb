import MediaTiming

/// A script of text and drawings in the Advanced SubStation Alpha (ASS) format, with coordinates in window pixels.
struct OverlayScript: Sendable, Hashable {
    /// A color with red, green, blue and opacity components from 0 to 255.
    struct Color: Sendable, Hashable {
        var red = 255
        var green = 255
        var blue = 255
        var opacity = 255

        /// The override tags for the color; the order in a script is blue, green, red, and an alpha of zero is opaque.
        var tags: String { "\\1c&H\(hex(blue))\(hex(green))\(hex(red))&\\1a&H\(hex(255 - opacity))&" }

        private func hex(_ value: Int) -> String {
            let digits = String(max(0, min(255, value)), radix: 16, uppercase: true)
            return digits.count < 2 ? "0" + digits : digits
        }

        static let white = Color()
        static let accent = Color(red: 79, green: 172, blue: 254)
        static let live = Color(red: 240, green: 62, blue: 62)
        func withOpacity(_ opacity: Int) -> Color { Color(red: red, green: green, blue: blue, opacity: opacity) }
    }

    /// The position of a text relative to its point, numbered like a numeric keypad.
    enum Anchor: Int {
        case bottomLeft = 1
        case bottom, bottomRight, left, center, right, topLeft, top, topRight
    }

    /// The maximum number of Unicode scalars of a text, more than a window shows on one line.
    ///
    /// A single character can have any number of combining marks, which would be laid out for each frame of the window.
    static let maximumScalarCount = 1_024

    let size: PixelSize
    private(set) var events: [String] = []

    /// Creates an empty script for a window size.
    init(_ size: PixelSize) {
        self.size = size
    }

    var isEmpty: Bool { events.isEmpty }

    /// The complete script.
    var text: String {
        Self.header(size)
            + """
            Style: Default,DejaVu Sans,20,&H00FFFFFF,&H00FFFFFF,&H60000000,&H60000000,0,0,0,0,100,100,0,0,1,0,0,7,0,0,0,1
            Style: Mono,DejaVu Sans Mono,20,&H00FFFFFF,&H00FFFFFF,&H60000000,&H60000000,0,0,0,0,100,100,0,0,1,0,0,7,0,0,0,1


            """ + Self.eventsHead + events.joined(separator: "\n") + "\n"
    }

    /// Adds text at a point; only its first ``maximumScalarCount`` Unicode scalars are drawn.
    mutating func add(
        _ text: String,
        x: Double,
        y: Double,
        fontSize: Double,
        anchor: Anchor,
        color: Color = .white,
        outline: Double = 0,
        style: String = "Default"
    ) {
        let outlineTags = outline > 0 ? "\\bord\(number(outline))\\blur\(number(outline))" : ""
        let tags =
            "{\\an\(anchor.rawValue)\\pos(\(number(x)),\(number(y)))\\fs\(number(fontSize))\(outlineTags)\(color.tags)}"
        append(style, tags + Self.escaped(String(text.unicodeScalars.prefix(Self.maximumScalarCount))))
    }

    /// Adds a shape whose upper left corner is at a point.
    mutating func add(_ shape: Shape, x: Double, y: Double, color: Color) {
        let tags = "{\\an7\\pos(\(number(x)),\(number(y)))\(color.tags)\\p\(Shape.precision)}"
        append("Default", tags + shape.path + "{\\p0}")
    }

    private mutating func append(_ style: String, _ text: String) {
        events.append("Dialogue: \(events.count),\(Self.unlimitedTimes),\(style),,0,0,0,,\(text)")
    }

    /// Returns text in which braces, backslashes and line breaks are escaped so that it contains no override tags.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "{": result += "\\{"
            case "}": result += "\\}"
            // A word joiner prevents the backslash from forming a tag with the next character.
            case "\\": result += "\\\u{2060}"
            case "\n", "\r", "\u{2028}", "\u{2029}": result += "\\N"
            case let scalar where scalar.properties.generalCategory == .control: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    static let unlimitedTimes = "0:00:00.00,9:59:59.99"
    static let eventsHead = """
        [Events]
        Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text

        """

    static func header(_ size: PixelSize) -> String {
        """
        [Script Info]
        ScriptType: v4.00+
        PlayResX: \(size.width)
        PlayResY: \(size.height)
        WrapStyle: 0
        ScaledBorderAndShadow: yes

        [V4+ Styles]
        Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, \
        Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, \
        MarginV, Encoding

        """
    }
}

/// A filled outline with its upper left corner at the origin.
struct Shape: Sendable, Hashable {
    /// The drawing mode (`\p4`) in which coordinates are whole numbers of 1/8 pixel.
    static let precision = 4

    private(set) var path = ""

    /// Returns a polygon with the given vertices.
    static func polygon(_ points: [(x: Double, y: Double)]) -> Shape {
        var shape = Shape()
        for (index, point) in points.enumerated() { shape.append(index == 0 ? "m" : "l", point) }
        return shape
    }

    /// Returns a rectangle with rounded corners; the maximum radius turns a square into a circle.
    static func rectangle(width: Double, height: Double, radius: Double = 0) -> Shape {
        let radius = max(0, min(radius, width / 2, height / 2))
        guard radius > 0 else { return polygon([(0, 0), (width, 0), (width, height), (0, height)]) }
        // With this ratio to the radius, a Bézier curve best approximates a quarter circle.
        let bend = radius * (1 - 0.5523)
        var shape = Shape()
        shape.append("m", (radius, 0))
        shape.append("l", (width - radius, 0))
        shape.curve((width - bend, 0), (width, bend), (width, radius))
        shape.append("l", (width, height - radius))
        shape.curve((width, height - bend), (width - bend, height), (width - radius, height))
        shape.append("l", (radius, height))
        shape.curve((bend, height), (0, height - bend), (0, height - radius))
        shape.append("l", (0, radius))
        shape.curve((0, bend), (bend, 0), (radius, 0))
        return shape
    }

    private mutating func append(_ command: String, _ point: (x: Double, y: Double)) {
        path += (path.isEmpty ? "" : " ") + command + " " + Self.spelling(point)
    }

    private mutating func curve(_ first: (Double, Double), _ second: (Double, Double), _ end: (Double, Double)) {
        path += " b " + [first, second, end].map(Self.spelling).joined(separator: " ")
    }

    private static func spelling(_ point: (x: Double, y: Double)) -> String {
        "\(Int(saturating: (point.x * 8).rounded())) \(Int(saturating: (point.y * 8).rounded()))"
    }
}

/// Returns a number with at most two decimal places.
private func number(_ value: Double) -> String {
    let hundredths = Int(saturating: (value * 100).rounded())
    return hundredths % 100 == 0 ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
}

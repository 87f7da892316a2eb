import MediaTiming

/// The windows of a CTA-708 caption service and the commands that change them (CTA-708-E §7 and §8).
struct CEA708Service {
    private var windows = [CEA708Window?](repeating: nil, count: 8)
    private var current: Int?

    /// The content of the visible windows, windows of lower priority first.
    var blocks: [CaptionBlock] {
        windows.compactMap { $0 }.sorted { $0.priority > $1.priority }.compactMap(\.block)
    }

    /// Applies the codes of a service block; a command that exceeds the block is ignored.
    mutating func applyBlock(_ block: [UInt8]) {
        let bytes = block.span
        var cursor = ByteCursor(0..<bytes.count, in: bytes)
        while cursor.remaining > 0 {
            let code = cursor.readUInt8(bytes)
            switch code {
            case 0x00...0x0F: control(code)
            case 0x10: extended(&cursor, bytes)
            case 0x11...0x17: cursor.skip(1)
            case 0x18:
                let value = cursor.readUInt16(bytes)
                if !cursor.isPastEnd { write(Unicode.Scalar(value).map(Character.init) ?? "\u{FFFD}") }
            case 0x19...0x1F: cursor.skip(2)
            case 0x7F: write("♪")
            case 0x20...0x7E, 0xA0...0xFF: write(Character(Unicode.Scalar(code)))
            default: command(code, &cursor, bytes)
            }
        }
    }

    private mutating func change(_ body: (inout CEA708Window) -> Void) {
        guard let current, var window = windows[current] else { return }
        body(&window)
        windows[current] = window
    }

    private mutating func write(_ character: Character?) { change { $0.write(character) } }

    private mutating func control(_ code: UInt8) {
        switch code {
        case 0x08: change { $0.backspace() }
        case 0x0C: change { $0.clear() }
        case 0x0D: change { $0.carriageReturn() }
        case 0x0E: change { $0.clearRow() }
        default: break
        }
    }

    /// Processes a code of the extended tables: characters, and commands that are skipped by their length (§7.1.11).
    private mutating func extended(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
        let code = cursor.readUInt8(bytes)
        guard !cursor.isPastEnd else { return }
        switch code {
        case 0x00...0x07: break
        case 0x08...0x0F: cursor.skip(1)
        case 0x10...0x17: cursor.skip(2)
        case 0x18...0x1F: cursor.skip(3)
        case 0x20, 0x21: write(nil)
        case 0x80...0x87: cursor.skip(4)
        case 0x88...0x8F: cursor.skip(5)
        case 0x90...0x9F: cursor.skip(Int(cursor.readUInt8(bytes) & 0x3F))
        // Unsupported characters are shown as underscores.
        default: write(Self.characters[code] ?? "_")
        }
    }

    private static let characters: [UInt8: Character] = [
        0x25: "…", 0x2A: "Š", 0x2C: "Œ", 0x30: "█", 0x31: "\u{2018}", 0x32: "\u{2019}", 0x33: "“", 0x34: "”", 0x35: "•",
        0x39: "™", 0x3A: "š", 0x3C: "œ", 0x3D: "℠", 0x3F: "Ÿ", 0x76: "⅛", 0x77: "⅜", 0x78: "⅝", 0x79: "⅞", 0x7A: "│",
        0x7B: "┐", 0x7C: "└", 0x7D: "─", 0x7E: "┘", 0x7F: "┌",
    ]

    private mutating func command(_ code: UInt8, _ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
        switch code {
        case 0x80...0x87: current = Int(code & 7)
        case 0x88: forEachSelectedWindow(&cursor, bytes) { $0?.clear() }
        case 0x89: forEachSelectedWindow(&cursor, bytes) { $0?.isVisible = true }
        case 0x8A: forEachSelectedWindow(&cursor, bytes) { $0?.isVisible = false }
        case 0x8B: forEachSelectedWindow(&cursor, bytes) { $0?.isVisible.toggle() }
        case 0x8C: forEachSelectedWindow(&cursor, bytes) { $0 = nil }
        case 0x8D: cursor.skip(1)
        case 0x8F: self = CEA708Service()
        case 0x90: setPenAttributes(&cursor, bytes)
        case 0x91: setPenColor(&cursor, bytes)
        case 0x92:
            let (row, column) = (Int(cursor.readUInt8(bytes) & 15), Int(cursor.readUInt8(bytes) & 63))
            if !cursor.isPastEnd { change { $0.move(row: row, column: column) } }
        case 0x97:
            cursor.skip(2)
            let justify = cursor.readUInt8(bytes) & 3
            cursor.skip(1)
            if !cursor.isPastEnd { change { $0.alignment = Self.alignment(justify) } }
        case 0x98...0x9F: define(Int(code & 7), &cursor, bytes)
        default: break
        }
    }

    /// Calls `body` for each window whose bit is set in the next byte.
    private mutating func forEachSelectedWindow(
        _ cursor: inout ByteCursor,
        _ bytes: Span<UInt8>,
        _ body: (inout CEA708Window?) -> Void
    ) {
        let mask = cursor.readUInt8(bytes)
        guard !cursor.isPastEnd else { return }
        for index in windows.indices where mask >> UInt8(clamping: index) & 1 != 0 { body(&windows[index]) }
    }

    private static func alignment(_ justify: UInt8) -> SubtitlePlacement.HorizontalAnchor {
        switch justify {
        case 1: .right
        case 2: .center
        default: .left
        }
    }

    private mutating func setPenAttributes(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
        let (size, attributes) = (cursor.readUInt8(bytes) & 3, cursor.readUInt8(bytes))
        guard !cursor.isPastEnd else { return }
        change { window in
            window.style.relativeSize = size == 0 ? 0.75 : size == 2 ? 1.25 : 1
            window.style.isItalic = attributes & 0x80 != 0
            window.style.isUnderlined = attributes & 0x40 != 0
        }
    }

    private mutating func setPenColor(_ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
        let (foreground, background) = (cursor.readUInt8(bytes), cursor.readUInt8(bytes))
        cursor.skip(1)
        guard !cursor.isPastEnd else { return }
        change { window in
            window.style.color = Self.color(foreground)
            window.style.background = Self.color(background)
        }
    }

    /// Returns a color from two bits of opacity and two bits each of red, green and blue.
    private static func color(_ byte: UInt8) -> SubtitleColor {
        let alphas: [UInt8] = [255, 255, 128, 0]
        return SubtitleColor(
            // Bounded: two bits times 85 are at most 255.
            red: (byte >> 4 & 3) * 85,
            // Bounded: two bits times 85 are at most 255.
            green: (byte >> 2 & 3) * 85,
            // Bounded: two bits times 85 are at most 255.
            blue: (byte & 3) * 85,
            alpha: alphas[Int(byte >> 6)]
        )
    }

    private mutating func define(_ index: Int, _ cursor: inout ByteCursor, _ bytes: Span<UInt8>) {
        let fields = (0..<6).map { _ in cursor.readUInt8(bytes) }
        guard !cursor.isPastEnd else { return }
        let isNew = windows[index] == nil
        var window = windows[index] ?? CEA708Window()
        window.isVisible = fields[0] & 0x20 != 0
        window.priority = Int(fields[0] & 7)
        let (vertical, horizontal) = (Double(fields[1] & 0x7F), Double(fields[2]))
        // Either percentages or coordinates in the grid of 75 by 210 cells for 16:9 video (§8.4.4).
        let isRelative = fields[1] & 0x80 != 0
        window.anchor = (
            x: min(isRelative ? horizontal : horizontal * 100 / 210, 100),
            y: min(isRelative ? vertical : vertical * 100 / 75, 100),
            point: min(Int(fields[3] >> 4), 8)
        )
        window.rowCount = min(Int(fields[3] & 15) + 1, 15)
        window.columnCount = Int(fields[4] & 63) + 1
        let (windowStyle, penStyle) = (fields[5] >> 3 & 7, fields[5] & 7)
        if isNew || windowStyle > 0 { window.alignment = windowStyle == 3 || windowStyle == 6 ? .center : .left }
        if isNew || penStyle > 0 {
            window.style = CEA708Window.initialStyle
            // The last two predefined styles have outlines instead of a background (§8.4.6).
            if penStyle >= 6 { window.style.background = .transparent }
        }
        if isNew { window.clear() } else { window.resize() }
        windows[index] = window
        current = index
    }
}

/// The state of a CTA-608 decoder: the displayed and the non-displayed memory, the cursor and the text attributes.
struct CEA608State {
    private enum Mode: Equatable {
        /// No mode was selected yet; characters are ignored.
        case none
        case popOn
        case rollUp(Int)
        case paintOn
        case text
    }

    private(set) var displayed = CEA608Memory()
    private var nonDisplayed = CEA608Memory()
    private var mode = Mode.none
    private var row = CEA608Memory.rowCount - 1
    private var column = 0
    private var style = initialStyle

    private static let initialStyle: SubtitleStyle = {
        var style = SubtitleStyle()
        style.color = .white
        style.background = .black
        return style
    }()

    /// Applies a code and returns whether the displayed memory may have changed.
    mutating func apply(_ code: CEA608Code) -> Bool {
        switch code {
        case .resumeCaptionLoading: mode = .popOn
        case .resumeDirectCaptioning: mode = .paintOn
        case .text: mode = .text
        case .rollUp(let depth): return startRollUp(depth)
        case .eraseDisplayed:
            defer { displayed.clear() }
            return !displayed.isEmpty
        case .eraseNonDisplayed: nonDisplayed.clear()
        case .endOfCaption:
            swap(&displayed, &nonDisplayed)
            mode = .popOn
            return true
        case .carriageReturn:
            guard case .rollUp(let depth) = mode else { return false }
            displayed.rollUp(base: row, depth: depth)
            column = 0
            style = Self.initialStyle
            return true
        default:
            guard mode != .none, mode != .text else { return false }
            return edit(code)
        }
        return false
    }

    /// A Boolean value that indicates whether characters are written to the displayed memory.
    private var writesToDisplayed: Bool { mode != .popOn }

    private mutating func startRollUp(_ depth: Int) -> Bool {
        if case .rollUp(let former) = mode {
            mode = .rollUp(depth)
            row = max(row, depth - 1)
            guard depth < former else { return false }
            displayed.move(base: row, depth: depth, to: row)
            return true
        }
        mode = .rollUp(depth)
        let wasEmpty = displayed.isEmpty
        displayed.clear()
        nonDisplayed.clear()
        row = CEA608Memory.rowCount - 1
        column = 0
        style = Self.initialStyle
        return !wasEmpty
    }

    private mutating func edit(_ code: CEA608Code) -> Bool {
        switch code {
        case .character(let character): write(.init(character: character, style: style))
        case .transparentSpace: write(nil)
        case .extended(let character):
            column = max(0, column - 1)
            write(.init(character: character, style: style))
        case .midRow(let look):
            write(.init(character: " ", style: style))
            apply(look)
        case .background(let color):
            // The new background applies to the space that precedes the code.
            column = max(0, column - 1)
            style.background = color
            write(.init(character: " ", style: style))
        case .foregroundBlack(let isUnderlined):
            column = max(0, column - 1)
            style.color = .black
            style.isUnderlined = isUnderlined
            style.isItalic = false
            write(.init(character: " ", style: style))
        case .backspace:
            column = max(0, min(column, CEA608Memory.columnCount) - 1)
            change { $0.set(nil, row: $1, column: $2) }
        case .deleteToEndOfRow: change { $0.clearRow($1, from: $2) }
        case .tab(let count):
            column = min(column + count, CEA608Memory.columnCount - 1)
            return false
        case .address(let row, let column, let look): return move(row, column, look)
        default: return false
        }
        return writesToDisplayed
    }

    private mutating func move(_ target: Int, _ column: Int, _ look: CEA608TextAttributes) -> Bool {
        self.column = column
        style = Self.initialStyle
        apply(look)
        guard case .rollUp(let depth) = mode else {
            row = target
            return false
        }
        // All rows move with the base row, which must have enough rows above it.
        let base = max(target, depth - 1)
        guard base != row else { return false }
        displayed.move(base: row, depth: depth, to: base)
        row = base
        return true
    }

    private mutating func apply(_ look: CEA608TextAttributes) {
        style.isUnderlined = look.isUnderlined
        style.isItalic = look.color == nil
        if let color = look.color { style.color = color }
    }

    private mutating func write(_ cell: CEA608Memory.Cell?) {
        change { $0.set(cell, row: $1, column: $2) }
        column = min(column + 1, CEA608Memory.columnCount)
    }

    private mutating func change(_ body: (inout CEA608Memory, Int, Int) -> Void) {
        if writesToDisplayed { body(&displayed, row, column) } else { body(&nonDisplayed, row, column) }
    }
}

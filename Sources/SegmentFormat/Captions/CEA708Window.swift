import MediaTiming

/// A CTA-708 caption window: an area of the screen with its own text (CTA-708-E §8.4).
struct CEA708Window {
    struct Cell: Equatable {
        var character: Character
        var style: SubtitleStyle
    }

    var isVisible = false
    var priority = 0
    var rowCount = 1
    var columnCount = 32
    var alignment = SubtitlePlacement.HorizontalAnchor.left
    var style = CEA708Window.initialStyle
    /// The anchor position in percent of the safe title area, and the anchor point of the window, 0 to 8.
    var anchor = (x: 0.0, y: 0.0, point: 0)
    private(set) var rows: [[Cell?]] = [[]]
    private var row = 0
    private var column = 0

    static let maximumColumnCount = 64

    static let initialStyle: SubtitleStyle = {
        var style = SubtitleStyle()
        style.color = .white
        style.background = .black
        return style
    }()

    mutating func clear() {
        rows = [[Cell?]](repeating: [], count: rowCount)
        (row, column) = (0, 0)
    }

    /// Adjusts the rows to ``rowCount``; excess rows are removed from the top.
    mutating func resize() {
        if rows.count > rowCount { rows.removeFirst(rows.count - rowCount) }
        while rows.count < rowCount { rows.append([]) }
        row = min(row, rowCount - 1)
    }

    mutating func move(row: Int, column: Int) {
        self.row = min(max(row, 0), rowCount - 1)
        self.column = min(max(column, 0), Self.maximumColumnCount)
    }

    mutating func write(_ character: Character?) {
        guard column < min(columnCount, Self.maximumColumnCount), rows.indices.contains(row) else { return }
        while rows[row].count <= column { rows[row].append(nil) }
        rows[row][column] = character.map { Cell(character: $0, style: style) }
        column += 1
    }

    mutating func backspace() {
        guard column > 0, rows.indices.contains(row) else { return }
        column -= 1
        if column < rows[row].count { rows[row][column] = nil }
    }

    /// Moves to the next row; at the last row, all rows scroll up.
    mutating func carriageReturn() {
        column = 0
        if row + 1 < rowCount {
            row += 1
        } else if !rows.isEmpty {
            rows.removeFirst()
            rows.append([])
        }
    }

    mutating func clearRow() {
        if rows.indices.contains(row) { rows[row] = [] }
        column = 0
    }

    /// The content of the window; `nil` if it is hidden or empty.
    var block: CaptionBlock? {
        let texts = rows.map(Self.text)
        guard isVisible, let first = texts.firstIndex(where: { $0 != nil }),
            let last = texts.lastIndex(where: { $0 != nil })
        else { return nil }
        let left = texts.compactMap { $0?.column }.min() ?? 0
        let lines = texts[first...last].map { text -> SubtitleLine in
            guard let text else { return SubtitleLine([]) }
            let indent = alignment == .left ? text.column - left : 0
            guard indent > 0 else { return SubtitleLine(text.spans) }
            var clear = SubtitleStyle()
            clear.background = .transparent
            // A column is about as wide as two spaces of a proportional font.
            return SubtitleLine(
                [SubtitleSpan(String(repeating: "\u{A0}", count: indent *| 2), style: clear)] + text.spans
            )
        }
        return CaptionBlock(lines: lines, placement: placement(firstRow: first, left: left), layer: 7 - priority)
    }

    private func placement(firstRow: Int, left: Int) -> SubtitlePlacement {
        // 15 rows and 42 columns cover 80 percent of 16:9 video (CTA-708-E §8.3).
        let (rowHeight, columnWidth) = (80.0 / 15, 80.0 / 42)
        let height = Double(rowCount) * rowHeight
        let width = Double(columnCount) * columnWidth
        let x = 10 + anchor.x * 0.8 - width * Double(anchor.point % 3) / 2
        let y = 10 + anchor.y * 0.8 - height * Double(anchor.point / 3) / 2
        var placement = SubtitlePlacement()
        placement.overlapHandling = .fixed
        placement.wrapsLines = false
        placement.verticalAnchor = .top
        placement.verticalPosition = min(max(y, 0), 100) + Double(firstRow) * rowHeight
        placement.alignment = alignment
        placement.horizontalAnchor = alignment
        placement.boxSize = width
        switch alignment {
        case .left: placement.horizontalPosition = max(x, 0) + Double(left) * columnWidth
        case .center: placement.horizontalPosition = x + width / 2
        case .right: placement.horizontalPosition = min(x + width, 100)
        }
        return placement
    }

    private static func text(_ row: [Cell?]) -> (column: Int, spans: [SubtitleSpan])? {
        let isDrawn: (Cell?) -> Bool = { $0.map { $0.character != " " } ?? false }
        guard let first = row.firstIndex(where: isDrawn), let last = row.lastIndex(where: isDrawn) else { return nil }
        var clear = SubtitleStyle()
        clear.background = .transparent
        var spans: [SubtitleSpan] = []
        for cell in row[first...last] {
            let cell = cell ?? Cell(character: " ", style: clear)
            if let end = spans.indices.last, spans[end].style == cell.style {
                spans[end].text.append(cell.character)
            } else {
                spans.append(SubtitleSpan(String(cell.character), style: cell.style))
            }
        }
        return (first, spans)
    }
}

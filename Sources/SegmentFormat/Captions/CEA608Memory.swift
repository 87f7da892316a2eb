import MediaTiming

/// The characters of a screen of CTA-608: 15 rows of 32 columns (47 CFR 15.119(d)).
struct CEA608Memory: Equatable {
    static let rowCount = 15
    static let columnCount = 32

    struct Cell: Equatable {
        var character: Character
        var style: SubtitleStyle
    }

    /// Rows from the top; what nobody wrote is `nil` and lets the picture through.
    private(set) var rows = [[Cell?]](repeating: emptyRow, count: rowCount)

    private static let emptyRow = [Cell?](repeating: nil, count: columnCount)

    var isEmpty: Bool { rows.allSatisfy { $0 == Self.emptyRow } }

    mutating func clear() { self = CEA608Memory() }

    mutating func set(_ cell: Cell?, row: Int, column: Int) {
        guard rows.indices.contains(row) else { return }
        rows[row][min(max(column, 0), Self.columnCount - 1)] = cell
    }

    mutating func clearRow(_ row: Int, from column: Int = 0) {
        guard rows.indices.contains(row) else { return }
        for index in max(0, column)..<max(Self.columnCount, column) where index < Self.columnCount {
            rows[row][index] = nil
        }
    }

    /// Moves the lowest rows down to `base` up by one, and empties all but them.
    mutating func rollUp(base: Int, depth: Int) {
        let top = max(0, base - depth + 1)
        for row in rows.indices {
            let isKept = row >= top && row < base && row + 1 < rows.count
            rows[row] = isKept ? rows[row + 1] : Self.emptyRow
        }
    }

    /// Puts the rows down to a base to another base, and empties all others.
    mutating func move(base: Int, depth: Int, to target: Int) {
        let old = rows
        rows = [[Cell?]](repeating: Self.emptyRow, count: Self.rowCount)
        for offset in 0..<depth where old.indices.contains(base - offset) && rows.indices.contains(target - offset) {
            rows[target - offset] = old[base - offset]
        }
    }
}

extension CEA608Memory {
    /// A row's text, without the space around it.
    private struct Text {
        let columns: Range<Int>
        let spans: [SubtitleSpan]

        var center: Double { Double(columns.lowerBound + columns.upperBound) / 2 }

        init?(_ row: [Cell?]) {
            let isDrawn: (Cell?) -> Bool = { $0.map { $0.character != " " } ?? false }
            guard let first = row.firstIndex(where: isDrawn), let last = row.lastIndex(where: isDrawn) else {
                return nil
            }
            columns = first..<last + 1
            var spans: [SubtitleSpan] = []
            for index in columns {
                var clear = SubtitleStyle()
                clear.background = .transparent
                let cell = row[index] ?? Cell(character: " ", style: clear)
                if let end = spans.indices.last, spans[end].style == cell.style {
                    spans[end].text.append(cell.character)
                } else {
                    spans.append(SubtitleSpan(String(cell.character), style: cell.style))
                }
            }
            self.spans = spans
        }
    }

    /// What is on the screen: a block of lines for each group of rows that follow one another.
    var blocks: [CaptionBlock] {
        var blocks: [CaptionBlock] = []
        var texts: [Text] = []
        for row in 0...Self.rowCount {
            if row < Self.rowCount, let text = Text(rows[row]) {
                texts.append(text)
            } else if !texts.isEmpty {
                blocks.append(Self.block(texts, row: row - texts.count))
                texts.removeAll()
            }
        }
        return blocks
    }

    /// Columns and rows fill 80 percent of the picture (CTA-608-E annex B).
    private static func across(_ column: Double) -> Double { 10 + column * 80 / Double(columnCount) }

    private static func block(_ texts: [Text], row: Int) -> CaptionBlock {
        var placement = SubtitlePlacement()
        placement.stacking = .none
        placement.wrapsLines = false
        placement.verticalAnchor = .top
        placement.verticalPosition = 10 + Double(row) * 80 / Double(rowCount)
        // Letters here are of different widths: what was in the middle of the columns stays there only if it is said so.
        let centers = texts.map(\.center)
        let lowest = centers.min() ?? 0
        let highest = centers.max() ?? 0
        if highest - lowest <= 1, texts.count > 1 || abs(lowest - 16) <= 1 {
            let middle = across((lowest + highest) / 2)
            placement.horizontalPosition = middle
            placement.regionWidth = min(middle, 100 - middle) * 2
            return CaptionBlock(lines: texts.map { SubtitleLine($0.spans) }, placement: placement)
        }
        let left = texts.map(\.columns.lowerBound).min() ?? 0
        placement.alignment = .left
        placement.horizontalAnchor = .left
        placement.horizontalPosition = across(Double(left))
        placement.regionWidth = 100 - placement.horizontalPosition
        var clear = SubtitleStyle()
        clear.background = .transparent
        let lines = texts.map { text in
            let indent = text.columns.lowerBound - left
            guard indent > 0 else { return SubtitleLine(text.spans) }
            // A column is about as wide as two spaces of such letters.
            let space = SubtitleSpan(String(repeating: "\u{A0}", count: indent *| 2), style: clear)
            return SubtitleLine([space] + text.spans)
        }
        return CaptionBlock(lines: lines, placement: placement)
    }
}

import MediaTiming

/// The character cells of a CTA-608 screen: 15 rows of 32 columns (47 CFR 15.119(d)).
struct CEA608Memory: Equatable {
    static let rowCount = 15
    static let columnCount = 32

    struct Cell: Equatable {
        var character: Character
        var style: SubtitleStyle
    }

    /// The rows from the top; empty cells are `nil` and transparent.
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

    /// Moves the `depth` rows that end at `base` up by one row, and clears all other rows.
    mutating func rollUp(base: Int, depth: Int) {
        let top = max(0, base - depth + 1)
        for row in rows.indices {
            let isKept = row >= top && row < base && row + 1 < rows.count
            rows[row] = isKept ? rows[row + 1] : Self.emptyRow
        }
    }

    /// Moves the `depth` rows that end at `base` so that they end at `target`, and clears all other rows.
    mutating func move(base: Int, depth: Int, to target: Int) {
        let old = rows
        rows = [[Cell?]](repeating: Self.emptyRow, count: Self.rowCount)
        for offset in 0..<depth where old.indices.contains(base - offset) && rows.indices.contains(target - offset) {
            rows[target - offset] = old[base - offset]
        }
    }
}

extension CEA608Memory {
    /// The text of a row without leading and trailing spaces.
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

    /// The content of the screen: a block of lines for each group of consecutive rows.
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

    /// Returns the horizontal position of a column in percent; the grid covers 80 percent of the video (CTA-608-E annex
    /// B).
    private static func horizontalPosition(ofColumn column: Double) -> Double { 10 + column * 80 / Double(columnCount) }

    private static func block(_ texts: [Text], row: Int) -> CaptionBlock {
        var placement = SubtitlePlacement()
        placement.overlapHandling = .fixed
        placement.wrapsLines = false
        placement.verticalAnchor = .top
        placement.verticalPosition = 10 + Double(row) * 80 / Double(rowCount)
        // Rendered characters have different widths, so text that is centered in the grid must be centered explicitly.
        let centers = texts.map(\.center)
        let lowest = centers.min() ?? 0
        let highest = centers.max() ?? 0
        if highest - lowest <= 1, texts.count > 1 || abs(lowest - 16) <= 1 {
            let middle = horizontalPosition(ofColumn: (lowest + highest) / 2)
            placement.horizontalPosition = middle
            placement.boxSize = min(middle, 100 - middle) * 2
            return CaptionBlock(lines: texts.map { SubtitleLine($0.spans) }, placement: placement)
        }
        let left = texts.map(\.columns.lowerBound).min() ?? 0
        placement.alignment = .left
        placement.horizontalAnchor = .left
        placement.horizontalPosition = horizontalPosition(ofColumn: Double(left))
        placement.boxSize = 100 - placement.horizontalPosition
        var clear = SubtitleStyle()
        clear.background = .transparent
        let lines = texts.map { text in
            let indent = text.columns.lowerBound - left
            guard indent > 0 else { return SubtitleLine(text.spans) }
            // A column is about as wide as two spaces of a proportional font.
            let space = SubtitleSpan(String(repeating: "\u{A0}", count: indent *| 2), style: clear)
            return SubtitleLine([space] + text.spans)
        }
        return CaptionBlock(lines: lines, placement: placement)
    }
}

/// Lengths of a TTML document in percent of the picture (TTML2 §10.3.15).
struct TimedTextLength {
    enum Axis {
        case horizontal
        case vertical
    }

    let cells: (columns: Int, rows: Int)
    let pixels: (width: Double, height: Double)

    init(_ tree: TimedTextTree) {
        cells = tree.cells
        // Lengths in pixels without a size of the picture are wrong; most who write them mean this one.
        pixels = tree.pixels ?? (1_280, 720)
    }

    /// A length in percent of the picture's width or height.
    ///
    /// - Parameters:
    ///   - text: A number with a unit.
    ///   - axis: Whose percent is wanted.
    ///   - base: What `%` refers to, in percent of the picture; 100 for the picture itself.
    ///   - fontSize: What `em` refers to, in percent of the picture's height.
    /// - Returns: At most ten pictures to either side; `nil` for what is no length.
    func percent(_ text: some StringProtocol, _ axis: Axis, base: Double = 100, fontSize: Double = 0) -> Double? {
        guard text.utf8.count <= 40 else { return nil }
        let digits = text.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) }
        guard let value = Double(String(digits)), value.isFinite else { return nil }
        let ratio = pixels.height / pixels.width
        let result: Double
        switch text[digits.endIndex...] {
        case "%": result = value / 100 * base
        case "px": result = value * 100 / (axis == .horizontal ? pixels.width : pixels.height)
        case "c": result = value * 100 / Double(axis == .horizontal ? cells.columns : cells.rows)
        case "em": result = value * fontSize * (axis == .horizontal ? ratio : 1)
        case "rw": result = axis == .horizontal ? value : value / ratio
        case "rh": result = axis == .vertical ? value : value * ratio
        default: return nil
        }
        return min(max(result, -1_000), 1_000)
    }

    /// Two lengths, across and down.
    func pair(_ text: String, fontSize: Double = 0) -> (x: Double, y: Double)? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let x = percent(parts[0], .horizontal, fontSize: fontSize),
            let y = percent(parts[1], .vertical, fontSize: fontSize)
        else { return nil }
        return (x, y)
    }
}

/// A converter from TTML lengths to percent of the video (TTML2 §10.3.15).
struct TimedTextLengthConverter {
    enum Axis {
        case horizontal
        case vertical
    }

    let cells: (columns: Int, rows: Int)
    let pixels: (width: Double, height: Double)

    init(_ tree: TimedTextTree) {
        cells = tree.cells
        // Without a document extent, lengths in pixels are invalid; most writers that use them assume 1280 by 720.
        pixels = tree.pixels ?? (1_280, 720)
    }

    /// Returns a length in percent of the video width or height.
    ///
    /// - Parameters:
    ///   - text: A number with a unit.
    ///   - axis: The dimension to which the result is relative.
    ///   - base: The length to which `%` is relative, in percent of the video; 100 for the video itself.
    ///   - fontSize: The length to which `em` is relative, in percent of the video height.
    /// - Returns: The length, limited to -1000 to 1000 percent; `nil` if the text is not a valid length.
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

    /// Returns a horizontal and a vertical length separated by white space, or `nil` if the text is invalid.
    func pair(_ text: String, fontSize: Double = 0) -> (x: Double, y: Double)? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let x = percent(parts[0], .horizontal, fontSize: fontSize),
            let y = percent(parts[1], .vertical, fontSize: fontSize)
        else { return nil }
        return (x, y)
    }
}

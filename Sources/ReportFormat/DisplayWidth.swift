extension String {
    /// The number of columns that the text takes in a terminal (Unicode Standard Annex 11).
    ///
    /// Wide characters, such as those of East Asian scripts and emoji, take two columns, and combining characters none.
    package var displayWidth: Int {
        if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
        return unicodeScalars.reduce(0) { $0 + $1.displayWidth }
    }

    /// Returns the beginning of the text that fits in a number of columns, with an ellipsis if anything is left out.
    package func fitting(columns: Int) -> String {
        guard displayWidth > columns else { return self }
        var result = ""
        var width = 1
        for scalar in unicodeScalars {
            width += scalar.displayWidth
            guard width <= columns else { break }
            result.unicodeScalars.append(scalar)
        }
        return columns > 0 ? result + "…" : ""
    }
}

extension Unicode.Scalar {
    /// The number of columns: 0, 1 or 2.
    fileprivate var displayWidth: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return Self.wideRanges.contains { $0.contains(value) } ? 2 : 1
        }
    }

    /// The blocks whose characters have the property `East_Asian_Width` with the value `W` or `F`.
    private static let wideRanges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x23E9...0x23EC, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF,
        0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}

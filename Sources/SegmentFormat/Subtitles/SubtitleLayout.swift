/// How large text is, in percent of the picture: what places cues and what draws them agree on this.
public enum SubtitleLayout {
    /// The height of a line, in percent of the picture's height: 15 of them fill the part that every set shows
    /// (CTA-608 has that many rows, and the default font of WebVTT is 5 percent high).
    public static let lineHeight = 80.0 / 15

    /// The part of the picture's width and height that lines are counted in, in percent.
    public static let safeArea = 5.0...95.0

    /// The width of a letter, in percent of the picture's width: half its height, in a picture of 16:9.
    static let letterWidth = lineHeight * 9 / 16 / 2

    /// About how high a cue's text is, in percent of the picture, with lines broken that are too long.
    static func height(of cue: SubtitleCue) -> Double {
        let width = max(cue.placement.regionWidth, 1)
        var height = 0.0
        for line in cue.lines {
            var size = line.spans.isEmpty ? 1 : 0.0
            var length = 0.0
            for span in line.spans {
                size = max(size, span.style.relativeSize)
                for scalar in span.text.unicodeScalars {
                    length += letterWidth * span.style.relativeSize * (scalar.value >= 0x1100 ? 2 : 1)
                }
            }
            let rows = cue.placement.wrapsLines ? min(max((length / width).rounded(.up), 1), 100) : 1
            height += rows * size * lineHeight
        }
        return height
    }
}

/// A part of the picture, in percent of its width and height.
struct SubtitleBox {
    var left: Double
    var right: Double
    var top: Double
    var bottom: Double

    init(_ cue: SubtitleCue) {
        let placement = cue.placement
        let height = SubtitleLayout.height(of: cue)
        left = placement.left
        right = left + placement.regionWidth
        switch placement.verticalAnchor {
        case .top: top = placement.verticalPosition
        case .middle: top = placement.verticalPosition - height / 2
        case .bottom: top = placement.verticalPosition - height
        }
        bottom = top + height
    }

    // Boxes that touch do not lie over one another, whatever rounding does.
    private static let tolerance = 0.05

    func covers(_ other: SubtitleBox) -> Bool {
        left < other.right - Self.tolerance && other.left < right - Self.tolerance
            && top < other.bottom - Self.tolerance && other.top < bottom - Self.tolerance
    }

    func moved(by distance: Double) -> SubtitleBox {
        var box = self
        box.top += distance
        box.bottom += distance
        return box
    }
}

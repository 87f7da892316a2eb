/// Text dimensions in percent of the video, used both for positioning and for rendering cues.
package enum SubtitleLayout {
    /// The height of a line, in percent of the video height.
    ///
    /// 15 lines fill 80 percent of the height, like the rows of CTA-608; the default font size of WebVTT is 5 percent.
    package static let lineHeight = 80.0 / 15

    /// The range of the video width and height in which lines are positioned, in percent.
    package static let safeArea = 5.0...95.0

    /// The estimated width of a character, in percent of the video width: half the line height, for 16:9 video.
    static let characterWidth = lineHeight * 9 / 16 / 2

    /// Returns the estimated height of a cue's text in percent of the video height, including wrapped lines.
    static func height(of cue: SubtitleCue) -> Double {
        let width = max(cue.placement.boxSize, 1)
        var height = 0.0
        for line in cue.lines {
            var size = line.spans.isEmpty ? 1 : 0.0
            var length = 0.0
            for span in line.spans {
                size = max(size, span.style.relativeSize)
                for scalar in span.text.unicodeScalars {
                    length += characterWidth * span.style.relativeSize * (scalar.value >= 0x1100 ? 2 : 1)
                }
            }
            let rows = cue.placement.wrapsLines ? min(max((length / width).rounded(.up), 1), 100) : 1
            height += rows * size * lineHeight
        }
        return height
    }
}

/// A rectangle in percent of the video width and height.
struct SubtitleBox {
    var left: Double
    var right: Double
    var top: Double
    var bottom: Double

    init(_ cue: SubtitleCue) {
        let placement = cue.placement
        let height = SubtitleLayout.height(of: cue)
        left = placement.left
        right = left + placement.boxSize
        switch placement.verticalAnchor {
        case .top: top = placement.verticalPosition
        case .middle: top = placement.verticalPosition - height / 2
        case .bottom: top = placement.verticalPosition - height
        }
        bottom = top + height
    }

    // Adjacent boxes do not overlap, despite rounding errors.
    private static let tolerance = 0.05

    func overlaps(_ other: SubtitleBox) -> Bool {
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

extension SubtitleCue {
    /// The left and the top edge of the text box, in percent of the video width and height.
    package var boxTopLeft: (left: Double, top: Double) {
        let box = SubtitleBox(self)
        return (box.left, box.top)
    }
}

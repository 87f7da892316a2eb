/// A region of a TTML document, the area of the video in which text is shown (TTML2 §11.1.2).
struct TimedTextRegion {
    enum DisplayAlign: String {
        case before
        case center
        case after
        case justify
    }

    private let id: String
    private var left = 0.0
    private var top = 0.0
    private var width = 100.0
    private var height = 100.0
    private var displayAlign = DisplayAlign.before
    private var writing = SubtitlePlacement.WritingDirection.horizontal

    /// Creates a region.
    ///
    /// - Parameters:
    ///   - id: The identifier of the region.
    ///   - values: The styles of the region.
    ///   - lengths: The converter of lengths.
    ///   - fontSize: The font size of the region, to which `em` is relative, in percent of the video height.
    init(
        id: String,
        _ values: [TimedTextProperty: String],
        _ lengths: TimedTextLengthConverter,
        fontSize: Double
    ) {
        self.id = id
        if let extent = values[.extent].flatMap({ lengths.pair($0, fontSize: fontSize) }) {
            (width, height) = (max(extent.x, 0), max(extent.y, 0))
        }
        if let origin = values[.origin].flatMap({ lengths.pair($0, fontSize: fontSize) }) { (left, top) = origin }
        // `tts:position` takes precedence over the older `tts:origin` (TTML2 §10.2.30).
        if let position = values[.position] { applyPosition(position, lengths) }
        if let padding = values[.padding] { applyPadding(padding, lengths, fontSize: fontSize) }
        displayAlign = values[.displayAlign].flatMap(DisplayAlign.init) ?? .before
        switch values[.writingMode] {
        case "tbrl", "tb": writing = .verticalGrowingLeft
        case "tblr": writing = .verticalGrowingRight
        default: break
        }
    }

    /// Sets the position from a value such as `center`, `left 10%` or `bottom 10% right 20%`.
    private mutating func applyPosition(_ text: String, _ lengths: TimedTextLengthConverter) {
        let words = text.split(whereSeparator: \.isWhitespace).prefix(4)
        var x: Double?
        var y: Double?
        var index = 0
        func share(_ word: Substring, _ axis: TimedTextLengthConverter.Axis) -> Double? {
            lengths.percent(word, axis, base: axis == .horizontal ? 100 - width : 100 - height)
        }
        while index < words.count {
            let word = words[index]
            // With three or four words, each edge may be followed by a distance.
            let distance = words.count > 2 && index + 1 < words.count ? words[index + 1] : nil
            var taken = 1
            switch word {
            case "left", "right":
                let offset = distance.flatMap { share($0, .horizontal) }
                x = word == "left" ? offset ?? 0 : 100 - width - (offset ?? 0)
                if offset != nil { taken = 2 }
            case "top", "bottom":
                let offset = distance.flatMap { share($0, .vertical) }
                y = word == "top" ? offset ?? 0 : 100 - height - (offset ?? 0)
                if offset != nil { taken = 2 }
            case "center": break
            default:
                if x == nil, index == 0 { x = share(word, .horizontal) } else { y = share(word, .vertical) }
            }
            index += taken
        }
        left = x ?? (100 - width) / 2
        top = y ?? (100 - height) / 2
    }

    /// Applies padding of one to four lengths, in the order before, end, after, start.
    private mutating func applyPadding(_ text: String, _ lengths: TimedTextLengthConverter, fontSize: Double) {
        let words = text.split(whereSeparator: \.isWhitespace).prefix(4)
        guard let first = words.first else { return }
        let right = words.count > 1 ? words[1] : first
        let edges = (
            top: lengths.percent(first, .vertical, base: height, fontSize: fontSize) ?? 0,
            right: lengths.percent(right, .horizontal, base: width, fontSize: fontSize) ?? 0,
            bottom: lengths.percent(words.count > 2 ? words[2] : first, .vertical, base: height, fontSize: fontSize)
                ?? 0,
            left: lengths.percent(words.count > 3 ? words[3] : right, .horizontal, base: width, fontSize: fontSize)
                ?? 0
        )
        guard edges.left + edges.right < width, edges.top + edges.bottom < height,
            [edges.left, edges.right, edges.top, edges.bottom].allSatisfy({ $0 >= 0 })
        else { return }
        (left, top) = (left + edges.left, top + edges.top)
        (width, height) = (width - edges.left - edges.right, height - edges.top - edges.bottom)
    }

    /// Returns the placement of a paragraph in this region.
    func placement(_ style: TimedTextStyle) -> SubtitlePlacement {
        var placement = SubtitlePlacement()
        placement.writingDirection = writing
        let side = Self.side(style)
        placement.overlapHandling = .stackInRegion(region: "TTML \(id)")
        if writing == .horizontal {
            placement.boxSize = width
            placement.alignment = side
            placement.horizontalAnchor = side
            switch side {
            case .left: placement.horizontalPosition = left
            case .center: placement.horizontalPosition = left + width / 2
            case .right: placement.horizontalPosition = left + width
            }
            switch displayAlign {
            case .before, .justify: (placement.verticalAnchor, placement.verticalPosition) = (.top, top)
            case .center: (placement.verticalAnchor, placement.verticalPosition) = (.middle, top + height / 2)
            case .after: (placement.verticalAnchor, placement.verticalPosition) = (.bottom, top + height)
            }
            return placement
        }
        placement.boxSize = height
        placement.overlapHandling = .fixed
        switch side {
        case .left: (placement.verticalAnchor, placement.verticalPosition) = (.top, top)
        case .center: (placement.verticalAnchor, placement.verticalPosition) = (.middle, top + height / 2)
        case .right: (placement.verticalAnchor, placement.verticalPosition) = (.bottom, top + height)
        }
        // Lines start at the side opposite to the direction in which they are added.
        let beginsRight = writing == .verticalGrowingLeft
        switch displayAlign {
        case .center: (placement.horizontalAnchor, placement.horizontalPosition) = (.center, left + width / 2)
        case .after:
            placement.horizontalAnchor = beginsRight ? .left : .right
            placement.horizontalPosition = beginsRight ? left : left + width
        case .before, .justify:
            placement.horizontalAnchor = beginsRight ? .right : .left
            placement.horizontalPosition = beginsRight ? left + width : left
        }
        return placement
    }

    private static func side(_ style: TimedTextStyle) -> SubtitlePlacement.HorizontalAnchor {
        switch style.alignment {
        case .left: .left
        case .center: .center
        case .right: .right
        case .start, .justify: style.isRightToLeft ? .right : .left
        case .end: style.isRightToLeft ? .left : .right
        }
    }
}

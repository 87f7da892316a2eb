package import MediaTiming

extension WebVTTDocument {
    /// The cues with styles and positions applied, with the times of the document.
    package var subtitles: [SubtitleCue] { subtitles(of: cues) }

    /// Returns the cues with styles and positions applied, with times on the media timeline.
    ///
    /// - Parameter reference: The reference time, as for ``cues(near:)``.
    /// - Returns: The cues, in document order; cues without text are omitted.
    package func subtitles(near reference: MediaTime) -> [SubtitleCue] { subtitles(of: cues(near: reference)) }

    /// Returns the given cues with the styles and regions of this document applied.
    ///
    /// - Parameter cues: Cues of this document, or of samples that have this document as their header.
    /// - Returns: The cues; cues without text are omitted.
    package func subtitles(of cues: [WebVTTCue]) -> [SubtitleCue] { WebVTTSubtitleConverter(self).subtitles(of: cues) }
}

/// The parsed style sheets and regions of a document, which can be applied to many cues.
struct WebVTTSubtitleConverter: Sendable {
    private let sheet: WebVTTStyleSheet
    private let regions: [String: WebVTTRegion]

    init(_ document: WebVTTDocument) {
        sheet = WebVTTStyleSheet(document.styleSheets)
        regions = Dictionary(document.regions.map { ($0.id, $0) }) { _, last in last }
    }

    /// Returns the cues with styles and positions applied; cues without text are omitted.
    func subtitles(of cues: [WebVTTCue]) -> [SubtitleCue] {
        cues.compactMap { SubtitleCue($0, region: $0.settings.regionID.flatMap { regions[$0] }, sheet: sheet) }
    }
}

extension SubtitleCue {
    /// Creates a cue from a WebVTT cue without style sheets, or `nil` if it has no text.
    package init?(_ cue: WebVTTCue, region: WebVTTRegion? = nil) {
        self.init(cue, region: region, sheet: WebVTTStyleSheet([]))
    }

    init?(_ cue: WebVTTCue, region: WebVTTRegion?, sheet: WebVTTStyleSheet) {
        var text = WebVTTTextConverter(sheet, id: cue.id)
        let lines = text.lines(cue.nodes)
        guard !lines.isEmpty else { return nil }
        let placement = SubtitlePlacement(cue.settings, region: region, lines: lines)
        self.init(id: cue.id, timeRange: cue.timeRange, lines: lines, placement: placement)
    }
}

extension SubtitlePlacement {
    /// Creates the placement that results from the settings of a WebVTT cue (W3C WebVTT §7.2).
    init(_ settings: WebVTTCueSettings, region: WebVTTRegion?, lines: [SubtitleLine]) {
        self.init()
        let isRightToLeft = Self.isRightToLeft(lines)
        switch settings.alignment {
        case .left: alignment = .left
        case .right: alignment = .right
        case .center: alignment = .center
        case .start: alignment = isRightToLeft ? .right : .left
        case .end: alignment = isRightToLeft ? .left : .right
        }
        let position = settings.position ?? (alignment == .left ? 0 : alignment == .right ? 100 : 50)
        let anchor: HorizontalAnchor
        switch settings.positionAlignment {
        case .automatic: anchor = alignment
        case .lineLeft: anchor = .left
        case .center: anchor = .center
        case .lineRight: anchor = .right
        }
        let room: Double
        switch anchor {
        case .left: room = 100 - position
        case .right: room = position
        case .center: room = min(position, 100 - position) * 2
        }
        boxSize = min(settings.size, room)
        horizontalAnchor = anchor
        horizontalPosition = position
        if let region {
            place(in: region)
        } else if settings.direction == .horizontal {
            placeLines(settings, lines)
        } else {
            placeColumns(settings, lines, position, anchor)
        }
    }

    /// Returns whether the first character with a strong direction is right-to-left (Unicode UAX #9, P2).
    private static func isRightToLeft(_ lines: [SubtitleLine]) -> Bool {
        for line in lines {
            for span in line.spans {
                for scalar in span.text.unicodeScalars {
                    switch scalar.value {
                    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC, 0x10800...0x10FFF, 0x1E800...0x1EFFF, 0x200F:
                        return true
                    case 0x200E: return false
                    default: if scalar.properties.isAlphabetic { return false }
                    }
                }
            }
        }
        return false
    }

    private mutating func place(in region: WebVTTRegion) {
        let height = Double(min(max(region.lines, 0), 100)) * SubtitleLayout.lineHeight
        let left = region.viewportAnchor.x - region.anchor.x / 100 * region.width
        let top = region.viewportAnchor.y - region.anchor.y / 100 * height
        horizontalPosition = left + horizontalPosition / 100 * region.width
        boxSize = boxSize / 100 * region.width
        verticalAnchor = .bottom
        verticalPosition = top + height
        overlapHandling = .stackInRegion(region: "WebVTT \(region.id)")
    }

    private mutating func placeLines(_ settings: WebVTTCueSettings, _ lines: [SubtitleLine]) {
        let safe = SubtitleLayout.safeArea
        let lineHeight = SubtitleLayout.lineHeight
        var probe = SubtitleCue(timeRange: MediaTimeRange(start: .zero, duration: .zero), lines: lines)
        probe.placement = self
        let height = SubtitleLayout.height(of: probe)
        switch settings.line {
        case .automatic:
            verticalAnchor = .bottom
            verticalPosition = safe.upperBound
        case .number(let number):
            // Whole lines from the top, or from the bottom if the number is negative, limited so that all lines are
            // visible.
            let line = number.rounded()
            if line < 0 {
                let top = safe.upperBound + line * lineHeight
                verticalAnchor = .bottom
                verticalPosition = max(min(top + height, safe.upperBound), safe.lowerBound + height)
            } else {
                verticalAnchor = .top
                verticalPosition = max(
                    safe.lowerBound,
                    min(safe.lowerBound + line * lineHeight, safe.upperBound - height)
                )
            }
        case .percentage(let percentage):
            verticalPosition = percentage
            switch settings.lineAlignment {
            case .start: verticalAnchor = .top
            case .center: verticalAnchor = .middle
            case .end: verticalAnchor = .bottom
            }
        }
        // Without a position, most writers expect the text to be limited to the safe area.
        if settings.position == nil, settings.size == 100 {
            boxSize = safe.upperBound - safe.lowerBound
            horizontalPosition = safe.lowerBound + horizontalPosition / 100 * boxSize
        }
    }

    /// Sets the placement of vertical text: the position is vertical, and lines are arranged horizontally.
    private mutating func placeColumns(
        _ settings: WebVTTCueSettings,
        _ lines: [SubtitleLine],
        _ position: Double,
        _ anchor: HorizontalAnchor
    ) {
        let safe = SubtitleLayout.safeArea
        let advance = SubtitleLayout.lineHeight * 9 / 16
        let width = Double(lines.count) * advance
        writingDirection = settings.direction == .growingLeft ? .verticalGrowingLeft : .verticalGrowingRight
        verticalPosition = position
        if settings.position == nil {
            verticalPosition = safe.lowerBound + position / 100 * (safe.upperBound - safe.lowerBound)
        }
        switch anchor {
        case .left: verticalAnchor = .top
        case .center: verticalAnchor = .middle
        case .right: verticalAnchor = .bottom
        }
        // The first column is at the side where writing starts; automatic places the last column at the opposite side.
        let growsLeft = writingDirection == .verticalGrowingLeft
        switch settings.line {
        case .automatic:
            horizontalAnchor = growsLeft ? .left : .right
            horizontalPosition = growsLeft ? safe.lowerBound : safe.upperBound
        case .number(let number):
            let line = number.rounded()
            let fromStart = line >= 0 ? line * advance : 100 - safe.lowerBound * 2 + line * advance
            let offset = max(0, min(fromStart, safe.upperBound - safe.lowerBound - width))
            horizontalAnchor = growsLeft ? .right : .left
            horizontalPosition = growsLeft ? safe.upperBound - offset : safe.lowerBound + offset
        case .percentage(let percentage):
            horizontalPosition = percentage
            switch settings.lineAlignment {
            case .start: horizontalAnchor = .left
            case .center: horizontalAnchor = .center
            case .end: horizontalAnchor = .right
            }
        }
    }
}

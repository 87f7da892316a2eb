import MediaTiming

/// A converter from a TTML document to cues, which resolves the times, styles and regions of each paragraph.
struct TimedTextConverter {
    private struct Context {
        var interval: TimedTextInterval
        var region: String?
        var preservesSpace: Bool
    }

    private struct Region {
        let values: [TimedTextProperty: String]
        let region: TimedTextRegion
    }

    private let tree: TimedTextTree
    private let lengths: TimedTextLengthConverter
    private let references: TimedTextStyleResolver
    private var regions: [String: Region] = [:]
    private var result: [SubtitleCue] = []
    /// The remaining memory that cues may use, in bytes; a short document can show the same text in many states.
    private var budget: Int
    private var isExhausted = false
    /// The styles of the elements from the body to the current one, the outermost first.
    ///
    /// They are not resolved, because their result depends on the region.
    private var path: [[TimedTextProperty: String]] = []
    /// The resolved styles of the region and of each element of the path.
    private var resolved: (region: String?, styles: [TimedTextStyle]) = (nil, [])

    init(_ tree: TimedTextTree, budget: Int) {
        var tree = tree
        tree.measureImplicitDurations()
        self.tree = tree
        self.budget = budget
        lengths = TimedTextLengthConverter(tree)
        references = TimedTextStyleResolver(tree.styles)
    }

    /// Returns the cues of the document.
    ///
    /// - Throws: ``MediaFormatError/tooLarge(_:)`` if there are too many cues or they use too much memory.
    mutating func cues() throws(MediaFormatError) -> [SubtitleCue] {
        guard let body = tree.body else { return [] }
        let root = Context(
            interval: TimedTextInterval(begin: .zero, end: nil),
            region: nil,
            preservesSpace: tree.preservesSpace
        )
        _ = processElement(body, in: root, reference: .zero)
        guard !isExhausted else { throw .tooLarge("timed text with all states of its cues") }
        return result
    }

    /// Processes an element and returns its explicit end, after which the next element of a sequence starts.
    private mutating func processElement(_ index: Int, in outer: Context, reference: MediaTime) -> MediaTime? {
        let node = tree.nodes[index]
        guard !isExhausted else { return nil }
        let interval = tree.interval(node.attributes, outer.interval, reference: reference)
        var context = outer
        context.interval = interval
        context.region = tree.region(ofNode: index) ?? outer.region
        context.preservesSpace = node.attributes.preservesSpace ?? outer.preservesSpace
        path.append(references.styles(of: node.attributes))
        if case .paragraph = node.kind {
            addParagraph(index, context)
        } else {
            var next = interval.begin
            for child in node.children {
                let end = processElement(
                    child,
                    in: context,
                    reference: node.attributes.isSequence ? next : interval.begin
                )
                // An element without an end in a sequence has no duration (TTML2 §12.2.4).
                if node.attributes.isSequence { next = max(next, end ?? tree.implicitEnd(child, after: next)) }
            }
        }
        path.removeLast()
        if resolved.styles.count > path.count + 1 { resolved.styles.removeLast() }
        return interval.isExplicit(node.attributes) ? interval.end : nil
    }

    /// Returns the region with the given identifier, or `nil` if the document does not define it.
    private mutating func region(_ name: String?) -> Region? {
        guard let name, let definition = tree.regions[name] else { return nil }
        if let known = regions[name] { return known }
        let values = references.styles(of: definition)
        var style = TimedTextStyle(lengths, initials: tree.initials.styles)
        style.apply(values)
        let region = Region(
            values: values,
            region: TimedTextRegion(id: name, values, lengths, fontSize: style.fontSize)
        )
        regions[name] = region
        return region
    }

    /// Returns the style of the element at the end of the path.
    ///
    /// Results for the enclosing elements are reused.
    private mutating func style(in region: Region?, named name: String?) -> TimedTextStyle {
        let name = region == nil ? nil : name
        if resolved.styles.isEmpty || resolved.region != name {
            var base = TimedTextStyle(lengths, initials: tree.initials.styles)
            base.apply(region?.values ?? [:])
            resolved = (name, [base])
        }
        var style = resolved.styles[resolved.styles.count - 1]
        while resolved.styles.count <= path.count {
            style = style.inherited()
            style.apply(path[resolved.styles.count - 1])
            resolved.styles.append(style)
        }
        return style
    }

    /// The maximum number of regions of the spans of a paragraph.
    ///
    /// Further regions are ignored, because the paragraph is read again for each region.
    private static let maximumSpanRegionCount = 8

    /// Adds the cues of a paragraph, one for each state and region of its text.
    ///
    /// A paragraph without a region can have spans with regions (TTML2 §11.3.1.3), such as the paragraphs that FFmpeg
    /// writes.
    private mutating func addParagraph(_ index: Int, _ context: Context) {
        let regions =
            context.region == nil
            ? tree.regionsOfSpans(inParagraph: index, limit: Self.maximumSpanRegionCount) : []
        guard !regions.isEmpty else { return addParagraph(index, context, nil) }
        addParagraph(index, context, TimedTextContent.RegionSelection(regions: regions, selected: nil))
        for name in regions where !isExhausted {
            var inner = context
            inner.region = name
            addParagraph(index, inner, TimedTextContent.RegionSelection(regions: regions, selected: name))
        }
    }

    private mutating func addParagraph(
        _ index: Int,
        _ context: Context,
        _ selection: TimedTextContent.RegionSelection?
    ) {
        let region = region(context.region)
        let style = style(in: region, named: context.region)
        guard style.isDisplayed else { return }
        var content = TimedTextContent(
            tree,
            references,
            preservesSpace: context.preservesSpace,
            selection: selection
        )
        content.addChildren(of: index, style, context.interval)
        let placement = region?.region.placement(style) ?? defaultPlacement(style)
        let id = tree.nodes[index].attributes.id ?? ""
        for state in content.stateTimeRanges(in: context.interval) {
            let (lines, isForced) = content.lines(at: state.start)
            guard !lines.isEmpty else { continue }
            budget -= Self.memoryUse(of: lines)
            guard budget >= 0, result.count < TimedTextDocument.maximumCueCount else {
                isExhausted = true
                return
            }
            result.append(
                SubtitleCue(id: id, timeRange: state, lines: lines, placement: placement, isForced: isForced)
            )
        }
    }

    /// Returns the estimated memory use of a cue with the given lines, in bytes.
    private static func memoryUse(of lines: [SubtitleLine]) -> Int {
        lines.reduce(256) { sum, line in
            line.spans.reduce(sum + 32) { $0 + 96 + $1.text.utf8.count }
        }
    }

    /// Returns a placement at the bottom center, or at the bottom of the side that the text alignment specifies.
    private func defaultPlacement(_ style: TimedTextStyle) -> SubtitlePlacement {
        var placement = SubtitlePlacement()
        guard tree.initials.styles[.textAlign] != nil || path.contains(where: { $0[.textAlign] != nil }) else {
            return placement
        }
        let safe = SubtitleLayout.safeArea
        switch (style.alignment, style.isRightToLeft) {
        case (.center, _): break
        case (.left, _), (.start, false), (.end, true), (.justify, false):
            placement.horizontalAnchor = .left
            placement.horizontalPosition = safe.lowerBound
        case (.right, _), (.start, true), (.end, false), (.justify, true):
            placement.horizontalAnchor = .right
            placement.horizontalPosition = safe.upperBound
        }
        placement.alignment = placement.horizontalAnchor
        return placement
    }
}

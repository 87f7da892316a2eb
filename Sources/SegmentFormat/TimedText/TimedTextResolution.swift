import MediaTiming

/// Finds out what a TTML document shows when: times, styles and regions of each paragraph.
struct TimedTextResolution {
    private struct Context {
        var interval: TimedTextInterval
        var region: String?
        var preservesSpace: Bool
        /// The styles of the elements around, the outermost first: what they mean depends on the region.
        var styles: [[TimedTextProperty: String]]
    }

    private let tree: TimedTextTree
    private let lengths: TimedTextLength
    private let references: TimedTextReferences
    private var regions: [String: TimedTextRegion] = [:]
    private var result: [SubtitleCue] = []
    // Bytes of text that all cues may have together: a short document can show the same text in many states.
    private var room = 64 << 20

    init(_ tree: TimedTextTree) {
        self.tree = tree
        lengths = TimedTextLength(tree)
        references = TimedTextReferences(tree.styles)
    }

    mutating func cues() -> [SubtitleCue] {
        guard let body = tree.body else { return [] }
        let root = Context(
            interval: TimedTextInterval(begin: .zero, end: nil),
            region: nil,
            preservesSpace: tree.preservesSpace,
            styles: []
        )
        _ = walk(body, root, reference: .zero)
        return result
    }

    /// Goes through an element and gives when it ends, for what follows in a sequence.
    private mutating func walk(_ index: Int, _ outer: Context, reference: MediaTime) -> MediaTime? {
        let node = tree.nodes[index]
        guard result.count < TimedTextDocument.mostCues, room > 0 else { return nil }
        let interval = tree.interval(node.attributes, outer.interval, reference: reference)
        var context = outer
        context.interval = interval
        context.region = node.attributes.region ?? tree.inlineRegions[index] ?? outer.region
        context.preservesSpace = node.attributes.preservesSpace ?? outer.preservesSpace
        context.styles.append(references.styles(of: node.attributes))
        if case .paragraph = node.kind {
            addParagraph(index, context)
        } else {
            var next = interval.begin
            for child in node.children {
                let end = walk(child, context, reference: node.attributes.isSequence ? next : interval.begin)
                // What has no end in a sequence has no length (TTML2 §12.2.4).
                if node.attributes.isSequence { next = max(next, end ?? tree.implicitEnd(child, after: next)) }
            }
        }
        return interval.isExplicit(node.attributes) ? interval.end : nil
    }

    private mutating func addParagraph(_ index: Int, _ context: Context) {
        let definition = context.region.flatMap { tree.regions[$0] }
        let values = definition.map { references.styles(of: $0) } ?? [:]
        var style = TimedTextStyle(lengths, initials: tree.initials.styles)
        style.apply(values)
        for specified in context.styles {
            style = style.inherited()
            style.apply(specified)
        }
        guard style.isDisplayed else { return }
        var content = TimedTextContent(tree, references, preservesSpace: context.preservesSpace)
        content.addChildren(of: index, style, context.interval)
        let placement: SubtitlePlacement
        if let name = context.region, definition != nil {
            let region = regions[name] ?? TimedTextRegion(id: name, values, lengths)
            regions[name] = region
            placement = region.placement(style)
        } else {
            placement = defaultPlacement(style, context)
        }
        let id = tree.nodes[index].attributes.id ?? ""
        for state in content.states(context.interval) {
            guard result.count < TimedTextDocument.mostCues, room > 0 else { return }
            let (lines, isForced, bytes) = content.lines(at: state.start)
            room -= bytes
            guard !lines.isEmpty else { continue }
            result.append(
                SubtitleCue(id: id, timeRange: state, lines: lines, placement: placement, isForced: isForced)
            )
        }
    }

    /// Below in the middle, or at a side that is asked for.
    private func defaultPlacement(_ style: TimedTextStyle, _ context: Context) -> SubtitlePlacement {
        var placement = SubtitlePlacement()
        let names = [tree.initials.styles] + context.styles
        guard names.contains(where: { $0[.textAlign] != nil }) else { return placement }
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

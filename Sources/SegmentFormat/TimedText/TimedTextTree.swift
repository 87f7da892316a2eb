import MediaTiming
import XMLReading

/// The elements of a TTML document, before times, styles and regions are resolved.
struct TimedTextTree: XMLEventHandler {
    enum Kind {
        case body
        case division
        case paragraph
        case span
        case lineBreak
        case text(String)
    }

    struct Node {
        let kind: Kind
        let attributes: TimedTextAttributes
        var children: [Int] = []
    }

    private(set) var timing = TimedTextTiming()
    private(set) var cells = (columns: 32, rows: 15)
    /// The document extent in pixels, to which lengths in pixels are relative.
    private(set) var pixels: (width: Double, height: Double)?
    private(set) var language: String?
    private(set) var preservesSpace = false
    private(set) var initials = TimedTextAttributes()
    private(set) var styles: [String: TimedTextAttributes] = [:]
    private(set) var regions: [String: TimedTextAttributes] = [:]
    private(set) var nodes: [Node] = []
    /// The implicit durations of elements without an end, relative to their start.
    ///
    /// Empty before they are measured and if the document has no sequences.
    var implicitDurations: [MediaTime] = []
    /// The index of the `body` element in ``nodes``.
    private(set) var body: Int?
    private(set) var hasRoot = false
    /// A Boolean value that indicates whether the root element has ended; data after it, such as images, are ignored.
    private(set) var isComplete = false

    /// The maximum number of styles and of regions that are read.
    private static let maximumDefinitionCount = 10_000

    private enum Open {
        case other
        case root
        case region(String)
        case node(Int)
        /// Metadata or an unknown element, whose content is ignored.
        case skipped
    }
    private var open: [Open] = []
    private var anonymousRegions = 0

    var isFinished: Bool { isComplete }

    mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
        guard TimedTextAttributes.isContent(name) else { return open.append(.skipped) }
        let parent = open.last ?? .other
        if case .skipped = parent { return open.append(.skipped) }
        // Undeclared prefixes are interpreted as commonly used.
        let local = name.local.hasPrefix("tt:") ? String(name.local.dropFirst(3)) : name.local
        switch local {
        case "tt":
            guard open.isEmpty else { return open.append(.skipped) }
            hasRoot = true
            readRoot(attributes)
            open.append(.root)
        case "head", "styling", "layout": open.append(hasRoot ? .other : .skipped)
        case "initial":
            initials.styles.merge(TimedTextAttributes(attributes).styles) { _, new in new }
            open.append(.skipped)
        case "style": readStyle(TimedTextAttributes(attributes), parent)
        case "region": readRegion(TimedTextAttributes(attributes), parent)
        case "body": add(.body, attributes, parent)
        case "div": add(.division, attributes, parent)
        case "p": add(.paragraph, attributes, parent)
        case "span": add(.span, attributes, parent)
        case "br": add(.lineBreak, attributes, parent)
        default: open.append(.skipped)
        }
    }

    mutating func endElement(_ name: XMLName) {
        if case .root? = open.popLast() { isComplete = true }
    }

    mutating func handleText(_ text: String) {
        guard case .node(let parent)? = open.last else { return }
        switch nodes[parent].kind {
        case .paragraph, .span:
            nodes[parent].children.append(nodes.count)
            nodes.append(Node(kind: .text(text), attributes: TimedTextAttributes()))
        default: break
        }
    }

    private mutating func add(_ kind: Kind, _ attributes: XMLAttributes, _ parent: Open) {
        let index = nodes.count
        switch (parent, kind) {
        case (.root, .body):
            guard body == nil else { return open.append(.skipped) }
            body = index
        case (.node(let parent), .division), (.node(let parent), .paragraph), (.node(let parent), .span),
            (.node(let parent), .lineBreak):
            nodes[parent].children.append(index)
        default: return open.append(.skipped)
        }
        nodes.append(Node(kind: kind, attributes: TimedTextAttributes(attributes)))
        open.append(.node(index))
    }

    private mutating func readStyle(_ style: TimedTextAttributes, _ parent: Open) {
        open.append(.skipped)
        if case .region(let id) = parent {
            // Styles inside a region apply to the region; its attributes take precedence (TTML2 §10.4.4.2).
            regions[id]?.styles.merge(style.styles) { own, _ in own }
            let room = TimedTextAttributes.maximumReferenceCount - (regions[id]?.styleIDs.count ?? 0)
            regions[id]?.styleIDs += style.styleIDs.prefix(max(0, room))
        } else if let id = style.id, styles.count < Self.maximumDefinitionCount {
            styles[id] = style
        }
    }

    private mutating func readRegion(_ region: TimedTextAttributes, _ parent: Open) {
        guard regions.count < Self.maximumDefinitionCount else { return open.append(.skipped) }
        if case .node(let index) = parent {
            // A region inside an element applies to that element only (TTML2 §11.1.2).
            anonymousRegions += 1
            let id = region.id ?? " \(anonymousRegions)"
            regions[id] = region
            inlineRegions[index] = id
            return open.append(.region(id))
        }
        guard let id = region.id else { return open.append(.skipped) }
        regions[id] = region
        open.append(.region(id))
    }

    /// The identifiers of inline regions by the index of the element to which they apply.
    private(set) var inlineRegions: [Int: String] = [:]

    /// Returns the region that the element with the given index names or contains; `nil` if there is none.
    func region(ofNode index: Int) -> String? { nodes[index].attributes.region ?? inlineRegions[index] }

    /// Returns the defined regions that spans of a paragraph name, in document order.
    ///
    /// - Parameters:
    ///   - index: The index of the paragraph in ``nodes``.
    ///   - limit: The maximum number of regions.
    /// - Returns: Distinct identifiers of regions.
    func regionsOfSpans(inParagraph index: Int, limit: Int) -> [String] {
        var result: [String] = []
        // The last element is visited next.
        var pending = Array(nodes[index].children.reversed())
        while let next = pending.popLast(), result.count < limit {
            guard case .span = nodes[next].kind else { continue }
            if let region = region(ofNode: next), regions[region] != nil, !result.contains(region) {
                result.append(region)
            }
            pending += nodes[next].children.reversed()
        }
        return result
    }

    private mutating func readRoot(_ attributes: XMLAttributes) {
        for attribute in attributes.attributes {
            let (space, local) = TimedTextAttributes.name(attribute.name)
            switch (space, local) {
            case (.xml, "lang"): language = attribute.value.isEmpty ? nil : attribute.value
            case (.xml, "space"): preservesSpace = attribute.value == "preserve"
            case (.parameter, "cellResolution"):
                let parts = attribute.value.split(separator: " ").compactMap { Int($0) }
                guard parts.count == 2, parts.allSatisfy((1...10_000).contains) else { continue }
                cells = (parts[0], parts[1])
            case (.parameter, _): timing.set(local, attribute.value)
            case (.styling, "extent"):
                let parts = attribute.value.split(whereSeparator: \.isWhitespace).compactMap { part in
                    part.hasSuffix("px") ? Double(part.dropLast(2)) : nil
                }
                guard parts.count == 2, parts.allSatisfy({ (1...100_000).contains($0) }) else { continue }
                pixels = (parts[0], parts[1])
            default: break
            }
        }
    }
}

public import MediaTiming

/// A part of a cue's text (W3C WebVTT §6.4 and §6.5).
public indirect enum WebVTTNode: Sendable, Hashable {
    /// Plain text, with entities decoded.
    case text(String)
    /// What follows is spoken from this time on, on the timeline of the document.
    case timestamp(MediaTime)
    /// Text inside of a tag.
    case element(Element)

    /// Text inside of a tag.
    public struct Element: Sendable, Hashable {
        /// Its tag.
        public let tag: Tag
        /// Its classes.
        public let classes: [String]
        /// Who speaks, for `v`; which language, for `lang`; empty for others.
        public let annotation: String
        /// What is inside.
        public let children: [WebVTTNode]
    }

    /// What a tag means.
    public enum Tag: String, Sendable, Hashable {
        /// A part that style sheets name by its classes.
        case span = "c"
        /// Italic.
        case italic = "i"
        /// Bold.
        case bold = "b"
        /// Underlined.
        case underline = "u"
        /// Text with a reading beside it.
        case ruby
        /// The reading.
        case rubyText = "rt"
        /// Who speaks.
        case voice = "v"
        /// In which language.
        case language = "lang"
    }

    /// Tags inside of more tags than this are left out, their text is kept.
    public static let mostDepth = 64

    /// All text, without tags and timestamps.
    public var plainText: String {
        switch self {
        case .text(let text): text
        case .timestamp: ""
        case .element(let element): element.children.map(\.plainText).joined()
        }
    }
}

extension WebVTTNode {
    /// Reads a cue's text; what is wrong is left out.
    static func nodes(_ text: String) -> [WebVTTNode] {
        var tokens = WebVTTTokens(text)
        var tree = Tree()
        while let token = tokens.next() {
            switch token {
            case .text(let text): tree.append(.text(text))
            case .timestamp(let text):
                var scanner = WebVTTScanner(text)
                if let time = scanner.timestamp(), scanner.isAtEnd { tree.append(.timestamp(time)) }
            case .start(let name, let classes, let annotation): tree.open(name, classes, annotation)
            case .end(let name): tree.close(name)
            }
        }
        return tree.finish()
    }

    /// The tags that are open, the outermost first, and what each holds so far.
    private struct Tree {
        private struct Open {
            let tag: Tag
            let classes: [String]
            let annotation: String
            var children: [WebVTTNode] = []
        }

        private var root: [WebVTTNode] = []
        private var open: [Open] = []

        mutating func append(_ node: WebVTTNode) {
            if open.isEmpty { root.append(node) } else { open[open.count - 1].children.append(node) }
        }

        mutating func open(_ name: String, _ classes: [String], _ annotation: String) {
            guard let tag = Tag(rawValue: name), open.count < mostDepth else { return }
            if tag == .rubyText, open.last?.tag != .ruby { return }
            let isNamed = tag == .voice || tag == .language
            open.append(Open(tag: tag, classes: classes, annotation: isNamed ? annotation : ""))
        }

        mutating func close(_ name: String) {
            guard let tag = Tag(rawValue: name), let last = open.last else { return }
            if last.tag == tag {
                closeLast()
            } else if tag == .ruby, last.tag == .rubyText {
                closeLast()
                closeLast()
            }
        }

        private mutating func closeLast() {
            guard let last = open.popLast() else { return }
            append(
                .element(
                    Element(tag: last.tag, classes: last.classes, annotation: last.annotation, children: last.children)
                )
            )
        }

        mutating func finish() -> [WebVTTNode] {
            while !open.isEmpty { closeLast() }
            return root
        }
    }
}

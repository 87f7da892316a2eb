package import MediaTiming

/// A node of a cue's text (W3C WebVTT §6.4 and §6.5).
package indirect enum WebVTTNode: Sendable, Hashable {
    /// Plain text with decoded entities.
    case text(String)
    /// The time, on the timeline of the document, at which the following text becomes active.
    case timestamp(MediaTime)
    /// Text inside a tag.
    case element(Element)

    /// A tag with its content.
    package struct Element: Sendable, Hashable {
        /// The tag.
        package let tag: Tag
        /// The class names.
        package let classes: [String]
        /// The speaker for `v`, the language tag for `lang`; empty for other tags.
        package let annotation: String
        /// The content of the tag.
        package let children: [WebVTTNode]
    }

    /// The type of a tag.
    package enum Tag: String, Sendable, Hashable {
        /// A span, to which style sheets refer by its classes.
        case span = "c"
        /// Italic text.
        case italic = "i"
        /// Bold text.
        case bold = "b"
        /// Underlined text.
        case underline = "u"
        /// Text with a ruby annotation.
        case ruby
        /// The ruby annotation.
        case rubyText = "rt"
        /// A voice span with the name of the speaker.
        case voice = "v"
        /// A span in the given language.
        case language = "lang"
    }

    /// The maximum nesting depth of tags; deeper tags are removed, but their text is preserved.
    package static let maximumDepth = 64

    /// The text without tags and timestamps.
    package var plainText: String {
        switch self {
        case .text(let text): text
        case .timestamp: ""
        case .element(let element): element.children.map(\.plainText).joined()
        }
    }
}

extension WebVTTNode {
    /// Returns the nodes of a cue's text; invalid tags are ignored.
    static func nodes(_ text: String) -> [WebVTTNode] {
        var tokens = WebVTTTokenizer(text)
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

    /// The open elements, the outermost first, with their children so far.
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
            guard let tag = Tag(rawValue: name), open.count < maximumDepth else { return }
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

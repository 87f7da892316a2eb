import MediaTiming
import XMLReading

/// The elements of a manifest as a document that can be changed and written again.
///
/// Comments, processing instructions and white space between elements are not part of it.
struct ManifestDocument {
    /// Text or an element.
    enum Content {
        case text(String)
        /// An element, by its index in the document.
        case element(Int)
    }

    /// An element of the document.
    struct Node {
        var name: XMLName
        var attributes: [XMLAttributes.Attribute]
        var contents: [Content] = []
        var parent: Int?
    }

    private(set) var nodes: [Node] = []
    /// The index of the root element.
    private(set) var root = 0

    /// Creates a document by parsing it.
    ///
    /// - Throws: ``ManifestParsingError`` if the bytes are not well-formed or exceed a limit.
    init(parsing bytes: Span<UInt8>, limits: ManifestLimits) throws(ManifestParsingError) {
        var reader = Reader()
        do {
            try XMLDocumentParser.parse(bytes, limits: limits.xmlLimits, textFilter: .nonWhitespace, into: &reader)
        } catch {
            throw ManifestParsingError(error)
        }
        guard !reader.nodes.isEmpty else { throw .invalidXML(message: "there is no element", line: 0) }
        nodes = reader.nodes
    }

    /// Creates a document by parsing UTF-8 text that may have several elements without a root.
    ///
    /// The root of the result contains them.
    ///
    /// - Throws: ``ManifestParsingError`` if the elements are not well-formed or exceed a limit.
    init(fragment bytes: [UInt8], limits: ManifestLimits) throws(ManifestParsingError) {
        var contents = bytes[...]
        if contents.starts(with: [0xEF, 0xBB, 0xBF]) { contents = contents.dropFirst(3) }
        contents = contents.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        // An XML declaration is only allowed at the beginning of a document.
        if contents.starts(with: Array("<?xml ".utf8)), let end = contents.firstIndex(of: UInt8(ascii: ">")) {
            contents = contents[end...].dropFirst()
        }
        let wrapped = Array("<remote>".utf8) + contents + Array("</remote>".utf8)
        try self.init(parsing: wrapped.span, limits: limits)
    }

    private struct Reader: XMLEventHandler {
        var nodes: [Node] = []
        private var open: [Int] = []

        mutating func startElement(_ name: XMLName, attributes: XMLAttributes, line: Int) {
            let index = nodes.count
            nodes.append(Node(name: name, attributes: attributes.attributes, parent: open.last))
            if let parent = open.last { nodes[parent].contents.append(.element(index)) }
            open.append(index)
        }

        mutating func endElement(_ name: XMLName) { _ = open.popLast() }

        mutating func handleText(_ text: String) {
            if let parent = open.last { nodes[parent].contents.append(.text(text)) }
        }
    }

    // MARK: Reading

    /// Returns the elements within an element, in order.
    func children(of index: Int) -> [Int] {
        nodes[index].contents.compactMap { content in
            switch content {
            case .element(let child): child
            case .text: nil
            }
        }
    }

    /// Returns the text of an element, without the text of the elements within it.
    func text(of index: Int) -> String {
        nodes[index].contents.reduce(into: "") { text, content in
            if case .text(let part) = content { text += part }
        }
    }

    /// Returns the value of an attribute, or `nil` if it is missing.
    func value(_ name: AttributeName, of index: Int) -> String? {
        let namespace = name.namespace
        return nodes[index].attributes.first { attribute in
            attribute.name.local == name.localName && attribute.name.namespace == namespace
                || attribute.name.local == name.rawValue && attribute.name.namespace.isEmpty
        }?.value
    }

    /// Returns the number of elements around an element.
    func depth(of index: Int) -> Int {
        var result = 0
        var parent = nodes[index].parent
        while let current = parent {
            result +|= 1
            parent = nodes[current].parent
        }
        return result
    }

    // MARK: Changing

    /// Copies elements of another document, whose elements in a namespace get another one.
    ///
    /// - Parameters:
    ///   - contents: The text and elements to copy.
    ///   - other: The document that contains them.
    ///   - namespaces: The namespaces that are replaced.
    ///   - namespace: The namespace that replaces them.
    /// - Returns: The copies, which have no parent yet.
    mutating func copy(
        _ contents: [Content],
        from other: ManifestDocument,
        replacing namespaces: Set<String>,
        by namespace: String
    ) -> [Content] {
        contents.map { content in
            guard case .element(let index) = content else { return content }
            var node = other.nodes[index]
            if namespaces.contains(node.name.namespace) { node.name = XMLName(node.name.local, in: namespace) }
            node.parent = nil
            node.contents = copy(node.contents, from: other, replacing: namespaces, by: namespace)
            let copy = nodes.count
            for case .element(let child) in node.contents { nodes[child].parent = copy }
            nodes.append(node)
            return .element(copy)
        }
    }

    /// Inserts contents within an element.
    ///
    /// - Parameters:
    ///   - contents: The contents, which are copies or have been removed.
    ///   - parent: The element.
    ///   - position: The position in its contents, from 0 to their number.
    mutating func insert(_ contents: [Content], in parent: Int, at position: Int) {
        for case .element(let child) in contents { nodes[child].parent = parent }
        nodes[parent].contents.insert(contentsOf: contents, at: position)
    }

    /// Replaces an element by contents; the root is replaced by its first element.
    mutating func replace(_ index: Int, by contents: [Content]) {
        guard let parent = nodes[index].parent, let position = position(of: index) else {
            for case .element(let first) in contents {
                root = first
                return
            }
            return
        }
        nodes[parent].contents.remove(at: position)
        insert(contents, in: parent, at: position)
    }

    /// Returns the position of an element in the contents of its parent, or `nil` if it has none.
    func position(of index: Int) -> Int? {
        guard let parent = nodes[index].parent else { return nil }
        return nodes[parent].contents.firstIndex { content in
            if case .element(let child) = content { return child == index }
            return false
        }
    }

    /// Replaces the text of an element.
    mutating func setText(_ text: String, of index: Int) {
        nodes[index].contents.removeAll { content in
            if case .text = content { return true }
            return false
        }
        if !text.isEmpty { nodes[index].contents.insert(.text(text), at: 0) }
    }

    /// Sets the value of an attribute, or removes the attribute if the value is `nil`.
    mutating func setAttribute(_ name: XMLName, to value: String?, of index: Int) {
        let position = nodes[index].attributes.firstIndex { $0.name == name }
        switch (position, value) {
        case (let position?, let value?):
            nodes[index].attributes[position] = XMLAttributes.Attribute(name: name, value: value)
        case (let position?, nil): nodes[index].attributes.remove(at: position)
        case (nil, let value?): nodes[index].attributes.append(XMLAttributes.Attribute(name: name, value: value))
        case (nil, nil): break
        }
    }

    // MARK: Writing

    /// The document as UTF-8.
    var bytes: [UInt8] {
        var writer = Writer()
        writer.write(root, of: self, in: "")
        return writer.bytes
    }

    private struct Writer {
        var bytes = Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)

        mutating func write(_ index: Int, of document: ManifestDocument, in namespace: String) {
            let node = document.nodes[index]
            append("<\(node.name.local)")
            if node.name.namespace != namespace { append("xmlns", node.name.namespace) }
            var prefixes: [String: String] = ["http://www.w3.org/XML/1998/namespace": "xml"]
            for attribute in node.attributes {
                guard !attribute.name.namespace.isEmpty else {
                    append(attribute.name.local, attribute.value)
                    continue
                }
                let prefix: String
                if let known = prefixes[attribute.name.namespace] {
                    prefix = known
                } else {
                    prefix = "n\(prefixes.count)"
                    prefixes[attribute.name.namespace] = prefix
                    append("xmlns:\(prefix)", attribute.name.namespace)
                }
                append("\(prefix):\(attribute.name.local)", attribute.value)
            }
            guard !node.contents.isEmpty else { return append("/>") }
            append(">")
            for content in node.contents {
                switch content {
                case .text(let text): appendEscaped(text)
                case .element(let child): write(child, of: document, in: node.name.namespace)
                }
            }
            append("</\(node.name.local)>")
        }

        private mutating func append(_ text: String) { bytes += Array(text.utf8) }

        private mutating func append(_ name: String, _ value: String) {
            append(" \(name)=\"")
            appendEscaped(value)
            append("\"")
        }

        private mutating func appendEscaped(_ text: String) {
            for byte in text.utf8 {
                switch byte {
                case UInt8(ascii: "<"): append("&lt;")
                case UInt8(ascii: ">"): append("&gt;")
                case UInt8(ascii: "&"): append("&amp;")
                case UInt8(ascii: "\""): append("&quot;")
                case 0x09, 0x0A, 0x0D: append("&#\(byte);")
                default: bytes.append(byte)
                }
            }
        }
    }
}

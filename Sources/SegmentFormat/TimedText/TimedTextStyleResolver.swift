/// The style definitions of a document, with which referenced styles of elements are resolved (TTML2 §10.4.4).
struct TimedTextStyleResolver {
    private let definitions: [String: TimedTextAttributes]
    private var resolvedStyles: [String: [TimedTextProperty: String]] = [:]

    /// The maximum depth of references between styles.
    private static let maximumDepth = 32

    init(_ definitions: [String: TimedTextAttributes]) {
        self.definitions = definitions
        // All definitions are resolved at once, so that each is resolved only once.
        for id in definitions.keys.sorted() { _ = named(id, depth: 0) }
    }

    func styles(of attributes: TimedTextAttributes) -> [TimedTextProperty: String] {
        guard !attributes.styleIDs.isEmpty else { return attributes.styles }
        var styles: [TimedTextProperty: String] = [:]
        for id in attributes.styleIDs { styles.merge(resolvedStyles[id] ?? [:]) { _, new in new } }
        return styles.merging(attributes.styles) { _, new in new }
    }

    private mutating func styles(of attributes: TimedTextAttributes, depth: Int) -> [TimedTextProperty: String] {
        guard !attributes.styleIDs.isEmpty else { return attributes.styles }
        var styles: [TimedTextProperty: String] = [:]
        for id in attributes.styleIDs { styles.merge(named(id, depth: depth)) { _, new in new } }
        return styles.merging(attributes.styles) { _, new in new }
    }

    private mutating func named(_ id: String, depth: Int) -> [TimedTextProperty: String] {
        if let styles = resolvedStyles[id] { return styles }
        guard depth < Self.maximumDepth, let definition = definitions[id] else { return [:] }
        // With a circular reference, a style finds this entry instead of causing infinite recursion.
        resolvedStyles[id] = definition.styles
        let styles = styles(of: definition, depth: depth + 1)
        resolvedStyles[id] = styles
        return styles
    }
}

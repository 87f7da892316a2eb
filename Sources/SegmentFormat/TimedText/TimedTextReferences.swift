/// Puts the styles of an element together: those it names, those that these name, and its own (TTML2 §10.4.4).
struct TimedTextReferences {
    private let definitions: [String: TimedTextAttributes]
    private var known: [String: [TimedTextProperty: String]] = [:]

    /// Styles that name styles deeper than this are not followed.
    private static let mostDepth = 32

    init(_ definitions: [String: TimedTextAttributes]) {
        self.definitions = definitions
        // All at once, so that each is put together only once.
        for id in definitions.keys.sorted() { _ = named(id, depth: 0) }
    }

    func styles(of attributes: TimedTextAttributes) -> [TimedTextProperty: String] {
        guard !attributes.styleIDs.isEmpty else { return attributes.styles }
        var styles: [TimedTextProperty: String] = [:]
        for id in attributes.styleIDs { styles.merge(known[id] ?? [:]) { _, new in new } }
        return styles.merging(attributes.styles) { _, new in new }
    }

    private mutating func styles(of attributes: TimedTextAttributes, depth: Int) -> [TimedTextProperty: String] {
        guard !attributes.styleIDs.isEmpty else { return attributes.styles }
        var styles: [TimedTextProperty: String] = [:]
        for id in attributes.styleIDs { styles.merge(named(id, depth: depth)) { _, new in new } }
        return styles.merging(attributes.styles) { _, new in new }
    }

    private mutating func named(_ id: String, depth: Int) -> [TimedTextProperty: String] {
        if let styles = known[id] { return styles }
        guard depth < Self.mostDepth, let definition = definitions[id] else { return [:] }
        // A style that names itself by a detour finds this, and not itself again.
        known[id] = definition.styles
        let styles = styles(of: definition, depth: depth + 1)
        known[id] = styles
        return styles
    }
}

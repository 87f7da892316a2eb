import MediaTiming

/// The media templates of a period, each of which is read once for all representations that inherit it.
struct MediaTemplates {
    /// A template with the number of its text, which equal templates share.
    struct Numbered {
        let template: AddressTemplate
        fileprivate let number: Int
    }

    /// The properties by which the URLs of two representations differ.
    private struct Key: Hashable {
        let bases: [Int]
        let template: Int
        let bandwidth: Int64?
    }

    private var numbers: [String: Int] = [:]
    private var known: Set<Key> = []
    private var period: Numbered?
    private var set: Numbered?
    private var setBase = 0

    /// Creates the templates of a period.
    init(period element: ManifestElement) {
        period = template(in: element)
    }

    /// Enters an adaptation set, whose representations follow.
    mutating func enter(_ element: ManifestElement) {
        set = template(in: element) ?? period
        setBase = base(of: element)
    }

    private func own(_ element: ManifestElement) -> String? { element.element(.segmentTemplate)?[.media] }

    private mutating func number(of text: String) -> Int {
        if let number = numbers[text] { return number }
        numbers[text] = numbers.count
        return numbers.count -| 1
    }

    private mutating func template(in element: ManifestElement) -> Numbered? {
        guard let text = own(element) else { return nil }
        return Numbered(template: AddressTemplate(text), number: number(of: text))
    }

    private mutating func base(of element: ManifestElement) -> Int {
        number(of: element.element(.baseURL)?.trimmedText ?? "")
    }

    /// Returns the template of a representation of the set, or `nil` if no level has one.
    mutating func template(of representation: ManifestElement) -> Numbered? {
        template(in: representation) ?? set
    }

    /// Returns a Boolean value that indicates whether no earlier representation has the same URLs of segments.
    mutating func isDistinct(_ representation: ManifestElement, _ numbered: Numbered) -> Bool {
        let template = numbered.template
        // Identifiers that are equal violate another rule.
        guard !template.contains(.representationID) else { return true }
        let key = Key(
            bases: [setBase, base(of: representation)],
            template: numbered.number,
            bandwidth: template.contains(.bandwidth) ? representation.integer(.bandwidth) : nil
        )
        return known.insert(key).inserted
    }
}

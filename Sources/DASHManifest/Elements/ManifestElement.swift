package import MediaTiming
package import XMLReading

/// An element of a manifest with its attributes and contents, whether the standard defines it or not.
package struct ManifestElement: Sendable, Hashable {
    /// The expanded name of the element.
    package let name: XMLName
    /// The element of the standard, or `nil` for an element of an extension.
    package let kind: ElementKind?
    /// The attributes in document order.
    package let attributes: [XMLAttributes.Attribute]
    /// The elements within it, in document order; the `S` elements of a timeline are in ``timeline`` instead.
    package internal(set) var children: [ManifestElement] = []
    /// The positions in ``children`` by kind, or `nil` if there are too few of them to need it.
    private var positions: [ElementKind: [Int]]?
    /// The text between its tags, without the text of the elements within it.
    package internal(set) var text = ""
    /// The entries of a `SegmentTimeline` element; empty for other elements.
    package internal(set) var timeline: [TimelineEntry] = []
    /// The line in which its start tag ends, counted from 1.
    package let line: Int

    init(name: XMLName, kind: ElementKind?, attributes: [XMLAttributes.Attribute], line: Int) {
        self.name = name
        self.kind = kind
        self.attributes = attributes
        self.line = line
    }

    /// The maximum number of children that are searched one after the other.
    private static let maximumSearchedCount = 16

    /// Prepares searches, after all children were added.
    mutating func indexChildren() {
        guard children.count > Self.maximumSearchedCount else { return }
        var result: [ElementKind: [Int]] = [:]
        for (position, child) in children.enumerated() {
            if let kind = child.kind { result[kind, default: []].append(position) }
        }
        positions = result
    }

    /// Returns the elements within it of the given kind, in document order.
    package func elements(_ kind: ElementKind) -> [ManifestElement] {
        guard let positions else { return children.filter { $0.kind == kind } }
        return positions[kind]?.map { children[$0] } ?? []
    }

    /// Returns the first elements within it of the given kind, in document order.
    func elements(_ kind: ElementKind, maximumCount: Int) -> [ManifestElement] {
        guard let positions else { return Array(elements(kind).prefix(maximumCount)) }
        return positions[kind]?.prefix(maximumCount).map { children[$0] } ?? []
    }

    /// Returns the number of elements within it of the given kind.
    func count(_ kind: ElementKind) -> Int {
        guard let positions else { return children.count(where: { $0.kind == kind }) }
        return positions[kind]?.count ?? 0
    }

    /// Returns the first element within it of the given kind, or `nil` if there is none.
    package func element(_ kind: ElementKind) -> ManifestElement? {
        guard let positions else { return children.first { $0.kind == kind } }
        return positions[kind]?.first.map { children[$0] }
    }

    /// Returns the value of an attribute, or `nil` if it is missing.
    ///
    /// A document may use the usual prefix of an extension without declaring it.
    package subscript(name: AttributeName) -> String? {
        let raw = name.rawValue
        if let plain = attributes.first(where: { $0.name.local == raw && $0.name.namespace.isEmpty }) {
            return plain.value
        }
        let namespace = name.namespace
        guard !namespace.isEmpty else { return nil }
        let local = name.localName
        return attributes.first { $0.name.local == local && $0.name.namespace == namespace }?.value
    }

    /// Returns the value of an attribute as an integer, clamped to 64 bits, or `nil` if it is missing or invalid.
    package func integer(_ name: AttributeName) -> Int64? { self[name].flatMap(ManifestNumber.integer) }
    /// Returns the value of an attribute as an integer of 0 or more, or `nil` if it is missing or invalid.
    package func unsigned(_ name: AttributeName) -> Int64? { integer(name).flatMap { $0 < 0 ? nil : $0 } }
    /// Returns the value of an attribute as a decimal number, or `nil` if it is missing or invalid.
    package func decimal(_ name: AttributeName) -> MediaTime? { self[name].flatMap(ManifestNumber.decimal) }
    /// Returns the value of an attribute as a Boolean value, or `nil` if it is missing or invalid.
    package func boolean(_ name: AttributeName) -> Bool? { self[name].flatMap(ManifestNumber.boolean) }
    /// Returns the value of an attribute as a duration of 0 or more, or `nil` if it is missing or invalid.
    package func duration(_ name: AttributeName) -> MediaTime? {
        self[name].flatMap { ManifestDuration($0)?.time }.flatMap { $0 < .zero ? nil : $0 }
    }
    /// Returns the value of an attribute as a date, or `nil` if it is missing or invalid.
    package func date(_ name: AttributeName) -> ManifestDate? { self[name].flatMap { ManifestDate($0) } }
    /// Returns the value of an attribute as a byte range, or `nil` if it is missing or invalid.
    package func byteRange(_ name: AttributeName) -> ByteRange? { self[name].flatMap(ManifestNumber.byteRange) }
    /// Returns the items of an attribute that is a list, without empty ones.
    package func items(_ name: AttributeName, separator: Character = ",") -> [String] {
        self[name].map { ManifestNumber.items($0, separator: separator) } ?? []
    }
    /// The text between its tags without leading and trailing white space.
    package var trimmedText: String { ManifestNumber.trimmed(text) }
}

/// An `S` element of a segment timeline (ISO/IEC 23009-1:2022 §5.3.9.6), in the units of the timescale.
package struct TimelineEntry: Sendable, Hashable {
    /// The time of the first segment, or `nil` if it follows the previous segment.
    package var time: Int64?
    /// The duration of each segment, 0 if the attribute is missing.
    package var duration: Int64
    /// The number of further segments of the same duration; negative if they continue until the next entry or the end of
    /// the period.
    package var repeatCount: Int64
    /// The number of the first segment, or `nil` if it follows the previous segment.
    package var number: Int64?
    /// The number of segments in each sequence of segments, at least 1.
    package var sequenceCount: Int64

    /// Creates an entry.
    package init(
        time: Int64? = nil,
        duration: Int64,
        repeatCount: Int64 = 0,
        number: Int64? = nil,
        sequenceCount: Int64 = 1
    ) {
        self.time = time
        self.duration = duration
        self.repeatCount = repeatCount
        self.number = number
        self.sequenceCount = sequenceCount
    }
}

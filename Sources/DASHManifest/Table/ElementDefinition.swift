/// The definition of an element: its attributes, the elements that it may contain, and the meaning of its text.
///
/// Reading, inspection and the documentation of the format follow from the table of all definitions,
/// ``ElementKind/definition``.
package struct ElementDefinition: Sendable {
    /// An attribute of an element.
    package struct Attribute: Sendable {
        /// The name of the attribute.
        package let name: AttributeName
        /// The type of its value.
        package let type: AttributeType
        /// A Boolean value that indicates whether the attribute is mandatory.
        package let isRequired: Bool

        static func optional(_ type: AttributeType, _ names: AttributeName...) -> [Attribute] {
            names.map { Attribute(name: $0, type: type, isRequired: false) }
        }

        static func required(_ type: AttributeType, _ names: AttributeName...) -> [Attribute] {
            names.map { Attribute(name: $0, type: type, isRequired: true) }
        }
    }

    /// The clause of ISO/IEC 23009-1:2022 that defines the element.
    package let section: String
    /// The attributes that the element may have.
    package let attributes: [Attribute]
    /// The elements that it may contain.
    package let children: Set<ElementKind>
    /// The type of its text, or `nil` if it has none.
    package let text: AttributeType?
    /// A Boolean value that indicates whether the element may contain elements of any namespace, as an event does.
    package let isOpen: Bool

    init(
        _ section: String,
        _ attributes: [[Attribute]] = [],
        children: Set<ElementKind> = [],
        text: AttributeType? = nil,
        isOpen: Bool = false
    ) {
        self.section = section
        self.attributes = attributes.flatMap(\.self)
        self.children = children
        self.text = text
        self.isOpen = isOpen
    }

    /// Returns the definition of the attribute with the given name, or `nil` if the element has no such attribute.
    package func attribute(_ name: AttributeName) -> Attribute? { attributes.first { $0.name == name } }
}

extension ElementKind {
    /// The definition of the element.
    package var definition: ElementDefinition { Self.definitions[self] ?? ElementDefinition("") }
}

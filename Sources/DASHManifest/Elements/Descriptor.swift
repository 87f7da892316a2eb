/// A descriptor: a scheme, and a value that the scheme defines (ISO/IEC 23009-1:2022 §5.8.2).
package struct Descriptor: Sendable, Hashable {
    /// The element of the descriptor.
    package let element: ManifestElement

    /// The URI of the scheme, empty if it is missing.
    package var scheme: String { element[.schemeIdUri].map(ManifestNumber.trimmed) ?? "" }
    /// The value, or `nil` if it is missing.
    package var value: String? { element[.value].map(ManifestNumber.trimmed) }

    /// Returns the descriptors of a kind within an element.
    static func all(_ kind: ElementKind, in element: ManifestElement) -> [Descriptor] {
        element.elements(kind).map { Descriptor(element: $0) }
    }
}

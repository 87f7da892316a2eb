/// A descriptor: a scheme, and a value that the scheme defines (ISO/IEC 23009-1:2022 §5.8.2).
package struct Descriptor: Sendable, Hashable {
    /// The element of the descriptor.
    package let element: ManifestElement

    /// The maximum length of a text of which a copy without white space is made for each representation, in bytes.
    ///
    /// Schemes and numbers are shorter. Very many representations can inherit a longer text.
    private static let maximumShortLength = 1_024

    /// The URI of the scheme, empty if it is missing.
    ///
    /// White space around a URI that is longer than any known one is not removed.
    package var scheme: String {
        guard let written = element[.schemeIdUri] else { return "" }
        return written.utf8.count <= Self.maximumShortLength ? ManifestNumber.trimmed(written) : written
    }
    /// The value of a scheme whose values are short, or `nil` if it is missing or longer than 1,024 bytes.
    package var shortValue: String? {
        guard let written = element[.value], written.utf8.count <= Self.maximumShortLength else { return nil }
        return ManifestNumber.trimmed(written)
    }
    /// The value, or `nil` if it is missing.
    package var value: String? { element[.value].map(ManifestNumber.trimmed) }

    /// Returns the descriptors of a kind within an element.
    static func all(_ kind: ElementKind, in element: ManifestElement) -> [Descriptor] {
        element.elements(kind).map { Descriptor(element: $0) }
    }
}

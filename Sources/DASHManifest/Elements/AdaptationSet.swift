/// A set of interchangeable encodings of one track (ISO/IEC 23009-1:2022 §5.3.3).
package struct AdaptationSet: Sendable, Hashable {
    /// The `AdaptationSet` element.
    package let element: ManifestElement
    /// The index among the adaptation sets of the period.
    package let index: Int
    /// The representations in document order.
    package let representations: [Representation]

    init(element: ManifestElement, index: Int) {
        self.element = element
        self.index = index
        let inherited = Representation.InheritedAttributes(element)
        representations = element.elements(.representation).enumerated().map { position, child in
            Representation(element: child, inherited: inherited, index: position)
        }
    }

    /// The identifier of the adaptation set.
    package var id: String? { element[.id] }
    /// The language tag, from the set or its only content component.
    package var language: String? {
        (element[.lang] ?? components.lazy.compactMap { $0[.lang] }.first).map(ManifestNumber.trimmed)
            .flatMap { $0.isEmpty ? nil : $0 }
    }
    /// The roles of the track.
    package var roles: [Descriptor] { Descriptor.all(.role, in: element) }
    /// The accessibility schemes of the track.
    package var accessibility: [Descriptor] { Descriptor.all(.accessibility, in: element) }
    /// The properties that a client must understand to use the set.
    package var essentialProperties: [Descriptor] { Descriptor.all(.essentialProperty, in: element) }
    /// The properties that a client may ignore.
    package var supplementalProperties: [Descriptor] { Descriptor.all(.supplementalProperty, in: element) }
    /// The content protection schemes of the set; those of its representations are not among them.
    package var contentProtections: [Descriptor] { Descriptor.all(.contentProtection, in: element) }
    /// The label for display.
    package var label: String? {
        element.element(.label).map(\.trimmedText).flatMap { $0.isEmpty ? nil : $0 }
    }
    /// The address of the remote element that replaces the set, or `nil` if the set is no link (§5.5).
    package var link: String? { element[.linkReference] }
    private var components: [ManifestElement] { element.elements(.contentComponent) }

    /// The MIME type, from the set or its first representation that has one.
    package var mimeType: String? {
        element[.mimeType] ?? representations.lazy.compactMap { $0.mimeType }.first
    }

    /// The media type of the track.
    ///
    /// A content type names it; else the MIME type or the codecs do, and for containers without either, an attribute that
    /// only video or audio has.
    package var mediaType: MediaType? {
        if let declared = element[.contentType] ?? (components.count == 1 ? components[0][.contentType] : nil),
            let type = MediaType(rawValue: ManifestNumber.trimmed(declared).lowercased())
        {
            return type
        }
        return representations.lazy.compactMap { $0.mediaType }.first ?? Representation.mediaType(of: element)
    }
}

extension AdaptationSet {
    /// The type of a track's media, by the name of the content type (ISO/IEC 23009-1:2022 §5.3.3.2).
    package enum MediaType: String, Sendable, Hashable {
        case video, audio, text, image, application
    }
}

import MediaTiming

extension ManifestInspection {
    /// Checks the rules for the contents of a period.
    mutating func inspect(_ period: Period) {
        let element = period.element
        let isPlaceholder = period.link != nil || element.duration(.duration) == .zero
        if period.adaptationSets.isEmpty, element.element(.emptyAdaptationSet) == nil, !isPlaceholder {
            report(.emptyPeriod, element)
        }
        inspectSegmentInformation(levels: [element])
        inspectEventStreams(of: element)
        var sets: Set<String> = []
        var representations: Set<String> = []
        var components: Set<String> = []
        for set in period.adaptationSets {
            if let id = set.id, !sets.insert(ManifestNumber.trimmed(id)).inserted {
                report(.duplicateAdaptationSetID, set.element, value: id)
            }
            for component in set.element.elements(.contentComponent) {
                if let id = component[.id] { components.insert(ManifestNumber.trimmed(id)) }
            }
            for representation in set.representations {
                if let id = representation.id { representations.insert(id) }
            }
        }
        inspectGroups(of: element, sets: sets, components: components)
        var templates = MediaTemplates(period: element)
        for set in period.adaptationSets {
            if element.boolean(.bitstreamSwitching) == true, set.element.boolean(.bitstreamSwitching) == false {
                report(.bitstreamSwitchingDiffers, set.element)
            }
            inspect(set, of: period)
            templates.enter(set.element)
            let inspected = InspectedSet(set.element)
            for representation in set.representations {
                inspect(representation.element, in: inspected)
                inspectDependencies(of: representation.element, among: representations)
                inspectSegments(of: representation.element, in: set, of: period, &templates)
            }
        }
    }

    /// Checks the subsets and preselections of a period (§5.3.8, §5.3.11).
    private mutating func inspectGroups(of period: ManifestElement, sets: Set<String>, components: Set<String>) {
        // A period with remote sets does not have all identifiers.
        guard !period.elements(.adaptationSet).contains(where: { $0[.linkReference] != nil }) else { return }
        for subset in period.elements(.subset) {
            let members = Set(subset.items(.contains, separator: " "))
            for member in members.sorted() where !sets.contains(member) {
                report(.unknownSubsetMember, subset, value: member)
            }
            if !sets.isEmpty, members.isSuperset(of: sets) { report(.subsetOfAll, subset) }
        }
        for preselection in period.elements(.preselection) {
            for component in preselection.items(.preselectionComponents, separator: " ")
            where !sets.contains(component) && !components.contains(component) {
                report(.unknownPreselectionComponent, preselection, value: component)
            }
        }
    }

    /// Checks the rules for an adaptation set (§5.3.3).
    private mutating func inspect(_ set: AdaptationSet, of period: Period) {
        let element = set.element
        if set.representations.isEmpty, set.link == nil { report(.emptyAdaptationSet, element) }
        inspectSegmentInformation(levels: [element, period.element])
        for component in element.elements(.contentComponent) {
            for name in [AttributeName.lang, .contentType, .par] where element[name] != nil && component[name] != nil {
                report(.repeatedComponentAttribute, component, name.rawValue)
            }
        }
        for range in DeclaredRange.ranges(of: element) {
            if let minimum = range.minimum, let maximum = range.maximum, minimum > maximum {
                report(.minimumExceedsMaximum, element, range.name.rawValue)
            }
        }
    }

    /// Checks the rules for a representation that do not concern its segments (§5.3.5, §5.3.7).
    private mutating func inspect(_ element: ManifestElement, in set: InspectedSet) {
        if let id = element[.id], id.contains(where: \.isWhitespace) {
            report(.identifierWithSpace, element, value: id)
        }
        if element.integer(.bandwidth) == 0 { report(.zeroBandwidth, element) }
        let mimeType = element[.mimeType].map(InspectedSet.mimeType) ?? set.mimeType
        if mimeType == nil {
            report(.missingMimeType, element)
        } else if !set.hasCodecs, element[.codecs] == nil, mimeType == "video/mp4" || mimeType == "audio/mp4" {
            report(.missingCodecs, element)
        }
        for range in set.ranges {
            guard let value = DeclaredRange.number(of: element, range.name) ?? range.inherited else { continue }
            let isInside = range.minimum ?? value <= value && value <= range.maximum ?? value
            if !isInside { report(.outsideDeclaredRange, element, range.name.rawValue) }
        }
        // Containers of any content are applications.
        if let declared = set.contentType, let type = mimeType?.split(separator: "/").first.map(String.init),
            Self.contentTypes.contains(type), type != declared, type != "application", declared != "application"
        {
            report(.contentTypeDiffers, element, "\(declared), \(type)")
        }
        for child in element.elements(.subRepresentation) where child[.level] != nil && child[.bandwidth] == nil {
            report(.subRepresentationWithoutBandwidth, child)
        }
    }

    /// The top-level media types of RFC 2046, with `font` of RFC 8081.
    static let contentTypes: Set<String> = ["video", "audio", "text", "image", "application", "font"]

    private mutating func inspectDependencies(of element: ManifestElement, among known: Set<String>) {
        for name in [AttributeName.dependencyId, .associationId] {
            for id in element.items(name, separator: " ") where !known.contains(id) {
                report(.unknownDependency, element, value: id)
            }
        }
        if element[.associationType] != nil, element[.associationId] == nil { report(.associationTypeAlone, element) }
    }

    /// Checks the event streams of a period (§5.10.2).
    private mutating func inspectEventStreams(of period: ManifestElement) {
        var known: Set<[String]> = []
        for element in period.elements(.eventStream) {
            let stream = EventStream(element: element)
            if !known.insert([stream.scheme, stream.value ?? ""]).inserted { report(.duplicateEventStream, element) }
            var latest: Int64 = 0
            for event in stream.events {
                let time = event.integer(.presentationTime) ?? 0
                if time < latest { report(.eventOrder, event) }
                latest = max(latest, time)
                if event[.messageData] != nil, !event.children.isEmpty || !event.trimmedText.isEmpty {
                    report(.eventWithTwoMessages, event)
                }
            }
        }
    }
}

/// The values of an adaptation set that its representations are compared with, read once for all of them.
private struct InspectedSet {
    let contentType: String?
    let mimeType: String?
    let hasCodecs: Bool
    let ranges: [DeclaredRange]

    init(_ element: ManifestElement) {
        let declared = element[.contentType].map { ManifestNumber.trimmed($0).lowercased() }
        contentType = declared.flatMap { ManifestInspection.contentTypes.contains($0) ? $0 : nil }
        mimeType = element[.mimeType].map(Self.mimeType)
        hasCodecs = element[.codecs] != nil
        ranges = DeclaredRange.ranges(of: element)
    }

    static func mimeType(_ text: String) -> String { ManifestNumber.trimmed(text).lowercased() }
}

/// An attribute of representations whose minimum and maximum an adaptation set declares.
private struct DeclaredRange {
    let name: AttributeName
    let minimum: MediaTime?
    let maximum: MediaTime?
    /// The value that representations without one inherit.
    let inherited: MediaTime?

    private static let names: [(AttributeName, AttributeName, AttributeName)] = [
        (.bandwidth, .minBandwidth, .maxBandwidth), (.width, .minWidth, .maxWidth), (.height, .minHeight, .maxHeight),
        (.frameRate, .minFrameRate, .maxFrameRate),
    ]

    static func ranges(of set: ManifestElement) -> [DeclaredRange] {
        names.compactMap { name, minimum, maximum in
            let (lower, upper) = (number(of: set, minimum), number(of: set, maximum))
            guard lower != nil || upper != nil else { return nil }
            return DeclaredRange(name: name, minimum: lower, maximum: upper, inherited: number(of: set, name))
        }
    }

    /// Returns the value of an attribute, which may be a fraction.
    static func number(of element: ManifestElement, _ name: AttributeName) -> MediaTime? {
        element[name].flatMap(ManifestNumber.frameRate)
    }
}

package import MediaTiming

/// A part of a presentation during which the set of tracks does not change (ISO/IEC 23009-1:2022 §5.3.2).
package struct Period: Sendable, Hashable {
    /// The `Period` element.
    package let element: ManifestElement
    /// The index among the periods of the manifest.
    package let index: Int
    /// The start on the timeline of the presentation, or `nil` for a period whose start is not yet known (§5.3.2.1).
    package let start: MediaTime?
    /// The duration, or `nil` if it is not known.
    package let duration: MediaTime?
    /// The adaptation sets in document order.
    package let adaptationSets: [AdaptationSet]

    /// The identifier of the period.
    package var id: String? { element[.id] }
    /// The end on the timeline of the presentation, or `nil` if it is not known.
    package var end: MediaTime? { start.flatMap { start in duration.map { start + $0 } } }
    /// The event streams of the period (§5.10.2).
    package var eventStreams: [EventStream] { element.elements(.eventStream).map { EventStream(element: $0) } }
    /// The address of the remote element that replaces the period, or `nil` if the period is no link (§5.5).
    package var link: String? { element[.linkReference] }

    /// Returns the periods of a manifest with their starts and durations (§5.3.2.1).
    static func periods(of root: ManifestElement) -> [Period] {
        let elements = root.elements(.period)
        // A first period without a start is available early only if the start of another one is known.
        let isEarly =
            root[.type].map(ManifestNumber.trimmed) == MediaPresentation.Kind.dynamic.rawValue
            && elements.contains { $0[.start] != nil }
        var starts: [MediaTime?] = []
        var end: MediaTime?
        for (index, element) in elements.enumerated() {
            let start = element.duration(.start) ?? end ?? (index == 0 && !isEarly ? .zero : nil)
            starts.append(start)
            end = start.flatMap { start in element.duration(.duration).map { start + $0 } }
        }
        return elements.enumerated().map { index, element in
            let next = index + 1 < starts.count ? starts[index + 1] : nil
            let boundary = index + 1 == starts.count ? root.duration(.mediaPresentationDuration) : next
            // The next period ends this one, whatever duration it declares.
            let computed = boundary.flatMap { boundary in starts[index].map { max(.zero, boundary - $0) } }
            let isLast = index + 1 == starts.count
            let declared = element.duration(.duration)
            return Period(
                element: element,
                index: index,
                start: starts[index],
                duration: isLast ? declared ?? computed : next == nil ? declared : computed,
                adaptationSets: element.elements(.adaptationSet).enumerated().map { position, element in
                    AdaptationSet(element: element, index: position)
                }
            )
        }
    }
}

/// A sequence of events that a manifest lists (ISO/IEC 23009-1:2022 §5.10.2).
package struct EventStream: Sendable, Hashable {
    /// The `EventStream` element.
    package let element: ManifestElement

    /// The URI of the scheme that defines the events.
    package var scheme: String { element[.schemeIdUri].map(ManifestNumber.trimmed) ?? "" }
    /// The value that the scheme defines.
    package var value: String? { element[.value] }
    /// The units per second of the times of events.
    package var timescale: Int64 { max(1, element.unsigned(.timescale) ?? 1) }
    /// The events in document order.
    package var events: [ManifestElement] { element.elements(.event) }

    /// Returns the start of an event relative to the start of the period.
    package func start(of event: ManifestElement) -> MediaTime {
        let offset = element.integer(.presentationTimeOffset) ?? 0
        return MediaTime(value: (event.integer(.presentationTime) ?? 0) -| offset, timescale: timescale)
    }

    /// Returns the duration of an event, or `nil` if it is not known.
    package func duration(of event: ManifestElement) -> MediaTime? {
        event.unsigned(.duration).map { MediaTime(value: $0, timescale: timescale) }
    }
}

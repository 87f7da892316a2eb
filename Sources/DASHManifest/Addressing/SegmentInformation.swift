package import MediaTiming

/// The segment information of a representation: the elements of its kind at all levels (ISO/IEC 23009-1:2022 §5.3.9.1).
///
/// The innermost level determines the kind; what it does not have is taken from the same kind of element further out.
package struct SegmentInformation: Sendable, Hashable {
    /// The kind of element that addresses the segments.
    package enum Kind: Sendable, Hashable, CaseIterable {
        case base, list, template

        var elementKind: ElementKind {
            switch self {
            case .base: .segmentBase
            case .list: .segmentList
            case .template: .segmentTemplate
            }
        }
    }

    /// The kind of element that addresses the segments.
    package let kind: Kind
    /// The elements of the kind, the innermost first.
    private let elements: [ManifestElement]

    /// Creates the information from the levels, the innermost first; `nil` if no level has any.
    init?(levels: [ManifestElement]) {
        let found = levels.lazy.compactMap { level in
            Kind.allCases.first { level.element($0.elementKind) != nil }
        }.first
        guard let kind = found else { return nil }
        self.kind = kind
        elements = levels.compactMap { $0.element(kind.elementKind) }
    }

    /// Returns the value of an attribute from the innermost level that has it.
    package subscript(name: AttributeName) -> String? { elements.lazy.compactMap { $0[name] }.first }
    /// Returns the first element of the given kind from the innermost level that has one.
    package func element(_ kind: ElementKind) -> ManifestElement? {
        elements.lazy.compactMap { $0.element(kind) }.first
    }
    /// Returns the elements of the given kind from the innermost level that has one.
    package func elements(_ kind: ElementKind) -> [ManifestElement] {
        elements.lazy.map { $0.elements(kind) }.first { !$0.isEmpty } ?? []
    }

    /// The innermost element of the kind.
    var nearest: ManifestElement? { elements.first }
    /// A Boolean value that indicates whether a list has more than one segment.
    var hasSeveralSegments: Bool {
        (elements.lazy.map { $0.elements(.segmentURL, maximumCount: 2).count }.first { $0 > 0 } ?? 0) > 1
    }

    /// The number of entries of the timeline and the list.
    var entryCount: Int {
        elements.reduce(0) { sum, element in
            sum +| element.children.count +| (element.element(.segmentTimeline)?.timeline.count ?? 0)
        }
    }

    /// The number of segments that a list has; 0 for other kinds.
    var listedCount: Int {
        guard kind == .list else { return 0 }
        return elements.lazy.map { $0.count(.segmentURL) }.first { $0 > 0 } ?? 0
    }

    private func integer(_ name: AttributeName) -> Int64? { self[name].flatMap(ManifestNumber.integer) }

    /// The units per second, 1 by default.
    package var timescale: Int64 { max(1, integer(.timescale) ?? 1) }
    /// The time in the media at the start of the period, 0 by default.
    package var presentationTimeOffset: Int64 { integer(.presentationTimeOffset) ?? 0 }
    /// The duration of each segment, or `nil` if a timeline has it.
    package var duration: Int64? { integer(.duration).flatMap { $0 > 0 ? $0 : nil } }
    /// The number of the first segment, 1 by default.
    package var startNumber: Int64 { integer(.startNumber).flatMap { $0 >= 0 ? $0 : nil } ?? 1 }
    /// The number of the last segment, or `nil` if it is not declared.
    package var endNumber: Int64? { integer(.endNumber).flatMap { $0 >= 0 ? $0 : nil } }
    /// The sum of the availability time offsets of all levels, in seconds.
    package var availabilityTimeOffset: MediaTime { elements.reduce(.zero) { $0 + $1.availabilityTimeOffset } }
    /// The range of the segment index, or `nil` if it is not declared.
    package var indexRange: ByteRange? { self[.indexRange].flatMap(ManifestNumber.byteRange) }
    /// The entries of the segment timeline, or `nil` if there is no timeline.
    package var timeline: [TimelineEntry]? { element(.segmentTimeline)?.timeline }
}

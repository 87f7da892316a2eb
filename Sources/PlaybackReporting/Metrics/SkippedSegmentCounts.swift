/// The numbers of segments that were skipped in a session, by their reasons.
package struct SkippedSegmentCounts: Sendable, Hashable {
    private var counts: [SkippedSegment.Reason: Int] = [:]

    /// Creates counts of a session without skipped segments.
    package init() {}

    /// Adds a segment that was skipped.
    ///
    /// - Parameter segment: The segment, or the damaged part of one.
    package mutating func add(_ segment: SkippedSegment) {
        counts[segment.reason] = (counts[segment.reason] ?? 0).addingClamped(1)
    }

    /// The description for people, such as `2 not loaded, 1 not decodable`; `nil` if no segment was skipped.
    package var text: String? {
        let parts = SkippedSegment.Reason.allCases.compactMap { reason in
            counts[reason].map { "\($0) \(Self.word(reason))" }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private static func word(_ reason: SkippedSegment.Reason) -> String {
        switch reason {
        case .gap: "marked as missing"
        case .notLoaded: "not loaded"
        case .notDecodable: "not decodable"
        case .outOfWindow: "no longer available"
        }
    }
}

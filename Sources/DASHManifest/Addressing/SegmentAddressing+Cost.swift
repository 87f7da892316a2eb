import MediaTiming

/// The cost of the addresses of a representation, which limits count before the addresses are created.
extension SegmentAddressing {
    /// Returns the number of entries that the addresses of a representation are made of, the measure of their cost.
    package static func entryCount(
        of representation: Representation,
        in set: AdaptationSet,
        of period: Period
    ) -> Int64 {
        let levels = [representation.element, set.element, period.element]
        return SegmentInformation(levels: levels).map { Int64(clamping: $0.entryCount) } ?? 0
    }

    /// Returns the number of bytes of the URLs that are resolved when the addresses of a representation are created.
    ///
    /// The number is known before a URL is resolved. It has the base URLs of all levels, repeated for each segment of a
    /// list, and the templates. The URL of the manifest is not counted.
    ///
    /// - Complexity: O(1) in the number of segments.
    package static func addressByteCount(
        of representation: Representation,
        in set: AdaptationSet,
        of period: Period,
        in presentation: MediaPresentation
    ) -> Int64 {
        let levels = [representation.element, set.element, period.element]
        let base = BaseAddress.size([presentation.element] + levels.reversed(), isDVB: presentation.isDVB)
        // Each representation asks for the profiles.
        let profiles = Int64(clamping: presentation.element[.profiles]?.utf8.count ?? 0)
        guard let information = SegmentInformation(levels: levels) else { return base.cost +| profiles }
        let names: [AttributeName] = [.media, .initialization, .index]
        let templates = names.reduce(0) { $0 +| (information[$1]?.utf8.count ?? 0) }
        // A template can insert the identifier of the representation again and again.
        let inserted =
            (representation.id?.utf8.count ?? 0) *| templates.dividedSaturated(by: "$RepresentationID$".utf8.count)
        return base.cost +| profiles +| Int64(clamping: templates +| inserted)
            +| base.length *| Int64(clamping: information.listedCount)
    }
}

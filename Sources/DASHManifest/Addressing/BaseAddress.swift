package import MediaTiming
package import ResourceAddressing

/// A base URL of a representation, resolved against the levels above it (ISO/IEC 23009-1:2022 §5.6).
package struct BaseAddress: Sendable, Hashable {
    /// The resolved URL, which is relative if the URL of the manifest is not known.
    package let address: ResourceAddress
    /// The service location that content steering refers to, or `nil` if the manifest names none.
    package let serviceLocation: String?
    /// The priority of the DVB profiles; lower values are preferred (ETSI TS 103 285 §10.8.2).
    package let priority: Int64
    /// The time by which segments are available before they are complete, in seconds.
    package let availabilityTimeOffset: MediaTime

    /// The maximum number of alternatives of a representation.
    ///
    /// The numbers of alternatives at the four levels are multiplied; players try only a few.
    static let maximumCount = 32

    /// Returns the base URLs of the innermost of the given elements, the preferred one first.
    ///
    /// Each level resolves against the first base URL above it. In the DVB profiles, it resolves against all of them.
    ///
    /// - Parameters:
    ///   - elements: The elements that contain base URLs, from the manifest to the representation.
    ///   - address: The URL of the manifest.
    ///   - isDVB: A Boolean value that indicates whether the rules of the DVB profiles apply.
    ///   - serviceLocation: The service location that is preferred at each level, or `nil` for none.
    /// - Returns: At least one base URL, and at most ``maximumCount``.
    static func resolve(
        _ elements: [ManifestElement],
        against address: ResourceAddress?,
        isDVB: Bool,
        preferring serviceLocation: String? = nil
    ) -> [BaseAddress] {
        var current = [
            BaseAddress(
                address: address ?? ResourceAddress(""),
                serviceLocation: nil,
                priority: 1,
                availabilityTimeOffset: .zero
            )
        ]
        for element in elements {
            var next: [BaseAddress] = []
            for child in element.elements(.baseURL, maximumCount: maximumCount) {
                let parents = isDVB && !ResourceAddress(child.trimmedText).isAbsolute ? current[...] : current[..<1]
                for parent in parents where next.count < maximumCount { next.append(parent.resolving(child)) }
            }
            if !next.isEmpty { current = next.preferring(serviceLocation) }
        }
        // The order of the document decides between equal priorities.
        return current.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
            .map(\.element).preferring(serviceLocation)
    }

    /// The size of the base URLs of a representation, which is computed before they are resolved.
    struct Size {
        /// The maximum length of a resolved base URL without that of the manifest, in bytes.
        var length: Int64 = 0
        /// The number of bytes of all URLs that are resolved at all levels.
        var cost: Int64 = 0
    }

    /// Returns the size of the base URLs that ``resolve(_:against:isDVB:preferring:)`` resolves.
    static func size(_ elements: [ManifestElement], isDVB: Bool) -> Size {
        var size = Size()
        var parentCount = 1
        for element in elements {
            let children = element.elements(.baseURL, maximumCount: maximumCount)
            guard let longest = children.map({ $0.text.utf8.count }).max() else { continue }
            let count = min(maximumCount, isDVB ? children.count *| parentCount : children.count)
            size.length +|= Int64(clamping: longest)
            size.cost +|= size.length *| Int64(clamping: count)
            parentCount = count
        }
        return size
    }

    private func resolving(_ element: ManifestElement) -> BaseAddress {
        BaseAddress(
            address: address.resolving(element.trimmedText),
            serviceLocation: element[.serviceLocation] ?? serviceLocation,
            priority: element.unsigned(.dvbPriority) ?? priority,
            availabilityTimeOffset: availabilityTimeOffset + element.availabilityTimeOffset
        )
    }
}

extension [BaseAddress] {
    /// Returns the base URLs with those of a service location first; `nil` for no change.
    fileprivate func preferring(_ serviceLocation: String?) -> [BaseAddress] {
        guard let serviceLocation else { return self }
        return filter { $0.serviceLocation == serviceLocation } + filter { $0.serviceLocation != serviceLocation }
    }
}

extension ManifestElement {
    /// The availability time offset of a base URL or of segment information, in seconds; 0 if it is missing.
    var availabilityTimeOffset: MediaTime {
        guard let text = self[.availabilityTimeOffset] else { return .zero }
        if ManifestNumber.isInfinite(text) { return ManifestDuration.maximum }
        return min(ManifestNumber.decimal(text) ?? .zero, ManifestDuration.maximum)
    }
}

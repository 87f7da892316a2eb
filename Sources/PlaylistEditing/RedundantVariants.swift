package import HLSPlaylist
package import MediaTiming

/// The groups of redundant variants of a multivariant playlist: variants with equal attributes and different URIs
/// (RFC 8216bis §4.4.6.2).
///
/// The rendition groups of redundant variants can have other names and URIs, but must have renditions with equal attributes.
/// I-frame variants are redundant to other I-frame variants by the same rule.
package struct RedundantVariants: Sendable {
    /// The positions of the members of each group in ``MultivariantPlaylist/variants``, in order.
    package let groups: [[Int]]
    /// The positions of the members of each group in ``MultivariantPlaylist/iFrameVariants``, in order.
    ///
    /// A playlist without other variants has no groups of I-frame variants.
    package let iFrameGroups: [[Int]]

    /// The number of target durations by which a live playlist may be behind, or remain unchanged.
    package static let toleratedTargetDurations: Int64 = 3

    /// The attributes whose values are the names of rendition groups.
    private static let groupAttributes: Set<String> = ["AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"]
    /// The attributes of renditions in which those of redundant variants differ.
    private static let differingAttributes: Set<String> = ["GROUP-ID", "URI"]

    /// Finds the groups of redundant variants in a playlist.
    ///
    /// - Parameter playlist: The playlist.
    /// - Complexity: O(*n* log *n*) in the entries of the playlist.
    package init(in playlist: MultivariantPlaylist) {
        var renditions: [String: [String]] = [:]
        for rendition in playlist.renditions {
            guard let type = rendition.type else { continue }
            let description = Self.description(of: rendition.attributes) { Self.differingAttributes.contains($0) }
            // Media in the variant is not redundant to media with segments of its own.
            let location = rendition.uri == nil ? "" : "\nURI"
            renditions["\(type.rawValue)\n\(rendition.groupID)", default: []].append(description + location)
        }
        // Very many variants can refer to one large group, so that they are compared by its number instead of its contents.
        var numbers: [String: Int] = [:]
        let contents = renditions.mapValues { descriptions in
            let text = descriptions.sorted().joined(separator: "\n")
            let number = numbers[text] ?? numbers.count
            numbers[text] = number
            return number
        }
        groups = Self.groups(of: playlist.variants, contents)
        iFrameGroups = playlist.variants.isEmpty ? [] : Self.groups(of: playlist.iFrameVariants, contents)
    }

    /// Returns the positions of the variants with equal attributes and different URIs.
    ///
    /// - Parameters:
    ///   - variants: Variants of one kind.
    ///   - contents: The numbers of the groups of renditions, by type and name; groups with equal renditions have the same number.
    /// - Returns: The positions of the variants of each group, in the order of its first variant.
    private static func groups(of variants: [Variant], _ contents: [String: Int]) -> [[Int]] {
        let names = groupAttributes.sorted()
        var order: [String] = []
        var members: [String: [Int]] = [:]
        for (position, variant) in variants.enumerated() {
            let attributes = variant.attributes
            var key = description(of: attributes) { name in
                groupAttributes.contains(name) || (variant.isIFramesOnly && name == "URI")
            }
            for name in names {
                guard let group = attributes[name], let written = attributes.attribute(name)?.value else { continue }
                // A group without renditions, and NONE, are known by their names only.
                key += "\n\(name):" + (contents["\(name)\n\(group)"].map { "\($0)" } ?? "=\(written)")
            }
            if members[key] == nil { order.append(key) }
            members[key, default: []].append(position)
        }
        return order.compactMap { members[$0] }.filter { positions in
            guard let first = positions.first.map({ variants[$0].uri }) else { return false }
            return positions.contains { variants[$0].uri != first }
        }
    }

    /// Returns the attributes in an order that does not depend on the playlist.
    ///
    /// References to variables are not replaced, because one long value could be repeated for each attribute.
    private static func description(of list: AttributeList, except isOmitted: (String) -> Bool) -> String {
        list.attributes.filter { !isOmitted($0.name) }
            .map { "\($0.name)=\($0.value)" }
            .sorted()
            .joined(separator: "\n")
    }

    /// Returns the members of a group that remain when the unavailable and the stale ones are removed.
    ///
    /// A member that is not known remains. At least one member remains: if no playlist of the group could be loaded, all do.
    ///
    /// - Parameter members: The availability of the members of one group.
    /// - Returns: For each member, a Boolean value that indicates whether it remains.
    package static func remaining(of members: [VariantAvailability]) -> [Bool] {
        guard members.contains(where: \.isLoaded) else { return members.map { _ in true } }
        let live = members.compactMap(\.liveVariant)
        // Without a playlist that has changed, the stream may have paused at all of its origins.
        let isMoving = live.contains { $0.hasChanged && !$0.isUnchanged }
        let current = live.filter { !(isMoving && $0.isUnchanged) }
        let dates = current.compactMap(\.endDate)
        let lastDate = dates.count == current.count ? dates.max() : nil
        let lastSequence = current.map(\.endSequence).max()
        return members.map { member in
            switch member {
            case .unknown, .complete: true
            case .failed: false
            case .live(let playlist):
                !(isMoving && playlist.isUnchanged)
                    && !playlist.isBehind(date: lastDate, sequence: lastSequence ?? playlist.endSequence)
            }
        }
    }
}

/// The availability of the media playlist of a redundant variant.
package enum VariantAvailability: Sendable, Hashable {
    /// The playlist was not loaded yet.
    case unknown
    /// The playlist could not be loaded or parsed.
    case failed
    /// The playlist is complete, so that it cannot be stale.
    case complete
    /// The playlist is live.
    case live(LiveVariant)

    /// A Boolean value that indicates whether the playlist was loaded.
    fileprivate var isLoaded: Bool {
        switch self {
        case .complete, .live: true
        case .unknown, .failed: false
        }
    }

    /// The state of a live playlist; `nil` for any other.
    fileprivate var liveVariant: LiveVariant? {
        switch self {
        case .live(let playlist): playlist
        case .unknown, .failed, .complete: nil
        }
    }
}

/// The state of the live media playlist of a redundant variant.
package struct LiveVariant: Sendable, Hashable {
    /// The target duration.
    package var targetDuration: MediaTime
    /// The media sequence number after that of the last segment.
    package var endSequence: Int64
    /// The end of the last segment, as the time since 1970; `nil` if the playlist has no dates.
    package var endDate: MediaTime?
    /// The time for which the end of the playlist was seen without a change.
    package var unchangedTime: Duration
    /// A Boolean value that indicates whether the end of the playlist was seen to change.
    package var hasChanged: Bool
    /// The number of segments by which the playlist may be behind if the dates are not known.
    package var toleratedSegmentCount: Int64

    /// Creates the state of a live playlist.
    ///
    /// - Parameters:
    ///   - targetDuration: The target duration.
    ///   - endSequence: The media sequence number after that of the last segment.
    ///   - endDate: The end of the last segment, as the time since 1970; `nil` if the playlist has no dates.
    ///   - unchangedTime: The time for which the end of the playlist was seen without a change.
    ///   - hasChanged: A Boolean value that indicates whether the end of the playlist was seen to change.
    ///   - toleratedSegmentCount: The number of segments by which the playlist may be behind if the dates are not known.
    package init(
        targetDuration: MediaTime,
        endSequence: Int64,
        endDate: MediaTime? = nil,
        unchangedTime: Duration = .zero,
        hasChanged: Bool = false,
        toleratedSegmentCount: Int64 = RedundantVariants.toleratedTargetDurations
    ) {
        self.targetDuration = targetDuration
        self.endSequence = endSequence
        self.endDate = endDate
        self.unchangedTime = unchangedTime
        self.hasChanged = hasChanged
        self.toleratedSegmentCount = toleratedSegmentCount
    }

    /// The time by which the playlist may be behind, or remain unchanged.
    package var tolerance: MediaTime { targetDuration * RedundantVariants.toleratedTargetDurations }

    /// A Boolean value that indicates whether the playlist has not changed for longer than the tolerance.
    fileprivate var isUnchanged: Bool { unchangedTime > tolerance.duration }

    /// Returns a Boolean value that indicates whether the playlist ends earlier than another one by more than the tolerance.
    ///
    /// - Parameters:
    ///   - date: The end of the other playlist; `nil` if the media sequence numbers are compared.
    ///   - sequence: The media sequence number after the last segment of the other playlist.
    /// - Returns: `true` if the playlist is behind.
    fileprivate func isBehind(date: MediaTime?, sequence: Int64) -> Bool {
        if let date, let endDate { return (endDate + tolerance) < date }
        return (sequence -| endSequence) > toleratedSegmentCount
    }
}

extension RedundantVariants {
    /// Returns a playlist without variants at some positions, and without the renditions that only these use.
    ///
    /// - Parameters:
    ///   - positions: The positions in ``MultivariantPlaylist/variants``.
    ///   - iFramePositions: The positions in ``MultivariantPlaylist/iFrameVariants``.
    ///   - playlist: The playlist.
    /// - Returns: The playlist; it is unchanged, byte for byte, if there are no positions.
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` if no variant would remain.
    package static func removed(
        at positions: Set<Int>,
        iFrameVariantsAt iFramePositions: Set<Int> = [],
        from playlist: MultivariantPlaylist
    ) throws(PlaylistEditError) -> MultivariantPlaylist {
        guard !positions.isEmpty || !iFramePositions.isEmpty else { return playlist }
        let lines = playlist.variants.tagStarts(at: positions)
        let iFrameLines = playlist.iFrameVariants.tagStarts(at: iFramePositions)
        return try playlist.filteringVariants(
            VariantFilter(
                name: "redundant",
                isIncluded: { !lines.contains($0.tagLine.lowerBound) },
                isIFrameIncluded: { !iFrameLines.contains($0.tagLine.lowerBound) }
            )
        )
    }
}

extension [Variant] {
    /// Returns the offsets of the tags of the variants at some positions; positions without a variant are ignored.
    fileprivate func tagStarts(at positions: Set<Int>) -> Set<Int> {
        Set(positions.filter { indices.contains($0) }.map { self[$0].tagLine.lowerBound })
    }
}

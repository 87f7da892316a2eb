import MediaTiming

/// The elements that a delta update leaves out (RFC 8216bis §6.2.5.1).
package enum DeltaSkip: Sendable, Hashable {
    /// The segments beyond the skip boundary.
    case segments
    /// The segments beyond the skip boundary and their date ranges, with the IDs of all date ranges that an earlier version had
    /// within the time of the boundary, and this version does not have.
    case segmentsAndDateRanges(removed: [String])

    /// The lowest version of a playlist with this update (§8).
    fileprivate var version: Int {
        switch self {
        case .segments: 9
        case .segmentsAndDateRanges: 10
        }
    }

    fileprivate var skipsDateRanges: Bool {
        switch self {
        case .segments: false
        case .segmentsAndDateRanges: true
        }
    }

    /// The attribute list of `EXT-X-SKIP` (§4.4.5.2), or `nil` if an ID cannot be written in it.
    fileprivate func attributes(skippedCount: Int) -> String? {
        let count = "SKIPPED-SEGMENTS=\(skippedCount)"
        switch self {
        case .segments: return count
        case .segmentsAndDateRanges(let removed):
            // The IDs are separated with tabs.
            guard !removed.contains(where: { $0.utf8.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") } }) else {
                return nil
            }
            return count + ",RECENTLY-REMOVED-DATERANGES=\"\(removed.joined(separator: "\t"))\""
        }
    }
}

extension MediaPlaylist {
    /// The number of target durations that a skip boundary has at least (§4.4.3.8).
    package static let skipBoundaryTargetCount: Int64 = 6

    /// The number of segments that a delta update may skip: those that end before the skip boundary.
    private var skippableSegmentCount: Int {
        guard isLive, skippedSegmentCount == 0, !segments.isEmpty, let declared = serverControl?.canSkipUntil else {
            return 0
        }
        let boundary = max(declared, (targetDuration ?? .zero) * Self.skipBoundaryTargetCount)
        guard boundary > .zero else { return 0 }
        // Partial segments after the last segment are not counted, so that rather one segment too few is skipped.
        let end = segments.timeRange(at: segments.count - 1).end
        return (0..<segments.count).prefix { end - segments.timeRange(at: $0).end >= boundary }.count
    }

    /// Returns a delta update in place of the playlist (RFC 8216bis §6.2.5.1).
    ///
    /// ``applying(_:limits:)`` of an earlier version, which is no older than half of the skip boundary, returns a playlist with
    /// the contents of this one. The lines of the whole playlist are unchanged, except that the version is raised to the one
    /// of delta updates.
    ///
    /// - Parameters:
    ///   - skip: The elements to leave out.
    ///   - limits: The maximum sizes of the update.
    /// - Returns: The update; `nil` if the full playlist has to be used, because it is complete, has no `CAN-SKIP-UNTIL`, or
    ///   has no segment beyond the skip boundary.
    package func deltaUpdate(_ skip: DeltaSkip, limits: PlaylistLimits = PlaylistLimits()) -> MediaPlaylist? {
        let count = skippableSegmentCount
        guard count > 0, let attributes = skip.attributes(skippedCount: count) else { return nil }
        var patch = PlaylistPatch()
        raiseVersion(to: skip.version, in: &patch)
        let first = lines(ofSegment: 0)
        let headEnd = first.last { $0.tag.map(Self.isPlaylistWide) ?? false }?.range.upperBound ?? 0
        patch.replace(headEnd..<headEnd, with: "#EXT-X-SKIP:\(attributes)\(lineEnd)")
        for position in 0..<count {
            for line in position == 0 ? first : lines(ofSegment: position) {
                guard let tag = line.tag else {
                    // Unknown tags between those of the whole playlist belong to the playlist.
                    if line.range.lowerBound >= headEnd { patch.remove(line.range) }
                    continue
                }
                let isPreserved = tag == .dateRange ? !skip.skipsDateRanges : tag.scope == .metadata
                if !isPreserved, !Self.isPlaylistWide(tag) { patch.remove(line.range) }
            }
        }
        let bytes = patch.applied(to: bytes)
        let update = try? MediaPlaylist(parsing: bytes, context: context, limits: limits)
        return update.flatMap { update in
            update.skippedSegmentCount == Int64(count) && update.segments.count == segments.count - count ? update : nil
        }
    }

    private static func isPlaylistWide(_ tag: TagName) -> Bool { tag.scope == .any || tag.scope == .mediaPlaylist }

    /// Raises the declared version of the playlist to a minimum (§8).
    package func raiseVersion(to minimum: Int, in patch: inout PlaylistPatch) {
        guard version < minimum else { return }
        let lines = lines(ofSegment: 0)
        if let line = lines.first(where: { $0.tag == .version }), let value = line.value {
            patch.replace(value, with: "\(minimum)")
        } else if let header = lines.first(where: { $0.tag == .header }) {
            let end = header.range.upperBound
            patch.replace(end..<end, with: "#EXT-X-VERSION:\(minimum)\(lineEnd)")
        }
    }
}

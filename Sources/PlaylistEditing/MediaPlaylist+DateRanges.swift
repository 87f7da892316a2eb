import HLSPlaylist
import MediaTiming

extension MediaPlaylist {
    /// Returns the playlist with new identifiers for the date ranges that conflict with another playlist.
    ///
    /// A date range conflicts if the other playlist has the same identifier with other attributes.
    ///
    /// In one playlist, tags with the same identifier describe one date range (RFC 8216bis §4.4.5.1). A date range that is equal in
    /// both playlists keeps its identifier. The new identifier depends on the date range alone, so that it is the same in all tracks
    /// of a presentation in which the date range conflicts.
    ///
    /// - Parameters:
    ///   - other: The playlist to which this one is stitched.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; the playlist itself if no identifier has to change.
    /// - Throws: ``PlaylistEditError`` if the result exceeds a limit.
    /// - Complexity: O(*n*) in the date ranges of both playlists.
    func distinguishingDateRanges(
        from other: MediaPlaylist,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let known = Dictionary(other.dateRanges.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        guard !known.isEmpty else { return self }
        let own = dateRanges
        var taken = Set(own.map(\.id))
        var names: [String: String] = [:]
        func rename(_ range: DateRange) {
            let distinct = range.distinctIdentifier
            var name = distinct
            var number = 1
            // If the same playlist was stitched to the other one before, that one has the date range with this identifier.
            while known[name].map({ range.differs(from: $0, ignoring: ["X-TARGET-ID"]) }) ?? !taken.insert(name)
                .inserted
            {
                number += 1
                name = "\(distinct)-\(number)"
            }
            names[range.id] = name
        }
        for range in own {
            if let namesake = known[range.id], range.differs(from: namesake, ignoring: []) { rename(range) }
        }
        // A preload date range that both playlists have would name two date ranges.
        for range in own where names[range.id] == nil && known[range.id] != nil {
            if let target = range["X-TARGET-ID"], names[target] != nil { rename(range) }
        }
        guard !names.isEmpty else { return self }
        var patch = PlaylistPatch()
        for position in 0...segments.count {
            for line in lines(ofSegment: position) where line.tag == .dateRange {
                guard let value = line.value else { continue }
                let attributes = AttributeList(bytes, in: value)
                // A preload date range names the one for which it is (Appendix F).
                for key in ["ID", "X-TARGET-ID"] {
                    guard let name = attributes[key].flatMap({ names[$0] }) else { continue }
                    attributes.set(key, to: "\"\(name)\"", in: &patch)
                }
            }
        }
        return try Playlist.media(self).patched(patch, edit: "stitching", limits: limits).asMedia(after: "stitching")
    }
}

extension DateRange {
    /// The identifier with a hash of the values in which date ranges of different sources differ.
    ///
    /// Values that differ between the tracks of a source, such as relative URLs and spellings of a date, do not change the hash.
    fileprivate var distinctIdentifier: String {
        let dates = [startDate, endDate].map { date in date.map { $0.sinceEpoch.description } ?? "" }
        let values = [id, classIdentifier ?? ""] + dates + [duration?.description ?? ""]
        let hash = StableHash(values.joined(separator: "\n")).value
        return "\(id)-\(String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 36))"
    }

    /// Returns a Boolean value that indicates whether this date range and another one have different values of the same
    /// attribute, other than `ID` and the ignored ones.
    fileprivate func differs(from other: DateRange, ignoring ignored: [String]) -> Bool {
        let values = Dictionary(other.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return attributes.contains { attribute in
            attribute.name != "ID" && !ignored.contains(attribute.name)
                && values[attribute.name].map { $0 != attribute.value } ?? false
        }
    }
}

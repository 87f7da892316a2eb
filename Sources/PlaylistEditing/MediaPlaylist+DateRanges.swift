import HLSPlaylist

extension MediaPlaylist {
    /// Returns the playlist with new identifiers for the date ranges that conflict with another playlist.
    ///
    /// A date range conflicts if the other playlist has the same identifier with other attributes.
    ///
    /// In one playlist, tags with the same identifier describe one date range (RFC 8216bis §4.4.5.1). A date range that is equal in
    /// both playlists keeps its identifier.
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
        var taken = Set(known.keys).union(own.map(\.id))
        var names: [String: String] = [:]
        for range in own {
            guard let namesake = known[range.id], range.differs(from: namesake) else { continue }
            var number = 2
            while !taken.insert("\(range.id)-\(number)").inserted { number += 1 }
            names[range.id] = "\(range.id)-\(number)"
        }
        guard !names.isEmpty else { return self }
        var patch = PlaylistPatch()
        for position in 0...segments.count {
            for line in lines(ofSegment: position) where line.tag == .dateRange {
                guard let value = line.value else { continue }
                let attributes = AttributeList(bytes, in: value)
                guard let name = attributes["ID"].flatMap({ names[$0] }) else { continue }
                attributes.set("ID", to: "\"\(name)\"", in: &patch)
            }
        }
        return try Playlist.media(self).patched(patch, edit: "stitching", limits: limits).asMedia(after: "stitching")
    }
}

extension DateRange {
    /// Returns a Boolean value that indicates whether this date range and another one have different values of the same
    /// attribute.
    fileprivate func differs(from other: DateRange) -> Bool {
        let values = Dictionary(other.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        return attributes.contains { attribute in
            attribute.name != "ID" && values[attribute.name].map { $0 != attribute.value } ?? false
        }
    }
}

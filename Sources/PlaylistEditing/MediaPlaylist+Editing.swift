public import HLSPlaylist
public import MediaTiming
import ResourceAddressing

extension MediaPlaylist {
    /// The playlist cut to whole segments, together never longer than `limit`.
    ///
    /// It ends at the first segment that would pass the limit, so a short one behind a long one does not slip in. Where
    /// segments were cut off it ends there: `EXT-X-ENDLIST` stands behind the last one.
    ///
    /// - Throws: ``PlaylistEditError/nothingLeft(filter:available:)`` where the first segment is longer already.
    public func limited(
        to limit: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let all = segments
        var kept = 0
        while kept < all.count, all.timeRange(at: kept).end <= limit { kept += 1 }
        guard kept > 0 else { throw nothingLeft("duration \(limit)") }
        guard kept < all.count else { return self }
        return try MediaPlaylistAssembly.assemble(
            host: self,
            runs: [SegmentRun(self, 0..<kept, isHost: true)],
            limits: limits
        )
    }

    /// The playlist from the segment that holds `time` on; media sequence and discontinuity sequence move along.
    ///
    /// - Throws: ``PlaylistEditError/timeOutside(edit:time:duration:)`` where the playlist ends before.
    public func dropped(
        before time: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard let first = segments.position(at: time) else { throw outside("start", time) }
        guard first > 0 else { return self }
        return try MediaPlaylistAssembly.assemble(
            host: self,
            runs: [SegmentRun(self, first..<segments.count, isHost: true)],
            limits: limits
        )
    }

    /// The playlist with another one behind it and a discontinuity between.
    ///
    /// The larger target duration and version count. Relative addresses of the other playlist stay as they are where
    /// both stand in one folder, else they become absolute.
    public func appending(
        _ other: MediaPlaylist,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try stitched(other, at: segments.count, limits)
    }

    /// The playlist with another one before it and a discontinuity between.
    public func prepending(
        _ other: MediaPlaylist,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try stitched(other, at: 0, limits)
    }

    /// The playlist with another one put in at the segment border nearest to `time`, a discontinuity at each seam.
    ///
    /// - Throws: ``PlaylistEditError/timeOutside(edit:time:duration:)`` where the playlist ends before.
    public func inserting(
        _ other: MediaPlaylist,
        at time: MediaTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard time <= duration else { throw outside("insert", time) }
        guard let position = segments.position(at: time) else { return try appending(other, limits: limits) }
        let range = segments.timeRange(at: position)
        return try stitched(other, at: time - range.start <= range.end - time ? position : position + 1, limits)
    }

    /// The playlist without the whole segments that lie inside a range, a discontinuity at the cut.
    ///
    /// - Throws: ``PlaylistEditError`` where no segment lies inside or none would be left.
    public func dropping(
        _ range: MediaTimeRange,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        let all = segments
        let inside = all.indices.filter {
            all.timeRange(at: $0).start >= range.start && all.timeRange(at: $0).end <= range.end
        }
        guard let first = inside.first, let last = inside.last else {
            throw .nothingLeft(filter: "drop-range \(range)", available: ["no whole segment inside it"])
        }
        guard inside.count < all.count else { throw nothingLeft("drop-range \(range)") }
        return try MediaPlaylistAssembly.assemble(
            host: self,
            runs: [SegmentRun(self, 0..<first, isHost: true), SegmentRun(self, (last + 1)..<all.count, isHost: true)],
            limits: limits
        )
    }

    private func stitched(
        _ other: MediaPlaylist,
        at position: Int,
        _ limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard !other.segments.isEmpty else { throw .cannotStitch(reason: "the other playlist has no segments") }
        guard isIFramesOnly == other.isIFramesOnly else {
            throw .cannotStitch(reason: "one holds I-frames only and the other does not")
        }
        guard position < segments.count || hasEndMarker || !isLive else {
            throw .cannotStitch(reason: "a live playlist has no end to put something behind")
        }
        // Relative addresses of a playlist without an address of its own stay relative.
        var sharesFolder = false
        if let address = context.address, let otherAddress = other.context.address {
            sharesFolder = address.sharesFolder(with: otherAddress)
        }
        let guest = sharesFolder && other.variables.isEmpty ? other : try other.withAbsoluteAddresses(limits: limits)
        return try MediaPlaylistAssembly.assemble(
            host: self,
            runs: [
                SegmentRun(self, 0..<position, isHost: true),
                SegmentRun(guest, 0..<guest.segments.count, isHost: false),
                SegmentRun(self, position..<segments.count, isHost: true),
            ],
            limits: limits
        )
    }

    private func nothingLeft(_ filter: String) -> PlaylistEditError {
        let longest = segments.first.map { "a first segment of \($0.duration) s" } ?? "no segment"
        return .nothingLeft(filter: filter, available: [longest, "\(duration) s in all"])
    }

    private func outside(_ edit: String, _ time: MediaTime) -> PlaylistEditError {
        .timeOutside(edit: edit, time: time.description, duration: duration.description)
    }
}

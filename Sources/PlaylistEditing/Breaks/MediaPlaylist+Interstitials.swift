import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension MediaPlaylist {
    /// Returns the playlist with a date range for each break, with which players play another playlist (RFC 8216bis Appendix D).
    ///
    /// The date range of a break follows from the playlist alone, and is the same in every version of a live playlist that contains the
    /// start of the break. A playlist that begins inside a break has none for it, since its start is known only approximately.
    ///
    /// A complete playlist without dates gets the date 1970-01-01T00:00:00Z, because date ranges require dates (§4.4.5.1).
    ///
    /// - Parameters:
    ///   - rule: The rule that determines where the breaks are.
    ///   - address: The URL of the other playlist.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist; the playlist itself if it has no breaks.
    /// - Throws: ``PlaylistEditError`` if a live playlist has no dates, or if a playlist cannot contain the URL.
    func writingInterstitials(
        _ rule: BreakRule,
        playing address: String,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard !address.contains("\""), !address.utf8.contains(where: { $0 < 0x20 }) else {
            throw .unwritableAddress(address)
        }
        let cues = try BreakCues(rule, in: self)
        guard cues.starts.contains(where: { $0.elapsed == 0 }) else { return self }
        var patch = PlaylistPatch()
        if rule == .dateRanges(classIdentifier: Interstitial.classIdentifier) {
            for entry in Playlist.media(self).tagEntries where BreakCues.removes(entry, of: bytes, rule) {
                patch.remove(entry.line)
            }
        }
        let hasDates = segments.first?.programDateTime != nil
        guard hasDates || !isLive else {
            throw .cannotStitch(reason: "interstitials require a live playlist with EXT-X-PROGRAM-DATE-TIME")
        }
        var lines: [Int: String] = [:]
        if !hasDates { lines[0] = "#EXT-X-PROGRAM-DATE-TIME:\(Self.firstDate)" + lineEnd }
        for cue in cues.starts where cue.elapsed == 0 {
            let date = cue.date.map { ProgramDateTime(sinceEpoch: MediaTime(value: $0, timescale: 1_000_000)) }
            let start = date ?? startDate(of: cue.position)
            lines[cue.position, default: ""] += dateRange(of: cue, at: start, rule, address) + lineEnd
        }
        for (position, text) in lines {
            let all = self.lines(ofSegment: position)
            guard let line = all.first(where: { $0.tag == .segmentInformation }) ?? all.first(where: \.isURI) else {
                continue
            }
            patch.replace(line.range.lowerBound..<line.range.lowerBound, with: text)
        }
        return try Playlist.media(self).patched(patch, edit: "interstitials", limits: limits)
            .asMedia(after: "interstitials")
    }

    private static let firstDate = ProgramDateTime(sinceEpoch: .zero)

    private func startDate(of position: Int) -> ProgramDateTime {
        segments[position].programDateTime ?? Self.firstDate.advanced(by: segments[position].start)
    }

    private func dateRange(
        of cue: BreakCues.Start,
        at start: ProgramDateTime,
        _ rule: BreakRule,
        _ address: String
    ) -> String {
        let id = "break-\(start.sinceEpoch.microseconds / 1_000)"
        var attributes = [
            "ID=\"\(id)\"",
            "CLASS=\"\(Interstitial.classIdentifier)\"",
            "START-DATE=\"\(start)\"",
        ]
        if let duration = cue.duration, duration > 0 {
            // The program behind the break is not played.
            let time = MediaTime(value: duration, timescale: 1_000_000)
            attributes += ["DURATION=\(time)", "X-RESUME-OFFSET=\(time)", "X-PLAYOUT-LIMIT=\(time)"]
        } else if !isLive {
            attributes.append("X-RESUME-OFFSET=0")
        }
        attributes.append("X-ASSET-URI=\"\(Self.asset(at: address, of: id))\"")
        return "#EXT-X-DATERANGE:" + attributes.joined(separator: ",")
    }

    /// Returns the URL of an asset with the ID of its date range as a query parameter (RFC 8216bis §D.4); a URL that has the parameter,
    /// and one of another scheme than HTTP, are unchanged.
    private static func asset(at address: String, of id: String) -> String {
        let name = "_HLS_interstitial_id="
        let end = address.firstIndex(of: "#") ?? address.endIndex
        guard ResourceAddress(address).isHTTP, !address[..<end].contains(name) else { return address }
        let mark = address[..<end].contains("?") ? "&" : "?"
        return "\(address[..<end])\(mark)\(name)\(id)\(address[end...])"
    }
}

import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests the delta updates of simulated channels with parts (RFC 8216bis §6.2.5.1).
@Suite struct ChannelDeltaTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    /// A minute of media with an advertisement, dates and date ranges, and chapters without a duration.
    private static let source: String = {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:4\n"
        for number in 0..<15 {
            switch number {
            case 0:
                text += "#EXT-X-MAP:URI=\"content.mp4\"\n#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00.000Z\n"
            case 10:
                text += "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"ad.mp4\"\n"
                text += "#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:40.000Z\n"
                text += "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2020-01-01T00:00:40.000Z\",DURATION=8\n"
                text += "#EXT-X-CUE-OUT:8\n"
            case 12:
                text += "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"content.mp4\"\n"
                text += "#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:48.000Z\n#EXT-X-CUE-IN\n"
            case 3, 7:
                let date = "2020-01-01T00:00:\(number * 4).000Z"
                text += "#EXT-X-DATERANGE:ID=\"chapter\(number)\",START-DATE=\"\(date)\"\n"
            default: break
            }
            text += "#EXTINF:\(number == 11 ? "3.5" : "4"),\n\(number).m4s\n"
        }
        return text + "#EXT-X-ENDLIST\n"
    }()

    /// Returns the edit of a channel at a time since its start, in quarters of a second.
    private func edit(
        at quarters: Int64,
        _ channel: String = "loop,start=2026-01-01T00:00:00Z,window=70,part=1",
        _ others: [PlaylistEdit] = []
    ) throws -> PreparedEdit {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.source.utf8),
            context: PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        )
        return PreparedEdit(
            plan: EditPlan([try PlaylistEdit(name: "live", value: channel)] + others),
            input: .media(playlist, sources: [:]),
            limits: PlaylistLimits(),
            date: Self.start.advanced(by: MediaTime(value: quarters, timescale: 4)),
            parts: PartDelivery()
        )
    }

    private func playlist(_ edit: PreparedEdit) throws -> MediaPlaylist {
        guard case .media(let playlist) = try edit.apply() else {
            throw PlaylistEditError.wrongKind(edit: "live", expected: "media")
        }
        return playlist
    }

    private func contents(_ playlist: MediaPlaylist) -> [String] {
        var contents = [
            "\(playlist.version) \(playlist.mediaSequence) \(playlist.discontinuitySequence)",
            "\(String(describing: playlist.targetDuration)) \(String(describing: playlist.serverControl))",
        ]
        for segment in playlist.segments {
            let date = segment.programDateTime?.description ?? "-"
            let map = segment.map?.address.text ?? "-"
            contents.append("\(segment.sequence) \(segment.discontinuitySequence) \(segment.hasDiscontinuity) \(date)")
            contents.append("\(segment.address.text) \(segment.duration) \(map) \(segment.parts.map(\.uri))")
        }
        contents += playlist.trailingParts.map(\.uri)
        contents += playlist.preloadHints.map(\.uri)
        contents += playlist.dateRanges.map { "\($0.id) \(String(describing: $0.startDate))" }.sorted()
        return contents + playlist.unknownTags.map(\.name)
    }

    private func errors(_ playlist: MediaPlaylist) -> [String] {
        Playlist.media(playlist).validated().filter { $0.severity == .error }.map(\.message)
    }

    /// A client that has a version no older than half of the skip boundary has the full playlist after the update.
    @Test(
        arguments: [
            [], [.stripTags(["EXT-X-CUE-OUT"])], [.stripTags(["EXT-X-DATERANGE", "EXT-X-CUE-IN"])],
        ] as [[PlaylistEdit]]
    )
    func mergedUpdateIsTheFullPlaylist(others: [PlaylistEdit]) throws {
        let channel = "loop,start=2026-01-01T00:00:00Z,window=70,part=1"
        var removedCount = 0
        for quarters in stride(from: Int64(400), to: 900, by: 9) {
            let now = try edit(at: quarters, channel, others)
            let full = try playlist(now)
            #expect(full.serverControl?.canSkipUntil == MediaTime(seconds: 24) && full.version == 10)
            #expect(errors(full) == [])
            let segments = try #require(full.deltaUpdate(.segments))
            let removed = try #require(try now.recentlyRemovedDateRanges(of: full) {})
            removedCount += removed.count
            let both = try #require(full.deltaUpdate(.segmentsAndDateRanges(removed: removed)))
            #expect(segments.skippedSegmentCount >= 9 && errors(segments) == [] && errors(both) == [])
            #expect(segments.dateRanges.map(\.id) == full.dateRanges.map(\.id))
            #expect(both.dateRanges.count <= full.dateRanges.count)
            for age in [Int64(1), 4, 17, 48] {
                let previous = try playlist(edit(at: quarters - age, channel, others))
                #expect(try contents(previous.applying(segments)) == contents(full))
                #expect(try contents(previous.applying(both)) == contents(full))
            }
        }
        let hasDateRanges = !others.contains { $0.nameAndValue.value.contains("DATERANGE") }
        #expect((removedCount > 0) == hasDateRanges)
    }

    /// A client may apply one update after the other for any time.
    @Test func updatesAreAppliedOneAfterTheOther() throws {
        var known = try playlist(edit(at: 400))
        for quarters in stride(from: Int64(403), to: 1_200, by: 11) {
            let now = try edit(at: quarters)
            let full = try playlist(now)
            let removed = try #require(try now.recentlyRemovedDateRanges(of: full) {})
            let update = try #require(full.deltaUpdate(.segmentsAndDateRanges(removed: removed)))
            known = try known.applying(update)
            #expect(contents(known) == contents(full))
        }
    }

    /// Delta updates are offered if the window has segments beyond the boundary, and made once the playlist has some.
    @Test func updatesDependOnTheWindow() throws {
        let short = try playlist(edit(at: 400, "loop,start=2026-01-01T00:00:00Z,window=24,part=1"))
        #expect(short.serverControl?.canBlockReload == true && short.serverControl?.canSkipUntil == nil)
        #expect(short.version == 7 && short.deltaUpdate(.segments) == nil)
        let whole = try playlist(edit(at: 400, "loop,start=2026-01-01T00:00:00Z,window=70"))
        #expect(whole.serverControl == nil && whole.deltaUpdate(.segments) == nil)
        let started = try edit(at: 60)
        let first = try playlist(started)
        #expect(first.serverControl?.canSkipUntil == MediaTime(seconds: 24) && first.deltaUpdate(.segments) == nil)
        let removed = try started.recentlyRemovedDateRanges(of: first) {}
        #expect(removed == [])
        let ended = try playlist(edit(at: 400, "once,start=2026-01-01T00:00:00Z,window=70,part=1"))
        #expect(ended.hasEndMarker && ended.deltaUpdate(.segments) == nil)
    }

    /// The date ranges that were removed from a playlist of another server are not known.
    @Test func removedDateRangesOfASourceAreNotKnown() throws {
        let now = try edit(at: 400)
        let full = try playlist(now)
        let filter = PreparedEdit(
            plan: EditPlan([.stripTags(["EXT-X-CUE-OUT"])]),
            input: .media(full, sources: [:]),
            limits: PlaylistLimits(),
            date: now.date
        )
        let removed = try filter.recentlyRemovedDateRanges(of: playlist(filter)) {}
        #expect(removed == nil)
    }
}

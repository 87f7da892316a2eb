import Foundation
import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests the exact limits of what is stored of a live playlist, and the times of segments and advertisements.
@Suite struct BreakTimelineFaultTests {
    // MARK: Limits

    @Test func sizeOfTimelinesIsLimited() throws {
        #expect(BreakTimelines.maximumSize == 4_194_304)
        let version = try BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:12\n"]).version(endingAt: 6)
        let advertisement = try MediaPlaylist.advertisement(["6"])
        var small = BreakEditor()
        _ = try small.edit(version, advertisement)
        let rest = BreakTimelines.maximumSize - small.timelines.size - BreakTimeline().size
        for (count, isPossible) in [(rest, true), (rest + 1, false)] {
            var large = BreakTimelines()
            large.timelines[String(repeating: "x", count: count)] = BreakTimeline()
            var editor = BreakEditor(continuing: large)
            let result = try? editor.edit(version, advertisement)
            #expect((result != nil) == isPossible)
            #expect(editor.timelines.size == (isPossible ? BreakTimelines.maximumSize : large.size))
        }
    }

    /// The identifiers of the latest cues are stored.
    @Test func numberOfHandledCuesIsLimited() throws {
        let segments = (0..<4_098).map { "#EXT-X-CUE-OUT:6\n#EXTINF:6,\n\($0).ts\n" }.joined()
        let playlist = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)".utf8))
        let cues = try BreakCues(.cues, in: playlist)
        var timeline = BreakTimeline()
        try timeline.advance(over: playlist, cues, nil, isInserted: false)
        #expect(timeline.handled.count == 4_096 && timeline.breaks.isEmpty && timeline.next == 4_098)
        #expect(timeline.handled.first == "2" && timeline.handled.last == "4097")
    }

    @Test func roomForAdvertisementsIsLimited() throws {
        let advertisement = try Advertisement(.advertisement(["6"]), limits: PlaylistLimits())
        func hasRoom(_ texts: [String]) throws -> Bool {
            try JSONDecoder().decode(StoredAdvertisements.self, from: JSONEncoder().encode(texts))
                .hasRoom(for: advertisement)
        }
        let full = String(repeating: "x", count: 1_048_576 - advertisement.text.utf8.count)
        #expect(try hasRoom([]) && hasRoom([full]))
        #expect(try !hasRoom([full + "x"]) && !hasRoom([full, "x"]))
        // An advertisement that is stored needs no room.
        #expect(try hasRoom([full + "x", advertisement.text]))
    }

    // MARK: Restarts

    /// Only a playlist whose numbers jump is one from before the restart, if all its segments are.
    @Test(arguments: [(10, true), (11, false), (40, false), (41, true)])
    func playlistsFromBeforeARestartAreRefused(end: Int, isAccepted: Bool) throws {
        let stream = BreakStream(count: 50)
        let later = try stream.version(endingAt: 4).editedText.replacing("T00:00:00.000Z", with: "T00:04:00.000Z")
        let versions = try [
            stream.version(endingAt: 20), MediaPlaylist(parsing: Array(later.utf8)), stream.version(endingAt: end),
        ]
        let results = try? BreakEditor.edited(versions, nil)
        #expect((results?.count == 3) == isAccepted)
    }

    @Test func breaksBeforeARestartAreForgotten() throws {
        let stream = BreakStream(count: 20, [12: "#EXT-X-CUE-OUT:12\n"])
        var editor = BreakEditor()
        _ = try editor.edit(stream.version(endingAt: 16), .advertisement(["6", "6"]))
        #expect(editor.timeline.breaks.count == 1 && editor.timeline.advertisements.count == 1)
        #expect(editor.timeline.handled == ["12"])
        let later = try stream.version(endingAt: 4).editedText.replacing("T00:00:00.000Z", with: "T00:04:00.000Z")
        let result = try editor.edit(MediaPlaylist(parsing: Array(later.utf8)), nil)
        #expect(editor.timeline.breaks.isEmpty && editor.timeline.advertisements.isEmpty)
        #expect(editor.timeline.handled.isEmpty && editor.timeline.next == 4)
        // The break has added two discontinuities, and the restart adds one.
        #expect(result.mediaSequence == 16 && result.segments.map(\.discontinuitySequence) == [3, 3, 3, 3])
    }

    /// The numbers can be the same as before a restart.
    @Test func restartIsKnownByLaterDates() throws {
        let stream = BreakStream(count: 20)
        let version = try stream.version(endingAt: 20)
        let text = version.editedText
        let later = text.replacing("T00:01:24.000Z", with: "T00:11:24.000Z")
        #expect(later != text)
        let results = try BreakEditor.edited([version, MediaPlaylist(parsing: Array(later.utf8))], nil)
        #expect(results.map(\.mediaSequence) == [14, 20] && results.map(\.discontinuitySequence) == [0, 1])
    }

    // MARK: Breaks

    /// A playlist whose breaks are not replaced has the version and the target duration of its source.
    @Test func headerIsThatOfTheSourceWithoutAnAdvertisement() throws {
        let versions = try [4, 8].map { try BreakStream(count: 8).version(endingAt: $0) }
        let results = try BreakEditor.edited(versions, nil)
        #expect(results.map(\.editedText) == versions.map(\.editedText))
    }

    /// A cue inside a break is handled, so that it does not begin another break later.
    @Test func breakInsideAnotherOneIsNotBegunLater() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:18\n", 6: "#EXT-X-CUE-OUT:18\n"])
        let advertisement = try MediaPlaylist.advertisement(["8", "4", "6"])
        var editor = BreakEditor()
        let results = try [7, 11, 12].map { try editor.edit(stream.version(endingAt: $0), advertisement) }
        #expect(results.map(\.segmentNames) == ["1 2 3 4 |a0 a1", "|a0 a1 a2 |8 9 10", "|a0 a1 a2 |8 9 10 11"])
        #expect(editor.timeline.breaks.map(\.start) == [5])
    }

    /// An advertisement at the start of a complete playlist follows no discontinuity.
    @Test func advertisementIsInsertedAtTheStart() throws {
        let rule = try #require(BreakRule("0...0,cues"))
        let version = try BreakStream(count: 3).version(endingAt: 3, ended: true)
        let result = try #require(try BreakEditor.edited([version], at: rule, .advertisement(["6"])).first)
        #expect(result.segmentNames == "a0 |0 1 2" && result.mediaSequence == 0 && result.hasEndMarker)
        #expect(result.segments.map(\.discontinuitySequence) == [0, 1, 1, 1])
    }

    /// A planned duration is not the one that a break has by now.
    @Test func plannedDurationIsNotAnnounced() throws {
        func range(_ id: String, _ duration: String) -> String {
            "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:24Z\",\(duration),SCTE35-OUT=0xFC\n"
        }
        let ranges = range("a", "DURATION=6") + range("b", "PLANNED-DURATION=12")
        let cues = try BreakCues(.cues, in: BreakStream(count: 6, [2: ranges]).version(endingAt: 6))
        #expect(cues.starts.map(\.duration) == [12_000_000] && cues.durations == ["a": 6_000_000])
    }

    /// The error of a delta update does not depend on the rule, and a playlist without segments has no breaks.
    @Test func deltaUpdateIsRefusedAndAnEmptyPlaylistIsUnchanged() throws {
        let header = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n"
        let delta = try MediaPlaylist(
            parsing: Array((header + "#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXTINF:6,\na\n").utf8)
        )
        let empty = try MediaPlaylist(parsing: Array(header.utf8))
        let reason = "the playlist is a delta update; load the full playlist"
        for rule in [BreakRule.cues, .every(MediaTime(seconds: 60))] {
            #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
                try BreakEditor.edited([delta], at: rule, nil)
            }
            let results = try BreakEditor.edited([empty], at: rule, nil)
            #expect(results.map(\.bytes) == [empty.bytes])
        }
    }

    // MARK: Times

    @Test func partsOfAnAdvertisementAreCounted() throws {
        let tags = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, "#EXT-X-DISCONTINUITY\n") })
        let advertisement = try Advertisement(.advertisement(["8", "4", "6"], tags: tags), limits: PlaylistLimits())
        #expect((0...3).map { advertisement.discontinuityCount(before: $0) } == [0, 0, 1, 2])
        #expect(advertisement.count == 3 && advertisement.duration == 18_000_000)
        #expect((0..<3).map { advertisement.start(of: $0) } == [0, 8_000_000, 12_000_000])
        let ends: [Int64] = [-1, 0, 7_999_999, 8_000_000, 11_999_999, 12_000_000, 18_000_000, .max]
        #expect(ends.map { advertisement.count(endingBy: $0) } == [0, 0, 0, 1, 1, 2, 3, 3])
        let played: [Int64] = [0, 7_099_999, 7_100_000, 17_099_999, 17_100_000, .max]
        #expect(played.map { advertisement.count(playableIn: $0) } == [0, 0, 1, 2, 3, 3])
    }

    /// The dates of a playlist can go back, so that no date is nearest to the start of a segment.
    @Test func datesCanGoBack() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:10Z
            #EXTINF:6,
            0.ts
            #EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:00:00Z
            #EXTINF:6,
            1.ts
            #EXTINF:4,
            2.ts

            """
        let clock = try #require(SegmentClock(try MediaPlaylist(parsing: Array(text.utf8))))
        #expect(clock.positions == 0..<3 && clock.positions.map { clock.date(of: $0) } == [10_000_000, 0, 6_000_000])
        #expect(clock.boundaryRange(of: 0) == 7_000_000..<13_000_000)
        #expect(clock.boundaryRange(of: 1) == 3_000_000..<3_000_000)
        #expect(clock.boundaryRange(of: 2) == 3_000_000..<8_000_000)
    }
}

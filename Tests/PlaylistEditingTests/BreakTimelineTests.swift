import Foundation
import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Follows the breaks of live playlists, version after version.
struct BreakTimelineTests {
    /// An advertisement of 18 seconds whose last segment follows a discontinuity.
    private func advertisement(_ name: String = "a") throws -> MediaPlaylist {
        try .advertisement(["8", "4", "6"], name: name, tags: [2: "#EXT-X-DISCONTINUITY\n"])
    }

    private func names(_ playlists: [MediaPlaylist]) -> [String] { playlists.map(\.segmentNames) }

    // MARK: Ends of breaks

    /// A break ends at the boundary that is nearest to its duration, and at most 0.9 seconds before it.
    @Test(arguments: [
        ("12.9", "3 4 |a0 a1 |7 8"), ("12.900001", "3 4 |a0 a1 |a2 |8"), ("12", "3 4 |a0 a1 |7 8"),
        ("12.000001", "3 4 |a0 a1 |7 8"), ("17.999999", "3 4 |a0 a1 |a2 |8"), ("30", "3 4 |a0 a1 |a2 |8"),
    ])
    func breakEndsAtTheNearestBoundary(duration: String, expected: String) throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:\(duration)\n"])
        #expect(try names(BreakEditor.edited([stream.version(endingAt: 9)], advertisement())) == [expected])
    }

    /// With segments of a second, the nearest boundary is at most half a second before the end.
    @Test(arguments: [
        ("5.5", "7 8 9 10 11 12", "|a0 |12"), ("5.500001", "7 8 9 10 11 12", "|a0 a1"),
        ("5", "7 8 9 10 11 12", "|a0 |12"),
    ])
    func breakWithShortSegmentsEndsAtTheNearestBoundary(duration: String, source: String, expected: String) throws {
        let stream = BreakStream(count: 14, [7: "#EXT-X-CUE-OUT:\(duration)\n"], seconds: 1)
        let version = try stream.version(endingAt: 13)
        #expect(version.segmentNames == source)
        #expect(try names(BreakEditor.edited([version], .advertisement(["5", "1"]))) == [expected])
    }

    /// A break replaces at least one segment, however short it is.
    @Test func breakReplacesASegment() throws {
        let stream = BreakStream(count: 8, [3: "#EXT-X-CUE-OUT:0.5\n"])
        let advertisement = try MediaPlaylist.advertisement(["0.5", "9"])
        #expect(try names(BreakEditor.edited([stream.version(endingAt: 6)], advertisement)) == ["0 1 2 |a0 |4 5"])
    }

    /// Dates of segments do not overlap by a second, so an advertisement is at most 0.9 seconds longer than what it replaces.
    @Test(arguments: [("6.9", "0 1 2 |a0 |4 5"), ("6.900001", "0 1 2 3 4 5"), ("7", "0 1 2 3 4 5")])
    func advertisementIsHardlyLongerThanTheBreak(duration: String, expected: String) throws {
        let stream = BreakStream(count: 8, [3: "#EXT-X-CUE-OUT:6\n"])
        let advertisement = try MediaPlaylist.advertisement([duration, "9"])
        #expect(try names(BreakEditor.edited([stream.version(endingAt: 6)], advertisement)) == [expected])
    }

    /// The advertisement is the only media of a playlist that is all inside a break, also while its next segment is not due.
    @Test func playlistInABreakIsNeverEmpty() throws {
        let stream = BreakStream(count: 24, [5: "#EXT-X-CUE-OUT:64\n"])
        let advertisement = try MediaPlaylist.advertisement(["4", "60"])
        let versions = try [10, 11, 12, 13, 15, 12, 16, 17, 18].map { try stream.version(endingAt: $0) }
        let results = try BreakEditor.edited(versions, advertisement)
        #expect(
            names(results) == ["4 |a0", "|a0", "|a0", "|a0", "|a0", "|a0", "a1", "a1 |16", "a1 |16 17"]
        )
        #expect(results.map(\.mediaSequence) == [4, 5, 5, 5, 5, 5, 6, 6, 6])
        #expect(results.map { $0.segments[0].discontinuitySequence } == [0, 1, 1, 1, 1, 1, 1, 1, 1])
    }

    /// A break that follows another one immediately has one discontinuity before it.
    @Test func breaksFollowEachOther() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:12\n", 7: "#EXT-X-CUE-OUT:12\n"])
        let results = try BreakEditor.edited(
            (6...14).map { try stream.version(endingAt: $0) },
            .advertisement(["6", "6"])
        )
        let last = try #require(results.first { $0.segmentNames == "4 |a0 a1 |a0 a1 |9" })
        #expect(last.segments.map(\.discontinuitySequence) == [0, 1, 1, 2, 2, 3])
        #expect(results.last?.discontinuitySequence == 2 && results.last?.segmentNames == "a1 |9 10 11 12 13")
    }

    /// A complete playlist that begins with a break begins with the advertisement, without a discontinuity before it.
    @Test(arguments: [[2], [0, 2]]) func breakAtTheStartHasNoDiscontinuityBeforeIt(positions: [Int]) throws {
        let tags = Dictionary(uniqueKeysWithValues: positions.map { ($0, "#EXT-X-DISCONTINUITY\n") })
        let advertisement = try MediaPlaylist.advertisement(["8", "4", "6"], tags: tags)
        var stream = BreakStream(count: 6, [0: "#EXT-X-CUE-OUT:18\n"])
        for hasDates in [true, false] {
            stream.hasDates = hasDates
            let versions = try [true, false].map { try stream.version(endingAt: 6, ended: $0) }
            let results = try versions.flatMap { try BreakEditor.edited([$0], advertisement) }
            #expect(names(results) == ["a0 a1 |a2 |3 4 5", "|a0 a1 |a2 |3 4 5"])
            #expect(results[0].segments.map(\.discontinuitySequence) == [0, 0, 1, 2, 2, 2])
            #expect(results[1].segments.map(\.discontinuitySequence) == [1, 1, 2, 3, 3, 3])
        }
    }

    /// The discontinuities around a break are not written twice.
    @Test func discontinuitiesOfTheSourceAreThoseOfTheBreak() throws {
        let tag = "#EXT-X-DISCONTINUITY\n"
        let stream = BreakStream(count: 6, [0: tag, 2: tag + "#EXT-X-CUE-OUT:12\n", 4: tag])
        for ended in [true, false] {
            let version = try stream.version(endingAt: 6, ended: ended)
            let results = try BreakEditor.edited([version], .advertisement(["6", "6"]))
            #expect(names(results) == ["|0 1 |a0 a1 |4 5"])
            #expect(results[0].segments.map(\.discontinuitySequence) == [1, 1, 2, 2, 3, 3])
        }
    }

    /// Each segment of an advertisement has the date of the program at its time, wherever the playlist begins.
    @Test func datesOfAnAdvertisementAreThoseOfTheProgram() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:18\n"])
        let results = try BreakEditor.edited(
            (6...14).map { try stream.version(endingAt: $0) },
            advertisement()
        )
        let times = ["a0": 30, "a1": 38, "a2": 42] as [String: Int64]
        var count = 0
        for segment in results.flatMap(\.segments) {
            let name = String(segment.uri.split(separator: "/").last ?? "").replacing(".ts", with: "")
            guard let time = times[name] ?? Int64(name).map({ $0 * 6 }) else { continue }
            #expect(segment.programDateTime == BreakStream.start?.advanced(by: MediaTime(seconds: time)), "\(name)")
            count += 1
        }
        #expect(
            count == results.reduce(0) { $0 + $1.segments.count } && results.last?.segmentNames == "|8 9 10 11 12 13"
        )
    }

    @Test func breakInsideAnotherOneIsPartOfIt() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:18\n", 6: "#EXT-X-CUE-OUT:18\n"])
        let results = try BreakEditor.edited(
            [stream.version(endingAt: 7), stream.version(endingAt: 11)],
            advertisement()
        )
        #expect(names(results) == ["1 2 3 4 |a0 a1", "|a0 a1 |a2 |8 9 10"])
        let whole = try BreakEditor.edited([stream.version(endingAt: 11)], advertisement())
        #expect(names(whole) == ["|a0 a1 |a2 |8 9 10"])
    }

    /// The end of a break in the same segment as its start is that of an earlier one.
    @Test func endBeforeTheStartIsThatOfAnEarlierBreak() throws {
        let stream = BreakStream(
            count: 14,
            [3: "#EXT-X-CUE-OUT\n", 5: "#EXT-X-CUE-IN\n#EXT-X-CUE-OUT:12\n", 7: "#EXT-X-CUE-IN\n"]
        )
        let results = try BreakEditor.edited([stream.version(endingAt: 9)], .advertisement(["6", "6", "6"]))
        #expect(names(results) == ["|a0 a1 |a0 a1 |7 8"])
    }

    // MARK: Changes of what is known

    private static func range(_ attributes: String, _ id: String = "x") -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:30Z\",\(attributes),SCTE35-OUT=0xFC\n"
    }

    /// A break in progress becomes shorter once its duration is known, but never longer.
    @Test(arguments: [
        ("DURATION=12", "2 3 4 |a0 a1 |7"), ("END-DATE=\"2026-01-01T00:00:42Z\"", "2 3 4 |a0 a1 |7"),
        ("DURATION=6", "2 3 4 |a0 a1 |7"), ("DURATION=12.900001", "2 3 4 |a0 a1 |a2"),
        ("DURATION=60", "2 3 4 |a0 a1 |a2"),
        ("PLANNED-DURATION=12", "2 3 4 |a0 a1 |a2"),
    ])
    func breakEndsWithItsAnnouncedDuration(attributes: String, expected: String) throws {
        var stream = BreakStream(count: 14, [5: Self.range("PLANNED-DURATION=18")])
        let before = try stream.version(endingAt: 7)
        stream.segments[5].tags = Self.range(attributes)
        let results = try BreakEditor.edited(
            [before, stream.version(endingAt: 8), stream.version(endingAt: 10)],
            advertisement()
        )
        #expect(names(results).prefix(2) == ["1 2 3 4 |a0 a1", expected])
        #expect(names(results)[2].hasSuffix(expected.hasSuffix("7") ? "|7 8 9" : "|a2 |8 9"))
    }

    /// Of two announcements of a break, the longer one is its duration.
    @Test func longestAnnouncementIsTheDurationOfABreak() throws {
        let planned = Self.range("PLANNED-DURATION=18", "a") + Self.range("PLANNED-DURATION=18", "b")
        var stream = BreakStream(count: 14, [5: planned])
        let before = try stream.version(endingAt: 6)
        stream.segments[5].tags = Self.range("DURATION=6", "a") + Self.range("DURATION=12", "b")
        let versions = try [before] + [7, 8].map { try stream.version(endingAt: $0) }
        let results = try BreakEditor.edited(versions, advertisement())
        #expect(names(results) == ["0 1 2 3 4", "1 2 3 4 |a0 a1", "2 3 4 |a0 a1 |7"])
    }

    /// A tag without a duration gets that of a date range, one with a duration does not.
    @Test(arguments: [("#EXT-X-CUE-OUT\n", "2 3 4 |a0 a1 |7"), ("#EXT-X-CUE-OUT:18\n", "2 3 4 |a0 a1 |a2")])
    func durationOfADateRangeIsThatOfATag(tag: String, expected: String) throws {
        var stream = BreakStream(count: 14, [5: tag])
        let before = try stream.version(endingAt: 7)
        stream.segments[5].tags = tag + Self.range("DURATION=12")
        let results = try BreakEditor.edited([before, stream.version(endingAt: 8)], advertisement())
        #expect(names(results) == ["1 2 3 4 |a0 a1", expected])
    }

    /// A break that began more than half of a segment before the playlist has the rest of its duration.
    @Test(arguments: [("33", "|a0 a1 |a2 |9 10 11"), ("32.999999", "|a0 a1 |8 9 10 11")])
    func lateBreakHasTheRestOfItsDuration(seconds: String, expected: String) throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"x\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:\(seconds)Z\",DURATION=15\n"
        let version = try BreakStream(count: 14, [6: range]).version(endingAt: 12)
        let rule = BreakRule.dateRanges(classIdentifier: "ad")
        #expect(try names(BreakEditor.edited([version], at: rule, advertisement())) == [expected])
    }

    /// The program of a break that is not known from its start is played, except in the first playlist.
    @Test func breakInProgressIsReplacedInTheFirstPlaylistOnly() throws {
        var tags = [5: "#EXT-X-CUE-OUT:60\n"]
        for number in 6..<15 { tags[number] = "#EXT-X-CUE-OUT-CONT:\((number - 5) * 6)/60\n" }
        let stream = BreakStream(count: 20, tags)
        let late = try stream.version(endingAt: 12)
        #expect(try names(BreakEditor.edited([late], advertisement())) == ["|a0 a1 |8 9 10 11"])
        let results = try BreakEditor.edited([stream.version(endingAt: 4), late], advertisement())
        #expect(names(results) == ["0 1 2 3", "6 7 8 9 10 11"])
        // The advertisement has 6 of 18 seconds after 12 seconds, which its first segment exceeds.
        #expect(try names(BreakEditor.edited([stream.version(endingAt: 13)], advertisement())) == ["7 8 9 10 11 12"])
    }

    /// A break plays the advertisement with which it began.
    @Test func advertisementOfABreakDoesNotChange() throws {
        let stream = BreakStream(
            count: 24,
            [5: "#EXT-X-CUE-OUT:18\n", 7: "#EXT-X-CUE-IN\n", 10: "#EXT-X-CUE-OUT:12\n"]
        )
        let other = try MediaPlaylist.advertisement(["3", "3", "3", "3"], name: "b")
        var editor = BreakEditor()
        _ = try editor.edit(stream.version(endingAt: 7), advertisement())
        let results = try [8, 9, 13].map { try editor.edit(stream.version(endingAt: $0), other) }
        #expect(names(results) == ["2 3 4 |a0 a1 |7", "3 4 |a0 a1 |7 8", "|7 8 9 |b0 b1 b2 b3 |12"])
        #expect(results.map(\.mediaSequence) == [2, 3, 7])
        #expect(results[2].segments.map(\.discontinuitySequence) == [2, 2, 2, 3, 3, 3, 3, 4])
    }

    /// A break goes on over versions that were not loaded.
    @Test func breakGoesOnWhileThePlaylistIsNotLoaded() throws {
        let stream = BreakStream(count: 40, [5: "#EXT-X-CUE-OUT:18\n"])
        let advertisement = try MediaPlaylist.advertisement(["9", "9"])
        for (end, names, sequence) in [
            (13, "a1 |8 9 10 11 12", 6), (14, "|8 9 10 11 12 13", 7), (20, "14 15 16 17 18 19", 13),
        ] {
            let results = try BreakEditor.edited(
                [stream.version(endingAt: 6), stream.version(endingAt: end)],
                advertisement
            )
            #expect(results[1].segmentNames == names && results[1].mediaSequence == Int64(sequence), "\(end)")
            #expect(results[1].segments.last?.discontinuitySequence == 2)
        }
    }

    // MARK: Old breaks

    /// Breaks are stored for 200 segments before the playlist, because other servers may have an earlier version.
    @Test func oldBreaksAreRemoved() throws {
        let stream = BreakStream(count: 240, [5: "#EXT-X-CUE-OUT:18\n", 20: "#EXT-X-CUE-OUT:18\n"])
        var editor = BreakEditor()
        let first = try MediaPlaylist.advertisement(["9", "9"], name: "a")
        let second = try MediaPlaylist.advertisement(["18"], name: "b")
        _ = try editor.edit(stream.version(endingAt: 6), first)
        _ = try editor.edit(stream.version(endingAt: 12), first)
        let middle = try [21, 26].map { try editor.edit(stream.version(endingAt: $0), second) }
        #expect(names(middle) == ["15 16 17 18 19", "|b0 |23 24 25"] && middle.map(\.mediaSequence) == [14, 19])
        // The first break ends before the segment with the number 8.
        let before = try editor.edit(stream.version(endingAt: 214), second)
        #expect(editor.timeline.breaks.map(\.start) == [5, 20] && editor.timeline.advertisements.count == 2)
        let after = try editor.edit(stream.version(endingAt: 215), second)
        #expect(editor.timeline.breaks.map(\.start) == [20] && editor.timeline.breaks.map(\.advertisement) == [0])
        #expect(editor.timeline.advertisements.count == 1 && editor.timeline.isConsistent)
        #expect(editor.timeline.shift == -1 && editor.timeline.discontinuityShift == 2)
        #expect(names([before, after]) == ["208 209 210 211 212 213", "209 210 211 212 213 214"])
        #expect([before, after].map(\.mediaSequence) == [205, 206])
        #expect([before, after].map(\.discontinuitySequence) == [4, 4])
        // An earlier version is what it was.
        let again = try editor.edit(stream.version(endingAt: 26), second)
        #expect(again.bytes == middle[1].bytes)
        // The last break is never removed.
        let late = try editor.edit(stream.version(endingAt: 240), second)
        #expect(editor.timeline.breaks.map(\.start) == [20] && late.mediaSequence == 231)
    }

    /// The advertisement of several breaks is stored once.
    @Test func advertisementsAreStoredOnce() throws {
        let stream = BreakStream(
            count: 20,
            [5: "#EXT-X-CUE-OUT:6\n", 8: "#EXT-X-CUE-OUT:6\n", 11: "#EXT-X-CUE-OUT:6\n"]
        )
        var editor = BreakEditor()
        for (end, name) in [(6, "a"), (9, "b"), (12, "a")] {
            _ = try editor.edit(stream.version(endingAt: end), .advertisement(["6"], name: name))
        }
        #expect(editor.timeline.breaks.map(\.advertisement) == [0, 1, 0] && editor.timeline.advertisements.count == 2)
    }

    /// Only the cues that a playlist still announces are remembered.
    @Test func identifiersOfOldCuesAreForgotten() throws {
        let stream = BreakStream(count: 20, [3: "#EXT-X-CUE-OUT:6\n", 5: "#EXT-X-CUE-OUT:6\n"])
        var editor = BreakEditor()
        let handled = try [3, 4, 6, 9, 10, 12].map { end in
            _ = try editor.edit(stream.version(endingAt: end), .advertisement(["6"]))
            return editor.timeline.handled
        }
        #expect(handled == [[], ["3"], ["3", "5"], ["3", "5"], ["5"], []])
    }

    // MARK: Restarts

    /// Numbers that are far behind are those of another start of the encoder.
    @Test(arguments: [(6, 300, 100, 94), (6, 300, 99, 300), (60, 400, 160, 100), (60, 400, 159, 400)])
    func sourceWithoutDatesRestartsFarBehind(window: Int, end: Int, next: Int, sequence: Int) throws {
        var stream = BreakStream(count: end)
        stream.hasDates = false
        stream.window = window
        let results = try BreakEditor.edited(
            [stream.version(endingAt: end), stream.version(endingAt: next)],
            advertisement()
        )
        #expect(results.map(\.mediaSequence) == [Int64(end - window), Int64(sequence)])
    }

    /// Dates of several encoders differ by less than a target duration.
    @Test(arguments: [("00:01:42.000", 0), ("00:01:42.001", 20), ("00:00:00.000", 0)])
    func sourceRestartsWithLaterDates(time: String, sequence: Int) throws {
        let stream = BreakStream(count: 20)
        let text = try stream.version(endingAt: 4).editedText.replacing("T00:00:00.000Z", with: "T\(time)Z")
        let results = try BreakEditor.edited(
            [stream.version(endingAt: 20), MediaPlaylist(parsing: Array(text.utf8))],
            nil
        )
        #expect(results.map(\.mediaSequence) == [14, Int64(sequence)])
        #expect(results[1].segments.map(\.discontinuitySequence).first == (sequence == 0 ? 0 : 1))
    }

    // MARK: Advertisements

    private static let incomplete = PlaylistEditError.cannotStitch(
        reason: "what is played in breaks must be a complete playlist with segments"
    )

    @Test func advertisementIsCompleteAndHasADuration() throws {
        let version = try BreakStream(count: 8, [3: "#EXT-X-CUE-OUT:6\n"]).version(endingAt: 6)
        let invalid: [MediaPlaylist] = try [
            .advertisement(["0"]), .advertisement(["0", "0"]), .advertisement([]),
            .advertisement(["6"], isComplete: false),
        ]
        for advertisement in invalid {
            #expect(throws: Self.incomplete) { try BreakEditor.edited([version], advertisement) }
        }
        let shortest = try MediaPlaylist.advertisement(["0.000001"])
        #expect(try names(BreakEditor.edited([version], shortest)) == ["0 1 2 |a0 |4 5"])
        // A playlist of the type VOD is complete without an end marker.
        let header = "#EXT-X-TARGETDURATION:8\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        let complete = try MediaPlaylist.advertisement(["6"], header: header, isComplete: false)
        #expect(try names(BreakEditor.edited([version], complete)) == ["0 1 2 |a0 |4 5"])
    }

    @Test func advertisementHasTheKindOfTheSource() throws {
        let version = try BreakStream(count: 8, [3: "#EXT-X-CUE-OUT:6\n"]).version(endingAt: 6)
        let iFrames = try MediaPlaylist.advertisement(["6"], header: "#EXT-X-I-FRAMES-ONLY\n")
        let kind = "one playlist contains I-frames only and the other does not"
        #expect(throws: PlaylistEditError.cannotStitch(reason: kind)) { try BreakEditor.edited([version], iFrames) }
        // A map in the middle does not apply to the first segments of an advertisement.
        let mapped = try BreakStream(count: 8, [0: "#EXT-X-MAP:URI=\"init\"\n"]).version(endingAt: 6)
        let partly = try MediaPlaylist.advertisement(["6", "6"], tags: [1: "#EXT-X-MAP:URI=\"init\"\n"])
        #expect {
            try BreakEditor.edited([mapped], partly)
        } throws: {
            ($0 as? PlaylistEditError)?.code == .cannotStitch
        }
        let whole = try MediaPlaylist.advertisement(["6", "6"], tags: [0: "#EXT-X-MAP:URI=\"init\"\n"])
        #expect(try names(BreakEditor.edited([mapped], whole)) == ["0 1 2 3 4 5"])
    }

    /// The size is that of the advertisement with absolute URLs.
    @Test func sizeOfAnAdvertisementIsLimited() throws {
        let version = try BreakStream(count: 8, [3: "#EXT-X-CUE-OUT:6\n"]).version(endingAt: 6)
        func edited(_ count: Int) throws -> [String] {
            let header = "#EXT-X-TARGETDURATION:8\n#\(String(repeating: "x", count: count))\n"
            return try names(BreakEditor.edited([version], .advertisement(["6"], header: header)))
        }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#\n#EXTINF:6,\nhttps://ads.example/a0.ts\n#EXT-X-ENDLIST\n"
        let rest = 262_144 - text.utf8.count
        #expect(try edited(rest) == ["0 1 2 |a0 |4 5"])
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(262_144))) { try edited(rest + 1) }
    }

    /// The dates of an advertisement are those of what it replaces, unless it is longer.
    @Test(arguments: [("24.9", true), ("24.900001", false)])
    func longerAdvertisementHasNoDates(end: String, isDated: Bool) throws {
        let rule = try #require(BreakRule("12...\(end),cues"))
        let version = try BreakStream(count: 6).version(endingAt: 6, ended: true)
        let results = try BreakEditor.edited([version], at: rule, .advertisement(["8", "4", "6"]))
        let result = try #require(results.first)
        #expect(result.segmentNames == "0 1 |a0 a1 |4 5")
        #expect(result.segments[2].hasOwnProgramDateTime == isDated)
        let date = BreakStream.start?.advanced(by: MediaTime(seconds: 12))
        #expect(result.segments[2].programDateTime == date || !isDated)
        #expect(result.segments[4].programDateTime == BreakStream.start?.advanced(by: MediaTime(seconds: 24)))
    }

    /// The advertisement is as long as the range of the video, also where the segments of a track are longer.
    @Test(arguments: [("17", "0 1 |a0 |3 4 5"), ("17.1", "0 1 |a0 a1 |3 4 5"), ("14", "0 1 2 3 4 5")])
    func advertisementIsAsLongAsInTheVideo(end: String, expected: String) throws {
        let rule = try #require(BreakRule("12...\(end),cues"))
        let version = try BreakStream(count: 6).version(endingAt: 6, ended: true)
        let results = try BreakEditor.edited([version], at: rule, .advertisement(["3", "3", "6"]))
        #expect(names(results) == [expected])
    }

    @Test func targetDurationAndVersionAreTheLargest() throws {
        let stream = BreakStream(count: 12, [3: "#EXT-X-CUE-OUT:6\n"])
        let versions = try [6, 7, 12].map { try stream.version(endingAt: $0) }
        let header = "#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:7.2\n"
        let results = try BreakEditor.edited(versions, .advertisement(["6"], header: header))
        #expect(results.allSatisfy { $0.targetDuration == MediaTime(seconds: 8) && $0.declaredVersion == 5 })
        let plain = try BreakEditor.edited(versions, .advertisement(["6"], header: "#EXT-X-TARGETDURATION:4\n"))
        #expect(plain.allSatisfy { $0.targetDuration == MediaTime(seconds: 6) && $0.declaredVersion == nil })
    }

    // MARK: Stored timelines

    private static let item = #""id":"a","start":0,"advertisement":0,"discontinuity":1,"hasDiscontinuity":true"#

    /// A break without an end ends after ten thousand segments.
    @Test func numberOfReplacedSegmentsIsLimited() throws {
        let text = "{\(Self.item),\"target\":1000000000,\"replaced\":[],\"elapsed\":0}"
        var item = try JSONDecoder().decode(BreakTimeline.Break.self, from: Data(text.utf8))
        #expect(!item.isOver(before: 2))
        for _ in 0..<9_999 { item.replace(1) }
        #expect(!item.isOver(before: 2) && item.elapsed == 9_999)
        item.replace(1)
        #expect(item.isOver(before: 2) && item.sourceEnd == 10_000)
        let short = text.replacing("1000000000", with: "0")
        #expect(try !JSONDecoder().decode(BreakTimeline.Break.self, from: Data(short.utf8)).isOver(before: 2))
    }

    @Test func timeInABreakIsThatOfItsSegments() throws {
        let text = "{\(Self.item),\"target\":9,\"replaced\":[1,2,4],\"elapsed\":7}"
            .replacing("\"start\":0", with: "\"start\":5")
        let item = try JSONDecoder().decode(BreakTimeline.Break.self, from: Data(text.utf8))
        let sequences: [Int64] = [-1, 0, 5, 6, 7, 8, 9, .max]
        #expect(sequences.map { item.elapsed(at: $0) } == [0, 0, 0, 1, 3, 7, 7, 7])
        #expect(item.sourceEnd == 8 && item.playedTime(replacing: 3) == 3)
    }

    /// Returns a Boolean value that indicates whether a timeline with breaks that have the given fields can be read.
    private func isRead(_ breaks: [String]) -> Bool {
        let items = breaks.map { "{\(Self.item),\"target\":6,\"elapsed\":0,\($0)}" }.joined(separator: ",")
        let text =
            #"{"timelines":{"x":{"shift":0,"discontinuityShift":0,"breaks":[\#(items)],"advertisements":["a"],"#
            + #""handled":[],"targetDuration":6,"version":1}}}"#
        return (try? JSONDecoder().decode(BreakTimelines.self, from: Data(text.utf8))) != nil
    }

    @Test func onlyTheLastBreakIsInProgress() {
        let ended = #""replaced":[6],"end":{"count":0,"discontinuityShift":1}"#
        let open = #""replaced":[0]"#
        #expect(isRead([]) && isRead([open]) && isRead([ended]) && isRead([ended, open]) && isRead([ended, ended]))
        #expect(!isRead([open, ended]) && !isRead([open, open]))
        #expect(!isRead([ended.replacing(":0", with: ":-1")]) && !isRead([#""replaced":[-1]"#]))
        func zeros(_ count: Int) -> String {
            "\"replaced\":[\(Array(repeating: "0", count: count).joined(separator: ","))]"
        }
        #expect(isRead([zeros(10_000)]) && !isRead([zeros(10_001)]))
    }

    /// A stored break plays no more segments than its advertisement has.
    @Test func storedNumberOfSegmentsIsBounded() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:18\n", 7: "#EXT-X-CUE-IN\n"])
        var editor = BreakEditor()
        let result = try editor.edit(stream.version(endingAt: 8), advertisement())
        #expect(result.segmentNames == "2 3 4 |a0 a1 |7")
        let text = String(decoding: try JSONEncoder().encode(editor.timelines), as: UTF8.self)
        let changed = Data(text.replacing("\"count\":2", with: "\"count\":200").utf8)
        var other = BreakEditor(continuing: try JSONDecoder().decode(BreakTimelines.self, from: changed))
        let repeated = try other.edit(stream.version(endingAt: 8), advertisement())
        #expect(repeated.segmentNames == "2 3 4 |a0 a1 |a2 |7")
    }

    /// The size of a timeline counts its texts and the segments of its breaks.
    @Test func sizeCountsWhatIsStored() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:18\n"])
        var editor = BreakEditor()
        #expect(editor.timelines.size == 512)
        _ = try editor.edit(stream.version(endingAt: 5), advertisement())
        let key = try #require(editor.timelines.timelines.keys.first)
        let empty = 1_024 + key.utf8.count
        #expect(editor.timelines.size == empty)
        _ = try editor.edit(stream.version(endingAt: 6), advertisement())
        let text = try #require(editor.timeline.advertisements.first)
        // The identifier of the break is stored with the break and with the cues of the playlist.
        #expect(editor.timelines.size - text.utf8.count == empty + 202)
        _ = try editor.edit(stream.version(endingAt: 8), advertisement())
        #expect(editor.timelines.size - text.utf8.count == empty + 202 + 2 * 8)
    }

    // MARK: Several timelines

    @Test func laterPlaylistHasALaterSegment() throws {
        let stream = BreakStream(count: 8)
        var editor = BreakEditor()
        let empty = editor.timelines
        _ = try editor.edit(stream.version(endingAt: 6), nil)
        let first = editor.timelines
        _ = try editor.edit(stream.version(endingAt: 7), nil)
        let second = editor.timelines
        #expect(second.isLater(than: first) && first.isLater(than: empty))
        #expect(!first.isLater(than: second) && !first.isLater(than: first) && !empty.isLater(than: first))
        #expect(!empty.isLater(than: empty))
    }

    /// Returns the cues and the numbers of a track that follows another one, as text.
    private func followed(
        _ other: BreakTimeline,
        from time: String?,
        _ tags: String = "",
        isLive: Bool = true
    ) throws -> String {
        let date = time.map { "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\($0)Z\n" } ?? ""
        let end = isLive ? "" : "#EXT-X-ENDLIST\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tags)\(date)#EXTINF:6,\nx.ts\n#EXTINF:6,\ny.ts\n\(end)"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        var cues = try BreakCues(.cues, in: playlist)
        var timeline = BreakTimeline()
        timeline.follow(other, in: playlist, &cues)
        let starts = cues.starts.map { start -> String in
            let duration = start.duration.map { "\($0)" } ?? "-"
            let track = start.otherTrack.map { "\($0.discontinuity) \($0.shift.map { "\($0)" } ?? "-")" } ?? "own"
            return "\(start.id)@\(start.position) \(start.elapsed)/\(duration) \(track)"
        }
        return (["\(timeline.discontinuityShift)"] + starts).joined(separator: ", ")
    }

    /// A track that is loaded first in a break of another one plays the rest of the break.
    @Test(arguments: [
        ("29.999999", "0"), ("30", "0"), ("30.000001", "0, 5@0 1/18000000 1 2"), ("42", "0, 5@0 12000000/18000000 1 2"),
        ("47.099999", "0, 5@0 17099999/18000000 1 2"), ("47.1", "2"), ("59", "2"),
    ])
    func trackFollowsTheBreaksOfAnother(time: String, expected: String) throws {
        let stream = BreakStream(count: 20, [5: "#EXT-X-CUE-OUT:18\n"])
        var editor = BreakEditor()
        _ = try editor.edit(stream.version(endingAt: 10), .advertisement(["9", "9"]))
        #expect(try followed(editor.timeline, from: time) == expected)
        // Only live tracks with dates have the numbers of another one.
        #expect(try followed(editor.timeline, from: time, isLive: false) == "0")
        #expect(try followed(editor.timeline, from: nil) == "0")
        #expect(try followed(BreakTimeline(), from: time) == "0")
    }

    /// The end of a break in progress is not known.
    @Test func trackFollowsABreakInProgress() throws {
        let stream = BreakStream(count: 20, [5: "#EXT-X-CUE-OUT:18\n"])
        var editor = BreakEditor()
        _ = try editor.edit(stream.version(endingAt: 7), .advertisement(["9", "9"]))
        #expect(try followed(editor.timeline, from: "36") == "0, 5@0 6000000/18000000 1 -")
        // A break that the track announces itself is its own.
        let own = try followed(editor.timeline, from: "36", "#EXT-X-CUE-OUT-CONT:6/18\n")
        #expect(own == "0, 0@0 6000000/18000000 own")
        var undated = stream
        undated.hasDates = false
        var other = BreakEditor()
        _ = try other.edit(undated.version(endingAt: 7), .advertisement(["9", "9"]))
        #expect(try followed(other.timeline, from: "36") == "0")
    }

    /// Another track is followed if its edit of the same rule is known without doubt.
    @Test func timelineOfATrackIsThatOfTheRule() throws {
        var editor = BreakEditor()
        _ = try editor.edit(BreakStream(count: 8).version(endingAt: 6), nil)
        let timeline = editor.timeline
        func sibling(_ edits: [String]) -> BreakTimeline? {
            var timelines = BreakTimelines()
            for edit in edits { timelines.timelines[edit] = timeline }
            return BreakRecord(BreakTimelines(), sibling: timelines).sibling(of: .cues)
        }
        #expect(sibling(["a@cues"]) == timeline && sibling(["a@cues", "a@class=x"]) == timeline)
        #expect(sibling([]) == nil && sibling(["a@class=x"]) == nil && sibling(["a@cues", "b@cues"]) == nil)
        #expect(sibling(["acues"]) == nil)
    }
}

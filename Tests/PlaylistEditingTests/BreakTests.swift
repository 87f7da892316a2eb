import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import SeededRandomness
import Testing

@testable import PlaylistEditing

/// Replaces breaks of live and complete playlists.
struct BreakTests {
    private typealias Stream = BreakStream

    private static func stream(_ count: Int, _ tags: [Int: String] = [:], seconds: Int64 = 6) -> Stream {
        Stream(segments: (0..<count).map { (MediaTime(seconds: seconds), tags[$0] ?? "") })
    }

    private static let advertisement = """
        #EXTM3U
        #EXT-X-VERSION:4
        #EXT-X-TARGETDURATION:8
        #EXTINF:8,
        a.ts
        #EXTINF:4,
        b.ts
        #EXT-X-DISCONTINUITY
        #EXTINF:6,
        c.ts
        #EXT-X-ENDLIST

        """

    private func advertisement(_ text: String = advertisement) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://ads.example/ad.m3u8"))
        )
    }

    private func names(_ playlist: MediaPlaylist) -> [String] {
        playlist.segments.map { segment in
            let name = String(segment.uri.split(separator: "/").last ?? "")
            return (segment.hasDiscontinuity ? "|" : "") + name.replacingOccurrences(of: ".ts", with: "")
        }
    }

    @Test func nameOfAClassMayContainEqualsSigns() {
        #expect(BreakRule("class=a=b") == .dateRanges(classIdentifier: "a=b"))
    }

    @Test(arguments: ["=cues", "cues=", "class=", "every=", "", "=every=60"])
    func ruleWithoutANameOrValueIsInvalid(rule: String) { #expect(BreakRule(rule) == nil) }

    @Test(arguments: [("every=1", true), ("every=86400", true), ("every=0.5", false), ("every=86401", false)])
    func breaksByTheClockAreASecondToADayApart(rule: String, isValid: Bool) {
        #expect((BreakRule(rule) != nil) == isValid)
    }

    /// Returns the edited versions, with a timeline that is stored as JSON between any two of them.
    private func edited(
        _ versions: [MediaPlaylist],
        _ rule: BreakRule,
        _ advertisement: MediaPlaylist,
        availableFrom first: Int = 0
    ) throws -> [MediaPlaylist] {
        let source = "ad.m3u8"
        let plan = EditPlan([.replaceBreaks(with: source, at: rule)])
        var stored = Data(#"{"timelines":{}}"#.utf8)
        return try versions.enumerated().map { number, version in
            var timelines = try JSONDecoder().decode(BreakTimelines.self, from: stored)
            let edit = PreparedEdit(
                plan: plan,
                input: .media(version, sources: number >= first ? [source: advertisement] : [:]),
                limits: PlaylistLimits(),
                date: nil
            )
            guard case .media(let result) = try edit.apply(continuing: &timelines) else {
                throw CancellationError()
            }
            stored = try JSONEncoder().encode(timelines)
            return result
        }
    }

    /// Checks that no segment ever changes or disappears in the middle, and that numbers never go back (RFC 8216bis §6.2.2).
    private func expectConsistent(_ versions: [MediaPlaylist], _ note: Comment? = nil) {
        var known: [Int64: [String]] = [:]
        var first: Int64 = 0
        var last: Int64 = -1
        for version in versions {
            #expect(version.mediaSequence >= first, note)
            first = version.mediaSequence
            #expect(version.mediaSequence <= last + 1 || last == -1, note)
            #expect(version.targetDuration == versions[0].targetDuration, note)
            for segment in version.segments {
                let value = [
                    segment.address.text, "\(segment.duration)", "\(segment.discontinuitySequence)",
                    segment.programDateTime.map { "\($0)" } ?? "", "\(segment.hasDiscontinuity)",
                ]
                #expect(known[segment.sequence] ?? value == value, note)
                known[segment.sequence] = value
                last = max(last, segment.sequence)
            }
        }
    }

    // MARK: Cues

    @Test func aBreakIsReplacedAsItIsPublished() throws {
        let stream = Self.stream(14, [5: "#EXT-X-CUE-OUT:18\n", 8: "#EXT-X-CUE-IN\n"])
        let versions = try (3...14).map { try stream.version(endingAt: $0) }
        let results = try edited(versions, .cues, try advertisement())
        expectConsistent(results)
        #expect(
            results.map { names($0).joined(separator: " ") } == [
                "0 1 2", "0 1 2 3", "0 1 2 3 4",
                // The first segment of the advertisement is longer than that of the program.
                "0 1 2 3 4", "1 2 3 4 |a b", "2 3 4 |a b |c", "3 4 |a b |c |8", "4 |a b |c |8 9",
                "|a b |c |8 9 10", "|a b |c |8 9 10 11", "|c |8 9 10 11 12", "|8 9 10 11 12 13",
            ]
        )
        #expect(results.allSatisfy { $0.targetDuration == MediaTime(seconds: 8) && $0.version == 4 })
        #expect(results.last?.mediaSequence == 8 && results.last?.discontinuitySequence == 2)
        let resumed = try #require(results[6].segments.last)
        #expect("\(try #require(resumed.programDateTime))" == "2026-01-01T00:00:48.000Z")
        #expect(!results.contains { String(decoding: $0.bytes, as: UTF8.self).contains("CUE") })
    }

    @Test func aShorterAdvertisementIsFollowedByTheProgram() throws {
        let stream = Self.stream(14, [4: "#EXT-X-CUE-OUT:DURATION=30\n", 9: "#EXT-X-CUE-IN\n"])
        let results = try edited([try stream.version(endingAt: 10)], .cues, try advertisement())
        #expect(names(results[0]) == ["|a", "b", "|c", "|7", "8", "9"])
    }

    @Test func anEndBeforeTheAdvertisementIsOverShortensIt() throws {
        let stream = Self.stream(14, [4: "#EXT-X-CUE-OUT\n", 6: "#EXT-X-CUE-IN\n"])
        let results = try edited(try (4...10).map { try stream.version(endingAt: $0) }, .cues, try advertisement())
        expectConsistent(results)
        #expect(names(results[3]) == ["1", "2", "3", "|a", "b", "|6"])
    }

    /// A track that is first loaded when earlier breaks have left the playlist has the discontinuity sequence numbers of the others
    /// (RFC 8216bis §6.2.4).
    @Test(arguments: [(3, ""), (9, ""), (3, "#EXT-X-DISCONTINUITY\n"), (9, "#EXT-X-DISCONTINUITY\n")], 12...34)
    func aTrackThatIsLoadedLaterHasTheNumbersOfTheOthers(item: (length: Int, tag: String), start: Int) throws {
        let length = item.length
        var tags: [Int: String] = [:]
        for number in [5, 15, 25] {
            tags[number] = item.tag + "#EXT-X-CUE-OUT:\(6 * length)\n"
            tags[number + length] = "#EXT-X-CUE-IN\n" + item.tag
        }
        let stream = Self.stream(40, tags)
        // Breaks of 54 s are longer than the window of 36 s, and are in progress when the track is first loaded.
        let parts = (0..<length).map { "#EXTINF:6,\npart-\($0).ts\n" }.joined()
        let advertisement = try advertisement("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(parts)#EXT-X-ENDLIST\n")
        var first = BreakTimelines()
        var second = BreakTimelines()
        for end in 6...40 {
            func edited(_ timelines: inout BreakTimelines, _ source: String) throws -> MediaPlaylist {
                var edit = PreparedEdit(
                    plan: EditPlan([.replaceBreaks(with: source, at: .cues)]),
                    input: .media(try stream.version(endingAt: end), sources: [source: advertisement]),
                    limits: PlaylistLimits(),
                    date: nil
                )
                if source == "audio" { edit.sibling = first }
                guard case .media(let playlist) = try edit.apply(continuing: &timelines) else {
                    throw CancellationError()
                }
                return playlist
            }
            let video = try edited(&first, "video")
            #expect(end < 36 || video.discontinuitySequence > 0)
            guard end >= start else { continue }
            let audio = try edited(&second, "audio")
            let numbers = Dictionary(
                video.segments.map { ($0.programDateTime, $0.discontinuitySequence) },
                uniquingKeysWith: { first, _ in first }
            )
            #expect(audio.segments.contains { numbers[$0.programDateTime] != nil })
            for segment in audio.segments {
                guard let number = numbers[segment.programDateTime] else { continue }
                #expect(segment.discontinuitySequence == number, "\(start) \(end) \(segment.uri)")
            }
        }
    }

    /// A track that joins a break late plays fewer of the discontinuities of the advertisement.
    @Test(arguments: 18...26)
    func aTrackThatJoinsABreakHasTheNumbersAfterIt(start: Int) throws {
        let stream = Self.stream(40, [15: "#EXT-X-CUE-OUT:18\n", 18: "#EXT-X-CUE-IN\n"])
        let advertisement = try advertisement(
            "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:6,\nb.ts\n"
                + "#EXT-X-DISCONTINUITY\n#EXTINF:6,\nc.ts\n#EXT-X-ENDLIST\n"
        )
        var first = BreakTimelines()
        var second = BreakTimelines()
        for end in 6...40 {
            func edited(_ timelines: inout BreakTimelines, _ sibling: BreakTimelines) throws -> MediaPlaylist {
                var edit = PreparedEdit(
                    plan: EditPlan([.replaceBreaks(with: "ad", at: .cues)]),
                    input: .media(try stream.version(endingAt: end), sources: ["ad": advertisement]),
                    limits: PlaylistLimits(),
                    date: nil
                )
                edit.sibling = sibling
                guard case .media(let playlist) = try edit.apply(continuing: &timelines) else {
                    throw CancellationError()
                }
                return playlist
            }
            let video = try edited(&first, BreakTimelines())
            guard end >= start else { continue }
            let audio = try edited(&second, first)
            func programNumbers(_ playlist: MediaPlaylist) -> [String: Int64] {
                let program = playlist.segments.filter {
                    !"abc".contains($0.uri.split(separator: "/").last?.first ?? "x")
                }
                return Dictionary(
                    program.map { ($0.uri, $0.discontinuitySequence) },
                    uniquingKeysWith: { first, _ in first }
                )
            }
            #expect(programNumbers(audio) == programNumbers(video), "\(start) \(end)")
        }
    }

    /// Date ranges that began before the playlist are not announced at its first boundary.
    @Test func earlierDateRangesAreBreaksOfTheirOwn() throws {
        let ranges = """
            #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z",DURATION=6,SCTE35-OUT=0xFC
            #EXT-X-DATERANGE:ID="b",START-DATE="2026-01-01T00:00:42Z",DURATION=30,SCTE35-OUT=0xFC

            """
        let version = try Self.stream(14, [8: ranges]).version(endingAt: 14)
        let results = try edited([version], .cues, try advertisement())
        #expect(names(results[0]) == ["|a", "b", "|10", "11", "12", "13"])
        let written = try EditPlan([.interstitials("https://ads.example/main.m3u8", at: .cues)]).applied(to: version)
        #expect(written.dateRanges.count { $0.interstitial != nil } == 2)
        // Two date ranges of about the same date are one break, also before the playlist.
        let twice = ranges.replacing("00:00:00Z\",DURATION=6", with: "00:00:41Z\",DURATION=8")
        let other = try edited([try Self.stream(14, [8: twice]).version(endingAt: 14)], .cues, try advertisement())
        #expect(names(other[0]).prefix(3) == ["|a", "b", "|10"])
    }

    /// The date range of a break can remain when the tag of the same break has left the playlist.
    @Test func dateRangeOfAReplacedBreakIsNoOtherBreak() throws {
        let range =
            "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:30Z\",PLANNED-DURATION=60,SCTE35-OUT=0xFC\n"
        let stream = Self.stream(30, [5: "#EXT-X-CUE-OUT:60\n", 7: "#EXT-X-CUE-IN\n"])
        let versions = try (6...20).map { end in
            let text = String(decoding: try stream.version(endingAt: end).bytes, as: UTF8.self)
            return try MediaPlaylist(
                parsing: Array(
                    text.replacing("#EXT-X-TARGETDURATION:6\n", with: "#EXT-X-TARGETDURATION:6\n\(range)").utf8
                ),
                context: PlaylistContext(address: ResourceAddress("https://a.example/live.m3u8"))
            )
        }
        let results = try edited(versions, .cues, try advertisement())
        #expect(names(results[14]) == ["14", "15", "16", "17", "18", "19"])
        expectConsistent(results)
    }

    @Test func startPositionMovesWithInsertedBreaks() throws {
        var stream = Self.stream(12)
        stream.hasDates = false
        let text = String(decoding: try stream.version(endingAt: 6, ended: true).bytes, as: UTF8.self)
            .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:TIME-OFFSET=20\n")
        let version = try MediaPlaylist(parsing: Array(text.utf8))
        let results = try edited([version], .every(MediaTime(seconds: 12)), try advertisement())
        #expect(names(results[0]) == ["0", "1", "|a", "b", "|c", "|2", "3", "|a", "b", "|c", "|4", "5"])
        #expect(results[0].start?.offset == MediaTime(seconds: 38))
    }

    @Test func aMissingAdvertisementPreservesTheProgram() throws {
        let stream = Self.stream(12, [4: "#EXT-X-CUE-OUT:18\n", 7: "#EXT-X-CUE-IN\n"])
        let versions = try [5, 6, 8].map { try stream.version(endingAt: $0) }
        let results = try edited(versions, .cues, try advertisement(), availableFrom: 1)
        // The advertisement does not begin in the middle of a break whose program is played.
        #expect(results.map { names($0).last } == ["4", "5", "7"])
    }

    @Test(arguments: [
        "#EXT-OATCLS-SCTE35:/DAlAAAAAAAAAP/wFAUAAAABf+/+ANgNkv4AFJlwAAEBAQAA5xULLA==\n",
        "#EXT-X-CUE-OUT:15\n", "#EXT-X-CUE-OUT:\"15\"\n", "#EXT-X-CUE-OUT:DURATION=15.0\n",
    ])
    func durationsOfCuesAreRead(tag: String) throws {
        let stream = Self.stream(8, [3: tag])
        let cues = try BreakCues(.cues, in: try stream.version(endingAt: 6))
        #expect(cues.starts.map(\.position) == [3] && cues.starts.map(\.duration) == [15_000_000])
    }

    @Test func aPlaylistThatBeginsInABreakHasTheRestOfIt() throws {
        let stream = Self.stream(12, [4: "#EXT-X-CUE-OUT-CONT:6/30\n", 5: "#EXT-X-CUE-OUT-CONT:12/30\n"])
        let results = try edited([try stream.version(endingAt: 10)], .cues, try advertisement())
        // Of the 18 s that the advertisement has, 6 s are over.
        #expect(names(results[0]) == ["|a", "b", "|6", "7", "8", "9"])
    }

    @Test func anAdvertisementThatCannotFollowIsAnErrorBeforeTheFirstBreak() throws {
        let stream = Self.stream(8, [0: "#EXT-X-MAP:URI=\"init.mp4\"\n"])
        let version = try stream.version(endingAt: 4)
        #expect(throws: PlaylistEditError.self) { try edited([version], .cues, try advertisement()) }
        let live = try advertisement(Self.advertisement.replacing("#EXT-X-ENDLIST\n", with: ""))
        #expect(throws: PlaylistEditError.self) {
            try edited([try Self.stream(8).version(endingAt: 4)], .cues, live)
        }
    }

    // MARK: Date ranges

    @Test func dateRangesAreBreaks() throws {
        let out = "0xFC302100000000000000FFF01005000003047FEF7F7E0020D6FA0000000000000000000000"
        let tag =
            "#EXT-X-DATERANGE:ID=\"x\",START-DATE=\"2026-01-01T00:00:25Z\",PLANNED-DURATION=12,SCTE35-OUT=\(out)\n"
        let stream = Self.stream(14, [2: tag])
        let results = try edited(try (3...12).map { try stream.version(endingAt: $0) }, .cues, try advertisement())
        expectConsistent(results)
        #expect(names(results[4]) == ["1", "2", "3", "|a", "b", "|6"])
        #expect(!results.contains { String(decoding: $0.bytes, as: UTF8.self).contains("SCTE35") })
    }

    @Test func aDateRangeThatIsAnnouncedLateReplacesTheRest() throws {
        var stream = Self.stream(14)
        let before = try (3...6).map { try stream.version(endingAt: $0) }
        let tag =
            "#EXT-X-DATERANGE:ID=\"x\",CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:30Z\",DURATION=18\n"
        stream.segments[6].tags = tag
        let after = try (7...11).map { try stream.version(endingAt: $0) }
        let results = try edited(before + after, .dateRanges(classIdentifier: "ad"), try advertisement())
        expectConsistent(results)
        #expect(names(results[6]) == ["3", "4", "5", "|a", "b", "|8"])
    }

    // MARK: Clock

    @Test func breaksByTheClockAreThoseOfTheDates() throws {
        var stream = Self.stream(60)
        stream.hasDates = true
        let results = try edited(
            try (3...60).map { try stream.version(endingAt: $0) },
            .every(MediaTime(seconds: 60)),
            try advertisement()
        )
        expectConsistent(results)
        let advertisements = Set(
            results.flatMap(\.segments).filter { $0.uri.hasSuffix("a.ts") }.map { "\($0.programDateTime!)" }
        )
        #expect(
            advertisements.sorted() == [
                "2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.000Z", "2026-01-01T00:02:00.000Z",
                "2026-01-01T00:03:00.000Z",
                "2026-01-01T00:04:00.000Z", "2026-01-01T00:05:00.000Z",
            ]
        )
    }

    @Test func aCompletePlaylistKeepsItsProgram() throws {
        var stream = Self.stream(12)
        stream.hasDates = false
        stream.type = "EVENT"
        let version = try stream.version(endingAt: 12, ended: true)
        let results = try edited([version], .every(MediaTime(seconds: 30)), try advertisement())
        #expect(
            names(results[0]).joined(separator: " ")
                == "0 1 2 3 4 |a b |c |5 6 7 8 9 |a b |c |10 11"
        )
        #expect(results[0].hasEndMarker && results[0].mediaSequence == 0)
        let replaced = Self.stream(12, [5: "#EXT-X-CUE-OUT:0\n#EXT-X-CUE-IN\n", 8: "#EXT-X-CUE-OUT:18\n"])
        let complete = try edited([try replaced.version(endingAt: 12, ended: true)], .cues, try advertisement())
        #expect(names(complete[0]) == ["6", "7", "|a", "b", "|c", "|11"])
    }

    /// The program of an event goes on after the last break that can be remembered.
    @Test func anEventWithManyBreaksGoesOn() throws {
        var tags: [Int: String] = [:]
        for number in 0..<3_000 where number % 2 == 1 { tags[number] = "#EXT-X-CUE-OUT:6\n" }
        var stream = Self.stream(3_000, tags)
        stream.type = "EVENT"
        let versions = try [1_000, 2_990, 3_000].map { try stream.version(endingAt: $0) }
        let results = try edited(
            versions,
            .cues,
            try advertisement("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n")
        )
        #expect(names(results[2]).count { $0.hasSuffix("a") } == 1_000)
        #expect(names(results[2]).suffix(3) == ["2997", "2998", "2999"])
        expectConsistent(results)
    }

    @Test(arguments: [
        ("10...20,cues", BreakRule.located(at: [range(10, 20)], of: .cues)),
        ("10...10,30...40,every=60", .located(at: [range(10, 10), range(30, 40)], of: .every(MediaTime(seconds: 60)))),
        ("none,class=a,b", .located(at: [], of: .dateRanges(classIdentifier: "a,b"))),
        ("5...,class=1...2,cues", .located(at: [range(5, nil)], of: .dateRanges(classIdentifier: "1...2,cues"))),
    ])
    func knownBreaksAreWrittenBeforeTheirRule(text: String, rule: BreakRule) {
        #expect(BreakRule(text) == rule && rule.description == text)
    }

    @Test(arguments: ["10...20", "10...20,", "10...20,none,cues", "none", "20...10,cues", "none,none,cues", ",cues"])
    func otherKnownBreaksAreInvalid(text: String) { #expect(BreakRule(text) == nil) }

    /// The text of a rule is not read again and again.
    @Test func repeatedPrefixesAreInvalid() {
        for prefix in ["none,", "1...2,none,"] {
            #expect(BreakRule(String(repeating: prefix, count: 100_000) + "cues") == nil)
        }
    }

    @Test func numberOfKnownBreaksIsLimited() {
        let ranges = Array(repeating: "1...2,", count: 256).joined()
        #expect(BreakRule(ranges + "cues") != nil && BreakRule("1...2," + ranges + "cues") == nil)
    }

    private static func range(_ start: Int64, _ end: Int64?) -> MediaTimeRange {
        MediaTimeRange(
            start: MediaTime(seconds: start),
            end: end.map { MediaTime(seconds: $0) } ?? MediaTimeRange.unbounded.end
        )
    }

    @Test func timesOfBreaksAreThoseOfCompletePlaylists() throws {
        let rule = try #require(BreakRule("12...24,cues"))
        let version = try Self.stream(12).version(endingAt: 6, ended: true)
        let results = try edited([version], rule, try advertisement())
        #expect(names(results[0]) == ["0", "1", "|a", "b", "|4", "5"])
        #expect(throws: PlaylistEditError.self) {
            try edited([try Self.stream(12).version(endingAt: 6)], rule, try advertisement())
        }
        // Breaks that are shorter than a segment replace nothing, and several can be at one boundary.
        for (text, expected) in [
            ("13...14,cues", "0 1 2 3 4 5"), ("12...12,13...13,cues", "0 1 |a b |c |a b |c |2 3 4 5"),
        ] {
            let other = try edited([version], try #require(BreakRule(text)), try advertisement())
            #expect(names(other[0]).joined(separator: " ") == expected)
        }
    }

    @Test func aBreakThatIsAnnouncedTwiceIsOne() throws {
        let twice = """
            #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:30.010Z",PLANNED-DURATION=30.03,SCTE35-OUT=0xFC
            #EXT-X-DATERANGE:ID="b",START-DATE="2026-01-01T00:00:29.990Z",PLANNED-DURATION=15,SCTE35-OUT=0xFC
            #EXT-X-CUE-OUT:30

            """
        let stream = Self.stream(14, [5: twice])
        let edit = EditPlan([.interstitials("https://ads.example/main.m3u8", at: .cues)])
        for end in 6...9 {
            let result = try edit.applied(to: try stream.version(endingAt: end))
            let written = result.dateRanges.filter { $0.interstitial != nil }
            #expect(written.map(\.id) == ["break-1767225630000"])
            #expect(written.first?.duration?.description == "30.03")
        }
        // Without the tag, the first date range is that of the break.
        let ranges = Self.stream(14, [5: twice.replacing("#EXT-X-CUE-OUT:30\n", with: "")])
        let result = try edit.applied(to: try ranges.version(endingAt: 8))
        #expect(result.dateRanges.filter { $0.interstitial != nil }.map(\.id) == ["break-1767225630010"])
        // A complete playlist has the other one once.
        let inserted = Self.stream(
            12,
            [5: twice.replacing("30.03", with: "0").replacing("=15", with: "=0").replacing(":30", with: ":0")]
        )
        let complete = try edited([try inserted.version(endingAt: 6, ended: true)], .cues, try advertisement())
        #expect(names(complete[0]).count { $0 == "|a" } == 1)
    }

    @Test func liveBreaksByTheClockRequireDates() throws {
        var stream = Self.stream(12)
        stream.hasDates = false
        let version = try stream.version(endingAt: 8)
        #expect(throws: PlaylistEditError.self) {
            try edited([version], .every(MediaTime(seconds: 60)), try advertisement())
        }
    }

    // MARK: Restarts of the source

    /// Returns a version of a stream whose numbers begin again, with later dates.
    private func restarted(_ version: MediaPlaylist, minutesLater minutes: Int) throws -> MediaPlaylist {
        var text = String(decoding: version.bytes, as: UTF8.self).replacing(".ts", with: "-later.ts")
        for minute in (0...3).reversed() {
            text = text.replacing("T00:0\(minute):", with: "T00:0\(minute + minutes):")
        }
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: version.context.address)
        )
    }

    @Test(arguments: [7, 10, 13])
    func numbersContinueWhenThoseOfTheSourceBeginAgain(end: Int) throws {
        let stream = Self.stream(40, [5: "#EXT-X-CUE-OUT:18\n", 8: "#EXT-X-CUE-IN\n"])
        let before = try (3...end).map { try stream.version(endingAt: $0) }
        let after = try (3...14).map { try restarted(try stream.version(endingAt: $0), minutesLater: 2) }
        let results = try edited(before + after, .cues, try advertisement())
        expectConsistent(results)
        let (last, first) = (results[before.count - 1], results[before.count])
        let end = last.mediaSequence + Int64(last.segments.count)
        #expect(first.mediaSequence == end)
        #expect(first.segments[0].discontinuitySequence > (last.segments.last?.discontinuitySequence ?? 0))
        // The break is replaced again.
        #expect(results.dropFirst(before.count).contains { names($0).contains("|a") })
        for result in results {
            #expect(Playlist.media(result).validated().filter { $0.severity == .error }.map(\.message) == [])
        }
    }

    @Test func lateCopiesFromBeforeARestartAreRefused() throws {
        let stream = Self.stream(40)
        let before = try stream.version(endingAt: 20)
        let after = try restarted(try stream.version(endingAt: 4), minutesLater: 4)
        #expect(throws: PlaylistEditError.self) { try edited([before, after, before], .cues, try advertisement()) }
        // An earlier version has the numbers that it had.
        let earlier = try edited([before, try stream.version(endingAt: 10)], .cues, try advertisement())
        #expect(earlier.map(\.mediaSequence) == [14, 4])
    }

    @Test func aSourceWithoutDatesRestartsFarBehind() throws {
        var stream = Self.stream(1_000)
        stream.hasDates = false
        let versions = try [990, 985, 6, 7, 990].map { try stream.version(endingAt: $0) }
        let results = try edited(versions, .cues, try advertisement())
        #expect(results.map(\.mediaSequence) == [984, 979, 990, 991, 1_974])
    }

    // MARK: Any stream

    @Test(arguments: 0..<60 as Range<UInt64>)
    func numbersNeverChange(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var stream = Stream()
        let rule: BreakRule = [.cues, .every(MediaTime(seconds: 47)), .dateRanges(classIdentifier: "ad")][Int(seed % 3)]
        var isOut = false
        var date = try #require(Stream.start)
        for number in 0..<200 {
            var tags = ""
            if number > 0, Int.random(in: 0..<12, using: &random) == 0 { tags += "#EXT-X-DISCONTINUITY\n" }
            if Int.random(in: 0..<9, using: &random) == 0 {
                switch rule {
                case .cues:
                    tags +=
                        isOut
                        ? "#EXT-X-CUE-IN\n"
                        : ["#EXT-X-CUE-OUT:20\n", "#EXT-X-CUE-OUT\n"].randomElement(using: &random)!
                    isOut.toggle()
                default:
                    let shift = MediaTime(seconds: Int64.random(in: -30...30, using: &random))
                    tags += "#EXT-X-DATERANGE:ID=\"\(number)\",CLASS=\"ad\",START-DATE=\"\(date.advanced(by: shift))\""
                    tags += [",DURATION=15\n", ",PLANNED-DURATION=30\n", "\n"].randomElement(using: &random)!
                }
            }
            let duration = MediaTime(value: Int64.random(in: 2_000...6_400, using: &random), timescale: 1_000)
            stream.segments.append((duration, tags))
            date = date.advanced(by: duration)
        }
        // Sometimes, the playlist is not loaded for a while.
        var ends: [Int] = []
        var end = 4
        while end <= 200 {
            ends.append(end)
            end += [1, 1, 1, 1, 2, 3, 5].randomElement(using: &random)!
        }
        let versions = try ends.map { try stream.version(endingAt: $0) }
        let results = try edited(versions, rule, try advertisement())
        expectConsistent(results, "seed \(seed)")
        #expect(results.contains { names($0).contains { $0.hasSuffix("b") } }, "seed \(seed)")
        for (source, result) in zip(versions, results) {
            let difference = (result.duration - source.duration).seconds
            #expect(abs(difference) < 16, "seed \(seed)")
            let errors = Playlist.media(result).validated().filter { $0.severity == .error }
            #expect(errors.map(\.message) == [], "seed \(seed)")
        }
    }

    @Test func breaksAreLimited() throws {
        var tags: [Int: String] = [:]
        for number in 0..<4_000 { tags[number] = "#EXT-X-CUE-OUT:0\n" }
        var stream = Self.stream(4_000, tags)
        stream.type = "EVENT"
        let version = try stream.version(endingAt: 4_000, ended: true)
        let expected = PlaylistEditError.cannotStitch(reason: "the playlist has more than 1000 breaks")
        #expect(throws: expected) { try edited([version], .cues, try advertisement()) }
    }

    // MARK: Stored timelines

    @Test(arguments: [
        #""advertisement":0"#: #""advertisement":5"#, #""advertisement":-1"#: #""advertisement":-1"#,
        #""start":5"#: #""start":-5"#, #""count":3"#: #""count":-3"#,
        #""replaced":[6000000"#: #""replaced":[-6000000"#,
    ])
    func inconsistentTimelinesAreNotRead(written: String, changed: String) throws {
        var timelines = BreakTimelines()
        let stream = Self.stream(14, [5: "#EXT-X-CUE-OUT:18\n", 8: "#EXT-X-CUE-IN\n"])
        let edit = PreparedEdit(
            plan: EditPlan([.replaceBreaks(with: "ad", at: .cues)]),
            input: .media(try stream.version(endingAt: 10), sources: ["ad": try advertisement()]),
            limits: PlaylistLimits(),
            date: nil
        )
        _ = try edit.apply(continuing: &timelines)
        let text = String(decoding: try JSONEncoder().encode(timelines), as: UTF8.self)
        #expect(try JSONDecoder().decode(BreakTimelines.self, from: Data(text.utf8)) == timelines)
        let other = text.replacing(written.replacing("-1", with: "0"), with: changed)
        #expect(other != text)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(BreakTimelines.self, from: Data(other.utf8)) }
    }

    // MARK: Interstitials

    @Test func interstitialsAreWrittenForBreaks() throws {
        let stream = Self.stream(14, [5: "#EXT-X-CUE-OUT:18\n", 8: "#EXT-X-CUE-IN\n"])
        let edit = EditPlan([.interstitials("https://ads.example/main.m3u8", at: .cues)])
        for end in 6...11 {
            let result = try edit.applied(to: try stream.version(endingAt: end))
            let interstitial = try #require(result.dateRanges.first)
            #expect("\(try #require(interstitial.startDate))" == "2026-01-01T00:00:30.000Z")
            #expect(interstitial.id == "break-1767225630000" && interstitial.duration == MediaTime(seconds: 18))
            let asset = "https://ads.example/main.m3u8?_HLS_interstitial_id=break-1767225630000"
            #expect(interstitial.interstitial?.assetAddress?.text == asset)
        }
        // The start of a break that began before the playlist is known only approximately.
        let continued = Self.stream(14, [1: "#EXT-X-CUE-OUT-CONT:6/30\n", 2: "#EXT-X-CUE-OUT-CONT:12/30\n"])
        for end in 7...8 { #expect(try edit.applied(to: try continued.version(endingAt: end)).dateRanges.isEmpty) }
        var complete = Self.stream(12)
        complete.hasDates = false
        let every = EditPlan([.interstitials("https://ads.example/main.m3u8", at: .every(MediaTime(seconds: 20)))])
        let result = try every.applied(to: try complete.version(endingAt: 6, ended: true))
        #expect(result.dateRanges.map { $0.startDate?.sinceEpoch } == [MediaTime(seconds: 20)])
        #expect(result.dateRanges.first?.interstitial?.resumeOffset == .zero)
    }
}

import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Reads the breaks that playlists announce.
struct BreakCueTests {
    /// A section with the start of a break of 15 seconds.
    private static let start = "/DAlAAAAAAAAAP/wFAUAAAABf+/+ANgNkv4AFJlwAAEBAQAA5xULLA=="
    /// A section with the end of a break.
    private static let end = "0xFC302000000000000000FFF00F05000000017F4FFE00D80D9200010101000000000000"

    private func cues(_ stream: BreakStream, endingAt end: Int = 8, _ rule: BreakRule = .cues) throws -> BreakCues {
        try BreakCues(rule, in: stream.version(endingAt: end))
    }

    private func media(_ text: String) throws -> MediaPlaylist { try MediaPlaylist(parsing: Array(text.utf8)) }

    // MARK: Tags

    @Test(
        arguments: [
            ("6/30", 6_000_000, 30_000_000), ("0/30", 0, 30_000_000), ("6.5/30.25", 6_500_000, 30_250_000),
            ("ElapsedTime=6,Duration=30", 6_000_000, 30_000_000), ("ElapsedTime=0,Duration=30", 0, 30_000_000),
            ("ELAPSEDTIME=0.000001", 1, nil), ("Duration=12,CAID=0x1,ElapsedTime=4", 4_000_000, 12_000_000),
        ] as [(String, Int64, Int64?)]
    )
    func progressOfABreakIsRead(value: String, elapsed: Int64, duration: Int64?) throws {
        let cues = try cues(BreakStream(count: 8, [2: "#EXT-X-CUE-OUT-CONT:\(value)\n"]))
        #expect(cues.starts.map(\.position) == [0] && cues.starts.map(\.id) == ["2"])
        #expect(cues.starts.map(\.elapsed) == [elapsed] && cues.starts.map(\.duration) == [duration])
    }

    @Test(arguments: [
        "-1/30", "-0.000001/30", "6", "6/30/1", "6/x", "x/30", "ElapsedTime=-1,Duration=30", "Duration=30",
        "ElapsedTime=-0.000001", "",
    ])
    func otherProgressIsNoBreak(value: String) throws {
        #expect(try cues(BreakStream(count: 8, [2: "#EXT-X-CUE-OUT-CONT:\(value)\n"])).starts.isEmpty)
    }

    /// Only a playlist that begins in a break has to know its progress.
    @Test func progressAfterTheFirstSegmentIsNoBreak() throws {
        #expect(try cues(BreakStream(count: 8, [3: "#EXT-X-CUE-OUT-CONT:6/30\n"])).starts.isEmpty)
        let both = "#EXT-X-CUE-OUT:20\n#EXT-X-CUE-OUT-CONT:6/30\n"
        let starts = try cues(BreakStream(count: 8, [2: both])).starts
        #expect(starts.map(\.elapsed) == [0] && starts.map(\.duration) == [20_000_000])
    }

    @Test(
        arguments: [
            ("", nil), (":", nil), (":0", 0), (":-1", nil), (":-0.000001", nil), (":0.000001", 1),
            (":DURATION=-5", nil), (":DURATION=0", 0), (": 15 ", 15_000_000), (":ID=7,DURATION=\"12.5\"", 12_500_000),
            (":text", nil),
        ] as [(String, Int64?)]
    )
    func durationOfACueIsOptional(value: String, duration: Int64?) throws {
        let cues = try cues(BreakStream(count: 8, [5: "#EXT-X-CUE-OUT\(value)\n"]))
        #expect(cues.starts.map(\.position) == [3] && cues.starts.map(\.id) == ["5"])
        #expect(cues.starts.map(\.duration) == [duration] && cues.ends.isEmpty)
    }

    /// Several tags before one segment are one break.
    @Test(
        arguments: [
            ("#EXT-X-CUE-OUT\n#EXT-OATCLS-SCTE35:\(start)\n", 15_000_000),
            ("#EXT-OATCLS-SCTE35:\(start)\n#EXT-X-CUE-OUT\n", 15_000_000),
            ("#EXT-X-CUE-OUT:20\n#EXT-OATCLS-SCTE35:\(start)\n", 20_000_000),
            ("#EXT-OATCLS-SCTE35:\(start)\n#EXT-X-CUE-OUT:20\n", 20_000_000),
            ("#EXT-X-SCTE35:ID=1,CUE=\"\(start)\"\n", 15_000_000), ("#EXT-SCTE35:\(start)\n", 15_000_000),
        ] as [(String, Int64)]
    )
    func tagsOfOneSegmentAreOneBreak(tags: String, duration: Int64) throws {
        let cues = try cues(BreakStream(count: 8, [5: tags]))
        #expect(cues.starts.map(\.position) == [3] && cues.starts.map(\.duration) == [duration])
        #expect(cues.starts.map(\.elapsed) == [0] && cues.ends.isEmpty && cues.durations.isEmpty)
    }

    @Test(arguments: ["#EXT-X-CUE-IN\n", "#EXT-X-SCTE35:CUE=\"\(end)\"\n", "#EXT-OATCLS-SCTE35:\(end)\n"])
    func endsOfBreaksAreRead(tag: String) throws {
        let cues = try cues(BreakStream(count: 8, [5: tag]))
        #expect(cues.ends == [3] && cues.starts.isEmpty)
    }

    /// The URI of a segment, other tags and comments announce nothing.
    @Test(arguments: ["#EXT-X-CUE:30\n", "#EXT-X-CUE-OUTER:30\n", "#X-CUE-OUT:30\n", "#EXT-X-SCTE35:CUE=\"x\"\n"])
    func otherTagsAreNoBreaks(tag: String) throws {
        let cues = try cues(BreakStream(count: 8, [5: tag]))
        #expect(cues.starts.isEmpty && cues.ends.isEmpty)
    }

    // MARK: Date ranges

    private static func range(_ attributes: String, _ id: String = "x") -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",\(attributes)\n"
    }

    private static let out =
        "SCTE35-OUT=0xFC302100000000000000FFF01005000003047FEF7F7E0020D6FA0000000000000000000000"

    /// A duration takes precedence over a planned one, and both over that of a command.
    @Test(
        arguments: [
            ("DURATION=6,PLANNED-DURATION=12,", 6_000_000, true),
            ("END-DATE=\"2026-01-01T00:00:33Z\",PLANNED-DURATION=12,", 9_000_000, true),
            ("DURATION=6,END-DATE=\"2026-01-01T00:00:33Z\",", 6_000_000, true),
            ("END-DATE=\"2026-01-01T00:00:20Z\",", 0, true),
            ("PLANNED-DURATION=12,", 12_000_000, false), ("", 23_913_177, false),
        ] as [(String, Int64, Bool)]
    )
    func durationOfADateRangeHasAnOrder(attributes: String, duration: Int64, isAnnounced: Bool) throws {
        let range = Self.range("START-DATE=\"2026-01-01T00:00:24Z\",\(attributes)\(Self.out)")
        let cues = try cues(BreakStream(count: 6, [2: range]), endingAt: 6)
        #expect(cues.starts.map(\.position) == [4] && cues.starts.map(\.duration) == [duration])
        #expect(cues.durations == (isAnnounced ? ["x": duration] : [:]))
    }

    /// The attribute is the signal, whatever its command is.
    @Test(arguments: ["SCTE35-OUT=0xFC", "SCTE35-OUT=\(end)"]) func unreadableCommandsStartABreak(out: String) throws {
        let range = Self.range("START-DATE=\"2026-01-01T00:00:24Z\",\(out)")
        let cues = try cues(BreakStream(count: 6, [2: range]), endingAt: 6)
        #expect(cues.starts.map(\.position) == [4] && cues.starts.map(\.duration) == [nil] && cues.ends.isEmpty)
    }

    @Test func commandsOfDateRangesEndBreaks() throws {
        let range = Self.range("START-DATE=\"2026-01-01T00:00:24Z\",SCTE35-CMD=\(Self.end)")
        let cues = try cues(BreakStream(count: 6, [2: range]), endingAt: 6)
        #expect(cues.ends == [4] && cues.starts.isEmpty)
        let late = Self.range("START-DATE=\"2026-01-01T00:00:33Z\",SCTE35-CMD=\(Self.end)")
        #expect(try self.cues(BreakStream(count: 6, [2: late]), endingAt: 6).ends.isEmpty)
    }

    /// A break begins at the boundary that is nearest to its date.
    @Test(
        arguments: [
            ("00:00:20.999999", 3), ("00:00:21", 4), ("00:00:26.999999", 4), ("00:00:27", 5), ("00:00:32.999999", 5),
            ("00:00:33", nil), ("00:01:00", nil), ("00:00:02.999999", 0), ("00:00:03", 1),
        ] as [(String, Int?)]
    )
    func dateRangesBeginAtTheNearestBoundary(time: String, position: Int?) throws {
        let range = Self.range("CLASS=\"ad\",START-DATE=\"2026-01-01T\(time)Z\"")
        let rule = BreakRule.dateRanges(classIdentifier: "ad")
        let cues = try cues(BreakStream(count: 6, [2: range]), endingAt: 6, rule)
        #expect(cues.starts.map(\.position) == (position.map { [$0] } ?? []))
    }

    @Test func dateRangesOfOtherClassesAreNoBreaks() throws {
        let ranges =
            Self.range("CLASS=\"other\",START-DATE=\"2026-01-01T00:00:12Z\"", "1")
            + Self.range("CLASS=\"ad\"", "2") + Self.range("CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:18Z\"", "3")
            + "#EXT-X-CUE-OUT:6\n"
        let stream = BreakStream(count: 6, [2: ranges])
        let cues = try cues(stream, endingAt: 6, .dateRanges(classIdentifier: "ad"))
        #expect(cues.starts.map(\.id) == ["3"] && cues.starts.map(\.position) == [3])
        var undated = stream
        undated.hasDates = false
        #expect(try self.cues(undated, endingAt: 6, .dateRanges(classIdentifier: "ad")).starts.isEmpty)
    }

    /// Without a date of its first segment, the dates of a playlist are not known.
    @Test func dateRangesRequireTheDateOfTheFirstSegment() throws {
        let range = Self.range("CLASS=\"ad\",START-DATE=\"2026-01-01T00:00:06Z\"")
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:06Z\n"
        for (first, second, count) in [("", date, 0), (date, "", 1), (date, date, 1)] {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(first)\(range)#EXTINF:6,\n0.ts\n\(second)#EXTINF:6,\n1.ts\n"
            let cues = try BreakCues(.dateRanges(classIdentifier: "ad"), in: media(text))
            #expect(cues.starts.count == count)
        }
    }

    /// Date ranges at one boundary announce one break, whose duration is the longest.
    @Test func dateRangesAtOneBoundaryAreOneBreak() throws {
        let ranges =
            Self.range("START-DATE=\"2026-01-01T00:00:21Z\",DURATION=6,SCTE35-OUT=0xFC", "a")
            + Self.range("START-DATE=\"2026-01-01T00:00:26.999999Z\",DURATION=12,SCTE35-OUT=0xFC", "b")
            + Self.range("START-DATE=\"2026-01-01T00:00:24Z\",SCTE35-OUT=0xFC", "c")
            + Self.range("START-DATE=\"2026-01-01T00:00:27Z\",PLANNED-DURATION=9,SCTE35-OUT=0xFC", "d")
        let cues = try cues(BreakStream(count: 6, [2: ranges]), endingAt: 6)
        #expect(cues.starts.map(\.id) == ["a", "d"] && cues.starts.map(\.position) == [4, 5])
        #expect(cues.starts.map(\.aliases) == [["b", "c"], []])
        #expect(cues.starts.map(\.duration) == [12_000_000, 9_000_000] && cues.durations == ["a": 12_000_000])
    }

    @Test func dateRangeOfATagHasItsIdentifier() throws {
        func tags(_ cue: String) -> String {
            cue + Self.range("START-DATE=\"2026-01-01T00:00:24Z\",DURATION=12,SCTE35-OUT=0xFC", "a")
        }
        let open = try cues(BreakStream(count: 6, [4: tags("#EXT-X-CUE-OUT\n")]), endingAt: 6)
        #expect(open.starts.map(\.id) == ["4"] && open.starts.map(\.aliases) == [["a"]])
        #expect(open.starts.map(\.duration) == [12_000_000] && open.durations == ["4": 12_000_000])
        // A tag with a duration says how long the break is to be.
        let known = try cues(BreakStream(count: 6, [4: tags("#EXT-X-CUE-OUT:18\n")]), endingAt: 6)
        #expect(known.starts.map(\.duration) == [18_000_000] && known.durations.isEmpty)
    }

    /// Before the playlist, date ranges that are at most half of a segment apart are one break.
    @Test(arguments: [("44", ["a"]), ("44.000001", ["a", "b"]), ("38", ["a"]), ("37.999999", ["a", "b"])])
    func earlierDateRangesAreComparedByDate(seconds: String, ids: [String]) throws {
        let ranges =
            Self.range("START-DATE=\"2026-01-01T00:00:41Z\",SCTE35-OUT=0xFC", "a")
            + Self.range("START-DATE=\"2026-01-01T00:00:\(seconds)Z\",SCTE35-OUT=0xFC", "b")
        let cues = try cues(BreakStream(count: 14, [8: ranges]), endingAt: 14)
        #expect(cues.starts.map(\.id) == ids && cues.starts.allSatisfy { $0.position == 0 })
    }

    /// The dates within half of a segment around the first boundary are those of a break at it.
    @Test func breakAtTheFirstBoundaryIsNoEarlierBreak() throws {
        let ranges =
            Self.range("START-DATE=\"2026-01-01T00:00:44.999999Z\",SCTE35-OUT=0xFC", "b")
            + Self.range("START-DATE=\"2026-01-01T00:00:45Z\",SCTE35-OUT=0xFC", "a")
        let cues = try cues(BreakStream(count: 14, [8: ranges]), endingAt: 14)
        // Breaks at one position are in the order of their identifiers.
        #expect(cues.starts.map(\.id) == ["a", "b"] && cues.starts.map(\.position) == [0, 0])
    }

    // MARK: Clock

    /// Each time of the clock is at the nearest boundary, and only there.
    @Test(arguments: 0..<20) func breaksByTheClockAreAtTheNearestBoundary(offset: Int) throws {
        let base = try #require(BreakStream.start)
        let date = base.advanced(by: MediaTime(seconds: Int64(offset)))
        let segments = (0..<12).map { "#EXTINF:6,\n\($0).ts\n" }.joined()
        let playlist = try media("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PROGRAM-DATE-TIME:\(date)\n\(segments)")
        let cues = try BreakCues(.every(MediaTime(seconds: 20)), in: playlist)
        // The first boundary is nearest to the dates from half of a segment before it.
        let times = stride(from: 0, to: 120, by: 20).filter { (0..<72).contains($0 - offset + 3) }
        let positions = times.map { ($0 - offset + 3) / 6 }
        let seconds = base.sinceEpoch.value
        let dates: [Int64?] = times.map { (seconds + Int64($0)) * 1_000_000 }
        #expect(cues.starts.map(\.position) == positions)
        #expect(cues.starts.map(\.date) == dates)
        #expect(Set(cues.starts.map(\.id)).count == times.count && cues.starts.allSatisfy { $0.duration == nil })
    }

    /// A boundary has one break, also if the interval is shorter than a segment.
    @Test(
        arguments: [
            (0, [2, 8, 14]), (-5, [2, 8, 14]), (1, [2, 8, 14]), (2, [2, 8, 14]), (3, [0, 6, 12]), (6, [0, 6, 12]),
        ] as [(Int64, [Int64])]
    )
    func boundaryHasOneBreakByTheClock(interval: Int64, times: [Int64]) throws {
        let base = try #require(BreakStream.start).sinceEpoch.value
        let cues = try cues(BreakStream(count: 3), endingAt: 3, .every(MediaTime(seconds: interval)))
        #expect(cues.starts.map(\.position) == [0, 1, 2])
        let dates: [Int64?] = times.map { (base + $0) * 1_000_000 }
        #expect(cues.starts.map(\.date) == dates)
    }

    /// The time zero of a complete playlist without dates is no break.
    @Test(arguments: [(1, [0, 1, 2]), (6, [1, 2]), (12, [2]), (18, [])] as [(Int64, [Int])])
    func timesOfACompletePlaylistBeginWithIt(interval: Int64, positions: [Int]) throws {
        var stream = BreakStream(count: 3)
        stream.hasDates = false
        let playlist = try stream.version(endingAt: 3, ended: true)
        let cues = try BreakCues(.every(MediaTime(seconds: interval)), in: playlist)
        #expect(cues.starts.map(\.position) == positions)
    }

    // MARK: Known times

    @Test(
        arguments: [
            ("12...24", "2 12 12"), ("13...24", "2 12 11"), ("15...24", "2 12 9"), ("15.000001...24", "3 6 8.999999"),
            ("12...", "2 24 -"), ("12...12", "2 0 -"), ("36...36", "5 0 -"), ("33...33", "5 0 -"),
            ("33.000001...33.000001", "5 0 -"), ("13...14", ""), ("34...40", ""), ("30...40", "5 6 10"),
            ("0...36", "0 36 36"),
        ]
    )
    func knownTimesAreBoundaries(text: String, expected: String) throws {
        let rule = try #require(BreakRule("\(text),cues"))
        let cues = try BreakCues(rule, in: BreakStream(count: 6).version(endingAt: 6, ended: true))
        let starts = cues.starts.map { start in
            let duration = start.duration.map { MediaTime(value: $0, timescale: 1_000_000).description } ?? "-"
            let played = start.played.map { MediaTime(value: $0, timescale: 1_000_000).description } ?? "-"
            return "\(start.position) \(duration) \(played)"
        }
        #expect(starts.joined() == expected)
    }

    /// Breaks at one position have the order of their ranges, also if there are more than a hundred.
    @Test func knownTimesAtOnePositionHaveAnOrder() throws {
        let range = MediaTimeRange(start: MediaTime(seconds: 12), end: MediaTime(seconds: 12))
        let rule = BreakRule.located(at: Array(repeating: range, count: 102), of: .cues)
        let cues = try BreakCues(rule, in: BreakStream(count: 6).version(endingAt: 6, ended: true))
        #expect(cues.starts.map(\.id).sorted() == cues.starts.map(\.id) && cues.starts.count == 102)
        #expect(cues.starts[9].id == "at-009" && cues.starts[10].id == "at-010" && cues.starts[101].id == "at-101")
        let empty = try BreakCues(rule, in: media("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n"))
        #expect(empty.starts.isEmpty)
    }

    // MARK: Tags that are removed

    private static let tags = [
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3", "#EXT-X-PART-INF:PART-TARGET=1",
        "#EXT-X-CUE-OUT:30", "#EXT-X-CUE-OUT-CONT:6/30", "#EXT-X-CUE-IN", "#EXT-X-CUE:DURATION=\"30\"",
        "#EXT-OATCLS-SCTE35:/DA=", "#EXT-X-SCTE35:CUE=\"/DA=\"", "#EXT-SCTE35:/DA=", "#EXT-X-ASSET:CAID=0x1",
        "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-OUT=0xFC",
        "#EXT-X-DATERANGE:ID=\"2\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-IN=0xFC",
        "#EXT-X-DATERANGE:ID=\"3\",START-DATE=\"2026-01-01T00:00:00Z\",SCTE35-CMD=0xFC",
        "#EXT-X-DATERANGE:ID=\"4\",START-DATE=\"2026-01-01T00:00:00Z\",CLASS=\"ad\"",
        "#EXT-X-DATERANGE:CLASS=\"ad2\",ID=\"5\",START-DATE=\"2026-01-01T00:00:00Z\"",
        "#EXT-X-PART:DURATION=1,URI=\"p.ts\"", "#EXTINF:6,", "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"q.ts\"",
        "#EXT-X-RENDITION-REPORT:URI=\"r.m3u8\"",
    ]

    /// The tags of a rule have no meaning once its breaks are replaced, those of low latency never have one.
    @Test(
        arguments: [
            ("cues", [9, 13, 14, 16]), ("class=ad", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16]),
            ("class=ad2", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16]),
            ("every=60", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16]), ("12...24,cues", [9, 13, 14, 16]),
            ("none,class=ad", [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16]),
        ]
    )
    func tagsOfTheRuleAreRemoved(text: String, remaining: [Int]) throws {
        let rule = try #require(BreakRule(text))
        func playlist(_ tags: [String]) throws -> MediaPlaylist {
            var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:6"]
            for tag in tags { lines += tag == "#EXTINF:6," ? [tag, "0.ts"] : [tag] }
            return try media(lines.joined(separator: "\n") + "\n")
        }
        let result = try playlist(Self.tags).withoutBreakTags(rule, edit: "edit", limits: PlaylistLimits())
        #expect(try result.editedText == playlist(remaining.map { Self.tags[$0] }).editedText)
    }

    // MARK: Rules

    @Test func nameOfAClassIsLimited() {
        let name = String(repeating: "é", count: 127)
        #expect(BreakRule("class=\(name)x") == .dateRanges(classIdentifier: name + "x"))
        #expect(BreakRule("class=\(name)xy") == nil)
    }
}

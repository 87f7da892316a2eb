import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Computes which segments a simulated channel has at each time.
struct ChannelScheduleTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private static func media(
        _ durations: [String],
        _ tags: [Int: String] = [:],
        header: String = "#EXT-X-TARGETDURATION:4\n"
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n\(header)"
        for (number, duration) in durations.enumerated() {
            text += "\(tags[number] ?? "")#EXTINF:\(duration),\n\(number).ts\n"
        }
        return try MediaPlaylist(parsing: Array((text + "#EXT-X-ENDLIST\n").utf8))
    }

    private static func time(_ seconds: String) throws -> MediaTime { try #require(MediaTime(decimal: seconds)) }

    private func schedule(
        _ playlist: MediaPlaylist,
        repeats: Bool = true,
        window: Int64 = 30,
        periods: [String]? = nil
    ) throws -> ChannelSchedule {
        var channel = SimulatedChannel(repeats: repeats, start: Self.start, window: MediaTime(seconds: window))
        channel.periods = try periods.map { try $0.map { try Self.time($0) } }
        return try ChannelSchedule(playlist, channel)
    }

    /// Returns the numbers of the segments at a time, followed by a period if the channel has ended.
    private func published(_ schedule: ChannelSchedule, at seconds: String, limit: Int = 1_000) throws -> String {
        try schedule.published(at: Self.time(seconds), limit).map { "\($0.range)\($0.isEnded ? "." : "")" } ?? "none"
    }

    // MARK: Published segments

    @Test(arguments: [
        ("-1", "none"), ("0", "none"), ("3.999", "none"), ("4", "0..<1"), ("8", "0..<2"), ("9.999", "0..<2"),
        ("10", "0..<3"), ("13.999", "0..<3"), ("14", "0..<4"), ("33.999", "0..<9"), ("34", "1..<10"),
        ("37.999", "1..<10"), ("38", "2..<11"), ("40", "3..<12"), ("1000000004", "299999992..<300000001"),
    ])
    func segmentsOfTheWindowArePublished(seconds: String, expected: String) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"]))
        #expect(try published(schedule, at: seconds) == expected)
    }

    /// A window has at least four of the longest segments, so that the playlist has three target durations.
    @Test(arguments: [("16", "0..<4"), ("19.999", "0..<5"), ("20", "1..<6"), ("24", "2..<7")])
    func windowHasSeveralSegments(seconds: String, expected: String) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"]), window: 1)
        #expect(try published(schedule, at: seconds) == expected)
        #expect(try published(self.schedule(Self.media(["4", "4", "2"]), window: 17), at: "20") == "0..<6")
    }

    @Test func numberOfSegmentsIsLimited() throws {
        let schedule = try schedule(Self.media(["4", "4", "2"]))
        #expect(try published(schedule, at: "34", limit: 3) == "7..<10")
        #expect(try published(schedule, at: "34", limit: 9) == "1..<10")
        #expect(try published(schedule, at: "34", limit: 8) == "2..<10")
    }

    /// The window of a channel that has ended remains.
    @Test(arguments: [
        ("77.999", "11..<19"), ("78", "12..<19"), ("80", "12..<20."), ("80.001", "12..<20."), ("1000000", "12..<20."),
        ("3", "none"),
    ])
    func endedChannelRemains(seconds: String, expected: String) throws {
        let schedule = try schedule(Self.media(Array(repeating: "4", count: 20)), repeats: false)
        #expect(try published(schedule, at: seconds) == expected)
    }

    /// A track that is shorter than the video has its last segment until the next one is finished.
    @Test func playlistIsNeverEmpty() throws {
        let schedule = try schedule(Self.media(["4", "4"]), periods: ["1000"])
        #expect(try published(schedule, at: "8") == "0..<2" && published(schedule, at: "33.999") == "0..<2")
        #expect(try published(schedule, at: "34") == "1..<2" && published(schedule, at: "500") == "1..<2")
        #expect(try published(schedule, at: "1004") == "2..<3")
    }

    // MARK: Segments

    @Test func segmentsHaveTheTimesOfTheirCycle() throws {
        let schedule = try schedule(Self.media(["4", "4", "2"]))
        #expect(schedule.cycle == MediaTime(seconds: 10))
        let segments = [Int64(0), 1, 2, 3, 7].map { number -> String in
            let segment = schedule.segment(number)
            return "\(segment.position) \(segment.start) \(segment.publication)"
        }
        #expect(segments == ["0 0 4", "1 4 8", "2 8 10", "0 10 14", "1 24 28"])
        #expect(schedule.hasSegment(1_000_000))
    }

    @Test func channelThatDoesNotRepeatHasItsSegments() throws {
        let schedule = try schedule(Self.media(["4", "4", "2"]), repeats: false)
        #expect(schedule.hasSegment(2) && !schedule.hasSegment(3))
    }

    /// The last segment before the end of the video is published with it; later ones are left out.
    @Test(
        arguments: [
            ("12", 12, 3), ("9", 9, 3), ("8.001", 8.001, 3), ("8", 8, 2), ("13", 12, 3),
        ] as [(String, Double, Int64)]
    )
    func longerTrackLosesItsEnd(period: String, publication: Double, count: Int64) throws {
        let schedule = try schedule(Self.media(["4", "4", "4"]), repeats: false, periods: [period])
        #expect(schedule.hasSegment(count - 1) && !schedule.hasSegment(count))
        #expect(schedule.segment(count - 1).publication.seconds == publication)
    }

    /// A period has a segment, also if it is too short for the precision of times.
    @Test func periodHasASegment() throws {
        let playlist = try Self.media(["4", "4"], [1: "#EXT-X-DISCONTINUITY\n"])
        let schedule = try schedule(playlist, repeats: false, periods: ["100000.5", "0.000000000000000001"])
        #expect(schedule.hasSegment(1) && schedule.segment(1).position == 1)
    }

    /// A period of another track begins with that of the video.
    @Test func periodsBeginWithThoseOfTheVideo() throws {
        let playlist = try Self.media(["4", "4", "3", "3"], [2: "#EXT-X-DISCONTINUITY\n"])
        let schedule = try schedule(playlist, periods: ["10", "5"])
        let segments = (Int64(0)..<5).map { number -> String in
            let segment = schedule.segment(number)
            return "\(segment.position) \(segment.start) \(segment.publication)"
        }
        #expect(segments == ["0 0 4", "1 4 8", "2 10 13", "3 13 15", "0 15 19"])
    }

    // MARK: Discontinuities

    /// The number is that before the tag of the first segment.
    @Test func discontinuitiesAreCounted() throws {
        let schedule = try schedule(Self.media(["4", "4", "2"], [1: "#EXT-X-DISCONTINUITY\n"]))
        let numbers = (Int64(0)..<9).map { schedule.discontinuitySequence(at: $0) }
        #expect(numbers == [0, 0, 1, 1, 2, 3, 3, 4, 5])
        let single = try self.schedule(Self.media(["4", "4", "2"]))
        #expect((Int64(0)..<7).map { single.discontinuitySequence(at: $0) } == [0, 0, 0, 0, 1, 1, 1])
    }

    /// Runs begin where periods begin, with a date each.
    @Test(
        arguments: [
            (0, 7, "0..<1@0 1..<3@4| 0..<1@10| 1..<3@14| 0..<1@20|"), (1, 3, "1..<3@4|"), (2, 4, "2..<3@8 0..<1@10|"),
            (2, 5, "2..<3@8 0..<1@10| 1..<2@14|"), (3, 4, "0..<1@10|"), (5, 6, "2..<3@18"),
        ] as [(Int64, Int64, String)]
    )
    func runsOfSegmentsArePeriods(first: Int64, end: Int64, expected: String) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"], [1: "#EXT-X-DISCONTINUITY\n"]))
        let runs = try schedule.runs(of: first..<end).map { run -> String in
            let date = try #require(run.date).sinceEpoch - Self.start.sinceEpoch
            return "\(run.positions)@\(date)" + (run.beginsWithDiscontinuity == true ? "|" : "")
        }
        #expect(runs.joined(separator: " ") == expected)
    }

    @Test(arguments: [
        ("10", "3", 3), ("9", "3", 3), ("8.999", "3", 2), ("0", "3", 0), ("1", "0.3", 3), ("0.9", "0.3", 3),
    ])
    func quotientIsRoundedDown(time: String, divisor: String, quotient: Int) throws {
        #expect(try Self.time(time).quotient(dividingBy: Self.time(divisor)) == Int64(quotient))
    }

    // MARK: Presentations that are no channel

    /// A cycle has at most 366 days.
    @Test(arguments: [("31622400", nil), ("31622400.001", "31622400.001")] as [(String, String?)])
    func cycleHasAtMostAYear(duration: String, refused: String?) throws {
        guard let refused else {
            #expect(try schedule(Self.media([duration])).cycle == MediaTime(seconds: 31_622_400))
            #expect(try schedule(Self.media(["4"]), periods: [duration]).cycle == MediaTime(seconds: 31_622_400))
            return
        }
        let reason = "a channel cannot be simulated from a presentation of \(refused) s"
        #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) { try schedule(Self.media([duration])) }
        #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
            try schedule(Self.media(["4"]), repeats: false, periods: [duration])
        }
    }

    @Test func numberOfPeriodsIsThatOfTheVideo() throws {
        let two = try Self.media(["4", "4"], [1: "#EXT-X-DISCONTINUITY\n"])
        for (periods, count) in [(["8"], 1), (["4", "4", "4"], 3)] {
            let reason = "the track has 2 periods between discontinuities, and the video has \(count)"
            #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
                try schedule(two, periods: periods)
            }
        }
        let reason = "a channel has at most 200 periods between discontinuities, none of them without a duration"
        for periods in [["0", "4"], ["4", "0"]] {
            #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) { try schedule(two, periods: periods) }
        }
    }

    // MARK: Sizes

    /// The entries and bytes that are certainly written are those of the playlist, apart from its header.
    @Test(
        arguments: [
            ([:], 0, 3, 4), ([:], 0, 6, 9), ([:], 1, 4, 5), ([:], 3, 6, 5), ([:], 2, 3, 1), ([:], 3, 4, 3),
            ([0: "#EXT-X-MAP:URI=\"i\"\n"], 0, 3, 5), ([0: "#EXT-X-MAP:URI=\"i\"\n"], 1, 3, 2),
            ([0: "#EXT-X-MAP:URI=\"i\"\n", 1: "#EXT-X-DISCONTINUITY\n"], 0, 3, 8),
            ([0: "#EXT-X-MAP:URI=\"i\"\n", 1: "#EXT-X-DISCONTINUITY\n"], 1, 3, 5),
            ([1: "#EXT-X-DISCONTINUITY\n"], 0, 3, 6), ([1: "#EXT-X-DISCONTINUITY\n"], 3, 9, 14),
            ([0: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n", 1: "#EXT-X-DISCONTINUITY\n"], 0, 3, 8),
        ] as [([Int: String], Int64, Int64, Int)]
    )
    func numberOfEntriesIsVerified(tags: [Int: String], first: Int64, end: Int64, count: Int) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"], tags))
        let numbers = first..<end
        try schedule.verifySize(of: numbers, limits: PlaylistLimits(entryCount: count))
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(count - 1))) {
            try schedule.verifySize(of: numbers, limits: PlaylistLimits(entryCount: count - 1))
        }
    }

    @Test(
        arguments: [
            ([:], 0, 3, 48), ([:], 0, 7, 112), ([:], 4, 5, 16), ([1: "#EXT-X-CUE-OUT:4\n"], 1, 2, 16),
            ([1: "#EXT-X-GAP\n#EXT-X-CUE-OUT:4\n"], 1, 2, 33),
            ([0: "#EXT-X-MAP:URI=\"i\"\n"], 0, 3, 67), ([0: "#EXT-X-MAP:URI=\"i\"\n"], 1, 3, 32),
            ([0: "#EXT-X-MAP:URI=\"i\"\n", 1: "#EXT-X-DISCONTINUITY\n"], 0, 3, 86),
        ] as [([Int: String], Int64, Int64, Int)]
    )
    func numberOfBytesIsVerified(tags: [Int: String], first: Int64, end: Int64, count: Int) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"], tags))
        let numbers = first..<end
        try schedule.verifySize(of: numbers, limits: PlaylistLimits(byteCount: count))
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(count - 1))) {
            try schedule.verifySize(of: numbers, limits: PlaylistLimits(byteCount: count - 1))
        }
    }

    // MARK: Channels

    @Test func windowAndPartsOfAChannelAreBounded() throws {
        func channel(_ window: String, _ part: String? = nil) throws -> SimulatedChannel {
            SimulatedChannel(window: try Self.time(window), partTarget: try part.map { try Self.time($0) })
        }
        let windows = try ["0", "0.999", "1", "1.5", "86400", "86400.001"].map { try channel($0).window.description }
        #expect(windows == ["1", "1", "1", "1.5", "86400", "86400"])
        let parts = try ["0", "0.099", "0.1", "0.101", "10", "10.001"]
            .map { try channel("60", $0).partTarget?.description ?? "none" }
        #expect(parts == ["0.1", "0.1", "0.1", "0.101", "10", "10"])
        #expect(try channel("60").partTarget == nil)
    }

    /// A channel starts in the years 1970 to 2999.
    @Test(arguments: [
        ("1970-01-01T00:00:00.000Z", true), ("1969-12-31T23:59:59.999Z", false), ("2999-12-31T23:59:59.999Z", true),
        ("3000-01-01T00:00:00.000Z", false), ("2999-12-31T23:00:00.000-01:00", false),
        ("2999-12-31T22:59:59.999-01:00", true), ("1970-01-01T00:59:59.999+01:00", false),
    ])
    func startIsAPlausibleDate(date: String, isValid: Bool) {
        #expect(SimulatedChannel("loop,start=\(date)")?.description == (isValid ? "loop,start=\(date)" : nil))
    }

    @Test(arguments: [
        ("loop,window=1", true), ("loop,window=0.999", false), ("loop,window=86400", true),
        ("loop,window=86400.001", false), ("loop,part=0.1", true), ("loop,part=0.099", false), ("loop,part=10", true),
        ("loop,part=10.001", false), ("loop,target=1", true), ("loop,target=86400", true), ("loop,target=0", false),
        ("loop,target=86401", false), ("loop,periods=0.001", true), ("loop,periods=0", false),
        ("loop,periods=-1", false), ("loop,periods=1,periods=1", false), ("loop,target=1,target=1", false),
        ("loop,part=1,part=1", false), ("loop,start=2026-01-01T00:00:00Z,start=2026-01-01T00:00:00Z", false),
        ("loop,window=5=5", false), ("loop,,window=5", false), (",window=5", false),
    ])
    func textOfAChannelIsBounded(text: String, isValid: Bool) { #expect((SimulatedChannel(text) != nil) == isValid) }

    @Test func lengthOfTheTextIsBounded() {
        func periods(_ count: Int) -> String { Array(repeating: "1", count: count).joined(separator: "+") }
        #expect(SimulatedChannel("loop,periods=\(periods(200))") != nil)
        #expect(SimulatedChannel("loop,periods=\(periods(201))") == nil)
        func window(_ count: Int) -> String { "loop,window=1." + String(repeating: "0", count: count - 14) }
        #expect(SimulatedChannel(window(8_192))?.window == MediaTime(seconds: 1))
        #expect(SimulatedChannel(window(8_193)) == nil)
    }
}

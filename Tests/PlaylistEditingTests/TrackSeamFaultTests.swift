import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests the text forms of seams, and the seams that a removal leaves.
@Suite struct TrackSeamFaultTests {
    /// Returns a playlist of segments of one second, with a discontinuity before some of them.
    private static func media(
        _ count: Int,
        discontinuities: Set<Int> = [],
        header: String = "",
        isLive: Bool = false
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(header)"
        for number in 0..<count {
            text += "\(discontinuities.contains(number) ? "#EXT-X-DISCONTINUITY\n" : "")#EXTINF:1,\n\(number)\n"
        }
        return try MediaPlaylist(parsing: Array((text + (isLive ? "" : "#EXT-X-ENDLIST\n")).utf8))
    }

    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    private static func range(from start: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTimeRange.unbounded.end)
    }

    // MARK: Texts

    @Test(arguments: ["10/0/0", "10/0/1", "10/5/5", "0/0/0", "2.5/3/9"])
    func timeOfASeamHasOneForm(text: String) throws {
        let seam = try #require(TrackSeam(timeText: text[...]))
        #expect(seam.timeText == text && seam.range.start == seam.range.end)
    }

    @Test(arguments: [
        "", "10", "10/0", "10/0/1/2", "10//1", "10/0/", "x/0/0", "10/1/0", "10/-1/0", "10/-1/-1", "10/a/1",
        "10/0/9223372036854775808",
    ])
    func otherTextIsNoSeam(text: String) {
        #expect(TrackSeam(timeText: text[...]) == nil)
        #expect(TrackSeam(rangeText: text.replacing("10", with: "10...20")[...]) == nil)
    }

    @Test(arguments: ["10...20/0/1", "10.../0/0", "0...2.5/7/7"])
    func rangeOfASeamHasOneForm(text: String) throws {
        #expect(try #require(TrackSeam(rangeText: text[...])).rangeText == text)
        #expect(TrackSeam(timeText: text[...]) == nil)
    }

    /// As many seams are read as ranges, with or without the rule for breaks.
    @Test func numberOfSeamsIsLimited() {
        func text(_ count: Int) -> String {
            "seams=" + (0..<count).map { "\($0 * 2)...\($0 * 2 + 1)/0/0" }.joined(separator: ",")
        }
        #expect(SegmentRule(text(256)) != nil && SegmentRule(text(256) + ",cues") != nil)
        #expect(SegmentRule(text(257)) == nil && SegmentRule(text(257) + ",cues") == nil)
    }

    @Test func seamsAreTimesOfSegments() throws {
        let rule = try #require(SegmentRule("seams=1...2/0/0,4...6/0/0,cues"))
        #expect(rule.locations == [Self.range(1, 2), Self.range(4, 6)])
        let positions = try rule.positions(in: Self.media(8))
        #expect(positions == [1..<2, 4..<6])
    }

    // MARK: Seams of a removal

    /// At the start and at the end, both numbers are those of the segment that remains.
    @Test(
        arguments: [
            (0..<1, "0...1/6/6"), (1..<2, "1...2/5/6"), (1..<3, "1...3/5/6"), (2..<3, "2...3/6/6"),
            (2..<4, "2.../6/6"), (0..<4, "0.../5/5"), (0..<2, "0...2/6/6"),
        ]
    )
    func seamHasTheNumbersOfBothSides(positions: Range<Int>, expected: String) throws {
        let playlist = try Self.media(4, discontinuities: [1], header: "#EXT-X-DISCONTINUITY-SEQUENCE:5\n")
        #expect(playlist.seam(removing: positions).rangeText == expected)
    }

    @Test(arguments: [(0, "0/5/5"), (1, "1/5/6"), (2, "2/6/6"), (4, "4/6/6")])
    func seamOfAnInsertionIsEmpty(position: Int, expected: String) throws {
        let playlist = try Self.media(4, discontinuities: [1], header: "#EXT-X-DISCONTINUITY-SEQUENCE:5\n")
        #expect(playlist.seam(removing: position..<position).timeText == expected)
    }

    @Test func insertionAfterAnEventIsRefused() throws {
        let event = try Self.media(4, header: "#EXT-X-PLAYLIST-TYPE:EVENT\n", isLive: true)
        let seam = try #require(TrackSeam(timeText: "5/0/0"))
        #expect {
            try event.inserting(Self.media(1), at: seam, limits: PlaylistLimits())
        } throws: {
            ($0 as? PlaylistEditError)?.code == .timeOutside
        }
        let complete = try Self.media(4)
        let inserted = try complete.inserting(Self.media(1), at: seam, limits: PlaylistLimits())
        #expect(inserted.segments.map(\.uri) == ["0", "1", "2", "3", "0"])
    }

    @Test func cutWithoutSeamsChangesNothing() throws {
        let playlist = try Self.media(4)
        let same = try playlist.cut(at: [], edit: "e", limits: PlaylistLimits())
        #expect(same.bytes == playlist.bytes)
        let all = TrackSeam(Self.range(from: 0), before: 0, after: 0)
        #expect(throws: PlaylistEditError.nothingLeft(filter: "e", available: ["4 segments"])) {
            try playlist.cut(at: [all], edit: "e", limits: PlaylistLimits())
        }
    }

    // MARK: Edits at a seam

    /// Returns the discontinuity sequence number of a playlist, and the numbers and the URIs of its segments.
    private func spelled(_ playlist: MediaPlaylist) -> String {
        let segments = playlist.segments.map { "\($0.discontinuitySequence):\($0.uri)" }
        return (["\(playlist.discontinuitySequence)"] + segments).joined(separator: " ")
    }

    /// Returns an advertisement of one segment.
    private func advertisement() throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nad\n#EXT-X-ENDLIST\n".utf8))
    }

    /// The track has discontinuities at 2 s and 4 s; those of the reference track can be at slightly other times.
    @Test(
        arguments: [
            ("2/0/1", "0 0:0 0:1 1:ad 2:2 2:3 3:4 3:5"), ("2/0/0", "0 0:0 0:1 1:ad 3:2 3:3 4:4 4:5"),
            ("3/0/0", "0 0:0 0:1 1:ad 3:2 3:3 4:4 4:5"), ("2/1/1", "0 0:0 0:1 2:ad 3:2 3:3 4:4 4:5"),
            ("1/1/1", "0 0:0 0:1 2:ad 3:2 3:3 4:4 4:5"), ("3/1/1", "0 0:0 0:1 1:2 2:ad 3:3 4:4 4:5"),
            ("3/0/2", "0 0:0 0:1 1:2 1:3 2:ad 3:4 3:5"), ("0.2/0/0", "0 1:ad 2:0 2:1 3:2 3:3 4:4 4:5"),
            ("0/0/0", "0 0:ad 1:0 1:1 2:2 2:3 3:4 3:5"), ("5.6/2/2", "0 0:0 0:1 1:2 1:3 2:4 2:5 3:ad"),
            ("9/2/2", "0 0:0 0:1 1:2 1:3 2:4 2:5 3:ad"),
            // The track does not have the numbers of the reference track.
            ("3/1/5", "0 0:0 0:1 1:2 2:ad 3:3 4:4 4:5"), ("1/3/3", "0 0:0 1:ad 2:1 3:2 3:3 4:4 4:5"),
            ("9/3/3", "0 0:0 0:1 1:2 1:3 2:4 2:5 3:ad"),
        ]
    )
    func insertedPlaylistHasTheNumbersOfTheReference(seam: String, expected: String) throws {
        let playlist = try Self.media(6, discontinuities: [2, 4])
        let place = try #require(TrackSeam(timeText: seam[...]))
        let edited = try playlist.inserting(advertisement(), at: place, limits: PlaylistLimits())
        #expect(spelled(edited) == expected)
    }

    @Test(
        arguments: [
            ("1/4/4", "5 5:0 6:ad 7:1 8:2 8:3"), ("1/5/5", "5 5:0 6:ad 7:1 8:2 8:3"),
            ("1/5/6", "5 5:0 5:1 6:ad 7:2 7:3"), ("1/6/6", "5 5:0 5:1 7:ad 8:2 8:3"),
            ("0.2/5/5", "5 6:ad 7:0 7:1 8:2 8:3"),
        ]
    )
    func numbersBeginWithThatOfThePlaylist(seam: String, expected: String) throws {
        let playlist = try Self.media(4, discontinuities: [2], header: "#EXT-X-DISCONTINUITY-SEQUENCE:5\n")
        let place = try #require(TrackSeam(timeText: seam[...]))
        let edited = try playlist.inserting(advertisement(), at: place, limits: PlaylistLimits())
        #expect(spelled(edited) == expected)
    }

    /// No playlist is inserted at the end of an event, where its next segment will be.
    @Test func insertionAtTheEndOfAnEventIsNotOutside() throws {
        let event = try Self.media(4, header: "#EXT-X-PLAYLIST-TYPE:EVENT\n", isLive: true)
        let seam = try #require(TrackSeam(timeText: "4/0/0"))
        #expect {
            try event.inserting(advertisement(), at: seam, limits: PlaylistLimits())
        } throws: {
            ($0 as? PlaylistEditError)?.code == .cannotStitch
        }
    }

    private func cut(_ playlist: MediaPlaylist, _ texts: String) throws -> MediaPlaylist {
        let seams = try texts.split(separator: ",").map { try #require(TrackSeam(rangeText: $0)) }
        return try playlist.cut(at: seams, edit: "e", limits: PlaylistLimits())
    }

    /// The track has eight segments of a second, and a discontinuity at 4 s.
    @Test(
        arguments: [
            ("2...3/0/0", "0 0:0 0:1 1:3 2:4 2:5 2:6 2:7"), ("3...5/0/1", "0 0:0 0:1 0:2 1:5 1:6 1:7"),
            ("3.4...4.4/0/1", "0 0:0 0:1 0:2 1:4 1:5 1:6 1:7"), ("2.4...2.8/0/0", "0 0:0 0:1 1:2 1:3 2:4 2:5 2:6 2:7"),
            ("2.6...2.8/0/0", "0 0:0 0:1 0:2 1:3 2:4 2:5 2:6 2:7"), ("4.6...5.6/0/1", "0 0:0 0:1 0:2 0:3 1:5 1:6 1:7"),
            ("2...3/0/1", "0 0:0 0:1 1:4 1:5 1:6 1:7"), ("2...2.4/0/0,3...3.4/0/0", "0 0:0 0:1 1:2 3:4 3:5 3:6 3:7"),
            ("0.2...0.4/0/0", "0 1:0 1:1 1:2 1:3 2:4 2:5 2:6 2:7"), ("3.../0/0", "0 0:0 0:1 0:2"),
            // The track does not have the numbers of the reference track.
            ("2...3/3/3", "0 0:0 0:1 1:3 2:4 2:5 2:6 2:7"), ("3...4/3/3", "0 0:0 0:1 0:2 1:4 1:5 1:6 1:7"),
            ("2...2.4/3/3,2.6...3/3/3", "0 0:0 0:1 2:3 3:4 3:5 3:6 3:7"),
            ("2...3/0/0,5...6/5/5", "0 0:0 0:1 1:3 2:4 3:6 3:7"),
            // The start is removed.
            ("0...2/0/0", "0 0:2 0:3 1:4 1:5 1:6 1:7"), ("0...5/1/1", "1 1:5 1:6 1:7"),
            ("0...3.4/1/1", "0 1:4 1:5 1:6 1:7"), ("0...5/1/1,6...7/1/1", "1 1:5 2:7"),
            ("0...1.4/0/0,1.6...3/0/0", "0 1:3 2:4 2:5 2:6 2:7"), ("0...4.4/1/1,4.6...6/1/1", "1 2:6 2:7"),
            ("0...4.4/5/5,4.6...6/5/5", "0 1:6 1:7"),
            // The order of the seams is that of their times.
            ("5...6/1/1,1...2/0/0", "0 0:0 1:2 1:3 2:4 3:6 3:7"),
        ]
    )
    func cutHasTheNumbersOfTheReference(seams: String, expected: String) throws {
        let playlist = try Self.media(8, discontinuities: [4])
        #expect(try spelled(cut(playlist, seams)) == expected)
    }

    /// Two removals at one boundary are two discontinuities, also if the reference track has lower numbers.
    @Test(arguments: [("1...2/4/4,2...3/6/6", "5 5:0 7:3"), ("1...2/5/5,2...3/5/6", "5 5:0 7:3")])
    func numbersOfTheReferenceCanBeLower(seams: String, expected: String) throws {
        let playlist = try Self.media(4, discontinuities: [2], header: "#EXT-X-DISCONTINUITY-SEQUENCE:5\n")
        #expect(try spelled(cut(playlist, seams)) == expected)
    }

    /// The differences between the removed durations of both tracks do not add up.
    @Test func differencesOfEarlierCutsAreBalanced() throws {
        let seams = ["2...2.6/0/0", "4.3...5.5/0/0", "6.4...7/0/0"]
        let expected = [
            "0 0:0 0:1 1:3 1:4 1:5 1:6 1:7", "0 0:0 0:1 1:3 1:4 2:6 2:7", "0 0:0 0:1 1:3 1:4 2:6 3:7",
        ]
        for count in 1...3 {
            let edited = try cut(Self.media(8), seams.prefix(count).joined(separator: ","))
            #expect(spelled(edited) == expected[count - 1])
        }
    }

    /// A track whose segments are all removed has the segment at the first remaining time of the reference track.
    @Test(arguments: [
        ("0...2.6/0/0", "0 0:2"), ("0.4...3.4/0/0", "0 0:0"), ("0...1/0/0,1...3.4/0/0", "0 0:2"),
    ])
    func segmentOfTheFirstRemainingTimeRemains(seams: String, expected: String) throws {
        #expect(try spelled(cut(Self.media(3), seams)) == expected)
    }

    /// A playlist that is not changed retains its tags of low latency.
    @Test func cutOutsideOfThePlaylistChangesNoByte() throws {
        let control = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n"
        let event = try Self.media(8, header: "#EXT-X-PLAYLIST-TYPE:EVENT\n" + control, isLive: true)
        #expect(try cut(event, "8...9/0/0").bytes == event.bytes)
        let ended = try cut(event, "3.../0/0")
        #expect(ended.hasEndMarker && ended.serverControl == nil && ended.segments.count == 3)
        let open = try cut(event, "2...3/0/0")
        #expect(!open.hasEndMarker && open.serverControl == nil && open.segments.count == 7)
        let live = try Self.media(8, isLive: true)
        #expect(try live.cut(at: [], edit: "e", limits: PlaylistLimits()).bytes == live.bytes)
        let empty = try Self.media(0)
        #expect(try cut(empty, "0...1/0/0").bytes == empty.bytes)
    }

    // MARK: Successive removals

    private func combined(_ edits: [PlaylistEdit], isAligned: Bool = true) throws -> [PlaylistEdit] {
        var combined = RemainingTimes.CombinedEdits()
        let video = try Self.media(60)
        for edit in edits { combined.append(edit, of: isAligned ? video : nil) }
        return combined.all
    }

    private func exclude(_ ranges: MediaTimeRange...) -> PlaylistEdit {
        .exclude(.seams(ranges.map { TrackSeam($0, before: 0, after: 0) }, of: nil))
    }

    @Test func removalsAreOneEdit() throws {
        let (cut, start) = (PlaylistEdit.cut(Self.range(10, 20)), PlaylistEdit.trim(Self.range(from: 4)))
        #expect(try combined([]) == [] && combined([cut]) == [cut] && combined([start]) == [start])
        // The times of the second edit are those after the first one.
        let second = PlaylistEdit.cut(Self.range(15, 20))
        #expect(try combined([cut, second]) == [exclude(Self.range(10, 20), Self.range(25, 30))])
        #expect(try combined([start, start]) == [.trim(Self.range(from: 8))])
        #expect(try combined([start, .trim(Self.range(2, 10))]) == [.trim(Self.range(6, 14))])
        #expect(try combined([.cut(Self.range(0, 4)), start]) == [.trim(Self.range(from: 8))])
        // The second range begins at the end of the first one.
        let adjacent = PlaylistEdit.cut(Self.range(10, 12))
        #expect(try combined([cut, adjacent]) == [exclude(Self.range(10, 22))])
        let around = PlaylistEdit.cut(Self.range(8, 12))
        #expect(try combined([cut, around]) == [exclude(Self.range(8, 22))])
        let ends = exclude(Self.range(0, 4), Self.range(10, 20), Self.range(from: 25))
        #expect(try combined([cut, .trim(Self.range(4, 15))]) == [ends])
    }

    /// A discontinuity at the start still counts in the numbers of the video.
    @Test func removalUpToADiscontinuityIsAnEditOfItsOwn() throws {
        let cut = PlaylistEdit.cut(Self.range(10, 20))
        for start in [Int64(10), 11] {
            let trim = PlaylistEdit.trim(Self.range(from: start))
            #expect(try combined([cut, trim]) == [cut, trim])
        }
        let earlier = PlaylistEdit.trim(Self.range(from: 9))
        #expect(try combined([cut, earlier]) == [exclude(Self.range(0, 9), Self.range(10, 20))])
    }

    @Test func otherEditsSeparateRemovals() throws {
        let (cut, start) = (PlaylistEdit.cut(Self.range(10, 20)), PlaylistEdit.trim(Self.range(from: 4)))
        let other = PlaylistEdit.absolute
        #expect(try combined([start, other, start]) == [start, other, start])
        #expect(try combined([start, start, other, cut]) == [.trim(Self.range(from: 8)), other, cut])
        #expect(try combined([start, start], isAligned: false) == [start, start])
        // Nothing would remain.
        let all = PlaylistEdit.cut(Self.range(from: 0))
        #expect(try combined([start, all]) == [start, all])
    }

    /// As many ranges are combined as can be read again.
    @Test(arguments: [(255, 1), (256, 2)] as [(Int64, Int)])
    func combinedRangesAreLimited(count: Int64, expected: Int) throws {
        let ranges = (1...count).map { Self.range($0 * 2, $0 * 2 + 1) }
        let first = PlaylistEdit.exclude(.seams(ranges.map { TrackSeam($0, before: 0, after: 0) }, of: nil))
        #expect(try combined([first, .cut(Self.range(10_000, 10_001))]).count == expected)
    }

    // MARK: Channels

    @Test func lastChangeIsInThePast() throws {
        let channel = SimulatedChannel(repeats: false, window: MediaTime(seconds: 10))
        let schedule = try ChannelSchedule(Self.media(60), channel)
        let now = MediaTime(seconds: 30)
        // The window would still have the segment before the range, which is removed because there are too many.
        #expect(schedule.lastChange(of: 27..<30, at: now) == now)
        #expect(schedule.lastChange(of: 20..<25, at: now) == now)
        #expect(schedule.lastChange(of: 19..<24, at: now) == MediaTime(seconds: 29))
        #expect(schedule.lastChange(of: 0..<24, at: now) == MediaTime(seconds: 24))
        #expect(schedule.depth == MediaTime(seconds: 10))
        let short = SimulatedChannel(repeats: false, window: MediaTime(seconds: 3))
        let other = try ChannelSchedule(Self.media(60), short)
        #expect(other.depth == MediaTime(seconds: 4))
    }
}

import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests the sizes of channels, and the parts after the last one of a segment.
@Suite struct ChannelScheduleFaultTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private static func media(_ durations: [String], _ tags: [Int: String] = [:]) throws -> MediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
        for (number, duration) in durations.enumerated() {
            text += "\(tags[number] ?? "")#EXTINF:\(duration),\n\(number).ts\n"
        }
        return try MediaPlaylist(
            parsing: Array((text + "#EXT-X-ENDLIST\n").utf8),
            context: PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        )
    }

    private func schedule(_ playlist: MediaPlaylist, repeats: Bool = true) throws -> ChannelSchedule {
        try ChannelSchedule(
            playlist,
            SimulatedChannel(repeats: repeats, start: Self.start, window: MediaTime(seconds: 30))
        )
    }

    // MARK: Sizes

    private static let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n"
    private static let map = "#EXT-X-MAP:URI=\"i\"\n"
    private static let date = "#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00Z\n"
    private static let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2020-01-01T00:00:00Z\"\n"

    /// Before a map of its own, a segment may have no keys; date ranges are written if their segment has a date.
    @Test(
        arguments: [
            ([0: key + map], 5), ([0: key, 1: "#EXT-X-DISCONTINUITY\n" + map], 8), ([0: date + range], 5),
            ([0: range], 4), ([0: date, 1: range], 5), ([0: date, 1: "#EXT-X-DATERANGE\n"], 4),
        ] as [([Int: String], Int)]
    )
    func entriesOfKeysAndDateRangesAreCounted(tags: [Int: String], count: Int) throws {
        let schedule = try schedule(Self.media(["4", "4", "2"], tags))
        try schedule.verifySize(of: 0..<3, limits: PlaylistLimits(entryCount: count))
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(count - 1))) {
            try schedule.verifySize(of: 0..<3, limits: PlaylistLimits(entryCount: count - 1))
        }
    }

    /// The lines after a date range are those of a segment.
    @Test(arguments: [("", 33), ("#EXT-X-CUE-OUT:4\n", 33)]) func linesAfterADateRangeAreCounted(
        first: String,
        count: Int
    ) throws {
        let tags = first + Self.range + "#EXT-X-CUE-OUT:4\n"
        let schedule = try schedule(Self.media(["4", "4", "2"], [1: tags]))
        try schedule.verifySize(of: 1..<2, limits: PlaylistLimits(byteCount: count))
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(count - 1))) {
            try schedule.verifySize(of: 1..<2, limits: PlaylistLimits(byteCount: count - 1))
        }
    }

    @Test func windowIsLimited() throws {
        func window(_ count: Int) throws -> ChannelWindow {
            try ChannelWindow(
                SimulatedChannel(start: Self.start, window: MediaTime(seconds: 30)),
                of: Self.media(["4", "4", "2"]),
                at: Self.start.advanced(by: MediaTime(seconds: 34)),
                limits: PlaylistLimits(entryCount: count)
            )
        }
        // Of the last three segments, one begins a cycle with a discontinuity and a date.
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(3))) { try window(3) }
        let whole = try window(100)
        #expect(whole.runs.map(\.positions) == [1..<3, 0..<3, 0..<3, 0..<1])
    }

    /// A channel publishes no segment at its start, also if the first segment has no duration.
    @Test func channelBeginsAfterItsStart() throws {
        let schedule = try schedule(Self.media(["0", "4"]))
        let times = try ["-1", "0", "0.001", "4"].map { try #require(MediaTime(decimal: $0)) }
        #expect(times.map { schedule.published(at: $0, 100)?.range } == [nil, nil, 0..<1, 0..<3])
    }

    @Test func channelHasSegments() throws {
        let reason = "the track has 0 periods between discontinuities, and the video has 0"
        for repeats in [true, false] {
            #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
                try schedule(Self.media([]), repeats: repeats)
            }
        }
    }

    // MARK: Parts

    /// Returns the time for which a client waits; `nil` if the playlist contains the position.
    private func wait(
        for awaited: (Int64, Int),
        in playlist: MediaPlaylist,
        at seconds: String,
        _ text: String,
        part: String = "1"
    ) throws -> String? {
        let channel = try #require(SimulatedChannel("\(text),start=2026-01-01T00:00:00Z,part=\(part)"))
        do throws(any Error) {
            _ = try channel.playlist(
                of: playlist,
                at: Self.start.advanced(by: #require(MediaTime(decimal: seconds))),
                delivery: PartDelivery(awaited: PartDelivery.Position(sequence: awaited.0, part: awaited.1)),
                limits: PlaylistLimits()
            )
            return nil
        } catch PlaylistEditError.notPublished(let date) {
            return "\(date.sinceEpoch - Self.start.sinceEpoch)"
        }
    }

    /// The part after the last one of a segment is the next segment if that has no parts, and the end if there is none.
    @Test func partAfterTheLastOneIsTheNextSegment() throws {
        let gap = try Self.media(["4", "4", "4"], [2: "#EXT-X-GAP\n"])
        #expect(try wait(for: (1, 3), in: gap, at: "6.5", "loop") == "8")
        #expect(try wait(for: (1, 4), in: gap, at: "6.5", "loop") == "12")
        let plain = try Self.media(["4", "4", "4"])
        #expect(try wait(for: (1, 4), in: plain, at: "6.5", "loop") == "9")
        let two = try Self.media(["4", "4"])
        #expect(try wait(for: (1, 4), in: two, at: "6.5", "loop") == "9")
        #expect(try wait(for: (1, 4), in: two, at: "6.5", "once") == "8")
        // The ended playlist contains all that there is.
        #expect(try wait(for: (1, 4), in: two, at: "8", "once") == nil)
    }

    /// Clients wait for three parts of a second or more.
    @Test func longPartsAreAwaitedThreeAtATime() throws {
        let playlist = try Self.media(["4", "3.5"])
        #expect(try wait(for: (1, 3), in: playlist, at: "5.5", "loop", part: "1.5") == "9")
        #expect { try wait(for: (1, 4), in: playlist, at: "5.5", "loop", part: "1.5") } throws: {
            ($0 as? PlaylistEditError)?.code == .invalidValue
        }
    }

    /// The error names the maximum size of the playlist, not the rest of it.
    @Test func sizeOfPartsIsLimited() throws {
        let name = String(repeating: "a", count: 10_000)
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\n\(name).ts\n#EXT-X-ENDLIST\n"
        let channel = try #require(SimulatedChannel("loop,start=2026-01-01T00:00:00Z,part=0.1"))
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(100_000))) {
            try channel.playlist(
                of: MediaPlaylist(parsing: Array(text.utf8)),
                at: Self.start.advanced(by: MediaTime(seconds: 100)),
                delivery: PartDelivery(),
                limits: PlaylistLimits(byteCount: 100_000)
            )
        }
    }

    // MARK: Addresses of parts

    private static let fields = "part=0&count=4&target=1&duration=4&date=1"

    /// The first equals sign of a field separates its name and its value.
    @Test(
        arguments: [
            ("&map=/i?a=b", "/i?a=b"), ("&map==", "="), ("&map=a=b=c", "a=b=c"), ("&map=", ""), ("&x=", nil),
            ("&=x", nil), ("&=", nil),
        ] as [(String, String?)]
    )
    func valuesOfAPartMayBeEmptyOrContainEqualsSigns(rest: String, initialization: String?) throws {
        let part = try #require(SegmentPart(of: ResourceAddress("http://h/0.ts#\(Self.fields)\(rest)")))
        #expect(part.initialization?.text == initialization && part.count == 4)
    }
}

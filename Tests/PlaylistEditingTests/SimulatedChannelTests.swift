import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests that a channel that is simulated from complete playlists is a correct live playlist at every moment, for every track.
@Suite struct SimulatedChannelTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private static func media(
        _ durations: [String],
        _ header: String = "",
        _ tags: [Int: String] = [:]
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-PLAYLIST-TYPE:VOD\n\(header)"
        for (number, duration) in durations.enumerated() {
            text += "\(tags[number] ?? "")#EXTINF:\(duration),\n\(number).ts\n"
        }
        return try MediaPlaylist(parsing: Array((text + "#EXT-X-ENDLIST\n").utf8))
    }

    private func channel(
        _ playlist: MediaPlaylist,
        after seconds: String,
        repeats: Bool = true,
        window: Int64 = 30
    ) throws -> MediaPlaylist {
        try playlist.simulated(
            SimulatedChannel(repeats: repeats, start: Self.start, window: MediaTime(seconds: window)),
            at: Self.start.advanced(by: #require(MediaTime(decimal: seconds)))
        )
    }

    @Test func segmentAppearsWhenItIsFinished() throws {
        let playlist = try Self.media(["4", "4", "2"])
        #expect(throws: PlaylistEditError.notStarted(start: Self.start)) { try channel(playlist, after: "3.999") }
        #expect(throws: PlaylistEditError.self) { try channel(playlist, after: "-10000000") }
        #expect(try channel(playlist, after: "4").segments.map(\.uri) == ["0.ts"])
        #expect(try channel(playlist, after: "9.999").segments.map(\.uri) == ["0.ts", "1.ts"])
        let third = try channel(playlist, after: "14.5")
        #expect(third.segments.map(\.uri) == ["0.ts", "1.ts", "2.ts", "0.ts"])
        #expect(third.isLive && !third.hasEndMarker && third.mediaSequence == 0 && third.discontinuitySequence == 0)
        #expect(third.segments.map(\.hasDiscontinuity) == [false, false, false, true])
        let dates = third.segments.compactMap { $0.programDateTime?.description }
        #expect(
            dates == [
                "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:04.000Z", "2026-01-01T00:00:08.000Z",
                "2026-01-01T00:00:10.000Z",
            ]
        )
    }

    @Test(arguments: [(200, true), (201, false)]) func channelHasAtMost200Periods(count: Int, isPossible: Bool) throws {
        let tags = Dictionary(uniqueKeysWithValues: (1..<count).map { ($0, "#EXT-X-DISCONTINUITY\n") })
        let playlist = try Self.media(Array(repeating: "1", count: count), "", tags)
        let segments = try? channel(playlist, after: "2.5").segments.count
        #expect(segments == (isPossible ? 2 : nil))
    }

    @Test func channelThatDoesNotRepeatEnds() throws {
        let playlist = try Self.media(["4", "4", "2"])
        let ended = try channel(playlist, after: "10", repeats: false)
        #expect(ended.segments.count == 3 && ended.hasEndMarker)
        #expect(try channel(playlist, after: "9.9", repeats: false).hasEndMarker == false)
        #expect(try channel(playlist, after: "99999999", repeats: false).bytes == ended.bytes)
    }

    /// Numbers and dates of a segment never change, nothing goes back, and the window has its duration.
    @Test(arguments: [["4", "4", "2"], ["9.97667", "9.97667", "3.2"], ["1", "0.5", "0.25", "6.006"], ["10"]])
    func playlistsAreConsistent(durations: [String]) throws {
        let own = try Self.media(durations, "", [1: "#EXT-X-DISCONTINUITY\n"])
        let playlist = durations.count == 1 ? try Self.media(durations) : own
        var known: [Int64: (uri: String, date: MediaTime, discontinuity: Int64)] = [:]
        var last: (sequence: Int64, end: Int64, discontinuity: Int64) = (0, 0, 0)
        for step in 0..<1_000 {
            let seconds = "\(315_360_000 + step / 4).\(["0", "25", "5", "75"][step % 4])"
            let now = try channel(playlist, after: seconds)
            #expect(now.duration >= MediaTime(seconds: 30) - MediaTime(seconds: 10), "\(seconds)")
            #expect(now.mediaSequence >= last.sequence && now.discontinuitySequence >= last.discontinuity)
            let end = now.mediaSequence + Int64(now.segments.count)
            #expect(end >= last.end)
            last = (now.mediaSequence, end, now.discontinuitySequence)
            for segment in now.segments {
                let date = try #require(segment.programDateTime).sinceEpoch
                if let before = known[segment.sequence] {
                    #expect(before == (segment.uri, date, segment.discontinuitySequence), "\(seconds)")
                } else {
                    known[segment.sequence] = (segment.uri, date, segment.discontinuitySequence)
                }
            }
            let newest = try #require(now.segments.last)
            let published = try #require(newest.programDateTime).sinceEpoch + newest.duration
            let clock = Self.start.advanced(by: try #require(MediaTime(decimal: seconds))).sinceEpoch
            #expect(published <= clock && clock - published <= MediaTime(seconds: 10))
        }
    }

    @Test func otherTracksFollowThePeriodsOfTheVideo() throws {
        let video = try Self.media(["4", "4", "2"])
        let audio = try Self.media(["3", "3", "3", "3", "3"])
        var parts = SimulatedChannel(repeats: true, start: Self.start, window: MediaTime(seconds: 30))
        parts = try #require(SimulatedChannel(parts.description + ",periods=10"))
        let date = Self.start.advanced(by: MediaTime(seconds: 1_000_010))
        let (one, other) = (try video.simulated(parts, at: date), try audio.simulated(parts, at: date))
        func starts(_ playlist: MediaPlaylist) -> Set<ProgramDateTime> {
            Set(playlist.segments.filter(\.hasDiscontinuity).compactMap(\.programDateTime))
        }
        #expect(starts(one).count >= 3 && starts(one).isSubset(of: starts(other)))
        // The segment that begins at 12 s is after the end of the video.
        #expect(other.segments.suffix(4).map(\.uri) == ["0.ts", "1.ts", "2.ts", "3.ts"])
        #expect(one.discontinuitySequence == other.discontinuitySequence)
        let two = try Self.media(["4", "4"], "", [1: "#EXT-X-DISCONTINUITY\n"])
        #expect(throws: PlaylistEditError.self) { try two.simulated(parts, at: date) }
    }

    /// All tracks of a live presentation have one target duration (RFC 8216bis §6.2.4).
    @Test func otherTracksHaveTheTargetDurationOfTheVideo() throws {
        let video = try Self.media(["4", "4", "2"])
        let aligned = PlaylistEdit.live(SimulatedChannel()).aligned(with: video, nil)
        let channel = try #require(SimulatedChannel(aligned.nameAndValue.value))
        let iFrames = try Self.media(["1", "1", "1", "1", "1", "1", "1", "1", "1", "1"])
        let date = Self.start.advanced(by: MediaTime(seconds: 1_000_010))
        for track in [video, iFrames] {
            #expect(try track.simulated(channel, at: date).targetDuration == video.targetDuration)
        }
    }

    /// A WebVTT file for the whole presentation is published in parts.
    @Test func aFileOfSubtitlesIsDividedIntoSegments() throws {
        let video = try Self.media(["6", "6", "6", "5"])
        let aligned = PlaylistEdit.live(SimulatedChannel(repeats: true, start: Self.start)).aligned(with: video, nil)
        let channel = try #require(SimulatedChannel(aligned.nameAndValue.value))
        let file = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:23\n#EXTINF:22.5,\nen.vtt\n#EXT-X-ENDLIST\n".utf8)
        )
        let date = Self.start.advanced(by: MediaTime(seconds: 23 * 1_000 + 13))
        let subtitles = try file.simulated(channel, at: date)
        #expect(subtitles.targetDuration == video.targetDuration)
        #expect(
            subtitles.segments.suffix(6).map(\.uri) == [
                "en.vtt#t=10,20", "en.vtt#t=20,", "en.vtt#t=0,10", "en.vtt#t=10,20", "en.vtt#t=20,", "en.vtt#t=0,10",
            ]
        )
        let last = try #require(subtitles.segments.last?.programDateTime)
        #expect(last == Self.start.advanced(by: MediaTime(seconds: 23 * 1_000)))
        #expect(Playlist.media(subtitles).validated().filter { $0.severity == .error }.map(\.message) == [])
        // What is joined has a file for each part.
        let joined = try file.appending(
            try MediaPlaylist(
                parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:12\n#EXTINF:12,\nko.vtt\n#EXT-X-ENDLIST\n".utf8)
            )
        )
        let both = try #require(SimulatedChannel("loop,start=\(Self.start),periods=23+12,target=10"))
        let all = try joined.simulated(both, at: Self.start.advanced(by: MediaTime(seconds: 35)))
        #expect(
            all.segments.map(\.uri) == [
                "en.vtt#t=0,10", "en.vtt#t=10,20", "en.vtt#t=20,", "ko.vtt#t=0,10", "ko.vtt#t=10,",
            ]
        )
        #expect(all.targetDuration == MediaTime(seconds: 10))
        let long = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:900000000,\nen.vtt\n#EXT-X-ENDLIST\n".utf8)
        )
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(PlaylistLimits().entryCount))) {
            try long.simulated(channel, at: date)
        }
    }

    @Test func keysAndDateRangesAreThoseOfTheRepetition() throws {
        let playlist = try Self.media(
            ["4", "4"],
            "",
            [
                0: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00Z\n"
                    + "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2020-01-01T00:00:02Z\",DURATION=2\n#EXT-X-CUE-OUT:2\n"
            ]
        )
        let now = try channel(playlist, after: "1000", window: 12)
        for segment in now.segments {
            let vector = try #require(segment.keys.first?.initializationVector)
            #expect(vector.hasSuffix(segment.uri == "0.ts" ? "00" : "01"), "\(segment.uri)")
        }
        let ranges = now.dateRanges
        #expect(ranges.count == 2 && Set(ranges.map(\.id)).count == 2)
        for (range, segment) in zip(ranges, now.segments.filter { $0.uri == "0.ts" }) {
            #expect(range.startDate == segment.programDateTime?.advanced(by: MediaTime(seconds: 2)))
        }
        #expect(String(decoding: now.bytes, as: UTF8.self).split(separator: "#EXT-X-CUE-OUT:2").count == 3)
    }

    @Test func textIsReadAndWritten() throws {
        for text in [
            "loop", "loop,window=120", "once,start=2026-01-01T00:00:00.000Z",
            "loop,start=2026-01-01T00:00:00.000Z,window=5.5,periods=10.5+3", "loop,periods=10,target=6",
            "loop,part=0.5", "loop,window=120,part=10,periods=10", "loop,window=1", "loop,target=1",
            "loop,target=86400",
        ] {
            #expect(SimulatedChannel(text)?.description == text)
        }
        for text in [
            "", "once", "loop,", "loop,loop", "loop,window=0", "loop,window=0.999", "loop,window=86401",
            "loop,start=yesterday",
            "loop,window",
            "loop,start=0000-01-01T00:00:00Z", "loop,periods=", "loop,periods=1+0", "loop,periods=1++2",
            "loop,window=1,window=2", "Loop", "loop,end=1", "loop,target=0", "loop,target=6.5", "loop,target=86401",
            "loop,part=0.05",
            "loop,part=11", "loop,part=1,part=1",
            "loop,periods=" + Array(repeating: "1", count: 201).joined(separator: "+"),
        ] {
            #expect(SimulatedChannel(text) == nil, "\(text)")
        }
    }

    @Test func incompletePlaylistIsRefused() throws {
        let live = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n".utf8))
        let empty = try Self.media([])
        let instant = try Self.media(["0", "0"])
        let partlyInstant = try Self.media(["1", "0"], "", [1: "#EXT-X-DISCONTINUITY\n"])
        let tags = Dictionary(uniqueKeysWithValues: (1..<210).map { ($0, "#EXT-X-DISCONTINUITY\n") })
        let scattered = try Self.media(Array(repeating: "4", count: 210), "", tags)
        for playlist in [live, empty, instant, partlyInstant, scattered] {
            #expect(throws: PlaylistEditError.self) { try channel(playlist, after: "100") }
        }
    }

    @Test func hostilePlaylistsAreBounded() throws {
        for durations in [["0.000001", "0.000001"], ["999999999999999999", "1"], ["0", "0", "0.001"]] {
            let playlist = try Self.media(durations)
            for elapsed in ["1", "1000000000", "9223372036"] {
                let limits = PlaylistLimits(byteCount: 1 << 20, entryCount: 1_000)
                let now = try? playlist.simulated(
                    SimulatedChannel(start: Self.start, window: MediaTime(seconds: 86_400)),
                    at: Self.start.advanced(by: #require(MediaTime(decimal: elapsed))),
                    limits: limits
                )
                #expect((now?.segments.count ?? 0) <= 1_000)
            }
        }
    }

    /// Players cannot reload a playlist more often than every tenth of a second.
    @Test(arguments: [("0.000000001", false), ("0.099", false), ("0.1", true)])
    func repeatedPresentationHasAMinimumDuration(duration: String, isPossible: Bool) throws {
        let playlist = try Self.media([duration])
        let segments = try? channel(playlist, after: "100").segments.count
        #expect((segments != nil) == isPossible)
        if !isPossible {
            #expect { () throws in
                _ = try channel(playlist, after: "100")
            } throws: {
                ($0 as? PlaylistEditError)?.code == .cannotStitch
            }
        }
        // A channel that ends lists each segment once.
        #expect(try channel(playlist, after: "100", repeats: false).segments.count == 1)
        var periods = SimulatedChannel(repeats: true, start: Self.start)
        periods.periods = [try #require(MediaTime(decimal: duration))]
        let other = try Self.media(["4"])
        let date = Self.start.advanced(by: MediaTime(seconds: 100))
        #expect(((try? other.simulated(periods, at: date)) != nil) == isPossible)
    }

    /// The size is known before the segments are repeated, and a playlist within the limits is never refused.
    @Test(
        arguments: [
            [:], [0: "#EXT-X-MAP:URI=\"i\"\n"], [0: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n"],
        ] as [[Int: String]]
    )
    func sizeIsVerifiedBeforeTheAssembly(tags: [Int: String]) throws {
        let playlist = try Self.media(["4", "4", "2"], "", tags)
        let schedule = try ChannelSchedule(playlist, SimulatedChannel(start: Self.start))
        #expect { () throws in
            try schedule.verifySize(of: 0..<3_000_000_000, limits: PlaylistLimits())
        } throws: {
            ($0 as? PlaylistEditError)?.code == .tooLarge
        }
        for first in [Int64(0), 1, 2, 3, 4] {
            let numbers = first..<(first + 31)
            let whole = try MediaPlaylistAssembly.assemble(
                primary: playlist,
                runs: schedule.runs(of: numbers),
                numbering: MediaPlaylistAssembly.Numbering(
                    mediaSequence: first,
                    discontinuitySequence: 0,
                    isEnded: false
                ),
                limits: PlaylistLimits()
            )
            // The runs alone have a segment each, and a date and a discontinuity for each cycle.
            #expect(throws: PlaylistEditError.self) {
                try schedule.verifySize(of: numbers, limits: PlaylistLimits(entryCount: 31))
            }
            let limits = PlaylistLimits(
                byteCount: whole.bytes.count,
                entryCount: Playlist.media(whole).entryCount
            )
            try schedule.verifySize(of: numbers, limits: limits)
        }
    }
}

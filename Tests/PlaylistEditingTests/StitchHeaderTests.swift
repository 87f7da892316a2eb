import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests the tags that concern a whole playlist, in playlists that are composed of several ones.
@Suite struct StitchHeaderTests {
    private static let advertisement = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nad.ts\n#EXT-X-ENDLIST\n"

    private func media(_ text: String, at address: String = "https://a.example/x/list.m3u8") throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: ResourceAddress(address)))
    }

    private func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    private func errors(_ playlist: MediaPlaylist) -> [String] {
        Playlist.media(playlist).validated().filter { $0.severity == .error }.map(\.message)
    }

    // MARK: Low latency

    private static let lowLatency = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:4
        #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3
        #EXT-X-PART-INF:PART-TARGET=1
        #EXT-X-PART:DURATION=1,URI="0.1.mp4"
        #EXTINF:4,
        0.mp4
        #EXT-X-PART:DURATION=1,URI="1.1.mp4"
        #EXTINF:4,
        1.mp4

        """

    @Test func partsOfAnotherPlaylistAreRemoved() throws {
        let host = try media(Self.advertisement)
        let other = try media(Self.lowLatency + "#EXT-X-ENDLIST\n", at: "https://b.example/list.m3u8")
        for edited in [try host.appending(other), try host.prepending(other)] {
            #expect(edited.segments.count == 3 && !text(edited).contains("EXT-X-PART"))
            #expect(errors(edited) == [])
        }
    }

    /// A server would take the numbers in blocking requests for those of its own playlist.
    @Test func editsThatChangeNumbersRemoveTheTagsOfLowLatency() throws {
        let event =
            Self.lowLatency.replacing(
                "#EXT-X-TARGETDURATION",
                with: "#EXT-X-PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION"
            )
            + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"2.1.mp4\"\n"
        let host = try media(event)
        let first = MediaTimeRange(start: .zero, end: MediaTime(seconds: 4))
        for edited in [
            try host.prepending(try media(Self.advertisement)), try host.dropping(first),
            try host.cutting(betweenBoundariesNear: first),
        ] {
            for tag in ["SERVER-CONTROL", "PART", "PRELOAD"] {
                #expect(!text(edited).contains("EXT-X-\(tag)"), "\(tag)")
            }
        }
        // The numbers of a shorter playlist are those of the source.
        #expect(text(try host.dropped(before: MediaTime(seconds: 5))).contains("CAN-BLOCK-RELOAD=YES"))
    }

    // MARK: Date ranges

    /// Returns a playlist with a date range that is described by two tags.
    private func dated(_ day: Int) throws -> MediaPlaylist {
        let date = "2026-01-0\(day)T00:00:00.000Z"
        let range = "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"\(date)\"\n#EXT-X-DATERANGE:ID=\"1\",DURATION=2\n"
        return try media(
            Self.advertisement.replacing("#EXTINF", with: "#EXT-X-PROGRAM-DATE-TIME:\(date)\n\(range)#EXTINF"),
            at: "https://b.example/\(day)/list.m3u8"
        )
    }

    /// Tags with the same identifier would be one date range.
    @Test func dateRangesOfAnotherPlaylistHaveOtherIdentifiers() throws {
        var edited = try dated(1)
        for day in 2...3 { edited = try edited.appending(try dated(day)) }
        #expect(edited.dateRanges.map(\.id) == ["1", "1-1iwk4a6", "1-k27pfm"])
        let starts = edited.dateRanges.compactMap { $0["START-DATE"] }
        #expect(starts == (1...3).map { "2026-01-0\($0)T00:00:00.000Z" })
        #expect(edited.dateRanges.allSatisfy { $0.duration == MediaTime(seconds: 2) })
        #expect(errors(edited) == [])
    }

    @Test func equalDateRangesOfTwoPlaylistsKeepTheirIdentifier() throws {
        let edited = try dated(1).appending(try dated(1))
        #expect(edited.dateRanges.map(\.id) == ["1"])
        #expect(text(edited).ranges(of: "ID=\"1\"").count == 4)
    }

    /// The tracks number their date ranges in different orders, and spell the same date in different ways.
    @Test func dateRangesHaveTheSameIdentifierInAllTracks() async throws {
        let multivariant = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="a"
            #EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=2x2,AUDIO="a"
            v

            """
        func track(_ date: String, after former: String = "") -> String {
            let range = "#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"\(date)\"\n"
            return Self.advertisement.replacing(
                "#EXTINF",
                with: "#EXT-X-PROGRAM-DATE-TIME:\(date)\n\(former)\(range)#EXTINF"
            )
        }
        let former = "#EXT-X-DATERANGE:ID=\"1-2\",START-DATE=\"2025-01-01T00:00:00Z\"\n"
        let texts = [
            "https://h/film": multivariant, "https://h/v": track("2026-01-01T00:00:00Z"),
            "https://h/a": track("2026-01-01T00:00:00Z", after: former),
            "https://ads/ad": multivariant, "https://ads/v": track("2026-01-02T00:00:00Z"),
            "https://ads/a": track("2026-01-02T00:00:00.000+00:00"),
        ]
        let first = try #require(ProgramDateTime("2026-01-02T00:00:00Z")).sinceEpoch
        for edits in [["append"], ["append", "append"]] {
            let plan = try edits.map { try PlaylistEdit(name: $0, value: "https://ads/ad") }
            let tracks = try await EditedTracks(texts, plan)
            let video = try tracks.track("v").dateRanges.filter { $0.startDate?.sinceEpoch == first }.map(\.id)
            let audio = try tracks.track("a").dateRanges.filter { $0.startDate?.sinceEpoch == first }.map(\.id)
            #expect(video.count == 1 && video != ["1"] && audio == video, "\(edits): \(video), \(audio)")
        }
    }

    /// Without the date range that it names, a preload date range has no effect.
    @Test func preloadNamesTheNewIdentifier() throws {
        func playlist(_ date: String) throws -> MediaPlaylist {
            let start = "START-DATE=\"\(date)\""
            let preload = "CLASS=\"com.apple.hls.preload\",X-URI=\"u\",X-TARGET-ID=\"1\",X-TARGET-CLASS=\"c\""
            let ranges = """
                #EXT-X-PROGRAM-DATE-TIME:\(date)
                #EXT-X-DATERANGE:ID="1",CLASS="c",\(start)
                #EXT-X-DATERANGE:ID="2",\(preload),\(start)
                #EXTINF
                """
            return try media(Self.advertisement.replacing("#EXTINF", with: ranges))
        }
        let edited = try playlist("2026-01-01T00:00:00Z").appending(try playlist("2026-01-02T00:00:00Z"))
        let identifiers = edited.dateRanges.map(\.id)
        #expect(Set(identifiers).count == 4 && identifiers.prefix(2) == ["1", "2"], "\(identifiers)")
        #expect(edited.dateRanges.compactMap { $0["X-TARGET-ID"] } == ["1", identifiers[2]])
    }

    // MARK: Formats

    /// An error names the sources of the segments that cannot follow each other, also those that earlier edits have inserted.
    @Test(arguments: [
        (["insert=ad@0", "repeat=2"], "movie"), (["append=other", "append=ad"], "other"),
        (["append=ad"], "movie"), (["prepend=other", "prepend=ad", "prepend=other"], "other"),
    ])
    func segmentsThatCannotFollowEachOtherAreNamedBySource(edits: [String], former: String) throws {
        func source(_ name: String, _ tags: String = "#EXT-X-MAP:URI=\"i.mp4\"\n") throws -> MediaPlaylist {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)#EXTINF:4,\n\(name).0\n#EXT-X-ENDLIST\n"
            return try media(text, at: "https://\(name).example/list.m3u8")
        }
        let movie = try source("movie")
        let sources = ["ad": try source("ad", ""), "other": try source("other")]
        let plan = EditPlan(
            try edits.map { edit in
                let parts = edit.split(separator: "=", maxSplits: 1).map(String.init)
                return try PlaylistEdit(name: parts[0], value: parts[1])
            }
        )
        let expected = PlaylistEditError.mapCannotEnd(
            at: ResourceAddress("https://ad.example/list.m3u8"),
            after: ResourceAddress("https://\(former).example/list.m3u8")
        )
        #expect(throws: expected) { try plan.applied(to: movie, sources: sources) }
        let prepared = PreparedEdit(
            plan: plan,
            input: .media(movie, sources: sources),
            limits: PlaylistLimits(),
            date: nil
        )
        #expect(throws: expected) { try prepared.apply() }
    }

    // MARK: Order of tags

    /// Tags of the whole playlist may follow those of the first segment.
    @Test func headerAfterTagsOfTheFirstSegmentIsWrittenFirst() throws {
        let host = try media(
            """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
            #EXT-X-TARGETDURATION:6
            #EXT-X-DEFINE:NAME="a",VALUE="b"
            #EXT-X-MEDIA-SEQUENCE:7
            #EXTINF:6,
            {$a}0.ts
            #EXTINF:6,
            1.ts
            #EXT-X-ENDLIST

            """
        )
        let advertisement = try media(Self.advertisement)
        let prepended = try host.prepending(advertisement)
        #expect(
            text(prepended) == """
                #EXTM3U
                #EXT-X-VERSION:8
                #EXT-X-TARGETDURATION:6
                #EXT-X-DEFINE:NAME="a",VALUE="b"
                #EXT-X-MEDIA-SEQUENCE:7
                #EXTINF:4,
                ad.ts
                #EXT-X-DISCONTINUITY
                #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                #EXTINF:6,
                {$a}0.ts
                #EXTINF:6,
                1.ts
                #EXT-X-ENDLIST

                """
        )
        #expect(errors(prepended) == [])
        let dropped = try host.dropped(before: MediaTime(seconds: 6))
        #expect(dropped.mediaSequence == 8 && dropped.targetDuration == MediaTime(seconds: 6) && errors(dropped) == [])
        #expect(text(try host.limited(to: MediaTime(seconds: 6))).hasPrefix(text(host).prefix(100)))
        let date = SimulatedChannel.defaultStart.advanced(by: MediaTime(seconds: 100))
        let channel = try host.simulated(SimulatedChannel(), at: date)
        #expect(channel.targetDuration == MediaTime(seconds: 6) && channel.mediaSequence > 0)
        #expect(Set(channel.segments.map(\.uri)) == ["b0.ts", "1.ts"])
        #expect(errors(channel) == [])
    }

    @Test func discontinuitySequenceIsWrittenOnce() throws {
        let host = try media(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-DISCONTINUITY-SEQUENCE:0
            #EXTINF:4,
            0.ts
            #EXT-X-DISCONTINUITY
            #EXTINF:4,
            1.ts
            #EXTINF:4,
            2.ts
            #EXT-X-ENDLIST

            """
        )
        let dropped = try host.dropped(before: MediaTime(seconds: 8))
        #expect(dropped.discontinuitySequence == 1 && errors(dropped) == [])
        #expect(text(dropped).split(separator: "\n").count { $0.hasPrefix("#EXT-X-DISCONTINUITY-SEQUENCE") } == 1)
    }

    // MARK: Bit rates

    /// No tag ends a bit rate, which applies to all segments up to the next one (RFC 8216bis §4.4.4.8).
    @Test func bitRatesDoNotApplyToOtherSegments() throws {
        let rated = try media(
            Self.advertisement.replacing("#EXTINF", with: "#EXT-X-BITRATE:800\n#EXTINF"),
            at: "https://a.example/x/ad.m3u8"
        )
        let plain = try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n")
        for edited in [try plain.prepending(rated), try plain.inserting(rated, at: MediaTime(seconds: 4))] {
            #expect(!text(edited).contains("BITRATE"))
        }
        #expect(text(try plain.appending(rated)).contains("#EXT-X-BITRATE:800\n#EXTINF:4,\nad.ts"))
        let host = try media(text(plain).replacing("#EXTINF:4,\n0", with: "#EXT-X-BITRATE:90\n#EXTINF:4,\n0"))
        let inserted = try host.inserting(try media(Self.advertisement), at: MediaTime(seconds: 4))
        #expect(inserted.segments.map(\.bitRate?.bitsPerSecond) == [nil, nil, 90_000])
        #expect(
            try host.inserting(rated, at: MediaTime(seconds: 4)).segments.map(\.bitRate?.bitsPerSecond)
                == [90_000, 800_000, 90_000]
        )
    }

    // MARK: Start

    private func started(_ attributes: String) throws -> MediaPlaylist {
        let segments = (0..<10).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return try media(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-START:\(attributes)\n\(segments)#EXT-X-ENDLIST\n"
        )
    }

    private func start(_ playlist: MediaPlaylist) -> String? {
        text(playlist).split(separator: "\n").first { $0.hasPrefix("#EXT-X-START") }.map { String($0.dropFirst(13)) }
    }

    @Test func startPositionIsThatOfTheSameMedia() throws {
        let advertisement = try media(Self.advertisement)
        let host = try started("TIME-OFFSET=20,PRECISE=YES")
        let first = MediaTimeRange(start: .zero, end: MediaTime(seconds: 8))
        #expect(start(try host.limited(to: MediaTime(seconds: 16))) == nil)
        #expect(start(try host.limited(to: MediaTime(seconds: 24))) == "TIME-OFFSET=20,PRECISE=YES")
        #expect(start(try host.dropped(before: MediaTime(seconds: 8))) == "TIME-OFFSET=12,PRECISE=YES")
        #expect(start(try host.prepending(advertisement)) == "TIME-OFFSET=24,PRECISE=YES")
        #expect(start(try host.appending(advertisement)) == "TIME-OFFSET=20,PRECISE=YES")
        #expect(start(try host.inserting(advertisement, at: MediaTime(seconds: 32))) == "TIME-OFFSET=20,PRECISE=YES")
        #expect(start(try host.dropping(first)) == "TIME-OFFSET=12,PRECISE=YES")
        let fromEnd = try started("TIME-OFFSET=-6")
        #expect(start(try fromEnd.dropped(before: MediaTime(seconds: 8))) == "TIME-OFFSET=-6")
        #expect(start(try fromEnd.appending(advertisement)) == "TIME-OFFSET=34")
        #expect(start(try fromEnd.limited(to: MediaTime(seconds: 8))) == nil)
        // An offset that is longer than the playlist means its beginning or its end.
        for offset in ["-7200", "7200"] {
            let host = try started("TIME-OFFSET=\(offset)")
            #expect(start(try host.prepending(advertisement)) == "TIME-OFFSET=\(offset)")
            #expect(start(try host.dropped(before: MediaTime(seconds: 8))) == "TIME-OFFSET=\(offset)")
        }
        // What begins at the beginning still does.
        #expect(start(try started("TIME-OFFSET=0").prepending(advertisement)) == "TIME-OFFSET=0")
    }

    // MARK: Variables

    @Test func variablesOfAnInsertedPlaylistAreReplaced() throws {
        let host = try media(
            "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:4\n#EXT-X-DEFINE:NAME=\"id\",VALUE=\"host\"\n"
                + "#EXTINF:4,\n{$id}.ts\n#EXT-X-ENDLIST\n"
        )
        let guest = try media(
            """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-TARGETDURATION:4
            #EXT-X-DEFINE:NAME="id",VALUE="7"
            #EXT-X-DEFINE:QUERYPARAM="q"
            #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
            #EXT-X-DATERANGE:ID="ad-{$id}",START-DATE="2026-01-01T00:00:00Z",X-NOTE="{$q}"
            #EXTINF:4,{$id}
            {$id}.ts
            #EXT-X-ENDLIST

            """,
            at: "https://b.example/ad.m3u8?q=a%22%0A%23EXTINF:1"
        )
        let edited = try host.appending(guest)
        #expect(edited.dateRanges.map(\.id) == ["ad-7"])
        #expect(text(edited).contains("X-NOTE=\"a' #EXTINF:1\"\n"))
        #expect(edited.segments.map(\.address.text) == ["https://a.example/x/host.ts", "https://b.example/7.ts"])
        #expect(errors(edited) == [])
    }

    // MARK: Versions and live playlists

    @Test(arguments: ["", "#EXT-X-VERSION:1\n", "#EXT-X-VERSION:4\n"])
    func dividedSubtitlesHaveTheVersionOfTheirDurations(version: String) throws {
        let file = try media(
            "#EXTM3U\n\(version)#EXT-X-TARGETDURATION:3600\n#EXTINF:3600,\nall.vtt\n#EXT-X-ENDLIST\n"
        )
        let time = MediaTime(value: 12_012, timescale: 1_000)
        let divided = try SubtitleDivision(of: file).divided(at: [time], limits: PlaylistLimits())
        #expect(divided.segments.count == 2 && divided.version == (version.contains("4") ? 4 : 3))
        #expect(errors(divided) == [])
    }

    @Test func timesOfASlidingPlaylistAreNotEdited() throws {
        let lines = "#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n"
        let advertisement = try media(Self.advertisement)
        let range = MediaTimeRange(start: .zero, end: MediaTime(seconds: 4))
        let edits: [(MediaPlaylist) throws -> MediaPlaylist] = [
            { try $0.prepending(advertisement) }, { try $0.inserting(advertisement, at: MediaTime(seconds: 4)) },
            { try $0.dropping(range) }, { try $0.cutting(betweenBoundariesNear: range) },
        ]
        for edit in edits {
            #expect(throws: PlaylistEditError.self) { try edit(try media("#EXTM3U\n" + lines)) }
            #expect(try edit(try media("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n" + lines)).isLive)
            #expect(try !edit(try media("#EXTM3U\n" + lines + "#EXT-X-ENDLIST\n")).isLive)
        }
    }
}

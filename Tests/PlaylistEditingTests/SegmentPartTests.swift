import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Reads and writes the URLs of parts of segments, and the tags that refer to them.
struct SegmentPartTests {
    private static let start = ProgramDateTime("2026-01-01T00:00:00Z") ?? SimulatedChannel.defaultStart

    private static func media(
        _ durations: [String],
        _ header: String = "#EXT-X-TARGETDURATION:4\n"
    ) throws -> MediaPlaylist {
        let segments = durations.enumerated().map { "#EXTINF:\($1),\n\($0).m4s\n" }.joined()
        return try MediaPlaylist(
            parsing: Array("#EXTM3U\n\(header)\(segments)#EXT-X-ENDLIST\n".utf8),
            context: PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        )
    }

    private func channel(
        _ playlist: MediaPlaylist,
        _ seconds: String,
        part: String,
        window: Int = 12,
        awaiting awaited: (Int64, Int?)? = nil
    ) throws -> MediaPlaylist {
        try #require(SimulatedChannel("loop,start=2026-01-01T00:00:00Z,window=\(window),part=\(part)")).playlist(
            of: playlist,
            at: Self.start.advanced(by: #require(MediaTime(decimal: seconds))),
            delivery: PartDelivery(awaited: awaited.map { PartDelivery.Position(sequence: $0.0, part: $0.1) }),
            limits: PlaylistLimits()
        )
    }

    // MARK: URLs

    private static func fields(
        part: String = "0",
        count: String = "4",
        target: String = "1",
        duration: String = "4",
        date: String = "1",
        rest: String = ""
    ) -> String {
        "part=\(part)&count=\(count)&target=\(target)&duration=\(duration)&date=\(date)\(rest)"
    }

    private func part(_ fragment: String) -> SegmentPart? {
        SegmentPart(of: ResourceAddress("http://h/0.ts?a=b#\(fragment)"))
    }

    @Test(
        arguments: [
            fields(count: "1"), fields(part: "199", count: "200"), fields(part: "3"), fields(target: "0.1"),
            fields(target: "10"), fields(duration: "0.001"), fields(duration: "86400"), fields(date: "0"),
            fields(date: "1099511627776"), fields(rest: "&range=0@0"), fields(rest: "&map=%2Finit&map-range=7@5"),
        ]
    )
    func valuesAtTheLimitsAreValid(fragment: String) throws {
        let part = try #require(self.part(fragment))
        #expect(part.segment.text == "http://h/0.ts?a=b")
        // The text is the same once it is written again.
        #expect(part.address.text == "http://h/0.ts?a=b#\(fragment)")
    }

    @Test(
        arguments: [
            fields(count: "0"), fields(part: "200", count: "201"), fields(part: "0", count: "201"), fields(part: "4"),
            fields(part: "-1"), fields(part: "1", count: "1"), fields(target: "0.099"), fields(target: "10.001"),
            fields(duration: "0.0009"), fields(duration: "86400.001"), fields(date: "-0.001"),
            fields(date: "1099511627776.001"), fields(part: "x"), fields(count: "x"), fields(target: "x"),
            fields(duration: "x"), fields(date: "x"), fields(rest: "&range=5"), fields(rest: "&range=5@"),
            fields(rest: "&range=@5"),
            fields(rest: "&range=5@7@9"), fields(rest: "&range=-1@0"), fields(rest: "&range=1@-1"),
            fields(rest: "&map-range=5"),
            fields(rest: "&range=9223372036854775807@1"), fields(rest: "&"), fields(rest: "&x"),
            fields(rest: "&count=4"),
            fields(rest: "&map=%FF"), "xpart=0&count=4&target=1&duration=4&date=1",
            "count=4&part=0&target=1&duration=4&date=1",
        ]
    )
    func valuesBeyondTheLimitsAreInvalid(fragment: String) { #expect(part(fragment) == nil) }

    @Test func addressWithoutAFragmentIsNoPart() {
        #expect(SegmentPart(of: ResourceAddress("http://h/0.ts?\(Self.fields())")) == nil)
    }

    @Test func fieldsAreThoseOfTheURL() throws {
        let text =
            "http://h/0.ts#part=2&count=5&target=0.5&duration=2.4&date=1767225600.25&range=100@7&map=http%3A%2F%2Fh%2Fi%26x"
            + "&map-range=9@3"
        let part = try #require(SegmentPart(of: ResourceAddress(text)))
        #expect(part.index == 2 && part.count == 5 && part.target.description == "0.5")
        #expect(part.duration.description == "2.4" && part.publication.sinceEpoch.description == "1767225600.25")
        #expect(part.byteRange == ByteRange(start: 7, length: 100) && part.initialization?.text == "http://h/i&x")
        #expect(part.initializationRange == ByteRange(start: 3, length: 9) && part.address.text == text)
        let moved = part.replacingAddresses { ResourceAddress($0.text.replacing("//h", with: "//other")) }
        #expect(moved.segment.text == "http://other/0.ts" && moved.initialization?.text == "http://other/i&x")
        #expect(moved.index == 2 && moved.byteRange == part.byteRange)
        let plain = try #require(self.part(Self.fields()))
        #expect(plain.byteRange == nil && plain.initialization == nil && plain.initializationRange == nil)
    }

    /// The fragment of the URL of a segment is replaced.
    @Test func partOfASegmentHasItsProperties() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4#x",BYTERANGE="9@3"
            #EXTINF:3.5,
            #EXT-X-BYTERANGE:100@7
            0.m4s#y
            #EXT-X-ENDLIST

            """
        let context = PlaylistContext(address: ResourceAddress("http://h/v/media.m3u8"))
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: context)
        let segment = try #require(playlist.segments.first)
        let part = SegmentPart(
            1,
            of: segment,
            count: 4,
            target: MediaTime(seconds: 1),
            publication: Self.start.advanced(by: MediaTime(seconds: 2))
        )
        #expect(
            part.address.text == "http://h/v/0.m4s#part=1&count=4&target=1&duration=3.5&date=1767225602&range=100@7"
                + "&map=http%3A%2F%2Fh%2Fv%2Finit.mp4&map-range=9@3"
        )
        #expect(SegmentPart(of: part.address) == part)
    }

    // MARK: Tags of a channel

    /// The tags for the whole playlist follow the target duration.
    @Test func tagsOfThePlaylistAreInItsHeader() throws {
        let header = "#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        let text = try channel(Self.media(["4", "3.5"], header), "6.2", part: "0.75").editedText
        let expected =
            "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:4\n"
            + "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=2.25\n#EXT-X-PART-INF:PART-TARGET=0.75\n"
            + "#EXT-X-INDEPENDENT-SEGMENTS\n"
        #expect(text.hasPrefix(expected), "\(text)")
        let without = try channel(Self.media(["4"], ""), "4", part: "1").editedText
        #expect(without.hasPrefix("#EXTM3U\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3\n"))
    }

    /// The lines of a whole segment are not those of its parts; other tags remain before them.
    @Test func linesOfAnUnfinishedSegmentAreReplaced() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            0.ts
            #EXT-X-CUE-OUT:4
            #EXT-X-BITRATE:100
            #EXTINF:4,
            #EXT-X-BYTERANGE:10@7
            1.ts
            #EXT-X-ENDLIST

            """
        let live = try channel(MediaPlaylist(parsing: Array(text.utf8)), "5", part: "1")
        let lines = live.editedText.split(separator: "\n")
        let last = try #require(lines.lastIndex { $0.hasSuffix("0.ts") })
        let address = "1.ts#part=%&count=4&target=1&duration=4&date=%&range=10@7"
        func part(_ index: Int, _ date: Int) -> String {
            address.replacing("part=%", with: "part=\(index)").replacing("date=%", with: "date=\(date)")
        }
        #expect(
            lines[(last + 1)...].map(String.init) == [
                "#EXT-X-CUE-OUT:4", "#EXT-X-PART:DURATION=1,URI=\"\(part(0, 1_767_225_605))\",INDEPENDENT=YES",
                "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(part(1, 1_767_225_606))\"",
            ]
        )
    }

    /// Delta updates are of use if the window is longer than what they do not skip.
    @Test(arguments: [(24, nil), (25, "24")] as [(Int, String?)])
    func deltaUpdatesRequireALongWindow(window: Int, boundary: String?) throws {
        let live = try channel(Self.media(["4", "4"]), "9", part: "1", window: window)
        #expect(live.serverControl?.canSkipUntil?.description == boundary)
        #expect(
            live.serverControl?.canSkipDateRanges == (boundary != nil) && live.version == (boundary == nil ? 1 : 10)
        )
    }

    /// A segment has at most 200 parts.
    @Test func numberOfPartsIsLimited() throws {
        let long = try channel(Self.media(["200"]), "200", part: "1").editedText
        #expect(long.ranges(of: "#EXT-X-PART:").count == 200 && long.contains("part=199&count=200&"))
        let reason = "a segment of 200.001 s has more than 200 parts of 1 s"
        #expect(throws: PlaylistEditError.cannotStitch(reason: reason)) {
            try channel(Self.media(["200.001"]), "201", part: "1")
        }
    }

    /// Clients wait for the parts of three seconds, or for three parts.
    @Test(
        arguments: [
            ("0.5", 8, "8", true), ("0.5", 9, nil, true), ("0.4", 9, "7.9", true), ("0.4", 11, nil, true),
            ("2", 2, "9.5", false), ("2", 3, nil, false), ("1", 3, "7.5", true), ("1", 4, nil, true),
            ("0.999", 4, "8.499", true), ("0.999", 5, nil, true),
        ] as [(String, Int, String?, Bool)]
    )
    func clientsWaitForSomeParts(target: String, part: Int, publication: String?, isPublished: Bool) throws {
        // At this time, the second segment of 3.5 seconds has begun 1.5 seconds ago.
        let playlist = try Self.media(["4", "3.5"])
        #expect(try channel(playlist, "5.5", part: target).trailingParts.isEmpty != isPublished)
        let expected = try publication.map { text in
            try Self.start.advanced(by: #require(MediaTime(decimal: text)))
        }
        do throws(any Error) {
            _ = try channel(playlist, "5.5", part: target, awaiting: (1, Optional(part)))
            Issue.record("the part is not published yet")
        } catch PlaylistEditError.notPublished(let date) {
            #expect(date == expected)
        } catch PlaylistEditError.invalidValue(let edit, let value, _) {
            #expect(expected == nil && edit == "_HLS_part" && value == "\(part)")
        }
    }
}

import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@Suite struct MultivariantPlaylistTests {
    private let playlist: MultivariantPlaylist

    init() throws {
        playlist = try MultivariantPlaylist(
            parsing: Array(Fixtures.multivariant.utf8),
            context: PlaylistContext(address: ResourceAddress("https://origin.example/v/multivariant.m3u8"))
        )
    }

    @Test func variantsAreParsed() throws {
        #expect(playlist.variants.map { $0.bandwidth?.bitsPerSecond } == [800_000, 2_500_000])
        let first = try #require(playlist.variants.first)
        #expect(
            first.codecs == ["avc1.4d401e", "mp4a.40.2"] && first.resolution == Resolution(width: 640, height: 360)
        )
        #expect(first.frameRate == MediaTime(decimal: "29.97"))
        #expect(first.address.text == "https://origin.example/v/360p.m3u8")
        #expect(first.groupID(.audio) == "aac" && first.groupID(.closedCaptions) == "cc")
        #expect(playlist.variants[1].groupID(.closedCaptions) == nil)
    }

    @Test func renditionsAreParsed() throws {
        let audio = playlist.renditions(.audio, in: "aac")
        #expect(audio.map(\.language) == ["en", "ko"] && audio.map(\.name) == ["English", "한국어"])
        #expect(audio.map(\.isDefault) == [true, false] && audio.map(\.isAutoselect) == [true, true])
        #expect(playlist.renditions(.subtitles, in: "subs").first?.isForced == true)
        #expect(playlist.renditions(.closedCaptions, in: "cc").first?.uri == nil)
    }

    @Test func otherTagsAreParsed() {
        #expect(playlist.iFrameVariants.map(\.uri) == ["i360.m3u8"])
        #expect(playlist.start?.offset.description == "-12.5" && playlist.start?.isPrecise == true)
        #expect(playlist.sessionData.first?.dataID == "com.example.title")
        #expect(playlist.contentSteering?.serverURI == "/steer")
        #expect(playlist.hasIndependentSegments && playlist.declaredVersion == 7)
    }

    @Test func variablesAreSubstituted() throws {
        let text = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="a",VALUE="x"
            #EXT-X-DEFINE:NAME="b",VALUE="{$a}y"
            #EXT-X-DEFINE:QUERYPARAM="token"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            {$b}/{$missing}/list.m3u8?t={$token}

            """
        let playlist = try MultivariantPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress("https://h/m.m3u8?token=s%20e"))
        )
        #expect(playlist.variants.first?.uri == "xy/{$missing}/list.m3u8?t=s e")
        let media = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-DEFINE:IMPORT=\"b\"\n#EXTINF:1,\n{$b}.ts\n".utf8),
            context: PlaylistContext(importableVariables: playlist.variables)
        )
        #expect(media.segments.first?.uri == "xy.ts")
    }

    @Test func variantWithoutBandwidthIsKeptAndReported() throws {
        let parsed = try Playlist.parse(Array("#EXTM3U\n#EXT-X-STREAM-INF:RESOLUTION=1x1\na.m3u8\n".utf8))
        guard case .multivariant(let playlist) = parsed else {
            Issue.record("not a multivariant playlist")
            return
        }
        #expect(playlist.variants.count == 1 && playlist.variants.first?.bandwidth == nil)
        #expect(parsed.diagnostics.contains { $0.code == "missing-attribute" && $0.line == 2 })
    }

    @Test func variantWithoutURIIsReported() throws {
        let parsed = try Playlist.parse(Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n".utf8))
        #expect(parsed.diagnostics.contains { $0.code == "stream-inf-without-address" })
    }
}

@Suite struct ProgramDateTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", "0"), ("2000-02-29T12:00:00.5Z", "951825600.5"),
        ("2024-01-01T00:00:00+01:30", "1704061800"), ("2024-01-01T00:00:00-0130", "1704072600"),
        ("2024-01-01 00:00:00", "1704067200"), ("1969-12-31T23:59:59.25Z", "-0.75"),
        ("2100-03-01T00:00:00Z", "4107542400"),
    ])
    func datesAreParsedExactly(text: String, expected: String) throws {
        #expect(try #require(ProgramDateTime(text)).sinceEpoch.description == expected)
    }

    @Test(arguments: ["", "2024", "2024-13-01T00:00:00Z", "2024-01-01T25:00:00Z", "2024-01-01T00:00:00Zx", "yesterday"])
    func malformedDateIsRejected(text: String) {
        #expect(ProgramDateTime(text) == nil)
    }

    @Test(arguments: [
        "1969-12-31T23:59:59.250Z", "2024-02-29T23:59:59.999Z", "2024-12-31T23:30:00.000-08:00",
        "0001-01-01T00:00:00.000Z", "2024-06-01T10:00:00.123456789+05:45",
    ])
    func datesRoundTrip(text: String) throws {
        #expect(try #require(ProgramDateTime(text)).description == text)
    }
}

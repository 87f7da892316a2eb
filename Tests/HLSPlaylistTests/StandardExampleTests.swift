import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Tests of the examples in section 9 of RFC 8216bis with the values that a player must derive from them.
@Suite struct StandardExampleTests {
    private let context = PlaylistContext(address: ResourceAddress("https://example.com/p/list.m3u8"))

    private func media(_ lines: String...) throws -> MediaPlaylist {
        let bytes = Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8) + [10]
        let playlist = try MediaPlaylist(parsing: bytes, context: context)
        #expect(Playlist.media(playlist).validated(against: [.rfc]).filter { $0.severity == .error } == [])
        #expect(playlist.bytes == bytes)
        return playlist
    }

    private func multivariant(_ lines: String...) throws -> MultivariantPlaylist {
        let bytes = Array((["#EXTM3U"] + lines).joined(separator: "\n").utf8) + [10]
        let playlist = try MultivariantPlaylist(parsing: bytes, context: context)
        #expect(Playlist.multivariant(playlist).validated(against: [.rfc]).filter { $0.severity == .error } == [])
        #expect(playlist.bytes == bytes)
        return playlist
    }

    /// RFC 8216bis §9.1.
    @Test func simpleMediaPlaylistIsParsed() throws {
        let playlist = try media(
            "#EXT-X-TARGETDURATION:10",
            "#EXT-X-VERSION:3",
            "#EXTINF:9.009,",
            "https://m.example.com/first.ts",
            "#EXTINF:9.009,",
            "https://m.example.com/second.ts",
            "#EXTINF:3.003,",
            "third.ts",
            "#EXT-X-ENDLIST"
        )
        #expect(playlist.targetDuration == MediaTime(seconds: 10) && playlist.hasEndMarker)
        #expect(playlist.duration == MediaTime(value: 21_021, timescale: 1_000))
        #expect(playlist.segments.map(\.sequence) == [0, 1, 2])
        #expect(playlist.segments.map(\.address.text).last == "https://example.com/p/third.ts")
        #expect(Playlist.media(playlist).minimumVersion == 3)
    }

    /// RFC 8216bis §9.2.
    @Test func liveMediaPlaylistIsParsed() throws {
        let playlist = try media(
            "#EXT-X-VERSION:3",
            "#EXT-X-TARGETDURATION:8",
            "#EXT-X-MEDIA-SEQUENCE:2680",
            "#EXTINF:7.975,",
            "2680.ts",
            "#EXTINF:7.941,",
            "2681.ts",
            "#EXTINF:7.975,",
            "2682.ts"
        )
        #expect(playlist.mediaSequence == 2_680 && !playlist.hasEndMarker && playlist.playlistType == nil)
        #expect(playlist.segments.last?.sequence == 2_682)
        #expect(playlist.segments[1].start == MediaTime(value: 7_975, timescale: 1_000))
    }

    /// RFC 8216bis §9.3.
    @Test func encryptedMediaPlaylistIsParsed() throws {
        let playlist = try media(
            "#EXT-X-VERSION:3",
            "#EXT-X-MEDIA-SEQUENCE:7794",
            "#EXT-X-TARGETDURATION:15",
            #"#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example.com/key?r=52""#,
            "#EXTINF:2.833,",
            "a.ts",
            "#EXTINF:15.0,",
            "b.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="https://keys.example.com/key?r=53""#,
            "#EXTINF:15.0,",
            "c.ts"
        )
        #expect(playlist.segments.map { $0.keys.map(\.uri?.last) } == [["2"], ["2"], ["3"]])
        #expect(playlist.segments.allSatisfy { $0.keys.first?.method == .aes128 })
        #expect(playlist.segments.allSatisfy { $0.keys.first?.initializationVector == nil }, "the number counts")
    }

    /// RFC 8216bis §9.4 and §9.5.
    @Test func iFramePlaylistsAreParsed() throws {
        let playlist = try multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=1280000,AVERAGE-BANDWIDTH=1000000,CODECS=\"avc1.4d401f,mp4a.40.2\"",
            "low.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=86000,URI="low/iframe.m3u8""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=65000,CODECS=\"mp4a.40.5\"",
            "audio-only.m3u8"
        )
        #expect(playlist.variants.map(\.uri) == ["low.m3u8", "audio-only.m3u8"])
        #expect(playlist.variants[0].averageBandwidth?.bitsPerSecond == 1_000_000)
        #expect(playlist.variants[0].codecs == ["avc1.4d401f", "mp4a.40.2"])
        #expect(playlist.iFrameVariants.map(\.address.text) == ["https://example.com/p/low/iframe.m3u8"])
    }

    /// RFC 8216bis §9.6.
    @Test func alternativeAudioIsParsed() throws {
        let playlist = try multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="English",DEFAULT=YES,AUTOSELECT=YES,LANGUAGE="en",URI="en.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Deutsch",DEFAULT=NO,AUTOSELECT=YES,LANGUAGE="de",URI="de.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Remarks",LANGUAGE="en",URI="remarks.m3u8""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"avc1.4d401f,mp4a.40.2\",AUDIO=\"aac\"",
            "low/video-only.m3u8"
        )
        let group = playlist.renditions(.audio, in: "aac")
        #expect(group.map(\.name) == ["English", "Deutsch", "Remarks"])
        #expect(group.map(\.isDefault) == [true, false, false] && group.map(\.isAutoselect) == [true, true, false])
        #expect(playlist.variants[0].groupID(.audio) == "aac")
    }

    /// RFC 8216bis §9.7.
    @Test func alternativeVideoIsParsed() throws {
        let playlist = try multivariant(
            #"#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="low",NAME="Main",AUTOSELECT=YES,DEFAULT=YES,URI="low/main.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID="low",NAME="Centre",DEFAULT=NO,URI="low/centre.m3u8""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"avc1.4d401f\",VIDEO=\"low\"",
            "low/main.m3u8"
        )
        #expect(playlist.renditions(.video, in: "low").map(\.uri) == ["low/main.m3u8", "low/centre.m3u8"])
        #expect(playlist.variants[0].groupID(.video) == "low")
    }

    /// RFC 8216bis §9.8.
    @Test func sessionDataIsParsed() throws {
        let playlist = try multivariant(
            #"#EXT-X-SESSION-DATA:DATA-ID="com.example.lyrics",URI="lyrics.json""#,
            #"#EXT-X-SESSION-DATA:DATA-ID="com.example.title",LANGUAGE="en",VALUE="A case""#,
            #"#EXT-X-SESSION-DATA:DATA-ID="com.example.title",LANGUAGE="es",VALUE="Un caso""#,
            "#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"avc1.4d401f\"",
            "v.m3u8"
        )
        #expect(playlist.sessionData.map(\.language) == [nil, "en", "es"])
        #expect(playlist.sessionData.map(\.value) == [nil, "A case", "Un caso"])
    }

    /// RFC 8216bis §9.9.
    @Test func characteristicsAreParsed() throws {
        let described = "public.accessibility.describes-video,public.easy-to-read"
        let playlist = try multivariant(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Described\",LANGUAGE=\"en\",CHARACTERISTICS=\"\(described)\","
                + "URI=\"d.m3u8\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"avc1.4d401f,mp4a.40.2\",AUDIO=\"a\"",
            "v.m3u8"
        )
        #expect(
            playlist.renditions[0].characteristics
                == ["public.accessibility.describes-video", "public.easy-to-read"]
        )
    }

    /// RFC 8216bis §9.10.
    @Test func splitDateRangeIsMerged() throws {
        // A complete splice_info_section of 50 bytes.
        let splice =
            "0xFC002F000000000000FF000014056FFFFFF000E081622DCAFF00005263"
            + "6200000000000A0008029896F50000008700000000"
        let playlist = try media(
            "#EXT-X-VERSION:3",
            "#EXT-X-TARGETDURATION:60",
            "#EXT-X-PROGRAM-DATE-TIME:2014-03-05T11:14:00Z",
            #"#EXT-X-DATERANGE:ID="splice-1",START-DATE="2014-03-05T11:15:00Z",PLANNED-DURATION=59.993,SCTE35-OUT="#
                + splice,
            "#EXTINF:60.0,",
            "a.ts",
            #"#EXT-X-DATERANGE:ID="splice-1",DURATION=59.993,SCTE35-IN="# + splice,
            "#EXTINF:60.0,",
            "b.ts"
        )
        let range = try #require(playlist.dateRanges.first)
        #expect(playlist.dateRanges.count == 1 && range.id == "splice-1")
        #expect(range.duration == MediaTime(value: 59_993, timescale: 1_000) && range.plannedDuration == range.duration)
        #expect(Set(range.attributes.filter { $0.name.hasPrefix("SCTE35") }.map(\.value)) == [splice])
        #expect(playlist.segments[1].programDateTime?.description == "2014-03-05T11:15:00.000Z")
    }

    /// RFC 8216bis §9.11 (low latency: parts, a preload hint for the next part, rendition reports) and §B.1.
    @Test func lowLatencyPlaylistIsParsed() throws {
        let playlist = try media(
            "#EXT-X-VERSION:6",
            "#EXT-X-TARGETDURATION:4",
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,CAN-SKIP-UNTIL=24.0",
            "#EXT-X-PART-INF:PART-TARGET=0.33334",
            "#EXT-X-MEDIA-SEQUENCE:266",
            "#EXT-X-MAP:URI=\"init.mp4\"",
            "#EXTINF:4.00008,",
            "266.mp4",
            "#EXT-X-PART:DURATION=0.33334,URI=\"267.0.mp4\",INDEPENDENT=YES",
            "#EXT-X-PART:DURATION=0.33334,URI=\"267.1.mp4\"",
            "#EXTINF:0.66668,",
            "267.mp4",
            "#EXT-X-PART:DURATION=0.33334,URI=\"268.0.mp4\"",
            "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"268.1.mp4\"",
            "#EXT-X-RENDITION-REPORT:URI=\"../1M/list.m3u8\",LAST-MSN=268,LAST-PART=0"
        )
        #expect(playlist.segments[1].parts.map(\.isIndependent) == [true, false])
        #expect(playlist.trailingParts.map(\.uri) == ["268.0.mp4"])
        #expect(playlist.preloadHints.map(\.uri) == ["268.1.mp4"])
        #expect(playlist.renditionReports.first?.address.text == "https://example.com/1M/list.m3u8")
        #expect(playlist.renditionReports.first?.lastMediaSequence == 268)
        #expect(playlist.partTargetDuration == MediaTime(value: 33_334, timescale: 100_000))
        #expect(playlist.serverControl?.partHoldBack == MediaTime(seconds: 1))
    }
}

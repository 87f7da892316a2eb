import HLSPlaylist
import PlaylistEditing
import Testing

/// Tests of the lines that remain in the playlists of a copy.
@Suite struct RelocationResultTests {
    private func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }

    private func relocated(_ text: String) throws -> [String] {
        let playlist = try MediaPlaylist(parsing: Array(text.utf8))
        let relocation = MediaPlaylist.Relocation(
            segment: { "segment-\($0)" },
            map: { "map-\($0.uri)" },
            key: { "key-\($0.uri ?? "")" }
        )
        return lines(try playlist.relocated(relocation).bytes)
    }

    /// The assets of interstitials are not part of the copy.
    @Test(arguments: [
        ("X-ASSET-URI=\"a\"", false), ("X-ASSET-LIST=\"a\"", false), ("X-ASSET-LIST=\"a\",X-ASSET-URI=\"a\"", false),
        ("X-ASSET=\"a\"", true), ("CLASS=\"com.apple.hls.interstitial\"", true), ("X-NOTE=\"X-ASSET-URI=a\"", true),
    ])
    func interstitialsAreRemoved(attribute: String, remains: Bool) throws {
        let range = "#EXT-X-DATERANGE:ID=\"d\",START-DATE=\"2026-01-01T00:00:00Z\",\(attribute)"
        let expected = ["#EXTM3U", remains ? range : nil, "#EXTINF:4,", "segment-0"].compactMap(\.self)
        #expect(try relocated("#EXTM3U\n\(range)\n#EXTINF:4,\na\n") == expected)
    }

    @Test func linesOfALiveStreamAreRemoved() throws {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:9
            #EXT-X-TARGETDURATION:4
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES
            #EXT-X-PART-INF:PART-TARGET=1
            #EXT-X-VENDOR:1
            #EXT-X-BYTERANGE:100@0
            #EXTINF:4,
              a.ts
            #EXT-X-PART:DURATION=1,URI="p"
            #EXT-X-GAP
            #EXTINF:4,
            b.ts
            # comment
            #EXT-X-DATERANGE:ID="t",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="a"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="h"
            #EXT-X-RENDITION-REPORT:URI="r"

            """
        #expect(
            try relocated(text) == [
                "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:4", "#EXT-X-VENDOR:1", "#EXTINF:4,",
                "  segment-0", "#EXT-X-GAP", "#EXTINF:4,", "segment-1", "# comment",
            ]
        )
    }

    /// A key can apply to a map, to a segment, or to neither.
    @Test func keysAndMapsHaveNewURIs() throws {
        let text = """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="unused",IV=0x1
            #EXT-X-KEY:METHOD=AES-128,URI="m",IV=0x1
            #EXT-X-MAP:URI="i",BYTERANGE="10@0"
            #EXT-X-KEY:METHOD=AES-128,URI="s"
            #EXTINF:4,
            a
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            b
            #EXT-X-KEY:METHOD=AES-128,URI="later"

            """
        #expect(
            try relocated(text) == [
                "#EXTM3U", "#EXT-X-KEY:METHOD=AES-128,URI=\"unused\",IV=0x1",
                "#EXT-X-KEY:METHOD=AES-128,URI=\"key-m\",IV=0x1", "#EXT-X-MAP:URI=\"map-i\"",
                "#EXT-X-KEY:METHOD=AES-128,URI=\"key-s\"", "#EXTINF:4,", "segment-0", "#EXT-X-KEY:METHOD=NONE",
                "#EXTINF:4,", "segment-1", "#EXT-X-KEY:METHOD=AES-128,URI=\"later\"",
            ]
        )
    }

    private static let film = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="1",URI="1"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",URI="2"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="3",URI="3"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="4",URI="4"
        #EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="5",INSTREAM-ID="CC1"
        #EXT-X-SESSION-DATA:DATA-ID="t",VALUE="v"
        #EXT-X-SESSION-DATA:DATA-ID="u",URI="data"
        #EXT-X-CONTENT-STEERING:SERVER-URI="/s"
        #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1,URI="image"
        #EXT-X-STREAM-INF:BANDWIDTH=1,NAME="n",AUDIO="a",SUBTITLES="a",CLOSED-CAPTIONS="c"
        v
        #EXT-X-STREAM-INF:AUDIO="b",BANDWIDTH=2,CLOSED-CAPTIONS=NONE
        w
        #EXT-X-STREAM-INF:BANDWIDTH=3
        x
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=4,URI="i"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,URI="j"

        """

    @Test(arguments: ["\n", "\r\n"])
    func entriesAreMovedOrRemoved(lineEnd: String) throws {
        let source = try MultivariantPlaylist(parsing: Array(Self.film.replacing("\n", with: lineEnd).utf8))
        let moved = try source.relocated(
            variant: { $0 < 2 ? "V\($0)" : nil },
            rendition: { $0 == 1 ? "R\($0)" : nil },
            iFrameVariant: { $0 == 1 ? "I\($0)" : nil }
        )
        let expected = [
            #"#EXTM3U"#, #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="2",URI="R1""#,
            #"#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="5",INSTREAM-ID="CC1""#,
            #"#EXT-X-SESSION-DATA:DATA-ID="t",VALUE="v""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=1,NAME="n",AUDIO="a",CLOSED-CAPTIONS="c""#, "V0",
            #"#EXT-X-STREAM-INF:BANDWIDTH=2,CLOSED-CAPTIONS=NONE"#, "V1",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=5,URI="I1""#,
        ]
        #expect(String(decoding: moved.bytes, as: UTF8.self) == expected.map { $0 + lineEnd }.joined())
    }

    @Test func iFrameVariantsAreRemovedWithoutANewURI() throws {
        let source = try MultivariantPlaylist(parsing: Array(Self.film.utf8))
        let moved = try source.relocated(variant: { _ in "V" }, rendition: { _ in "R" })
        #expect(moved.iFrameVariants.isEmpty && moved.variants.map(\.uri) == ["V", "V", "V"])
        #expect(moved.renditions.map(\.uri) == ["R", "R", "R", "R", nil])
        #expect(moved.variants.map { $0.groupID(.audio) } == ["a", "b", nil])
        #expect(moved.variants.map { $0.groupID(.subtitles) } == ["a", nil, nil])
    }
}

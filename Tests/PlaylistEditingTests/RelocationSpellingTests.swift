import HLSPlaylist
import PlaylistEditing
import Testing

@Suite struct RelocationSpellingTests {
    /// The attributes of a variant are rewritten only if one of its groups is removed.
    @Test func variantsWithAllGroupsKeepTheirSpelling() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="a.m3u8"
            #EXT-X-STREAM-INF: BANDWIDTH=1, AUDIO="a" ,,X
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=1,, CODECS="c"
            w.m3u8

            """
        let source = try MultivariantPlaylist(parsing: Array(text.utf8))
        let moved = try source.relocated(variant: { "\($0)" }, rendition: { _ in "r" })
        let expected = text.replacing("a.m3u8", with: "r").replacing("v.m3u8", with: "0").replacing("w.m3u8", with: "1")
        #expect(String(decoding: moved.bytes, as: UTF8.self) == expected)
    }

    /// The changes are applied to groups of segments, and the lines before, between and after the groups stay.
    @Test(arguments: [0, 1, 1_023, 1_024, 1_025, 2_048, 3_000]) func segmentsOfEachGroupAreRelocated(count: Int) throws
    {
        func text(_ name: (Int) -> String, range: String = "") -> String {
            let segments = (0..<count).map { position in
                "#EXTINF:4,title \(position)\n\(range)# comment \(position)\n\(name(position))\n"
            }
            return "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n" + segments.joined()
                + "# trailer\n#EXT-X-ENDLIST\n"
        }
        let source = try MediaPlaylist(parsing: Array(text({ "a/\($0).ts" }, range: "#EXT-X-BYTERANGE:8@0\n").utf8))
        let relocation = MediaPlaylist.Relocation(segment: { "s\($0)" }, map: { _ in "m" }, key: { _ in "k" })
        #expect(String(decoding: try source.relocated(relocation).bytes, as: UTF8.self) == text { "s\($0)" })
    }
}

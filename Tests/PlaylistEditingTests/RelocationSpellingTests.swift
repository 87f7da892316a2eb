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
}

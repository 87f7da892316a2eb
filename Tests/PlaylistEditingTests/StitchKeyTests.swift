import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests of the keys and maps that apply after each boundary of a stitched playlist.
@Suite struct StitchKeyTests {
    private func playlist(_ lines: String...) throws -> MediaPlaylist {
        try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines.joined(separator: "\n"))\n#EXT-X-ENDLIST\n".utf8)
        )
    }

    private func keys(_ playlist: MediaPlaylist) -> [[String?]] { playlist.segments.map { $0.keys.map(\.uri) } }
    private func mapKeys(_ playlist: MediaPlaylist) -> [[String?]] {
        playlist.segments.map { $0.map?.keys.map(\.uri) ?? [] }
    }

    /// Returns a playlist with a clear map followed by encrypted segments.
    private func host() throws -> MediaPlaylist {
        try playlist(
            "#EXT-X-MAP:URI=\"h.mp4\"",
            "#EXTINF:4,",
            "h0",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"hk\",IV=0x1",
            "#EXTINF:4,",
            "h1",
            "#EXTINF:4,",
            "h2"
        )
    }

    @Test func clearMapAfterEncryptedSegmentsStaysClear() throws {
        let guest = try playlist(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"gk\",IV=0x2",
            "#EXT-X-MAP:URI=\"g.mp4\"",
            "#EXTINF:4,",
            "g0"
        )
        let stitched = try host().inserting(guest, at: MediaTime(seconds: 8))
        #expect(stitched.segments.map(\.uri) == ["h0", "h1", "g0", "h2"])
        #expect(stitched.segments.map { $0.map?.uri } == ["h.mp4", "h.mp4", "g.mp4", "h.mp4"])
        #expect(keys(stitched) == [[], ["hk"], ["gk"], ["hk"]])
        #expect(mapKeys(stitched) == [[], [], ["gk"], []])
    }

    @Test func firstMapAfterBoundaryIgnoresKeysBeforeIt() throws {
        let guest = try playlist(
            "#EXT-X-MAP:URI=\"g.mp4\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"gk\",IV=0x2",
            "#EXTINF:4,",
            "g0"
        )
        let stitched = try host().appending(guest)
        #expect(keys(stitched) == [[], ["hk"], ["hk"], ["gk"]])
        #expect(mapKeys(stitched) == [[], [], [], []])
    }

    @Test func mapKeepsItsKeyWhenSegmentHasAnother() throws {
        let guest = try playlist(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k0\",IV=0x2",
            "#EXTINF:4,",
            "g0",
            "#EXT-X-MAP:URI=\"g.mp4\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\",IV=0x3",
            "#EXTINF:4,",
            "g1"
        )
        let cut = try guest.dropped(before: MediaTime(seconds: 4))
        #expect(keys(cut) == [["k1"]] && mapKeys(cut) == [["k0"]])
    }

    @Test func keysOfOtherFormatsEndAtBoundary() throws {
        let host = try playlist(
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://h\",KEYFORMAT=\"com.example\"",
            "#EXTINF:4,",
            "h0"
        )
        let guest = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"gk\",IV=0x2", "#EXTINF:4,", "g0")
        #expect(try keys(host.appending(guest)) == [["skd://h"], ["gk"]])
        #expect(try keys(guest.appending(host)) == [["gk"], ["skd://h"]])
        let clear = try playlist("#EXTINF:4,", "c0")
        #expect(try keys(host.appending(clear)) == [["skd://h"], []])
    }

    @Test func keyOfSameFormatIsReplacedWithoutNone() throws {
        let one = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"a\",IV=0x1", "#EXTINF:4,", "0")
        let two = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"b\",IV=0x1", "#EXTINF:4,", "1")
        let text = String(decoding: try one.appending(two).bytes, as: UTF8.self)
        #expect(!text.contains("METHOD=NONE"))
    }

    @Test func initializationVectorsAreAddedAfterEncryptedMap() throws {
        let host = try playlist(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"mk\",IV=0x7",
            "#EXT-X-MAP:URI=\"h.mp4\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"sk\"",
            "#EXTINF:4,",
            "h0",
            "#EXTINF:4,",
            "h1"
        )
        let stitched = try host.prepending(try playlist("#EXT-X-MAP:URI=\"g.mp4\"", "#EXTINF:4,", "g0"))
        #expect(keys(stitched) == [[], ["sk"], ["sk"]] && mapKeys(stitched) == [[], ["mk"], ["mk"]])
        #expect(
            stitched.segments.map { $0.keys.first?.initializationVector } == [
                nil, "0x00000000000000000000000000000000", "0x00000000000000000000000000000001",
            ]
        )
    }

    @Test func clearMapStaysClearWhenVectorsAreAdded() throws {
        let host = try playlist(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
            "#EXTINF:4,",
            "h0",
            "#EXT-X-KEY:METHOD=NONE",
            "#EXT-X-MAP:URI=\"h.mp4\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"",
            "#EXTINF:4,",
            "h1"
        )
        let stitched = try host.prepending(try playlist("#EXTINF:4,", "g0"))
        #expect(keys(stitched) == [[], ["k"], ["k"]] && mapKeys(stitched) == [[], [], []])
        #expect(stitched.segments[2].keys[0].vector(forSequence: 99)?.last == 1)
    }

    @Test func emptyKeyFormatIsIdentityAndGetsInitializationVector() throws {
        let host = try playlist("#EXT-X-KEY:METHOD=AES-128,URI=\"k\",KEYFORMAT=\"\"", "#EXTINF:4,", "h0")
        let stitched = try host.prepending(try playlist("#EXTINF:4,", "g0"))
        #expect(stitched.segments[1].keys.first?.initializationVector == "0x00000000000000000000000000000000")
    }

    @Test func keyWithNonidentityFormatGetsNoInitializationVector() throws {
        let host = try playlist(
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"f\",KEYFORMAT=\"com.example\"",
            "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"",
            "#EXTINF:4,",
            "h0"
        )
        let stitched = try host.prepending(try playlist("#EXTINF:4,", "g0"))
        #expect(stitched.segments[1].keys.map(\.initializationVector) == [nil, "0x00000000000000000000000000000000"])
        #expect(stitched.declaredVersion == nil || stitched.version >= 2)
    }
}

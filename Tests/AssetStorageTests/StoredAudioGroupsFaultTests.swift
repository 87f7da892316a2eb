import HLSPlaylist
import Testing

@testable import AssetStorage

/// Tests which variants have audio that can be played without the origin.
@Suite struct StoredAudioGroupsFaultTests {
    private static let text = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="en.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D",LANGUAGE="de",URI="de.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="E",LANGUAGE="en"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="S",LANGUAGE="en",URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=8,AUDIO="a",SUBTITLES="a"
        0.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=8,AUDIO="b"
        1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=8
        2.m3u8

        """

    /// One complete rendition of a group is enough; a group of which none is selected is not needed.
    @Test(
        arguments: [
            ([true, false], true), ([false, true], true), ([false, false], false), ([nil, nil], true),
            ([nil, false], false), ([false, nil], false), ([nil, true], true), ([true, nil], true),
        ] as [([Bool?], Bool)]
    )
    func groupNeedsOneCompleteRendition(renditions: [Bool?], isAvailable: Bool) throws {
        let playlist = try MultivariantPlaylist(parsing: Array(Self.text.utf8))
        for hasSubtitles in [false, true] {
            let groups = StoredAudioGroups(playlist) { position in
                position < renditions.count ? renditions[position] : position == 3 && hasSubtitles
            }
            #expect(playlist.variants.map { groups.isAvailable(for: $0) } == [isAvailable, true, true])
        }
    }
}

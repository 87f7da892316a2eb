import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests the edits of tags, and the repetition of playlists.
@Suite struct TagEditTests {
    private static let media =
        "#EXTM3U\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:4\r\n#EXT-X-CUE-OUT:30\r\n#EXTINF:4,\r\n0\r\n"
        + "  #EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2020-01-01T00:00:00Z\"\r\n# EXT-X-CUE-OUT\r\n#EXTINF:3,\r\n1\r\n#EXT-X-ENDLIST"
    private static let multivariant =
        "\u{FEFF}#EXTM3U\n#EXT-X-SESSION-DATA:DATA-ID=\"d\",VALUE=\"v\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n"

    private func edited(_ text: String, _ edits: PlaylistEdit...) throws -> String {
        let plan = EditPlan(edits)
        let bytes =
            switch try Playlist.parse(Array(text.utf8)) {
            case .media(let playlist): try plan.applied(to: playlist).bytes
            case .multivariant(let playlist): try plan.applied(to: playlist).bytes
            }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func tagsOfTheNamesAreRemoved() throws {
        let text = try edited(Self.media, PlaylistEdit(name: "strip-tags", value: "EXT-X-DATERANGE, #EXT-X-CUE-OUT"))
        let expected = Self.media.split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("#EXT-X-CUE-OUT:") && !$0.contains("DATERANGE") }.joined(separator: "\r\n")
        #expect(text == expected)
        #expect(try edited(Self.multivariant, .stripTags(["EXT-X-SESSION-DATA"])).contains("DATA-ID") == false)
        #expect(try edited(Self.media, .stripTags(["EXT-X-GAP"])) == Self.media)
    }

    @Test(arguments: [
        "EXT-X-MEDIA", "EXT-X-KEY", "EXT-X-MEDIA-SEQUENCE", "EXT-X-GAP,EXT-X-MAP", "EXTM3U", "EXTINF",
        "EXT-X-STREAM-INF", "EXT-X-TARGETDURATION", "X-CUE", "EXT X", "ext-x-gap", "",
    ])
    func tagThatIsNeededOrIsNoTagIsRejected(name: String) {
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: "strip-tags", value: name) }
    }

    @Test(arguments: [
        ("EXT-X-VERSION=7", "#EXTM3U\r\n#EXT-X-VERSION:7\r\n#EXT-X-TARGETDURATION:4\r\n"),
        (
            "EXT-X-START=TIME-OFFSET=10",
            "#EXTM3U\r\n#EXT-X-START:TIME-OFFSET=10\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:4\r\n"
        ),
        (
            "EXT-X-INDEPENDENT-SEGMENTS",
            "#EXTM3U\r\n#EXT-X-INDEPENDENT-SEGMENTS\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:4\r\n"
        ), ("#EXT-X-MINE=1=2", "#EXTM3U\r\n#EXT-X-MINE:1=2\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:4\r\n"),
    ])
    func tagIsSetOrAdded(value: String, beginning: String) throws {
        let text = try edited(Self.media, PlaylistEdit(name: "set-tag", value: value))
        #expect(text.hasPrefix(beginning) && text.hasSuffix("#EXT-X-ENDLIST"), "\(text)")
    }

    @Test func endMarkerIsAddedAtTheEnd() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na"
        #expect(try edited(text, PlaylistEdit(name: "set-tag", value: "EXT-X-ENDLIST")) == text + "\n#EXT-X-ENDLIST\n")
    }

    @Test func tagOfMediaPlaylistsIsNotAddedToMultivariantPlaylist() throws {
        let type = try PlaylistEdit(name: "set-tag", value: "EXT-X-PLAYLIST-TYPE=VOD")
        #expect(try edited(Self.multivariant, type) == Self.multivariant)
        let own = try edited(Self.multivariant, PlaylistEdit(name: "set-tag", value: "EXT-X-VERSION=6"))
        #expect(own.hasPrefix("\u{FEFF}#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-SESSION-DATA"))
    }

    @Test func repeatedTagIsReplacedByOne() throws {
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-VERSION:4\n#EXTINF:4,\na\n"
        let edit = try PlaylistEdit(name: "set-tag", value: "EXT-X-VERSION=5")
        #expect(try edited(text, edit) == "#EXTM3U\n#EXT-X-VERSION:5\n#EXTINF:4,\na\n")
    }

    @Test(arguments: [
        "EXTINF=4,", "EXT-X-KEY=METHOD=NONE", "EXT-X-STREAM-INF=BANDWIDTH=1", "EXT-X-MEDIA=TYPE=AUDIO", "EXTM3U", "X=1",
        "EXT-X-DATERANGE=ID=1", "EXT-X-TARGETDURATION", "EXT-X-TARGETDURATION=x", "EXT-X-ENDLIST=1",
        "EXT-X-MEDIA-SEQUENCE=7", "EXT-X-START=", "EXT-X-START=a\nb", "EXT-X-START=a\u{85}b", "EXT-X-DEFINE=NAME=1",
        "=",
    ])
    func tagOfAnEntryOrInvalidValueIsRejected(value: String) {
        #expect(throws: PlaylistEditError.self) { try PlaylistEdit(name: "set-tag", value: value) }
    }

    @Test func playlistIsRepeatedWithDiscontinuities() throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media.utf8)).repeated(3)
        #expect(playlist.segments.map(\.uri) == ["0", "1", "0", "1", "0", "1"])
        #expect(playlist.segments.map(\.hasDiscontinuity) == [false, false, true, false, true, false])
        #expect(playlist.duration == MediaTime(seconds: 21) && playlist.hasEndMarker)
        let text = String(decoding: playlist.bytes, as: UTF8.self)
        #expect(text.components(separatedBy: "#EXT-X-TARGETDURATION").count == 2)
        #expect(text.components(separatedBy: "#EXT-X-ENDLIST").count == 2)
    }

    @Test func repeatedEncryptedPlaylistKeepsItsVectors() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:4,\n0\n#EXTINF:4,\n1\n#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8)).repeated(2)
        let vectors = playlist.segments.map { $0.keys.first?.initializationVector?.last }
        #expect(vectors == [nil, nil, "0", "1"] && playlist.declaredVersion == 2)
    }

    @Test func limitsAndLivePlaylistsAreRespected() throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media.utf8))
        #expect(try playlist.repeated(1).bytes == playlist.bytes)
        #expect(throws: PlaylistEditError.tooLarge(.entryCount(1_000))) {
            try playlist.repeated(501, limits: PlaylistLimits(entryCount: 1_000))
        }
        let live = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na\n".utf8))
        #expect(throws: PlaylistEditError.self) { try live.repeated(2) }
        // One repetition is the playlist itself, of any kind.
        #expect(try live.repeated(1).bytes == live.bytes)
    }

    private func carried(_ names: String, _ text: String, at address: String?) throws -> [String] {
        let playlist = try Playlist.parse(
            Array(text.utf8),
            context: PlaylistContext(address: address.map { ResourceAddress($0) })
        )
        let plan = try EditPlan([PlaylistEdit(name: "carry-query", value: names)])
        switch playlist {
        case .media(let media): return Playlist.media(try plan.applied(to: media)).addresses.map(\.uri)
        case .multivariant(let list): return Playlist.multivariant(try plan.applied(to: list)).addresses.map(\.uri)
        }
    }

    @Test func parametersOfThePlaylistArePassedOn() throws {
        let media = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="i.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="https://other/key"
            #EXTINF:4,
            a.ts?token=own
            #EXTINF:4,
            https://H/b.ts?#f
            #EXTINF:4,
            https://h:8443/c.ts

            """
        let address = "https://h/film/list.m3u8?token=1&expires=2&session=3"
        #expect(
            try carried("token,expires", media, at: address) == [
                "i.mp4?token=1&expires=2", "https://other/key", "a.ts?token=own&expires=2",
                "https://H/b.ts?token=1&expires=2#f", "https://h:8443/c.ts",
            ]
        )
        #expect(try carried("*", media, at: address).first == "i.mp4?token=1&expires=2&session=3")
        for other in [nil, "https://h/film/list.m3u8", "https://h/film/list.m3u8?tokens=1"] {
            #expect(try carried("token", media, at: other).first == "i.mp4")
        }
    }

    @Test func parametersArePassedOnToMediaPlaylists() throws {
        let text = """
            #EXTM3U
            #EXT-X-SESSION-DATA:DATA-ID="d",URI="data.json"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="en.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            low.m3u8

            """
        #expect(
            try carried("token", text, at: "https://h/m?token=1") == [
                "data.json", "en.m3u8?token=1", "low.m3u8?token=1",
            ]
        )
    }
}

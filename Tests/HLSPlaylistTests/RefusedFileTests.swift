import ResourceAddressing
import Testing

@testable import HLSPlaylist

/// Tests that a playlist which was loaded over HTTP cannot name local files.
@Suite struct RefusedFileTests {
    private static let remote = ResourceAddress("https://h.example/a/main.m3u8?b")
    private static let local = ResourceAddress("file:///films/main.m3u8")

    private static func playlist(_ lines: String, at address: ResourceAddress?) throws -> Playlist {
        try Playlist.parse(Array("#EXTM3U\n\(lines)\n".utf8), context: PlaylistContext(address: address))
    }

    @Test(arguments: [
        "#EXTINF:1,\nfile:///x", "#EXTINF:1,\n  FILE:///x", "#EXT-X-MAP:URI=\"file:///x\"\n#EXTINF:1,\na",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"file:///x\"\n#EXTINF:1,\na",
        "#EXT-X-PART:DURATION=1,URI=\"file:///x\"\n#EXTINF:1,\na",
        "#EXTINF:1,\na\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"file:///x\"",
        "#EXTINF:1,\na\n#EXT-X-RENDITION-REPORT:URI=\"file:///x\"",
        "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"le:\"\n#EXTINF:1,\nfi{$a}///x",
        "#EXTINF:1,\na\n#EXT-X-DATERANGE:ID=\"i\",CLASS=\"com.apple.hls.interstitial\",X-ASSET-URI=\"file:///x\"",
        // The class of a date range can be in another tag.
        "#EXTINF:1,\na\n#EXT-X-DATERANGE:ID=\"i\",X-ASSET-LIST=\"file:///x\"",
        "#EXT-X-STREAM-INF:BANDWIDTH=1\nfile:///x", "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"file:///x\"",
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"n\",URI=\"file:///x\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na",
        "#EXT-X-SESSION-DATA:DATA-ID=\"d\",URI=\"file:///x\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na",
        "#EXT-X-SESSION-KEY:METHOD=AES-128,URI=\"file:///x\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na",
        "#EXT-X-CONTENT-STEERING:SERVER-URI=\"file:///x\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\na",
    ])
    func fileIsFoundInAnyPlace(lines: String) throws {
        let remote = try Self.playlist(lines, at: Self.remote)
        #expect(remote.refusedFile?.text == "file:///x")
        #expect(remote.refusalReason?.contains("local file") == true)
        #expect(!remote.addresses.contains { $0.address.normalizedScheme == "file" })
        #expect(try Self.playlist(lines, at: Self.local).refusedFile == nil)
        #expect(try Self.playlist(lines, at: nil).refusedFile == nil)
    }

    @Test(arguments: [
        "#EXTINF:1,\na", "#EXTINF:1,file:///x\na", "# file:///x\n#EXTINF:1,\na", "#EXTINF:1,\nprofile:///x",
        "#EXTINF:1,\nb?c=file:///x", "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"b\"\n#EXTINF:1,\n{$a}.ts",
    ])
    func textThatIsNotTheURLOfAFileIsAccepted(lines: String) throws {
        #expect(try Self.playlist(lines, at: Self.remote).refusedFile == nil)
    }

    /// An edit has inserted a local playlist into a remote one.
    @Test func verifiedPlaylistNamesFiles() throws {
        let bytes = Array("#EXTM3U\n#EXTINF:1,\nfile:///x\n#EXTINF:1,\nb\n".utf8)
        var context = PlaylistContext(address: Self.remote)
        context.mayNameFiles = true
        let names = try MediaPlaylist(parsing: bytes, context: context).segments.map(\.address.text)
        #expect(names == ["file:///x", "https://h.example/a/b"])
        #expect(try Playlist.parse(bytes, context: context).refusedFile != nil)
    }
}

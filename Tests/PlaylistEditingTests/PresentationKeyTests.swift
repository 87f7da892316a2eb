import HLSPlaylist
import PlaylistEditing
import ResourceAddressing
import Testing

/// Tests of a key that replaces those of a presentation with several playlists.
@Suite struct PresentationKeyTests {
    private static let key = "00112233445566778899aabbccddeeff"
    private static let uri = "data:application/octet-stream;base64,ABEiM0RVZneImaq7zN3u/w=="

    private static let sessionKeys = [
        "METHOD=AES-128,URI=\"0\"", "METHOD=AES-128,URI=\"1\"", "METHOD=AES-128,URI=\"2\",IV=0x01",
        "METHOD=SAMPLE-AES,URI=\"skd://3\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", "METHOD=AES-128,URI=\"4\"",
    ]

    private static var multivariant: String {
        "#EXTM3U\n" + sessionKeys.map { "#EXT-X-SESSION-KEY:\($0)\n" }.joined()
            + "#EXT-X-STREAM-INF:BANDWIDTH=100000\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=200000\nhigh.m3u8\n"
    }

    private static let media = """
        #EXTM3U
        #EXT-X-TARGETDURATION:4
        #EXT-X-KEY:METHOD=AES-128,URI="0"
        #EXTINF:4,
        0.ts
        #EXT-X-KEY:METHOD=AES-128,URI="1"
        #EXTINF:4,
        1.ts
        #EXT-X-ENDLIST

        """

    private struct Loader: PlaylistLoader {
        func loadPlaylist(at source: String, variables: [String: String], budget: EditBudget) async throws -> Playlist {
            try Playlist.parse(
                Array(PresentationKeyTests.media.utf8),
                context: PlaylistContext(address: ResourceAddress(source))
            )
        }
    }

    private func plan(_ value: String) throws -> EditPlan { EditPlan([try PlaylistEdit(name: "key", value: value)]) }

    /// Session keys must differ (RFC 8216bis §4.4.6.5), and all become the same one.
    @Test func sessionKeysThatBecomeEqualAreWrittenOnce() throws {
        func keys(_ value: String) throws -> [String] {
            let playlist = try MultivariantPlaylist(parsing: Array(Self.multivariant.utf8))
            let edited = try plan(value).applied(to: playlist)
            #expect(!Playlist.multivariant(edited).validated().contains { $0.code == "repeated-session-key" })
            return String(decoding: edited.bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
                line.hasPrefix("#EXT-X-SESSION-KEY:") ? String(line.dropFirst(19)) : nil
            }
        }
        let written = "METHOD=AES-128,URI=\"\(Self.uri)\""
        #expect(try keys(Self.key) == [written, written + ",IV=0x01", Self.sessionKeys[3]])
        let vector = ",IV=0x" + Self.key.uppercased()
        #expect(try keys("\(Self.key),iv=\(Self.key)") == [written + vector, Self.sessionKeys[3]])
    }

    /// The same key may apply again in a media playlist.
    @Test func keysOfSegmentsAreNotRemoved() throws {
        let playlist = try MediaPlaylist(parsing: Array(Self.media.utf8))
        let edited = try plan(Self.key).applied(to: playlist)
        let text = String(decoding: edited.bytes, as: UTF8.self)
        #expect(text == Self.media.replacing(/URI="."/, with: "URI=\"\(Self.uri)\""))
    }

    @Test func allMediaPlaylistsOfAPresentationHaveTheKey() async throws {
        let context = PlaylistContext(address: ResourceAddress("https://h/m.m3u8"))
        let source = try Playlist.parse(Array(Self.multivariant.utf8), context: context)
        let editor = try PresentationEditor(plan(Self.key), loader: Loader())
        guard case .multivariant(let edited) = try await editor.prepare(source).apply() else {
            Issue.record("not a multivariant playlist")
            return
        }
        let files = try await editor.files(of: edited)
        #expect(files.map(\.name) == ["low.m3u8", "high.m3u8", "multivariant.m3u8"])
        for file in files.dropLast() {
            let segments = try MediaPlaylist(parsing: file.bytes).segments
            #expect(segments.count == 2 && segments.allSatisfy { $0.keys.map(\.uri) == [Self.uri] }, "\(file.name)")
        }
    }
}

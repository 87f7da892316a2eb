import HLSPlaylist
import ResourceAddressing
import Testing

@testable import PlaylistEditing

/// Tests the definitions that take the place of imports of variables (RFC 8216bis §4.4.2.3).
@Suite struct VariableImportTests {
    private static let media = """
        #EXTM3U
        #EXT-X-VERSION:8
        #EXT-X-DEFINE:IMPORT="cdn"
        #EXT-X-DEFINE:IMPORT="unknown"
        #EXT-X-TARGETDURATION:4
        #EXTINF:4,
        {$cdn}a.ts
        #EXT-X-ENDLIST

        """

    private static func playlist(_ text: String = Self.media) throws -> MediaPlaylist {
        let address = ResourceAddress("https://h/media.m3u8")
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: address, importableVariables: ["cdn": "https://cdn.example/"])
        )
    }

    private static func text(_ playlist: MediaPlaylist) -> String { String(decoding: playlist.bytes, as: UTF8.self) }

    @Test func importBecomesADefinition() throws {
        let defined = try Playlist.media(Self.playlist()).definingExternalVariables()
        let definition = "#EXT-X-DEFINE:NAME=\"cdn\",VALUE=\"https://cdn.example/\""
        #expect(
            String(decoding: defined.bytes, as: UTF8.self)
                == Self.media.replacing("#EXT-X-DEFINE:IMPORT=\"cdn\"", with: definition)
        )
        let alone = try MediaPlaylist(parsing: defined.bytes)
        #expect(alone.segments.map(\.uri) == ["https://cdn.example/a.ts"])
    }

    @Test func playlistWithoutImportsIsUnchanged() throws {
        let text = Self.media.replacing("#EXT-X-DEFINE:IMPORT=\"cdn\"\n", with: "")
        let playlist = try Playlist.media(Self.playlist(text)).definingExternalVariables()
        #expect(String(decoding: playlist.bytes, as: UTF8.self) == text)
    }

    /// A value can be the secret parameter of a URL.
    @Test func valueThatOnlyAddressesNeedIsNotWritten() throws {
        let text = Self.media.replacing("#EXT-X-DEFINE:IMPORT=\"cdn\"\n", with: "")
            .replacing("{$cdn}", with: "https://cdn.example/")
        #expect(Self.text(try Self.playlist().standalone()) == text)
    }

    @Test func valueThatOtherAttributesNeedIsWritten() throws {
        let dateRange = "#EXT-X-DATERANGE:ID=\"{$cdn}1\",START-DATE=\"2026-01-01T00:00:00Z\"\n#EXTINF"
        let playlist = try Self.playlist(Self.media.replacing("#EXTINF", with: dateRange)).standalone()
        let text = Self.text(playlist)
        #expect(text.contains("#EXT-X-DEFINE:NAME=\"cdn\",VALUE=\"https://cdn.example/\"\n"))
        #expect(text.contains("\nhttps://cdn.example/a.ts\n") && !text.contains("IMPORT=\"cdn\""))
        #expect(try MediaPlaylist(parsing: playlist.bytes).dateRanges.map(\.id) == ["https://cdn.example/1"])
    }

    @Test func valueIsNotWrittenIfOnlyOtherVariablesAreNeeded() throws {
        let dateRange = "#EXT-X-DATERANGE:ID=\"{$show}\",START-DATE=\"2026-01-01T00:00:00Z\"\n#EXTINF"
        let show = "#EXT-X-DEFINE:NAME=\"show\",VALUE=\"news\"\n#EXT-X-TARGETDURATION"
        let source = Self.media.replacing("#EXT-X-TARGETDURATION", with: show).replacing("#EXTINF", with: dateRange)
        let playlist = try Self.playlist(source).standalone()
        let text = Self.text(playlist)
        #expect(!text.contains("\"cdn\"") && text.contains("\nhttps://cdn.example/a.ts\n"))
        #expect(try MediaPlaylist(parsing: playlist.bytes).dateRanges.map(\.id) == ["news"])
    }

    @Test func sizeOfTheDefinitionsIsLimited() throws {
        let playlist = try Playlist.media(Self.playlist())
        let limits = PlaylistLimits(byteCount: playlist.bytes.count + 10)
        #expect(throws: PlaylistEditError.self) { try playlist.definingExternalVariables(limits: limits) }
        #expect(throws: PlaylistEditError.self) {
            try playlist.bytes(rewritingAddressesUpTo: limits.byteCount, definingExternalVariables: true) { _ in nil }
        }
        let bytes = try playlist.bytes(rewritingAddressesUpTo: limits.byteCount) { _ in nil }
        #expect(bytes == playlist.bytes)
    }
}

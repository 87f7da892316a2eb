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

    /// Parses a multivariant playlist whose variable has a quotation mark, which no quoted string can contain.
    private static func quoting(_ lines: String, value: String = "a%22%20b") throws -> Playlist {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:11
            #EXT-X-DEFINE:QUERYPARAM="t"
            #EXT-X-DEFINE:NAME="u",VALUE="x{$t}"
            \(lines)

            """
        let context = PlaylistContext(address: ResourceAddress("https://h/main.m3u8?t=\(value)"))
        return try Playlist.parse(Array(text.utf8), context: context)
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

    private static let variant = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N",URI="audio.m3u8?t={$t}"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
        video.m3u8?t={$u}&n={$none}
        """

    @Test func valueThatNoDefinitionHasIsInTheAddresses() throws {
        let defined = try Self.quoting(Self.variant).definingExternalVariables()
        #expect(
            String(decoding: defined.bytes, as: UTF8.self) == """
                #EXTM3U
                #EXT-X-VERSION:11
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="N",URI="audio.m3u8?t=a%22%20b"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
                video.m3u8?t=xa%22%20b&n={$none}

                """
        )
    }

    /// The new URI of another edit takes precedence.
    @Test func newAddressesHaveNoReferencesToRemovedVariables() throws {
        let playlist = try Self.quoting(Self.variant)
        let bytes = try playlist.bytes(rewritingAddressesUpTo: 10_000, definingExternalVariables: true) { address in
            address.isAttribute ? "new.m3u8" : nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("URI=\"new.m3u8\"\n") && text.contains("\nvideo.m3u8?t=xa%22%20b&n={$none}\n"))
        #expect(!text.contains("EXT-X-DEFINE"))
    }

    @Test func referenceInTheValueOfAVariableIsNotReplaced() throws {
        let lines = "#EXT-X-STREAM-INF:BANDWIDTH=1\nvideo.m3u8?t={$t}"
        let defined = try Self.quoting(lines, value: "%7B$u%7D").definingExternalVariables()
        #expect(String(decoding: defined.bytes, as: UTF8.self).hasSuffix("\nvideo.m3u8?t=%7B$u}\n"))
    }

    @Test(arguments: ["t", "u"]) func attributeThatCannotHaveTheValueIsAnError(name: String) throws {
        let lines = Self.variant.replacing("NAME=\"N\"", with: "NAME=\"{$\(name)}\"")
        let playlist = try Self.quoting(lines)
        #expect(throws: PlaylistEditError.unwritableVariable(name: name, tag: "EXT-X-MEDIA")) {
            try playlist.definingExternalVariables()
        }
    }

    @Test func absoluteAddressesHaveNoSpaces() throws {
        let text = "#EXTM3U\n#EXT-X-DEFINE:QUERYPARAM=\"t\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nvideo.m3u8?t={$t}\n"
        let context = PlaylistContext(address: ResourceAddress("https://h/main.m3u8?t=abc%20d"))
        let playlist = try Playlist.parse(Array(text.utf8), context: context).withAbsoluteAddresses()
        #expect(String(decoding: playlist.bytes, as: UTF8.self).hasSuffix("\nhttps://h/video.m3u8?t=abc%20d\n"))
    }

    @Test func storedPlaylistHasNoParameters() throws {
        let lines = "#EXT-X-STREAM-INF:BANDWIDTH=1\nvideo.m3u8"
        let playlist = try #require(Self.multivariant(of: try Self.quoting(lines)))
        let stored = try playlist.withoutParameters()
        #expect(!String(decoding: stored.bytes, as: UTF8.self).contains("QUERYPARAM"))
        #expect(stored.variants.map(\.uri) == ["video.m3u8"])
        let plain = try #require(Self.multivariant(of: try Self.quoting(Self.variant, value: "1")))
        let text = String(decoding: try plain.withoutParameters().bytes, as: UTF8.self)
        #expect(text.contains("#EXT-X-DEFINE:NAME=\"t\",VALUE=\"1\"\n"), "a reference needs the value")
    }

    private static func multivariant(of playlist: Playlist) -> MultivariantPlaylist? {
        guard case .multivariant(let multivariant) = playlist else { return nil }
        return multivariant
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

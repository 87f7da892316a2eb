import AssetStorage
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests downloads of media playlists that import a variable that is not defined (RFC 8216bis §4.4.2.3).
@Suite(.timeLimit(.minutes(5))) struct ImportedVariableDownloadTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func download(_ name: String, definition: String = "") async throws -> StoredAsset {
        let main = "#EXTM3U\n\(definition)#EXT-X-STREAM-INF:BANDWIDTH=800000\nmedia.m3u8\n"
        let media = """
            #EXTM3U
            #EXT-X-VERSION:8
            #EXT-X-DEFINE:IMPORT="folder"
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            {$folder}/0.ts
            #EXT-X-ENDLIST

            """
        let transport = ScriptedTransport(texts: [
            Self.base + "main.m3u8": main, Self.base + "media.m3u8": media, Self.base + "a/0.ts": "zero",
            Self.base + "{$folder}/0.ts": "page",
        ])
        return try await AssetDownload(
            ResourceAddress(Self.base + name),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        ).run()
    }

    @Test func definedVariableIsReplaced() async throws {
        let asset = try await download("main.m3u8", definition: "#EXT-X-DEFINE:NAME=\"folder\",VALUE=\"a\"\n")
        #expect(asset.state == .complete)
        #expect(try temporary.library.resources(asset.id).map(\.address.text) == [Self.base + "a/0.ts"])
    }

    @Test(arguments: ["main.m3u8", "media.m3u8"]) func undeclaredImportEndsTheDownload(name: String) async throws {
        let error = await #expect(throws: DownloadError.self) { try await download(name) }
        #expect(error?.code == .notAPlaylist && error?.detail == "import-undeclared")
        #expect(error?.message.contains("imports the variable \"folder\"") == true, "\(String(describing: error))")
        #expect(error?.hint?.contains("multivariant playlist") == true)
        #expect(try temporary.library.assets().isEmpty)
    }

    /// The media playlist imports the variable, but the cause is the URL.
    @Test func parameterThatTheURLDoesNotHaveEndsTheDownload() async throws {
        let definition = "#EXT-X-DEFINE:QUERYPARAM=\"folder\"\n"
        let error = await #expect(throws: DownloadError.self) {
            try await download("main.m3u8", definition: definition)
        }
        #expect(error?.code == .notAPlaylist && error?.detail == "query-parameter-missing")
        #expect(error?.message.contains("has no parameter \"folder\"") == true, "\(String(describing: error))")
        #expect(error?.hint?.contains("?folder=VALUE") == true)
        #expect(try temporary.library.assets().isEmpty)
    }
}

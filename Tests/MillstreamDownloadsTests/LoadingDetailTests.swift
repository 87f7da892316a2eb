import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// A transport whose requests are all canceled.
private struct CanceledTransport: Transport {
    func send(_ request: TransportRequest) async throws -> TransportResponse { throw CancellationError() }
}

/// Tests the remaining size of playlists that are loaded, and the errors of files that are missing.
@Suite(.timeLimit(.minutes(5))) struct LoadingDetailTests {
    private static let base = "https://films.example/"
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
    private static let iFrames =
        "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXT-X-I-FRAMES-ONLY\n#EXTINF:4,\n#EXT-X-BYTERANGE:3@0\n0.ts\n"
        + "#EXT-X-ENDLIST\n"

    private static func loader(_ transport: any Transport) -> DownloadPlaylistLoader {
        DownloadPlaylistLoader(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            playlistSize: ByteCount(10_000),
            bypassesCache: false,
            acceptsLive: false
        )
    }

    private static func size(_ text: String) -> Int64 { Int64(text.utf8.count) }

    // MARK: Sizes

    @Test func eachPlaylistCountsOnce() async throws {
        let transport = ScriptedTransport(texts: [Self.base + "a.m3u8": Self.media, Self.base + "b.m3u8": Self.iFrames])
        let addresses = ["a", "b", "a"].map { ResourceAddress(Self.base + "\($0).m3u8") }
        let loaded = try await Self.loader(transport).loadPlaylists(addresses, variables: [:], besides: ByteCount(100))
        #expect(Set(loaded.playlists.keys) == Set(addresses))
        #expect(loaded.left == ByteCount(9_900 - Self.size(Self.media) - Self.size(Self.iFrames)))
        #expect(transport.requests.count == 2)
        let none = try await Self.loader(transport).loadPlaylists([], variables: [:], besides: ByteCount(100))
        #expect(none.playlists.isEmpty && none.left == ByteCount(9_900))
    }

    /// Returns whether an I-frame playlist was loaded, and the size that further playlists may have.
    private func loadIFrames(
        _ transport: any Transport,
        limit: Int64 = 1_000
    ) async throws -> (isLoaded: Bool, left: Int64) {
        var left = ByteCount(limit)
        let address = ResourceAddress(Self.base + "i.m3u8")
        let loaded = try await Self.loader(transport).loadIFrames(address, variables: [:], &left)
        return (loaded != nil, left.bytes)
    }

    /// A playlist that has not only I-frames was loaded nevertheless.
    @Test(arguments: [(iFrames, true), (media, false)]) func iFramesCountForTheSize(
        text: String,
        isLoaded: Bool
    ) async throws {
        let found = try await loadIFrames(ScriptedTransport(texts: [Self.base + "i.m3u8": text]))
        #expect(found.isLoaded == isLoaded && found.left == 1_000 - Self.size(text))
    }

    @Test func iFramesThatCannotBeLoadedAreLeftOut() async throws {
        let missing = try await loadIFrames(ScriptedTransport())
        #expect(!missing.isLoaded && missing.left == 1_000)
        let transport = ScriptedTransport(texts: [Self.base + "i.m3u8": Self.iFrames])
        let large = try await loadIFrames(transport, limit: Self.size(Self.iFrames) - 1)
        #expect(!large.isLoaded && large.left == Self.size(Self.iFrames) - 1)
        let fitting = try await loadIFrames(transport, limit: Self.size(Self.iFrames))
        #expect(fitting.isLoaded && fitting.left == 0)
    }

    /// A cancellation is no failure of the playlist.
    @Test func cancellationEndsTheLoad() async throws {
        await #expect(throws: CancellationError.self) { _ = try await loadIFrames(CanceledTransport()) }
    }

    // MARK: Missing files

    /// Only subtitles that the server does not have can be left out; another attempt may help after other errors.
    @Test(
        arguments: [
            (.status, 404, true), (.status, 410, true), (.status, 500, false), (.fileNotFound, nil, true),
            (.wrongContent, nil, false),
        ] as [(TransportError.Code, Int?, Bool)]
    )
    func subtitlesThatAreMissingCanBeLeftOut(code: TransportError.Code, status: Int?, hasHint: Bool) async throws {
        let temporary = try TemporaryLibrary()
        let transport = ScriptedTransport(texts: [
            Self.base + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,SUBTITLES="s"
            video.m3u8

            """,
            Self.base + "video.m3u8": Self.media, Self.base + "0.ts": "zero",
            Self.base + "text.m3u8": Self.media.replacing("0.ts", with: "0.vtt"),
        ])
        let address = ResourceAddress(Self.base + "0.vtt")
        transport.setResponses(
            for: address.text,
            .failure(TransportError(code, "it happened", address: address, status: status))
        )
        let download = AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        )
        let error = await #expect(throws: DownloadError.self) { try await download.run() }
        #expect(error?.code == .transport && error?.detail == code.rawValue && error?.address == address)
        #expect((error?.hint != nil) == hasHint)
    }

    // MARK: Caches

    private static let source = ResourceAddress(base + "film.m3u8")

    /// Returns an origin whose segment has expired for a number of requests.
    private static func origin(failureCount: Int) -> ScriptedTransport {
        let expired = ScriptedTransport.Response.failure(TransportError(.status, "expired", status: 403))
        let failures = Array(repeating: expired, count: failureCount)
        return ScriptedTransport([source.text: [.text(media)], base + "0.ts": failures + [.text("zero")]])
    }

    private func download(
        _ transport: ScriptedTransport,
        into library: AssetLibrary,
        records: Bool = false
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration()
        if records { configuration.recording = RecordingOptions() }
        return try await AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        ).run()
    }

    /// Returns the values of the header field for caches of each request of the playlist.
    private static func cacheFields(_ transport: ScriptedTransport) -> [[String]] {
        transport.requests.filter { $0.address == source }.map { request in
            request.headers.filter { $0.name == "Cache-Control" }.map(\.value)
        }
    }

    /// A cache can have the playlists with the addresses that have expired, and a former version of a live playlist.
    @Test func renewedPlaylistsAreNotThoseOfACache() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        let transport = Self.origin(failureCount: 1)
        let asset = try await download(transport, into: library)
        #expect(asset.state == .complete && Self.cacheFields(transport) == [[], ["no-cache"]])
        let path = library.packageDirectory(asset.id).appendingPathComponent("media/000000.ts")
        try FileManager.default.removeItem(at: path)
        let repairing = Self.origin(failureCount: 1)
        let result = try await AssetRepair(
            asset.id,
            in: library,
            loader: ResourceLoader(repairing, policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(result.repaired == ["media/000000.ts"] && result.failure == nil)
        #expect(Self.cacheFields(repairing) == [["no-cache"]])
    }

    @Test func recordedPlaylistsAreNotThoseOfACache() async throws {
        let temporary = try TemporaryLibrary()
        let transport = Self.origin(failureCount: 0)
        let asset = try await download(transport, into: temporary.library, records: true)
        #expect(asset.state == .complete && Self.cacheFields(transport) == [["no-cache"]])
    }

    // MARK: Folders

    /// The first 64 KiB of a playlist tell whether it is a multivariant playlist; otherwise a folder has several playlists.
    @Test(arguments: [(60_000, "a.m3u8"), (65_700, nil)] as [(Int, String?)])
    func multivariantPlaylistIsRecognizedByItsBeginning(size: Int, expected: String?) throws {
        let temporary = try TemporaryLibrary()
        let folder = temporary.directory.appendingPathComponent("films")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let comment = "#" + String(repeating: "a", count: size)
        let texts = ["a.m3u8": "#EXTM3U\n\(comment)\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb.m3u8\n", "b.m3u8": Self.media]
        for (name, text) in texts { try Data(text.utf8).write(to: folder.appendingPathComponent(name)) }
        let found = try? AssetImport(folder, into: temporary.library).playlist.lastPathComponent
        #expect(found == expected)
    }
}

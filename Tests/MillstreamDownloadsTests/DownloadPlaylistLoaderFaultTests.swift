import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the recognition of playlists and media files, and their limits.
@Suite struct DownloadPlaylistLoaderFaultTests {
    private static let address = ResourceAddress("https://films.example/main.m3u8")
    private static let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

    /// A transport that sends the beginning of a file of a million bytes.
    private struct BeginningTransport: Transport {
        let bytes: [UInt8]

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            TransportResponse(to: request, expectedLength: 1_000_000, body: TransportBody(bytes))
        }
    }

    private static func loader(_ transport: any Transport, playlistSize: Int64 = 1_000) -> DownloadPlaylistLoader {
        DownloadPlaylistLoader(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            playlistSize: ByteCount(playlistSize),
            bypassesCache: false,
            acceptsLive: false
        )
    }

    /// An edit can insert the segments of a local playlist.
    @Test func verifiedPlaylistMayNameFiles() async throws {
        let loader = Self.loader(ScriptedTransport(texts: [Self.address.text: Self.text]))
        let (playlist, address) = try await loader.load(Self.address, variables: [:], limit: ByteCount(1_000))
        guard case .media(let media) = playlist else {
            Issue.record("the playlist is not a media playlist")
            return
        }
        #expect(media.context.mayNameFiles && address == Self.address)
    }

    @Test(arguments: [(0, true), (-1, false)] as [(Int64, Bool)])
    func playlistHasAtMostTheSizeOfTheLimit(difference: Int64, isAccepted: Bool) async throws {
        let loader = Self.loader(ScriptedTransport(texts: [Self.address.text: Self.text]))
        let limit = ByteCount(Int64(Self.text.utf8.count) + difference)
        guard !isAccepted else {
            _ = try await loader.load(Self.address, variables: [:], limit: limit)
            return
        }
        let error = await #expect(throws: DownloadError.self) {
            _ = try await loader.load(Self.address, variables: [:], limit: limit)
        }
        #expect(error?.code == .tooLarge)
    }

    /// The size of a media file is that which the server announces, not that of the bytes that show its format.
    @Test func beginningOfAMediaFileIsNotItsSize() async throws {
        let bytes: [UInt8] = Array("RIFF".utf8) + [36, 0, 0, 0] + Array("WAVEfmt ".utf8)
        let transport = BeginningTransport(bytes: bytes + [UInt8](repeating: 0, count: 70_000))
        let resource = try await Self.loader(transport).fetch(Self.address, limit: ByteCount(1_000))
        guard case .mediaFile(let file) = resource else {
            Issue.record("the file is not recognized")
            return
        }
        let variant = try #require(file.variant([], duration: MediaTime(seconds: 1)))
        #expect(variant.bandwidth?.bitsPerSecond == 8_000_000)
    }
}

import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests how media files are distinguished from playlists if their bytes arrive in pieces.
@Suite(.timeLimit(.minutes(2))) struct MediaRecognitionFaultTests {
    private static let film: [UInt8] = [0, 0, 0, 16] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 5_000)

    /// An origin that sends a body in pieces.
    private struct PieceTransport: Transport {
        let pieces: [[UInt8]]

        /// Creates an origin that sends a number of bytes in the first piece, and all other bytes in the second piece.
        init(_ bytes: [UInt8], first count: Int) {
            pieces = [Array(bytes.prefix(count)), Array(bytes.dropFirst(count))].filter { !$0.isEmpty }
        }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
            for piece in pieces { continuation.yield(ByteBuffer(bytes: piece)) }
            continuation.finish()
            return TransportResponse(
                status: 200,
                headers: [],
                address: request.address,
                expectedLength: Int64(pieces.reduce(0) { $0 + $1.count }),
                body: TransportBody(stream)
            )
        }
    }

    @Test(arguments: [1, 3, 4_095, 4_096, 5_012])
    func fileIsRecognizedByAllItsPieces(count: Int) async throws {
        let address = ResourceAddress("https://h/film")
        let transport = PieceTransport(Self.film, first: count)
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        #expect(try await loader.isMediaFile(at: address))
        #expect(try await loader.isProbableMediaFile(at: address))
        let response = try await DocumentTransport(transport).send(TransportRequest(address, kind: .playlist))
        var (received, failure): (Int, ServerError?) = (0, nil)
        do {
            for try await buffer in response.body { received += buffer.readableBytes }
        } catch {
            failure = ServerError(error)
        }
        #expect(failure?.status == .unsupportedMediaType && failure?.code == "not-a-playlist")
        // Bytes that arrived before the file was recognized have been passed on.
        #expect(received == (count < 4_096 ? count : 0))
    }

    /// Only a whole playlist has its first bytes at the beginning.
    @Test func partsOfDocumentsArePassedOn() async throws {
        let address = ResourceAddress("https://h/film")
        let transport = DocumentTransport(PieceTransport(Self.film, first: 5_012))
        var resumed = TransportRequest(address, kind: .playlist)
        resumed.resumption = TransportRequest.Resumption(offset: 0, validator: "\"a\"")
        let range = ByteRange(start: 0, length: Int64(Self.film.count))
        for request in [
            resumed, TransportRequest(address, kind: .playlist, byteRange: range),
            TransportRequest(address, kind: .segment),
        ] {
            var received = 0
            for try await buffer in try await transport.send(request).body { received += buffer.readableBytes }
            #expect(received == Self.film.count)
        }
    }
}

/// Tests the options of a server for the requests of pages of other sites.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ForeignOptionFaultTests {
    @Test(arguments: [(Duration.seconds(600), 200), (.zero, 502)])
    func stalePlaylistIsUsedForPagesOfOtherSites(limit: Duration, status: Int) async throws {
        try await ServerStage.run(configure: { options, _ in options.staleIfError = limit }) {
            (stage: ServerStage) async throws in
            var source = MisbehavingServer.Resource.text(
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
                contentType: "application/vnd.apple.mpegurl"
            )
            source.fields.append(MisbehavingServer.Field("Cache-Control", "max-age=0"))
            stage.origin.set("/public.m3u8", source)
            let address = "/play.m3u8?url=\(stage.publicSource)&duration=4"
            let fields = ["Origin: https://other.example"]
            #expect(try await stage.ask(address, fields: fields).status == 200)
            stage.origin.behave("/public.m3u8", .status(503))
            let later = try await stage.ask(address, fields: fields)
            #expect(later.status == status, "\(later.body)")
            // The stored responses of these pages are not those of players.
            #expect(try await stage.ask(address).status == 502)
        }
    }
}

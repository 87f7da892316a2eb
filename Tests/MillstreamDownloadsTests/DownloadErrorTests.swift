import AssetStorage
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct DownloadErrorTests {
    private static let address = ResourceAddress("https://origin.example/0.ts")

    @Test(arguments: [
        (DownloadError.Code.live, "live-stream"), (.notAPlaylist, "not-a-playlist"),
        (.contentProtected, "content-protected"), (.nothingSelected, "nothing-selected"), (.tooLarge, "too-large"),
        (.transport, "transport"), (.storage, "storage"), (.damaged, "damaged"),
    ])
    func errorCodesHaveStableRawValues(code: DownloadError.Code, spelling: String) {
        #expect(code.rawValue == spelling && DownloadError.Code(rawValue: spelling) == code)
        let error = DownloadError(code, "it happened", hint: "do this", address: Self.address)
        #expect(error.code == code && error.detail == spelling, "without a detail, the code is the detail")
        #expect(error.message == "it happened" && error.hint == "do this" && error.address == Self.address)
        #expect(error.description == "it happened" && error.cause == nil)
        #expect(DownloadError(code, "it happened", detail: "exactly").detail == "exactly")
    }

    @Test func transportErrorIsTheCause() {
        let error = DownloadError(
            TransportError(.status, "the server responded with status 404", address: Self.address, status: 404)
        )
        #expect(error.code == .transport && error.detail == "http-status" && error.address == Self.address)
        #expect(
            error.message == "the server responded with status 404: https://origin.example/0.ts" && error.hint == nil
        )
        #expect((error.cause as? TransportError)?.status == 404)
    }

    /// A presentation without the subtitles is better than none, but only the user can decide so.
    @Test(
        arguments: [
            ("text.vtt", "leave out the subtitles with --subtitles none"), ("0.ts", nil),
        ] as [(String, String?)]
    )
    func missingSubtitlesHaveAHint(missing: String, hint: String?) async throws {
        let temporary = try TemporaryLibrary()
        let root = "https://origin.example/"
        var texts = [
            root + "main.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,SUBTITLES="s"
            video.m3u8

            """,
            root + "video.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n0.ts\n#EXT-X-ENDLIST\n",
            root + "text.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\ntext.vtt\n#EXT-X-ENDLIST\n",
            root + "0.ts": "zero", root + "text.vtt": "WEBVTT\n",
        ]
        texts[root + missing] = nil
        var responses = texts.mapValues { [ScriptedTransport.Response.text($0)] }
        responses[root + missing] = [
            .failure(TransportError(.status, "status 404", address: ResourceAddress(root + missing), status: 404))
        ]
        let download = AssetDownload(
            ResourceAddress(root + "main.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(ScriptedTransport(responses), policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        )
        let error = await #expect(throws: DownloadError.self) { try await download.run() }
        #expect(error?.code == .transport && error?.detail == "http-status" && error?.hint == hint)
        #expect((error?.cause as? TransportError)?.status == 404)
    }

    @Test(
        arguments: [
            (StorageError.Code.full, "free some space and run the same command again to resume the download"),
            (.busy, "wait until the other task has finished, or stop it"), (.disk, nil), (.notFound, nil),
        ] as [(StorageError.Code, String?)]
    )
    func storageErrorHasAHint(code: StorageError.Code, hint: String?) {
        let error = DownloadError(StorageError(code, "it happened"))
        #expect(error.code == .storage && error.detail == code.rawValue && error.message == "it happened")
        #expect(error.hint == hint && error.address == nil)
        #expect((error.cause as? StorageError)?.code == code)
    }
}

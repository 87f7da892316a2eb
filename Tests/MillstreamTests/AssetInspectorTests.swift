import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct AssetInspectorTests {
    @Test func inspectionLoadsOnlyPlaylists() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let asset = world.item().asset
            let (duration, type) = try await asset.load(.duration, .playbackType)
            #expect(duration == MediaTime(seconds: 60))
            #expect(type == .vod)
            #expect(asset.loadedValue(.isPlayable) == true)
            #expect(asset.loadedValue(.variants)?.map(\.resolution?.height) == [360, 720])
            #expect(
                asset.loadedValue(.tracks) == [
                    AssetTrack(mediaType: .video, codec: "avc1.42c01e"),
                    AssetTrack(mediaType: .audio, codec: "mp4a.40.2", language: "en"),
                ]
            )
            #expect(asset.preferredMediaSelection[.audio]?.name == "English")
            #expect(world.transport.requests.count == 2)
        }
    }

    @Test func undecodableStreamIsNotPlayable() async throws {
        try await PlayedOrigin(PlayedOrigin.film(codec: "vvc1.1")).run { world in
            let asset = world.item().asset
            let (isPlayable, duration) = try await asset.load(.isPlayable, .duration)
            #expect(!isPlayable)
            #expect(duration == MediaTime(seconds: 60))
        }
    }

    /// A media playlist declares no codecs, so that the tracks are read from its first segment, if that is available.
    @Test(arguments: [true, false]) func liveMediaPlaylistIsInspectedWithItsFirstSegment(exists: Bool) async throws {
        var texts = [PlayedOrigin.origin + "main.m3u8": PlayedOrigin.media("s", count: 10, ended: false)]
        if exists { texts[PlayedOrigin.origin + "s0.ts"] = "media" }
        try await PlayedOrigin(texts).run { world in
            let asset = world.item().asset
            let (duration, type) = try await asset.load(.duration, .playbackType)
            #expect(duration == nil)
            #expect(type == .live)
            #expect(world.transport.requestedAddresses == ["main.m3u8", "s0.ts"].map { PlayedOrigin.origin + $0 })
            #expect(asset.loadedValue(.isPlayable) == true)
        }
    }

    @Test(arguments: [
        ("<html><body>", "not-recognized"), ("<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"/>", "needs-translation"),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmain.m3u8\n", "unreadable-playlist"),
    ])
    func unusableContentFailsWithItsCause(text: String, code: String) async throws {
        try await PlayedOrigin([PlayedOrigin.origin + "main.m3u8": text]).run { world in
            var options = AssetOptions()
            options.translatesDASH = false
            let asset = world.item(options: options).asset
            let error = await #expect(throws: PlayerError.self) { try await asset.load(.duration) }
            #expect(error?.code == .notLoaded)
            #expect((error?.cause as? StreamingError)?.code.rawValue == code)
        }
    }

    @Test func missingStreamFailsWithTheHTTPStatus() async throws {
        try await PlayedOrigin([:]).run { world in
            let asset = world.item().asset
            let error = await #expect(throws: PlayerError.self) { try await asset.load(.duration) }
            #expect((error?.cause as? TransportError)?.status == 404)
        }
    }
}

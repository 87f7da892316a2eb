import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization
import Testing

@testable import Millstream

/// A delegate that answers playlists from a transport, and redirects media, as players on Apple platforms require.
private final class OriginDelegate: AssetResourceLoaderDelegate {
    let origin: any Transport
    let kinds = Mutex<[TransportRequest.Kind: Int]>([:])

    init(_ origin: any Transport) { self.origin = origin }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        kinds.withLock { $0[loadingRequest.request.kind, default: 0] += 1 }
        if loadingRequest.request.kind == .playlist {
            loadingRequest.finishLoading(from: origin)
        } else {
            loadingRequest.redirect(to: loadingRequest.originalAddress)
        }
        return true
    }
}

/// Tests playback of assets with a custom scheme through the real engine.
@Suite struct ResourceLoadingTests {
    private static let custom = ResourceAddress("custom://origin.example/main.m3u8")

    private func asset(_ world: PlayedOrigin) -> Asset {
        var options = AssetOptions()
        options.originalSchemes = ["custom": "https"]
        return Asset(Self.custom, options: options, environment: world.environment)
    }

    @Test func presentationPlaysThroughADelegate() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let delegate = OriginDelegate(world.transport)
            let asset = asset(world)
            asset.resourceLoader.setDelegate(callingDirectly: delegate)
            let item = PlayerItem(asset: asset)
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: player.states) { $0.playback.hasPlayedToEnd }
            #expect(item.currentTime() == MediaTime(seconds: 60))
            #expect(item.errorLog.events.isEmpty)
            let kinds = delegate.kinds.withLock { $0 }
            #expect((kinds[.playlist] ?? 0) >= 2 && kinds[.segment] == 20, "\(kinds)")
        }
    }

    @Test func presentationPlaysWithoutTheDelegateThatDeclines() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let item = PlayerItem(asset: asset(world))
            let player = try Player(playerItem: item)
            player.play()
            await world.wait(for: player.states) { $0.playback.hasPlayedToEnd }
            #expect(item.currentTime() == MediaTime(seconds: 60))
        }
    }

    @Test func assetWithoutADelegateFailsClearly() async throws {
        try await PlayedOrigin(PlayedOrigin.film()).run { world in
            let asset = Asset(Self.custom, environment: world.environment)
            let error = await #expect(throws: PlayerError.self) { _ = try await asset.load(.isPlayable) }
            #expect(error?.message.contains("has no delegate") == true, "\(String(describing: error))")
        }
    }
}

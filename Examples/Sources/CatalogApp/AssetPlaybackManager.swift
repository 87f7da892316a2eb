import Millstream

/// The playback of one asset at a time.
@MainActor final class AssetPlaybackManager {
    private let player = Player()
    private var observation: Task<Void, Never>?

    /// Plays an asset up to a time; the observers of the previous asset are removed.
    func play(_ asset: Asset, upTo time: MediaTime) async throws {
        observation?.cancel()
        let item = PlayerItem(asset: asset)
        // The asset is ready only after this sequence has delivered that status.
        observation = Task {
            for await isPlayable in asset.playability where isPlayable {
                print("  ready to play")
                break
            }
        }
        guard try await asset.load(.isPlayable) else {
            print("  cannot be played")
            return
        }
        try player.replaceCurrentItem(with: item)
        player.isMuted = true
        player.play()
        for await position in player.periodicTimes(every: MediaTime(value: 1, timescale: 2)) {
            if position >= time { break }
        }
        print("  played for \(time) s, with \(item.accessLog.events.count) entry in the access log")
        stop()
    }

    /// Stops playback and removes all observers.
    func stop() {
        observation?.cancel()
        try? player.replaceCurrentItem(with: nil)
    }
}

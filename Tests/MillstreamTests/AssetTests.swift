import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Testing

@testable import Millstream

@Suite struct AssetTests {
    private func slow(_ seconds: Int) -> World {
        World { world, _ in
            try await world.sleep(.seconds(seconds))
            return .film
        }
    }

    private func name(_ status: AssetKeyStatus) -> String { String(String(describing: status).prefix { $0 != "(" }) }

    @Test func creatingAnAssetDoesNoIO() async throws {
        try await simulated { world in
            let asset = Asset(ResourceAddress("http://example.com/a.m3u8"), environment: world.environment)
            let items = [PlayerItem(asset: asset), PlayerItem(asset: asset)]
            try await world.sleep(.seconds(5))
            #expect(world.inspections == 0)
            #expect(name(asset.status(of: .duration)) == "unknown")
            #expect(items[0] != items[1])
            #expect(items[0].asset == items[1].asset)
        }
    }

    @Test func concurrentLoadsShareOneInspection() async throws {
        try await simulated(slow(2)) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            async let duration = asset.load(.duration)
            async let tracks = asset.load(.tracks, .isPlayable)
            try await world.sleep(.seconds(1))
            #expect(name(asset.status(of: .duration)) == "loading")
            #expect(name(asset.status(of: .isPlayable)) == "loading")
            #expect(name(asset.status(of: .variants)) == "unknown")
            #expect(asset.loadedValue(.duration) == nil)
            #expect(try await duration == MediaTime(seconds: 10))
            #expect(try await tracks.0.map(\.mediaType) == [.video, .audio])
            #expect(world.now == .seconds(2))
            #expect(try await asset.load(.variants).count == 2)
            #expect(try await asset.load(.playbackType) == .vod)
            #expect(asset.loadedValue(.isPlayable) == true)
            #expect(AssetKey.allCases.allSatisfy { name(asset.status(of: $0)) == "loaded" })
            #expect(world.inspections == 1)
        }
    }

    @Test func failedLoadIsNotRepeated() async throws {
        let world = World { _, request in throw StreamingError(.notRecognized, "no stream", address: request.address) }
        try await simulated(world) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            for _ in 0..<2 {
                let error = await #expect(throws: PlayerError.self) { try await asset.load(.duration) }
                #expect(error?.code == .notLoaded)
                #expect((error?.cause as? StreamingError)?.code == .notRecognized)
                #expect(error?.address == asset.address)
            }
            guard case .failed(let error) = asset.status(of: .duration) else {
                Issue.record("the status says why")
                return
            }
            #expect(error.message == "no stream")
            #expect(world.inspections == 1)
        }
    }

    @Test func canceledLoadCanBeRetried() async throws {
        try await simulated(slow(100)) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            async let duration = asset.load(.duration)
            try await world.sleep(.seconds(1))
            asset.cancelLoading()
            do {
                _ = try await duration
                Issue.record("nothing was loaded")
            } catch let error as PlayerError {
                #expect(error.code == .cancelled)
            }
            #expect(name(asset.status(of: .duration)) == "cancelled")
            #expect(world.now == .seconds(1))
            #expect(try await asset.load(.duration) == MediaTime(seconds: 10))
            #expect(world.inspections == 2)
        }
    }

    @Test func cancelingOneLoadDoesNotAffectOthers() async throws {
        try await simulated(slow(10)) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            async let duration = asset.load(.duration)
            let gone = await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    do {
                        _ = try await asset.load(.tracks)
                        return false
                    } catch { return error is CancellationError }
                }
                try? await world.sleep(.seconds(1))
                group.cancelAll()
                return await group.next() ?? false
            }
            #expect(gone)
            #expect(world.now == .seconds(1))
            let loaded = try await duration
            #expect(loaded == MediaTime(seconds: 10))
            #expect(world.inspections == 1)
        }
    }

    @Test func cancelingTheLastLoadEndsTheInspection() async throws {
        try await simulated(slow(100)) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { _ = try? await asset.load(.tracks) }
                try? await world.sleep(.seconds(1))
                group.cancelAll()
            }
            #expect(name(asset.status(of: .tracks)) == "cancelled")
            #expect(world.now == .seconds(1))
        }
    }

    @Test func playabilitySequenceYieldsTheCurrentValueFirst() async throws {
        try await simulated(slow(1)) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            let values = try await listening(to: asset.playability) { _ in
                try await world.sleep(.seconds(1))
                #expect(try await asset.load(.isPlayable))
                try await world.sleep(.seconds(1))
            }
            #expect(values == [false, true])
        }
    }

    @Test func undecodableAssetIsNotPlayable() async throws {
        let world = World { _, _ in
            var inspection = AssetInspection.film
            inspection.error = StreamingError(.unsupported, "no decoder")
            return inspection
        }
        try await simulated(world) { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            let (isPlayable, tracks) = try await asset.load(.isPlayable, .tracks)
            #expect(!isPlayable)
            #expect(tracks.count == 2)
        }
    }

    @Test func mediaSelectionGroupsAndPreferredOptionsMatchThePlaylist() async throws {
        try await simulated { world in
            let asset = Asset(ResourceAddress("a"), environment: world.environment)
            #expect(asset.mediaSelectionGroup(for: .audible) == nil)
            #expect(asset.preferredMediaSelection.all.isEmpty)
            let audio = try #require(try await asset.loadMediaSelectionGroup(for: .audible))
            #expect(audio.options.map(\.name) == ["English", "Deutsch"])
            #expect(asset.mediaSelectionGroup(for: .legible)?.options.map(\.name) == ["Untertitel"])
            #expect(asset.mediaSelectionGroup(for: .visual) == nil)
            #expect(asset.preferredMediaSelection.all.map(\.name) == ["English"])
            #expect(audio.options[0].has(.audible))
            #expect(!audio.options[0].has(.legible))
            #expect(!audio.options[0].has(.describesVideoForAccessibility))
        }
    }

    @Test func onlyLocalAssetsHaveACache() async throws {
        try await simulated { world in
            #expect(Asset(ResourceAddress("http://example.com/a"), environment: world.environment).assetCache == nil)
            let asset = Asset(filePath: "/films/a.package", environment: world.environment)
            #expect(asset.address.filePath == "/films/a.package")
            #expect(asset.assetCache?.isPlayableOffline == true)
        }
    }

    @Test func inspectionEndsWithTheAsset() async throws {
        let ended = Collected<Bool>()
        let world = World { world, _ in
            do { try await world.sleep(.seconds(100)) } catch { ended.add(true) }
            return .film
        }
        try await simulated(world) { world in
            var asset: Asset? = Asset(ResourceAddress("a"), environment: world.environment)
            let task = Task(executorPreference: world.simulation) { [weak asset] in try await asset?.load(.duration) }
            try await world.sleep(.seconds(1))
            task.cancel()
            asset = nil
            try await world.sleep(.seconds(1))
            #expect(ended.all == [true])
        }
    }

    @Test func assetOptionsReachTheEngine() async throws {
        try await simulated { world in
            let options = AssetOptions(
                headerFields: ["X-Token": "1"],
                cookies: [.init(name: "a", value: "b")],
                userAgent: "test",
                primarySessionID: "mine"
            )
            let asset = Asset(ResourceAddress("a"), options: options, environment: world.environment)
            let player = try Player(playerItem: PlayerItem(asset: asset))
            try await world.sleep(.seconds(1))
            #expect(world.engine(0)?.request.asset.options == options)
            #expect(world.engine(0)?.request.session.id == "mine")
            #expect(player.rate == 0)
        }
    }
}

import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of the memory that the clients of live playlists with replaced breaks share.
@Suite struct BreakShareTests {
    /// Shares whose results are texts: the status of a refusal, or `ok` with the timelines that were removed.
    private final class Stage {
        var shares: BreakShares

        init(size: Int = 100, clientSize: Int? = 40, minimumSize: Int = 0) {
            shares = BreakShares(BreakShares.Limits(size: size, clientSize: clientSize, minimumSize: minimumSize))
        }

        func store(_ size: Int, _ key: String, _ client: UInt8? = nil, at seconds: Int64 = 0) -> String {
            let network = client.map { ClientNetwork(HostAddress([192, 0, 2, $0])) }
            do {
                let removed = try shares.store(size, of: key, for: network, at: .seconds(seconds))
                return (["ok"] + removed).joined(separator: " ")
            } catch {
                return "\(ServerError(error).status.code)"
            }
        }
    }

    @Test func sizesAreLimitedForEachClientAndForAll() {
        let stage = Stage()
        let results = [
            stage.store(40, "a", 1), stage.store(1, "b", 1), stage.store(40, "c", 2), stage.store(20, "d"),
            stage.store(1, "e"), stage.store(1, "f", 3),
        ]
        #expect(results == ["ok", "429", "ok", "ok", "503", "503"])
    }

    @Test func knownTimelineMayGrowToTwiceTheLimits() {
        let stage = Stage()
        #expect(stage.store(30, "a", 1) == "ok" && stage.store(80, "a", 1) == "ok")
        #expect(stage.store(81, "a", 1) == "429")
        // The refused timeline counts as before.
        #expect(stage.store(20, "b") == "ok" && stage.store(1, "c") == "503")
        #expect(stage.store(120, "b") == "ok" && stage.store(121, "b") == "503")
    }

    @Test func timelineBelongsToItsFirstClient() {
        let stage = Stage()
        #expect(stage.store(30, "a", 1) == "ok" && stage.store(30, "a", 2) == "ok")
        #expect(stage.store(40, "b", 2) == "ok" && stage.store(10, "c", 1) == "ok" && stage.store(1, "d", 1) == "429")
    }

    @Test func smallerTimelineMakesRoom() {
        let stage = Stage()
        #expect(stage.store(40, "a", 1) == "ok" && stage.store(10, "a", 1) == "ok")
        #expect(stage.store(30, "b", 1) == "ok" && stage.store(1, "c", 1) == "429")
    }

    @Test func onlyAsManyIdleTimelinesAreRemovedAsNecessary() {
        let stage = Stage()
        let begun = [stage.store(40, "a"), stage.store(40, "b", at: 1), stage.store(20, "c", at: 2)]
        #expect(begun == ["ok", "ok", "ok"])
        #expect(stage.store(20, "d", at: 299) == "503")
        #expect(stage.store(20, "d", at: 300) == "ok a")
        #expect(stage.store(60, "e", at: 302) == "ok b")
    }

    @Test func idleTimelinesOfTheSameTimeAreRemovedInTheOrderOfTheirKeys() {
        let stage = Stage()
        for key in ["c", "a", "d", "b"] { #expect(stage.store(25, key) == "ok") }
        #expect(stage.store(50, "e", at: 300) == "ok a b")
    }

    @Test func clientOverItsShareRemovesItsOwnTimelines() {
        let stage = Stage()
        #expect(stage.store(30, "b", 2) == "ok" && stage.store(40, "a", 1, at: 1) == "ok")
        #expect(stage.store(10, "c", 1, at: 301) == "ok a")
    }

    @Test func refusalRemovesNothing() {
        let stage = Stage()
        #expect(stage.store(50, "a") == "ok" && stage.store(50, "b", at: 200) == "ok")
        #expect(stage.store(60, "c", at: 300) == "503")
        #expect(stage.store(50, "c", at: 300) == "ok a")
    }

    @Test func requestedTimelinesAreInUse() {
        let stage = Stage()
        stage.shares.use("a", size: 30, at: .zero)
        #expect(stage.shares.keysInUse(at: .seconds(299)) == ["a"] && stage.shares.keysInUse(at: .seconds(300)).isEmpty)
        // Another request is no other timeline.
        stage.shares.use("a", size: 90, at: .seconds(100))
        #expect(stage.shares.keysInUse(at: .seconds(399)) == ["a"])
        #expect(stage.store(70, "b", at: 100) == "ok" && stage.store(1, "c", at: 100) == "503")
    }

    @Test func timelinesHaveAMinimumSize() {
        let stage = Stage(minimumSize: 25)
        stage.shares.use("a", size: 1, at: .zero)
        #expect(stage.store(1, "b") == "ok" && stage.store(26, "c") == "ok" && stage.store(1, "d") == "503")
        #expect(stage.store(24, "b") == "ok", "its size is the same")
    }

    @Test func limitsHaveDefaults() {
        let limits = BreakShares.Limits(size: 100)
        #expect(limits.clientSize == 25 && limits.minimumSize == 0 && limits.idleTime == .seconds(300))
        let redis = RedisBreakStore.defaultLimits
        #expect(redis.size == 1_073_741_824 && redis.clientSize == 67_108_864 && redis.minimumSize == 8_192)
        #expect(redis.idleTime == .seconds(21_600))
    }

    @Test func refusalNamesTheTimeToWait() {
        var shares = BreakShares(BreakShares.Limits(size: 4))
        var refusal: ServerError?
        do {
            _ = try shares.store(2, of: "a", for: ClientNetwork(nil), at: .zero)
        } catch { refusal = error as? ServerError }
        #expect(refusal?.hint == "wait 5 minutes after the last request for some of them")
    }

    @Test(
        arguments: [
            ("redis://example", "example", 6_379, nil, nil, 0),
            ("redis://user:word@example:65535/100000", "example", 65_535, "user", "word", 100_000),
            ("redis://:word@[::1]:1/", "::1", 1, nil, "word", 0),
        ] as [(String, String, Int32, String?, String?, Int)]
    )
    func partsOfARedisAddress(
        text: String,
        host: String,
        port: Int32,
        user: String?,
        password: String?,
        database: Int
    ) throws {
        let address = try #require(RedisAddress(text))
        #expect(address.host == host && address.port == port && address.database == database)
        #expect(address.user == user && address.password == password)
    }

    @Test(arguments: ["redis://example/100001", "redis://example:65536", "redis://example#x", "rediss://example"])
    func otherRedisAddressesAreRefused(text: String) { #expect(RedisAddress(text) == nil) }
}

/// Tests of a server whose storage of live playlists is shared with others.
@Suite struct SharedStorageTests {
    private final class Store: BreakStore {
        struct State {
            var verificationCount = 0
            var isAvailable = true
            var refusalCount = 0
            var storeCount = 0
        }
        let state = Mutex(State())

        init(refusals: Int = 0) { state.withLock { $0.refusalCount = refusals } }

        func breaks(of key: String) async throws -> StoredBreaks { StoredBreaks() }

        func store(
            _ breaks: BreakTimelines,
            of key: String,
            replacing revision: Int64,
            for client: ClientNetwork?
        ) async throws -> Bool {
            state.withLock { state in
                state.storeCount += 1
                return state.storeCount > state.refusalCount
            }
        }

        func verify() async throws {
            let isAvailable = state.withLock { state in
                state.verificationCount += 1
                return state.isAvailable
            }
            guard isAvailable else { throw ServerError.stateUnavailable("the storage is down") }
        }
    }

    @Test func storageIsVerifiedOnceEachSecond() async throws {
        let (store, time) = (Store(), ManualTime())
        let readiness = Readiness(store, time: time)
        func verification() async -> String {
            do {
                try await readiness.verify()
                return "ready"
            } catch {
                return ServerError(error).code
            }
        }
        #expect(await verification() == "ready")
        store.state.withLock { $0.isAvailable = false }
        time.advance(by: .milliseconds(999))
        #expect(await verification() == "ready")
        #expect(store.state.withLock { $0.verificationCount } == 1)
        time.advance(by: .milliseconds(1))
        #expect(await verification() == "state-unavailable")
        store.state.withLock { $0.isAvailable = true }
        #expect(await verification() == "state-unavailable")
        time.advance(by: .seconds(1))
        #expect(await verification() == "ready")
        #expect(store.state.withLock { $0.verificationCount } == 3)
    }

    /// A request whose playlist others edit at the same time is tried again, but not forever.
    @Test(arguments: [(0, nil), (15, nil), (16, "503 state-unavailable")] as [(Int, String?)])
    func playlistIsEditedAgainAfterOthersHaveStoredIt(refusals: Int, failure: String?) async throws {
        let segments = (2..<10).map { number in
            (number == 6 ? "#EXT-X-CUE-OUT:12\n" : "") + "#EXTINF:4,\nsegment-\(number).ts\n"
        }
        let transport = ScriptedTransport(texts: [
            "https://h/live.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:2\n" + segments.joined(),
            "https://h/ad.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nad.ts\n#EXT-X-ENDLIST\n",
        ])
        let store = Store(refusals: refusals)
        let handler = PlaybackRequestHandler(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            budget: try ServerCapacity(ServerLimits()).admit(),
            workers: .callingTask,
            breaks: store
        )
        let query = QueryItems("url=https://h/live.m3u8&replace-breaks=https://h/ad.m3u8@cues")
        var found: String?
        do {
            let bytes = try await handler.playlist(for: PlaybackRequest(query))
            #expect(String(decoding: bytes, as: UTF8.self).contains("https://h/ad.ts"))
        } catch {
            found = "\(ServerError(error).status.code) \(ServerError(error).code)"
        }
        #expect(found == failure)
        #expect(store.state.withLock { $0.storeCount } == min(refusals + 1, 16))
    }
}

import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamTesting
import PresentationLoading
import Testing

@testable import MillstreamServer
@testable import PlaylistEditing

/// Tests live playlists whose breaks are replaced, over requests and restarts of the server.
@Suite struct LiveBreakTests {
    private static let advertisement =
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nad-0.ts\n#EXTINF:6,\nad-1.ts\n#EXT-X-ENDLIST\n"

    private func version(endingAt end: Int) -> MisbehavingServer.Resource {
        let first = max(0, end - 6)
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
        for number in first..<end {
            if number % 12 == 6 { text += "#EXT-X-CUE-OUT:12\n" }
            text += "#EXTINF:4,\nsegment-\(number).ts\n"
        }
        return .text(text, contentType: "application/vnd.apple.mpegurl")
    }

    private func playlist(_ stage: ServerStage) async throws -> MediaPlaylist {
        // The origin is a proxy, so that the address of the source is the same after a restart.
        let live = ServerStage.publicHost + "/public.m3u8"
        let advertisement = ServerStage.publicHost + "/mixed.m3u8"
        let response = try await stage.ask("/play.m3u8?url=\(live)&replace-breaks=\(advertisement)@cues")
        try #require(response.status == 200, "\(response.body)")
        return try MediaPlaylist(parsing: Array(response.body.utf8))
    }

    @Test func numbersContinueAfterARestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("breaks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var known: [Int64: [String]] = [:]
        // The server is restarted between any two of these ranges, once in the middle of a break.
        for ends in [5..<8, 8..<19, 19..<40] {
            try await ServerStage.run(
                configure: { options, origin in
                    options.stateFile = folder.appendingPathComponent("state")
                    origin.set("/mixed.m3u8", .text(Self.advertisement))
                },
                { (stage: ServerStage) async throws in
                    for end in ends {
                        stage.origin.set("/public.m3u8", version(endingAt: end))
                        for segment in try await playlist(stage).segments {
                            let name = segment.uri.contains("/segment") ? segment.title ?? "" : segment.uri
                            let value = [
                                name, "\(segment.duration)", "\(segment.discontinuitySequence)",
                                "\(segment.hasDiscontinuity)",
                            ]
                            #expect(known[segment.sequence] ?? value == value, "version \(end)")
                            known[segment.sequence] = value
                        }
                    }
                }
            )
        }
        // Three breaks, of which each replaces three segments by two.
        #expect(known.keys.sorted() == Array(0..<Int64(39 - 3)))
        #expect(known.values.filter { $0[1] == "6" }.count == 6)
    }

    /// A window of a live playlist moves on with it, whether its breaks are replaced before or after it is shortened.
    @Test(arguments: ["duration=16", "duration=16&replace-breaks=AD@cues", "replace-breaks=AD@cues&duration=16"])
    func windowOfALivePlaylistMovesOn(edits: String) async throws {
        try await ServerStage.run(
            configure: { _, origin in origin.set("/mixed.m3u8", .text(Self.advertisement)) },
            { (stage: ServerStage) async throws in
                let edits = edits.replacing("AD", with: ServerStage.publicHost + "/mixed.m3u8")
                var known: [Int64: String] = [:]
                var start: Int64 = 0
                for end in 6..<30 {
                    stage.origin.set("/public.m3u8", version(endingAt: end))
                    let response = try await stage.ask("/play.m3u8?url=\(stage.publicSource)&\(edits)")
                    try #require(response.status == 200, "\(response.body)")
                    let playlist = try MediaPlaylist(parsing: Array(response.body.utf8))
                    #expect(playlist.isLive && playlist.mediaSequence >= start, "version \(end)")
                    start = playlist.mediaSequence
                    for segment in playlist.segments {
                        let name = String(segment.uri.prefix { $0 != "?" })
                        #expect(known[segment.sequence] ?? name == name, "version \(end)")
                        known[segment.sequence] = name
                    }
                }
                #expect(start > 15 && known.values.contains { $0.contains("ad-1") } == edits.contains("breaks"))
            }
        )
    }

    /// A variant that is first played after a break has the discontinuity sequence numbers of the other one.
    @Test func variantsHaveCommonDiscontinuityNumbers() async throws {
        func dated(_ end: Int) -> MisbehavingServer.Resource {
            let first = max(0, end - 6)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
            for number in first..<end {
                if number == first {
                    let start = MediaTime(seconds: 1_767_225_600 + Int64(number) * 4)
                    text += "#EXT-X-PROGRAM-DATE-TIME:\(ProgramDateTime(sinceEpoch: start))\n"
                }
                if number % 12 == 6 { text += "#EXT-X-CUE-OUT:12\n" }
                text += "#EXTINF:4,\nsegment-\(number).ts\n"
            }
            return .text(text, contentType: "application/vnd.apple.mpegurl")
        }
        try await ServerStage.run(
            configure: { _, origin in
                origin.set("/mixed.m3u8", .text(Self.advertisement))
                let variants = ["a", "b"].map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0.utf8.count)\n\($0).m3u8\n" }
                origin.set("/public.m3u8", .text("#EXTM3U\n" + variants.joined()))
                for name in ["a", "b"] { origin.behave("/\(name).m3u8", .proper) }
            },
            { (stage: ServerStage) async throws in
                for name in ["a", "b"] { stage.origin.set("/\(name).m3u8", dated(6)) }
                let live = ServerStage.publicHost + "/public.m3u8"
                let rule = "replace-breaks=\(ServerStage.publicHost)/mixed.m3u8@cues"
                let top = try await stage.ask("/play.m3u8?url=\(live)&\(rule)")
                try #require(top.status == 200, "\(top.body)")
                let variants = top.body.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
                try #require(variants.count == 2)
                func numbers(_ variant: String) async throws -> [ProgramDateTime: Int64] {
                    let response = try await stage.ask(variant)
                    try #require(response.status == 200, "\(response.body)")
                    let playlist = try MediaPlaylist(parsing: Array(response.body.utf8))
                    return Dictionary(
                        playlist.segments.compactMap { segment in
                            segment.programDateTime.map { ($0, segment.discontinuitySequence) }
                        },
                        uniquingKeysWith: { first, _ in first }
                    )
                }
                for end in 6...17 {
                    stage.origin.set("/a.m3u8", dated(end))
                    _ = try await numbers(variants[0])
                }
                for end in 17...30 {
                    for name in ["a", "b"] { stage.origin.set("/\(name).m3u8", dated(end)) }
                    let (first, second) = (try await numbers(variants[0]), try await numbers(variants[1]))
                    #expect(first == second && first.values.allSatisfy { $0 >= 2 }, "\(end)")
                }
            }
        )
    }

    @Test func storedBreaksAreReplacedOnlyIfTheyWereRead() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("breaks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = try StateFile(folder.appendingPathComponent("state").path)
        var breaks = BreakTimelines()
        breaks.timelines["a"] = BreakTimeline()
        for store in [MemoryBreakStore(), FileBreakStore(file)] as [any BreakStore] {
            #expect(try await store.breaks(of: "a").revision == 0)
            #expect(try await store.store(breaks, of: "a", replacing: 0, for: nil))
            #expect(try await !store.store(BreakTimelines(), of: "a", replacing: 0, for: nil))
            let stored = try await store.breaks(of: "a")
            #expect(stored.breaks == breaks && stored.revision == 1)
            #expect(try await store.store(BreakTimelines(), of: "a", replacing: 1, for: nil))
            #expect(try await store.breaks(of: "b").breaks == BreakTimelines())
        }
    }

    // MARK: Memory

    private static let breaks: BreakTimelines = {
        var breaks = BreakTimelines()
        breaks.timelines["a"] = BreakTimeline()
        return breaks
    }()

    private static func client(_ number: UInt8) -> ClientNetwork { ClientNetwork(HostAddress([192, 0, 2, number])) }

    /// Stores the breaks of new playlists until a client is refused.
    private func fill(
        _ store: MemoryBreakStore,
        _ prefix: String,
        for client: ClientNetwork
    ) -> (count: Int, ServerError?) {
        for number in 0..<1_000 {
            do {
                guard try store.store(Self.breaks, of: "\(prefix)-\(number)", replacing: 0, for: client) else {
                    return (number, nil)
                }
            } catch {
                return (number, error as? ServerError)
            }
        }
        return (1_000, nil)
    }

    @Test func aClientCannotRemoveThePlaylistsOfOthers() throws {
        let time = ManualTime()
        let store = MemoryBreakStore(size: ByteCount(100_000), time: time)
        #expect(try store.store(Self.breaks, of: "mine", replacing: 0, for: Self.client(1)))
        let (count, error) = fill(store, "stranger", for: Self.client(2))
        #expect(count > 1 && error?.status == .tooManyRequests && error?.code == "too-many-timelines")
        #expect(store.breaks(of: "mine").revision == 1)
        // The playlists of the stranger go on as well, and another client has room.
        #expect(try store.store(Self.breaks, of: "stranger-0", replacing: 1, for: Self.client(2)))
        #expect(try store.store(Self.breaks, of: "mine-too", replacing: 0, for: Self.client(1)))
    }

    @Test func playlistsThatArePlayedAreNeverRemoved() throws {
        let time = ManualTime()
        let store = MemoryBreakStore(size: ByteCount(100_000), time: time)
        #expect(try store.store(Self.breaks, of: "mine", replacing: 0, for: Self.client(1)))
        var refusal: ServerError?
        for client in 2..<12 where refusal?.status != .serviceUnavailable {
            refusal = fill(store, "stranger-\(client)", for: Self.client(UInt8(client))).1
        }
        #expect(refusal?.status == .serviceUnavailable && refusal?.code == "too-many-timelines")
        #expect(store.breaks(of: "mine").revision == 1)
        // Playlists without requests make room for new ones.
        time.advance(by: BreakShares.idleTime - .seconds(1))
        #expect(store.breaks(of: "mine").revision == 1)
        time.advance(by: .seconds(2))
        #expect(try store.store(Self.breaks, of: "new", replacing: 0, for: Self.client(12)))
        #expect(store.breaks(of: "mine").revision == 1 && store.breaks(of: "stranger-2-0").revision == 0)
        // Not more of them are removed than the new one needs.
        #expect(store.breaks(of: "stranger-2-1").revision == 1)
    }

    // MARK: Files and Redis

    /// Returns the code of the error with which the breaks of a new playlist are refused; `nil` if they are stored.
    private func refusal(_ store: any BreakStore, _ key: String, _ client: UInt8) async -> String? {
        do {
            guard try await store.store(Self.breaks, of: key, replacing: 0, for: Self.client(client)) else { return "" }
            return nil
        } catch { return (error as? ServerError).map { "\($0.status.code) \($0.code)" } ?? "\(error)" }
    }

    private func revision(_ store: any BreakStore, _ key: String) async throws -> Int64 {
        try await store.breaks(of: key).revision
    }

    @Test func aClientCannotRemoveThePlaylistsOfOthersFromAFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("breaks-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var limits = StateFile.Limits()
        limits.valueCount = 16
        let path = folder.appendingPathComponent("state").path
        let time = ManualTime()
        let store = FileBreakStore(try StateFile(path, limits: limits), time: time)
        #expect(await refusal(store, "mine", 1) == nil)
        // A client has a quarter of the values, however small they are.
        for number in 0..<4 { #expect(await refusal(store, "2-\(number)", 2) == nil) }
        #expect(await refusal(store, "2-4", 2) == "429 too-many-timelines")
        #expect(try await store.store(Self.breaks, of: "2-0", replacing: 1, for: Self.client(2)))
        for client: UInt8 in 3...4 {
            for number in 0..<4 { #expect(await refusal(store, "\(client)-\(number)", client) == nil) }
        }
        for number in 0..<3 { #expect(await refusal(store, "5-\(number)", 5) == nil) }
        #expect(await refusal(store, "6-0", 6) == "503 too-many-timelines")
        #expect(try await revision(store, "mine") == 1)
        // Only playlists without requests make room, the least recently stored first.
        time.advance(by: BreakShares.idleTime)
        #expect(try await revision(store, "mine") == 1)
        #expect(await refusal(store, "6-0", 6) == nil)
        var kept: [Int64] = []
        for key in ["mine", "2-0", "2-1"] { kept.append(try await revision(store, key)) }
        #expect(kept == [1, 2, 0])
        // After a restart, what is requested is not removed either.
        let next = FileBreakStore(try StateFile(path, limits: limits), time: time)
        #expect(try await revision(next, "mine") == 1)
        for client: UInt8 in 7...9 {
            for number in 0..<4 { #expect(await refusal(next, "\(client)-\(number)", client) == nil) }
        }
        #expect(try await revision(next, "mine") == 1)
    }

    /// The server refuses a client before it sends anything to Redis, which cannot be reached here.
    @Test func aClientCannotFillRedis() async throws {
        let limits = BreakShares.Limits(size: 100_000, minimumSize: 10_000)
        let address = try #require(RedisAddress("redis://127.0.0.1:1"))
        let store = RedisBreakStore(address, limits: limits, time: ManualTime())
        for number in 0..<2 { #expect(await refusal(store, "1-\(number)", 1) == "503 state-unavailable") }
        #expect(await refusal(store, "1-2", 1) == "429 too-many-timelines")
        #expect(await refusal(store, "2-0", 2) == "503 state-unavailable")
    }

    @Test func sharesOfRedisAreCountedForTheTimeThatItStoresThem() throws {
        var shares = BreakShares(RedisBreakStore.defaultLimits)
        let size = 4 << 20
        for number in 0..<16 { _ = try shares.store(size, of: "\(number)", for: Self.client(1), at: .zero) }
        var refusal: ServerError?
        do {
            _ = try shares.store(size, of: "16", for: Self.client(1), at: .seconds(6 * 3_600 - 1))
        } catch { refusal = error as? ServerError }
        #expect(refusal?.status == .tooManyRequests && refusal?.response.headers[.retryAfter] != nil)
        let ofOther = try shares.store(size, of: "a", for: Self.client(2), at: .zero)
        let ofFirst = try shares.store(size, of: "16", for: Self.client(1), at: .seconds(6 * 3_600))
        #expect(ofOther == [] && ofFirst == ["0"])
    }

    @Test(arguments: [
        "redis://127.0.0.1", "redis://localhost:7000/3", "redis://:password@[::1]:6379", "REDIS://user:word@host/",
    ])
    func redisAddressesAreRead(text: String) { #expect(RedisAddress(text) != nil) }

    @Test(arguments: [
        "redis:", "redis://", "http://localhost", "redis://host:0", "redis://host:70000", "redis://host/x",
        "redis://host/-1", "redis://host?a=b", "",
    ])
    func otherRedisAddressesAreRefused(text: String) { #expect(RedisAddress(text) == nil) }

    @Test func unreachableRedisIsAnError() async throws {
        let store = RedisBreakStore(try #require(RedisAddress("redis://127.0.0.1:1")))
        await #expect(throws: ServerError.self) { () async throws in try await store.verify() }
    }
}

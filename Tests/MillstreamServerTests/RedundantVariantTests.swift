import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOEmbedded
import NetworkConditioning
import PlaylistEditing
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// A clock that advances only when a test advances it, and whose waits end only when they are canceled.
private final class StoppedTime: TimeSource {
    private let current = Mutex(Duration.zero)

    var now: Duration { current.withLock { $0 } }

    /// The time as a date, for the age of resources.
    var date: UnixSeconds { UnixSeconds(now.components.seconds) }

    /// Advances the clock.
    func advance(by duration: Duration) { current.withLock { $0 += duration } }

    func sleep(for duration: Duration) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        throw CancellationError()
    }
}

/// Tests the redundant variants in multivariant playlists while an origin becomes stale, fails and recovers.
@Suite struct RedundantVariantTests {
    private static let host = "http://10.0.0.1/"
    private static let main = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="E",URI="a1.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="E",URI="a2.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a1"
        one.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a2"
        two.m3u8

        """

    private let transport: ScriptedTransport
    private let time: StoppedTime
    private let router: Router<ServerRequestContext>

    init() throws {
        let transport = ScriptedTransport()
        let time = StoppedTime()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let policy = SourcePolicy(allowedHosts: ["10.0.0.1"], catalog: []) { _ in false }
        let hosts = HostCache()
        var sources = SourceAccess(trusted: (loader, policy, hosts), foreign: (loader, policy, hosts))
        sources.trustedMemory = ResourceMemory(ResourceMemory.Options { time.date })
        let environment = PlaybackEnvironment(
            sources: sources,
            signer: SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32))),
            capacity: ServerCapacity(ServerLimits()),
            workers: .callingTask,
            time: time
        )
        let router = Router(context: ServerRequestContext.self)
        MediaRoutes(
            environment,
            library: try AssetLibrary(directory: folder),
            links: LinkRegistry(shared: .off),
            faults: FaultSettings([])
        ).add(to: router)
        transport.setResponses(for: Self.host + "main.m3u8", .text(Self.main))
        self.transport = transport
        self.time = time
        self.router = router
    }

    private func ask(_ query: String) async throws -> Response {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var context = ServerRequestContext(
            source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger)
        )
        context.initiator = .player
        let request = Request.get("/play.m3u8?url=\(Self.host)main.m3u8&\(query)")
        return try await router.buildResponder().respond(to: request, context: context)
    }

    /// Returns the multivariant playlist.
    ///
    /// The step distinguishes requests in the same second, which have the same response.
    private func text(_ step: Int, _ redundant: String = "redundant=available") async throws -> String {
        let response = try await ask("\(redundant)&define=step%3D\(step)")
        let text = try await response.body.recorded().text
        try #require(response.status == .ok, "\(text)")
        return text
    }

    /// Returns the names of the playlists that the multivariant playlist refers to.
    private func names(_ step: Int) async throws -> [String] {
        let text = try await text(step)
        return ["a1", "a2", "one", "two"].filter { text.contains("/\($0).m3u8") }
    }

    private static func media(endingAt end: Int) -> ScriptedTransport.Response {
        let segments = (end - 3..<end).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(end - 3)\n" + segments)
    }

    private static let unavailable = ScriptedTransport.Response.failure(
        TransportError(.status, "503", address: ResourceAddress(host), status: 503)
    )
    private static let all = ["a1", "a2", "one", "two"]

    private func publish(one: ScriptedTransport.Response, two: ScriptedTransport.Response) {
        transport.setResponses(for: Self.host + "one.m3u8", one)
        transport.setResponses(for: Self.host + "two.m3u8", two)
        time.advance(by: .seconds(5))
    }

    @Test func variantsOfAStaleOriginAreRemovedUntilItRecovers() async throws {
        // The second stream does not change any longer.
        for step in 0..<3 {
            publish(one: Self.media(endingAt: 10 + step), two: Self.media(endingAt: 10))
            let names = try await names(step)
            #expect(names == Self.all)
        }
        publish(one: Self.media(endingAt: 13), two: Self.media(endingAt: 10))
        let stale = try await names(3)
        #expect(stale == ["a1", "one"])
        publish(one: Self.media(endingAt: 14), two: Self.unavailable)
        let failed = try await names(4)
        #expect(failed == ["a1", "one"])
        publish(one: Self.media(endingAt: 15), two: Self.media(endingAt: 15))
        let recovered = try await names(5)
        #expect(recovered == Self.all)
        publish(one: Self.unavailable, two: .text("<html>"))
        let none = try await names(6)
        #expect(none == Self.all)
        publish(one: Self.unavailable, two: Self.media(endingAt: 17))
        let second = try await names(7)
        #expect(second == ["a2", "two"])
    }

    /// A missing I-frame playlist is left out, whether or not the variant of the same origin is available.
    @Test func iFrameVariantWhosePlaylistIsMissingIsRemoved() async throws {
        let iFrames = ["one", "two"].map { "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI=\"\($0)-i.m3u8\"\n" }.joined()
        transport.setResponses(for: Self.host + "main.m3u8", .text(Self.main + iFrames))
        transport.setResponses(for: Self.host + "one-i.m3u8", Self.unavailable)
        transport.setResponses(for: Self.host + "two-i.m3u8", Self.iFrames(endingAt: 40))
        publish(one: Self.media(endingAt: 10), two: Self.media(endingAt: 10))
        let missing = try await text(0)
        #expect(missing.contains("/one.m3u8") && missing.contains("/two.m3u8"))
        #expect(!missing.contains("/one-i.m3u8") && missing.contains("/two-i.m3u8"))
        // Within three target durations, twelve I-frames of a second.
        transport.setResponses(for: Self.host + "one-i.m3u8", Self.iFrames(endingAt: 28))
        publish(one: Self.media(endingAt: 11), two: Self.media(endingAt: 11))
        let complete = try await text(1)
        #expect(complete.contains("/one-i.m3u8") && complete.contains("/two-i.m3u8"))
        transport.setResponses(for: Self.host + "two-i.m3u8", Self.iFrames(endingAt: 41))
        publish(one: Self.media(endingAt: 12), two: Self.unavailable)
        let stale = try await text(2)
        #expect(stale.contains("/one.m3u8") && !stale.contains("/two.m3u8"))
        #expect(!stale.contains("/one-i.m3u8") && stale.contains("/two-i.m3u8"))
    }

    /// Returns a live I-frame playlist with I-frames of a second and a target duration of four.
    private static func iFrames(endingAt end: Int) -> ScriptedTransport.Response {
        let segments = (end - 20..<end).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
        let header = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:4\n#EXT-X-I-FRAMES-ONLY\n"
        return .text(header + "#EXT-X-MEDIA-SEQUENCE:\(end - 20)\n" + segments)
    }

    @Test func playlistWithoutStaleVariantsIsUnchanged() async throws {
        publish(one: Self.media(endingAt: 10), two: Self.media(endingAt: 11))
        let filtered = try await text(0)
        let unfiltered = try await text(0, "redundant=all")
        #expect(filtered == unfiltered && filtered.contains("two.m3u8"))
    }

    /// By default, the response does not depend on the media playlists.
    @Test func mediaPlaylistsAreLoadedOnDemandOnceInATargetDuration() async throws {
        publish(one: Self.media(endingAt: 10), two: Self.unavailable)
        let unfiltered = try await text(0, "segments=redirect")
        #expect(unfiltered.contains("two.m3u8"))
        func loadCount() -> Int { transport.requestedAddresses.count { !$0.hasSuffix("main.m3u8") } }
        #expect(loadCount() == 0)
        for step in 1...3 {
            let names = try await names(step)
            #expect(names == ["a1", "one"])
        }
        #expect(loadCount() == 2)
        time.advance(by: .seconds(4))
        _ = try await names(4)
        #expect(loadCount() == 4)
    }

    /// The same over connections, and with edits.
    @Test(.timeLimit(.minutes(2))) func variantThatAnOriginRefusesIsRemoved() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.serve("/main.m3u8", Self.main)
            stage.serve("/one.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n")
            stage.origin.behave("/two.m3u8", .status(503))
            let target = "/play.m3u8?url=\(stage.origin.address("/main.m3u8"))&redundant=available&duration=8"
            var response = try await stage.ask(target)
            // On a busy machine, a load can exceed its time, after which all variants remain.
            while response.status == 200, response.body.contains("/two.m3u8") {
                await Task.yield()
                response = try await stage.ask(target)
            }
            #expect(response.status == 200 && response.body.contains("/one.m3u8&duration=8"), "\(response.body)")
            let refused = try await stage.ask(target.replacing("available", with: "some"))
            #expect(refused.status == 400 && refused.errorCode == "invalid-value")
        }
    }

    @Test func valueOfTheParameterIsVerified() throws {
        let query = "url=https://h/a.m3u8&redundant=available"
        let request = try PlaybackRequest(QueryItems(query))
        #expect(request.redundancy == .available && request.path == "/play.m3u8?" + query)
        #expect(request.sibling(ResourceAddress("https://h/b.m3u8"), EditPlan([])).redundancy == .all)
        #expect(throws: ServerError.self) { try PlaybackRequest(QueryItems("url=https://h/a.m3u8&redundant=some")) }
    }
}

/// Tests the time for which responses wait for the media playlists of redundant variants.
@Suite struct VariantMonitorTests {
    private static let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n"

    /// The end of the connection of a client.
    private struct Departure: Error {}

    private static func live(unchanged: Duration) -> VariantAvailability {
        .live(LiveVariant(targetDuration: MediaTime(seconds: 4), endSequence: 2, unchangedTime: unchanged))
    }

    @Test func playlistThatIsNotLoadedInTimeHasItsLastKnownStateOnce() async throws {
        let playlist = try Playlist.parse(Array(Self.text.utf8))
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let address = ResourceAddress("https://h/a.m3u8")
        let prompt: VariantMonitor.Load = { _ in playlist }
        let slow: VariantMonitor.Load = { _ in
            try await time.sleep(for: .seconds(60))
            return playlist
        }
        try await time.run {
            let first = try await monitor.availability(of: [address], loading: prompt)
            #expect(first == [address: Self.live(unchanged: .zero)])
            try await time.sleep(for: .seconds(5))
            let start = time.now
            let second = try await monitor.availability(of: [address], loading: slow)
            #expect(second == first && time.now - start == VariantMonitor.maximumLoadTime)
            try await time.sleep(for: .seconds(5))
            let third = try await monitor.availability(of: [address], loading: slow)
            #expect(third == [address: .failed])
            try await time.sleep(for: .seconds(5))
            let last = try await monitor.availability(of: [address], loading: prompt)
            #expect(last == [address: Self.live(unchanged: .seconds(19))])
        }
    }

    /// A multivariant playlist that does not define the variables of a media playlist must not hide it from the clients of others.
    @Test func resultWithOtherVariablesIsNotUsed() async throws {
        let playlist = try Playlist.parse(Array(Self.text.utf8))
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let address = ResourceAddress("https://h/a.m3u8")
        let refused: VariantMonitor.Load = { _ in
            throw ServerError(.badGateway, "import-undeclared", "the variable is not defined")
        }
        let complete: VariantMonitor.Load = { _ in playlist }
        try await time.run {
            let other = try await monitor.availability(of: [address], loading: refused)
            #expect(other == [address: .failed])
            let own = try await monitor.availability(of: [address], variables: ["v": "1"], loading: complete)
            #expect(own == [address: Self.live(unchanged: .zero)])
            let again = try await monitor.availability(of: [address], loading: complete)
            #expect(again == other)
        }
    }

    @Test func responseWaitsForALimitedTime() async throws {
        let playlist = try Playlist.parse(Array(Self.text.utf8))
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let addresses = (0..<40).map { ResourceAddress("https://h/\($0).m3u8") }
        let slow: VariantMonitor.Load = { _ in
            try await time.sleep(for: .seconds(60))
            return playlist
        }
        try await time.run {
            let result = try await monitor.availability(of: addresses, loading: slow)
            #expect(result.count == 40 && result.values.allSatisfy { $0 == .unknown })
            #expect(time.now == VariantMonitor.maximumTime)
        }
    }

    @Test func loadsEndWhenTheClientLeaves() async throws {
        let playlist = try Playlist.parse(Array(Self.text.utf8))
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let slow: VariantMonitor.Load = { _ in
            try await time.sleep(for: .seconds(60))
            return playlist
        }
        try await time.run {
            await #expect(throws: Departure.self) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await monitor.availability(of: [ResourceAddress("https://h/a.m3u8")], loading: slow)
                    }
                    group.addTask {
                        try await time.sleep(for: .seconds(1))
                        throw Departure()
                    }
                    // The error ends the group, which cancels the other task.
                    while try await group.next() != nil {}
                }
            }
            #expect(time.now == .seconds(1))
        }
    }

    /// A server without capacity knows nothing about the origin.
    @Test func failureOfThisServerIsNotThatOfThePlaylist() async throws {
        let monitor = VariantMonitor(time: StoppedTime())
        let address = ResourceAddress("https://h/a.m3u8")
        let busy = try await monitor.availability(of: [address]) { _ in throw ServerError.busy }
        #expect(busy == [address: .unknown])
        let unparsable = try await monitor.availability(of: [address]) { _ in
            throw ServerError(.badGateway, "not-a-playlist", "no playlist")
        }
        #expect(unparsable == [address: .failed])
    }

    /// The state of a live playlist is not known any longer when it could have changed three times.
    @Test func oldStateIsUnknown() throws {
        var observation = VariantObservation()
        observation.record(.live(.init(sequence: 2), targetDuration: MediaTime(seconds: 4)), at: .zero)
        #expect(observation.isFresh(at: .seconds(3)) && !observation.isFresh(at: .seconds(4)))
        observation.record(.timedOut, at: .seconds(12))
        let current = observation.availability(at: .seconds(12))
        #expect(current == Self.live(unchanged: .zero))
        let old = observation.availability(at: .seconds(13))
        #expect(old == .unknown)
    }

    @Test func endWithADateIsThatOfTheLastSegment() throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:1970-01-01T00:01:00Z\n"
        let header = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n"
        let text = header + date + "#EXTINF:4,\n0.ts\n#EXTINF:3,\n1.ts\n"
        let live = VariantObservation.Outcome(try Playlist.parse(Array(text.utf8)))
        let end = VariantObservation.End(sequence: 9, date: MediaTime(seconds: 67))
        #expect(live == .live(end, targetDuration: MediaTime(seconds: 4)))
        let complete = VariantObservation.Outcome(try Playlist.parse(Array((text + "#EXT-X-ENDLIST\n").utf8)))
        #expect(complete == .complete(targetDuration: MediaTime(seconds: 4)))
    }
}

import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests the requests with wrong credentials at the boundaries of their limits.
@Suite struct FailedAttemptsDetailTests {
    private let time = ManualTime()
    private let attempts: FailedAttempts

    init() { attempts = FailedAttempts(time: time) }

    private func address(_ number: Int) -> HostAddress? {
        HostAddress([10, 0, UInt8(number / 250), UInt8(number % 250)])
    }

    @Test func attemptsAreCountedAnewAfterAMinute() {
        let client = HostAddress([192, 0, 2, 1])
        for _ in 0..<9 { attempts.record(client) }
        #expect(attempts.delay(for: client) == nil)
        attempts.record(client)
        #expect(attempts.delay(for: client) == .seconds(60))
        // Another attempt in this time begins the minute again.
        time.advance(by: .seconds(50))
        attempts.record(client)
        #expect(attempts.delay(for: client) == .seconds(60))
        time.advance(by: .seconds(60))
        #expect(attempts.delay(for: client) == nil)
        for _ in 0..<9 { attempts.record(client) }
        #expect(attempts.delay(for: client) == nil)
        attempts.record(client)
        #expect(attempts.delay(for: client) == .seconds(60))
    }

    /// Clients that need not wait any longer make room, so that no other one is forgotten.
    @Test func onlyExpiredClientsAreForgotten() {
        for number in 0..<4_095 { attempts.record(address(number)) }
        time.advance(by: .seconds(30))
        let late = HostAddress([192, 0, 2, 1])
        for _ in 0..<10 { attempts.record(late) }
        time.advance(by: .seconds(30))
        attempts.record(HostAddress([192, 0, 2, 2]))
        #expect(attempts.delay(for: late) == .seconds(30))
    }

    @Test func clientsOfANetworkAreOne() throws {
        let first = try #require(HostAddress(numeric: "2001:db8:0:1::1"))
        for _ in 0..<10 { attempts.record(first) }
        for (text, isDelayed) in [
            ("2001:db8:0:1:ffff::2", true), ("2001:db8:0:2::1", false), ("192.0.2.1", false),
        ] {
            #expect((attempts.delay(for: HostAddress(numeric: text)) != nil) == isDelayed, "\(text)")
        }
        // All clients without an address are one.
        #expect(attempts.delay(for: nil) == nil)
        for _ in 0..<10 { attempts.record(nil) }
        #expect(attempts.delay(for: nil) == .seconds(60))
    }
}

/// Tests of small values of the server.
@Suite struct ServerValuesDetailTests {
    @Test(arguments: [(0, 0), (1, 1), (8, 8), (20, 12), (30, 15), (100, 50)])
    func pagesOfOtherSitesHaveHalfOfThePlaces(total: Int, foreign: Int) {
        #expect(ClientShares(total: total, minimum: 12).foreignTotal == foreign)
    }

    @Test func placesAreLeftByTheClientsThatHaveThem() throws {
        var shares = ClientShares(total: 8, minimum: 2)
        let network = ClientNetwork(HostAddress([192, 0, 2, 1]))
        let (own, foreign) = (
            RequestingClient(network: network, isForeign: false), RequestingClient(network: network, isForeign: true)
        )
        for client in [own, own, foreign, nil] { try shares.add(client) }
        #expect(shares.count == 4)
        #expect(throws: ServerError.self) { try shares.add(own) }
        shares.remove(own)
        shares.remove(nil)
        #expect(shares.count == 2)
        try shares.add(own)
        #expect(throws: ServerError.self) { try shares.add(own) }
        shares.remove(foreign)
        // The places of pages of other sites are free again.
        for number in UInt8(2)...3 {
            let client = RequestingClient(
                network: ClientNetwork(HostAddress([192, 0, 2, number])),
                isForeign: true
            )
            for _ in 0..<2 { try shares.add(client) }
        }
        #expect(shares.count == 6)
        #expect(throws: ServerError.self) { try shares.add(foreign) }
    }

    @Test func clientHasRoomForThePlaylistsOfAPresentation() {
        let work = ServerCapacity(ServerLimits(pendingEdits: 20))
        let client = RequestingClient(network: ClientNetwork(HostAddress([192, 0, 2, 1])), isForeign: false)
        var budgets: [RequestBudget] = []
        var refusal: ServerError?
        RequestingClient.$current.withValue(client) {
            do {
                for _ in 0..<13 { budgets.append(try work.admit()) }
            } catch {
                refusal = error as? ServerError
            }
        }
        #expect(budgets.count == 12 && work.pendingRequests == 12)
        #expect(refusal?.status == .tooManyRequests)
    }

    @Test func durationIsThatOfTheRequest() async throws {
        let (metrics, time) = (ServerMetrics(), ManualTime())
        time.advance(by: .seconds(5))
        let counting = RequestCounting<BasicRequestContext>(metrics: metrics, time: time)
        _ = try await counting.handle(.get("/segment/a"), context: .detached()) { _, _ in
            time.advance(by: .seconds(2))
            return Response(status: .ok)
        }
        let text = metrics.text(downloads: 0, listeners: 0, connections: 0)
        #expect(text.contains("millstream_request_duration_seconds_sum{area=\"segment\"} 2.0\n"), "\(text)")
    }

    @Test func sourceIsAwaitedForAMinute() async throws {
        let time = Simulation()
        try await time.run {
            let limit = ServerLimits().loadingTime
            let value = try await time.limitingLoad(of: "playlist", within: limit) {
                try await time.sleep(for: .milliseconds(59_999))
                return 7
            }
            #expect(value == 7)
            let begun = time.now
            let error = await #expect(throws: ServerError.self) {
                try await time.limitingLoad(of: "segment", within: limit) {
                    try await time.sleep(for: .seconds(61))
                }
            }
            #expect(error?.message == "the source did not send the segment within 60 seconds")
            #expect(time.now - begun == .seconds(60))
        }
    }

    @Test(
        arguments: [
            ("file:///lib/x/media/0%20a.ts", "/offline/x/media/0 a.ts"), ("file:///lib/y/0.ts", "/lib/y/0.ts"),
            ("https://h/a/0.ts?b=c", "/a/0.ts"), ("https://h/lib/x/0.ts", "/lib/x/0.ts"),
        ]
    )
    func filesOfAPackageHaveThePathsOfOtherPlayers(address: String, path: String) throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n"
        let playlist = LoadedPlaylist(
            playlist: try Playlist.parse(Array(text.utf8)),
            loader: ResourceLoader(ScriptedTransport()),
            package: LoadedPlaylist.Package(id: "x", folder: ResourceAddress(filePath: "/lib/x/"))
        )
        #expect(playlist.requestPath(of: ResourceAddress(address)) == path)
    }

    /// The tokens of the owner are not used for requests from pages of other sites.
    @Test func otherPagesHaveTheirOwnAccess() async throws {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let loader = ResourceLoader(ScriptedTransport())
        let (trusted, foreign) = (HostCache(), HostCache())
        var sources = SourceAccess(trusted: (loader, policy, trusted), foreign: (loader, policy, foreign))
        let changed = ResourceAddress("https://other/a.ts")
        sources.redirection = { _ in changed }
        sources.trustedSegments = SegmentMemory(aheadCount: 1)
        let address = ResourceAddress("https://h/a.ts")
        for (initiator, isForeign) in [
            (.player, false), (.ownPage, false), (.foreignPage, true), (.foreignHost, true),
        ] as [(RequestInitiator, Bool)] {
            let target = try await sources.redirection(for: initiator)(address)
            #expect(target == (isForeign ? address : changed), "\(initiator)")
            #expect(sources.segments(for: initiator).loadsAhead == !isForeign)
            #expect((sources.memory(for: initiator) === sources.foreignMemory) == isForeign)
            #expect(sources.presentations(for: initiator) == nil)
        }
        let unchanged = try await SourceAccess(trusted: sources.trusted, foreign: sources.foreign)
            .redirection(for: .player)(address)
        #expect(unchanged == address)
    }
}

/// Tests of the work for a client that closes its connection.
@Suite(.timeLimit(.minutes(2))) struct ClientPresenceDetailTests {
    /// The number of operations that have begun.
    private final class Begun: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func add() { number.withLock { $0 += 1 } }
    }

    /// Waits until the client has left, for an hour at most.
    private static func work(_ presence: ClientPresence?, _ begun: Begun) async throws {
        try await ClientPresence.$current.withValue(presence) {
            try await ClientPresence.whileClientIsConnected {
                begun.add()
                try await Task.sleep(for: .seconds(3_600))
            }
        }
    }

    @Test func allWorkEndsWithTheConnection() async throws {
        let (presence, begun) = (ClientPresence(), Begun())
        let works = (0..<3).map { _ in Task { try await Self.work(presence, begun) } }
        while begun.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        try await Task.sleep(for: .milliseconds(20))
        presence.markDisconnected()
        for work in works { await #expect(throws: CancellationError.self) { try await work.value } }
        // Work that begins later ends at once.
        await #expect(throws: CancellationError.self) { try await Self.work(presence, begun) }
    }

    @Test func resultIsThatOfTheWork() async throws {
        let presence = ClientPresence()
        let (connected, outside) = (
            try await ClientPresence.$current.withValue(presence) {
                try await ClientPresence.whileClientIsConnected { 7 }
            },
            try await ClientPresence.whileClientIsConnected { 8 }
        )
        #expect(connected == 7 && outside == 8)
    }
}

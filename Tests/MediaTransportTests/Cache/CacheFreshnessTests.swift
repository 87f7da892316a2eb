import MediaTiming
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite("Freshness of stored responses")
struct CacheFreshnessTests {
    private let bench = CacheBench()

    /// Returns the number of requests that reach the server when a resource is requested twice, the given number of
    /// seconds apart.
    private func requests(
        _ seconds: Int64,
        _ request: TransportRequest = .ofSegment(),
        _ fields: String...
    ) async throws -> Int {
        let cache = try bench.open()
        bench.server.respond(with: .bytes(Array("media".utf8), fields))
        try await cache.text(request)
        bench.advance(by: seconds)
        try await cache.text(request)
        return bench.server.requestCount
    }

    @Test(arguments: [(59, 1), (60, 2)])
    func maxAgeDefinesTheLifetime(_ seconds: Int64, _ expected: Int) async throws {
        #expect(try await requests(seconds, .ofSegment(), "Cache-Control: max-age=60") == expected)
    }

    @Test(arguments: [(59, 1), (60, 2)])
    func expiresIsRelativeToTheDateField(_ seconds: Int64, _ expected: Int) async throws {
        let fields = ["Date: \(CacheBench.date(0))", "Expires: \(CacheBench.date(60))"]
        #expect(try await requests(seconds, .ofSegment(), fields[0], fields[1]) == expected)
    }

    @Test func maxAgeTakesPrecedenceOverExpires() async throws {
        let expiry = "Expires: \(CacheBench.date(600))"
        #expect(try await requests(60, .ofSegment(), "Cache-Control: max-age=10", expiry) == 2)
    }

    @Test func invalidExpiresMakesTheResponseStale() async throws {
        let changed = "Last-Modified: \(CacheBench.date(-10_000))"
        #expect(try await requests(1, .ofSegment(), "Expires: 0", changed) == 2)
    }

    @Test(arguments: [
        "no-store", "no-cache", "no-cache=\"Set-Cookie\"", "max-age=0", "max-age=soon", "max-age=60, max-age=0",
        "s-maxage=60", "Max-Age=60, NO-STORE", "private=\"a, max-age=60\"",
    ])
    func directivesWithoutLifetimeForceANewRequest(_ directives: String) async throws {
        #expect(try await requests(1, .ofSegment(), "Cache-Control: \(directives)") == 2)
    }

    @Test(arguments: [
        "private, max-age=60", "max-age=\"60\"", "s-maxage=0, max-age=60", "max-age=60, must-revalidate",
        "max-age=99999999999999999999", "x=\"a, no-store\", max-age=60", "public , ,max-age = 60",
    ])
    func directivesWithLifetimeAllowReuse(_ directives: String) async throws {
        #expect(try await requests(30, .ofSegment(), "Cache-Control: \(directives)") == 1)
    }

    @Test(arguments: [(99, 1), (100, 2)])
    func heuristicLifetimeIsATenthOfTheTimeSinceLastModified(_ seconds: Int64, _ expected: Int) async throws {
        let fields = ["Date: \(CacheBench.date(0))", "Last-Modified: \(CacheBench.date(-1000))"]
        #expect(try await requests(seconds, .ofSegment(), fields[0], fields[1]) == expected)
    }

    @Test(arguments: [(86_399, 1), (86_400, 2)])
    func heuristicLifetimeIsAtMostOneDay(_ seconds: Int64, _ expected: Int) async throws {
        let changed = "Last-Modified: \(CacheBench.date(-100 * 86_400))"
        #expect(try await requests(seconds, .ofSegment(), changed) == expected)
    }

    @Test func playlistsHaveNoHeuristicLifetime() async throws {
        #expect(try await requests(0, .ofPlaylist(), "Last-Modified: \(CacheBench.date(-100_000))") == 2)
    }

    @Test func playlistWithoutCacheFieldsIsNotStored() async throws {
        #expect(try await requests(0, .ofPlaylist()) == 2)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func playlistWithLifetimeIsStored() async throws {
        #expect(try await requests(1, .ofPlaylist(), "Cache-Control: max-age=2") == 1)
    }

    @Test func heuristicLifetimeOfASegmentDoesNotApplyToAPlaylistAtTheSameAddress() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Last-Modified: \(CacheBench.date(-100_000))"))
        try await cache.text(.ofSegment("x"))
        try await cache.text(.ofSegment("x"))
        #expect(bench.server.requestCount == 1)
        try await cache.text(.ofPlaylist("x"))
        #expect(bench.server.requestCount == 2)
    }

    @Test func ageFieldCountsTowardsTheAge() async throws {
        #expect(try await requests(11, .ofSegment(), "Cache-Control: max-age=60", "Age: 50") == 2)
    }

    @Test func dateFieldCountsTowardsTheAge() async throws {
        let date = "Date: \(CacheBench.date(-50))"
        #expect(try await requests(11, .ofSegment(), "Cache-Control: max-age=60", date) == 2)
    }

    @Test func cacheHitHasAnAgeField() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=600", "Age: 50"))
        try await cache.text(.ofSegment())
        bench.advance(by: 7)
        let hit = try await cache.send(.ofSegment())
        #expect(hit.headers.filter { $0.name == "Age" }.map(\.value) == ["57"])
    }

    @Test func clockThatMovesBackwardsForcesANewRequest() async throws {
        #expect(try await requests(-10, .ofSegment(), "Cache-Control: max-age=60") == 2)
    }

    // MARK: Directives of the request

    @Test(arguments: [
        ("no-cache", 2), ("max-age=0", 2), ("max-age=9", 2), ("max-age=10", 1), ("min-fresh=50", 1),
        ("min-fresh=51", 2), ("only-if-cached", 1),
    ])
    func cacheControlOfTheRequestIsRespected(_ wish: String, _ expected: Int) async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        bench.advance(by: 10)
        #expect(try await cache.text(.ofSegment("a", "Cache-Control: \(wish)")) == "media")
        #expect(bench.server.requestCount == expected)
    }

    @Test func pragmaNoCacheAppliesWithoutCacheControl() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        try await cache.text(.ofSegment("a", "Pragma: no-cache"))
        #expect(bench.server.requestCount == 2)
    }

    @Test func onlyIfCachedFailsWithoutContactingTheServer() async throws {
        let cache = try bench.open()
        let error = await #expect(throws: TransportError.self) {
            try await cache.send(.ofSegment("a", "Cache-Control: only-if-cached"))
        }
        #expect(error?.status == 504)
        #expect(bench.server.requestCount == 0)
    }

    // MARK: Vary

    @Test(arguments: ["*", "Accept-Encoding, *", "Cookie", "Authorization"])
    func responseThatVariesOnUnknownFieldsIsNotStored(_ vary: String) async throws {
        #expect(try await requests(1, .ofSegment(), "Cache-Control: max-age=60", "Vary: \(vary)") == 2)
    }

    @Test(arguments: ["Accept-Encoding", "Origin", "Origin, accept-encoding"])
    func responseThatVariesOnAbsentFieldsIsStored(_ vary: String) async throws {
        #expect(try await requests(1, .ofSegment(), "Cache-Control: max-age=60", "Vary: \(vary)") == 1)
    }

    @Test func responseThatVariesOnAFieldOfTheRequestIsNeitherStoredNorUsed() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60", "Vary: Origin"))
        try await cache.text(.ofSegment("a", "origin: http://one.test"))
        #expect(cache.entryCount == 0)
        try await cache.text(.ofSegment())
        try await cache.text(.ofSegment("a", "Origin: http://one.test"))
        #expect(bench.server.requestCount == 3)
        try await cache.text(.ofSegment())
        #expect(bench.server.requestCount == 3)
    }
}

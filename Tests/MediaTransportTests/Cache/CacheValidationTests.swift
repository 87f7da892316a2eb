import MediaTiming
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite("Asking whether stored responses are still good")
struct CacheValidationTests {
    private let bench = CacheBench()

    /// Returns a cache with one entry that has been stale for a minute.
    private func staleCache(_ fields: String...) async throws -> CachedTransport {
        let cache = try bench.open()
        bench.server.respond(with: .bytes(Array("media".utf8), ["Cache-Control: max-age=60"] + fields))
        try await cache.text(.ofSegment())
        bench.advance(by: 120)
        return cache
    }

    private func field(_ name: String) -> String? {
        bench.server.requests.last?.headers.first { $0.name == name }?.value
    }

    @Test func staleEntryIsValidatedByEntityTagAndDate() async throws {
        let date = CacheBench.date(-100)
        let cache = try await staleCache("ETag: W/\"1\"", "Last-Modified: \(date)")
        bench.server.respond(with: .notModified())
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(field("If-None-Match") == "W/\"1\"")
        #expect(field("If-Modified-Since") == date)
    }

    @Test func staleEntryWithoutValidatorsIsRequestedUnconditionally() async throws {
        let cache = try await staleCache("Last-Modified: yesterday")
        try await cache.text(.ofSegment())
        #expect(bench.server.requests.last?.headers == [])
    }

    @Test func validatedEntryReportsTheMeasuredLatency() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .notModified())
        let response = try await cache.send(.ofSegment())
        _ = try await response.wholeBody()
        let measurement = response.record.measurement
        #expect(response.status == 200)
        #expect(response.expectedLength == 5)
        #expect(measurement.isFromCache)
        #expect(measurement.requestStart == .seconds(7))
        #expect(measurement.timeToFirstByte == .milliseconds(30))
        #expect(measurement.connectDuration == .milliseconds(11))
        #expect(measurement.bytes == ByteCount(5))
    }

    @Test func validationUpdatesTheStoredFieldsPersistently() async throws {
        let cache = try await staleCache("ETag: \"1\"", "X-Old: 1", "X-Kept: 1", "Content-Length: 5", "Age: 3")
        bench.server.respond(with: .notModified("Cache-Control: max-age=600", "x-old: 2", "Content-Length: 0"))
        let confirmed = try await cache.send(.ofSegment())
        #expect(confirmed.header("X-Old") == "2")
        #expect(confirmed.header("Content-Length") == "5")
        #expect(confirmed.header("Age") == "0")
        bench.advance(by: 500)
        let reopened = try bench.open()
        let hit = try await reopened.send(.ofSegment())
        #expect(hit.header("X-Old") == "2")
        #expect(hit.header("X-Kept") == "1")
        #expect(hit.header("Age") == "500")
        #expect(try await hit.wholeBody() == Array("media".utf8))
        #expect(bench.server.requestCount == 2)
    }

    @Test func validationWithoutADateMakesTheEntryFreshAgain() async throws {
        let cache = try await staleCache("ETag: \"1\"", "Date: \(CacheBench.date(0))")
        bench.server.respond(with: .notModified())
        try await cache.text(.ofSegment())
        bench.advance(by: 59)
        try await cache.text(.ofSegment())
        #expect(bench.server.requestCount == 2)
        bench.advance(by: 1)
        try await cache.text(.ofSegment())
        #expect(bench.server.requestCount == 3)
    }

    @Test func validationCanGrowAndShrinkAnEntry() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        let long = String(repeating: "x", count: 20_000)
        bench.server.respond(with: .notModified("X-Long: \(long)"), .notModified("X-Long: short"))
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.byteCount == ByteCount(5 * 4096))
        bench.advance(by: 120)
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.byteCount == ByteCount(4096))
        #expect(try bench.open().byteCount == ByteCount(4096))
    }

    @Test func changedResourceReplacesTheEntry() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .text("other", "Cache-Control: max-age=60", "ETag: \"2\""))
        #expect(try await cache.text(.ofSegment()) == "other")
        #expect(try await cache.text(.ofSegment()) == "other")
        #expect(bench.server.requestCount == 2)
        #expect(bench.fileNames.count == 1)
    }

    @Test func entryIsRemovedIfItsReplacementMayNotBeStored() async throws {
        let cache = try bench.open()
        bench.server.respond(
            with: .text("media", "Cache-Control: max-age=60"),
            .text("other", "Cache-Control: no-store")
        )
        try await cache.text(.ofSegment())
        #expect(try await cache.text(.ofSegment("a", "Cache-Control: no-cache")) == "other")
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func notModifiedWithADifferentEntityTagIsIgnored() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .notModified("ETag: \"9\""), .text("other", "ETag: \"9\""))
        #expect(try await cache.text(.ofSegment()) == "other")
        #expect(bench.server.requestCount == 3)
        #expect(bench.server.requests.last?.headers == [])
    }

    @Test func notModifiedWithNoStoreRemovesTheEntry() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .notModified("Cache-Control: no-store"))
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.entryCount == 0)
    }

    @Test func playlistWithAnEntityTagIsValidatedEachTime() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("#EXTM3U", "ETag: \"1\""), .notModified(), .notModified())
        for _ in 0..<3 { #expect(try await cache.text(.ofPlaylist()) == "#EXTM3U") }
        #expect(bench.server.requestCount == 3)
        #expect(field("If-None-Match") == "\"1\"")
    }

    // MARK: Errors

    private static let outages = [
        OriginResponse.failing(.cannotConnect), .failing(.timedOut), .failing(.unknownHost), .failing(.connectionLost),
        .failing(.status, status: 500), .failing(.status, status: 503), .failing(.status, status: 520),
    ]

    @Test(arguments: outages)
    func staleEntryIsServedOnErrorIfTheServerAllowsIt(_ outage: OriginResponse) async throws {
        let cache = try await staleCache("Cache-Control: stale-if-error=100")
        bench.server.respond(with: outage)
        let response = try await cache.send(.ofSegment())
        #expect(try await response.wholeBody() == Array("media".utf8))
        #expect(response.header("Age") == "120")
        #expect(response.record.measurement.isFromCache)
        bench.advance(by: 41)
        await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()) }
    }

    @Test func staleEntryIsServedOnErrorIfTheRequestAllowsIt() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .failing(.timedOut))
        #expect(try await cache.text(.ofSegment("a", "Cache-Control: stale-if-error=60")) == "media")
    }

    @Test(arguments: ["", "stale-if-error=100, must-revalidate", "stale-if-error=100, no-cache", "stale-if-error"])
    func staleEntryIsNotServedOnErrorWithoutPermission(_ directives: String) async throws {
        let cache = try await staleCache("ETag: \"1\"", "Cache-Control: \(directives)")
        bench.server.respond(with: .failing(.timedOut))
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()) }
        #expect(error?.code == .timedOut)
        #expect(cache.entryCount == 1)
    }

    @Test(arguments: [404, 429, 501, 505])
    func staleEntryIsNotServedIfTheServerRefusesTheRequest(_ status: Int) async throws {
        let cache = try await staleCache("Cache-Control: stale-if-error=100")
        bench.server.respond(with: .failing(.status, status: status))
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()) }
        #expect(error?.status == status)
    }

    @Test(arguments: [TransportError.Code.insecure, .badRedirect, .addressRefused])
    func staleEntryIsNotServedForOtherErrors(_ code: TransportError.Code) async throws {
        let cache = try await staleCache("Cache-Control: stale-if-error=100")
        bench.server.respond(with: .failing(code))
        await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()) }
    }

    @Test func staleEntryIsNotServedForANoCacheRequest() async throws {
        let cache = try await staleCache("Cache-Control: stale-if-error=100")
        bench.server.respond(with: .failing(.timedOut))
        await #expect(throws: TransportError.self) { try await cache.send(.ofSegment("a", "Cache-Control: no-cache")) }
    }

    @Test(arguments: [404, 410])
    func entryIsRemovedAfterStatus404Or410(_ status: Int) async throws {
        let cache = try await staleCache("Cache-Control: stale-if-error=100", "ETag: \"1\"")
        bench.server.respond(with: .failing(.status, status: status))
        let error = await #expect(throws: TransportError.self) { try await cache.send(.ofRange(0, 2)) }
        #expect(error?.status == status)
        #expect(cache.entryCount == 0)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func entryRemainsAfterOtherClientErrors() async throws {
        let cache = try await staleCache("ETag: \"1\"")
        bench.server.respond(with: .failing(.status, status: 403))
        await #expect(throws: TransportError.self) { try await cache.send(.ofSegment()) }
        #expect(cache.entryCount == 1)
    }
}

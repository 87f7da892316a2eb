import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A transport that changes the measurements of another one and counts the buffers of its bodies that are read.
private final class RemeasuredTransport: Transport {
    private let base: CacheOrigin
    private let clock: CacheClock
    private let change: @Sendable (inout TransferMeasurement) -> Void
    private let count = Mutex(0)

    init(_ base: CacheOrigin, _ clock: CacheClock, _ change: @escaping @Sendable (inout TransferMeasurement) -> Void) {
        self.base = base
        self.clock = clock
        self.change = change
    }

    var readCount: Int { count.withLock { $0 } }

    /// Sends a request, which takes two seconds.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        clock.advance(by: .seconds(2))
        var measurement = response.record.measurement
        change(&measurement)
        let body = response.body.map { [self] buffer in
            count.withLock { $0 += 1 }
            return buffer
        }
        return response.replacingBody(with: TransportBody(body), record: TransferRecord(measurement))
    }
}

/// Tests what a cache does with the responses to its requests, and the entries that it answers with.
@Suite struct CachedResponseDetailTests {
    private let bench = CacheBench()

    private static let threeBlocks = DiskCache.Options(
        capacity: ByteCount(3 * 4096),
        maximumEntrySize: ByteCount(3 * 4096)
    )

    private func isCached(_ cache: CachedTransport, _ path: String) async -> Bool {
        (try? await cache.send(.ofSegment(path, "Cache-Control: only-if-cached, stale-if-error=1"))) != nil
    }

    // MARK: Validation

    @Test func validationIsMeasuredWithoutTheEndOfItsOwnBody() async throws {
        let transport = RemeasuredTransport(bench.server, bench.clock) { measurement in
            measurement.timeToFirstByte = nil
            measurement.timeToLastByte = .seconds(1)
            measurement.requestStart = .seconds(4)
        }
        let cache = CachedTransport(transport, cache: try bench.openCache(), time: bench.clock)
        bench.server.respond(with: .text("media", "ETag: \"1\""), .notModified())
        try await cache.text(.ofSegment())
        bench.clock.advance(by: .seconds(3))
        let response = try await cache.send(.ofSegment())
        #expect(response.record.measurement.timeToLastByte == nil)
        #expect(response.record.measurement.timeToFirstByte == .seconds(2))
        bench.clock.advance(by: .seconds(5))
        #expect(try await response.wholeBody() == Array("media".utf8))
        #expect(response.record.measurement.timeToLastByte == .seconds(8) && response.record.measurement.isFromCache)
    }

    /// Reads the body of a 304 response, which should be empty, up to the first byte.
    @Test(arguments: [([[], []], 2), ([[], [1], [2]], 2), ([[1, 2], [3]], 1)] as [([[UInt8]], Int)])
    func bodyOfAValidationIsRead(chunks: [[UInt8]], count: Int) async throws {
        let transport = RemeasuredTransport(bench.server, bench.clock) { _ in }
        let cache = CachedTransport(transport, cache: try bench.openCache(), time: bench.clock)
        var confirmation = OriginResponse.notModified()
        confirmation.chunks = chunks
        bench.server.respond(with: .text("media", "ETag: \"1\""), confirmation)
        try await cache.text(.ofSegment())
        #expect(transport.readCount == 1)
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(transport.readCount == 1 + count)
    }

    @Test func entryWithoutValidatorsStaysUntilTheNewBodyIsRead() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        bench.advance(by: 60)
        _ = try await cache.send(.ofSegment())
        #expect(bench.server.requestCount == 2 && cache.entryCount == 1)
    }

    @Test func validatedEntryCountsAsUsed() async throws {
        let cache = try bench.open(Self.threeBlocks)
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60", "ETag: \"1\""))
        for path in ["a", "b", "c"] { try await cache.text(.ofSegment(path)) }
        bench.advance(by: 60)
        bench.server.respond(with: .notModified("Cache-Control: max-age=1000"))
        try await cache.text(.ofSegment("a"))
        #expect(cache.entryCount == 3 && cache.byteCount == ByteCount(3 * 4096))
        bench.server.respond(with: .text("media", "Cache-Control: max-age=1000"))
        try await cache.text(.ofSegment("d"))
        #expect(await isCached(cache, "a"))
        #expect(await isCached(cache, "d"))
        #expect(cache.entryCount == 3)
    }

    @Test func staleEntryThatStandsInForAnErrorCountsAsUsed() async throws {
        let cache = try bench.open(Self.threeBlocks)
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60, stale-if-error=9999"))
        for path in ["a", "b", "c"] { try await cache.text(.ofSegment(path)) }
        bench.advance(by: 60)
        bench.server.respond(with: .failing(.timedOut))
        #expect(try await cache.text(.ofSegment("a")) == "media")
        bench.server.respond(with: .text("media", "Cache-Control: max-age=1000"))
        try await cache.text(.ofSegment("d"))
        bench.server.respond(with: .failing(.timedOut))
        #expect(try await cache.text(.ofSegment("a")) == "media")
        await #expect(throws: TransportError.self) { _ = try await cache.send(.ofSegment("b")) }
    }

    @Test func growingEntryEvictsOthersAndIsRemovedIfItDoesNotFit() async throws {
        let cache = try bench.open(Self.threeBlocks)
        bench.server.respond(with: .text("media", "ETag: \"1\""))
        for path in ["a", "b", "c"] { try await cache.text(.ofSegment(path)) }
        bench.server.respond(with: .notModified("X: " + String(repeating: "x", count: 4_096)))
        #expect(try await cache.text(.ofSegment("a")) == "media")
        #expect(cache.entryCount == 2 && cache.byteCount == ByteCount(3 * 4096))
        bench.server.respond(with: .notModified("X: " + String(repeating: "x", count: 20_000)))
        #expect(try await cache.text(.ofSegment("a")) == "media")
        #expect(cache.byteCount <= ByteCount(4096))
        try await bench.settle()
        #expect(bench.fileNames.count == cache.entryCount)
    }

    @Test func entryWhoseFieldsBecomeTooLargeIsRemoved() async throws {
        let cache = try bench.open()
        bench.server.respond(
            with: .text("media", "ETag: \"1\""),
            .notModified("X: " + String(repeating: "x", count: 300_000))
        )
        try await cache.text(.ofSegment())
        #expect(try await cache.text(.ofSegment()) == "media")
        #expect(cache.entryCount == 0 && bench.fileNames.isEmpty)
    }

    // MARK: Rules

    @Test func requestForAResponseOfNoAgeIsSent() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        // The stored response is not older than that, but must not be used without validation.
        try await cache.text(.ofSegment("a", "Cache-Control: max-age=0"))
        #expect(bench.server.requestCount == 2)
    }

    @Test(arguments: [("max-age=\"57", 0), ("max-age=57\"", 0), ("max-age=\"57\"", 57)] as [(String, Int64)])
    func onlyPairsOfQuotationMarksAreRemoved(value: String, seconds: Int64) {
        #expect(CacheControl([HeaderField("Cache-Control", value)]).seconds("max-age") == seconds)
    }

    @Test func bodyOfUnknownLengthIsNotRefusedForItsLength() {
        let rules = CacheRules(kinds: [.segment], maximumEntrySize: 0)
        let metadata = Self.metadata(requested: 0, received: 0)
        let request = TransportRequest(metadata.address, kind: .segment)
        #expect(rules.allowsStoring(metadata, length: nil, of: request))
        #expect(rules.allowsStoring(metadata, length: 0, of: request))
        #expect(!rules.allowsStoring(metadata, length: 1, of: request))
    }

    private static func metadata(requested: Int64, received: Int64) -> EntryMetadata {
        let address = ResourceAddress("https://h/a")
        return EntryMetadata(
            key: EntryKey(address: address, byteRange: nil),
            status: 200,
            address: address,
            requested: UnixSeconds(requested),
            received: UnixSeconds(received),
            headers: [HeaderField("Cache-Control", "max-age=60")]
        )
    }

    @Test(
        arguments: [
            (.min, .max, 2_147_483_648), (.max, .min, 0), (0, 2_147_483_648, 2_147_483_648),
            (0, 2_147_483_647, 2_147_483_647), (0, 2_147_483_649, 2_147_483_648),
        ] as [(Int64, Int64, Int64)]
    )
    func differencesOfTimesAreLimited(requested: Int64, received: Int64, age: Int64) {
        let metadata = Self.metadata(requested: requested, received: received)
        #expect(Freshness(metadata, kind: .segment, now: UnixSeconds(received)).age == age)
    }

    // MARK: Values in memory

    @Test func removalEndsWhenAQuarterIsFree() {
        var values = RecentlyUsedValues<Int, String>(maximumSize: ByteCount(100))
        for (key, size) in [26, 40, 35].enumerated() { values.insert("\(key)", size: size, for: key) }
        #expect(values.size == 75 && values.count == 2 && values[0] == nil)
    }

    private struct Stage {
        let origin = CacheOrigin()
        let bench = CacheBench()
        let memory: ResourceMemory
        let address = ResourceAddress("https://h/a")

        init(size: Int64 = 1 << 20, staleIfError: Duration = .zero) {
            var options = ResourceMemory.Options { [bench] in UnixSeconds(bench.seconds) }
            options.size = ByteCount(size)
            options.staleIfError = staleIfError
            memory = ResourceMemory(options)
        }

        func text() async throws -> String {
            let resource = try await memory.resource(at: address) { [origin] in
                (ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)), ByteCount(1 << 20))
            }
            return String(decoding: resource.loaded.bytes, as: UTF8.self)
        }
    }

    @Test func memoryHasTheDocumentedDefaults() {
        let options = ResourceMemory.Options { UnixSeconds(0) }
        #expect(options.size == ByteCount(67_108_864) && options.staleIfError == .zero)
    }

    /// An entry uses its content, twice its URL (22 bytes), its fields (23 and 64 bytes), and 1,024 bytes.
    @Test(arguments: [(867, 1), (868, 0)])
    func entryUsesAtMostAQuarterOfTheMemory(length: Int, count: Int) async throws {
        let stage = Stage(size: 8_000)
        stage.origin.respond(with: .text(String(repeating: "x", count: length), "Cache-Control: max-age=60"))
        #expect(try await stage.text().utf8.count == length)
        #expect(stage.memory.count == count)
    }

    @Test func resourceIsNotFreshBeforeItWasReceived() async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one", "Cache-Control: max-age=10"), .text("two"))
        #expect(try await stage.text() == "one")
        #expect(stage.memory.freshVersion(of: stage.address) != nil)
        stage.bench.advance(by: -1)
        #expect(stage.memory.freshVersion(of: stage.address) == nil)
        #expect(try await stage.text() == "two")
    }

    @Test func validationRenewsTheLifetime() async throws {
        let stage = Stage()
        stage.origin.respond(
            with: .text("one", "Cache-Control: max-age=10", "ETag: \"1\""),
            .notModified("Cache-Control: max-age=30")
        )
        #expect(try await stage.text() == "one")
        stage.bench.advance(by: 40)
        #expect(try await stage.text() == "one")
        for (seconds, isFresh) in [(0, true), (29, true), (1, false)] as [(Int64, Bool)] {
            stage.bench.advance(by: seconds)
            #expect((stage.memory.freshVersion(of: stage.address) != nil) == isFresh)
        }
    }

    @Test func contentThatMustNotBeStoredReplacesTheFormerOne() async throws {
        let stage = Stage()
        stage.origin.respond(with: .text("one", "ETag: \"1\""), .text("two", "Cache-Control: no-store"))
        #expect(try await stage.text() == "one" && stage.memory.count == 1)
        #expect(try await stage.text() == "two" && stage.memory.count == 0)
    }

    @Test(
        arguments: [
            ("stale-if-error=20", 0, 20, true), ("stale-if-error=20", 0, 21, false),
            ("stale-if-error=20", 30, 30, true), ("stale-if-error=20", 30, 31, false),
            ("stale-if-error=20, must-revalidate", 0, 1, false),
            ("stale-if-error=20, must-revalidate", 10, 10, true), ("public", 0, 1, false),
        ] as [(String, Int64, Int64, Bool)]
    )
    func staleResourceHidesAnErrorForThePermittedTime(
        directives: String,
        option: Int64,
        staleness: Int64,
        isUsed: Bool
    ) async throws {
        let stage = Stage(staleIfError: .seconds(option))
        stage.origin.respond(
            with: .text("one", "Cache-Control: max-age=10, \(directives)"),
            .failing(.status, status: 503)
        )
        #expect(try await stage.text() == "one")
        stage.bench.advance(by: 10 + staleness)
        let text = try? await stage.text()
        #expect(text == (isUsed ? "one" : nil))
    }
}

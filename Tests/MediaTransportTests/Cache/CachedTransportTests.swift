import Foundation
import MediaTiming
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MediaTransport

@Suite("Cached transport")
struct CachedTransportTests {
    private let bench = CacheBench()

    @Test func secondRequestIsAnsweredFromTheCache() async throws {
        let cache = try bench.open()
        bench.server.respond(
            with: .text("media", "Cache-Control: max-age=60", "Content-Type: video/mp4", "Content-Length: 5")
        )
        let first = try await cache.send(.ofSegment())
        #expect(!first.record.measurement.isFromCache)
        #expect(try await first.wholeBody() == Array("media".utf8))
        bench.advance(by: 12)
        let second = try await cache.send(.ofSegment())
        #expect(second.status == 200)
        #expect(second.expectedLength == 5)
        #expect(second.header("Content-Type") == "video/mp4")
        #expect(second.header("Age") == "12")
        #expect(try await second.wholeBody() == Array("media".utf8))
        #expect(bench.server.requestCount == 1)
    }

    @Test func requestWithAScopedAuthorizationFieldBypassesTheCache() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("one", "Cache-Control: max-age=60"), .text("two", "Cache-Control: max-age=60"))
        var request = TransportRequest.ofSegment()
        let scope = try #require(HeaderFieldScope(originOf: request.address))
        request.scopedHeaders = [ScopedHeaderField(HeaderField("Authorization", "t"), for: scope)]
        #expect(try await cache.text(request) == "one")
        #expect(try await cache.text(request) == "two")
    }

    @Test(arguments: ["X-Token", "Cookie", "Accept-Language"])
    func requestWithAHeaderFieldForItsHostBypassesTheCache(name: String) async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("one", "Cache-Control: max-age=60"), .text("two", "Cache-Control: max-age=60"))
        var request = TransportRequest.ofSegment()
        let scope = try #require(HeaderFieldScope(originOf: request.address))
        request.scopedHeaders = [ScopedHeaderField(HeaderField(name, "t"), for: scope)]
        #expect(try await cache.text(request) == "one")
        #expect(try await cache.text(request) == "two")
        #expect(cache.entryCount == 0)
    }

    @Test func requestToWhichTheTransportAddsCredentialsBypassesTheCache() async throws {
        let cache = CachedTransport(bench.server, cache: try bench.openCache(), time: bench.clock) { request in
            request.address.path.hasSuffix("secret")
        }
        let fresh = "Cache-Control: max-age=60"
        bench.server.respond(with: .text("one", fresh), .text("two", fresh), .text("three", fresh))
        #expect(try await cache.text(.ofSegment("secret")) == "one")
        #expect(try await cache.text(.ofSegment("secret")) == "two")
        #expect(try await cache.text(.ofSegment("open")) == "three")
        #expect(try await cache.text(.ofSegment("open")) == "three")
    }

    @Test func responseToCredentialsBehindARedirectIsNotStored() async throws {
        try await MisbehavingServer.withServer([
            "/a": .init([1], headers: ["Cache-Control": "max-age=60"])
        ]) { target in
            try await MisbehavingServer.withServer([:]) { origin in
                origin.behave("/a", .redirect(to: "http://localhost:\(target.port)/a", status: 302))
                let scope = try #require(HeaderFieldScope("localhost:\(target.port)", allowsHTTP: true))
                for fields in [[], [ScopedHeaderField(HeaderField("X-Token", "t"), for: scope)]] {
                    let http = HTTPTransport(HTTPTransport.Options(headers: fields))
                    let disk = try bench.openCache()
                    await disk.removeAll()
                    let cache = CachedTransport(http, cache: disk) { http.carriesCredentials($0) }
                    for _ in 0..<2 {
                        let request = TransportRequest(ResourceAddress(origin.address("/a")), kind: .segment)
                        #expect(try await cache.send(request).wholeBody() == [1])
                    }
                    #expect(disk.entryCount == (fields.isEmpty ? 1 : 0))
                    try await http.shutdown()
                }
            }
            #expect(target.requests.count == 3)
        }
    }

    @Test func cacheHitIsMeasured() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        bench.clock.advance(by: .seconds(3))
        let response = try await cache.send(.ofSegment())
        bench.clock.advance(by: .seconds(2))
        _ = try await response.wholeBody()
        let measurement = response.record.measurement
        #expect(measurement.isFromCache)
        #expect(measurement.requestStart == .seconds(3))
        #expect(measurement.timeToFirstByte == .zero)
        #expect(measurement.timeToLastByte == .seconds(2))
        #expect(measurement.bytes == ByteCount(5))
        #expect(measurement.connectDuration == nil)
    }

    @Test func finalAddressAfterRedirectsIsStored() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.text("media", "Cache-Control: max-age=60")
        scripted.address = ResourceAddress("http://edge.test/b")
        bench.server.respond(with: scripted)
        try await cache.text(.ofSegment())
        #expect(try await cache.send(.ofSegment()).address.text == "http://edge.test/b")
        #expect(bench.server.requestCount == 1)
    }

    @Test func addressesThatDifferInOneByteAreDifferentEntries() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("one", "Cache-Control: max-age=60"), .text("two", "Cache-Control: max-age=60"))
        #expect(try await cache.text(.ofSegment("a%2Fb")) == "one")
        #expect(try await cache.text(.ofSegment("a%2fb")) == "two")
        #expect(try await cache.text(.ofSegment("a%2Fb")) == "one")
        #expect(cache.entryCount == 2)
    }

    @Test func entriesArePersistent() async throws {
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await bench.open().text(.ofSegment())
        let reopened = try bench.open()
        #expect(reopened.entryCount == 1)
        #expect(reopened.byteCount == ByteCount(4096))
        #expect(try await reopened.text(.ofSegment()) == "media")
        #expect(bench.server.requestCount == 1)
    }

    @Test func emptyBodyIsStored() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("", "Cache-Control: max-age=60"))
        #expect(try await cache.text(.ofSegment()) == "")
        #expect(try await cache.text(.ofSegment()) == "")
        #expect(bench.server.requestCount == 1)
    }

    @Test(arguments: [1, 65_535, 65_536, 65_537, 300_000])
    func bodyOfAnyLengthRoundTrips(_ length: Int) async throws {
        let cache = try bench.open()
        let bytes = cacheNoise(length)
        var scripted = OriginResponse.bytes([], ["Cache-Control: max-age=60"])
        scripted.chunks = stride(from: 0, to: length, by: 50_001).map { Array(bytes[$0..<min(length, $0 + 50_001)]) }
        bench.server.respond(with: scripted)
        #expect(try await cache.send(.ofSegment()).wholeBody() == bytes)
        let hit = try await cache.send(.ofSegment())
        #expect(hit.expectedLength == Int64(length))
        #expect(try await hit.wholeBody() == bytes)
        #expect(bench.server.requestCount == 1)
    }

    @Test func bodyOfUnknownLengthIsStoredWhenItEnds() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.text("media", "Cache-Control: max-age=60")
        scripted.announced = .some(nil)
        bench.server.respond(with: scripted)
        #expect(try await cache.send(.ofSegment()).expectedLength == nil)
        try await cache.text(.ofSegment())
        let hit = try await cache.send(.ofSegment())
        #expect(hit.expectedLength == 5)
        #expect(bench.server.requestCount == 2)
    }

    @Test func connectionFieldsAndCookiesAreNotStored() async throws {
        let cache = try bench.open()
        bench.server.respond(
            with: .text(
                "media",
                "Cache-Control: max-age=60",
                "Connection: close, X-Hop",
                "X-Hop: 1",
                "Set-Cookie: secret=1",
                "X-End: 2"
            )
        )
        let first = try await cache.send(.ofSegment())
        #expect(first.header("Set-Cookie") == "secret=1")
        _ = try await first.wholeBody()
        let hit = try await cache.send(.ofSegment())
        #expect(hit.headers.map(\.name) == ["Cache-Control", "X-End", "Age"])
        #expect(try !Data(contentsOf: bench.onlyFile()).contains(Data("secret".utf8)))
    }

    // MARK: Requests that bypass the cache

    @Test(arguments: [
        "Authorization: Bearer x", "Cookie: a=b", "Range: bytes=0-1", "If-None-Match: \"x\"",
        "If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT", "If-Range: \"x\"", "Cache-Control: no-store",
    ])
    func requestWithCredentialsOrConditionsBypassesTheCache(_ field: String) async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment("a", field))
        #expect(cache.entryCount == 0)
        try await cache.text(.ofSegment())
        try await cache.text(.ofSegment("a", field))
        #expect(bench.server.requestCount == 3)
        #expect(bench.server.requests.last?.headers.count == 1)
    }

    @Test func resumptionBypassesTheCache() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        var request = TransportRequest.ofSegment()
        request.resumption = TransportRequest.Resumption(offset: 2, validator: "\"x\"")
        try await cache.text(request)
        #expect(bench.server.requests.last?.resumption?.offset == 2)
    }

    @Test(arguments: ["http://user:word@media.test/a", "file:///a", "data:,a"])
    func addressWithPasswordOrOtherSchemeBypassesTheCache(_ address: String) async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(TransportRequest(ResourceAddress(address), kind: .segment))
        #expect(cache.entryCount == 0)
    }

    @Test func keysAreNeverStored() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("0123456789abcdef", "Cache-Control: max-age=60"))
        let request = TransportRequest(ResourceAddress("http://media.test/key"), kind: .key)
        try await cache.text(request)
        try await cache.text(request)
        #expect(bench.server.requestCount == 2)
        #expect(bench.fileNames.isEmpty)
    }

    @Test func onlyKindsInTheOptionsAreStored() async throws {
        let cache = try bench.open(DiskCache.Options(kinds: [.initialization]))
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        #expect(cache.entryCount == 0)
        try await cache.text(TransportRequest(ResourceAddress("http://media.test/a"), kind: .initialization))
        #expect(cache.entryCount == 1)
    }

    @Test(arguments: [203, 204, 206, 301])
    func onlyStatus200IsStored(_ status: Int) async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.text("media", "Cache-Control: max-age=60")
        scripted.status = status
        bench.server.respond(with: scripted)
        try await cache.text(.ofSegment())
        #expect(cache.entryCount == 0)
    }

    // MARK: Ranges

    @Test func rangeIsStoredAsASeparateEntry() async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.text("edi", "Cache-Control: max-age=60", "Content-Range: bytes 1-3/5")
        scripted.status = 206
        bench.server.respond(with: scripted)
        try await cache.text(.ofRange(1, 3))
        let hit = try await cache.send(.ofRange(1, 3))
        #expect(hit.status == 206)
        #expect(hit.header("Content-Range") == "bytes 1-3/5")
        #expect(try await hit.wholeBody() == Array("edi".utf8))
        #expect(bench.server.requestCount == 1)
        try await cache.text(.ofRange(2, 3))
        try await cache.text(.ofSegment())
        #expect(bench.server.requestCount == 3)
    }

    @Test(arguments: [
        (200, "edi", "bytes 1-3/5"), (206, "edia", "bytes 1-3/5"), (206, "edi", "bytes 0-2/5"),
    ])
    func responseThatIsNotTheRequestedRangeIsNotStored(_ status: Int, _ text: String, _ position: String) async throws {
        let cache = try bench.open()
        var scripted = OriginResponse.text(text, "Cache-Control: max-age=60", "Content-Range: \(position)")
        scripted.status = status
        bench.server.respond(with: scripted)
        try await cache.text(.ofRange(1, 3))
        #expect(cache.entryCount == 0)
    }

    @Test(arguments: [(0, 1), (1, 3), (65_530, 20), (65_536, 65_536), (100, 199_900), (199_999, 1)])
    func rangeIsServedFromAStoredCompleteResource(_ start: Int, _ length: Int) async throws {
        let cache = try bench.open()
        let bytes = cacheNoise(200_000)
        bench.server.respond(with: .bytes(bytes, ["Cache-Control: max-age=60", "Content-Length: 200000"]))
        _ = try await cache.send(.ofSegment()).wholeBody()
        let hit = try await cache.send(.ofRange(Int64(start), Int64(length)))
        #expect(hit.status == 206)
        #expect(hit.expectedLength == Int64(length))
        #expect(hit.header("Content-Range") == "bytes \(start)-\(start + length - 1)/200000")
        #expect(hit.headers.filter { $0.name == "Content-Length" }.map(\.value) == ["\(length)"])
        #expect(try await hit.wholeBody() == Array(bytes[start..<start + length]))
        #expect(hit.record.measurement.bytes == ByteCount(Int64(length)))
        #expect(bench.server.requestCount == 1)
    }

    @Test func rangeBeyondTheStoredResourceIsRequested() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60"))
        try await cache.text(.ofSegment())
        try await cache.text(.ofRange(3, 3))
        #expect(bench.server.requestCount == 2)
    }

    @Test func staleCompleteResourceIsValidatedForARange() async throws {
        let cache = try bench.open()
        bench.server.respond(with: .text("media", "Cache-Control: max-age=60", "ETag: \"1\""), .notModified())
        try await cache.text(.ofSegment())
        bench.advance(by: 100)
        #expect(try await cache.text(.ofRange(1, 3)) == "edi")
        #expect(bench.server.requests.last?.byteRange == ByteRange(start: 1, length: 3))
    }
}

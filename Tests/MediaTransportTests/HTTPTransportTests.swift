import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// Tests HTTP against a misbehaving server: each request has a defined outcome within a bounded time.
@Suite(.timeLimit(.minutes(10))) struct HTTPTransportTests {
    private static let media = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }

    /// Loads one resource from a server.
    private func load(
        _ behaviors: [MisbehavingServer.Behavior],
        kind: TransportRequest.Kind = .segment,
        range: ByteRange? = nil,
        resource: MisbehavingServer.Resource = .init(media, contentType: "video/mp2t", validators: .entityTag),
        retries: Int = 0,
        options: HTTPTransport.Options = HTTPTransport.Options(idleTimeout: .seconds(1)),
        pace: RecoveryPolicy.MinimumThroughput = .init(interval: .seconds(1), byteCount: 2_000),
        limit: ByteCount = ByteCount(64 << 20)
    ) async throws -> (ResourceLoader.Loaded, [MisbehavingServer.Request]) {
        try await MisbehavingServer.withServer(["/a": resource]) { server in
            server.behave(behaviors)
            let transport = HTTPTransport(options)
            let policy = RecoveryPolicy(
                rule: .init(maximumRetries: retries, initialDelay: .milliseconds(1)),
                rules: [:],
                minimumThroughput: pace
            )
            let loader = ResourceLoader(transport, policy: policy)
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: kind, byteRange: range)
            do {
                let loaded = try await loader.load(request, limit: limit)
                try await transport.shutdown()
                return (loaded, server.requests)
            } catch {
                try await transport.shutdown()
                throw error
            }
        }
    }

    private func failure(
        _ behaviors: MisbehavingServer.Behavior...,
        kind: TransportRequest.Kind = .segment,
        range: ByteRange? = nil,
        options: HTTPTransport.Options = HTTPTransport.Options(idleTimeout: .seconds(1))
    ) async -> TransportError? {
        await #expect(throws: TransportError.self) {
            _ = try await load(behaviors, kind: kind, range: range, options: options)
        }
    }

    /// A throttled body, so that the client reads the sent bytes before the connection closes.
    private static let slowly = MisbehavingServer.Behavior.throttle(bytesPerSecond: 500_000)

    private static func rangeStart(_ request: MisbehavingServer.Request) -> Int {
        let digits = request.header("Range")?.dropFirst("bytes=".count).prefix { $0.isNumber }
        return digits.flatMap { Int($0) } ?? -1
    }

    // MARK: Bodies of unexpected length

    @Test func truncatedBodyIsResumed() async throws {
        let (loaded, requests) = try await load(
            [
                [Self.slowly, .truncate(after: 70_000)], [Self.slowly, .reset(after: 60_000)], .proper,
            ],
            retries: 3
        )
        #expect(loaded.bytes == Self.media && requests.count == 3)
        let starts = requests.map(Self.rangeStart)
        #expect(starts[0] == -1 && starts[1] <= 70_000 && starts[2] <= 130_000 && starts.contains { $0 > 0 })
        #expect(requests.allSatisfy { ($0.header("If-Range") != nil) == ($0.header("Range") != nil) })
        #expect(loaded.measurement.bytes.bytes >= 200_000 && loaded.measurement.timeToLastByte != nil)
    }

    @Test func truncatedRangeIsResumedWithinTheRange() async throws {
        let range = ByteRange(start: 1_000, length: 100_000)
        let cut: MisbehavingServer.Behavior = [Self.slowly, .truncate(after: 60_000)]
        let (loaded, requests) = try await load([cut, .proper], range: range, retries: 3)
        #expect(loaded.bytes == Array(Self.media[1_000..<101_000]))
        #expect(requests.count == 2 && requests.allSatisfy { $0.header("Range")?.hasSuffix("-100999") == true })
        #expect((1_000...61_000).contains(Self.rangeStart(requests[1])))
    }

    @Test func truncatedBodyWithoutValidatorIsRestarted() async throws {
        let plain = MisbehavingServer.Resource(Self.media, contentType: "video/mp2t", validators: [])
        let (loaded, requests) = try await load([.truncate(after: 70_000), .proper], resource: plain, retries: 3)
        #expect(loaded.bytes == Self.media && requests.map { $0.header("Range") } == [nil, nil])
    }

    @Test func truncatedBodyOfAChangedResourceIsRestarted() async throws {
        let other = [UInt8](repeating: 9, count: 150_000)
        let (loaded, requests) = try await load(
            [[Self.slowly, .truncate(after: 70_000)], .changedEntity(to: .init(other)), .proper],
            retries: 3
        )
        #expect(loaded.bytes == other && requests.count == 3 && requests[2].header("Range") == nil)
    }

    /// A server that ignores `If-Range` sends a part of the new version, of the same or of another length.
    @Test(arguments: [200_000, 150_000]) func partOfAChangedResourceIsNotAppended(count: Int) async throws {
        var other = MisbehavingServer.Resource([UInt8](repeating: 9, count: count), validators: .entityTag)
        other.ignoresIfRange = true
        let (loaded, requests) = try await load(
            [[Self.slowly, .truncate(after: 70_000)], .changedEntity(to: other), .proper],
            retries: 3
        )
        #expect(loaded.bytes == other.bytes && requests.count == 3)
        #expect(requests[1].header("If-Range") != nil && requests[2].header("Range") == nil)
    }

    @Test func partOfAResourceWithAnotherLengthIsNotAppended() async throws {
        let other = MisbehavingServer.Resource([UInt8](repeating: 9, count: 200_001), validators: [])
        var silent = other
        silent.ignoresIfRange = true
        let range = ByteRange(start: 1_000, length: 150_000)
        let (loaded, requests) = try await load(
            [[Self.slowly, .truncate(after: 70_000)], .changedEntity(to: silent), .proper],
            range: range,
            retries: 3
        )
        #expect(loaded.bytes == [UInt8](repeating: 9, count: 150_000) && requests.count == 3)
    }

    @Test func bytesBeforeTheRangeCountForTheThroughput() async throws {
        let large = MisbehavingServer.Resource([UInt8](repeating: 7, count: 400_000), servesRanges: false)
        // Other work may disturb an attempt, and bytes that do not count disturb all.
        let (loaded, _) = try await load(
            [.throttle(bytesPerSecond: 200_000)],
            range: ByteRange(start: 380_000, length: 10_000),
            resource: large,
            retries: 2,
            pace: .init(interval: .seconds(1), byteCount: 10_000)
        )
        #expect(loaded.bytes.count == 10_000)
        #expect(loaded.measurement.skippedBytes.bytes == 380_000)
    }

    @Test func requestFailsIfEveryBodyIsTruncated() async {
        let error = await #expect(throws: TransportError.self) {
            _ = try await load([.truncate(after: 1)], retries: 3)
        }
        #expect(error?.code == .connectionLost, "\(String(describing: error))")
    }

    @Test func wrongLengthsAreErrors() async {
        #expect(await failure(.wrongLength(500))?.code == .timedOut)
        #expect(await failure([.wrongLength(500), .closeAfterResponse])?.code != nil)
        #expect(await failure([.chunked, .truncate(after: 5_000)])?.code == .connectionLost)
        #expect(await failure(.brokenChunk(after: 5_000))?.code != nil)
    }

    @Test func missingLengthsAreAccepted() async throws {
        #expect(try await load([.noLength]).0.bytes == Self.media)
        #expect(try await load([.chunked]).0.bytes == Self.media)
        #expect(try await load([.informational(103, headers: [:])]).0.bytes == Self.media)
        #expect(try await load([.closeAfterResponse]).0.bytes == Self.media)
    }

    // MARK: Stalled bodies

    /// Reads a body that is larger than all buffers on its way, with a pause that is longer than the time-out.
    private func readSlowly(idleTimeout: Duration, _ behavior: MisbehavingServer.Behavior) async throws -> Int {
        let bytes = [UInt8](repeating: 7, count: 24 << 20)
        return try await MisbehavingServer.withServer(["/a": .init(bytes)]) { server in
            server.behave([behavior])
            let transport = HTTPTransport(HTTPTransport.Options(idleTimeout: idleTimeout))
            do {
                let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
                var count = 0
                for try await buffer in try await transport.send(request).body {
                    if count == 0 { try await Task.sleep(for: idleTimeout * 4) }
                    count += buffer.readableBytes
                }
                try await transport.shutdown()
                return count
            } catch {
                try await transport.shutdown()
                throw error
            }
        }
    }

    @Test func pauseOfTheReaderIsNoStallOfTheServer() async throws {
        #expect(try await readSlowly(idleTimeout: .milliseconds(500), .proper) == 24 << 20)
        let error = await #expect(throws: TransportError.self) {
            _ = try await readSlowly(idleTimeout: .milliseconds(500), .stall(after: 20 << 20))
        }
        #expect(error?.code == .timedOut)
    }

    @Test func stalledBodyTimesOut() async {
        let error = await failure(.stall(after: 1_000))
        #expect(error?.code == .timedOut)
        #expect(await failure(.stallBeforeHead)?.code == .timedOut)
        #expect(await failure([.slowHead(every: .milliseconds(20)), .endlessHead])?.code == .timedOut)
    }

    @Test func bodyThatArrivesTooSlowlyTimesOut() async {
        #expect(await failure(.trickle(every: .milliseconds(50)))?.code == .timedOut)
    }

    /// A body that arrives too slowly is interrupted and resumed without missing bytes.
    @Test func bodyThatArrivesTooSlowlyIsResumedWithoutAGap() async throws {
        let (loaded, requests) = try await load([.trickle(every: .milliseconds(20)), .proper], retries: 3)
        #expect(loaded.bytes == Self.media && requests.count == 2)
        #expect(requests[1].header("If-Range") != nil)
    }

    @Test func endlessHeadersAndBodiesAreLimited() async {
        #expect(await failure(.endlessHead)?.code != nil)
        let endless = await #expect(throws: TransportError.self) {
            _ = try await load([.endlessBody], limit: ByteCount(4 << 20))
        }
        #expect(endless?.code == .tooLarge)
    }

    @Test func responsesThatAreNotHTTPAreErrors() async {
        #expect(await failure(.garbage)?.code == .wrongContent)
        #expect(await failure(.closeBeforeHead)?.code == .connectionLost)
        #expect(await failure(.resetBeforeHead)?.code == .connectionLost)
    }

    @Test func requestIsRetriedIfTheConnectionCloses() async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media), "/b": .init(Self.media)]) { server in
            server.behave("/a", .closeIdle)
            let transport = HTTPTransport()
            let loader = ResourceLoader(transport, policy: RecoveryPolicy(rule: .init(initialDelay: .milliseconds(1))))
            for path in ["/a", "/b", "/a", "/b"] {
                let request = TransportRequest(ResourceAddress(server.address(path)), kind: .segment)
                #expect(try await loader.load(request).bytes == Self.media)
            }
            try await transport.shutdown()
        }
    }

    /// After an error, a transport can be released without a shutdown.
    @Test func transportThatIsReleasedClosesItsConnections() async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media)]) { server in
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            for _ in 0..<3 {
                let loaded = try await ResourceLoader(HTTPTransport()).load(request)
                #expect(loaded.bytes == Self.media)
            }
        }
    }

    // MARK: Unexpected content

    @Test func htmlPageInsteadOfMediaIsAnError() async throws {
        #expect(await failure(.htmlPage)?.code == .wrongContent)
        #expect(await failure(.htmlPage(as: "video/mp2t"))?.code == .wrongContent)
        #expect(await failure(.htmlPage(as: "application/octet-stream"), kind: .key)?.code == .wrongContent)
        let (page, _) = try await load([.htmlPage], kind: .playlist)
        #expect(!page.bytes.isEmpty, "what a playlist is, its parser says")
    }

    @Test(arguments: [
        MisbehavingServer.Behavior.wrongRange(.shifted(by: 10)), .wrongRange(.wrongContentRange(by: 10)),
        .wrongRange(.fewer(by: 10)), .wrongRange(.withoutContentRange), .wrongRange(.multipart),
    ])
    func wrongRangeIsAnError(behavior: MisbehavingServer.Behavior) async {
        let error = await failure(behavior, range: ByteRange(start: 1_000, length: 5_000))
        #expect(error?.code == .wrongContent)
    }

    @Test func unrequestedPartialContentIsAnError() async {
        #expect(await failure(.wrongRange(.unrequested))?.code == .wrongContent)
        let refused = await failure(.wrongRange(.refused), range: ByteRange(start: 1_000, length: 5_000))
        #expect(refused?.status == 416)
    }

    /// The length of the body would not be that of the requested bytes.
    @Test func partialContentOfACompressedBodyIsAnError() async {
        let part = MisbehavingServer.Behavior.status(
            206,
            headers: ["Content-Encoding": "gzip", "Content-Range": "bytes 1000-5999/200000"],
            body: [UInt8](repeating: 1, count: 5_000)
        )
        #expect(await failure(part, range: ByteRange(start: 1_000, length: 5_000))?.code == .wrongContent)
    }

    @Test func rangeIsExtractedIfTheServerIgnoresRangeRequests() async throws {
        let range = ByteRange(start: 1_000, length: 5_000)
        let (loaded, requests) = try await load([.wrongRange(.ignored)], range: range)
        #expect(loaded.bytes == Array(Self.media[1_000..<6_000]) && requests.count == 1)
        let outside = await #expect(throws: TransportError.self) {
            _ = try await load([.wrongRange(.ignored)], range: ByteRange(start: 199_000, length: 5_000))
        }
        #expect(outside?.code == .wrongContent)
    }

    // MARK: Error responses

    @Test func errorResponseReportsServerAddressAndHeaderFields() async throws {
        let fields: KeyValuePairs = ["X-Request-ID": "r-1", "X-Cache": "MISS", "x-cache": "STALE"]
        let error = await failure(.status(404, headers: fields))
        #expect(error?.headerFields["X-Request-ID"] == "r-1")
        #expect(error?.headerFields["X-Cache"] == "MISS" && error?.headerFields["x-cache"] == "STALE")
        #expect(error?.serverAddress.map { $0.hasPrefix("127.0.0.1:") } == true, "\(error?.serverAddress ?? "none")")
        let broken = await failure(.closeBeforeHead)
        #expect(broken?.headerFields.isEmpty == true)
    }

    @Test(arguments: [400, 401, 403, 404, 410, 451])
    func clientErrorStatusFailsWithoutRetry(status: Int) async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media)]) { server in
            server.behave("/a", .status(status))
            let transport = HTTPTransport()
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            let error = await #expect(throws: TransportError.self) {
                _ = try await ResourceLoader(transport).load(request)
            }
            #expect(error?.code == .status && error?.status == status && server.requests.count == 1)
            try await transport.shutdown()
        }
    }

    @Test func retryAfterIsRespectedAsSecondsAndAsADate() async throws {
        let started = ContinuousClock.now
        let busy = MisbehavingServer.Behavior.status(503, headers: ["Retry-After": "1"])
        let dated = MisbehavingServer.Behavior.status(
            429,
            headers: [
                "Retry-After": "Sat, 01 Jan 2022 00:00:01 GMT", "Date": "Sat, 01 Jan 2022 00:00:00 GMT",
            ]
        )
        let (loaded, requests) = try await load([busy, dated, .proper], retries: 3)
        #expect(loaded.bytes == Self.media && requests.count == 3)
        #expect(ContinuousClock.now - started >= .seconds(2))
    }

    @Test func redirectsAreFollowedUpToALimit() async throws {
        let looping = await failure(.redirectLoop)
        #expect(looping?.code == .badRedirect)
        #expect(await failure(.redirectWithoutLocation)?.code == .badRedirect)
        try await MisbehavingServer.withServer(["/b": .init(Self.media)]) { server in
            for step in 0..<10 {
                server.behave("/\(step)", .redirect(to: step < 9 ? "/\(step + 1)" : "b", status: 302))
            }
            let transport = HTTPTransport()
            let request = TransportRequest(ResourceAddress(server.address("/0")), kind: .segment)
            let loaded = try await ResourceLoader(transport).load(request)
            #expect(loaded.bytes == Self.media && loaded.address.text == server.address("/b"))
            server.behave("/9", .redirect(to: "/10", status: 307))
            server.behave("/10", .redirect(to: "/b", status: 308))
            let error = await #expect(throws: TransportError.self) {
                _ = try await ResourceLoader(transport).load(request)
            }
            #expect(error?.code == .badRedirect)
            try await transport.shutdown()
        }
    }

    @Test func redirectToAFileOrDataURLIsRejected() async {
        #expect(await failure(.redirect(to: "file:///etc/passwd", status: 302))?.code == .addressRefused)
        #expect(await failure(.redirect(to: "data:text/plain,x", status: 302))?.code == .addressRefused)
    }

    // MARK: Compression

    @Test func compressionIsRequestedForPlaylistsButNotForMedia() async throws {
        let playlist = MisbehavingServer.Resource.text(String(repeating: "#EXTINF:4,\nsegment.ts\n", count: 100))
        let (loaded, requests) = try await load([.gzip], kind: .playlist, resource: playlist)
        #expect(loaded.bytes == playlist.bytes && requests[0].header("Accept-Encoding")?.contains("gzip") == true)
        let (media, asked) = try await load([.proper])
        #expect(media.bytes == Self.media && asked[0].header("Accept-Encoding") == "identity")
        let (unasked, _) = try await load([.gzip])
        #expect(unasked.bytes == Self.media)
    }

    @Test func decompressedSizeIsLimited() async {
        let error = await failure(.gzipBomb(expandedTo: 512 << 20), kind: .playlist)
        #expect(error?.code == .tooLarge)
    }

    // MARK: Requests

    @Test(arguments: [
        "/a%2fb/%41%7e?x=%2F", "/a//b/./c/../d", "/a;p=1,2?q[]={$v}|^`\"<>", "/?", "/a?b?c#d", "/%zz%", "/+%20+",
        "/a\\b",
    ])
    func requestTargetsAreSentByteForByte(target: String) async throws {
        try await MisbehavingServer.withServer([:]) { server in
            let transport = HTTPTransport()
            let request = TransportRequest(ResourceAddress("http://127.0.0.1:\(server.port)\(target)"), kind: .segment)
            _ = try? await transport.send(request)
            try await transport.shutdown()
            let expected = String(target.prefix { $0 != "#" })
            #expect(server.requests.map(\.target) == [expected])
        }
    }

    @Test func charactersNotAllowedInARequestLineArePercentEncoded() async throws {
        try await MisbehavingServer.withServer([:]) { server in
            let transport = HTTPTransport()
            for text in ["/a b", "/ü", "/a\tb\u{7F}"] {
                _ = try? await transport.send(
                    TransportRequest(ResourceAddress("http://127.0.0.1:\(server.port)\(text)"), kind: .segment)
                )
            }
            try await transport.shutdown()
            #expect(server.requests.map(\.target) == ["/a%20b", "/%C3%BC", "/a%09b%7F"])
            #expect(server.requests.allSatisfy { $0.header("X-Millstream-Exchange") == nil })
        }
    }

    @Test func credentialsInAURLBecomeAnAuthorizationField() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let transport = HTTPTransport()
            let address = server.address("/a").replacing("http://", with: "http://me:p%40ss@")
            _ = try await transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
            try await transport.shutdown()
            #expect(server.requests[0].header("Authorization") == "Basic bWU6cEBzcw==")
            #expect(server.requests[0].header("Host") == "127.0.0.1:\(server.port)")
        }
    }

    @Test func secretsAreNotSentToAnotherHostOrPort() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { other in
            try await MisbehavingServer.withServer([:]) { server in
                server.behave("/a", .redirect(to: other.address("/a"), status: 302))
                let secret = HeaderField("Authorization", "Bearer x")
                let address = ResourceAddress(server.address("/a"))
                let trusting = HTTPTransport.Options(headers: [ScopedHeaderField]([secret], forOriginsOf: [address]))
                let transport = HTTPTransport(trusting)
                let request = TransportRequest(address, kind: .playlist, headers: [HeaderField("X-Key", "y")])
                let response = try await transport.send(request)
                #expect(response.record.measurement.redirectCount == 1)
                try await transport.shutdown()
                #expect(
                    server.requests.allSatisfy { $0.header("Authorization") == "Bearer x" && $0.header("X-Key") == "y" }
                )
                #expect(other.requests.count == 1)
                #expect(other.requests.allSatisfy { $0.header("Authorization") == nil && $0.header("X-Key") == nil })
            }
        }
    }

    @Test func cookiesAreStoredAndSentBackAcrossRedirects() async throws {
        try await MisbehavingServer.withServer(["/in": .init([1])]) { server in
            server.behave("/login", .status(302, headers: ["Location": "/in", "Set-Cookie": "s=1; Path=/"]))
            let jar = CookieJar()
            let transport = HTTPTransport(HTTPTransport.Options(cookies: jar))
            _ = try await transport.send(TransportRequest(ResourceAddress(server.address("/login")), kind: .playlist))
            try await transport.shutdown()
            #expect(server.requests.last?.header("Cookie") == "s=1" && jar.count == 1)
        }
    }

    @Test func connectionsAreReusedAndMeasured() async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media)]) { server in
            let transport = HTTPTransport()
            var measurements: [TransferMeasurement] = []
            for _ in 0..<3 {
                let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
                measurements.append(try await ResourceLoader(transport).load(request).measurement)
            }
            try await transport.shutdown()
            #expect(server.connectionCount == 1)
            #expect(measurements.map { $0.connectDuration != nil } == [true, false, false])
            #expect(
                measurements.allSatisfy {
                    $0.serverAddress == "127.0.0.1:\(server.port)" && $0.protocolName == "http/1.1"
                }
            )
            #expect(measurements.allSatisfy { $0.domainLookupDuration == nil && $0.bytes.bytes == 200_000 })
        }
    }

    @Test func latencyIsMeasuredSeparatelyFromTheBody() async throws {
        let (loaded, _) = try await load([[.delay(.milliseconds(200)), .throttle(bytesPerSecond: 1_000_000)]])
        let first = try #require(loaded.measurement.timeToFirstByte)
        let transfer = try #require(loaded.measurement.transferDuration)
        #expect(first >= .milliseconds(190) && transfer >= .milliseconds(140) && transfer < .seconds(10))
    }

    @Test func namesAreLookedUpOnceAndMeasured() async throws {
        try await MisbehavingServer.withServer(["/a": .init([1])]) { server in
            let transport = HTTPTransport()
            var lookups: [Bool] = []
            for _ in 0..<2 {
                let address = server.address("/a").replacing("127.0.0.1", with: "localhost")
                let response = try await transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
                lookups.append(response.record.measurement.domainLookupDuration != nil)
            }
            try await transport.shutdown()
            #expect(lookups == [true, false] && server.requests[0].header("Host") == "localhost:\(server.port)")
        }
    }

    @Test func connectionRefusedAndUnknownHostAreErrors() async throws {
        let port = try await MisbehavingServer.withServer([:]) { $0.port }
        let transport = HTTPTransport()
        let refused = await #expect(throws: TransportError.self) {
            _ = try await transport.send(TransportRequest(ResourceAddress("http://127.0.0.1:\(port)/"), kind: .segment))
        }
        let unknown = await #expect(throws: TransportError.self) {
            _ = try await transport.send(
                TransportRequest(ResourceAddress("http://no-such-host.invalid/"), kind: .segment)
            )
        }
        try await transport.shutdown()
        #expect(refused?.code == .cannotConnect && unknown?.code == .unknownHost)
        #expect(unknown?.address?.text == "http://no-such-host.invalid/")
    }

    // MARK: Authorization

    @Test func authorizationIsRenewedOnceForConcurrentFailures() async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media)]) { server in
            let token = Mutex("old")
            let renewals = Mutex(0)
            let authorization = RequestAuthorization(
                trustedAddresses: [],
                sign: { request in
                    var request = request
                    request.headers.append(HeaderField("Authorization", token.withLock { $0 }))
                    return request
                },
                renew: { _ in
                    renewals.withLock { $0 += 1 }
                    try await Task.sleep(for: .milliseconds(20))
                    token.withLock { $0 = "new" }
                    return true
                }
            )
            server.behave("/a", .status(401), .status(401), .status(403), .proper)
            let http = HTTPTransport()
            let loader = ResourceLoader(AuthorizedTransport(http, authorization: authorization))
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .segment)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 { group.addTask { try await loader.load(request).bytes.count } }
                for try await count in group { #expect(count == 200_000) }
            }
            try await http.shutdown()
            #expect(renewals.withLock { $0 } == 1)
            #expect(server.requests.suffix(3).allSatisfy { $0.header("Authorization") == "new" })
        }
    }

    @Test func authorizationFieldsAreSentOnlyToTrustedOriginsAndNamedHosts() async throws {
        let texts = [
            "https://www.example.com/1", "https://cdn.example.com/2", "https://a.example.com/3",
            "http://www.example.com/4",
        ]
        let script = ScriptedTransport(Dictionary(uniqueKeysWithValues: texts.map { ($0, [.text("x")]) }))
        let authorization = RequestAuthorization(
            trustedAddresses: [ResourceAddress("https://www.example.com/film.m3u8")],
            headers: [HeaderField("Authorization", "Bearer x")],
            headersByKind: [.key: [HeaderField("X-Key", "k")]],
            scopedHeaders: [try #require(ScopedHeaderField(line: "cdn.example.com X-CDN: c"))]
        )
        let transport = AuthorizedTransport(script, authorization: authorization)
        for text in texts { _ = try await transport.send(TransportRequest(ResourceAddress(text), kind: .key)) }
        #expect(script.requests.map { $0.allHeaders.map(\.value) } == [["Bearer x", "k"], ["c"], [], []])
    }

    @Test func requestFailsIfRefusedAgainAfterARenewal() async throws {
        try await MisbehavingServer.withServer(["/a": .init(Self.media)]) { server in
            server.behave("/a", .status(403))
            let http = HTTPTransport()
            let authorization = RequestAuthorization(
                trustedAddresses: [ResourceAddress(server.address("/list.m3u8"))],
                headers: [HeaderField("X-All", "1")],
                headersByKind: [.key: [HeaderField("X-Key", "1")]],
                renew: { _ in true }
            )
            let loader = ResourceLoader(AuthorizedTransport(http, authorization: authorization))
            let request = TransportRequest(ResourceAddress(server.address("/a")), kind: .key)
            let error = await #expect(throws: TransportError.self) { _ = try await loader.load(request) }
            try await http.shutdown()
            #expect(error?.status == 403 && server.requests.count == 2)
            #expect(server.requests[0].header("X-All") == "1" && server.requests[0].header("X-Key") == "1")
        }
    }
}

extension MisbehavingServer {
    /// Sets the behaviors for consecutive requests of the resource `/a`.
    fileprivate func behave(_ behaviors: [Behavior]) {
        switch behaviors.count {
        case 0: break
        case 1: behave("/a", behaviors[0])
        case 2: behave("/a", behaviors[0], behaviors[1])
        default: behave("/a", behaviors[0], behaviors[1], behaviors[2])
        }
    }
}

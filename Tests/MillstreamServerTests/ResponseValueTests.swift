import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import NIOCore
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests of the conditions of requests, apart from any server.
@Suite struct ConditionValueTests {
    private static let date = "Wed, 01 Jan 2025 00:00:00 GMT"
    private static let later = "Wed, 01 Jan 2025 00:00:01 GMT"
    private static let earlier = "Tue, 31 Dec 2024 23:59:59 GMT"

    private func response(_ fields: [(String, String)], status: Int = 200) -> TransportResponse {
        TransportResponse(
            status: status,
            headers: fields.map { HeaderField($0.0, $0.1) },
            address: ResourceAddress("https://h/a"),
            expectedLength: 0,
            body: TransportBody([UInt8]())
        )
    }

    @Test(
        arguments: [
            ([.ifNoneMatch: "\"a\""], 200, true), ([.ifNoneMatch: "W/\"a\""], 200, true),
            ([.ifNoneMatch: "\"b\", \"a\""], 206, true), ([.ifNoneMatch: "\"b\""], 200, false),
            ([.ifNoneMatch: "*"], 200, true), ([.ifNoneMatch: ""], 200, false),
            // The tag decides if there is one.
            ([.ifNoneMatch: "\"b\"", .ifModifiedSince: date], 200, false),
            ([.ifModifiedSince: date], 200, true), ([.ifModifiedSince: later], 200, true),
            ([.ifModifiedSince: earlier], 200, false), ([.ifModifiedSince: date], 206, false),
            ([.ifModifiedSince: "yesterday"], 200, false), ([:], 200, false),
        ] as [(HTTPFields, Int, Bool)]
    )
    func clientHasTheContent(fields: HTTPFields, status: Int, expected: Bool) {
        let response = response([("ETag", "\"a\""), ("Last-Modified", Self.date)], status: status)
        #expect(ConditionalRequest(fields).hasContent(of: response) == expected)
    }

    @Test func responseWithoutValidatorsIsSent() {
        #expect(!ConditionalRequest([.ifNoneMatch: "\"a\""]).hasContent(of: response([])))
        #expect(!ConditionalRequest([.ifModifiedSince: Self.date]).hasContent(of: response([])))
        #expect(!ConditionalRequest([.ifNoneMatch: "\"x\", , \"y\""]).hasContent(of: response([])))
    }

    @Test func onlyOneConditionIsForwarded() {
        let both: HTTPFields = [.ifNoneMatch: "\"a\"", .ifModifiedSince: Self.date]
        #expect(ConditionalRequest(both).forwardedField == HeaderField("If-None-Match", "\"a\""))
        var several: HTTPFields = [:]
        several[values: .ifNoneMatch] = ["\"a\"", "\"b\""]
        #expect(ConditionalRequest(several).forwardedField == HeaderField("If-None-Match", "\"a\", \"b\""))
        let date = HeaderField("If-Modified-Since", Self.date)
        #expect(ConditionalRequest([.ifModifiedSince: Self.date]).forwardedField == date)
        #expect(ConditionalRequest([.range: "bytes=0-1"]).forwardedField == nil)
    }

    @Test(arguments: [
        ("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), (date, true), (later, false), ("", false),
    ])
    func validatorOfARangeIsStrong(validator: String, expected: Bool) {
        let strong = response([("ETag", "\"a\""), ("Last-Modified", Self.date)], status: 206)
        #expect(strong.hasValidator(validator) == expected)
        #expect(!response([("ETag", "W/\"a\"")], status: 206).hasValidator(validator))
    }
}

/// Tests of what the server remembers of the responses to requests for playlists.
@Suite struct RememberedResponseTests {
    private static let entry = EditedPlaylistCache.Entry(Array("edited".utf8), versions: [:], second: nil)

    @Test func onlyTheResponseWithThePlaylistIsRemembered() {
        let value = ResponseOffer.Value(
            playlist: Self.entry,
            key: EditedPlaylistCache.Key(target: "/", authority: "h", isForeign: false),
            expiry: nil,
            initiator: .player
        )
        func isSent(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: String) -> Bool {
            let body = ResponseBody(byteBuffer: ByteBuffer(string: body))
            return value.isSent(as: Response(status: status, headers: fields, body: body))
        }
        let tag = Self.entry.tag
        #expect(isSent(.ok, [.eTag: tag], "edited") && isSent(.notModified, [.eTag: tag], ""))
        #expect(isSent(.notModified, [.eTag: "\(tag.dropLast())-gzip\""], ""))
        #expect(!isSent(.ok, [.eTag: tag], "edite") && !isSent(.ok, [.eTag: tag], "editeds"))
        #expect(!isSent(.ok, [:], "edited") && !isSent(.ok, [.eTag: "\"x\""], "edited"))
        #expect(
            !isSent(.partialContent, [.eTag: tag], "edited") && !isSent(.serviceUnavailable, [.eTag: tag], "edited")
        )
        // The playlist was never compressed.
        #expect(!isSent(.ok, [.eTag: tag, .contentEncoding: "gzip"], "edited"))
    }

    @Test func requestHasAMaximumSize() throws {
        func request(_ target: String) -> RepeatedRequest? {
            RepeatedRequest(
                HTTPRequest(method: .get, scheme: "http", authority: "h", path: target),
                isForwarded: false
            )
        }
        let short = try #require(request("/play.m3u8?url="))
        #expect(short.size == "direct /play.m3u8?url=\nh".utf8.count)
        let rest = 8_192 - short.size
        #expect(request("/play.m3u8?url=" + String(repeating: "a", count: rest))?.size == 8_192)
        #expect(request("/play.m3u8?url=" + String(repeating: "a", count: rest + 1)) == nil)
    }

    @Test func playlistOfAQuarterOfTheMemoryIsTheLargest() {
        let cache = EditedPlaylistCache(size: ByteCount(100_000)) { UnixSeconds(0) }
        let key = EditedPlaylistCache.Key(target: "/play", authority: "host", isForeign: false)
        func entry(_ count: Int) -> EditedPlaylistCache.Entry {
            EditedPlaylistCache.Entry([UInt8](repeating: 7, count: count), versions: [:], second: nil)
        }
        let overhead = entry(0).size + key.size
        #expect(key.size == 9)
        cache.store(entry(25_000 - overhead), for: key)
        #expect(cache.entry(for: key) != nil)
        // A playlist that is too large replaces the former one nevertheless.
        cache.store(entry(25_001 - overhead), for: key)
        #expect(cache.entry(for: key) == nil)
    }

    @Test func onlyLongPlaylistsAreCompressedOnce() {
        var short = EditedPlaylistCache.Entry([UInt8](repeating: 7, count: 1_399), versions: [:], second: nil)
        var long = EditedPlaylistCache.Entry([UInt8](repeating: 7, count: 1_400), versions: [:], second: nil)
        #expect(!short.mayCompress && long.mayCompress)
        let size = long.size
        short.compress()
        long.compress()
        #expect(short.compressed == nil && !long.mayCompress)
        #expect(long.size == size + (long.compressed?.readableBytes ?? 0) && long.size > size)
    }

    @Test(
        arguments: [
            (["gzip"], true), (["x-gzip"], true), (["GZIP"], true), (["gzip;q=0"], false), (["gzip; q=0.000"], false),
            (["gzip;q=0.001"], true), (["*"], true), (["*;q=0"], false), (["*, gzip;q=0"], false),
            (["*;q=0, gzip"], true), (["br, deflate"], false), ([], false), ([""], false), (["br", "gzip"], true),
            (["br", "*;q=0"], false), (["gzip ; q=0 "], false), (["gzipx"], false),
        ] as [([String], Bool)]
    )
    func clientAcceptsGzip(fields: [String], expected: Bool) {
        var headers: HTTPFields = [:]
        headers[values: .acceptEncoding] = fields
        #expect(GzipEncoding.isAccepted(by: headers) == expected)
    }

    @Test func bytesThatGzipDoesNotShortenStay() {
        #expect(GzipEncoding.compress([]) == nil && GzipEncoding.compress([1, 2, 3]) == nil)
        let long = GzipEncoding.compress([UInt8](repeating: 7, count: 5_000))
        #expect(long?.prefix(2) == [0x1F, 0x8B] && (20..<100).contains(long?.count ?? 0))
    }

    @Test(arguments: [(15, false), (16, true), (17, false), (31, false), (32, true), (33, false), (0, false)])
    func keysInAddressesHaveTheirSizes(count: Int, isKey: Bool) {
        func key(_ bytes: [UInt8]) -> [UInt8]? {
            let text = "data:application/octet-stream;base64," + Data(bytes).base64EncodedString()
            return EmbeddedKey(ResourceAddress(text))?.bytes
        }
        let bytes = (0..<count).map { UInt8($0) }
        #expect(key(bytes) == (isKey ? bytes : nil))
        guard isKey else { return }
        // The data of a protection system is no key.
        for (position, expected) in [(3, true), (4, false), (5, true)] {
            var box = bytes
            box.replaceSubrange(position..<(position + 4), with: Array("pssh".utf8))
            #expect((key(box) != nil) == expected, "\(position)")
        }
    }
}

/// Tests of what a connection knows of the current request of its client.
@Suite struct CurrentRequestTests {
    private func key(_ target: String) -> EditedPlaylistCache.Key {
        EditedPlaylistCache.Key(target: target, authority: "h", isForeign: false)
    }

    @Test func whatIsKnownIsTakenOnce() {
        let presence = ClientPresence()
        func isConfirmed(_ target: String) -> Bool {
            if case .confirmed? = presence.takeConfirmation(for: key(target)) { true } else { false }
        }
        #expect(!isConfirmed("/a"))
        presence.setConfirmation((key("/a"), RepeatedResponses.Confirmation.confirmed))
        #expect(isConfirmed("/a"))
        #expect(!isConfirmed("/a"))
        // What is known of another request is of no use any longer.
        presence.setConfirmation((key("/a"), RepeatedResponses.Confirmation.confirmed))
        #expect(!isConfirmed("/b"))
        #expect(!isConfirmed("/a"))
        presence.setConfirmation((key("/a"), RepeatedResponses.Confirmation.confirmed))
        presence.setConfirmation(nil)
        #expect(!isConfirmed("/a"))
        presence.setCacheResult(.segment(isInMemory: true))
        #expect(presence.takeCacheResult() == .segment(isInMemory: true))
        #expect(presence.takeCacheResult() == nil)
        #expect(CacheResult.segment(isInMemory: true).text == "memory")
        #expect(CacheResult.segment(isInMemory: false).text == "loaded")
    }
}

/// Tests of the boundaries between the buckets of durations, and of the labels of metrics.
@Suite struct MetricBoundaryTests {
    @Test(arguments: [
        (5, "0.005"), (10, "0.01"), (25, "0.025"), (50, "0.05"), (100, "0.1"), (250, "0.25"), (500, "0.5"),
        (1_000, "1"), (2_500, "2.5"), (5_000, "5"), (10_000, "10"),
    ])
    func bucketsIncludeTheirBounds(milliseconds: Int, bound: String) {
        let metrics = ServerMetrics()
        let duration = Duration.milliseconds(milliseconds)
        metrics.count(path: "/segment/a", status: 200, duration: duration)
        metrics.count(path: "/segment/a", status: 200, duration: duration + .nanoseconds(1))
        let text = metrics.text(downloads: 0, listeners: 0, connections: 0)
        let bucket = "millstream_request_duration_seconds_bucket{area=\"segment\",le="
        #expect(text.contains("\(bucket)\"\(bound)\"} 1\n"), "\(text)")
        #expect(text.contains("\(bucket)\"+Inf\"} 2\n"))
    }

    @Test func labelsAreEscaped() {
        let metrics = ServerMetrics()
        metrics.countSourceError(TransportError.Code(rawValue: "a\"b\\c\nd"))
        let text = metrics.text(downloads: 0, listeners: 0, connections: 0)
        #expect(text.contains(#"millstream_source_errors_total{code="a\"b\\c\nd"} 1"#), "\(text)")
    }
}

/// Tests of the files and folders of an origin.
@Suite struct FolderValueTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("b c/d"),
            withIntermediateDirectories: true
        )
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(
        arguments: [(nil, [131_072, 131_072, 6]), ("bytes=1-131072", [131_072]), ("bytes=0-131072", [131_072, 1])]
            as [(String?, [Int])]
    )
    func largeFileIsSentInPieces(range: String?, sizes: [Int]) async throws {
        try await withFolder { folder in
            let bytes = (0..<262_150).map { UInt8(truncatingIfNeeded: $0 / 7) }
            let file = folder.appendingPathComponent("a.ts")
            try Data(bytes).write(to: file)
            let fields = range.map { [(HTTPField.Name.range, $0)] } ?? []
            let response = try FileResponder().respond(
                ContainedFile(["a.ts"], in: folder.path),
                named: "a.ts",
                to: .get("/a.ts", fields: fields),
                cacheControl: "no-cache"
            )
            let body = try await response.body.recorded()
            let start = range == "bytes=1-131072" ? 1 : 0
            #expect(body.chunkSizes == sizes && body.isFinished)
            #expect(body.bytes == Array(bytes[start..<(start + sizes.reduce(0, +))]))
            #expect(response.body.contentLength == sizes.reduce(0, +))
            // A client does not wait for bytes that the file has no longer.
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 10)
            try handle.close()
            let (rest, error) = await response.body.recordedWithError()
            #expect(error != nil && !rest.isFinished && rest.bytes == Array(bytes[start..<10]))
        }
    }

    /// A date before 1970 has no form in a header field.
    @Test(arguments: [(-1_000, "Thu, 01 Jan 1970 00:00:00 GMT"), (1, "Thu, 01 Jan 1970 00:00:01 GMT")])
    func modificationIsNotBefore1970(seconds: Int, expected: String) async throws {
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a.ts")
            try Data("x".utf8).write(to: file)
            let date = Date(timeIntervalSince1970: Double(seconds))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            let response = try FileResponder().respond(
                ContainedFile(["a.ts"], in: folder.path),
                named: "a.ts",
                to: .get("/a.ts"),
                cacheControl: "no-cache"
            )
            #expect(response.status == .ok && response.headers[.lastModified] == expected)
        }
    }

    @Test func folderIsListedWithLinks() async throws {
        try await withFolder { folder in
            let inner = folder.appendingPathComponent("b c")
            for name in ["a&b<\"1\">.ts", ".hidden"] {
                try Data("x".utf8).write(to: inner.appendingPathComponent(name))
            }
            func page(_ parts: [String], _ path: String) async throws -> String? {
                let url = folder.appendingPathComponent(parts.joined(separator: "/"))
                let page = FolderPage(ContainedFile(parts, in: folder.path), at: url, path: path)
                return try await page?.response.body.recorded().text
            }
            let top = try #require(try await page([], "/"))
            #expect(top.contains("<ul>\n<li><a href=\"/b%20c\">b c/</a></li>\n</ul>"), "\(top)")
            let middle = try #require(try await page(["b c"], "/b%20c"))
            #expect(middle.contains("<title>/b c</title>") && middle.contains("<h1>/b c</h1>"))
            #expect(middle.contains("<ul>\n<li><a href=\"/\">../</a></li>\n"), "\(middle)")
            #expect(middle.contains(">a&amp;b&lt;&quot;1&quot;&gt;.ts</a></li>\n"))
            #expect(middle.contains("<li><a href=\"/b%20c/d\">d/</a></li>\n</ul>"))
            let low = try #require(try await page(["b c", "d"], "/b%20c/d"))
            #expect(low.contains("<ul>\n<li><a href=\"/b%20c\">../</a></li>\n</ul>"), "\(low)")
            #expect(try await page(["b c", ".hidden"], "/b%20c/.hidden") == nil)
        }
    }

    @Test func exchangeIsDescribedInALine() {
        func text(_ path: String, _ range: String?) -> String {
            FolderOrigin.Exchange(method: "GET", path: path, range: range, status: 206).description
        }
        #expect(text("/a.ts", nil) == "206 GET /a.ts" && text("/a.ts", "bytes=0-1") == "206 GET /a.ts bytes=0-1")
        #expect(
            text("/a.ts", String(repeating: "x", count: 61)) == "206 GET /a.ts " + String(repeating: "x", count: 60)
        )
    }

    @Test(arguments: [
        ("video/mp4; codecs=\"", "video/mp4"), ("video/mp4; codecs=\"\"", "video/mp4; codecs=\"\""),
        ("video/mp4; codecs=avc1  ", "video/mp4; codecs=avc1  "), ("video/mp4; codecs=a c", "video/mp4"),
        ("video/x_y-1+z.2", "video/x_y-1+z.2"), ("video/x!", "application/octet-stream"),
    ])
    func parametersOfMediaTypesArePlain(type: String, expected: String) {
        #expect(FileResponder.safeMediaType(type) == expected)
    }
}

/// Tests of the limits of translated presentations.
@Suite struct TranslationLimitTests {
    @Test(arguments: [(100, 200, 100, 200), (1 << 40, 1 << 40, 64 << 20, 256 << 20)] as [(Int64, Int64, Int64, Int64)])
    func limitsAreThoseOfTheServer(loaded: Int64, pending: Int64, index: Int64, memory: Int64) {
        var limits = ServerLimits(pendingBytes: ByteCount(pending))
        limits.editing.loadedBytes = ByteCount(loaded)
        let options = PresentationStore(limits, workers: .callingTask).options
        #expect(options.indexSize == ByteCount(index) && options.memorySize == ByteCount(memory))
        #expect(options.presentationCount == 32 && options.staticLifetime == .seconds(30))
    }
}

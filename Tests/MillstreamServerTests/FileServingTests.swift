import Foundation
import HTTPTypes
import Logging
import MediaTiming
import MediaTransport
import NetworkConditioning
import Synchronization
import Testing

@testable import MillstreamServer

@Suite struct MediaTypeTests {
    @Test(arguments: [
        ("m3u8", "application/vnd.apple.mpegurl"), ("M3U", "application/vnd.apple.mpegurl"),
        ("mpd", "application/dash+xml"), ("ts", "video/mp2t"), ("mp4", "video/mp4"), ("m4s", "video/mp4"),
        ("m4v", "video/mp4"), ("cmfv", "video/mp4"), ("m4a", "audio/mp4"), ("cmfa", "audio/mp4"),
        ("aac", "audio/aac"), ("MP3", "audio/mpeg"), ("vtt", "text/vtt; charset=utf-8"),
        ("webvtt", "text/vtt; charset=utf-8"), ("html", "text/html; charset=utf-8"),
        ("css", "text/css; charset=utf-8"), ("js", "text/javascript; charset=utf-8"), ("svg", "image/svg+xml"),
        ("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"), ("json", "application/json"),
        ("plist", "application/x-plist"), ("exe", "application/octet-stream"), ("", "application/octet-stream"),
    ])
    func mediaTypeFollowsFromTheFileExtension(ending: String, type: String) {
        #expect(FileResponder.mediaType(ending) == type)
    }

    @Test(arguments: [
        "video/mp4", "VIDEO/mp2t", "video/anything; codecs=\"x\"", "audio/aac", "text/vtt", "text/vtt;charset=utf-8",
        " text/vtt ", "application/vnd.apple.mpegurl", "application/x-mpegURL", "application/dash+xml", "image/jpeg",
        "image/png", "image/gif", "image/webp", "application/mp4",
    ])
    func safeMediaTypesArePreserved(type: String) {
        #expect(FileResponder.safeMediaType(type) == type)
    }

    @Test(
        arguments: [
            nil, "", "text/html", "text/plain", "application/javascript", "image/svg+xml", "text/vttx",
            "application/mp4x", "text/html; video/mp4", "xvideo/mp4", "application/octet-stream", "image/avif",
            "video/mp4, text/html", "video/mp4,text/html", "video/mp4 text/html", "video/", "video/mp4/html", "video",
            ", video/mp4", "video/mp4\t", "video/\"x\"",
        ] as [String?]
    )
    func otherTypesBecomeOctetStreams(type: String?) {
        #expect(FileResponder.safeMediaType(type) == "application/octet-stream")
    }

    /// Browsers take a comma in a parameter that is not quoted, and what some of them take for one, for the start of another type.
    @Test(arguments: [
        "; codecs=x, text/html", ";, text/html", "; codecs=\"x\\\", text/html", "; codecs=\"x, text/html", "; title=x",
        "; codecs=\"a;b\"", "; codecs", "; codecs=", "; codecs=\"a\"\"b\"", "; codecs=a=b",
    ])
    func parametersThatAreNotPlainAreRemoved(parameters: String) {
        #expect(FileResponder.safeMediaType("Video/mp4" + parameters) == "video/mp4")
    }

    @Test(arguments: [
        "video/mp4; codecs=\"avc1.4d401e, mp4a.40.2\"", "video/mp4;CODECS=avc1.4d401e; profiles=\"cmfc,isom\"",
        "audio/aac; ",
    ])
    func plainParametersArePreserved(type: String) { #expect(FileResponder.safeMediaType(type) == type) }
}

@Suite struct ByteRangeReadingTests {
    @Test(
        arguments: [
            ("bytes=0-", 1, 0...0), ("bytes=0-0", 1, 0...0), ("bytes=0-5", 1, 0...0), ("bytes=-1", 1, 0...0),
            ("bytes=-2", 1, 0...0), ("bytes=99-", 100, 99...99), ("bytes=99-99", 100, 99...99),
            ("bytes=99-100", 100, 99...99), ("bytes=0-98", 100, 0...98), ("bytes=-99", 100, 1...99),
            ("bytes=-100", 100, 0...99), ("bytes=-1", 100, 99...99), ("bytes=5-5", 100, 5...5),
            ("bytes=100-", 100, nil), ("bytes=1-", 1, nil), ("bytes=-0", 1, nil), ("bytes=--1", 100, nil),
            ("bytes=6-5", 100, nil), ("bytes=0-", 0, nil), ("bytes=-1", 0, nil), ("bytes=0", 100, nil),
            ("bytes 0-1", 100, nil), ("Bytes=0-1", 100, nil), ("bytes=0-1,", 100, nil), ("bytes=1-x", 100, nil),
            ("bytes=99999999999999999999-", 100, nil), ("bytes=0-99999999999999999999", 100, 0...99),
            ("bytes=-99999999999999999999", 100, 0...99), ("bytes=+1-2", 100, nil), ("bytes=1-+2", 100, nil),
        ] as [(String, Int, ClosedRange<Int>?)]
    )
    func rangesAreParsedWithinTheSize(text: String, size: Int, range: ClosedRange<Int>?) {
        #expect(FileResponder.range(text, size: size) == range)
        #expect(RequestParsing.byteRange(text, size: size) == range)
    }

    /// Only a range that has another form, or ends before it starts, is ignored.
    @Test(
        arguments: [
            ("bytes=10-", .notSatisfiable), ("bytes=10-99999999999999999999999", .notSatisfiable),
            ("bytes=99999999999999999999999-", .notSatisfiable), ("bytes=-0", .notSatisfiable), ("bytes=9-3", .invalid),
            ("bytes=20-3", .invalid), ("bytes=x", .invalid), ("bytes=-", .invalid), ("bytes=1-2,3-4", .invalid),
            ("items=1-2", .invalid), ("bytes=9-", .bytes(9...9)),
        ] as [(String, RequestedRange)]
    )
    func invalidRangesDifferFromThoseThatTheResourceDoesNotHave(text: String, meaning: RequestedRange) {
        #expect(RequestedRange(text, size: 10) == meaning)
    }
}

/// Tests a directory that is served as an origin.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FolderOriginTests {
    private final class Paths: Sendable {
        private let paths = Mutex<[String]>([])
        var all: [String] { paths.withLock { $0 } }
        func append(_ path: String) { paths.withLock { $0.append(path) } }
    }

    private struct Stage {
        let port: Int
        let folder: URL
        let paths: Paths

        func ask(_ target: String, method: String = "GET", fields: [String] = []) async throws -> RawResponse {
            let connection = try RawConnection(port: port)
            let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields + ["Connection: close"]
            connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            return RawResponse(try await connection.readToEnd())
        }
    }

    private func serving(
        conditions: LinkProfile = .off,
        connections: ConnectionLimits = ConnectionLimits(),
        _ test: (Stage) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (path, text) in [
            ("a.m3u8", "0123456789"), ("b c/d.ts", "segment"), (".hidden", "secret"), (".x/y.ts", "secret"),
            ("empty.ts", ""),
        ] {
            let file = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000)],
                ofItemAtPath: file.path
            )
        }
        let origin = FolderOrigin(
            folder,
            port: 0,
            conditions: conditions,
            connections: connections,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let paths = Paths()
        let (ports, port) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await origin.run { path in
                    paths.append(path)
                    if path == "refused.ts" { throw ServerError(.forbidden, "refused", "no") }
                } onRunning: {
                    port.yield($0)
                }
            }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            try await test(Stage(port: number, folder: folder, paths: paths))
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
    }

    /// The entity tag: size and modification time in milliseconds, both in hexadecimal.
    private static let tag = "\"a-f4240\""
    /// The modification time.
    private static let date = "Thu, 01 Jan 1970 00:16:40 GMT"

    @Test func fileIsServedToEverySite() async throws {
        try await serving { (stage: Stage) async throws in
            for (method, body) in [("GET", "0123456789"), ("HEAD", "")] {
                let response = try await stage.ask("/a.m3u8", method: method)
                #expect(response.status == 200 && response.body == body)
                for (name, value) in [
                    ("Content-Type", "application/vnd.apple.mpegurl"), ("Content-Length", "10"),
                    ("Accept-Ranges", "bytes"), ("Cache-Control", "no-cache"), ("ETag", Self.tag),
                    ("Last-Modified", Self.date),
                    ("Access-Control-Allow-Origin", "*"),
                    ("Access-Control-Expose-Headers", "Content-Length, Content-Range"),
                    ("Cross-Origin-Resource-Policy", "cross-origin"),
                    ("Vary", "Origin, Sec-Fetch-Site, Referer, User-Agent"), ("X-Content-Type-Options", "nosniff"),
                    ("Content-Security-Policy", "sandbox; default-src 'none'"), ("Server", "Millstream origin"),
                ] {
                    #expect(response.field(name) == value, "\(method) \(name)")
                }
            }
            let segment = try await stage.ask("/b%20c/d.ts")
            #expect(segment.status == 200 && segment.body == "segment" && segment.field("Content-Type") == "video/mp2t")
            #expect(stage.paths.all == ["a.m3u8", "a.m3u8", "b c/d.ts"])
        }
    }

    @Test func onlyTheRequestedRangeIsSent() async throws {
        try await serving { (stage: Stage) async throws in
            for (fields, status, range, body) in [
                (["Range: bytes=2-4"], 206, "bytes 2-4/10", "234"), (["Range: bytes=-1"], 206, "bytes 9-9/10", "9"),
                (["Range: bytes=8-"], 206, "bytes 8-9/10", "89"), (["Range: bytes=10-"], 416, "bytes */10", ""),
                (["Range: bytes=x"], 200, nil, "0123456789"), (["Range: bytes=9-3"], 200, nil, "0123456789"),
                (["Range: bytes=7-99999999999999999999999"], 206, "bytes 7-9/10", "789"),
                (["Range: items=1-2"], 200, nil, "0123456789"),
                (["Range: bytes=0-1,3-4"], 200, nil, "0123456789"),
                (["Range: bytes=2-4", "If-Range: \(Self.tag)"], 206, "bytes 2-4/10", "234"),
                (["Range: bytes=2-4", "If-Range: \"other\""], 200, nil, "0123456789"),
                (["Range: bytes=2-4", "If-Range: \(Self.date)"], 200, nil, "0123456789"),
            ] as [([String], Int, String?, String)] {
                let response = try await stage.ask("/a.m3u8", fields: fields)
                #expect(response.status == status && response.body == body, "\(fields)")
                #expect(response.field("Content-Range") == range, "\(fields)")
                #expect(response.field("ETag") == Self.tag && response.field("Accept-Ranges") == "bytes")
            }
            #expect(try await stage.ask("/empty.ts", fields: ["Range: bytes=0-"]).status == 416)
            #expect(try await stage.ask("/empty.ts").field("ETag") == "\"0-f4240\"")
        }
    }

    @Test func unchangedFileIsNotSentAgain() async throws {
        try await serving { (stage: Stage) async throws in
            let response = try await stage.ask("/a.m3u8", fields: ["If-None-Match: \(Self.tag)", "Range: bytes=0-1"])
            #expect(response.status == 304 && response.body.isEmpty && response.field("ETag") == Self.tag)
            #expect(try await stage.ask("/a.m3u8", fields: ["If-None-Match: \"other\""]).status == 200)
            for (fields, status) in [
                (["If-Modified-Since: \(Self.date)"], 304),
                (["If-Modified-Since: Thu, 01 Jan 1970 00:16:41 GMT", "Range: bytes=0-1"], 304),
                (["If-Modified-Since: Thu, 01 Jan 1970 00:16:39 GMT"], 200), (["If-Modified-Since: yesterday"], 200),
                // The entity tag decides if there is one.
                (["If-Modified-Since: \(Self.date)", "If-None-Match: \"other\""], 200),
                (["If-Modified-Since: Thu, 01 Jan 1970 00:16:39 GMT", "If-None-Match: \(Self.tag)"], 304),
            ] {
                for method in ["GET", "HEAD"] {
                    let response = try await stage.ask("/a.m3u8", method: method, fields: fields)
                    #expect(response.status == status, "\(method) \(fields)")
                    #expect(response.field("Last-Modified") == Self.date && response.field("ETag") == Self.tag)
                    #expect(response.body == (status == 200 && method == "GET" ? "0123456789" : ""))
                }
            }
        }
    }

    /// A client whose clock is right must not take the file for one that it has (RFC 9110 §8.8.2.1).
    @Test func modificationInTheFutureIsReportedAsNow() async throws {
        try await serving { (stage: Stage) async throws in
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 1_000_000)],
                ofItemAtPath: stage.folder.appendingPathComponent("a.m3u8").path
            )
            let response = try await stage.ask("/a.m3u8")
            let modified = try #require(response.field("Last-Modified").flatMap { HTTPDate.seconds($0) })
            #expect(modified <= UnixSeconds.now.rawValue)
        }
    }

    @Test func methodsThatFilesDoNotHaveAreRefused() async throws {
        try await serving { (stage: Stage) async throws in
            for target in ["/a.m3u8", "/"] {
                for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE"] {
                    let response = try await stage.ask(target, method: method)
                    #expect(response.status == 405 && response.errorCode == "method-not-allowed", "\(method) \(target)")
                    #expect(response.field("Allow") == "GET, HEAD, OPTIONS", "\(method) \(target)")
                }
            }
            #expect(stage.paths.all.isEmpty)
        }
    }

    @Test func directoriesAreListedAndHiddenFilesAreNotFound() async throws {
        try await serving { (stage: Stage) async throws in
            for target in ["/", "/b%20c"] {
                let page = try await stage.ask(target)
                #expect(page.status == 200 && page.field("Content-Type") == "text/html; charset=utf-8", "\(target)")
                #expect(!page.body.contains(".hidden") && page.body.contains("<ul>"), "\(page.body)")
            }
            for target in ["/missing.ts", "/.hidden", "/.x/y.ts", "/b%20c/.hidden", "/%2Ehidden"] {
                let response = try await stage.ask(target)
                #expect(response.status == 404 && response.errorCode == "not-found", "\(target)")
                #expect(response.field("Access-Control-Allow-Origin") == "*")
            }
            #expect(stage.paths.all.sorted() == ["b c", "missing.ts"])
            let refused = try await stage.ask("/refused.ts")
            #expect(refused.status == 403 && refused.errorCode == "refused")
            #expect(try await stage.ask("//a.m3u8").status == 404)
            let preflight = try await stage.ask("/a.m3u8", method: "OPTIONS")
            #expect(preflight.status == 204 && preflight.field("Access-Control-Allow-Methods") == "GET, HEAD")
        }
    }

    /// Links below the folder are not followed, at any position of a path, and not listed.
    @Test func linksDoNotLeadOutOfTheFolder() async throws {
        try await serving { (stage: Stage) async throws in
            let files = FileManager.default
            let outside = files.temporaryDirectory.appendingPathComponent("outside-\(UUID())")
            try files.createDirectory(
                at: outside.appendingPathComponent("deep"),
                withIntermediateDirectories: true
            )
            defer { try? files.removeItem(at: outside) }
            for name in ["k.ts", "deep/k.ts"] {
                try Data("secret".utf8).write(to: outside.appendingPathComponent(name))
            }
            for (name, target) in [
                ("folder", outside), ("file.ts", outside.appendingPathComponent("k.ts")), ("b c/inner", outside),
                ("inside", stage.folder.appendingPathComponent("b c")),
            ] {
                try files.createSymbolicLink(
                    at: stage.folder.appendingPathComponent(name),
                    withDestinationURL: target
                )
            }
            for target in [
                "/folder", "/folder/k.ts", "/folder/deep/k.ts", "/file.ts", "/b%20c/inner/k.ts", "/inside/d.ts",
            ] {
                let response = try await stage.ask(target)
                #expect(response.status == 404 && !response.body.contains("secret"), "\(target): \(response.head)")
            }
            let page = try await stage.ask("/")
            #expect(page.status == 200 && page.body.contains(">b c/<") && page.body.contains(">a.m3u8<"))
            #expect(!page.body.contains("folder") && !page.body.contains("file.ts"), "\(page.body)")
        }
    }

    /// The latency of the link is tested elsewhere.
    @Test func responsesPassThroughTheLink() async throws {
        let lossy = LinkProfile(name: "test", outages: [.init(start: .zero, duration: .milliseconds(1))])
        try await serving(conditions: lossy) { (stage: Stage) async throws in
            #expect(try await stage.ask("/a.m3u8").body == "0123456789")
        }
    }

    @Test func connectionsAreLimited() async throws {
        try await serving(connections: ConnectionLimits(maximumConnections: 0)) { (stage: Stage) async throws in
            #expect(try await stage.ask("/a.m3u8").status == 503)
        }
    }

    @Test func listeningErrorHasAHint() async throws {
        try await serving { (stage: Stage) async throws in
            for (host, port, hint) in [
                ("127.0.0.1", stage.port, "try another --port, or --port 0 for a free one"),
                ("192.0.2.1", 0, "try --host 127.0.0.1, or 0.0.0.0 for every address of this machine"),
                ("no-such-host.invalid", 0, "--host must be an address of this machine"),
            ] {
                let origin = FolderOrigin(
                    stage.folder,
                    host: host,
                    port: port,
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
                let error = await #expect(throws: ListeningError.self) { try await origin.run { _ in } }
                #expect(error?.hint == hint, "\(host)")
                #expect(error?.description.hasPrefix("cannot listen on \(host):\(port): ") == true)
            }
        }
    }
}

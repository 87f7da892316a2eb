import AssetStorage
import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import PlaylistEditing
import PresentationLoading
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

extension ServerStage {
    /// Sends a request with a JSON body.
    fileprivate func send(_ body: String, to path: String, _ method: String = "PUT") async throws -> RawResponse {
        let fields = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        return try await ask(path, method: method, fields: fields, body: body)
    }

    /// Returns the number of requests for a resource of the origin.
    fileprivate func requestCount(_ path: String) -> Int { requests.count { $0.path.hasSuffix(path) } }

    /// Waits until the origin has received a number of requests for a resource.
    fileprivate func wait(for count: Int, of path: String) async throws {
        for _ in 0..<3_000 where requestCount(path) < count {
            try await SystemTimeSource().sleep(for: .milliseconds(10))
        }
    }
}

/// Tests of the routes of the console for faults, addresses and downloaded assets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConsoleFeatureTests {
    @Test func faultsAreReadAndReplaced() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            #expect(try await stage.ask("/api/faults").body.hasPrefix(#"{"faults":[],"form":"a query of path=PATTERN"#))
            let fault = #"path=/private.m3u8&requests=1&status=503"#
            let changed = try await stage.send(#"{"faults":["\#(fault)"]}"#, to: "/api/faults")
            #expect(changed.status == 200 && changed.body.hasPrefix(#"{"faults":["\#(fault)"],"form":"#))
            let address = "/play.m3u8?url=\(stage.privateSource)"
            let failed = try await stage.ask(address)
            #expect(failed.status == 503 && failed.errorCode == "simulated", "\(failed.body)")
            #expect(try await stage.ask(address).status == 200)
            let many = [String](repeating: "\"page\"", count: 33).joined(separator: ",")
            for (body, code) in [
                ("{}", "invalid-body"), (#"{"faults":1}"#, "invalid-body"), (#"{"faults":["x"]}"#, "invalid-fault"),
                (#"{"faults":["page","x"]}"#, "invalid-fault"), ("{\"faults\":[\(many)]}", "too-many-faults"),
            ] {
                let refused = try await stage.send(body, to: "/api/faults")
                #expect(refused.status == 400 && refused.errorCode == code, "\(body): \(refused.body)")
            }
            let invalid = try await stage.send(#"{"faults":["path=*.ts&status=999"]}"#, to: "/api/faults")
            let reason = "status must be status=CODE (respond with this status, 400 to 599), not status=999"
            #expect(invalid.body.contains(reason), "\(invalid.body)")
            #expect(try await stage.ask("/api/faults").body.hasPrefix(#"{"faults":["\#(fault)"],"#))
            for (period, status) in [("...10:00:00", 503), ("10:00:00...", 200)] {
                let timed = #"{"faults":["time=\#(period)&status=503"]}"#
                #expect(try await stage.send(timed, to: "/api/faults").body.hasPrefix(timed.dropLast()))
                #expect(try await stage.ask(address).status == status)
            }
            let empty = try await stage.send(#"{"faults":["time=20...10&page"]}"#, to: "/api/faults")
            #expect(empty.status == 400 && empty.body.contains("time must be time=START...END"), "\(empty.body)")
            let none = #"{"faults":[]}"#
            let longest = none + String(repeating: " ", count: (256 << 10) - none.utf8.count)
            #expect(try await stage.send(longest + " ", to: "/api/faults").status == 413)
            #expect(try await stage.send(longest, to: "/api/faults").status == 200)
        }
    }

    @Test func kindOfTheCatalogDecidesWithoutARequest() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let address = "/play.m3u8?url=\(stage.origin.address("/film.mp4"))"
            let query = "/api/playback-address?address=" + PercentEncoding.encode(address)
            #expect(try await stage.ask(query + "&kind=hls").body == "{\"address\":\"\(address)\"}")
            #expect(try await stage.ask(query + "&kind=file").body.contains("/segment/film.mp4?"))
            #expect(stage.requests.isEmpty)
            // A source that may not be loaded is refused when it is played.
            for (name, isFile) in [("film", false), ("film.mp4", true)] {
                let refused = "/play.m3u8?url=http://10.0.0.1/\(name)"
                let asked = "/api/playback-address?address=" + PercentEncoding.encode(refused)
                let body = try await stage.ask(asked).body
                #expect((body == "{\"address\":\"\(refused)\"}") == !isFile, "\(body)")
                #expect(body.contains("/segment/film.mp4?") == isFile, "\(body)")
            }
        }
    }

    @Test func signedAddressesOfTheConsoleAreValidForADay() async throws {
        try await ServerStage.run(
            configure: { options, _ in options.admitsOnlySignedAddresses = true },
            { (stage: ServerStage) async throws in
                let before = UnixSeconds.now.rawValue
                for (address, kind) in [
                    ("/play.m3u8?url=\(stage.privateSource)", "hls"),
                    ("/play.m3u8?url=\(stage.origin.address("/film.mp4"))", "file"),
                ] {
                    let query = "/api/playback-address?kind=\(kind)&address=" + PercentEncoding.encode(address)
                    let body = try await stage.ask(query).body
                    let text = try #require(body.firstMatch(of: /expires=([0-9]+)/)?.output.1, "\(body)")
                    let expiry = try #require(Int64(text))
                    #expect((before + 86_400...UnixSeconds.now.rawValue + 86_400).contains(expiry))
                }
            }
        )
    }

    @Test func onlyDownloadsThatRunCanBePaused() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let refused = try await stage.ask("/api/downloads/none/pause", method: "POST")
            #expect(refused.status == 404 && refused.body.contains("the asset none has no download that can be paused"))
        }
    }

    @Test func policyOfAnAssetIsChangedInParts() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            var selection = DownloadSelection()
            selection.timeRange = PartialRange(low: MediaTime(seconds: 4), high: nil)
            let source = ResourceAddress(stage.privateSource)
            let id = try library.addAsset(source: source, title: "A", selection: selection.description)
            let assets = try await stage.ask("/api/library").body
            #expect(assets.contains(#""activity":"idle","range":{"start":4}}"#), "\(assets)")
            let path = "/api/library/\(id)/policy"
            let date = #""2999-01-31T00:00:00Z""#
            for (body, policy) in [
                (#"{"expires":\#(date)}"#, #""pinned":false,"priority":"default","expires":\#(date)"#),
                (#"{"priority":"important"}"#, #""pinned":false,"priority":"important","expires":\#(date)"#),
                (#"{"pinned":true}"#, #""pinned":true,"priority":"important","expires":\#(date)"#),
                (#"{"expires":"never","priority":"default"}"#, #""pinned":true,"priority":"default""#),
            ] {
                let changed = try await stage.send(body, to: path)
                #expect(changed.status == 200 && changed.body == "{\(policy)}", "\(body): \(changed.body)")
            }
            for body in ["{}", "[", #"{"priority":"high"}"#, #"{"expires":"soon"}"#, #"{"pinned":false,"expires":""}"#]
            {
                let refused = try await stage.send(body, to: path)
                #expect(refused.status == 400 && refused.errorCode == "invalid-body", "\(body): \(refused.body)")
            }
            #expect(try await stage.send(#"{"pinned":false}"#, to: path).body.contains(#""pinned":false"#))
            #expect(try await stage.ask("/api/storage?need=0").status == 200)
        }
    }

    @Test func assetWithoutPlaylistsIsIncomplete() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let source = ResourceAddress(stage.privateSource)
            let id = try library.addAsset(source: source, title: "A", selection: "")
            let refused = try await stage.ask("/offline/\(id)/multivariant.m3u8")
            #expect(refused.status == 409 && refused.errorCode == "asset-incomplete", "\(refused.body)")
        }
    }

    private func download(_ path: String, _ stage: ServerStage) async throws -> StoredAsset {
        let transport = HTTPTransport()
        let download = AssetDownload(
            ResourceAddress(stage.origin.address(path)),
            into: try AssetLibrary(directory: stage.library),
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
        let asset = try await download.run()
        try await transport.shutdown()
        return asset
    }

    @Test func downloadedMediaFileIsPlayedWithoutAPlaylist() async throws {
        func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> (8 * $0) & 0xFF) } }
        // A WAV file of 8-bit samples.
        let samples = (0..<8_000).map { UInt8($0 % 251) }
        let format = [number(1, 2), number(1, 2), number(8_000, 4), number(8_000, 4), number(1, 2), number(8, 2)]
        let chunks: [[UInt8]] = [
            Array("WAVEfmt ".utf8), number(16, 4), format.flatMap { $0 }, Array("data".utf8), number(8_000, 4), samples,
        ]
        let body = chunks.flatMap { $0 }
        let file = [Array("RIFF".utf8), number(body.count, 4), body].flatMap { $0 }
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/s.wav", .init(file, contentType: "audio/wav"))
            stage.origin.behave("/s.wav", .proper)
            let asset = try await download("/s.wav", stage)
            let base = "/offline/\(asset.id)"
            for name in ["multivariant.m3u8", "file"] {
                let redirect = try await stage.ask("\(base)/\(name)")
                #expect(redirect.status == 307 && redirect.field("Cache-Control") == "no-cache", "\(redirect.head)")
                #expect(redirect.field("Location") == "file/000000.wav")
            }
            let conditioned = try await stage.ask("\(base)/multivariant.m3u8?conditions=WiFi")
            let location = try #require(conditioned.field("Location"))
            #expect(location.hasPrefix("file/000000.wav?conditions=WiFi&link="))
            for target in ["file/000000.wav", location] {
                let part = try await stage.ask("\(base)/\(target)", fields: ["Range: bytes=0-3"])
                #expect(part.status == 206 && part.body == "RIFF", "\(part.head)")
            }
            #expect(try await stage.ask("\(base)/other.m3u8").status == 404)
        }
    }

    @Test func conditionsOfAnAssetApplyToThePlayerOfTheConsole() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.serve("/top.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS=\"avc1.640020\"\nprivate.m3u8\n")
            let asset = try await download("/top.m3u8", stage)
            for conditions in ["", "?conditions=WiFi"] {
                let address = "/offline/\(asset.id)/multivariant.m3u8\(conditions)"
                let query = "/api/playback/playlist?address=" + PercentEncoding.encode(address)
                let report = try await stage.ask(query)
                let variant = try #require(
                    report.body.firstMatch(of: /"address":"([^"]+)"/)?.output.1,
                    "\(report.body)"
                )
                #expect(
                    variant.hasPrefix("/offline/\(asset.id)/")
                        && variant.contains("conditions=WiFi&link=") == !conditions.isEmpty
                )
                let media = try await stage.ask(
                    "/api/playback/playlist?address=" + PercentEncoding.encode(String(variant))
                )
                #expect(media.body.hasPrefix(#"{"type":"media","ended":true"#), "\(media.body)")
            }
        }
    }
}

/// Tests of the options of a server that change what it loads.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LoadingOptionTests {
    private static let list =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n#EXTINF:4,\nc.ts\n#EXT-X-ENDLIST\n"

    /// A public host that receives no header fields and cookies of the owner, so that its responses can be stored.
    private static let otherHost = "http://8.8.4.4"

    private func serve(_ stage: ServerStage) {
        stage.serve("/list.m3u8", Self.list)
        for name in ["a", "b", "c"] {
            stage.origin.set(
                "/\(name).ts",
                .init(Array(name.utf8), contentType: "video/mp2t", headers: ["Cache-Control": "max-age=600"])
            )
            stage.origin.behave("/\(name).ts", .proper)
        }
    }

    @Test(arguments: [0, 1]) func nextSegmentsAreLoadedAhead(count: Int) async throws {
        try await ServerStage.run(
            configure: { options, _ in options.segmentsAhead = count },
            { (stage: ServerStage) async throws in
                serve(stage)
                let segment = try await stage.segment(
                    of: stage.origin.address("/list.m3u8"),
                    query: "&segments=proxy"
                )
                #expect(try await stage.ask(segment).body == "a")
                try await stage.wait(for: count, of: "/b.ts")
                #expect(stage.requestCount("/b.ts") == count && stage.requestCount("/c.ts") == 0)
            }
        )
    }

    @Test(arguments: [true, false]) func cacheKeepsSegments(hasCache: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cache-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await ServerStage.run(
            configure: { options, _ in if hasCache { options.cache = try DiskCache(directory: folder) } },
            { (stage: ServerStage) async throws in
                serve(stage)
                let segment = try await stage.segment(
                    of: Self.otherHost + "/list.m3u8",
                    query: "&segments=proxy"
                )
                let first = try await stage.ask(segment)
                #expect(first.body == "a")
                #expect(try await stage.ask(segment).body == "a")
                #expect(stage.requestCount("/a.ts") == (hasCache ? 1 : 2))
                // The cache has the segment, so that the server compares it.
                let tag = try #require(first.field("ETag"))
                let known = try await stage.ask(segment, fields: ["If-None-Match: \(tag)"])
                #expect(known.status == 304 && stage.requestCount("/a.ts") == (hasCache ? 1 : 3))
            }
        )
    }

    @Test(arguments: [(Duration.seconds(600), 200), (.zero, 502)])
    func stalePlaylistIsUsedWhileTheSourceFails(limit: Duration, status: Int) async throws {
        try await ServerStage.run(
            configure: { options, _ in options.staleIfError = limit },
            { (stage: ServerStage) async throws in
                var source = MisbehavingServer.Resource.text(
                    Self.list,
                    contentType: "application/vnd.apple.mpegurl"
                )
                source.fields.append(MisbehavingServer.Field("Cache-Control", "max-age=0"))
                stage.origin.set("/private.m3u8", source)
                let address = "/play.m3u8?url=\(stage.privateSource)&duration=4"
                #expect(try await stage.ask(address).status == 200)
                stage.origin.behave("/private.m3u8", .status(503))
                let later = try await stage.ask(address)
                #expect(later.status == status && stage.requestCount("/private.m3u8") == 2, "\(later.body)")
            }
        )
    }

    @Test(arguments: [true, false]) func manifestsAreTranslatedUnlessThatIsOff(isOn: Bool) async throws {
        let manifest = """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT20S"><Period>
            <AdaptationSet contentType="video" mimeType="video/mp4" startWithSAP="1">
            <SegmentTemplate duration="4" initialization="i.mp4" media="$Number$.m4s"/>
            <Representation id="low" bandwidth="500000" codecs="avc1.42c01e" width="640" height="360"/>
            </AdaptationSet></Period></MPD>
            """
        try await ServerStage.run(
            configure: { options, _ in options.translatesDASH = isOn },
            { (stage: ServerStage) async throws in
                for path in ["/private.m3u8", "/public.m3u8"] {
                    stage.origin.set(path, .text(manifest, contentType: "application/dash+xml"))
                }
                let own = try await stage.ask("/play.m3u8?url=\(stage.privateSource)")
                let foreign = try await stage.ask(
                    "/play.m3u8?url=\(stage.publicSource)",
                    fields: ["Origin: https://other.example"]
                )
                for response in [own, foreign] {
                    #expect(response.status == (isOn ? 200 : 415), "\(response.body)")
                    #expect(response.body.contains("BANDWIDTH=500000") == isOn)
                }
            }
        )
    }

    @Test func storageOfBreaksMustBeAvailable() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("no database, but a text that is longer than a header".utf8).write(to: file)
        let redis = try #require(RedisAddress("redis://127.0.0.1:1"))
        for isRedis in [true, false] {
            await #expect(throws: StateFileError.self) {
                try await ServerStage.run(
                    configure: { options, _ in
                        options.redis = isRedis ? redis : nil
                        options.stateFile = isRedis ? nil : file
                    },
                    { (_: ServerStage) async throws in Issue.record("the server has started") }
                )
            }
        }
    }
}

/// Tests of an origin that serves a single file, and of requests that no server answers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SingleFileOriginTests {
    private func ask(_ port: Int, _ target: String, _ fields: String...) async throws -> RawResponse {
        let connection = try RawConnection(port: port)
        let lines = ["GET \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)"] + fields + ["Connection: close"]
        connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        return RawResponse(try await connection.readToEnd())
    }

    @Test func otherFilesOfTheFolderAreNotServed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["a.ts", "b.ts"] { try Data("0123456789".utf8).write(to: folder.appendingPathComponent(name)) }
        let origin = FolderOrigin(
            folder,
            onlyFile: "a.ts",
            port: 0,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let exchanges = Exchanges()
        let (ports, port) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await origin.run(onResponse: { exchanges.append("\($0)") }, onRunning: { port.yield($0) })
            }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            #expect(try await ask(number, "/a.ts", "Range: bytes=2-4").body == "234")
            #expect(try await ask(number, "/b.ts").status == 404)
            #expect(try await ask(number, "/").status == 404)
            group.cancelAll()
            while (try? await group.next()) != nil {}
        }
        #expect(exchanges.all == ["206 GET /a.ts bytes=2-4", "404 GET /b.ts", "404 GET /"])
    }

    private final class Exchanges: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func append(_ text: String) { texts.withLock { $0.append(text) } }
    }

    /// Before HTTP/1.1, chunks have no meaning, so that the end of the body would be unknown.
    @Test func chunksOfAnOldVersionAreRefused() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (version, status) in [("1.0", 400), ("1.1", 405)] {
                let connection = try RawConnection(port: stage.port)
                connection.send(
                    "POST /health HTTP/\(version)\r\nHost: 127.0.0.1:\(stage.port)\r\nTransfer-Encoding: Chunked\r\n"
                        + "Connection: close\r\n\r\n0\r\n\r\n"
                )
                #expect(RawResponse(try await connection.readToEnd()).status == status, "HTTP/\(version)")
            }
        }
    }
}

import AssetStorage
import Foundation
import HLSPlaylist
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NetworkConditioning
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct PrivateCachingTests {
    @Test(
        arguments: [
            (nil, "no-cache"), ("", "no-cache"), ("no-store", "no-store"), ("max-age=60, No-Store", "no-store"),
            ("public, max-age=60", "private, max-age=60"), ("max-age=0", "private, max-age=0"),
            ("max-age=60, Immutable", "private, max-age=60, immutable"), ("immutable", "no-cache"),
            ("MAX-AGE=60", "private, max-age=60"), (" max-age = 60 ", "private, max-age=60"),
            ("max-age=-1", "no-cache"), ("max-age=x", "no-cache"), ("max-age=", "no-cache"), ("public", "no-cache"),
            ("s-maxage=60", "no-cache"), ("max-age=60, no-cache", "no-cache"),
            ("no-cache=\"Set-Cookie\", max-age=60", "no-cache"), ("max-age=60, max-age=90", "private, max-age=60"),
        ] as [(String?, String)]
    )
    func responseMayBeCachedOnlyPrivately(field: String?, expected: String) {
        #expect(MediaRoutes.privateCaching(field) == expected)
    }
}

/// Tests media files in place of playlists.
@Suite(.timeLimit(.minutes(10))) struct MediaFileTests {
    @Test func mediaFilesArePassedOn() async throws {
        try await ServerStage.run(usesProxy: false) { options, origin in
            options.allowedHosts = ["127.0.0.1:\(origin.port)"]
        } _: { stage in
            let file = stage.origin.address("/film.MP4")
            stage.origin.set("/film.MP4", .init(Array("moov".utf8), contentType: "video/mp4"))
            stage.origin.behave("/film.MP4", .proper)
            let redirect = try await stage.ask("/play.m3u8?url=\(file)&segments=proxy")
            let location = try #require(redirect.field("Location"))
            #expect(redirect.status == 302 && location.hasPrefix("/segment/film.MP4?"))
            let response = try await stage.ask(location)
            #expect(response.status == 200 && response.body == "moov", "\(response.head) \(response.body)")
            #expect(response.field("Content-Type") == "video/mp4")
            let part = try await stage.ask(location, fields: ["Range: bytes=1-2"])
            #expect(part.status == 206 && part.body == "oo")
            for delivery in ["", "&segments=direct"] {
                let direct = try #require(try await stage.ask("/play.m3u8?url=\(file)\(delivery)").field("Location"))
                #expect(try await stage.ask(direct).field("Location") == file)
            }
            let edited = try await stage.ask("/play.m3u8?url=\(file)&duration=30")
            #expect(edited.status == 415 && edited.errorCode == "not-a-playlist")
            // The console asks for the address, since browsers decide by the name what they expect.
            let asked =
                "/api/playback-address?address=" + PercentEncoding.encode("/play.m3u8?url=\(file)&segments=proxy")
            let resolved = try #require(try await stage.ask(asked).body.firstMatch(of: /"address":"([^"]*)"/)?.1)
            #expect(try await stage.ask(String(resolved)).body == "moov")
            let unknown = try await stage.ask("/play.m3u8?url=\(file)&unknown=1")
            #expect(unknown.status == 400)
        }
    }

    /// The console learns from the report whether a URL is that of a media file, and gets its address.
    @Test(arguments: ["/film.webm", "/film.FLAC", "/video"]) func mediaFilesAreRecognized(path: String) async throws {
        try await ServerStage.run { stage in
            let file = stage.origin.address(path)
            let head: [UInt8] = [0, 0, 0, 16] + Array("ftypisom".utf8) + [0, 0, 0, 1]
            stage.origin.set(path, .init(head + [UInt8](repeating: 0, count: 8 << 20), contentType: "video/mp4"))
            stage.origin.behave(path, .proper)
            let report = try await stage.ask("/api/inspect?url=\(file)")
            #expect(report.status == 200 && report.body == #"{"kind":"file"}"#, "\(report.body)")
            let address = PercentEncoding.encode("/play.m3u8?url=\(file)&segments=proxy")
            for kind in ["", "&kind=file"] {
                let asked = try await stage.ask("/api/playback-address?address=\(address)\(kind)").body
                let resolved = try #require(asked.firstMatch(of: /"address":"([^"]*)"/)?.1)
                #expect(resolved.hasPrefix("/segment\(path)?"), "\(resolved)")
                let beginning = try await stage.ask(String(resolved), fields: ["Range: bytes=4-7"])
                #expect(beginning.status == 206 && beginning.body == "ftyp")
            }
            let playlist = try await stage.ask("/api/inspect?url=\(stage.privateSource)")
            #expect(playlist.body.hasPrefix(#"{"kind":"media""#))
        }
    }

    /// A browser might be able to load what the server cannot; a document is no media file whatever its name.
    @Test func nameOfAMediaFileDecidesOnlyIfItsBytesDoNot() async throws {
        try await ServerStage.run { stage in
            func report(_ path: String) async throws -> RawResponse {
                try await stage.ask("/api/inspect?url=\(stage.origin.address(path))")
            }
            #expect(try await report("/missing.mp4").body == #"{"kind":"file"}"#)
            #expect(try await report("/missing").status == 502)
            let refused = try await stage.ask("/api/inspect?url=http://10.0.0.1/film.mp4")
            #expect(refused.status == 403 && refused.errorCode == "address-refused", "\(refused.body)")
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
            stage.origin.set("/film.mp4", .init(Array(playlist.utf8), contentType: "video/mp4"))
            stage.origin.behave("/film.mp4", .proper)
            #expect(try await report("/film.mp4").body.hasPrefix(#"{"kind":"media""#))
            stage.origin.set("/page.mp4", .init(Array("<!DOCTYPE html><html></html>".utf8), contentType: "text/html"))
            stage.origin.behave("/page.mp4", .proper)
            let page = try await report("/page.mp4")
            #expect(page.status == 502 && page.errorCode == "not-a-playlist", "\(page.body)")
        }
    }

    /// Players are redirected to a media file under any name, and a playlist is edited under any name.
    @Test func contentOfASourceDecidesWhetherItIsEdited() async throws {
        try await ServerStage.run { stage in
            func serve(_ path: String, _ bytes: [UInt8]) {
                stage.origin.set(path, .init(bytes, contentType: "application/octet-stream"))
                stage.origin.behave(path, .proper)
            }
            let film = [0, 0, 0, 16] + Array("ftypisom".utf8) + [UInt8](repeating: 0, count: 4096)
            var packets = [UInt8](repeating: 0xFF, count: 188 * 8)
            for index in stride(from: 0, to: packets.count, by: 188) { packets[index] = 0x47 }
            serve("/video", film)
            serve("/0.ts", packets)
            // More than is loaded as a playlist.
            serve("/large", film + [UInt8](repeating: 0, count: 33 << 20))
            serve("/endless", film)
            stage.origin.behave("/endless", [.chunked, .endlessBody])
            for path in ["/video", "/0.ts", "/large", "/endless"] {
                let address = "/play.m3u8?url=\(stage.origin.address(path))"
                let played = try await stage.ask(address)
                #expect(played.status == 302, "\(path): \(played.body)")
                #expect(played.field("Location")?.hasPrefix("/segment\(path)?") ?? false, "\(path)")
                let edited = try await stage.ask(address + "&duration=4")
                #expect(edited.status == 415 && edited.body.contains("is a media file"), "\(path): \(edited.body)")
            }
            serve("/list.mp4", Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n".utf8))
            let playlist = try await stage.ask("/play.m3u8?url=\(stage.origin.address("/list.mp4"))")
            #expect(playlist.status == 200 && playlist.body.hasPrefix("#EXTM3U"), "\(playlist.head)")
            let encoded = PercentEncoding.encode("/play.m3u8?url=\(stage.origin.address("/list.mp4"))")
            let resolved = try await stage.ask("/api/playback-address?address=\(encoded)").body
            #expect(resolved.contains(#""address":"/play.m3u8?"#), "\(resolved)")
            serve("/page", Array("<!DOCTYPE html><html></html>".utf8))
            let page = try await stage.ask("/play.m3u8?url=\(stage.origin.address("/page"))")
            #expect(page.status == 502 && page.errorCode == "not-a-playlist", "\(page.body)")
        }
    }

    /// A transport that never answers.
    private struct SilentTransport: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            try await SystemTimeSource().sleep(for: .seconds(86_400))
            throw CancellationError()
        }
    }

    /// An origin that cannot be reached does not delay the response, for which the name is enough.
    @Test func nameOfAMediaFileDecidesAfterOneAttempt() async throws {
        let (film, video) = (ResourceAddress("https://h/film.mp4"), ResourceAddress("https://h/video"))
        let silent = ResourceLoader(SilentTransport())
        #expect(try await silent.isProbableMediaFile(at: film, within: .milliseconds(1)))
        #expect(try await !silent.isProbableMediaFile(at: video, within: .milliseconds(1)))
        let failure = TransportError(.cannotConnect, "down", address: film)
        let transport = ScriptedTransport([film.text: [.failure(failure)]])
        #expect(try await ResourceLoader(transport).isMediaFile(at: film))
        #expect(transport.requests.map(\.headers) == [[HeaderField("Range", "bytes=0-65535")]])
    }

    @Test(arguments: ["6G", ""]) func unknownConditionsAreRefused(name: String) async throws {
        try await ServerStage.run { stage in
            let address = "/play.m3u8?url=\(stage.privateSource)&conditions=\(name)"
            let encoded = PercentEncoding.encode(address)
            let file = "/play.m3u8?url=\(stage.origin.address("/film.mp4"))&conditions=\(name)"
            for target in [address, file, "/api/playback/playlist?address=\(encoded)"] {
                let response = try await stage.ask(target)
                #expect(
                    response.status == 400 && response.errorCode == "unknown-conditions",
                    "\(target): \(response.body)"
                )
            }
        }
    }

    @Test func mediaFilesOfPrivateHostsAreRefusedToOthers() async throws {
        try await ServerStage.run { stage in
            let file = stage.origin.address("/film.mp4")
            let fields = ["Origin: https://other.example", "Sec-Fetch-Site: cross-site"]
            let refused = try await stage.ask("/play.m3u8?url=\(file)", fields: fields)
            #expect(refused.status == 403 && refused.errorCode == "address-refused", "\(refused.body)")
            let address = try await stage.ask("/play.m3u8?url=\(file)")
            let location = try #require(address.field("Location"))
            #expect(try await stage.ask(location, fields: fields).status == 403)
        }
    }
}

/// Tests segments that are proxied from an origin to a player.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProxiedSegmentTests {
    private func media(_ names: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    /// Returns the addresses of the segments in an edited playlist.
    private func segments(_ stage: ServerStage, _ query: String = "") async throws -> [String] {
        let playlist = try await stage.ask("/play.m3u8?url=\(stage.origin.address("/list.m3u8"))\(query)")
        try #require(playlist.status == 200, "\(playlist.head) \(playlist.body)")
        return playlist.body.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
    }

    private func onStage(
        _ playlist: String,
        conditions: LinkProfile = .off,
        _ body: (ServerStage) async throws -> Void
    ) async throws {
        try await ServerStage.run { options, origin in
            origin.set("/list.m3u8", .text(playlist, contentType: "application/vnd.apple.mpegurl"))
            origin.behave("/list.m3u8", .proper)
            options.conditions = conditions
        } _: { (stage: ServerStage) async throws in
            try await body(stage)
        }
    }

    @Test func onlySafeHeaderFieldsArePassedOn() async throws {
        try await onStage(media("a.ts", "b.html")) { (stage: ServerStage) async throws in
            stage.origin.set(
                "/a.ts",
                .init(
                    Array("0123456789".utf8),
                    contentType: "video/mp2t",
                    headers: [
                        "Cache-Control": "public, max-age=9", "Set-Cookie": "a=b", "X-Other": "1",
                        "Access-Control-Allow-Origin": "https://other.example", "Content-Security-Policy": "none",
                    ]
                )
            )
            stage.origin.set("/b.html", .init([1], contentType: "text/html", validators: []))
            for path in ["/a.ts", "/b.html"] { stage.origin.behave(path, .proper) }
            let addresses = try await segments(stage, "&segments=proxy")
            let response = try await stage.ask(addresses[0])
            #expect(response.status == 200 && response.body == "0123456789")
            for (name, value) in [
                ("Content-Type", "video/mp2t"), ("Content-Length", "10"), ("Cache-Control", "private, max-age=9"),
                ("Accept-Ranges", "bytes"), ("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT"), ("Set-Cookie", nil),
                ("X-Other", nil), ("Access-Control-Allow-Origin", "*"), ("Content-Range", nil),
                ("Content-Security-Policy", "sandbox; default-src 'none'"),
                ("Cross-Origin-Resource-Policy", "cross-origin"), ("X-Content-Type-Options", "nosniff"),
                ("Vary", "Origin, Sec-Fetch-Site, Referer, User-Agent"),
                ("Access-Control-Expose-Headers", "Content-Length, Content-Range"), ("Server", "Millstream"),
            ] as [(String, String?)] {
                #expect(response.field(name) == value, "\(name)")
            }
            #expect(response.field("ETag")?.hasPrefix("\"") == true)
            let range = try await stage.ask(addresses[0], fields: ["Range: bytes=2-4"])
            #expect(range.status == 206 && range.body == "234" && range.field("Content-Length") == "3")
            #expect(range.field("Content-Range") == "bytes 2-4/10")
            #expect(stage.requests.last?.header("Range") == "bytes=2-4")
            let page = try await stage.ask(addresses[1])
            #expect(page.status == 200 && page.field("Content-Type") == "application/octet-stream")
            #expect(page.field("Cache-Control") == "no-cache" && page.field("ETag") == nil)
        }
    }

    @Test(arguments: [false, true])
    func conditionsOfRequestsHold(originIgnoresIfRange: Bool) async throws {
        try await onStage(media("a.ts")) { (stage: ServerStage) async throws in
            var resource = MisbehavingServer.Resource(Array("0123456789".utf8), contentType: "video/mp2t")
            resource.ignoresIfRange = originIgnoresIfRange
            stage.origin.set("/a.ts", resource)
            stage.origin.behave("/a.ts", .proper)
            let address = try #require(try await segments(stage, "&segments=proxy").first)
            let whole = try await stage.ask(address)
            let (tag, date) = try (#require(whole.field("ETag")), #require(whole.field("Last-Modified")))
            for field in ["If-None-Match: \"x\", W/\(tag)", "If-None-Match: *", "If-Modified-Since: \(date)"] {
                let known = try await stage.ask(address, fields: [field])
                #expect(known.status == 304 && known.body.isEmpty && known.field("ETag") == tag, "\(field)")
            }
            // The origin has decided that, so that it did not send the segment again.
            let conditions = stage.requests.filter { $0.path == "/a.ts" }.dropFirst().map {
                $0.header("If-None-Match") ?? $0.header("If-Modified-Since")
            }
            #expect(conditions == ["\"x\", W/\(tag)", "*", date])
            let other = try await stage.ask(address, fields: ["If-None-Match: \"x\"", "If-Modified-Since: \(date)"])
            #expect(other.status == 200 && other.body == "0123456789")
            for (validator, status, body) in [
                (tag, 206, "234"), (date, 206, "234"), ("\"old\"", 200, "0123456789"),
                ("Tue, 01 Jan 2019 00:00:00 GMT", 200, "0123456789"),
            ] {
                let response = try await stage.ask(address, fields: ["Range: bytes=2-4", "If-Range: \(validator)"])
                #expect(response.status == status && response.body == body, "\(validator): \(response.head)")
            }
        }
    }

    /// The range is that of the client, so that the origin has not failed.
    @Test func rangeThatTheOriginDoesNotHaveIsNotAFailureOfTheOrigin() async throws {
        try await onStage(media("a.ts")) { (stage: ServerStage) async throws in
            stage.origin.set("/a.ts", .init(Array("0123456789".utf8), contentType: "video/mp2t"))
            stage.origin.behave("/a.ts", .proper)
            let address = try #require(try await segments(stage, "&segments=proxy").first)
            for method in ["GET", "HEAD"] {
                // The request of the server is GET for both.
                let refused = try await stage.ask(address, method: method, fields: ["Range: bytes=10-"])
                #expect(refused.status == 416 && refused.body.isEmpty, "\(refused.head)")
                #expect(refused.field("Content-Range") == "bytes */10")
                #expect(refused.field("Access-Control-Allow-Origin") == "*")
            }
            // With a validator of another version, the client needs the whole segment.
            let other = try await stage.ask(address, fields: ["Range: bytes=10-", "If-Range: \"old\""])
            #expect(other.status == 200 && other.body == "0123456789")
            // Without a range of the client, the origin has failed.
            stage.origin.behave("/a.ts", .status(416))
            #expect(try await stage.ask(address).status == 502)
            // The server forwards no precondition that can fail, other than those of a range.
            stage.origin.behave("/a.ts", .status(412))
            let failed = try await stage.ask(address, fields: ["If-Match: \"old\"", "Range: bytes=1-2"])
            #expect(failed.status == 502 && failed.errorCode == "http-status", "\(failed.body)")
            #expect(stage.requests.allSatisfy { $0.header("If-Match") == nil })
        }
    }

    @Test func directSegmentsHaveTheirOriginalAddresses() async throws {
        try await onStage(media("a.ts", "b.ts")) { (stage: ServerStage) async throws in
            let direct = try await segments(stage, "&segments=direct&duration=4")
            #expect(direct == [stage.origin.address("/a.ts")])
            // A simulated network has to pass through the server.
            let conditioned = try await segments(stage, "&segments=direct&conditions=3G")
            #expect(conditioned.allSatisfy { $0.hasPrefix("/segment/") })
        }
    }

    @Test func originErrorIsReportedAsAnError() async throws {
        try await onStage(media("a.ts")) { (stage: ServerStage) async throws in
            let address = try #require(try await segments(stage, "&segments=proxy").first)
            for (behavior, status, code) in [
                (.status(404), 502, "http-status"), (.status(503), 502, "http-status"),
                (.redirectLoop, 502, "bad-redirect"), (.closeBeforeHead, 502, "connection-lost"),
            ] as [(MisbehavingServer.Behavior, Int, String)] {
                stage.origin.behave("/a.ts", behavior)
                let response = try await stage.ask(address)
                #expect(response.status == status && response.errorCode == code, "\(response.head) \(response.body)")
                #expect(response.field("Access-Control-Allow-Origin") == "*")
            }
        }
    }

    /// A body that ends early closes the connection; a body without a length is passed on in chunks.
    @Test func lengthOfABodyIsThatOfTheOrigin() async throws {
        try await onStage(media("a.ts", "b.ts")) { (stage: ServerStage) async throws in
            for path in ["/a.ts", "/b.ts"] {
                stage.origin.set(path, .init(Array("0123456789".utf8), contentType: "video/mp2t"))
            }
            stage.origin.behave("/a.ts", .truncate(after: 4))
            stage.origin.behave("/b.ts", .chunked)
            let addresses = try await segments(stage, "&segments=proxy")
            let short = try await stage.ask(addresses[0])
            #expect(short.status == 200 && short.field("Content-Length") == "10" && short.body.utf8.count <= 4)
            let chunked = try await stage.ask(addresses[1])
            #expect(chunked.status == 200 && chunked.field("Content-Length") == nil)
            #expect(chunked.field("Transfer-Encoding") == "chunked" && chunked.body == "a\r\n0123456789\r\n0\r\n\r\n")
        }
    }

    @Test func redirectContainsTheOriginalAddress() async throws {
        try await onStage(media("a.ts?x=%20", "b c.ts", "b\u{7F}.ts", "ä.ts")) { (stage: ServerStage) async throws in
            let addresses = try await segments(stage)
            let first = try await stage.ask(addresses[0])
            #expect(first.status == 302 && first.body.isEmpty)
            #expect(first.field("Location") == stage.origin.address("/a.ts?x=%20"))
            #expect(first.field("Cache-Control") == "no-cache" && first.field("Access-Control-Allow-Origin") == "*")
            for (address, name) in zip(addresses[1...], ["b%20c.ts", "b%7F.ts", "%C3%A4.ts"]) {
                let redirect = try await stage.ask(address)
                #expect(redirect.status == 302 && redirect.field("Location") == stage.origin.address("/" + name))
            }
        }
    }

    /// With conditions of a stream, and with shared conditions, a segment cannot bypass the server.
    @Test func segmentsWithConditionsAreProxied() async throws {
        try await onStage(media("private.ts")) { (stage: ServerStage) async throws in
            let address = try #require(try await segments(stage, "&conditions=WiFi").first)
            let id = LinkRegistry.identifier(
                .init(source: ResourceAddress(stage.origin.address("/list.m3u8")), conditions: "WiFi")
            )
            #expect(address.hasSuffix("&conditions=WiFi&link=\(id)"))
            let response = try await stage.ask(address)
            #expect(response.status == 200 && response.body == "segment")
            let direct = try #require(try await segments(stage).first)
            #expect(try await stage.ask(direct).status == 302)
        }
        let outage = LinkProfile(name: "outage", outages: [.init(start: .zero, duration: .milliseconds(1))])
        try await onStage(media("private.ts"), conditions: outage) { (stage: ServerStage) async throws in
            let address = try #require(try await segments(stage).first)
            #expect(!address.contains("segments=proxy"))
            let response = try await stage.ask(address)
            #expect(response.status == 200 && response.body == "segment")
        }
    }

    @Test func absoluteAddressesContainTheServer() async throws {
        try await onStage(media("private.ts")) { (stage: ServerStage) async throws in
            let address = try #require(try await segments(stage, "&absolute=1").first)
            #expect(address.hasPrefix("http://127.0.0.1:\(stage.port)/segment/private.ts?url="))
            #expect(try #require(try await segments(stage).first).hasPrefix("/segment/private.ts?url="))
        }
    }

    @Test func playlistResponsesHaveTheirHeaderFields() async throws {
        try await onStage(media("private.ts")) { (stage: ServerStage) async throws in
            let response = try await stage.ask("/play.m3u8?url=\(stage.origin.address("/list.m3u8"))")
            for (name, value) in [
                ("Content-Type", "application/vnd.apple.mpegurl"), ("Cache-Control", "no-cache"),
                ("Content-Length", "\(response.body.utf8.count)"), ("Access-Control-Allow-Origin", "*"),
                ("Cross-Origin-Resource-Policy", "cross-origin"), ("X-Content-Type-Options", "nosniff"),
            ] {
                #expect(response.field(name) == value, "\(name)")
            }
            let missing = try await stage.ask("/play.m3u8")
            #expect(missing.status == 400 && missing.errorCode == "missing-url")
            #expect(missing.field("Access-Control-Allow-Origin") == "*")
            let unknown = try await stage.ask("/play.m3u8?url=x&conditions=6G")
            #expect(unknown.status == 400 && unknown.errorCode == "unknown-conditions")
            #expect(unknown.field("Access-Control-Allow-Origin") == "*")
        }
    }
}

/// Tests the playback of stored assets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct OfflinePlaybackTests {
    private static let top = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=16x180,CODECS="avc1.640020,mp4a.40.2",AUDIO="a"
        180.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=2000,RESOLUTION=16x360,CODECS="avc1.640020,mp4a.40.2",AUDIO="a"
        360.m3u8

        """

    /// Stores an asset with two variants and audio, without the files that are missing at the origin.
    private func onStage(
        missing: [String] = [],
        faults: [String] = [],
        _ body: (ServerStage, StoredAsset) async throws -> Void
    ) async throws {
        try await ServerStage.run { options, _ in
            options.faults = try faults.map { try #require(ResponseFault($0)) }
        } _: { (stage: ServerStage) async throws in
            stage.serve("/top.m3u8", Self.top)
            for name in ["180", "360", "audio"] {
                stage.serve(
                    "/\(name).m3u8",
                    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n"
                )
                stage.origin.set("/\(name).ts", .init(Array("segment of \(name)".utf8), contentType: "video/mp2t"))
                stage.origin.behave("/\(name).ts", missing.contains(name) ? .status(404) : .proper)
            }
            let library = try AssetLibrary(directory: stage.library)
            let transport = HTTPTransport()
            let task = AssetDownload(
                ResourceAddress(stage.origin.address("/top.m3u8")),
                into: library,
                loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
                configuration: .init(selection: DownloadSelection(variants: .all))
            )
            _ = try? await task.run()
            try await transport.shutdown()
            try await body(stage, try #require(try library.assets().first))
        }
    }

    private func lines(_ response: RawResponse) -> [String] {
        response.body.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
    }

    /// The player of the console meets the faults of the addresses at which other players request a package.
    @Test func simulatedFaultsOfPackagesApplyToAllPlayers() async throws {
        try await onStage(faults: ["path=/offline/*.ts&status=418"]) {
            (stage: ServerStage, asset: StoredAsset) async throws in
            let media = "/offline/\(asset.id)/\(try #require(asset.renditions.first).folder)/media.m3u8"
            let response = try await stage.ask(media)
            let name = try #require(lines(response).first)
            let segment = try await stage.ask(media.replacing("media.m3u8", with: name))
            #expect(response.status == 200 && segment.status == 418)
            let page = try await stage.ask("/api/playback/segment?segment=0&address=\(media)")
            #expect(page.status == 418 && page.errorCode == "simulated", "\(page.body)")
        }
    }

    @Test func completeAssetIsServedAsStored() async throws {
        try await onStage { (stage: ServerStage, asset: StoredAsset) async throws in
            #expect(asset.state == .complete)
            let package = stage.library.appendingPathComponent("packages/\(asset.id)")
            let stored = try String(contentsOf: package.appendingPathComponent("multivariant.m3u8"), encoding: .utf8)
            let top = try await stage.ask("/offline/\(asset.id)/multivariant.m3u8")
            #expect(top.status == 200 && top.body == stored && lines(top).count == 2)
            #expect(top.field("Content-Type") == "application/vnd.apple.mpegurl")
            #expect(top.field("Cache-Control") == "no-cache" && top.field("ETag") != nil)
            #expect(top.field("Access-Control-Allow-Origin") == nil)
            let folder = try #require(asset.renditions.first).folder
            let media = try await stage.ask("/offline/\(asset.id)/\(folder)/media.m3u8")
            let name = try #require(lines(media).first)
            let segment = try await stage.ask("/offline/\(asset.id)/\(folder)/\(name)", fields: ["Range: bytes=0-6"])
            #expect(segment.status == 206 && segment.body == "segment" && segment.field("Content-Type") == "video/mp2t")
            #expect(segment.field("Cache-Control") == "private, max-age=3600")
            #expect(segment.field("Cross-Origin-Resource-Policy") == "same-origin")
            for (path, whole) in [("multivariant.m3u8", top), ("\(folder)/\(name)", segment)] {
                let date = try #require(whole.field("Last-Modified"))
                let tag = try #require(whole.field("ETag"))
                for (fields, status) in [
                    (["If-Modified-Since: \(date)"], 304), (["If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT"], 200),
                    (["If-Modified-Since: \(date)", "If-None-Match: \"other\""], 200),
                    (["If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT", "If-None-Match: \(tag)"], 304),
                ] {
                    let response = try await stage.ask("/offline/\(asset.id)/\(path)", fields: fields)
                    #expect(response.status == status && response.field("Last-Modified") == date, "\(path) \(fields)")
                }
            }
            for path in ["none.m3u8", "\(folder)/none.ts", "\(folder)", "server-secret"] {
                let response = try await stage.ask("/offline/\(asset.id)/\(path)")
                #expect(response.status == 404 && response.errorCode == "not-found", "\(path)")
            }
            #expect(try await stage.ask("/offline/none/multivariant.m3u8").status == 404)
        }
    }

    @Test func absoluteAddressesAreWrittenOnRequest() async throws {
        try await onStage { (stage: ServerStage, asset: StoredAsset) async throws in
            let base = "/offline/\(asset.id)"
            let relative = lines(try await stage.ask("\(base)/multivariant.m3u8"))
            let top = try await stage.ask("\(base)/multivariant.m3u8?absolute=1")
            #expect(lines(top) == relative.map { "http://127.0.0.1:\(stage.port)\(base)/\($0)" })
            #expect(top.field("Content-Type") == "application/vnd.apple.mpegurl" && top.field("ETag") == nil)
            let folder = try #require(asset.renditions.first).folder
            let media = try await stage.ask("\(base)/\(folder)/media.m3u8?absolute")
            let names = lines(try await stage.ask("\(base)/\(folder)/media.m3u8"))
            #expect(lines(media) == names.map { "http://127.0.0.1:\(stage.port)\(base)/\(folder)/\($0)" })
            // A segment contains no addresses to rewrite.
            let segment = try await stage.ask("\(base)/\(folder)/\(names[0])?absolute=1")
            #expect(segment.status == 200 && segment.body.hasPrefix("segment of "))
        }
    }

    @Test func conditionsOfAnAssetApplyToItsFiles() async throws {
        try await onStage { (stage: ServerStage, asset: StoredAsset) async throws in
            let base = "/offline/\(asset.id)"
            let plain = lines(try await stage.ask("\(base)/multivariant.m3u8"))
            let path = "\(base)/multivariant.m3u8"
            let id = LinkRegistry.identifier(.init(source: ResourceAddress(path), conditions: "WiFi"))
            let top = try await stage.ask("\(path)?conditions=WiFi")
            #expect(top.status == 200 && lines(top) == plain.map { "\($0)?conditions=WiFi&link=\(id)" })
            let child = try #require(lines(top).first)
            let media = try await stage.ask("\(base)/\(child)")
            let folder = try #require(child.split(separator: "/").first)
            let segment = try #require(lines(media).first)
            #expect(segment.hasSuffix("?conditions=WiFi&link=\(id)"))
            #expect(try await stage.ask("\(base)/\(folder)/\(segment)").body.hasPrefix("segment of "))
            #expect(try await stage.ask("/api/conditions").body.contains(#""links":[{"id":"\#(id)","#))
            let unknown = try await stage.ask("\(path)?conditions=6G")
            #expect(unknown.status == 400 && unknown.errorCode == "unknown-conditions")
            let both = lines(try await stage.ask("\(path)?conditions=WiFi&absolute"))
            #expect(
                both == plain.map { "http://127.0.0.1:\(stage.port)\(base)/\($0)?conditions=WiFi&link=\(id)" }
            )
        }
    }

    @Test func packageThatIsSentToAPlayerIsNotEvicted() async throws {
        try await onStage { (stage: ServerStage, asset: StoredAsset) async throws in
            let other = try AssetLibrary(reading: stage.library)
            let everything = StorageLimits(quota: ByteCount(1))
            #expect(try other.evictionPlan(limits: everything).entries.map(\.id) == [asset.id])
            #expect(try await stage.ask("/offline/\(asset.id)/multivariant.m3u8").status == 200)
            #expect(try other.evictionPlan(limits: everything).entries.isEmpty)
        }
    }

    @Test func marksOnPackagesExpire() async throws {
        try await onStage { (stage: ServerStage, asset: StoredAsset) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let time = ManualTime()
            let uses = PackageUses(library, time: time)
            func isInUse() throws -> Bool {
                try library.evictionPlan(limits: StorageLimits(quota: ByteCount(1))).entries.isEmpty
            }
            uses.mark(asset.id)
            time.advance(by: .seconds(200))
            uses.mark(asset.id)
            time.advance(by: .seconds(299))
            uses.removeExpiredMarks()
            #expect(try isInUse())
            time.advance(by: .seconds(1))
            uses.removeExpiredMarks()
            #expect(try !isInUse())
        }
    }

    /// A recording lists all its renditions, although one of them has a segment that is about to be stored.
    @Test func growingRecordingIsServedWithAllRenditions() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let source = ResourceAddress("https://live.example/top.m3u8")
            let id = try library.addAsset(source: source, title: "Live", selection: "")
            let text = """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=1000
                low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2000
                high.m3u8

                """
            let context = PlaylistContext(address: source)
            let top = try MultivariantPlaylist(parsing: Array(text.utf8), context: context)
            let media = try MediaPlaylist(
                parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n".utf8),
                context: context
            )
            let lock = try library.lock(id)
            defer { withExtendedLifetime(lock) {} }
            let (writers, _) = try library.beginRecording(
                of: id,
                source: .multivariant(top),
                at: source,
                renditions: [0, 1].map {
                    PlannedRendition(
                        role: .variant,
                        position: $0,
                        language: nil,
                        variant: top.variants[$0],
                        playlist: media,
                        address: source
                    )
                }
            )
            try library.publishRecording(id)
            // One variant has both of its segments, the other one lacks the second.
            for (writer, count) in zip(writers, [2, 1]) {
                let files = try writer.append(0..<2, of: media).files
                for file in files.prefix(count) {
                    let written = library.makePackageFile(for: file.resource, of: id)
                    try Array("media".utf8).withUnsafeBytes { try written.write($0) }
                    try written.finish()
                    try library.commit([WrittenFile(file.resource, written)])
                    try writer.settle(file.position)
                }
            }
            #expect(try library.asset(id).renditions.map(\.isComplete) == [true, false])
            let response = try await stage.ask("/offline/\(id)/multivariant.m3u8")
            #expect(response.status == 200 && lines(response).count == 2, "\(response.body)")
        }
    }

    /// A variant with missing segments must not be selected.
    @Test func partialAssetIsServedWithoutIncompleteVariants() async throws {
        try await onStage(missing: ["180"]) { (stage: ServerStage, asset: StoredAsset) async throws in
            #expect(asset.state == .partial && asset.isPlayableOffline)
            let complete = try #require(asset.renditions.first { $0.role == .variant && $0.isComplete })
            let top = try await stage.ask("/offline/\(asset.id)/multivariant.m3u8")
            #expect(top.status == 200 && lines(top) == ["\(complete.folder)/media.m3u8"])
            #expect(top.body.contains("RESOLUTION=16x360") && !top.body.contains("RESOLUTION=16x180"))
            #expect(top.body.contains("TYPE=AUDIO"))
            let absolute = lines(try await stage.ask("/offline/\(asset.id)/multivariant.m3u8?absolute"))
            #expect(
                absolute == ["http://127.0.0.1:\(stage.port)/offline/\(asset.id)/\(complete.folder)/media.m3u8"]
            )
        }
    }

    /// An asset that is being downloaded is played at once: what is not stored is streamed, and then stored.
    @Test func assetWithoutACompleteVariantIsStreamed() async throws {
        try await onStage(missing: ["180", "360"]) { (stage: ServerStage, asset: StoredAsset) async throws in
            #expect(!asset.isPlayableOffline)
            let top = try await stage.ask("/offline/\(asset.id)/multivariant.m3u8")
            #expect(top.status == 200 && lines(top).count == 2 && top.body.contains("RESOLUTION=16x180"))
            let folder = try #require(asset.renditions.first { $0.height == 180 }?.folder)
            let base = "/offline/\(asset.id)/\(folder)"
            let name = try #require(lines(try await stage.ask("\(base)/media.m3u8")).first)
            let failed = try await stage.ask("\(base)/\(name)")
            #expect(failed.status == 502, "\(failed.body)")
            stage.origin.behave("/180.ts", .proper)
            let count = stage.requests.count { $0.target.hasSuffix("/180.ts") }
            for _ in 0..<2 {
                let segment = try await stage.ask("\(base)/\(name)")
                #expect(segment.status == 200 && segment.body == "segment of 180")
                #expect(segment.field("Content-Type") == "video/mp2t")
            }
            #expect(stage.requests.count { $0.target.hasSuffix("/180.ts") } == count + 1)
            let stored = try AssetLibrary(directory: stage.library).asset(asset.id)
            #expect(stored.isPlayableOffline && stored.renditions.first { $0.height == 180 }?.isComplete == true)
        }
    }
}

/// Tests the effects of the options of a server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ServerOptionsTests {
    @Test func secretsAreSentOnlyToNamedHosts() async throws {
        try await MisbehavingServer.withServer { other in
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n#EXT-X-ENDLIST\n"
            other.set("/a.m3u8", .text(playlist, contentType: "application/vnd.apple.mpegurl"))
            try await ServerStage.run(usesProxy: false) { options, _ in
                options.allowedHosts = ["127.0.0.1:\(other.port)"]
            } _: { (stage: ServerStage) async throws in
                #expect(try await stage.ask("/play.m3u8?url=\(other.address("/a.m3u8"))").status == 200)
                #expect(other.requests.first?.header("Authorization") == ServerStage.token)
                #expect(other.requests.first?.header("Cookie") == "session=of-the-owner")
                #expect(try await stage.ask("/play.m3u8?url=\(stage.privateSource)").status == 200)
                #expect(stage.secrets(at: "/private.m3u8") == [true])
                let refused = try await stage.ask("/play.m3u8?url=http://127.0.0.1:1/a.m3u8")
                #expect(refused.status == 403 && refused.errorCode == "address-refused")
            }
        }
    }

    @Test func headerFieldsOfACatalogAreSentToItsHosts() async throws {
        try await ServerStage.run(usesProxy: false) { options, origin in
            let catalog = "[{\"name\": \"a\", \"url\": \"/private.m3u8\", \"headers\": {\"X-Token\": \"t\"}}]"
            options.catalog = try StreamCatalog(Data(catalog.utf8), at: ResourceAddress(origin.address("/")))
            options.sourceHeaders = []
        } _: { (stage: ServerStage) async throws in
            #expect(try await stage.ask("/play.m3u8?url=\(stage.privateSource)").status == 200)
            #expect(stage.requests.last?.header("X-Token") == "t")
            #expect(stage.requests.last?.header("Authorization") == nil)
        }
    }

    /// A poster may be on a different host than its stream.
    @Test func hostOfAPosterIsAllowed() async throws {
        try await MisbehavingServer.withServer(["/p.png": .init([1], contentType: "image/png")]) { other in
            try await ServerStage.run(usesProxy: false) { options, origin in
                let catalog =
                    "[{\"name\": \"a\", \"url\": \"/private.m3u8\", \"poster\": \"\(other.address("/p.png"))\"}]"
                options.catalog = try StreamCatalog(Data(catalog.utf8), at: ResourceAddress(origin.address("/")))
            } _: { (stage: ServerStage) async throws in
                #expect(try await stage.ask("/api/streams/a/poster").status == 200)
            }
            // The header fields from the options are only for streams.
            #expect(other.requests.map { $0.header("Authorization") } == [nil])
        }
    }

    @Test func serverAcceptsItsHostNames() async throws {
        let machine = ProcessInfo.processInfo.hostName
        try await ServerStage.run { options, _ in
            options.names = ["one.example", "Two.Example."]
        } _: { (stage: ServerStage) async throws in
            for (host, status) in [
                ("one.example", 200), ("two.example:99", 200), (machine, 200), ("\(machine).local", 200),
                ("127.0.0.1", 200), ("localhost", 200), ("three.example", 403), ("\(machine).example", 403),
            ] {
                #expect(try await stage.ask("/api/library", host: host).status == status, "\(host)")
            }
        }
    }

    @Test func portInUseIsAnError() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let port = stage.port
            let error = await #expect(throws: ListeningError.self) {
                try await ServerStage.run { options, _ in
                    options.port = port
                } _: { _ in
                    Issue.record("the port was taken twice")
                }
            }
            #expect(
                error?.description == "cannot listen on 127.0.0.1:\(port): the port is in use by another program"
            )
        }
    }

    @Test func limitsInTheOptionsAreApplied() async throws {
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(editing: EditLimits(edits: 1))
        } _: { (stage: ServerStage) async throws in
            let response = try await stage.ask("/play.m3u8?url=\(stage.privateSource)&start=0&start=0")
            #expect(response.status == 413 && response.errorCode == "too-many-edits")
        }
    }
}

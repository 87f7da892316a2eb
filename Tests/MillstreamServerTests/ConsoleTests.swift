import AssetStorage
import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the responses of the routes of the console.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ConsoleRoutesTests {
    private func expect(
        _ response: RawResponse,
        _ status: Int,
        _ fields: [String: String?],
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == status, "\(response.head) \(response.body)", sourceLocation: location)
        for (name, value) in fields {
            #expect(response.field(name) == value, "\(name)", sourceLocation: location)
        }
    }

    private static let json = "application/json; charset=utf-8"

    @Test func responsesHaveTheirHeaderFields() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let vary = "Origin, Sec-Fetch-Site, Referer, User-Agent"
            expect(
                try await stage.ask("/"),
                200,
                [
                    "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
                    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Vary": vary,
                    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; media-src * blob:; "
                        + "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
                    "Cross-Origin-Resource-Policy": "same-origin", "Server": "Millstream",
                    "Access-Control-Allow-Origin": nil,
                ]
            )
            expect(
                try await stage.ask("/console/main.js"),
                200,
                ["Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "no-cache", "Vary": vary]
            )
            for name in ["none.js", ".none", "..."] {
                let response = try await stage.ask("/console/\(name)")
                expect(response, 404, ["Content-Security-Policy": "sandbox; default-src 'none'", "Vary": nil])
                #expect(response.errorCode == "not-found")
            }
            expect(
                try await stage.ask("/api/library"),
                200,
                [
                    "Content-Type": Self.json, "Cache-Control": "no-store", "Vary": vary,
                    "X-Content-Type-Options": "nosniff",
                    "Content-Security-Policy": "sandbox; default-src 'none'",
                    "Cross-Origin-Resource-Policy": "same-origin",
                ]
            )
            expect(try await stage.ask("/health"), 200, ["Content-Type": Self.json, "Vary": nil])
            expect(
                try await stage.ask("/api/none"),
                404,
                ["X-Content-Type-Options": "nosniff", "Content-Type": Self.json]
            )
        }
    }

    @Test func editsAreThoseOfTheLibrary() async throws {
        try await ServerStage.run { options, _ in
            options.limits.editing = EditLimits(edits: 3, sources: 2)
        } _: { (stage: ServerStage) async throws in
            let response = try await stage.ask("/api/edits")
            expect(response, 200, ["Content-Type": Self.json, "Cache-Control": "no-store"])
            #expect(response.body.hasSuffix(#"],"limits":{"edits":3,"sources":2}}"#))
            let body = try JSONDecoder().decode(EditsResponse.self, from: Data(response.body.utf8))
            // Other tests of this process register edits of their own.
            #expect(body.edits.map(\.name).starts(with: PlaylistEdit.names))
            for (edit, definition) in zip(body.edits, PlaylistEdit.definitions) {
                #expect(edit.title == definition.title && edit.summary == definition.summary)
                #expect(edit.playlists == definition.target.rawValue)
                #expect(edit.parameter?.type == definition.parameter?.kind.rawValue)
                #expect(edit.parameter?.placeholder == definition.parameter?.placeholder)
                #expect(edit.parameter?.form == definition.parameter?.form)
                #expect(edit.parameter?.unit == definition.parameter?.unit)
                #expect(edit.parameter?.minimum == definition.parameter?.minimum)
                #expect(edit.parameter?.exclusiveMinimum == definition.parameter?.exclusiveMinimum)
                #expect(edit.parameter?.maximum == definition.parameter?.maximum)
                #expect(edit.examples ?? [] == definition.examples)
            }
        }
    }

    private struct EditsResponse: Decodable {
        struct Edit: Decodable {
            struct Parameter: Decodable {
                let type: String
                let placeholder: String
                let unit: String?
                let minimum: Int?
                let exclusiveMinimum: Int?
                let maximum: Int?
                let form: String
            }
            let name: String
            let title: String
            let summary: String
            let playlists: String
            let parameter: Parameter?
            let examples: [String]?
        }
        let edits: [Edit]
    }

    /// The catalog contains entries of different kinds that can be listed, downloaded and inspected.
    @Test func streamsOfTheCatalogAreListed() async throws {
        try await ServerStage.run { options, origin in
            let catalog = """
                [{"name": "A", "url": "a.mpd", "poster": "/p.png", "detail": "About", "advertisement": true},
                 {"name": "B", "url": "/b.m3u8"}]
                """
            options.catalog = try StreamCatalog(
                Data(catalog.utf8),
                at: ResourceAddress(origin.address("/c/list.json"))
            )
        } _: { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let source = ResourceAddress(stage.origin.address("/b.m3u8"))
            let id = try library.addAsset(source: source, title: "B", selection: "")
            let base = stage.origin.address("")
            #expect(
                try await stage.ask("/api/streams").body
                    == #"{"streams":[{"id":"a","name":"A","url":"\#(base)c/a.mpd","kind":"dash","detail":"About","#
                    + #""channel":false,"edits":[],"address":"/play.m3u8?url=\#(base)c/a.mpd","#
                    + #""poster":"/api/streams/a/poster","advertisement":true},{"id":"b","name":"B","#
                    + #""url":"\#(base)b.m3u8","kind":"hls","channel":false,"edits":[],"#
                    + #""address":"/play.m3u8?url=\#(base)b.m3u8","advertisement":false,"asset":"\#(id)"}]}"#
            )
            let assets = try await stage.ask("/api/library").body
            #expect(assets.hasPrefix(#"{"assets":[{"id":"\#(id)","title":"B","source":"\#(base)b.m3u8","#))
            #expect(assets.hasSuffix(#""activity":"idle"}]}"#))
        }
    }

    @Test func artworkOfAnAssetIsAnImageWithItsFormat() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let id = try library.addAsset(source: ResourceAddress("https://h/a.m3u8"), title: "A", selection: "")
            let path = "/api/library/\(id)/artwork"
            for missing in [path, "/api/library/none/artwork"] {
                let response = try await stage.ask(missing)
                expect(response, 404, ["Content-Type": Self.json])
                #expect(response.errorCode == "not-found")
            }
            // The format follows from the first bytes alone, whatever an HTML parser could find after them.
            try library.setArtwork(AssetArtwork(Data("GIF89a<script>".utf8)), of: id)
            let response = try await stage.ask(path)
            expect(
                response,
                200,
                [
                    "Content-Type": "image/gif", "Content-Length": "14", "Cache-Control": "private, no-cache",
                    "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
                    "Cross-Origin-Resource-Policy": "same-origin", "Access-Control-Allow-Origin": nil,
                ]
            )
            #expect(response.body == "GIF89a<script>")
            let tag = try #require(response.field("ETag"))
            let unchanged = try await stage.ask(path, fields: ["If-None-Match: \(tag)"])
            #expect(unchanged.status == 304 && unchanged.field("ETag") == tag && unchanged.body.isEmpty)
            for listing in ["/api/library", "/api/storage"] {
                let body = try await stage.ask(listing).body
                #expect(body.contains(#""artwork":"image/gif""#), "\(body)")
            }
            try library.setArtwork(AssetArtwork(Data("GIF89a new".utf8)), of: id)
            let changed = try await stage.ask(path, fields: ["If-None-Match: \(tag)"])
            #expect(changed.status == 200 && changed.body == "GIF89a new")
            try library.delete(id)
            #expect(try await stage.ask(path).status == 404)
        }
    }

    @Test func posterIsAnImageFromTheOrigin() async throws {
        try await ServerStage.run { options, origin in
            let names = ["p", "q", "svg", "page", "two", "large", "toolarge", "missing", "untyped.PNG", "untyped"]
            let entries = names.map {
                "{\"name\": \"\($0)\", \"url\": \"/a\", \"poster\": \"/\($0)\"}"
            }
            let catalog = "[\(entries.joined(separator: ",")), {\"name\": \"none\", \"url\": \"/a\"}]"
            options.catalog = try StreamCatalog(Data(catalog.utf8), at: ResourceAddress(origin.address("/")))
            for (path, type) in [
                ("p", "image/png"), ("q", "IMAGE/JPEG"), ("svg", "Image/SVG+xml"), ("page", "text/html"),
                ("two", "image/png, text/html"), ("untyped.PNG", nil), ("untyped", nil),
            ] {
                origin.set(path, .init([1, 2, 3], contentType: type))
                origin.behave(path, .proper)
            }
            origin.set("large", .init([UInt8](repeating: 1, count: 8_388_608), contentType: "image/png"))
            origin.set("toolarge", .init([UInt8](repeating: 1, count: 8_388_609), contentType: "image/png"))
            for path in ["large", "toolarge"] { origin.behave(path, .proper) }
            origin.behave("missing", .status(404))
        } _: { (stage: ServerStage) async throws in
            for (id, type) in [("p", "image/png"), ("q", "image/jpeg"), ("untyped-png", "image/png")] {
                let response = try await stage.ask("/api/streams/\(id)/poster")
                expect(response, 200, ["Content-Type": type, "Cache-Control": "private, max-age=600"])
                #expect(response.body == "\u{1}\u{2}\u{3}")
            }
            #expect(try await stage.ask("/api/streams/large/poster").body.utf8.count == 8_388_608)
            for (id, status, code) in [
                ("svg", 502, "wrong-content"), ("page", 502, "wrong-content"), ("untyped", 502, "wrong-content"),
                ("two", 502, "wrong-content"), ("toolarge", 413, "too-large"), ("missing", 502, "http-status"),
                ("none", 404, "not-found"), ("x", 404, "not-found"),
            ] {
                let response = try await stage.ask("/api/streams/\(id)/poster")
                #expect(
                    response.status == status && response.errorCode == code,
                    "\(id): \(response.head) \(response.body)"
                )
            }
        }
    }

    @Test func playlistIsInspected() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let response = try await stage.ask("/api/inspect?url=\(stage.privateSource)")
            expect(response, 200, ["Content-Type": Self.json, "Cache-Control": "no-store"])
            #expect(response.body.hasPrefix(#"{"kind":"media""#))
            for (query, status, code) in [
                ("", 400, "missing-url"), ("?url=file:///etc/passwd", 400, "missing-url"),
                ("?url=\(stage.origin.address("/private.ts"))", 502, "not-a-playlist"),
                ("?url=http://10.0.0.1/x", 403, "address-refused"),
            ] {
                let response = try await stage.ask("/api/inspect\(query)")
                #expect(response.status == status && response.errorCode == code, "\(query): \(response.body)")
            }
        }
    }

    @Test func workAboveTheCapacityIsRejected() async throws {
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(pendingEdits: 0)
        } _: { (stage: ServerStage) async throws in
            for path in ["/api/inspect", "/play.m3u8"] {
                let response = try await stage.ask("\(path)?url=\(stage.privateSource)")
                expect(response, 503, ["Retry-After": "1", "Cache-Control": "no-store"])
                #expect(response.errorCode == "busy")
            }
        }
    }

    private func send(
        _ body: String,
        to path: String,
        _ method: String,
        _ stage: ServerStage
    ) async throws -> RawResponse {
        try await stage.ask(
            path,
            method: method,
            fields: ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"],
            body: body
        )
    }

    @Test func conditionsAreChangedForAllStreamsOrForOne() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            func change(_ body: String) async throws -> RawResponse {
                try await send(body, to: "/api/conditions", "PUT", stage)
            }
            let url = stage.privateSource
            #expect(try await stage.ask("/play.m3u8?url=\(url)&conditions=WiFi").status == 200)
            let id = LinkRegistry.identifier(.init(source: ResourceAddress(url), conditions: "WiFi"))
            let link = { (conditions: String) in
                #""links":[{"id":"\#(id)","url":"\#(url)","named":"WiFi","conditions":"\#(conditions)","transmittedBytes":"#
            }
            let initial = try await stage.ask("/api/conditions").body
            #expect(initial.contains(#""shared":"Off",\#(link("WiFi"))"#))
            // The playlist was sent through the link.
            let count = initial.split(separator: #""transmittedBytes":"#).last?.prefix { $0.isNumber }
            #expect(count.flatMap { Int($0) } ?? 0 > 100)
            let changed = try await change(#"{"conditions":"LTE","url":"\#(url)","named":"WiFi"}"#)
            expect(changed, 200, ["Content-Type": Self.json])
            #expect(changed.body.contains(#""shared":"Off",\#(link("LTE"))"#))
            #expect(try await change(#"{"conditions":"3G","link":"\#(id)"}"#).body.contains(link("3G")))
            #expect(try await change(#"{"conditions":"LTE","link":"\#(id)"}"#).body.contains(link("LTE")))
            let shared = try await change(#"{"conditions":"WiFi 802.11ac"}"#)
            #expect(shared.body.contains(#""shared":"WiFi 802.11ac",\#(link("LTE"))"#))
            for (body, status, code) in [
                (#"{"conditions":"6G"}"#, 400, "unknown-conditions"),
                (#"{"conditions":"LTE","url":"\#(url)"}"#, 400, "invalid-body"),
                (#"{"conditions":"LTE","named":"WiFi"}"#, 400, "invalid-body"), ("{}", 400, "invalid-body"),
                ("[", 400, "invalid-body"), ("", 400, "invalid-body"),
                (#"{"conditions":"LTE","url":"\#(url)","named":"3G"}"#, 404, "not-found"),
                (#"{"conditions":"LTE","link":"x"}"#, 404, "not-found"),
                (#"{"conditions":"LTE","link":"\#(id)","url":"\#(url)","named":"WiFi"}"#, 400, "invalid-body"),
            ] {
                let response = try await change(body)
                #expect(response.status == status && response.errorCode == code, "\(body): \(response.head)")
            }
            let order = #"{"conditions":"Off"}"#
            let longest = order + String(repeating: " ", count: 65_536 - order.utf8.count)
            #expect(try await change(longest).status == 200)
            #expect(try await change(longest + " ").status == 413)
        }
    }

    @Test func invalidRequestStartsNoDownload() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let url = stage.privateSource
            for (body, status, code) in [
                ("{}", 400, "invalid-body"), ("", 400, "invalid-body"), (#"{"url":"x"}"#, 400, "invalid-body"),
                (#"{"url":"file:///etc/passwd"}"#, 400, "invalid-body"),
                (#"{"url":"\#(url)","variants":"some"}"#, 400, "invalid-body"),
                (#"{"url":"\#(url)","variants":1}"#, 400, "invalid-body"),
                (#"{"url":"http://10.0.0.1/x"}"#, 403, "address-refused"),
                (#"{"url":"\#(stage.origin.address("/private.ts"))"}"#, 400, "not-a-playlist"),
            ] {
                let response = try await send(body, to: "/api/downloads", "POST", stage)
                #expect(
                    response.status == status && response.errorCode == code,
                    "\(body): \(response.head) \(response.body)"
                )
            }
            let order = #"{"url":"x"}"#
            let longest = order + String(repeating: " ", count: 65_536 - order.utf8.count)
            #expect(try await send(longest, to: "/api/downloads", "POST", stage).status == 400)
            #expect(try await send(longest + " ", to: "/api/downloads", "POST", stage).status == 413)
            #expect(try await stage.ask("/api/library").body == #"{"assets":[]}"#)
        }
    }

    /// The request determines which variants are stored.
    @Test func requestDeterminesWhichVariantsAreStored() async throws {
        for (order, heights) in [
            ("", [720]), (#","variants":"best""#, [720]), (#","variants":"lowest""#, [180]),
            (#","variants":"all""#, [180, 360, 720]), (#","maxHeight":400"#, [360]),
            (#","variants":"some","maxHeight":400"#, [360]),
        ] {
            try await ServerStage.run { (stage: ServerStage) async throws in
                let variants = [180, 360, 720].map {
                    "#EXT-X-STREAM-INF:BANDWIDTH=\($0)000,RESOLUTION=16x\($0),CODECS=\"avc1.640020\"\n\($0).m3u8\n"
                }
                stage.serve("/top.m3u8", "#EXTM3U\n" + variants.joined())
                for height in [180, 360, 720] {
                    stage.serve(
                        "/\(height).m3u8",
                        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nprivate.ts\n#EXT-X-ENDLIST\n"
                    )
                }
                let source = stage.origin.address("/top.m3u8")
                var events = try await stage.listen()
                let response = try await send(
                    #"{"url":"\#(source)","title":"Film"\#(order)}"#,
                    to: "/api/downloads",
                    "POST",
                    stage
                )
                expect(response, 202, ["Content-Type": Self.json])
                let library = try AssetLibrary(directory: stage.library)
                let id = try #require(response.body.firstMatch(of: /^\{"id":"([^"]+)"\}$/)).1
                _ = try await events.next { $0.contains(#""activity":"idle""#) }
                let asset = try library.asset(String(id))
                #expect(asset.renditions.compactMap(\.height).sorted() == heights, "\(order)")
                #expect(asset.title == "Film" && asset.source.text == source && asset.state == .complete)
            }
        }
    }

    @Test func downloadChoosesAVariantThatCanBeDecoded() async throws {
        try await ServerStage.run { options, _ in
            options.canDecode = { !$0.hasPrefix("hvc1") }
        } _: { (stage: ServerStage) async throws in
            let variants = [("avc1.640020", 180), ("hvc1.1.6.L93.B0", 360)].map { codec, height in
                "#EXT-X-STREAM-INF:BANDWIDTH=\(height)000,RESOLUTION=16x\(height),CODECS=\"\(codec)\"\n\(height).m3u8\n"
            }
            stage.serve("/top.m3u8", "#EXTM3U\n" + variants.joined())
            for height in [180, 360] {
                stage.serve(
                    "/\(height).m3u8",
                    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nprivate.ts\n#EXT-X-ENDLIST\n"
                )
            }
            var events = try await stage.listen()
            let source = stage.origin.address("/top.m3u8")
            let response = try await send(#"{"url":"\#(source)"}"#, to: "/api/downloads", "POST", stage)
            #expect(response.status == 202, "\(response.body)")
            _ = try await events.next { $0.contains(#""activity":"idle""#) }
            let asset = try #require(try AssetLibrary(directory: stage.library).assets().first)
            #expect(asset.renditions.compactMap(\.height) == [180] && asset.state == .complete)
        }
    }

    /// Tests a download from its start to its deletion, as a page observes it.
    @Test func eventsReportTheProgressOfADownload() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            var events = try await stage.listen()
            let metrics = try await stage.ask("/metrics")
            expect(metrics, 200, ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"])
            for line in ["downloads_running 0", "event_listeners 1", "connections 2"] {
                #expect(metrics.body.contains("\nmillstream_\(line)\n"))
            }
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let response = try await send(order, to: "/api/downloads", "POST", stage)
            let id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            let begun = try await events.next { $0.hasPrefix("event: asset\n") }
            // A short download can have ended before its first event is sent.
            #expect(begun.contains(#""id":"\#(id)""#))
            func isIdle(_ event: String) -> Bool { event.contains(#""activity":"idle""#) }
            let ended = isIdle(begun) ? begun : try await events.next(isIdle)
            #expect(ended.contains(#""state":"complete""#) && !ended.contains("\"error\""))
            #expect(ended.contains(#""expected":4,"#) && ended.contains(#""percent":100,"#))
            // The playlist is stored, so further requests for the same download are answered immediately.
            let again = try await send(order, to: "/api/downloads", "POST", stage)
            #expect(again.status == 202 && again.body == response.body)
            _ = try await events.next { $0.contains(#""activity":"idle""#) }

            let canceled = try await stage.ask("/api/downloads/\(id)", method: "DELETE")
            #expect(canceled.status == 204 && canceled.body.isEmpty)
            #expect(try await stage.ask("/api/downloads/none", method: "DELETE").status == 204)
            let deleted = try await stage.ask("/api/library/\(id)", method: "DELETE")
            #expect(deleted.status == 204 && deleted.body.isEmpty)
            #expect(
                try await events.next { $0.hasPrefix("event: removed\n") } == "event: removed\ndata: {\"id\":\"\(id)\"}"
            )
            // Deleting it again has no effect.
            #expect(try await stage.ask("/api/library/\(id)", method: "DELETE").status == 204)
            #expect(try await stage.ask("/api/library").body == #"{"assets":[]}"#)
        }
    }

    @Test func failedDownloadReportsItsError() async throws {
        let lines = RecordingLogHandler.Lines()
        let logger = Logger(label: "test") { _ in RecordingLogHandler(lines) }
        try await ServerStage.run(logger: logger) { (stage: ServerStage) async throws in
            stage.origin.behave("/private.ts", .status(404))
            var events = try await stage.listen()
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let response = try await send(order, to: "/api/downloads", "POST", stage)
            let id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            let failed = try await events.next { $0.contains(#""activity":"failed""#) }
            #expect(failed.contains(#""error":{"code":"http-status","message":""#))
            #expect(lines.all.contains("warning: download failed asset=\(id) error=http-status"))
            #expect(try await stage.ask("/api/library").body.contains(#""activity":"failed","error":{"#))
            // A new attempt starts without the error of the previous one.
            stage.origin.behave("/private.ts", .stallBeforeHead)
            _ = try await send(order, to: "/api/downloads", "POST", stage)
            let begun = try await events.next { $0.contains(#""activity":"downloading""#) }
            #expect(!begun.contains("\"error\""))
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("\nmillstream_downloads_running 1\n"))
            // A second request refers to the same download.
            #expect(try await send(order, to: "/api/downloads", "POST", stage).body == response.body)
            #expect(try await stage.ask("/api/downloads/\(id)", method: "DELETE").status == 204)
            let stopped = try await events.next { $0.contains(#""activity":"idle""#) }
            #expect(stopped.contains(#""state":"partial""#))
            #expect(try await stage.ask("/metrics").body.contains("\nmillstream_downloads_running 0\n"))
            // A running download is stopped before it is deleted.
            _ = try await send(order, to: "/api/downloads", "POST", stage)
            _ = try await events.next { $0.contains(#""activity":"downloading""#) }
            #expect(try await stage.ask("/api/library/\(id)", method: "DELETE").status == 204)
            _ = try await events.next { $0.hasPrefix("event: removed\n") }
            #expect(try await stage.ask("/api/library").body == #"{"assets":[]}"#)
        }
    }

    @Test func storageIsReportedAndFreed() async throws {
        // An asset that has expired stays until the request.
        try await ServerStage.run(configure: { options, _ in options.storagePolicyInterval = nil }) {
            (stage: ServerStage) async throws in
            var events = try await stage.listen()
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let response = try await send(order, to: "/api/downloads", "POST", stage)
            let id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            _ = try await events.next { $0.contains(#""state":"complete""#) && $0.contains(#""activity":"idle""#) }
            let storage = try await stage.ask("/api/storage").body
            #expect(storage.contains(#""id":"\#(id)""#) && storage.contains(#""pinned":false"#), "\(storage)")
            #expect(storage.contains(#""eviction":{"evicted":[],"freed":0,"shortfall":0}"#), "\(storage)")
            #expect(storage.contains(#""limits":{"minimumFreeSpace":0}"#), "\(storage)")
            // More than any disk has, so that nothing is deleted in vain.
            let all = try await stage.ask("/api/storage?need=900000000000000000").body
            #expect(all.contains(#""evicted":[],"freed":0,"shortfall":89"#), "\(all)")
            #expect(all.contains(#","insufficient":[{"id":"\#(id)""#), "\(all)")
            let path = "/api/library/\(id)/policy"
            let expired = #"{"pinned":true,"expires":"2001-01-31T00:00:00Z"}"#
            let pinned = try await send(expired, to: path, "PUT", stage)
            #expect(pinned.status == 200)
            #expect(pinned.body == #"{"pinned":true,"priority":"default","expires":"2001-01-31T00:00:00Z"}"#)
            #expect(!(try await stage.ask("/api/storage?need=900000000000000000").body.contains("insufficient")))
            let kept = try await stage.ask("/api/storage/evictions", method: "POST")
            #expect(kept.status == 200 && kept.body == #"{"evicted":[],"freed":0,"shortfall":0}"#, "\(kept.body)")
            let changed = try await send(#"{"pinned":false,"priority":"important"}"#, to: path, "PUT", stage).body
            #expect(changed == #"{"pinned":false,"priority":"important","expires":"2001-01-31T00:00:00Z"}"#)
            #expect(try await stage.ask("/api/storage").body.contains(#""evicted":[{"id":"\#(id)""#))
            let evicted = try await stage.ask("/api/storage/evictions", method: "POST")
            #expect(evicted.body.contains(#""reason":"expired""#), "\(evicted.body)")
            _ = try await events.next { $0.hasPrefix("event: removed\n") }
            #expect(try await stage.ask("/api/library").body == #"{"assets":[]}"#)
            for body in ["{}", #"{"priority":"high"}"#, #"{"expires":"soon"}"#] {
                #expect(try await send(body, to: path, "PUT", stage).errorCode == "not-found", "\(body)")
            }
            for need in ["x", "-1", "1e9", ""] {
                let response = try await stage.ask("/api/storage?need=\(need)")
                #expect(response.status == 400 && response.errorCode == "invalid-parameter", "\(need)")
            }
        }
    }

    /// Another process sets the limits and the expiration date while the server runs.
    @Test func expiredAssetIsDeletedWhileTheServerRuns() async throws {
        let lines = RecordingLogHandler.Lines()
        let logger = Logger(label: "test") { _ in RecordingLogHandler(lines) }
        try await ServerStage.run(
            logger: logger,
            configure: { options, _ in options.storagePolicyInterval = .milliseconds(1) },
            { (stage: ServerStage) async throws in
                var events = try await stage.listen()
                let order = #"{"url":"\#(stage.privateSource)"}"#
                let response = try await send(order, to: "/api/downloads", "POST", stage)
                let id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
                _ = try await events.next { $0.contains(#""state":"complete""#) && $0.contains(#""activity":"idle""#) }
                let library = try AssetLibrary(directory: stage.library)
                try library.setStorageLimits(StorageLimits(quota: ByteCount(1 << 40), minimumFreeSpace: ByteCount(1)))
                let storage = try await stage.ask("/api/storage").body
                #expect(storage.contains(#""limits":{"quota":1099511627776,"minimumFreeSpace":1}"#), "\(storage)")
                try library.setStoragePolicy(StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1)), of: id)
                let evicted = try await events.next { $0.hasPrefix("event: evicted\n") }
                #expect(evicted.contains(#"{"id":"\#(id)","title":"#) && evicted.contains(#""reason":"expired""#))
                _ = try await events.next { $0.hasPrefix("event: removed\n") && $0.contains(id) }
                #expect(try await stage.ask("/api/library").body == #"{"assets":[]}"#)
                #expect(
                    lines.all.contains { $0.hasPrefix("notice: asset deleted to make space available asset=\(id)") }
                )
            }
        )
    }

    /// A library on a disk that cannot be written is served, and downloads are refused.
    @Test func libraryThatCannotBeWrittenIsServed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        var id = ""
        try await ServerStage.run(library: folder) { (stage: ServerStage) async throws in
            var events = try await stage.listen()
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let response = try await send(order, to: "/api/downloads", "POST", stage)
            id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            _ = try await events.next { $0.contains(#""state":"complete""#) && $0.contains(#""activity":"idle""#) }
        }
        try await ServerStage.run(library: folder, isReadOnly: true) { (stage: ServerStage) async throws in
            #expect(try await stage.ask("/api/library").body.contains(#""id":"\#(id)""#))
            #expect(try await stage.ask("/offline/\(id)/multivariant.m3u8").status == 200)
            let refused = try await send(#"{"url":"\#(stage.publicSource)"}"#, to: "/api/downloads", "POST", stage)
            #expect(refused.status == 409 && refused.errorCode == "library-read-only", "\(refused.body)")
            #expect(refused.body.contains("cannot be changed, so nothing is downloaded"))
            let kept = try await stage.ask("/api/library/\(id)", method: "DELETE")
            #expect(kept.status == 409 && kept.errorCode == "library-read-only", "\(kept.body)")
            for (method, path, body) in [
                ("PUT", "/api/library/\(id)/policy", #"{"pinned":true}"#), ("POST", "/api/storage/evictions", ""),
                ("POST", "/api/downloads/\(id)/pause", ""), ("POST", "/api/downloads/\(id)/resume", ""),
                ("DELETE", "/api/downloads/\(id)", ""),
            ] {
                let response = try await send(body, to: path, method, stage)
                #expect(
                    response.status == 409 && response.errorCode == "library-read-only",
                    "\(path): \(response.body)"
                )
            }
            #expect(try await stage.ask("/api/library").body.contains(#""id":"\#(id)""#))
        }
    }

    @Test func downloadIsPausedAndResumed() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.behave("/private.ts", .stallBeforeHead)
            var events = try await stage.listen()
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let response = try await send(order, to: "/api/downloads", "POST", stage)
            let id = String(try #require(response.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            _ = try await events.next { $0.contains(#""activity":"downloading""#) }
            #expect(try await stage.ask("/api/downloads/\(id)/pause", method: "POST").status == 204)
            _ = try await events.next { $0.contains(#""activity":"paused""#) }
            stage.origin.behave("/private.ts", .proper)
            #expect(try await stage.ask("/api/downloads/\(id)/resume", method: "POST").status == 204)
            let ended = try await events.next { $0.contains(#""activity":"idle""#) }
            #expect(ended.contains(#""state":"complete""#))
            // The download has ended.
            let again = try await stage.ask("/api/downloads/\(id)/resume", method: "POST")
            #expect(again.status == 404 && again.body.contains("has no download that can be resumed"))
        }
    }

    /// The server shuts down although a page is still listening and a download is running.
    @Test func serverShutsDownWithOpenEventStreamsAndDownloads() async throws {
        var connection: RawConnection?
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.behave("/private.ts", .stallBeforeHead)
            let events = try await stage.listen()
            connection = events.connection
            let order = #"{"url":"\#(stage.privateSource)"}"#
            #expect(try await send(order, to: "/api/downloads", "POST", stage).status == 202)
        }
        // The body of a response without a length ends with an empty chunk.
        #expect(try await connection?.readToEnd().hasSuffix("0\r\n\r\n") == true)
    }
}

extension ServerStage {
    /// Serves a playlist at the origin.
    func serve(_ path: String, _ playlist: String) {
        origin.set(path, .text(playlist, contentType: "application/vnd.apple.mpegurl"))
        origin.behave(path, .proper)
    }

    /// The events of a server, in order.
    struct Events {
        let connection: RawConnection
        private var text = ""

        fileprivate init(_ connection: RawConnection) { self.connection = connection }

        /// Returns the next event that satisfies a condition.
        mutating func next(_ condition: (String) -> Bool) async throws -> String {
            while true {
                while let end = text.range(of: "\n\n") {
                    let event = String(text[..<end.lowerBound])
                    text = String(text[end.upperBound...])
                    if condition(event) { return event }
                }
                let more = try await connection.read(until: "\n\n")
                try #require(!more.isEmpty, "the stream of events has ended")
                // Remove the lines with chunk sizes and the CRLF at the end of each chunk.
                text += more.components(separatedBy: "\r\n").filter { Int($0, radix: 16) == nil }.joined()
            }
        }
    }

    /// Opens the event stream.
    func listen() async throws -> Events {
        let connection = try RawConnection(port: port)
        connection.send("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        let head = try await connection.read(until: "retry: 1000\nevent: hello\ndata: {}\n\n")
        let response = RawResponse(head)
        #expect(response.status == 200 && response.field("Content-Type") == "text/event-stream")
        #expect(response.field("Cache-Control") == "no-store")
        return Events(connection)
    }
}

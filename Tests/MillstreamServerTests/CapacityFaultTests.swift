import Foundation
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the memory that requests reserve, and the rate of downloads.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CapacityFaultTests {
    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"

    /// The sources of a playlist and its edited form, or its report, are reserved until the response is sent.
    @Test func sourcesAndResultAreReserved() async throws {
        let transport = ScriptedTransport(texts: [
            "https://h/a.m3u8": Self.playlist, "https://h/b.m3u8": Self.playlist + "#\n",
        ])
        let loader = ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        let size = Self.playlist.utf8.count
        for (edits, sources) in [("duration=4", size), ("append=https://h/b.m3u8", 2 * size + 2)] {
            let work = ServerCapacity(ServerLimits())
            let budget = try work.admit()
            let handler = PlaybackRequestHandler(loader: loader, budget: budget, workers: .callingTask)
            let request = try PlaybackRequest(QueryItems("url=https://h/a.m3u8&" + edits))
            let bytes = try await handler.playlist(for: request)
            #expect(work.pendingBytes == Int64(sources + bytes.count), "\(edits)")
            withExtendedLifetime(budget) {}
        }
        let work = ServerCapacity(ServerLimits())
        let budget = try work.admit()
        let handler = PlaybackRequestHandler(loader: loader, budget: budget, workers: .callingTask)
        let report = try await handler.report(of: ResourceAddress("https://h/a.m3u8"))
        #expect(work.pendingBytes == Int64(size + report.count) && work.pendingRequests == 1)
        withExtendedLifetime(budget) {}
    }

    /// The addresses of the children make a multivariant playlist several times as large; the source, which is within the limit, is
    /// never sent in its place.
    @Test func multivariantPlaylistWhoseAddressesExceedTheLimitIsNotSentUnedited() async throws {
        let source = "#EXTM3U\n" + (0..<450).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\nv\($0).m3u8\n" }.joined()
        let limit = Int64(source.utf8.count) + 1_000
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(editing: EditLimits(resultBytes: ByteCount(limit)))
        } _: { (stage: ServerStage) async throws in
            stage.serve("/top.m3u8", source)
            let address = "/play.m3u8?url=\(stage.origin.address("/top.m3u8"))"
            let encoded = PercentEncoding.encode(address)
            for target in [address, address, address + "&absolute", "/api/playback/playlist?address=\(encoded)"] {
                let response = try await stage.ask(target)
                #expect(response.status == 413, "\(target): \(response.head)")
                #expect(response.errorCode == "playlist-too-large", "\(target)")
                #expect(!response.body.contains("#EXT"), "\(target): \(response.body.prefix(200))")
            }
            // An edit that leaves few variants makes the result small enough.
            let limited = try await stage.ask(address + "&bandwidth=1...5")
            #expect(limited.status == 200, "\(limited.body)")
            let children = limited.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(children.count == 5 && children.allSatisfy { $0.hasPrefix("/play.m3u8?url=") }, "\(limited.body)")
        }
    }

    /// Without a limit that is exceeded, each child is that of the server.
    @Test func multivariantPlaylistHasTheAddressesOfTheServer() async throws {
        let source = "#EXTM3U\n" + (0..<450).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\nv\($0).m3u8\n" }.joined()
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.serve("/top.m3u8", source)
            let response = try await stage.ask("/play.m3u8?url=\(stage.origin.address("/top.m3u8"))")
            let children = response.body.split(separator: "\n").filter { !$0.hasPrefix("#") }
            #expect(response.status == 200 && children.count == 450)
            #expect(children.allSatisfy { $0.hasPrefix("/play.m3u8?url=") })
        }
    }

    /// A segment is in memory as it was received, with its initialization segment, and as it is sent.
    @Test(arguments: [(3_500, 501, "not-repackaged"), (2_999, 503, "busy")] as [(Int64, Int, String)])
    func segmentOfThePageIsReservedThreeTimes(pendingBytes: Int64, status: Int, code: String) async throws {
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(pendingBytes: ByteCount(pendingBytes))
        } _: { (stage: ServerStage) async throws in
            stage.origin.set("/private.ts", .init([UInt8](repeating: 7, count: 1_000), contentType: "video/mp2t"))
            let address = PercentEncoding.encode("/play.m3u8?url=\(stage.privateSource)")
            let response = try await stage.ask("/api/playback/segment?segment=0&address=\(address)")
            #expect(response.status == status && response.errorCode == code, "\(response.body)")
        }
    }

    /// A part of subtitles is made from the whole file, so the whole file counts against the limit of a request.
    @Test(arguments: [(400, 200), (399, 413)] as [(Int64, Int)])
    func subtitlesThatArePartlySentHaveALimit(loadedBytes: Int64, status: Int) async throws {
        let cues = "WEBVTT\n\n00:01.000 --> 00:02.000\nfirst\n\n00:15.000 --> 00:16.000\nsecond\n\n"
        let text = cues + "NOTE " + String(repeating: "a", count: 400 - cues.utf8.count - 6) + "\n"
        try #require(text.utf8.count == 400)
        try await ServerStage.run { options, _ in
            options.limits = ServerLimits(editing: EditLimits(loadedBytes: ByteCount(loadedBytes)))
        } _: { (stage: ServerStage) async throws in
            stage.serve("/subs.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:20\n#EXTINF:20,\nall.vtt\n#EXT-X-ENDLIST\n")
            stage.origin.set("/all.vtt", .text(text, contentType: "text/vtt"))
            stage.origin.behave("/all.vtt", .proper)
            let part = try await stage.segment(
                of: stage.origin.address("/subs.m3u8"),
                query: "&split=10&trim=10...20"
            )
            let response = try await stage.ask(part)
            #expect(response.status == status, "\(response.body)")
            #expect(response.body.contains("second") == (status == 200))
        }
    }

    /// Without the limit, the download would end at once.
    @Test func downloadsHaveAMaximumRate() async throws {
        try await ServerStage.run { options, _ in
            options.maximumDownloadRate = BitRate(bitsPerSecond: 80_000)
        } _: { (stage: ServerStage) async throws in
            stage.origin.set("/private.ts", .init([UInt8](repeating: 7, count: 4 << 20), contentType: "video/mp2t"))
            var events = try await stage.listen()
            let order = #"{"url":"\#(stage.privateSource)"}"#
            let started = try await stage.ask(
                "/api/downloads",
                method: "POST",
                fields: ["Content-Type: application/json", "Content-Length: \(order.utf8.count)"],
                body: order
            )
            #expect(started.status == 202, "\(started.body)")
            let id = String(try #require(started.body.firstMatch(of: /"id":"([^"]+)"/)).1)
            _ = try await events.next { $0.contains(#""activity":"downloading""#) }
            try await Task.sleep(for: .milliseconds(300))
            let assets = try await stage.ask("/api/library").body
            #expect(assets.contains(#""activity":"downloading""#), "\(assets)")
            #expect(try await stage.ask("/api/downloads/\(id)", method: "DELETE").status == 204)
            _ = try await events.next { $0.contains(#""activity":"idle""#) }
        }
    }
}

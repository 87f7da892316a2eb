import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tests that edited playlists are used again exactly while their sources do not change.
@Suite struct EditedPlaylistCacheTests {
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n%\n#EXTINF:4,\nb.ts\n#EXT-X-ENDLIST\n"

    private func resource(_ text: String, _ fields: (String, String)...) -> MisbehavingServer.Resource {
        var resource = MisbehavingServer.Resource.text(
            text.replacing("%", with: "a.ts"),
            contentType: "application/vnd.apple.mpegurl"
        )
        resource.fields += fields.map { MisbehavingServer.Field($0.0, $0.1) }
        return resource
    }

    private func edited(
        _ stage: ServerStage,
        _ query: String = "&duration=4",
        _ fields: [String] = []
    ) async throws -> RawResponse {
        try await stage.ask("/play.m3u8?url=\(stage.origin.address("/private.m3u8"))\(query)", fields: fields)
    }

    private func count(_ stage: ServerStage) -> Int { stage.requests.count { $0.path.hasSuffix("/private.m3u8") } }

    @Test func freshSourceIsLoadedOnce() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", resource(Self.playlist, ("Cache-Control", "max-age=600")))
            let first = try await edited(stage)
            #expect(first.status == 200 && first.body.contains("EXT-X-ENDLIST") && !first.body.contains("b.ts"))
            #expect(try await edited(stage).body == first.body)
            // Another edit uses the same source.
            #expect(try await edited(stage, "&start=4").body.contains("b.ts"))
            #expect(count(stage) == 1)
        }
    }

    @Test func changedSourceIsEditedAgain() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", resource(Self.playlist))
            let first = try await edited(stage)
            #expect(try await edited(stage).body == first.body && count(stage) == 2)
            stage.origin.set("/private.m3u8", resource(Self.playlist.replacing("%", with: "c.ts")))
            #expect(try await edited(stage).body.contains("c.ts"))
        }
    }

    @Test func clientValidatesItsPlaylist() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let first = try await edited(stage)
            let tag = try #require(first.field("ETag"))
            for value in [tag, "\"x\", \(tag)", "W/\(tag)", "*"] {
                let again = try await edited(stage, "&duration=4", ["If-None-Match: \(value)"])
                #expect(again.status == 304 && again.body.isEmpty && again.field("ETag") == tag, "\(value)")
            }
            for value in ["\"x\"", "", tag + "x"] {
                #expect(try await edited(stage, "&duration=4", ["If-None-Match: \(value)"]).status == 200)
            }
        }
    }

    @Test func longPlaylistsAreCompressedForClientsThatAcceptIt() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let segments = (0..<500).map { "#EXTINF:4,\nsegment-\($0).ts\n" }.joined()
            let long = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments + "#EXT-X-ENDLIST\n"
            stage.origin.set("/private.m3u8", resource(long))
            let plain = try await edited(stage, "&absolute")
            #expect(plain.field("Content-Encoding") == nil && plain.field("Vary")?.contains("Accept-Encoding") == true)
            let address = "http://127.0.0.1:\(stage.port)/play.m3u8?url=\(stage.privateSource)&absolute"
            let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: address)))
            // The client of Foundation accepts compressed responses and decompresses them.
            let httpResponse = try #require(response as? HTTPURLResponse)
            #expect(httpResponse.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
            #expect(String(decoding: data, as: UTF8.self).count == plain.body.count)
            let tag = try #require(httpResponse.value(forHTTPHeaderField: "ETag"))
            #expect(tag != plain.field("ETag"))
            for accepted in ["Accept-Encoding: gzip", "Accept-Encoding: br, *"] {
                let compressed = try await edited(stage, "&absolute", [accepted])
                #expect(compressed.field("Content-Encoding") == "gzip" && compressed.field("ETag") == tag)
                #expect(try await edited(stage, "&absolute", [accepted, "If-None-Match: \(tag)"]).status == 304)
            }
            for refused in ["Accept-Encoding: gzip;q=0", "Accept-Encoding: br", "Accept-Encoding: identity, *;q=0"] {
                #expect(try await edited(stage, "&absolute", [refused]).field("Content-Encoding") == nil)
            }
            #expect(try await edited(stage, "&duration=4", ["Accept-Encoding: gzip"]).field("Content-Encoding") == nil)
        }
    }

    /// A page of another site must not see what was loaded with the credentials of the owner.
    @Test func pageOfAnotherSiteDoesNotReceiveTheMemoryOfTheOwner() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", resource(Self.playlist, ("Cache-Control", "max-age=600")))
            #expect(try await edited(stage).status == 200)
            let foreign = try await edited(stage, "&duration=4", ["Origin: https://other.example"])
            #expect(foreign.status == 403)
        }
    }

    @Test func failureIsNotKept() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.behave("/private.m3u8", .status(503))
            #expect(try await edited(stage).status >= 500)
            stage.origin.behave("/private.m3u8", .proper)
            #expect(try await edited(stage).status == 200)
        }
    }

    @Test func simulatedChannelAdvances() async throws {
        let now = Mutex<Int64>(1_000)
        let cache = EditedPlaylistCache { UnixSeconds(now.withLock { $0 }) }
        let key = EditedPlaylistCache.Key(target: "/", authority: "h", isForeign: false)
        cache.store(EditedPlaylistCache.Entry([1], versions: [:], second: UnixSeconds(1_000)), for: key)
        #expect(cache.entry(for: key) != nil)
        now.withLock { $0 += 1 }
        #expect(cache.entry(for: key) == nil)
    }

    @Test func cacheIsBounded() {
        let cache = EditedPlaylistCache(size: ByteCount(100_000)) { UnixSeconds(0) }
        func key(_ number: Int) -> EditedPlaylistCache.Key {
            EditedPlaylistCache.Key(target: "/\(number)", authority: "h", isForeign: false)
        }
        let bytes = [UInt8](repeating: 0, count: 5_000)
        for number in 0..<1_000 {
            cache.store(EditedPlaylistCache.Entry(bytes, versions: [:], second: nil), for: key(number))
        }
        let kept = (0..<1_000).filter { cache.entry(for: key($0)) != nil }
        #expect(kept.count <= 14 && kept.last == 999)
    }

    @Test func keysAndSourcesAreCounted() {
        let text = String(repeating: "x", count: 10_000)
        func keptCount(_ target: String, _ authority: String, _ source: String) -> Int {
            let cache = EditedPlaylistCache(size: ByteCount(100_000)) { UnixSeconds(0) }
            let keys = (0..<100).map {
                EditedPlaylistCache.Key(target: "/\($0)\(target)", authority: authority, isForeign: false)
            }
            let versions: [ResourceAddress: UInt64] = [ResourceAddress("https://h/\(source)"): 1]
            for key in keys { cache.store(EditedPlaylistCache.Entry([1], versions: versions, second: nil), for: key) }
            return keys.count { cache.entry(for: $0) != nil }
        }
        #expect(keptCount("", "h", "") > 20)
        for count in [keptCount(text, "h", ""), keptCount("", text, ""), keptCount("", "h", text)] {
            #expect((1...8).contains(count))
        }
    }

    @Test(arguments: [
        ("/play.m3u8?url=a&_HLS_x=1", "/play.m3u8?url=a"), ("/play.m3u8?_HLS_&url=a", "/play.m3u8?url=a"),
        ("/play.m3u8?url=a&%5FHLS_x=1&duration=4", "/play.m3u8?url=a&duration=4"), ("/play.m3u8?_HLS_x", "/play.m3u8?"),
        ("/play.m3u8?url=a&_HLS_msn=4&_HLS_part=1", "/play.m3u8?url=a&_HLS_msn=4&_HLS_part=1"),
        ("/play.m3u8?url=a&_HLS_skip=YES&_HLS_primary_id=x", "/play.m3u8?url=a&_HLS_skip=YES&_HLS_primary_id=x"),
        ("/play.m3u8?url=a%26_HLS_x=1&&b", "/play.m3u8?url=a%26_HLS_x=1&&b"), ("/play.m3u8", "/play.m3u8"),
        ("/play.m3u8?_HLS_x=1&\u{301}y&url=a", "/play.m3u8?\u{301}y&url=a"),
    ])
    func ignoredParametersAreNotPartOfTheKey(target: String, meaningful: String) {
        #expect(PlaybackRequest.meaningfulTarget(target) == meaningful)
    }

    /// Requests that differ in ignored parameters have one edited playlist.
    @Test func ignoredParametersDoNotMultiplyPlaylists() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            stage.origin.set("/private.m3u8", resource(Self.playlist, ("Cache-Control", "max-age=600")))
            for number in 0..<4 { #expect(try await edited(stage, "&duration=4&_HLS_x=\(number)").status == 200) }
            let metrics = try await stage.ask("/metrics").body
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"edited\"} 1"), "\(metrics)")
            #expect(metrics.contains("millstream_edited_playlists_total{sources=\"fresh\"} 3"), "\(metrics)")
        }
    }
}

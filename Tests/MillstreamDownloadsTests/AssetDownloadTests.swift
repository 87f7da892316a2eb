import AssetStorage
import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// A library in a temporary directory that is removed when the object is deallocated.
final class TemporaryLibrary {
    let directory: URL
    let library: AssetLibrary

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        library = try AssetLibrary(directory: directory)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func text(_ path: String, of id: String) throws -> String {
        try String(contentsOf: library.packageDirectory(id).appendingPathComponent(path), encoding: .utf8)
    }
}

/// A transport that delays the last byte of one response until it is released.
final class BlockingTransport: Transport {
    private let base: ScriptedTransport
    private let held: [String]
    private let gate = AsyncStream<Void>.makeStream()

    init(_ base: ScriptedTransport, blocking addresses: String...) {
        self.base = base
        held = addresses
    }

    func release() { gate.continuation.finish() }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        guard held.contains(request.address.text) else { return response }
        var whole = ByteBuffer()
        for try await buffer in response.body { whole.writeImmutableBuffer(buffer) }
        let (parts, part) = AsyncStream<ByteBuffer>.makeStream()
        part.yield(whole.readSlice(length: whole.readableBytes - 1) ?? ByteBuffer())
        let rest = whole
        Task {
            for await _ in gate.stream {}
            part.yield(rest)
            part.finish()
        }
        return response.replacingBody(with: TransportBody(parts), record: TransferRecord())
    }
}

@Suite struct DownloadTaskTests {
    private let temporary: TemporaryLibrary
    private let origin = "https://origin.example/film/"

    init() throws {
        temporary = try TemporaryLibrary()
    }

    /// Returns a stream with two variants, separate audio and subtitles, encrypted with two keys.
    private func film() -> ScriptedTransport {
        let video = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:4
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="/keys/1?t=a",IV=0x01
            #EXTINF:4,
            0.m4s?sig=a%2Fb
            #EXT-X-KEY:METHOD=AES-128,URI="/keys/2?t=a",IV=0x02
            #EXTINF:2.5,
            1.m4s?sig=c
            #EXT-X-ENDLIST

            """
        let audio = "#EXTM3U\n#EXT-X-TARGETDURATION:7\n#EXTINF:6.52,\na.aac\n#EXT-X-ENDLIST\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:7\n#EXTINF:6.5,\nsub.vtt\n#EXT-X-ENDLIST\n"
        var responses: [String: [ScriptedTransport.Response]] = [
            "top.m3u8": [
                .text(
                    """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="K",LANGUAGE="ko",URI="ko.m3u8"
                    #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",LANGUAGE="en",URI="text.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,AUDIO="a",SUBTITLES="s"
                    low/v.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO="a",SUBTITLES="s"
                    high/v.m3u8
                    #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,URI="i.m3u8"

                    """
                )
            ],
            "low/v.m3u8": [.text(video)], "high/v.m3u8": [.text(video)],
            "en.m3u8": [.text(audio)], "ko.m3u8": [.text(audio)], "text.m3u8": [.text(text)],
            "a.aac": [.bytes(Array("sound".utf8))], "sub.vtt": [.text("WEBVTT\n")],
        ]
        for folder in ["low/", "high/"] {
            responses[folder + "init.mp4"] = [.bytes(Array("init".utf8))]
            responses[folder + "0.m4s?sig=a%2Fb"] = [.bytes(Array("zero".utf8))]
            responses[folder + "1.m4s?sig=c"] = [.bytes(Array("one".utf8))]
        }
        let transport = ScriptedTransport(
            Dictionary(uniqueKeysWithValues: responses.map { (origin + $0.key, $0.value) })
        )
        transport.setResponses(for: "https://origin.example/keys/1?t=a", .bytes(Array(repeating: 1, count: 16)))
        transport.setResponses(for: "https://origin.example/keys/2?t=a", .bytes(Array(repeating: 2, count: 16)))
        return transport
    }

    private func task(
        _ transport: ScriptedTransport,
        _ selection: DownloadSelection = DownloadSelection(),
        source: String = "top.m3u8",
        retries: Int = 0
    ) -> AssetDownload {
        AssetDownload(
            ResourceAddress(origin + source),
            into: temporary.library,
            loader: ResourceLoader(
                transport,
                policy: RecoveryPolicy(rule: .init(maximumRetries: retries, initialDelay: .milliseconds(1)))
            ),
            configuration: DownloadConfiguration(selection: selection)
        )
    }

    @Test(arguments: ["\n", "\r\n"]) func sessionKeysNameTheStoredKeys(lineEnd: String) async throws {
        let transport = film()
        let top = """
            #EXTM3U
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="../keys/1?t=a"
            #EXT-X-SESSION-KEY:METHOD=AES-128,URI="/keys/other"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360
            low/v.m3u8

            """
        transport.setResponses(for: origin + "top.m3u8", .text(top.replacing("\n", with: lineEnd)))
        let asset = try await task(transport).run()
        let package = temporary.library.packageDirectory(asset.id)
        let stored = package.appendingPathComponent("multivariant.m3u8")
        let playlist = try MultivariantPlaylist(parsing: Array(Data(contentsOf: stored)))
        #expect(playlist.sessionKeys.count == 1)
        let path = try #require(playlist.sessionKeys.first?.uri)
        #expect(try Data(contentsOf: package.appendingPathComponent(path)) == Data(repeating: 1, count: 16))
        // A package of an earlier version has no session keys, which is no damage.
        let lines = String(decoding: playlist.bytes, as: UTF8.self).components(separatedBy: lineEnd)
        let former = lines.filter { !$0.contains("SESSION-KEY") }.joined(separator: lineEnd)
        try Data(former.utf8).write(to: stored)
        #expect(try temporary.library.verify(asset.id).damaged.isEmpty)
        // A change of another line is.
        try Data(former.replacing("BANDWIDTH=800000", with: "BANDWIDTH=900000").utf8).write(to: stored)
        #expect(try temporary.library.verify(asset.id).damaged == ["multivariant.m3u8"])
        #expect(try Data(contentsOf: stored).count == playlist.bytes.count, "it is written again")
    }

    @Test func packageContainsEverythingNeededForPlayback() async throws {
        let asset = try await task(film()).run()
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.percent == 100)
        #expect(asset.renditions.map(\.folder) == ["variant-1", "audio-0", "audio-1", "subtitles-2"])
        #expect(asset.duration == MediaTime(decimal: "6.52"))
        #expect(asset.title == "top")
        let top = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(top.contains("variant-1/media.m3u8") && !top.contains("low/v.m3u8") && !top.contains("I-FRAME"))
        #expect(top.contains(#"URI="audio-1/media.m3u8""#) && !top.contains("http"))
        let video = try temporary.text("variant-1/media.m3u8", of: asset.id)
        #expect(!video.contains("sig=") && !video.contains("/keys/"))
        // All files that a player will request are stored.
        for line in video.split(separator: "\n") {
            let name =
                line.firstMatch(of: /URI="([^"]+)"/).map { String($0.1) } ?? (line.hasPrefix("#") ? nil : String(line))
            guard let name else { continue }
            #expect(temporary.library.file("variant-1/\(name)", of: asset.id) != nil, "\(name)")
        }
    }

    @Test func keysAreReadableByTheOwnerOnly() async throws {
        let asset = try await task(film()).run()
        let keys = try temporary.library.resources(asset.id).filter { $0.kind == .key }
        #expect(keys.count == 2)
        for key in keys {
            let path = temporary.library.packageDirectory(asset.id).appendingPathComponent(key.path).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func signedAddressesAreSentUnchanged() async throws {
        let transport = film()
        try await task(transport).run()
        #expect(transport.requestedAddresses.contains(origin + "high/0.m4s?sig=a%2Fb"))
    }

    @Test(arguments: [
        (DownloadSelection(variants: .lowest), ["variant-0", "audio-0", "audio-1", "subtitles-2"]),
        (DownloadSelection(variants: .all, audio: .defaults, subtitles: .none), ["variant-0", "variant-1", "audio-0"]),
        (
            DownloadSelection(variants: .maximumHeight(500), audio: .some(["ko"])),
            ["variant-0", "audio-1", "subtitles-2"]
        ),
        (
            DownloadSelection(
                variants: .minimumBandwidth(BitRate(bitsPerSecond: 265_000)),
                audio: .none,
                subtitles: .none
            ),
            ["variant-0"]
        ),
        (
            DownloadSelection(
                variants: .minimumBandwidth(BitRate(bitsPerSecond: 9_000_000)),
                audio: .none,
                subtitles: .none
            ),
            ["variant-1"]
        ),
    ])
    func selectionDeterminesTheStoredRenditions(selection: DownloadSelection, folders: [String]) async throws {
        let asset = try await task(film(), selection).run()
        #expect(asset.renditions.map(\.folder) == folders && asset.isPlayableOffline)
    }

    @Test func groupsWithoutStoredRenditionsAreRemoved() async throws {
        let asset = try await task(film(), DownloadSelection(audio: .none, subtitles: .none)).run()
        let top = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(!top.contains("AUDIO") && !top.contains("SUBTITLES"))
        #expect(top.contains("BANDWIDTH=3000000,RESOLUTION=1280x720\n"))
    }

    @Test func runningAgainFetchesOnlyMissingFiles() async throws {
        let transport = film()
        transport.setResponses(
            for: origin + "high/1.m4s?sig=c",
            .failure(TransportError(.status, "gone", status: 404))
        )
        await #expect(throws: DownloadError.self) { try await task(transport).run() }
        let partial = try #require(try temporary.library.asset(source: ResourceAddress(origin + "top.m3u8")))
        #expect(partial.state == .partial && !partial.isPlayableOffline && partial.percent < 100)
        #expect(partial.loadedTimeRanges.ranges.first?.end == MediaTime(seconds: 4))

        let second = film()
        let asset = try await task(second).run()
        #expect(asset.id == partial.id && asset.state == .complete)
        let media = second.requestedAddresses.filter { !$0.hasSuffix(".m3u8") }
        #expect(media == [origin + "high/1.m4s?sig=c"])
    }

    @Test func newSignaturesDoNotCauseAnotherDownload() async throws {
        let first = try await task(film()).run()
        let again = film()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:7\n#EXTINF:6.52,\na.aac?sig=new\n#EXT-X-ENDLIST\n"
        again.setResponses(for: origin + "en.m3u8", .text(text))
        again.setResponses(for: origin + "ko.m3u8", .text(text))
        let second = try await task(again).run()
        #expect(second.id == first.id && second.state == .complete)
        #expect(again.requestedAddresses.allSatisfy { $0.hasSuffix(".m3u8") })
    }

    /// These segments differ only in their queries.
    @Test func otherMediaAtTheSamePathIsFetched() async throws {
        func transport(_ ids: [String]) -> ScriptedTransport {
            let lines = ids.map { "#EXTINF:4,\nget?id=\($0)\n" }.joined()
            var texts = Dictionary(uniqueKeysWithValues: ids.map { (origin + "get?id=\($0)", "media \($0)") })
            texts[origin + "q.m3u8"] = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"
            return ScriptedTransport(texts: texts)
        }
        let asset = try await task(transport(["1", "2"]), source: "q.m3u8").run()
        try await task(transport(["3", "4"]), source: "q.m3u8").run()
        #expect(try temporary.text("media/000001.ts", of: asset.id) == "media 4")
    }

    /// A variant was inserted before the stored one, which is recognized and keeps its directory.
    @Test func variantAtAnotherPositionIsNotFetchedAgain() async throws {
        let first = try await task(film(), DownloadSelection(variants: .best, audio: .none, subtitles: .none)).run()
        #expect(first.renditions.map(\.folder) == ["variant-1"])
        let changed = film()
        changed.setResponses(
            for: origin + "top.m3u8",
            .text(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=320x180
                tiny/v.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360
                low/v.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720
                high/v.m3u8

                """
            )
        )
        let selection = DownloadSelection(
            variants: .maximumHeight(400),
            audio: .none,
            subtitles: .none
        )
        let second = try await task(changed, selection).run()
        #expect(
            second.id == first.id
                && second.renditions.compactMap { $0.bandwidth?.bitsPerSecond }.sorted() == [800_000, 3_000_000]
        )
        #expect(Set(second.renditions.map(\.folder)).count == 2)
        #expect(!changed.requestedAddresses.contains { $0.contains("high/") })
        let top = try temporary.text("multivariant.m3u8", of: first.id)
        let best = try #require(top.split(separator: "\n").drop { !$0.contains("BANDWIDTH=3000000") }.dropFirst().first)
        #expect(best == "variant-1/media.m3u8", "the best variant is still the one that was kept first")
    }

    /// A stored playlist cannot import variables, because the definitions of the multivariant playlist are not stored.
    @Test func importedVariablesAreSubstitutedInStoredPlaylists() async throws {
        let transport = ScriptedTransport(texts: [
            origin + "v.m3u8": """
            #EXTM3U
            #EXT-X-DEFINE:NAME="cdn",VALUE="https://cdn.example/"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            m.m3u8

            """,
            origin + "m.m3u8": """
            #EXTM3U
            #EXT-X-DEFINE:IMPORT="cdn"
            #EXT-X-TARGETDURATION:4
            #EXTINF:4,
            {$cdn}a.ts
            #EXT-X-ENDLIST

            """,
            "https://cdn.example/a.ts": "media",
        ])
        let asset = try await task(transport, source: "v.m3u8").run()
        let kept = try temporary.text("variant-0/media.m3u8", of: asset.id)
        #expect(kept.contains("\n000000.ts\n") && !kept.contains("{$") && !kept.contains("IMPORT"))
        #expect(try await task(transport, source: "v.m3u8").run().state == .complete)
    }

    @Test(arguments: ["a.html", "a.svg", "a.m3u8", "a.js", "a"])
    func storedFilesHaveNoExtensionThatABrowserWouldExecute(name: String) async throws {
        let transport = ScriptedTransport(texts: [
            origin + "e.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)\n#EXT-X-ENDLIST\n",
            origin + name: "media",
        ])
        let asset = try await task(transport, source: "e.m3u8").run()
        #expect(try temporary.text("media/000000.ts", of: asset.id) == "media")
    }

    @Test func anotherSelectionAddsToTheStoredAsset() async throws {
        let low = try await task(film(), DownloadSelection(variants: .lowest, audio: .defaults, subtitles: .none)).run()
        let transport = film()
        let both = try await task(transport, DownloadSelection(variants: .best, audio: .defaults, subtitles: .none))
            .run()
        #expect(both.id == low.id && Set(both.renditions.map(\.folder)) == ["variant-0", "variant-1", "audio-0"])
        #expect(!transport.requestedAddresses.contains(origin + "a.aac"))
    }

    @Test func missingFilesAreFetchedAgain() async throws {
        let asset = try await task(film()).run()
        let lost = temporary.library.packageDirectory(asset.id).appendingPathComponent("audio-0/000000.aac")
        try FileManager.default.removeItem(at: lost)
        #expect(try temporary.library.removeMissingFilesFromCatalog(asset.id) == ["audio-0/000000.aac"])
        #expect(try temporary.library.asset(asset.id).state == .partial)
        let transport = film()
        #expect(try await task(transport).run().state == .complete)
        #expect(transport.requestedAddresses.filter { !$0.hasSuffix(".m3u8") } == [origin + "a.aac"])
    }

    /// After a crash of the machine, a file name may exist without its content.
    @Test func fileThatIsNotInTheCatalogIsFetchedAgain() async throws {
        let asset = try await task(film()).run()
        let database = try DatabaseQueue(path: temporary.directory.appendingPathComponent("catalogue.sqlite").path)
        try await database.write {
            try $0.execute(sql: "UPDATE resource SET bytes = NULL, checksum = NULL WHERE kind = 'segment'")
        }
        let torn = temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-1/000000.m4s")
        try Data([0, 0, 0, 0]).write(to: torn)
        #expect(temporary.library.file("variant-1/000000.m4s", of: asset.id) == nil)
        let transport = film()
        #expect(try await task(transport).run().state == .complete)
        let media = transport.requestedAddresses.filter { !$0.hasSuffix(".m3u8") }
        #expect(
            media.sorted() == [
                origin + "a.aac", origin + "a.aac", origin + "high/0.m4s?sig=a%2Fb", origin + "high/1.m4s?sig=c",
            ]
        )
        #expect(try temporary.text("variant-1/000000.m4s", of: asset.id) == "zero")
    }

    @Test func fileWithAWrongChecksumIsDetectedAndFetchedAgain() async throws {
        let asset = try await task(film()).run()
        let damaged = temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-1/000000.m4s")
        try Data("zerO".utf8).write(to: damaged)
        #expect(try temporary.library.removeMissingFilesFromCatalog(asset.id).isEmpty, "its size is right")
        #expect(
            try temporary.library.verify(asset.id)
                == VerificationResult(damaged: ["variant-1/000000.m4s"], withoutChecksum: 0)
        )
        #expect(try temporary.library.asset(asset.id).state == .partial)
        #expect(try temporary.library.verify(asset.id).damaged == ["variant-1/000000.m4s"], "it is still missing")
        let transport = film()
        #expect(try await task(transport).run().state == .complete)
        #expect(try temporary.library.verify(asset.id).damaged.isEmpty)
        #expect(transport.requestedAddresses.filter { !$0.hasSuffix(".m3u8") } == [origin + "high/0.m4s?sig=a%2Fb"])
        #expect(try temporary.text("variant-1/000000.m4s", of: asset.id) == "zero")
    }

    @Test func damagedPlaylistIsDetectedAndRewritten() async throws {
        let asset = try await task(film()).run()
        let (top, media) = ("multivariant.m3u8", "variant-1/media.m3u8")
        let before = (try temporary.text(top, of: asset.id), try temporary.text(media, of: asset.id))
        let package = temporary.library.packageDirectory(asset.id)
        try FileManager.default.removeItem(at: package.appendingPathComponent(top))
        try Data("#EXTM3U".utf8).write(to: package.appendingPathComponent(media))
        #expect(try temporary.library.verify(asset.id).damaged == [media, top])
        #expect(try temporary.text(top, of: asset.id) == before.0)
        #expect(try temporary.text(media, of: asset.id) == before.1)
        #expect(try temporary.library.verify(asset.id).damaged.isEmpty)
    }

    @Test func fileOfAnotherSizeRemainsMissingUntilItIsFetched() async throws {
        let asset = try await task(film()).run()
        let damaged = temporary.library.packageDirectory(asset.id).appendingPathComponent("audio-0/000000.aac")
        try Data("other".utf8 + [0]).write(to: damaged)
        #expect(try temporary.library.removeMissingFilesFromCatalog(asset.id) == ["audio-0/000000.aac"])
        #expect(try temporary.library.missingResources(asset.id).map(\.path) == ["audio-0/000000.aac"])
        #expect(try temporary.library.missingResources(asset.id).map(\.path) == ["audio-0/000000.aac"])
    }

    @Test func filesOfOtherMediaDoNotReplaceMissingFiles() async throws {
        func transport(_ duration: Int, _ media: String) -> ScriptedTransport {
            ScriptedTransport(texts: [
                origin + "v.m3u8": """
                #EXTM3U
                #EXT-X-TARGETDURATION:9
                #EXTINF:\(duration),
                a.ts
                #EXT-X-ENDLIST
                """,
                origin + "a.ts": media,
            ])
        }
        _ = try await task(transport(4, "first"), source: "v.m3u8").run()
        let asset = try await task(transport(5, "other"), source: "v.m3u8").run()
        #expect(try temporary.text("media/000000.ts", of: asset.id) == "other")
    }

    @Test func catalogOfAnEarlierVersionIsRead() async throws {
        let asset = try await task(film()).run()
        let path = temporary.directory.appendingPathComponent("catalogue.sqlite").path
        do {
            let database = try DatabaseQueue(path: path)
            // Version 1 stored bytes as JSON arrays.
            try await database.write { database in
                for row in try Row.fetchAll(database, sql: "SELECT id, playlist FROM rendition") {
                    let (id, playlist): (Int64, Data) = (row["id"], row["playlist"])
                    let json = String(decoding: try JSONEncoder().encode(Array(playlist)), as: UTF8.self)
                    try database.execute(sql: "UPDATE rendition SET playlist = ? WHERE id = ?", arguments: [json, id])
                }
                try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier = '2'")
            }
        }
        #expect(try AssetLibrary(directory: temporary.directory).asset(asset.id).duration == asset.duration)
    }

    @Test func liveStreamIsRejectedBeforeAnySegment() async throws {
        let transport = ScriptedTransport(texts: [
            origin + "live.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n"
        ])
        let error = await #expect(throws: DownloadError.self) {
            try await task(transport, source: "live.m3u8").run()
        }
        #expect(error?.code == .live)
        #expect(transport.requestedAddresses == [origin + "live.m3u8"])
        #expect(try temporary.library.assets().isEmpty)
    }

    @Test func protectedContentIsRejected() async throws {
        let transport = ScriptedTransport(texts: [
            origin + "p.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:4,
            a.ts
            #EXT-X-ENDLIST

            """
        ])
        let error = await #expect(throws: DownloadError.self) { try await task(transport, source: "p.m3u8").run() }
        #expect(error?.code == .contentProtected && error?.message.contains("streamingkeydelivery") == true)
        #expect(try temporary.library.assets().isEmpty)
    }

    @Test func byteRangesBecomeSeparateFiles() async throws {
        let bytes = (0..<100).map { UInt8($0) }
        let transport = ScriptedTransport([
            origin + "r.m3u8": [
                .text(
                    """
                    #EXTM3U
                    #EXT-X-VERSION:6
                    #EXT-X-TARGETDURATION:4
                    #EXT-X-MAP:URI="all.mp4",BYTERANGE="10@0"
                    #EXT-X-BYTERANGE:30@10
                    #EXTINF:4,
                    all.mp4
                    #EXT-X-BYTERANGE:40
                    #EXTINF:4,
                    all.mp4
                    #EXT-X-ENDLIST

                    """
                )
            ],
            origin + "all.mp4": [.bytes(bytes)],
        ])
        let asset = try await task(transport, source: "r.m3u8").run()
        let package = temporary.library.packageDirectory(asset.id)
        let second = try Data(contentsOf: package.appendingPathComponent("media/000001.mp4"))
        #expect(Array(second) == Array(bytes[40..<80]))
        let playlist = try temporary.text("media/media.m3u8", of: asset.id)
        #expect(!playlist.contains("BYTERANGE") && playlist.contains("#EXT-X-MAP:URI=\"init-"))
        #expect(try temporary.text("multivariant.m3u8", of: asset.id).contains("media/media.m3u8"))
        #expect(asset.bytes == ByteCount(80))
    }

    @Test(arguments: [
        ScriptedTransport.Response.bytes(Array("<html>".utf8), contentType: "text/html"),
        .truncated(Array("on".utf8), announced: 3), .failure(TransportError(.status, "no", status: 403)),
    ])
    func invalidSegmentIsNotStored(response: ScriptedTransport.Response) async throws {
        let transport = film()
        transport.setResponses(for: origin + "high/1.m4s?sig=c", response)
        await #expect(throws: DownloadError.self) { try await task(transport).run() }
        let asset = try #require(try temporary.library.assets().first)
        #expect(temporary.library.file("variant-1/000001.m4s", of: asset.id) == nil)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-1").path
        )
        #expect(!names.contains { $0.hasSuffix(".part") })
    }

    @Test func keyOfTheWrongSizeIsRejected() async throws {
        let transport = film()
        transport.setResponses(for: "https://origin.example/keys/1?t=a", .bytes(Array("denied".utf8)))
        let error = await #expect(throws: DownloadError.self) { try await task(transport).run() }
        #expect(error?.message.contains("instead of 16") == true)
    }

    @Test func transientFailureIsRetried() async throws {
        let transport = film()
        transport.setResponses(
            for: origin + "high/1.m4s?sig=c",
            .failure(TransportError(.status, "busy", status: 503)),
            .truncated(Array("on".utf8), announced: 3),
            .bytes(Array("one".utf8))
        )
        let asset = try await task(transport, retries: 3).run()
        #expect(asset.state == .complete)
        #expect(transport.requestedAddresses.filter { $0.contains("high/1.m4s") }.count == 3)
    }

    @Test func progressIncreasesTo100Percent() async throws {
        let events = Mutex<[DownloadProgress]>([])
        try await task(film()).run { event in
            switch event {
            case .resolved(_, let progress, _), .progress(_, let progress): events.withLock { $0.append(progress) }
            case .ended, .completed, .waiting, .lost, .metadataOmitted, .keyNotVerified: break
            }
        }
        let percents = events.withLock { $0.map(\.percent) }
        #expect(percents.first == 0 && percents.last == 100 && percents == percents.sorted())
    }

    /// Progress is reported during the transfer of a file, not only after it is complete.
    @Test(.timeLimit(.minutes(10))) func receivedBytesOfAnUnfinishedFileCount() async throws {
        let whole = try await task(film()).run()
        try temporary.library.delete(whole.id)
        let transport = BlockingTransport(film(), blocking: origin + "high/1.m4s?sig=c")
        let held = AssetDownload(
            ResourceAddress(origin + "top.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport),
            configuration: DownloadConfiguration(selection: DownloadSelection())
        )
        let wasSeen = Mutex(false)
        try await held.run { event in
            guard case .progress(_, let progress) = event, progress.bytes.bytes == whole.bytes.bytes - 1 else { return }
            wasSeen.withLock { $0 = progress.percent < 100 }
            transport.release()
        }
        #expect(wasSeen.withLock { $0 })
    }

    @Test func deletingRemovesAllFilesAndMayBeRepeated() async throws {
        let asset = try await task(film()).run()
        try temporary.library.delete(asset.id)
        try temporary.library.delete(asset.id)
        #expect(try temporary.library.assets().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: temporary.library.packageDirectory(asset.id).path))
    }

    @Test func libraryCanBeMoved() async throws {
        let asset = try await task(film()).run()
        let moved = temporary.directory.deletingLastPathComponent().appendingPathComponent("moved-\(UUID())")
        try FileManager.default.copyItem(at: temporary.directory, to: moved)
        defer { try? FileManager.default.removeItem(at: moved) }
        let library = try AssetLibrary(directory: moved)
        #expect(try library.asset(asset.id) == asset)
        #expect(library.file("multivariant.m3u8", of: asset.id)?.path.hasPrefix(moved.path) == true)
    }
}

import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

/// A library in a folder of its own, which goes with it.
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

@Suite struct DownloadTaskTests {
    private let temporary: TemporaryLibrary
    private let origin = "https://origin.example/film/"

    init() throws {
        temporary = try TemporaryLibrary()
    }

    /// Two variants with sound apart and subtitles, encrypted with two keys.
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
        var answers: [String: [ScriptedTransport.Answer]] = [
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
            answers[folder + "init.mp4"] = [.bytes(Array("init".utf8))]
            answers[folder + "0.m4s?sig=a%2Fb"] = [.bytes(Array("zero".utf8))]
            answers[folder + "1.m4s?sig=c"] = [.bytes(Array("one".utf8))]
        }
        let transport = ScriptedTransport(Dictionary(uniqueKeysWithValues: answers.map { (origin + $0.key, $0.value) }))
        transport.answer("https://origin.example/keys/1?t=a", with: .bytes(Array(repeating: 1, count: 16)))
        transport.answer("https://origin.example/keys/2?t=a", with: .bytes(Array(repeating: 2, count: 16)))
        return transport
    }

    private func task(
        _ transport: ScriptedTransport,
        _ selection: DownloadSelection = DownloadSelection(),
        source: String = "top.m3u8",
        retries: Int = 0
    ) -> DownloadTask {
        DownloadTask(
            ResourceAddress(origin + source),
            into: temporary.library,
            loading: ResourceLoading(
                transport,
                policy: LoadErrorPolicy(retries: retries, firstDelay: .milliseconds(1))
            ),
            options: DownloadTask.Options(selection: selection)
        )
    }

    @Test func aPackageHoldsEverythingThatPlayingNeeds() async throws {
        let asset = try await task(film()).run()
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.percent == 100)
        #expect(asset.renditions.map(\.folder) == ["variant-1", "audio-0", "audio-1", "subtitles-2"])
        #expect(asset.duration == MediaTime(decimal: "6.52") && asset.title == "film" || asset.title == "top.m3u8")
        let top = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(top.contains("variant-1/media.m3u8") && !top.contains("low/v.m3u8") && !top.contains("I-FRAME"))
        #expect(top.contains(#"URI="audio-1/media.m3u8""#) && !top.contains("http"))
        let video = try temporary.text("variant-1/media.m3u8", of: asset.id)
        #expect(!video.contains("sig=") && !video.contains("/keys/"))
        // Everything that a player will look for lies there.
        for line in video.split(separator: "\n") {
            let name =
                line.firstMatch(of: /URI="([^"]+)"/).map { String($0.1) } ?? (line.hasPrefix("#") ? nil : String(line))
            guard let name else { continue }
            #expect(temporary.library.file("variant-1/\(name)", of: asset.id) != nil, "\(name)")
        }
    }

    @Test func keysAreKeptForTheOwnerOnly() async throws {
        let asset = try await task(film()).run()
        let keys = try temporary.library.resources(asset.id).filter { $0.kind == .key }
        #expect(keys.count == 2)
        for key in keys {
            let path = temporary.library.packageDirectory(asset.id).appendingPathComponent(key.path).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func signedAddressesAreSentAsTheyAre() async throws {
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
    func selectionsTakeWhatTheySay(selection: DownloadSelection, folders: [String]) async throws {
        let asset = try await task(film(), selection).run()
        #expect(asset.renditions.map(\.folder) == folders && asset.isPlayableOffline)
    }

    @Test func groupsWithoutKeptRenditionsAreNotNamed() async throws {
        let asset = try await task(film(), DownloadSelection(audio: .none, subtitles: .none)).run()
        let top = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(!top.contains("AUDIO") && !top.contains("SUBTITLES"))
        #expect(top.contains("BANDWIDTH=3000000,RESOLUTION=1280x720\n"))
    }

    @Test func runningAgainFetchesOnlyWhatIsMissing() async throws {
        let transport = film()
        transport.answer(
            origin + "high/1.m4s?sig=c",
            with: .failure(TransportError(.status, "gone", status: 404))
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

    @Test func freshSignaturesDoNotFetchAgain() async throws {
        let first = try await task(film()).run()
        let again = film()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:7\n#EXTINF:6.52,\na.aac?sig=new\n#EXT-X-ENDLIST\n"
        again.answer(origin + "en.m3u8", with: .text(text))
        again.answer(origin + "ko.m3u8", with: .text(text))
        let second = try await task(again).run()
        #expect(second.id == first.id && second.state == .complete)
        #expect(again.requestedAddresses.allSatisfy { $0.hasSuffix(".m3u8") })
    }

    @Test func anotherSelectionAddsToWhatIsThere() async throws {
        let low = try await task(film(), DownloadSelection(variants: .lowest, audio: .defaults, subtitles: .none)).run()
        let transport = film()
        let both = try await task(transport, DownloadSelection(variants: .best, audio: .defaults, subtitles: .none))
            .run()
        #expect(both.id == low.id && Set(both.renditions.map(\.folder)) == ["variant-0", "variant-1", "audio-0"])
        #expect(!transport.requestedAddresses.contains(origin + "a.aac"))
    }

    @Test func lostFilesAreFetchedAgain() async throws {
        let asset = try await task(film()).run()
        let lost = temporary.library.packageDirectory(asset.id).appendingPathComponent("audio-0/000000.aac")
        try FileManager.default.removeItem(at: lost)
        #expect(try temporary.library.forgetLostFiles(asset.id) == ["audio-0/000000.aac"])
        #expect(try temporary.library.asset(asset.id).state == .partial)
        let transport = film()
        #expect(try await task(transport).run().state == .complete)
        #expect(transport.requestedAddresses.filter { !$0.hasSuffix(".m3u8") } == [origin + "a.aac"])
    }

    @Test func aLiveStreamIsRefusedBeforeAnySegment() async throws {
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

    @Test func protectedContentIsRefused() async throws {
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

    @Test func byteRangesBecomeFilesOfTheirOwn() async throws {
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
        ScriptedTransport.Answer.bytes(Array("<html>".utf8), contentType: "text/html"),
        .truncated(Array("on".utf8), announced: 3), .failure(TransportError(.status, "no", status: 403)),
    ])
    func whatIsNotTheSegmentIsNotKept(answer: ScriptedTransport.Answer) async throws {
        let transport = film()
        transport.answer(origin + "high/1.m4s?sig=c", with: answer)
        await #expect(throws: DownloadError.self) { try await task(transport).run() }
        let asset = try #require(try temporary.library.assets().first)
        #expect(temporary.library.file("variant-1/000001.m4s", of: asset.id) == nil)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: temporary.library.packageDirectory(asset.id).appendingPathComponent("variant-1").path
        )
        #expect(!names.contains { $0.hasSuffix(".part") })
    }

    @Test func aKeyOfTheWrongSizeIsNoKey() async throws {
        let transport = film()
        transport.answer("https://origin.example/keys/1?t=a", with: .bytes(Array("denied".utf8)))
        let error = await #expect(throws: DownloadError.self) { try await task(transport).run() }
        #expect(error?.message.contains("16 bytes") == true)
    }

    @Test func whatFailsOnceIsTriedAgain() async throws {
        let transport = film()
        transport.answer(
            origin + "high/1.m4s?sig=c",
            with: .failure(TransportError(.status, "busy", status: 503)),
            .truncated(Array("on".utf8), announced: 3),
            .bytes(Array("one".utf8))
        )
        let asset = try await task(transport, retries: 3).run()
        #expect(asset.state == .complete)
        #expect(transport.requestedAddresses.filter { $0.contains("high/1.m4s") }.count == 3)
    }

    @Test func progressGrowsAndEndsAtAHundred() async throws {
        let events = Mutex<[DownloadProgress]>([])
        try await task(film()).run { event in
            switch event {
            case .resolved(_, let progress), .progress(_, let progress): events.withLock { $0.append(progress) }
            case .completed: break
            }
        }
        let percents = events.withLock { $0.map(\.percent) }
        #expect(percents.first == 0 && percents.last == 100 && percents == percents.sorted())
    }

    @Test func deletingTakesEveryByteAndTwiceDoesNoHarm() async throws {
        let asset = try await task(film()).run()
        try temporary.library.delete(asset.id)
        try temporary.library.delete(asset.id)
        #expect(try temporary.library.assets().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: temporary.library.packageDirectory(asset.id).path))
    }

    @Test func aLibraryMayMove() async throws {
        let asset = try await task(film()).run()
        let moved = temporary.directory.deletingLastPathComponent().appendingPathComponent("moved-\(UUID())")
        try FileManager.default.copyItem(at: temporary.directory, to: moved)
        defer { try? FileManager.default.removeItem(at: moved) }
        let library = try AssetLibrary(directory: moved)
        #expect(try library.asset(asset.id) == asset)
        #expect(library.file("multivariant.m3u8", of: asset.id)?.path.hasPrefix(moved.path) == true)
    }
}

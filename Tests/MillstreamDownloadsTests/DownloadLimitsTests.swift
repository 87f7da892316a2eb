import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A transport that responds to one address with an endless body, and counts the bytes that were read from it.
private final class EndlessTransport: Transport {
    private let base: ScriptedTransport
    private let endless: String
    private let taken = Mutex<Int64>(0)

    init(_ base: ScriptedTransport, endless: String) {
        self.base = base
        self.endless = endless
    }

    var takenBytes: Int64 { taken.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.address.text == endless else { return try await base.send(request) }
        let body = AsyncStream<ByteBuffer> {
            let buffer = ByteBuffer(repeating: 0x47, count: 1 << 20)
            self.taken.withLock { $0 += Int64(buffer.readableBytes) }
            return buffer
        }
        return TransportResponse(to: request, body: TransportBody(body))
    }
}

@Suite struct DownloadLimitsTests {
    private let temporary: TemporaryLibrary
    private static let origin = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private static func film(key: String = "0123456789abcdef") -> ScriptedTransport {
        ScriptedTransport(texts: [
            origin + "media.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """,
            origin + "key": key, origin + "0.ts": "zero",
        ])
    }

    private func task(_ transport: any Transport, _ limits: DownloadLimits = DownloadLimits()) -> AssetDownload {
        AssetDownload(
            ResourceAddress(Self.origin + "media.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(limits: limits)
        )
    }

    private func leftovers() throws -> [String] {
        let names = FileManager.default.enumerator(atPath: temporary.directory.appendingPathComponent("packages").path)
        return try #require(names?.allObjects as? [String]).filter { $0.hasSuffix(".part") || $0.hasSuffix(".ts") }
    }

    @Test(.timeLimit(.minutes(10))) func endlessSegmentFails() async throws {
        let transport = EndlessTransport(Self.film(), endless: Self.origin + "0.ts")
        let error = await #expect(throws: DownloadError.self) {
            try await task(transport, DownloadLimits(fileSize: ByteCount(3 << 20))).run()
        }
        #expect(error?.detail == "too-large")
        #expect(transport.takenBytes <= 5 << 20)
        #expect(try leftovers().isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func endlessAssetFails() async throws {
        let transport = EndlessTransport(Self.film(), endless: Self.origin + "0.ts")
        let error = await #expect(throws: DownloadError.self) {
            try await task(transport, DownloadLimits(assetSize: ByteCount(3 << 20))).run()
        }
        #expect(error?.code == .tooLarge && error?.hint?.contains("--max-size") == true)
        #expect(transport.takenBytes <= 5 << 20)
        #expect(try leftovers().isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func noMoreThanTheSizeOfAKeyIsWritten() async throws {
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let transport = EndlessTransport(Self.film(), endless: Self.origin + "key")
        let error = await #expect(throws: DownloadError.self) {
            try await AssetDownload(
                ResourceAddress(Self.origin + "media.m3u8"),
                into: library,
                loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
            ).run()
        }
        #expect(error?.message.contains("16 bytes") == true)
        #expect(transport.takenBytes <= 2 << 20)
        let written = files.operations.reduce(0) { sum, operation in
            guard case .write(let bytes, _) = operation, !bytes.starts(with: "#EXTM3U".utf8) else { return sum }
            return sum + bytes.count
        }
        #expect(written == "zero".utf8.count, "the segment alone")
    }

    @Test(arguments: [15, 17]) func keyMustHaveSixteenBytes(count: Int) async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await task(Self.film(key: String(repeating: "k", count: count))).run()
        }
        #expect(
            error?.message.contains(count < 16 ? "instead of 16" : "16 bytes") == true
                && error?.detail == "wrong-content"
        )
        let asset = try #require(try temporary.library.assets().first)
        #expect(try temporary.library.missingResources(asset.id).map(\.kind) == [.key])
    }

    @Test func nearlyFullDiskIsNotFilled() async throws {
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        func run(free: Int64) async throws {
            files.setFreeSpace(free)
            try await AssetDownload(
                ResourceAddress(Self.origin + "media.m3u8"),
                into: library,
                loader: ResourceLoader(Self.film()),
                configuration: DownloadConfiguration(
                    maximumConcurrentFetches: 1,
                    limits: DownloadLimits(freeSpace: ByteCount(1_000))
                )
            ).run()
        }
        // The 16 bytes of the key are counted before they are written.
        let error = await #expect(throws: DownloadError.self) { try await run(free: 1_015) }
        #expect(error?.detail == "disk-full" && error?.hint?.contains("free some space") == true)
        #expect(try leftovers().isEmpty)
        try await run(free: 1_016)
        #expect(try library.assets().first?.state == .complete)
    }

    @Test func fileLimitFollowsFromBitRateAndDuration() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=8000000\nlong.m3u8\n",
            Self.origin + "long.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:1000
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
            #EXTINF:1000,
            0.m4s
            #EXTINF:1,
            1.m4s
            #EXT-X-BYTERANGE:5@0
            #EXTINF:1,
            2.m4s
            #EXT-X-ENDLIST

            """,
            Self.origin + "init.mp4": "init", Self.origin + "key": "0123456789abcdef", Self.origin + "0.m4s": "zero",
            Self.origin + "1.m4s": "one", Self.origin + "2.m4s": "23456",
        ])
        let asset = try await AssetDownload(
            ResourceAddress(Self.origin + "top.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport)
        ).run()
        func sizes(_ limits: DownloadLimits) throws -> [String: Int64] {
            let budget = DownloadBudget(asset, in: temporary.library, limits)
            return Dictionary(
                uniqueKeysWithValues: try temporary.library.resources(asset.id).map {
                    ($0.address.lastPathComponent, budget.limit(for: $0).bytes)
                }
            )
        }
        // Four times 1 MB per second; at least 64 MiB.
        #expect(
            try sizes(DownloadLimits()) == [
                "0.m4s": 4_000_000_000, "1.m4s": 64 << 20, "2.m4s": 5, "init.mp4": 64 << 20, "key": 16,
            ]
        )
        #expect(
            try sizes(DownloadLimits(fileSize: ByteCount(1_000))) == [
                "0.m4s": 1_000, "1.m4s": 1_000, "2.m4s": 5, "init.mp4": 1_000, "key": 16,
            ]
        )
    }

    @Test func expectedSizeDoesNotOverflow() throws {
        let longest = MediaTime(seconds: 9_000_000_000)
        let size = DownloadBudget.expectedSize(longest, BitRate(bitsPerSecond: .max))
        #expect(size == ByteCount(.max))
        #expect(DownloadBudget.expectedSize(MediaTime(seconds: 2), BitRate(bitsPerSecond: 800)) == ByteCount(800))
    }

    /// A transport that records the maximum number of concurrent requests.
    private final class CountingTransport: Transport {
        private let base: ScriptedTransport
        private let running = Mutex((now: 0, most: 0))

        init(_ base: ScriptedTransport) { self.base = base }

        var maximumCount: Int { running.withLock { $0.most } }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            running.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            defer { running.withLock { $0.now -= 1 } }
            for _ in 0..<20 { await Task.yield() }
            return try await base.send(request)
        }
    }

    private static func manyRenditions(_ count: Int, distinct: Bool) -> (ScriptedTransport, String) {
        let names = (0..<count).map { "a\(distinct ? $0 : 0).m3u8" }
        let audio = names.enumerated().map { index, name in
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"g\(index % 3)\",NAME=\"\(index)\",LANGUAGE=\"en\",URI=\"\(name)\"\n"
        }
        let variants = (0..<3).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1),AUDIO=\"g\($0)\"\nv.m3u8\n" }
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nm.ts\n#EXT-X-ENDLIST\n"
        var texts = Dictionary(names.map { (origin + $0, media) }) { first, _ in first }
        texts[origin + "media.m3u8"] = "#EXTM3U\n" + audio.joined() + variants.joined()
        texts[origin + "v.m3u8"] = media
        texts[origin + "m.ts"] = "media"
        return (ScriptedTransport(texts: texts), media)
    }

    @Test func playlistsAreLoadedFourAtATime() async throws {
        let (script, _) = Self.manyRenditions(40, distinct: true)
        let transport = CountingTransport(script)
        let resolver = DownloadResolver(
            loader: ResourceLoader(transport),
            selection: DownloadSelection(variants: .all)
        )
        let found = try await resolver.resolve(ResourceAddress(Self.origin + "media.m3u8"))
        #expect(found.renditions.count == 41)
        #expect(transport.maximumCount == 4)
        #expect(Set(found.renditions.map(\.address.text)).count == 41)
        #expect(script.requestedAddresses.count == 42)
    }

    @Test func totalSizeOfPlaylistsIsLimited() async throws {
        let (script, media) = Self.manyRenditions(40, distinct: true)
        let source = try await ResourceLoader(script).load(
            TransportRequest(ResourceAddress(Self.origin + "media.m3u8"), kind: .playlist)
        ).bytes.count
        func run(_ size: Int) async throws {
            _ = try await DownloadResolver(
                loader: ResourceLoader(script),
                selection: DownloadSelection(variants: .all),
                playlistSize: ByteCount(Int64(size))
            ).resolve(ResourceAddress(Self.origin + "media.m3u8"))
        }
        let whole = source + 41 * media.utf8.count
        try await run(whole)
        let error = await #expect(throws: DownloadError.self) { try await run(whole - 1) }
        #expect(error?.code == .tooLarge && error?.message.contains("playlists") == true)
        let asked = script.requestedAddresses.count
        await #expect(throws: DownloadError.self) { try await run(source + media.utf8.count) }
        #expect(script.requestedAddresses.count - asked <= 2 + DownloadPlaylistLoader.concurrentLoads)
    }

    @Test func entriesThatShareAPlaylistAreStoredOnce() async throws {
        let (transport, _) = Self.manyRenditions(30, distinct: false)
        let asset = try await AssetDownload(
            ResourceAddress(Self.origin + "media.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(transport),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .all))
        ).run()
        #expect(asset.renditions.map(\.folder) == ["variant-0", "audio-0"])
        let asked = transport.requestedAddresses
        #expect(asked.count == 5 && asked.count { $0.hasSuffix("a0.m3u8") } == 1)
        let top = try temporary.text("multivariant.m3u8", of: asset.id)
        #expect(top.split(separator: "\n").count { $0 == "variant-0/media.m3u8" } == 3)
        #expect(top.split(separator: "\n").count { $0.contains("URI=\"audio-0/media.m3u8\"") } == 30)
        #expect(!top.contains("v.m3u8") && !top.contains("a0.m3u8"))
        // A second download fetches no media and changes no files.
        let again = Self.manyRenditions(30, distinct: false).0
        let second = try await AssetDownload(
            ResourceAddress(Self.origin + "media.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(again),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .all))
        ).run()
        #expect(second == asset && again.requestedAddresses.allSatisfy { $0.hasSuffix(".m3u8") })
        #expect(try temporary.text("multivariant.m3u8", of: asset.id) == top)
    }
}

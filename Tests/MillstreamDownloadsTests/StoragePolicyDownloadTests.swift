import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// The titles of the assets that were deleted.
private final class DeletedTitles: Sendable {
    let titles = Mutex<[String]>([])
}

/// Tests what downloads and sessions delete by themselves, within the limits that are stored in the library.
@Suite(.timeLimit(.minutes(5))) struct StoragePolicyDownloadTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary
    private let deleted = DeletedTitles()

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// An origin with films of one segment each, whose contents differ.
    private static func origin(_ names: [String], size: Int) -> ScriptedTransport {
        var texts: [String: String] = [:]
        for name in names {
            texts[base + name + ".m3u8"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n"
            texts[base + name + ".ts"] = String(repeating: name, count: size / name.count)
        }
        return ScriptedTransport(texts: texts)
    }

    private func download(_ name: String, from origin: ScriptedTransport) async throws -> StoredAsset {
        try await AssetDownload(
            ResourceAddress(Self.base + name + ".m3u8"),
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        ).run()
    }

    private func titles() throws -> [String] { try library.assets().map(\.title).sorted() }

    @Test func downloadDeletesOldAssetsWhenItNeedsTheirSpace() async throws {
        let origin = Self.origin(["one", "two", "six", "ten"], size: 3_000_000)
        for name in ["one", "two"] { _ = try await download(name, from: origin) }
        let pinned = try await download("six", from: origin)
        try library.setStoragePolicy(StoragePolicy(isPinned: true), of: pinned.id)
        let quota = library.diskUsage.occupiedBytes + ByteCount(1_500_000)
        try library.setStorageLimits(StorageLimits(quota: quota))
        let observation = library.observeEvictions { [deleted] entry in
            deleted.titles.withLock { $0.append(entry.title) }
        }
        let asset = try await download("ten", from: origin)
        withExtendedLifetime(observation) {}
        #expect(asset.state == .complete && library.isPlayableOffline(asset.id))
        #expect(try titles() == ["six", "ten", "two"])
        #expect(deleted.titles.withLock { $0 } == ["one"])
        #expect(library.diskUsage.occupiedBytes <= quota)
    }

    @Test func downloadThatDoesNotFitFailsAndContinuesWhenThereIsSpace() async throws {
        let origin = Self.origin(["one", "two"], size: 3_000_000)
        let pinned = try await download("one", from: origin)
        try library.setStoragePolicy(StoragePolicy(isPinned: true), of: pinned.id)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(1_500_000)))
        let error = await #expect(throws: DownloadError.self) { try await download("two", from: origin) }
        #expect(error?.detail == "disk-full" && error?.message.contains("the limits of the library") == true)
        #expect(error?.hint?.hasPrefix("raise the quota (millstream library limits --quota SIZE), or ") == true)
        #expect(try titles() == ["one", "two"])
        try library.setStoragePolicy(StoragePolicy(), of: pinned.id)
        #expect(try await download("two", from: origin).state == .complete)
        #expect(try titles() == ["two"])
    }

    /// The size is estimated by the average bit rate, or by half of the peak, before anything is deleted.
    @Test func downloadThatCannotFitDeletesNothing() async throws {
        let origin = Self.origin(["one", "six"], size: 3_000_000)
        _ = try await download("one", from: origin)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(1_500_000)))
        func setRates(_ rates: String) {
            let main = "#EXTM3U\n#EXT-X-STREAM-INF:\(rates)\nsix.m3u8\n"
            origin.setResponses(for: Self.base + "two.m3u8", .text(main))
        }
        for rates in ["BANDWIDTH=12000000,AVERAGE-BANDWIDTH=11000000", "BANDWIDTH=24000000"] {
            setRates(rates)
            let error = await #expect(throws: DownloadError.self) { try await download("two", from: origin) }
            #expect(error?.detail == "disk-full" && error?.message.contains("which needs about ") == true)
            #expect(try titles() == ["one", "two"])
        }
        #expect(!origin.requestedAddresses.contains(Self.base + "six.ts"))
        setRates("BANDWIDTH=12000000")
        #expect(try await download("two", from: origin).state == .complete)
        #expect(try titles() == ["two"])
    }

    /// A file without an announced length gets its space bit by bit.
    @Test func lengthOfAFileNeedNotBeKnown() async throws {
        let origin = Self.origin(["one", "two"], size: 3_000_000)
        _ = try await download("one", from: origin)
        let limit = library.diskUsage.occupiedBytes + ByteCount(1_500_000)
        try library.setStorageLimits(StorageLimits(quota: limit))
        let address = ResourceAddress(Self.base + "two.m3u8")
        let asset = try await AssetDownload(
            address,
            into: library,
            loader: ResourceLoader(UnannouncedTransport(base: origin), policy: RecoveryPolicy(retries: 0))
        ).run()
        #expect(asset.state == .complete)
        #expect(try titles() == ["two"])
    }

    /// A server can announce any length, and a key has 16 bytes.
    @Test func fileThatIsRefusedDeletesNothing() async throws {
        let origin = Self.origin(["one"], size: 3_000_000)
        _ = try await download("one", from: origin)
        try library.setStorageLimits(StorageLimits(quota: library.diskUsage.occupiedBytes + ByteCount(1_500_000)))
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:4,
            two.ts
            #EXT-X-ENDLIST

            """
        origin.setResponses(for: Self.base + "two.m3u8", .text(playlist))
        origin.setResponses(for: Self.base + "two.ts", .text("two"))
        // The space would be available after the deletion of the other asset.
        origin.setResponses(for: Self.base + "key", .truncated([1], announced: 4_000_000))
        await #expect(throws: DownloadError.self) { try await download("two", from: origin) }
        #expect(try titles() == ["one", "two"])
    }

    /// I-frames are copied from the segments that are stored.
    @Test func copiedFilesAreWithinTheLimits() async throws {
        let origin = Self.origin(["one", "six"], size: 3_000_000)
        _ = try await download("one", from: origin)
        let quota = library.diskUsage.occupiedBytes + ByteCount(4_500_000)
        try library.setStorageLimits(StorageLimits(quota: quota))
        let main = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360
            six.m3u8
            #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=50000,RESOLUTION=640x360,URI="frames.m3u8"

            """
        let frames = """
            #EXTM3U
            #EXT-X-VERSION:4
            #EXT-X-TARGETDURATION:4
            #EXT-X-I-FRAMES-ONLY
            #EXTINF:4,
            #EXT-X-BYTERANGE:2500000@1
            six.ts
            #EXT-X-ENDLIST

            """
        origin.setResponses(for: Self.base + "two.m3u8", .text(main))
        origin.setResponses(for: Self.base + "frames.m3u8", .text(frames))
        let asset = try await download("two", from: origin)
        #expect(asset.renditions.map(\.role) == [.variant, .iFrames] && asset.state == .complete)
        #expect(try titles() == ["two"])
        #expect(library.diskUsage.occupiedBytes <= quota)
    }

    @Test func sessionDeletesExpiredAssetsWhenItIsCreated() async throws {
        let origin = Self.origin(["one"], size: 3_000)
        let asset = try await download("one", from: origin)
        let expired = StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1))
        try library.setStoragePolicy(expired, of: asset.id)
        var evictions = library.evictions.makeAsyncIterator()
        let session = try DownloadSession(identifier: "films", library: library, loader: ResourceLoader(origin))
        #expect(await evictions.next()?.id == asset.id)
        await session.invalidate()
        #expect(try titles().isEmpty)
    }

    // MARK: Schedule

    @Test func policyIsAppliedAtOnceAndThenAtTheInterval() {
        var schedule = StoragePolicySchedule(.seconds(60))
        #expect(schedule.isDue(at: .seconds(5)))
        schedule.finish(from: .seconds(5), to: .seconds(6))
        #expect(!schedule.isDue(at: .seconds(65)) && schedule.isDue(at: .seconds(66)))
    }

    @Test func longApplicationIsFollowedByALongInterval() {
        var schedule = StoragePolicySchedule(.seconds(60))
        schedule.finish(from: .seconds(0), to: .seconds(10))
        #expect(!schedule.isDue(at: .seconds(209)) && schedule.isDue(at: .seconds(210)))
    }

    /// A command has applied the policy before it creates its session.
    @Test func policyThatWasAppliedIsAppliedAgainAfterTheInterval() {
        let schedule = StoragePolicySchedule(.seconds(60), appliedAt: .seconds(5))
        #expect(!schedule.isDue(at: .seconds(5)) && !schedule.isDue(at: .seconds(64)))
        #expect(schedule.isDue(at: .seconds(65)))
        #expect(!StoragePolicySchedule(nil, appliedAt: .zero).isDue(at: .seconds(1_000)))
    }

    @Test func sessionAppliesThePolicyAfterTheIntervalIfItHasBeenApplied() async throws {
        let origin = Self.origin(["one"], size: 3_000)
        let asset = try await download("one", from: origin)
        let expired = StoragePolicy(expirationDate: Date(timeIntervalSince1970: 1))
        try library.setStoragePolicy(expired, of: asset.id)
        var evictions = library.evictions.makeAsyncIterator()
        let time = QuickTime()
        var configuration = DownloadSession.Configuration()
        configuration.hasAppliedStoragePolicy = true
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(origin),
            configuration: configuration,
            time: time
        )
        #expect(await evictions.next()?.id == asset.id)
        #expect(time.now >= .seconds(60))
        await session.invalidate()
    }

    @Test func sessionWithoutAnIntervalNeverAppliesThePolicy() {
        var schedule = StoragePolicySchedule(nil)
        #expect(!schedule.isDue(at: .zero))
        schedule.finish(from: .zero, to: .zero)
        #expect(!schedule.isDue(at: .seconds(1_000_000)))
    }
}

/// A transport whose responses do not announce their lengths.
private struct UnannouncedTransport: Transport {
    let base: ScriptedTransport

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let response = try await base.send(request)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: nil,
            body: response.body
        )
    }
}

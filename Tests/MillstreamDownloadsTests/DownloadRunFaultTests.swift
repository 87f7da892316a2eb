import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests what a download, a repair and a transfer do after errors, and the duration of a recording.
@Suite(.timeLimit(.minutes(5))) struct DownloadRunFaultTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "media.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func loader(_ transport: any Transport) -> ResourceLoader {
        ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
    }

    // MARK: Expired addresses

    /// Returns a playlist of two segments whose addresses have a token.
    private static func playlist(_ token: String) -> ScriptedTransport.Response {
        let segments = (0..<2).map { "#EXTINF:4,\n\($0).ts?t=\(token)\n" }.joined()
        return .text("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n")
    }

    /// Returns an origin whose second playlist has addresses that work; a segment that has no status is missing.
    private static func origin(statuses: [Int]) -> ScriptedTransport {
        var responses: [String: [ScriptedTransport.Response]] = [source.text: [playlist("1"), playlist("2")]]
        for (number, status) in statuses.enumerated() {
            let error = TransportError(.status, "it happened", status: status)
            responses["\(base)\(number).ts?t=1"] = [.failure(error)]
            responses["\(base)\(number).ts?t=2"] = [.text("media \(number)")]
        }
        return ScriptedTransport(responses)
    }

    /// A file that was missing before can be available at its new address.
    @Test(arguments: [[403, 403], [404, 403]])
    func missingFileIsRequestedAtItsNewAddress(statuses: [Int]) async throws {
        let transport = Self.origin(statuses: statuses)
        let asset = try await AssetDownload(
            Self.source,
            into: library,
            loader: Self.loader(transport),
            configuration: DownloadConfiguration(maximumConcurrentFetches: 1)
        ).run()
        #expect(asset.state == .complete && asset.bytes == ByteCount(14))
        #expect(transport.requestedAddresses.count { $0 == Self.source.text } == 2)
    }

    /// A session loads playlists to create a task.
    ///
    /// They can have expired when the task runs.
    @Test func taskOfASessionContinuesWithNewAddresses() async throws {
        let transport = Self.origin(statuses: [403, 403])
        let session = try temporary.session("films", transport)
        let task = try await session.makeTask(Self.source)
        #expect(transport.requestedAddresses == [Self.source.text])
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.bytes == ByteCount(14))
        #expect(transport.requestedAddresses.count { $0 == Self.source.text } == 2)
        await session.invalidate()
    }

    /// An asset that can be played is replaced only with its key; it is not complete because the key is missing.
    @Test func missingKeyOfAnIncompleteAssetIsAnError() async throws {
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n"
        func download(_ variants: DownloadSelection.Variants, tags: String = "") -> AssetDownload {
            func media(_ name: String) -> String {
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(tags)#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n"
            }
            let lines = "#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n"
            let transport = ScriptedTransport(texts: [
                Self.source.text: "#EXTM3U\n\(lines)", Self.base + "low.m3u8": media("low"),
                Self.base + "high.m3u8": media("high"), Self.base + "low.ts": "low",
            ])
            return AssetDownload(
                Self.source,
                into: library,
                loader: Self.loader(transport),
                configuration: DownloadConfiguration(selection: DownloadSelection(variants: variants))
            )
        }
        let id = try await download(.lowest).run().id
        await #expect(throws: DownloadError.self) { try await download(.all).run() }
        let former = try library.asset(id)
        #expect(former.state == .partial && former.isPlayableOffline)
        #expect(former.selection == DownloadSelection(variants: .all).description)
        let error = await #expect(throws: DownloadError.self) { try await download(.all, tags: key).run() }
        #expect(error?.detail == "http-status")
        #expect(try !temporary.text("variant-0/media.m3u8", of: id).contains("EXT-X-KEY"))
    }

    // MARK: Repairs

    /// The playlists are loaded again for the time range of the asset.
    @Test func repairOfATimeRangeFetchesNothingElse() async throws {
        var configuration = DownloadConfiguration()
        configuration.selection.timeRange = PartialRange<MediaTime>("0...3")
        let first = ScriptedTransport([
            Self.source.text: [Self.playlist("1")], Self.base + "0.ts?t=1": [.text("media 0")],
        ])
        let asset = try await AssetDownload(
            Self.source,
            into: library,
            loader: Self.loader(first),
            configuration: configuration
        ).run()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 4))
        let path = "media/000000.ts"
        try FileManager.default.removeItem(at: library.packageDirectory(asset.id).appendingPathComponent(path))
        let transport = Self.origin(statuses: [403, 403])
        transport.setResponses(for: Self.source.text, Self.playlist("2"))
        let result = try await AssetRepair(asset.id, in: library, loader: Self.loader(transport)).run()
        #expect(result.damaged == [path] && result.repaired == [path] && result.failure == nil)
        let repaired = try library.asset(asset.id)
        #expect(repaired.state == .complete && repaired.duration == MediaTime(seconds: 4))
        let media = transport.requestedAddresses.filter { $0 != Self.source.text }
        #expect(media == [Self.base + "0.ts?t=1", Self.base + "0.ts?t=2"])
    }

    /// The failure of a repair is the error that ended the repair.
    ///
    /// It does not say that files are missing.
    @Test(
        arguments: [
            (DownloadLimits(assetSize: ByteCount(1)), .tooLarge, "too-large"),
            (DownloadLimits(freeSpace: ByteCount(.max)), .storage, "disk-full"),
        ] as [(DownloadLimits, DownloadError.Code, String)]
    )
    func failureOfARepairIsItsError(limits: DownloadLimits, code: DownloadError.Code, detail: String) async throws {
        let transport = ScriptedTransport(texts: [
            Self.source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
            Self.base + "0.ts": "zero",
        ])
        let asset = try await AssetDownload(Self.source, into: library, loader: Self.loader(transport)).run()
        let path = "media/000000.ts"
        try FileManager.default.removeItem(at: library.packageDirectory(asset.id).appendingPathComponent(path))
        let result = try await AssetRepair(
            asset.id,
            in: library,
            loader: Self.loader(transport),
            configuration: DownloadConfiguration(limits: limits)
        ).run()
        #expect(result.damaged == [path] && result.repaired.isEmpty)
        #expect(result.failure?.code == code && result.failure?.detail == detail)
    }

    // MARK: Transfers

    /// The bytes of a stopped transfer count as progress only if they are stored.
    ///
    /// The limit counts no other bytes.
    @Test(arguments: [true, false]) func bytesOfAStoppedTransferCountIfTheyAreKept(hasValidator: Bool) async throws {
        let resource = try #require(try temporary.plannedFiles(1).first)
        let transport = RecordingKeysTests.BreakingTransport(
            base: ScriptedTransport(),
            error: TransportError(.connectionLost, "it happened"),
            headers: hasValidator ? [HeaderField("ETag", "\"1\"")] : []
        )
        let transfer = try temporary.transfer(resource, transport, limits: DownloadLimits(assetSize: ByteCount(10)))
        let error = await #expect(throws: TransportError.self) { try await transfer.run() }
        #expect(error?.code == .connectionLost)
        let progress = transfer.meter.progress
        #expect(progress.bytes == ByteCount(hasValidator ? 4 : 0) && progress.requestedFile == nil)
        #expect(transfer.meter.figures.requestCount == 1)
        try transfer.budget.addBytes(10)
        #expect(throws: DownloadError.self) { try transfer.budget.addBytes(1) }
    }

    /// The limit of the asset counts the bytes of an earlier transfer and the received bytes.
    @Test func resumedTransferCountsAllOfItsBytes() async throws {
        let resource = try #require(try temporary.plannedFiles(1).first)
        let breaking = RecordingKeysTests.BreakingTransport(
            base: ScriptedTransport(),
            error: TransportError(.connectionLost, "it happened"),
            headers: [HeaderField("ETag", "\"1\"")]
        )
        let stopped = try temporary.transfer(resource, breaking)
        await #expect(throws: TransportError.self) { try await stopped.run() }
        let transport = ScriptedTransport(texts: [resource.address.text: "abcdefghij"])
        let resumed = try temporary.transfer(resource, transport, limits: DownloadLimits(assetSize: ByteCount(20)))
        try await resumed.run()
        #expect(transport.requests.first?.resumption?.offset == 4)
        #expect(resumed.meter.progress.bytes == ByteCount(10) && resumed.meter.progress.percent == 100)
        #expect(try temporary.text(resource.path, of: resource.assetID) == "abcdefghij")
        try resumed.budget.addBytes(10)
        #expect(throws: DownloadError.self) { try resumed.budget.addBytes(1) }
    }

    // MARK: Recordings

    /// A time range has no effect on a recording.
    @Test func recordingHasNoTimeRange() async throws {
        let transport = ScriptedTransport(texts: [
            Self.source.text:
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
            Self.base + "0.ts": "zero", Self.base + "1.ts": "one",
        ])
        var configuration = DownloadConfiguration()
        configuration.selection.timeRange = PartialRange<MediaTime>("0...1")
        #expect(configuration.selection.timeRange != nil)
        configuration.recording = RecordingOptions()
        let asset = try await AssetDownload(
            Self.source,
            into: library,
            loader: Self.loader(transport),
            configuration: configuration,
            time: FollowingClock()
        ).run()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 8))
    }
}

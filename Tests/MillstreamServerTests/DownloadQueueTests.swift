import AssetStorage
import Foundation
import Logging
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests what pages are told of downloads that end while they are described.
@Suite(.timeLimit(.minutes(10))) struct DownloadQueueTests {
    /// A transport that answers requests for segments only once it is opened.
    private struct Gate: Transport {
        let origin: ScriptedTransport
        let opened: AsyncStream<Void>

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            if request.address.text.hasSuffix(".ts") { for await _ in opened {} }
            return try await origin.send(request)
        }
    }

    @Test func downloadThatEndsWhileItsAssetIsReadIsReportedAsRunning() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let (opened, opener) = AsyncStream.makeStream(of: Void.self)
        let origin = ScriptedTransport(texts: ["https://h/a.m3u8": playlist, "https://h/0.ts": "media"])
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(Gate(origin: origin, opened: opened)),
            broadcast: EventBroadcast(),
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let id = try await downloads.start(
            ResourceAddress("https://h/a.m3u8"),
            title: nil,
            selection: DownloadSelection()
        )
        while downloads.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
        let running = downloads.snapshot()
        let partial = try library.asset(id)
        opener.finish()
        while try library.asset(id).state != .complete || downloads.count > 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        let before = downloads.report(partial, running).json
        #expect(before.contains(#""activity":"downloading""#), "\(before)")
        let after = downloads.report(try library.asset(id), downloads.snapshot()).json
        #expect(after.contains(#""activity":"idle""#) && after.contains(#""state":"complete""#), "\(after)")
    }
}

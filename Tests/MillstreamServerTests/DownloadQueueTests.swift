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

    /// Begins the download of a stream, and returns the queue and the identifier of the asset.
    private static func begin(_ library: AssetLibrary, _ gate: Gate) async throws -> (DownloadQueue, id: String) {
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(gate),
            broadcast: EventBroadcast(),
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let id = try await downloads.start(
            ResourceAddress("https://h/a.m3u8"),
            title: nil,
            selection: DownloadSelection()
        )
        return (downloads, id)
    }

    /// The percentage of an asset whose download failed is that of `millstream library list`, which counts all stored files,
    /// not only what can be played.
    @Test func progressOfAFailedDownloadIsThatOfTheList() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let (opened, opener) = AsyncStream.makeStream(of: Void.self)
        func media(_ name: String) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)\n#EXT-X-ENDLIST\n"
        }
        // The only segment of the variant is missing.
        let origin = ScriptedTransport(texts: [
            "https://h/a.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1.4d401f,mp4a.40.2",AUDIO="a"
            video.m3u8

            """,
            "https://h/audio.m3u8": media("0.aac"), "https://h/video.m3u8": media("0.ts"), "https://h/0.aac": "media",
        ])
        let (downloads, id) = try await Self.begin(library, Gate(origin: origin, opened: opened))
        while try library.asset(id).renditions.first(where: { $0.role == .audio })?.isComplete != true {
            try await Task.sleep(for: .milliseconds(5))
        }
        opener.finish()
        while !downloads.report(try library.asset(id), downloads.snapshot()).json.contains(#""activity":"failed""#) {
            try await Task.sleep(for: .milliseconds(5))
        }
        let asset = try library.asset(id)
        let report = downloads.report(asset, downloads.snapshot()).json
        let found = try #require(report.firstMatch(of: /"percent":([0-9.]+)/)?.output.1)
        let listed = UnfinishedAssets(in: library).percent(of: asset)
        #expect(asset.percent == 0 && listed > 0)
        #expect(Double(found) == (listed * 10).rounded(.down) / 10, "\(report)")
    }

    @Test func downloadThatEndsWhileItsAssetIsReadIsReportedAsRunning() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let (opened, opener) = AsyncStream.makeStream(of: Void.self)
        let origin = ScriptedTransport(texts: ["https://h/a.m3u8": playlist, "https://h/0.ts": "media"])
        let (downloads, id) = try await Self.begin(library, Gate(origin: origin, opened: opened))
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

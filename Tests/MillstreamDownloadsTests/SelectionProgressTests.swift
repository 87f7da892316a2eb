import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the progress of downloads with several selections, as other processes have it.
@Suite(.timeLimit(.minutes(10))) struct SelectionProgressTests {
    private static let base = "https://origin.example/film/"
    private static let source = ResourceAddress(base + "top.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private static func media(_ names: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    private static var origin: ScriptedTransport {
        ScriptedTransport(texts: [
            source.text: """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=800000
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000
            high.m3u8

            """,
            base + "low.m3u8": media("l0.ts", "l1.ts"), base + "high.m3u8": media("h0.ts", "h1.ts"),
            base + "l0.ts": "low 0", base + "l1.ts": "low 1", base + "h0.ts": "high 0", base + "h1.ts": "high 1",
        ])
    }

    private func session(_ transport: any Transport, _ library: AssetLibrary) throws -> DownloadSession {
        try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
        )
    }

    /// Waits until a condition holds; the suite has a limit of time.
    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await SystemTimeSource().sleep(for: .milliseconds(10)) }
    }

    /// Another session on another library object represents another process.
    @Test func anotherProcessHasTheProgressOfAllSelections() async throws {
        let transport = BlockingTransport(Self.origin, blocking: Self.base + "h1.ts")
        var configuration = DownloadConfiguration(
            selection: DownloadSelection(variants: .lowest),
            maximumConcurrentFetches: 1
        )
        configuration.furtherSelections = [DownloadSelection(variants: .best)]
        let running = try session(transport, temporary.library)
        let task = try await running.makeTask(Self.source, configuration: configuration)
        task.resume()
        try await wait {
            task.progress.selection?.index == 1
                && task.progress.loadedTimeRanges.totalDuration == MediaTime(seconds: 4)
        }
        #expect(task.progress.percent == 75)
        let another = try AssetLibrary(directory: temporary.directory)
        let observing = try session(Self.origin, another)
        let seen = try #require(observing.tasks.first { $0.id == task.id })
        try await wait { seen.progress.percent == 75 }
        #expect(seen.progress.selection == task.progress.selection)
        #expect(seen.progress.loadedTimeRanges == task.progress.loadedTimeRanges)
        let listed = try #require(try another.progressOfDownloads()[task.assetID])
        #expect(listed.percent == 75 && listed.selection == task.progress.selection)
        transport.release()
        #expect(try await task.value().state == .complete)
        try await wait { running.tasks.isEmpty && observing.tasks.isEmpty }
    }

    /// All of the asset that was stored before does not count for selections that are not downloaded yet.
    @Test func progressInTheCatalogIsThatOfTheCurrentSelection() async throws {
        let library = temporary.library
        let asset = try await AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(Self.origin),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        ).run()
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        configuration.furtherSelections = [
            DownloadSelection(variants: .best), DownloadSelection(variants: .all), DownloadSelection(variants: .lowest),
        ]
        try library.addDownload(
            DownloadRecord(
                id: "first",
                session: "films",
                assetID: asset.id,
                source: Self.source,
                details: "",
                options: try configuration.stored,
                artwork: nil,
                state: .suspended,
                priority: 0,
                creationTime: 0
            )
        )
        let folders = Set(asset.renditions.map(\.folder))
        for (number, percent) in [(0, 25.0), (1, 50.0), (2, 75.0), (3, 100.0), (9, 100.0)] {
            try library.changeDownload("first", .folders(folders, selection: number))
            let progress = try #require(try library.progressOfDownloads()[asset.id])
            #expect(progress.percent == percent && progress.bytes == asset.bytes)
            #expect(progress.selection == DownloadProgress.SelectionPosition(index: min(number, 3), count: 4))
        }
        let fields = try #require(try library.progressOfDownloads()[asset.id]).fields
        #expect(ReportValue.object(fields).json.hasSuffix(#""selection":{"number":4,"count":4}}"#))
    }

    @Test func progressOfOneSelectionHasNoPosition() async throws {
        let session = try session(Self.origin, temporary.library)
        let task = try await session.makeTask(Self.source)
        task.resume()
        try await task.value()
        #expect(task.progress.selection == nil && task.progress.percent == 100)
        #expect(!ReportValue.object(task.progress.fields).json.contains("selection"))
    }
}

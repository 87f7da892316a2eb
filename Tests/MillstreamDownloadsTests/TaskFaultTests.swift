import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests tasks of other processes, and tasks that are created while another one of the same asset runs.
@Suite(.timeLimit(.minutes(5))) struct TaskFaultTests {
    private static let base = "https://films.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func source(_ query: String = "") -> ResourceAddress { ResourceAddress("\(base)main.m3u8\(query)") }

    /// Returns the resources of a film with two variants, whose URLs all have a query.
    private static func texts(_ query: String = "") -> [String: String] {
        let lines = ["low", "high"].enumerated().map { index, name in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(index + 1)\n\(name).m3u8\(query)\n"
        }
        var texts = [source(query).text: "#EXTM3U\n\(lines.joined())"]
        for name in ["low", "high"] {
            texts["\(base)\(name).m3u8\(query)"] =
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\(query)\n#EXT-X-ENDLIST\n"
            texts["\(base)\(name).ts\(query)"] = "media of \(name)"
        }
        return texts
    }

    // MARK: Other processes

    /// A session has the events of a task that another process runs and ends.
    @Test func changesOfAnotherProcessAreEvents() async throws {
        let runner = temporary.runner("films", ScriptedTransport())
        let assetID = try #require(try temporary.plannedFiles(1).first).assetID
        try temporary.addRecord("one", of: assetID, source: Self.source(), session: "films")
        runner.reconcile(try library.downloads(of: "films"))
        let task = try #require(runner.tasks.first)
        let events = runner.observers.stream()
        let claim = try #require(library.claimDownload("one"))
        defer { withExtendedLifetime(claim) {} }
        let failure = DownloadRecord.Failure(code: "too-large", detail: "exactly", message: "it happened")
        for change in [DownloadChange.state(.waiting, nil), .state(.failed, failure)] {
            try library.changeDownload("one", change)
            runner.reconcile(try library.downloads(of: "films"))
        }
        #expect(task.state == .failed && task.error?.code == .tooLarge && task.error?.detail == "exactly")
        // The request is visible before the other process has read it.
        task.resume()
        #expect(task.state == .waiting && task.error == nil)
        try library.removeDownload("one")
        runner.reconcile([])
        #expect(task.state == .canceled && runner.tasks.isEmpty)
        runner.observers.finish()
        var names: [String] = []
        for await (found, event) in events {
            #expect(found.id == "one")
            switch event {
            case .stateChanged(let state): names.append(state.rawValue)
            case .finished: names.append("finished")
            case .completed(_, let error): names.append("completed \(error?.detail ?? "")")
            case .mediaSelectionResolved, .variantsChosen, .locationChosen, .loaded, .waitingForStream, .segmentsLost,
                .metadataOmitted, .keyNotVerified, .selectionCompleted:
                break
            }
        }
        #expect(
            names == [
                "waiting", "failed", "finished", "completed exactly", "waiting", "canceled", "finished",
                "completed canceled",
            ]
        )
    }

    // MARK: Running tasks

    /// The URL of an asset does not change while its files are being fetched.
    @Test func assetOfARunningTaskIsNotContinued() async throws {
        let texts = Self.texts("?token=a").merging(Self.texts("?token=b")) { first, _ in first }
        let transport = BlockingTransport(ScriptedTransport(texts: texts), blocking: Self.base + "high.ts?token=a")
        let session = try temporary.session("films", transport, resumesAutomatically: false)
        let task = try await session.makeTask(Self.source("?token=a"))
        task.resume()
        #expect(task.state == .running)
        let error = await #expect(throws: DownloadError.self) {
            try await session.makeTask(Self.source("?token=b"))
        }
        #expect(error?.detail == "asset-busy")
        #expect(error?.message == "the asset is being downloaded by another process or session")
        // No player has precedence over the transfer.
        while task.progress.bytes == .zero { try await SystemTimeSource().sleep(for: .milliseconds(10)) }
        #expect(task.progress.requestedFile == "high.ts" && !task.progress.isWaitingForPlayback)
        // A task that runs is not left to another process.
        let isHandedOver = session.handOver(task)
        #expect(isHandedOver && task.isAttended && session.manages(task.id))
        #expect(session.tasks.map(\.id) == [task.id])
        transport.release()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.source == Self.source("?token=a"))
        await session.invalidate()
    }

    /// The files of a further task are entered only when this task runs, because the first task has already planned its
    /// files.
    @Test func furtherTaskOfARunningAssetIsPlannedLater() async throws {
        let transport = BlockingTransport(ScriptedTransport(texts: Self.texts()), blocking: Self.base + "low.ts")
        let session = try temporary.session("films", transport, resumesAutomatically: false)
        let lowest = DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        let first = try await session.makeTask(Self.source(), configuration: lowest)
        first.resume()
        let second = try await session.makeTask(Self.source())
        #expect(second.assetID == first.assetID && second.id != first.id)
        #expect(try library.asset(first.assetID).renditions.map(\.folder) == ["variant-0"])
        second.resume()
        #expect(first.state == .running && second.state == .waiting)
        transport.release()
        try await first.value()
        let asset = try await second.value()
        #expect(asset.state == .complete && asset.renditions.map(\.folder) == ["variant-0", "variant-1"])
        await session.invalidate()
    }

    /// A task marks its asset as played when a player loads it.
    ///
    /// The task can then delete the asset that it replaces.
    @Test(arguments: [false, true]) func taskReplacesWhatIsStored(isOverlaid: Bool) async throws {
        let origin = ScriptedTransport(texts: Self.texts())
        let former = try await AssetDownload(
            Self.source(),
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        ).run()
        let transport: any Transport = isOverlaid ? OverlaidTransport(origin) : origin
        let session = try temporary.session("films", transport, resumesAutomatically: false)
        var configuration = DownloadConfiguration()
        configuration.replacesStoredSegments = true
        let task = try await session.makeTask(Self.source(), configuration: configuration)
        task.resume()
        let asset = try await task.value()
        #expect(asset.id == former.id && asset.state == .complete)
        #expect(asset.renditions.map(\.folder) == ["variant-1"])
        withExtendedLifetime(task) {}
        await session.invalidate()
    }
}

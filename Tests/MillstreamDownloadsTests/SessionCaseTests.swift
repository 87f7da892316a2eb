import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that advances when a recording waits; the tasks that report progress or read the catalog sleep until they are canceled.
final class RecordingTime: TimeSource {
    private let passed = Mutex(Duration.seconds(50))

    var now: Duration { passed.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        guard duration < .milliseconds(500) else {
            try Task.checkCancellation()
            return passed.withLock { $0 += duration }
        }
        while true { try await SystemTimeSource().sleep(for: .seconds(1)) }
    }
}

/// Tests the order in which a session runs its tasks, and what it reports of them.
@Suite(.timeLimit(.minutes(5))) struct SessionCaseTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "main.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private static func media(_ names: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined() + "#EXT-X-ENDLIST\n"
    }

    /// Returns an origin of two variants with an audio rendition; without some of its segments.
    private static func origin(without missing: String...) -> ScriptedTransport {
        var texts = [
            source.text: """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",DEFAULT=NO,URI="ko.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000,AUDIO="a"
            high.m3u8

            """,
            base + "low.m3u8": media("l0.ts", "l1.ts"), base + "high.m3u8": media("h0.ts", "h1.ts"),
            base + "en.m3u8": media("e0.aac", "e1.aac"), base + "ko.m3u8": media("k0.aac", "k1.aac"),
        ]
        for name in ["l0.ts", "l1.ts", "h0.ts", "h1.ts", "e0.aac", "e1.aac", "k0.aac", "k1.aac"] {
            texts[base + name] = "media of \(name)"
        }
        for name in missing { texts[base + name] = nil }
        return ScriptedTransport(texts: texts)
    }

    private func session(
        _ transport: any Transport,
        concurrent: Int = 3,
        time: any TimeSource = SystemTimeSource()
    ) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.maximumConcurrentTasks = concurrent
        return try DownloadSession(
            identifier: "films",
            library: temporary.library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration,
            time: time
        )
    }

    // MARK: Priorities

    /// The priority of a task can change while it waits.
    @Test func waitingTaskWithAHigherPriorityRunsFirst() async throws {
        let names = ["first", "second", "third"]
        var texts: [String: String] = [:]
        for name in names {
            texts[Self.base + name + ".m3u8"] = Self.media(name + ".ts")
            texts[Self.base + name + ".ts"] = "media of \(name)"
        }
        let transport = BlockingTransport(ScriptedTransport(texts: texts), blocking: Self.base + "first.ts")
        let session = try session(transport, concurrent: 1)
        let events = session.events
        var tasks: [DownloadTask] = []
        for name in names {
            let task = try await session.makeTask(ResourceAddress(Self.base + name + ".m3u8"))
            task.resume()
            tasks.append(task)
        }
        #expect(tasks.map(\.state) == [.running, .waiting, .waiting])
        tasks[2].priority = 5
        #expect(try temporary.library.downloads().map(\.priority) == [0, 0, 5])
        transport.release()
        for task in tasks { try await task.value() }
        await session.invalidate()
        var started: [String] = []
        for await (task, event) in events {
            if case .stateChanged(.running) = event { started.append(task.title) }
        }
        #expect(started == ["first", "third", "second"])
    }

    // MARK: Reports

    /// The figures have the variants, but not their renditions.
    @Test func summaryHasOnlyVariants() async throws {
        let session = try session(Self.origin())
        let configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest, audio: .all))
        let task = try await session.makeTask(Self.source, configuration: configuration)
        let events = task.events
        task.resume()
        let asset = try await task.value()
        #expect(asset.renditions.count == 3)
        var selections: [DownloadTask.MediaSelection] = []
        var chosen: [StoredRendition.Role] = []
        var summaries: [DownloadSummary] = []
        for await event in events {
            switch event {
            case .mediaSelectionResolved(let selection): selections.append(selection)
            case .variantsChosen(let variants): chosen += variants.map(\.role)
            case .completed(let summary, _): summaries.append(summary)
            case .stateChanged, .locationChosen, .loaded, .waitingForStream, .segmentsLost, .metadataOmitted,
                .keyNotVerified, .selectionCompleted, .finished:
                break
            }
        }
        let selection = try #require(selections.first)
        #expect(selections.count == 1 && selection.audio == ["en", "ko"] && selection.subtitles.isEmpty)
        #expect(chosen == [.variant])
        #expect(summaries.map { $0.variants.map(\.role) } == [[.variant]])
        #expect(summaries.map(\.mediaResourceRequestCount) == [6])
        await session.invalidate()
    }

    /// The media that was stored before is not new, although the asset has another variant without it.
    @Test func mediaThatIsStoredIsNotNew() async throws {
        let selection = DownloadSelection(variants: .best, audio: .none)
        let rounds: [(variants: DownloadSelection.Variants, origin: ScriptedTransport)] = [
            (.lowest, Self.origin(without: "l0.ts", "l1.ts")), (.best, Self.origin(without: "h1.ts")),
        ]
        for (variants, origin) in rounds {
            let failing = AssetDownload(
                Self.source,
                into: temporary.library,
                loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
                configuration: DownloadConfiguration(selection: DownloadSelection(variants: variants, audio: .none))
            )
            await #expect(throws: DownloadError.self) { try await failing.run() }
        }
        let session = try session(Self.origin())
        let task = try await session.makeTask(Self.source, configuration: DownloadConfiguration(selection: selection))
        let events = task.events
        task.resume()
        try await task.value()
        var durations: [MediaTime] = []
        for await event in events {
            if case .loaded(let new, _) = event { durations.append(new.totalDuration) }
        }
        #expect(durations.first == MediaTime.zero)
        #expect(durations.reduce(MediaTime.zero) { $0 + $1 } == MediaTime(seconds: 4))
        await session.invalidate()
    }

    /// The loss of a segment is an event of the task of a recording, and of its session.
    @Test func lostSegmentsOfARecordingAreReported() async throws {
        let address = ResourceAddress(Self.base + "live.m3u8")
        let transport = ScriptedTransport(texts: [
            address.text: Self.media("0.ts", "1.ts", "2.ts"), Self.base + "0.ts": "zero", Self.base + "2.ts": "two",
        ])
        let session = try session(transport, time: RecordingTime())
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions()
        let task = try await session.makeTask(address, configuration: configuration)
        let (events, allEvents) = (task.events, session.events)
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 12))
        await session.invalidate()
        var lost: [Int64] = []
        var variants: [StoredRendition.Role] = []
        var durations: [Duration] = []
        for await event in events {
            if case .segmentsLost(let count) = event { lost.append(count) }
            if case .variantsChosen(let chosen) = event { variants += chosen.map(\.role) }
            if case .completed(let summary, _) = event { durations.append(summary.duration) }
        }
        for await (_, event) in allEvents {
            if case .segmentsLost(let count) = event { lost.append(count) }
        }
        #expect(lost == [1, 1] && variants == [.variant])
        // The missing segment is requested a last time after seven seconds.
        #expect(durations == [.seconds(7)])
    }

    // MARK: Other downloads

    /// An asset has one download at a time, apart from those that have failed, and those that no process manages.
    @Test(
        arguments: [
            (true, .suspended, true, true), (true, .waiting, true, true), (true, .failed, true, false),
            (true, .suspended, false, false), (false, .suspended, true, false),
        ] as [(Bool, DownloadRecord.State, Bool, Bool)]
    )
    func assetOfAnotherDownloadIsInUse(
        isSameAsset: Bool,
        state: DownloadRecord.State,
        isClaimed: Bool,
        isRefused: Bool
    ) async throws {
        let source = isSameAsset ? Self.source : Self.source.resolving("other.m3u8")
        let assetID = try temporary.library.addAsset(source: source, title: "A", selection: "")
        try temporary.library.addDownload(
            DownloadRecord(
                id: "other",
                session: "terminal",
                assetID: assetID,
                source: source,
                details: "",
                options: try DownloadConfiguration().stored,
                artwork: nil,
                state: state,
                priority: 0,
                creationTime: 0
            )
        )
        let claim = isClaimed ? temporary.library.claimDownload("other") : nil
        defer { withExtendedLifetime(claim) {} }
        let session = try session(Self.origin())
        var detail: String?
        do {
            let task = try await session.makeTask(Self.source)
            #expect((task.assetID == assetID) == isSameAsset)
        } catch let error as DownloadError {
            detail = error.detail
        }
        #expect(detail == (isRefused ? "asset-busy" : nil))
        #expect(session.tasks.count == (isRefused ? 0 : 1))
        await session.invalidate()
    }
}

import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that stands still.
struct StoppedTime: TimeSource {
    // A clock can have any time when a session begins.
    var now: Duration { .seconds(100) }

    func sleep(for duration: Duration) async throws {
        while true { try await SystemTimeSource().sleep(for: .seconds(1)) }
    }
}

/// Tests what the runner of a session makes of the catalog; no task of the tests reads it repeatedly.
@Suite(.timeLimit(.minutes(5))) struct SessionRunnerCaseTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "film.m3u8")
    private static let text =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary
    private let transport = ScriptedTransport(texts: [
        source.text: text, base + "0.ts": "zero", base + "1.ts": "one", base + "2.ts": "two",
    ])

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private func runner() -> SessionRunner { temporary.runner("films", transport) }

    /// Plans the asset, none of whose three segments is stored.
    private func plan() throws -> String {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.text.utf8),
            context: PlaylistContext(address: Self.source)
        )
        return try temporary.plan(playlist, at: Self.source)
    }

    /// Stores the first missing segments of an asset.
    private func store(_ count: Int, of id: String) throws {
        for resource in try library.missingResources(id).prefix(count) {
            try temporary.store(Array("media".utf8), as: resource, of: id)
        }
    }

    private func record(
        _ id: String = "one",
        of assetID: String,
        session: String = "films",
        source: ResourceAddress = Self.source,
        state: DownloadRecord.State = .suspended,
        _ configuration: DownloadConfiguration = DownloadConfiguration()
    ) throws -> DownloadRecord {
        DownloadRecord(
            id: id,
            session: session,
            assetID: assetID,
            source: source,
            details: configuration.details,
            options: try configuration.stored,
            artwork: configuration.artwork,
            state: state,
            priority: configuration.priority,
            creationTime: 0
        )
    }

    /// Adds a record to the catalog, and returns its task in a runner that has read it.
    private func task(of runner: SessionRunner, _ record: DownloadRecord) throws -> DownloadTask {
        try library.addDownload(record)
        runner.reconcile(try library.downloads(of: "films"))
        return try #require(runner.tasks.first)
    }

    /// Returns a Boolean value that indicates whether a runner knows a state of the task from the catalog.
    private func isKnown(_ state: SessionRunner.KnownState, by runner: SessionRunner) -> Bool {
        runner.state.withLock { $0.known["one"] == state }
    }

    // MARK: Restored tasks

    @Test func restoredTaskHasTheOptionsOfItsRecord() throws {
        var configuration = DownloadConfiguration(maximumConcurrentFetches: 2)
        configuration.priority = 7
        configuration.details = "film 7"
        configuration.artwork = Data("image".utf8)
        let runner = runner()
        let task = try task(of: runner, record(of: plan(), configuration))
        #expect(task.priority == 7 && task.details == "film 7" && task.title == "A")
        #expect(task.artwork == Data("image".utf8))
        #expect(task.configuration.priority == 7 && task.configuration.details == "film 7")
        #expect(task.configuration.title == "A" && task.configuration.maximumConcurrentFetches == 2)
        #expect(isKnown(SessionRunner.KnownState(state: .suspended, priority: 7), by: runner))
        #expect(task.state == .suspended && !runner.isOwned("one"))
    }

    /// The options are those of a newer version, so that the download stays in its session.
    @Test func downloadWithUnknownOptionsIsNotTakenOver() throws {
        let assetID = try plan()
        try library.addDownload(
            DownloadRecord(
                id: "future",
                session: "terminal",
                assetID: assetID,
                source: Self.source,
                details: "",
                options: Data("future".utf8),
                artwork: nil,
                state: .suspended,
                priority: 0,
                creationTime: 0
            )
        )
        let runner = runner()
        try DownloadTakeover(runner: runner).takeOver(downloadsOf: assetID, id: nil, includesFiles: true)
        #expect(runner.tasks.isEmpty && !runner.isOwned("future") && !library.isDownloadClaimed("future"))
        #expect(try library.downloads().map(\.session) == ["terminal"])
    }

    /// The source of a task has another URL, for example one with a new signature.
    @Test func taskWithAFormerAddressIsReplaced() async throws {
        let assetID = try plan()
        let runner = runner()
        let former = try task(of: runner, record(of: assetID))
        let events = former.events
        let address = Self.source.resolving("film.m3u8?token=2")
        runner.reconcile([try record(of: assetID, source: address)])
        #expect(former.state == .canceled && runner.tasks.map(\.address) == [address])
        #expect(runner.tasks.first !== former)
        var states: [DownloadTask.State] = []
        for await event in events {
            if case .stateChanged(let state) = event { states.append(state) }
        }
        #expect(states == [.canceled])
    }

    /// Another process has ended the task; without the directories of its selection, the state of the asset decides.
    @Test(arguments: [(3, .completed), (2, .canceled)] as [(Int, DownloadTask.State)])
    func endOfARemovedTaskIsThatOfItsAsset(storedCount: Int, end: DownloadTask.State) async throws {
        let assetID = try plan()
        let runner = runner()
        let task = try task(of: runner, record(of: assetID))
        let events = task.events
        try store(storedCount, of: assetID)
        if storedCount == 3 { try library.finish(assetID) }
        try library.removeDownload("one")
        runner.reconcile([])
        #expect(task.state == end && runner.tasks.isEmpty)
        var errors: [DownloadError.Code?] = []
        for await event in events {
            if case .completed(_, let error) = event { errors.append(error?.code) }
        }
        let expected: DownloadError.Code? = end == .completed ? nil : .canceled
        #expect(errors == [expected])
    }

    // MARK: Progress

    /// The progress is read while a process writes, once more when it has ended, and then if the record has changed.
    @Test func progressOfAnotherProcessIsReadWhileItCanChange() throws {
        let assetID = try plan()
        let runner = runner()
        let task = try task(of: runner, record(of: assetID))
        func readBytes() throws -> Int64 {
            runner.reconcile(try library.downloads(of: "films"))
            return task.progress.bytes.bytes
        }
        var found = [task.progress.bytes.bytes]
        // No process writes.
        try store(1, of: assetID)
        found.append(try readBytes())
        var lock: PackageLock? = try library.lock(assetID)
        found.append(try readBytes())
        try store(1, of: assetID)
        found.append(try readBytes())
        try store(1, of: assetID)
        withExtendedLifetime(lock) {}
        lock = nil
        found.append(try readBytes())
        #expect(found == [0, 0, 5, 10, 15])
        #expect(!task.isWriting)
    }

    /// The record has the number of the selection that is being downloaded.
    @Test func numberOfTheSelectionIsRead() throws {
        var configuration = DownloadConfiguration()
        configuration.furtherSelections = [DownloadSelection(variants: .lowest)]
        let runner = runner()
        let task = try task(of: runner, record(of: plan(), configuration))
        for number in [0, 1, 0] {
            try library.changeDownload("one", .folders(["media"], selection: number))
            runner.reconcile(try library.downloads(of: "films"))
            #expect(task.progress.selection == DownloadProgress.SelectionPosition(index: number, count: 2))
            #expect(task.folders == ["media"])
        }
    }

    // MARK: Ends of sessions

    /// A session that is ending adopts no task; the request stays in the catalog for the next one.
    @Test func endingSessionAdoptsNoTask() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan()))
        runner.state.withLock { $0.isInvalidated = true }
        task.resume()
        #expect(task.state == .suspended && !runner.isOwned("one") && !library.isDownloadClaimed("one"))
        #expect(try library.downloads().map(\.state) == [.waiting])
    }

    @Test func endingSessionStartsNoTask() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan()))
        let isAdopted = runner.adopt("one")
        #expect(isAdopted)
        runner.state.withLock { $0.isInvalidated = true }
        task.resume()
        let hasNoRun = runner.state.withLock { $0.runs.isEmpty }
        #expect(hasNoRun && task.state == .suspended)
        #expect(transport.requests.isEmpty)
        // The next process continues the task.
        #expect(try library.downloads().map(\.state) == [.waiting])
    }

    @Test func canceledTaskIsNotClaimedAnyMore() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan()))
        task.priority = 3
        #expect(isKnown(SessionRunner.KnownState(state: .suspended, priority: 3), by: runner))
        let isAdopted = runner.adopt("one")
        #expect(isAdopted && runner.isOwned("one") && library.isDownloadClaimed("one"))
        task.cancel()
        #expect(task.state == .canceled && runner.tasks.isEmpty)
        #expect(!runner.isOwned("one") && !library.isDownloadClaimed("one"))
        let isForgotten = runner.state.withLock { $0.known.isEmpty && $0.claims.isEmpty && $0.ended == ["one"] }
        #expect(isForgotten)
    }

    // MARK: Changes of other processes

    /// The records that were read before, or during, a change of this session are out of date.
    @Test func outdatedRecordsAreIgnored() throws {
        let runner = runner()
        _ = try task(of: runner, record(of: plan()))
        runner.reconcile([], unless: 1)
        #expect(runner.tasks.count == 1)
        runner.write { runner.reconcile([], unless: 0) }
        runner.reconcile([], unless: 0)
        #expect(runner.tasks.count == 1)
        runner.state.withLock { $0.isInvalidated = true }
        runner.reconcile([], unless: 1)
        #expect(runner.tasks.count == 1)
        runner.state.withLock { $0.isInvalidated = false }
        runner.reconcile([], unless: 1)
        #expect(runner.tasks.isEmpty)
    }

    /// Another process can have completed the asset of a task that has failed; it cannot complete one that was paused.
    @Test(
        arguments: [
            (.failed, 3, .completed), (.failed, 2, .canceled), (.suspended, 3, .canceled),
        ] as [(DownloadRecord.State, Int, DownloadTask.State)]
    )
    func taskThatAnotherProcessCancelsEnds(
        state: DownloadRecord.State,
        storedCount: Int,
        end: DownloadTask.State
    ) throws {
        let assetID = try plan()
        let runner = runner()
        let task = try task(of: runner, record(of: assetID, state: state))
        let isAdopted = runner.adopt("one")
        #expect(isAdopted)
        try store(storedCount, of: assetID)
        if storedCount == 3 { try library.finish(assetID) }
        try library.changeDownload("one", .state(.canceled, nil))
        runner.reconcile(try library.downloads(of: "films"))
        #expect(task.state == end && runner.tasks.isEmpty)
        #expect(try library.downloads().isEmpty)
    }

    @Test func priorityOfAnotherProcessIsKnown() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan()))
        let isAdopted = runner.adopt("one")
        #expect(isAdopted)
        try library.changeDownload("one", .priority(9))
        runner.reconcile(try library.downloads(of: "films"))
        #expect(isKnown(SessionRunner.KnownState(state: .suspended, priority: 9), by: runner))
        #expect(task.state == .suspended)
    }

    /// The process that takes the task over claims it.
    @Test func taskThatIsHandedOverWaits() throws {
        let runner = runner()
        _ = try task(of: runner, record(of: plan()))
        let isAdopted = runner.adopt("one")
        #expect(isAdopted)
        runner.handOver("one")
        #expect(!runner.isOwned("one") && !library.isDownloadClaimed("one"))
        #expect(try library.downloads().map(\.state) == [.waiting])
        #expect(isKnown(SessionRunner.KnownState(state: .waiting, priority: 0), by: runner))
        let isReleased = runner.state.withLock { $0.machine.phase(of: "one") == nil }
        #expect(isReleased)
    }

    /// A request to pause a download that has failed has no effect, also after a takeover.
    @Test(arguments: [DownloadRecord.State.failed, .waiting]) func taskThatIsTakenOverHasItsState(
        state: DownloadRecord.State
    ) throws {
        let assetID = try plan()
        try library.addDownload(record(of: assetID, session: "terminal", state: state))
        let runner = runner()
        try DownloadTakeover(runner: runner).takeOver(downloadsOf: assetID, id: "one", includesFiles: true)
        let task = try #require(runner.tasks.first)
        #expect(runner.isOwned("one") && task.state == DownloadTask.State(state))
        task.suspend()
        let expected: DownloadRecord.State = state == .failed ? .failed : .suspended
        #expect(try library.downloads().map(\.state) == [expected])
        #expect(task.state == DownloadTask.State(expected))
    }

    /// The failed downloads of an asset end when another download has completed it with their selections.
    @Test(arguments: [true, false]) func failedDownloadsOfACompleteAssetEnd(isComplete: Bool) throws {
        let assetID = try plan()
        let otherID = try library.addAsset(source: Self.source.resolving("b.m3u8"), title: "B", selection: "")
        let runner = runner()
        let task = try task(of: runner, record(of: assetID))
        let lowest = DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        let records = [
            try record("failed", of: assetID, session: "terminal", state: .failed),
            try record("paused", of: assetID, session: "terminal", state: .suspended),
            try record("lowest", of: assetID, session: "terminal", state: .failed, lowest),
            try record("other", of: otherID, session: "terminal", state: .failed),
            try record("claimed", of: assetID, session: "terminal", state: .failed),
        ]
        for record in records { try library.addDownload(record) }
        let claim = try #require(library.claimDownload("claimed"))
        defer { withExtendedLifetime(claim) {} }
        if isComplete {
            try store(3, of: assetID)
            try library.finish(assetID)
        }
        runner.completeFailedTasks(like: task)
        let found = try library.downloads().map { "\($0.id) \($0.state)" }
        let expected: [String?] = [
            "one suspended", isComplete ? nil : "failed failed", "paused suspended", "lowest failed", "other failed",
            isComplete ? "claimed canceled" : "claimed failed",
        ]
        #expect(found == expected.compactMap { $0 })
        #expect(!library.isDownloadClaimed("failed"))
    }

    // MARK: Tasks of other processes

    /// Only a request to resume a task that has failed is visible at once; the process that manages the task applies the others.
    @Test func requestsAreLeftToTheProcessThatManagesTheTask() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan(), state: .failed))
        let claim = try #require(library.claimDownload("one"))
        defer { withExtendedLifetime(claim) {} }
        var states: [DownloadTask.State] = []
        var stored: [DownloadRecord.State] = []
        for request in [DownloadStateMachine.Request.suspend, .cancel, .resume] {
            runner.request(request, of: "one")
            states.append(task.state)
            stored += try library.downloads().map(\.state)
        }
        #expect(states == [.failed, .failed, .waiting] && stored == [.failed, .canceled, .waiting])
        #expect(!runner.isOwned("one") && task.isAttended && runner.tasks.count == 1)
    }

    /// The download has another URL in the catalog, so that this session reads it again before it manages the task.
    @Test func taskWithAFormerAddressIsNotAdopted() throws {
        let assetID = try plan()
        let runner = runner()
        _ = try task(of: runner, record(of: assetID))
        try library.removeDownload("one")
        let isAdopted = runner.adopt("one")
        try library.addDownload(record(of: assetID, source: Self.source.resolving("film.m3u8?token=2")))
        let isAdoptedLater = runner.adopt("one")
        #expect(!isAdopted && !isAdoptedLater && !runner.isOwned("one") && !library.isDownloadClaimed("one"))
        let isUnknown = runner.adopt("none")
        #expect(!isUnknown)
    }

    /// The process that was to end the canceled task has ended itself.
    @Test(arguments: [false, true]) func canceledTaskThatIsNotManagedEnds(isClaimed: Bool) throws {
        let runner = runner()
        let claim = isClaimed ? library.claimDownload("one") : nil
        defer { withExtendedLifetime(claim) {} }
        try library.addDownload(record(of: plan(), state: .canceled))
        runner.reconcile(try library.downloads(of: "films"))
        #expect(runner.tasks.map(\.state) == (isClaimed ? [.canceled] : []))
        #expect(try library.downloads().count == (isClaimed ? 1 : 0))
    }

    @Test func taskHasEndedWhenItsRecordIsCanceledOrRemoved() throws {
        let runner = runner()
        let task = try task(of: runner, record(of: plan()))
        #expect(!task.hasEnded)
        try library.changeDownload("one", .state(.canceled, nil))
        #expect(task.hasEnded)
        try library.removeDownload("one")
        #expect(task.hasEnded)
    }
}

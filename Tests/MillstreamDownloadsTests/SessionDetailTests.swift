import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the downloads of other sessions, the defaults of options, and which download completes another one.
@Suite(.timeLimit(.minutes(5))) struct SessionDetailTests {
    private static let source = ResourceAddress("https://films.example/film.m3u8")

    // MARK: Downloads of other sessions

    /// Only the process that manages a download can wait for its turn; one that was handed to the server waits for the server.
    @Test(
        arguments: [
            (.waiting, "server", false, false, .waiting), (.running, "server", false, false, .interrupted),
            (.waiting, "films", false, false, .interrupted), (.running, "films", false, true, .interrupted),
            (.waiting, "films", true, true, .running), (.waiting, "server", true, false, .waiting),
            (.running, "films", true, true, .running), (.running, "films", true, false, .waiting),
            (.suspended, "films", true, true, .paused), (.failed, "films", true, true, .failed),
            (.completed, "films", true, true, .complete), (.canceled, "films", true, true, .canceled),
        ] as [(DownloadTask.State, String, Bool, Bool, ListedDownload.State)]
    )
    func listedStateFollowsFromTheProcess(
        state: DownloadTask.State,
        session: String,
        isAttended: Bool,
        isWriting: Bool,
        expected: ListedDownload.State
    ) {
        let found = ListedDownload.State(state, session: session, isAttended: isAttended) { isWriting }
        #expect(found == expected)
    }

    /// Adds a record of a download to the catalog.
    private func add(
        _ id: String,
        to library: AssetLibrary,
        of assetID: String,
        session: String,
        state: DownloadRecord.State = .waiting,
        _ configuration: DownloadConfiguration = DownloadConfiguration(),
        source: ResourceAddress = Self.source
    ) throws {
        try library.addDownload(
            DownloadRecord(
                id: id,
                session: session,
                assetID: assetID,
                source: source,
                details: "",
                options: try configuration.stored,
                artwork: nil,
                state: state,
                priority: 0,
                creationTime: 0
            )
        )
    }

    @Test func downloadsThatTheSessionCannotManageAreListed() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        let session = try temporary.session("films", ScriptedTransport(), resumesAutomatically: false)
        let names = ["own", "claimed", "other", "canceled", "active"]
        let assets = try names.map { name in
            try library.addAsset(source: Self.source.resolving("\(name).m3u8"), title: name, selection: "")
        }
        try add("own", to: library, of: assets[0], session: "films")
        try add("claimed", to: library, of: assets[1], session: "films")
        var recording = DownloadConfiguration()
        recording.recording = RecordingOptions()
        let file = ResourceAddress("file:///films/film.m3u8")
        try add("other", to: library, of: assets[2], session: "terminal", recording, source: file)
        try add("canceled", to: library, of: assets[3], session: "terminal", state: .canceled)
        // Of several downloads, the active one is listed, otherwise the first one.
        try add("first", to: library, of: assets[4], session: "terminal")
        try add("active", to: library, of: assets[4], session: "terminal")
        try add("last", to: library, of: assets[4], session: "terminal", state: .suspended)
        try add("second", to: library, of: assets[2], session: "terminal")
        let claims = [library.claimDownload("claimed"), library.claimDownload("active"), library.claimDownload("last")]
        defer { withExtendedLifetime(claims) {} }
        #expect(claims.allSatisfy { $0 != nil })
        let found = try session.downloadsOfOthers()
        #expect(found.mapValues(\.id) == [assets[1]: "claimed", assets[2]: "other", assets[4]: "active"])
        let claimed = try #require(found[assets[1]])
        #expect(claimed.isAttended && claimed.isActive && claimed.state == .waiting)
        #expect(!claimed.isRecording && !claimed.hasFileSource && claimed.error == nil)
        let other = try #require(found[assets[2]])
        #expect(!other.isAttended && !other.isActive && other.state == .interrupted)
        #expect(other.isRecording && other.hasFileSource && other.assetID == assets[2])
        let one = try session.downloadsOfOthers(of: assets[2])
        #expect(one.mapValues(\.id) == [assets[2]: "other"])
        await session.invalidate()
    }

    /// A process that manages a task which is paused or has failed does not run it.
    @Test func pausedDownloadIsNotActive() async throws {
        let temporary = try TemporaryLibrary()
        let library = temporary.library
        let session = try temporary.session("films", ScriptedTransport(), resumesAutomatically: false)
        let id = try library.addAsset(source: Self.source, title: "A", selection: "")
        try add("paused", to: library, of: id, session: "terminal", state: .suspended)
        let claim = library.claimDownload("paused")
        defer { withExtendedLifetime(claim) {} }
        let paused = try #require(try session.downloadsOfOthers()[id])
        #expect(paused.isAttended && !paused.isActive && paused.state == .paused)
        let failure = DownloadRecord.Failure(code: "too-large", detail: "exactly", message: "it happened")
        try library.changeDownload("paused", .state(.failed, failure))
        let failed = try #require(try session.downloadsOfOthers()[id])
        #expect(!failed.isActive && failed.state == .failed)
        #expect(failed.error?.code == .tooLarge && failed.error?.message == "it happened")
        await session.invalidate()
    }

    // MARK: States

    @Test func onlyEndedTasksAreFinal() {
        #expect(DownloadTask.State.allCases.filter(\.isFinal) == [.completed, .canceled])
    }

    // MARK: Options

    @Test func optionsHaveTheDocumentedDefaults() {
        let download = DownloadConfiguration()
        #expect(download.priority == 0 && !download.replacesStoredSegments && download.details.isEmpty)
        #expect(download.maximumConcurrentFetches == 6 && download.maximumRate == nil && download.recording == nil)
        let session = DownloadSession.Configuration()
        #expect(session.maximumConcurrentTasks == 3 && session.resumesAutomatically && session.maximumRate == nil)
        #expect(session.storagePolicyInterval == .seconds(60) && !session.hasAppliedStoragePolicy)
        #expect(session.continuesAssetsWithOtherSignature && session.canDecode("any"))
        let recording = RecordingOptions()
        #expect(recording.duration == nil && !recording.startsFromBeginning && !recording.waitsForStream)
        let selection = DownloadSelection()
        #expect(!selection.prefersMultichannelAudio && !selection.prefersLosslessAudio && !selection.changesMedia)
    }

    /// A recording completes another one, and a download those whose selections it has, apart from keys.
    @Test func downloadIsFulfilledByOneWithAllItsSelections() throws {
        let best = DownloadConfiguration(selection: DownloadSelection())
        var both = best
        both.furtherSelections = [DownloadSelection(variants: .lowest)]
        var keyed = best
        keyed.selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        var recording = best
        recording.recording = RecordingOptions()
        var other = recording
        other.recording = RecordingOptions(duration: MediaTime(seconds: 5))
        other.selection = DownloadSelection(variants: .lowest)
        for (first, second, expected) in [
            (best, best, true), (best, both, true), (both, best, false), (best, keyed, true), (keyed, best, true),
            (best, recording, false), (recording, best, false), (recording, other, true), (other, recording, true),
        ] {
            #expect(first.isFulfilled(by: second) == expected)
        }
    }

    // MARK: Texts

    /// The value of an edit can have the separators of a selection.
    @Test func editsWithSeparatorsAreRestored() {
        var selection = DownloadSelection()
        selection.edits = EditPlan([.append("https://films.example/a.m3u8?n=1&m=2%26"), .prepend("gap:4")])
        #expect(DownloadSelection(selection.description) == selection)
    }

    @Test(arguments: ["edit=", "edit", "=best", "qualifier=", "audio", "variants=best=all", "max-height=1.5"])
    func incompleteTextIsNoSelection(text: String) {
        #expect(DownloadSelection(text) == nil)
    }

    @Test(arguments: ["width>=0", "height=0", "channels>0", "sample-rate!=0", "frame-rate>=0"])
    func qualifierMayHaveTheValueZero(text: String) throws {
        #expect(try #require(VariantQualifier(text)).description == text)
    }

    // MARK: Titles

    /// Only a stream of the editing server has the title of its source, and a name is not all extension.
    @Test(arguments: [
        ("file:///films/play.m3u8?url=https%3A%2F%2Fh.example%2Fb.m3u8", "play"),
        ("https://h.example/show.m3u8?url=https%3A%2F%2Fh.example%2Fb.m3u8", "show"),
        ("https://h.example/a/.mp4", ".mp4"), ("https://h.example/a/b.mp4", "b"),
        ("https://h.example/play.m3u8?other=https%3A%2F%2Fh.example%2Fb.m3u8", "play"),
    ])
    func titleIsDerivedFromTheName(address: String, title: String) {
        #expect(ResourceAddress(address).defaultAssetTitle == title)
    }
}

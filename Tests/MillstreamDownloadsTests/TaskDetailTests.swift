import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests which downloads of other sessions a session takes over, and the selections of a recording.
@Suite(.timeLimit(.minutes(5))) struct TaskDetailTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "film.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static let texts = [
        source.text: "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        base + "0.ts": "zero", base + "1.ts": "one",
    ]

    // MARK: Takeovers

    /// Adds a record of a download of a session that does not exist any more.
    private func add(_ id: String, of assetID: String, inserting source: String? = nil) throws {
        var configuration = DownloadConfiguration()
        if let source { configuration.selection.edits = EditPlan([.prepend(source)]) }
        try library.addDownload(
            DownloadRecord(
                id: id,
                session: "terminal",
                assetID: assetID,
                source: Self.source,
                details: "",
                options: try configuration.stored,
                artwork: nil,
                state: .suspended,
                priority: 0,
                creationTime: 0
            )
        )
    }

    /// A session that only loads resources over HTTP does not take over downloads of files.
    @Test func downloadsOfFilesAreTakenOverOnRequest() async throws {
        let assetID = try library.addAsset(source: Self.source, title: "A", selection: "")
        let otherID = try library.addAsset(source: Self.source.resolving("other.m3u8"), title: "B", selection: "")
        try add("disk", of: assetID, inserting: "file:///films/break.m3u8")
        try add("web", of: assetID)
        try add("more", of: assetID)
        try add("other", of: otherID)
        let session = try temporary.session("server", ScriptedTransport(), resumesAutomatically: false)
        try session.takeOverDownloads(of: assetID, id: "web", includingFiles: false)
        #expect(session.tasks.map(\.id) == ["web"])
        try session.takeOverDownloads(of: assetID, includingFiles: false)
        #expect(session.tasks.map(\.id) == ["web", "more"])
        try session.takeOverDownloads(of: assetID)
        #expect(session.tasks.map(\.id) == ["web", "more", "disk"])
        #expect(session.tasks.allSatisfy { $0.state == .suspended && $0.isAttended && session.manages($0.id) })
        let records = try library.downloads()
        #expect(records.filter { $0.session == "server" }.map(\.id) == ["disk", "web", "more"])
        #expect(records.filter { $0.session == "terminal" }.map(\.id) == ["other"])
        await session.invalidate()
    }

    /// A session that has ended takes nothing over, and leaves the records to others.
    @Test func invalidSessionTakesNothingOver() async throws {
        let assetID = try library.addAsset(source: Self.source, title: "A", selection: "")
        try add("web", of: assetID)
        let session = try temporary.session("server", ScriptedTransport(), resumesAutomatically: false)
        await session.invalidate()
        try session.takeOverDownloads(of: assetID)
        #expect(session.tasks.isEmpty && !library.isDownloadClaimed("web"))
        #expect(try library.downloads().map(\.session) == ["terminal"])
    }

    // MARK: Selections

    /// Further selections have no effect on a recording; those of a download are completed one after the other.
    @Test(arguments: [(true, [0]), (false, [0, 1])])
    func recordingHasOneSelection(isRecording: Bool, expected: [Int]) async throws {
        let session = try temporary.session("films", ScriptedTransport(texts: Self.texts))
        var configuration = DownloadConfiguration()
        configuration.furtherSelections = [DownloadSelection(variants: .lowest)]
        if isRecording { configuration.recording = RecordingOptions() }
        let task = try await session.makeTask(Self.source, configuration: configuration)
        let events = task.events
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 8))
        var completed: [Int] = []
        for await event in events {
            if case .selectionCompleted(let number) = event { completed.append(number) }
        }
        #expect(completed == expected)
        #expect(task.progress.selection?.count == (isRecording ? nil : 2))
        await session.invalidate()
    }
}

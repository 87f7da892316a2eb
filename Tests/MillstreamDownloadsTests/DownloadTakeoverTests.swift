import AssetStorage
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests that a session continues the downloads and recordings that another session left.
@Suite(.timeLimit(.minutes(5))) struct DownloadTakeoverTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func recording(_ seconds: Int64) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(selection: DownloadSelection(variants: .lowest), title: "Live")
        configuration.recording = RecordingOptions(
            duration: MediaTime(seconds: seconds),
            startsFromBeginning: true,
            waitsForStream: true
        )
        return configuration
    }

    /// Leaves the task of a recording in the catalog, as a process that was killed.
    private func leaveRecording(of source: ResourceAddress = Self.source) async throws -> DownloadTask {
        let former = try temporary.session("terminal", ScriptedTransport(), resumesAutomatically: false)
        let task = try await former.makeTask(source, configuration: Self.recording(100))
        await former.invalidate()
        try library.changeDownload(task.id, .state(.waiting, nil))
        return task
    }

    @Test func interruptedRecordingContinuesWithItsOptionsUntilTheStreamEnds() async throws {
        let left = try await leaveRecording()
        let origin = ScriptedTransport(texts: [
            Self.source.text: Self.playlist, "https://live.example/0.ts": "zero", "https://live.example/1.ts": "one",
        ])
        let server = try temporary.session("server", origin)
        #expect(server.tasks.isEmpty)
        try server.takeOverDownloads(of: left.assetID)
        let task = try #require(server.tasks.first)
        #expect(server.tasks.count == 1 && task.id == left.id && task.assetID == left.assetID)
        #expect(task.title == "Live" && task.configuration == left.configuration && task.isAttended)
        #expect(try library.downloads().map(\.session) == ["server"])
        // The task does not run before it is resumed.
        #expect(origin.requests.isEmpty)
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 8))
        let text = try temporary.text("media/media.m3u8", of: asset.id)
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"), "\(text)")
        #expect(try library.downloads().isEmpty)
        await server.invalidate()
    }

    @Test func sessionWithTheNewIdentifierHasTheRecordingLater() async throws {
        let left = try await leaveRecording()
        let server = try temporary.session("server", ScriptedTransport())
        try server.takeOverDownloads(of: left.assetID)
        await server.invalidate()
        // A task that does not run by itself, so that nothing is loaded.
        try library.changeDownload(left.id, .state(.suspended, nil))
        let next = try temporary.session("server", ScriptedTransport())
        let former = try temporary.session("terminal", ScriptedTransport())
        #expect(next.tasks.map(\.id) == [left.id] && former.tasks.isEmpty)
        await next.invalidate()
        await former.invalidate()
    }

    @Test func failedTaskHasItsErrorAndCanBeCanceled() async throws {
        let left = try await leaveRecording()
        let failure = DownloadRecord.Failure(code: "storage", detail: "disk", message: "the disk is full")
        try library.changeDownload(left.id, .state(.failed, failure))
        let server = try temporary.session("server", ScriptedTransport())
        try server.takeOverDownloads(of: left.assetID)
        let task = try #require(server.tasks.first)
        #expect(task.state == .failed && task.error?.message == "the disk is full")
        task.cancel()
        #expect(task.state == .canceled && server.tasks.isEmpty)
        #expect(try library.downloads().isEmpty)
        await server.invalidate()
    }

    /// A session that only lists a paused task does not manage it; the task has neither been completed nor canceled.
    @Test func formerSessionIsToldThatAnotherOneContinuesTheTask() async throws {
        let left = try await leaveRecording()
        let former = try temporary.session("terminal", ScriptedTransport(), resumesAutomatically: false)
        let listed = try #require(former.tasks.first)
        let events = listed.events
        let server = try temporary.session("server", ScriptedTransport())
        try server.takeOverDownloads(of: left.assetID)
        #expect(server.tasks.map(\.id) == [listed.id])
        let error = await #expect(throws: DownloadError.self) { try await listed.value() }
        #expect(error?.code == .storage && error?.detail == "asset-busy")
        #expect(error?.message == "another session continues the download \(left.id)")
        var reported: [String?] = []
        for await event in events {
            if case .completed(_, let error) = event { reported.append(error?.detail) }
        }
        #expect(reported == ["asset-busy"])
        #expect(listed.error?.detail == "asset-busy" && former.tasks.isEmpty)
        await former.invalidate()
        await server.invalidate()
    }

    @Test func downloadsOfOtherProcessesAndCanceledOnesStay() async throws {
        let former = try temporary.session("terminal", ScriptedTransport())
        let managed = try await former.makeTask(Self.source, configuration: Self.recording(100))
        let server = try temporary.session("server", ScriptedTransport())
        try server.takeOverDownloads(of: managed.assetID)
        #expect(server.tasks.isEmpty)
        await former.invalidate()
        try server.takeOverDownloads(of: "none")
        #expect(server.tasks.isEmpty)
        try library.changeDownload(managed.id, .state(.canceled, nil))
        try server.takeOverDownloads(of: managed.assetID)
        #expect(server.tasks.isEmpty)
        #expect(try library.downloads().map(\.session) == ["terminal"])
        await server.invalidate()
    }

    @Test func oneDownloadIsHandedToTheProcessOfTheServer() async throws {
        let former = try temporary.session("terminal", ScriptedTransport())
        let kept = try await former.makeTask(Self.source, configuration: Self.recording(5))
        let handed = try await former.makeTask(Self.source, configuration: Self.recording(6))
        await former.invalidate()
        let command = try temporary.session("server", ScriptedTransport(), resumesAutomatically: false)
        try command.takeOverDownloads(of: handed.assetID, id: handed.id)
        let task = try #require(command.tasks.first)
        #expect(task.id == handed.id && command.tasks.count == 1)
        let isHandedOver = command.handOver(task)
        #expect(isHandedOver && !task.isAttended)
        let records = try library.downloads()
        #expect(records.map(\.id) == [kept.id, handed.id] && records.map(\.session) == ["terminal", "server"])
        #expect(records.map(\.state) == [.suspended, .waiting])
        await command.invalidate()
    }

    /// The library has one recording of each URL.
    @Test func newRecordingReplacesTheOneThatAnotherSessionLeft() async throws {
        let left = try await leaveRecording()
        let kept = try await leaveRecording(of: ResourceAddress("https://live.example/other.m3u8"))
        let server = try temporary.session("server", ScriptedTransport())
        let task = try await server.makeTask(Self.source, configuration: Self.recording(6))
        #expect(task.assetID == left.assetID && task.configuration.recording?.duration == MediaTime(seconds: 6))
        #expect(try library.downloads().map(\.id) == [kept.id, task.id])
        await server.invalidate()
    }

    /// A recording is only removed for a task that continues it.
    @Test func recordingsOfOtherSessionsStayIfTheNewOneCannotBeCreated() async throws {
        let former = try temporary.session("terminal", ScriptedTransport())
        let first = try await former.makeTask(Self.source, configuration: Self.recording(5))
        let second = try await former.makeTask(Self.source, configuration: Self.recording(6))
        await former.invalidate()
        // Another process has resumed the second one.
        let claim = try #require(library.claimDownload(second.id))
        let server = try temporary.session("server", ScriptedTransport())
        let error = await #expect(throws: DownloadError.self) {
            try await server.makeTask(Self.source, configuration: Self.recording(7))
        }
        #expect(error?.detail == "asset-busy" && server.tasks.isEmpty)
        #expect(try library.downloads().map(\.id) == [first.id, second.id])
        withExtendedLifetime(claim) {}
        await server.invalidate()
    }
}

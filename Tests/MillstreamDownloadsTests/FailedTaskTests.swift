import AssetStorage
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests tasks that have failed; a session on another library object represents another process.
@Suite(.timeLimit(.minutes(5))) struct FailedTaskTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "film.m3u8")
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// Returns an origin of an encrypted segment that does not have its key; keys can be in files.
    private static func originWithoutKey() -> SchemeTransport {
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key"
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """
        let origin = ScriptedTransport(texts: [source.text: playlist])
        origin.setResponses(for: base + "0.ts", .bytes(encryptedSegment))
        return SchemeTransport(http: origin, file: FileTransport())
    }

    /// A segment that begins as a transport stream does, encrypted with the key of ``configurationWithKey()``.
    private static let encryptedSegment: [UInt8] = [
        0xeb, 0x6b, 0x19, 0x90, 0x26, 0x43, 0x99, 0x6e,
        0xb8, 0x0a, 0xb4, 0x89, 0x08, 0x46, 0xbc, 0x8a,
    ]

    /// Returns the options of a download with the key that the origin does not have.
    private static func configurationWithKey() throws -> DownloadConfiguration {
        var selection = DownloadSelection.standard
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        return DownloadConfiguration(selection: selection)
    }

    /// Runs a task of a session, and returns it after it has failed.
    private func failedTask(
        of session: DownloadSession,
        _ configuration: DownloadConfiguration = DownloadConfiguration()
    ) async throws -> DownloadTask {
        let task = try await session.makeTask(Self.source, configuration: configuration)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        return task
    }

    /// Returns the error with which the run of a task ends.
    private func end(of events: AsyncStream<DownloadTask.Event>) async -> DownloadError? {
        for await event in events {
            if case .completed(_, let error) = event { return error }
        }
        return nil
    }

    /// The process that manages the task can fail again before the other one has read that the task waits.
    @Test func failedTaskOfAnotherProcessIsRetriedThere() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let origin = ScriptedTransport(texts: [Self.source.text: playlist, Self.base + "0.ts": "zero"])
        let owner = try temporary.session("films", origin)
        _ = try await failedTask(of: owner)
        let follower = try temporary.session("films", ScriptedTransport(), resumesAutomatically: false)
        let seen = try #require(follower.tasks.first)
        #expect(seen.state == .failed && seen.isAttended)
        let events = seen.events
        seen.resume()
        #expect(await end(of: events)?.detail == "http-status")
        #expect(seen.state == .failed && seen.isAttended)
        origin.setResponses(for: Self.base + "1.ts", .text("one"))
        seen.resume()
        #expect(try await seen.value().state == .complete)
        await follower.invalidate()
        await owner.invalidate()
    }

    /// The list of downloads has the error after a request to pause the download, whichever process manages it.
    @Test(arguments: [false, true]) func failedTaskThatIsSuspendedKeepsItsError(isAttended: Bool) async throws {
        let owner = try temporary.session("films", Self.originWithoutKey())
        let task = try await failedTask(of: owner)
        let error = try #require(task.error)
        if !isAttended { await owner.invalidate() }
        let follower = try temporary.session("films", ScriptedTransport(), resumesAutomatically: false)
        let seen = try #require(follower.tasks.first)
        #expect(seen.state == .failed && seen.isAttended == isAttended)
        seen.suspend()
        let record = try #require(try temporary.library.downloads().first)
        #expect(record.state == .failed && record.failure?.message == error.message)
        let later = try temporary.session("films", ScriptedTransport(), resumesAutomatically: false)
        #expect(later.tasks.map(\.state) == [.failed])
        #expect(later.tasks.first?.error?.message == error.message)
        for session in [later, follower, owner] { await session.invalidate() }
    }

    /// The URL of the key answers with an error, and the key is given instead.
    @Test(arguments: [false, true]) func failedTaskIsCompletedByADownloadWithAKey(isSameSession: Bool) async throws {
        let origin = Self.originWithoutKey()
        let first = try temporary.session("films", origin)
        let task = try await failedTask(of: first)
        if !isSameSession { await first.invalidate() }
        let second = try isSameSession ? first : temporary.session("others", origin)
        let keyed = try await second.makeTask(Self.source, configuration: Self.configurationWithKey())
        keyed.resume()
        let asset = try await keyed.value()
        #expect(asset.id == task.assetID && asset.state == .complete)
        #expect(try temporary.library.downloads().isEmpty)
        if isSameSession { #expect(task.state == .completed) }
        await second.invalidate()
    }

    /// The process of a failed task, such as a server, need not end before another one downloads the asset with a key.
    @Test func failedTaskOfAnotherProcessIsCompletedByADownloadWithAKey() async throws {
        let origin = Self.originWithoutKey()
        try await expectCompletion(
            ofTaskThatFailsWith: origin,
            DownloadConfiguration(),
            byTaskWith: origin,
            Self.configurationWithKey()
        )
    }

    /// For example, a server that may not load the stream was to record it, and a terminal records it instead.
    @Test func failedRecordingOfAnotherProcessIsCompletedByARecording() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions()
        try await expectCompletion(
            ofTaskThatFailsWith: ScriptedTransport(),
            configuration,
            byTaskWith: ScriptedTransport(texts: [Self.source.text: playlist, Self.base + "0.ts": "zero"]),
            configuration
        )
    }

    /// Expects that a task that fails in the process of a server is completed by the task of another process, while the first
    /// process runs.
    private func expectCompletion(
        ofTaskThatFailsWith failing: any Transport,
        _ failingConfiguration: DownloadConfiguration,
        byTaskWith working: any Transport,
        _ workingConfiguration: DownloadConfiguration
    ) async throws {
        let owner = try temporary.session(DownloadSession.serverIdentifier, failing)
        let task = try await failedTask(of: owner, failingConfiguration)
        let events = task.events
        let other = try temporary.session("others", working)
        let completing = try await other.makeTask(Self.source, configuration: workingConfiguration)
        completing.resume()
        let asset = try await completing.value()
        #expect(asset.id == task.assetID && asset.state == .complete)
        for await event in events {
            // The end of the run that failed can be among the events.
            if case .completed(_, let error) = event, error == nil { break }
        }
        #expect(task.state == .completed)
        #expect(try temporary.library.downloads().isEmpty)
        await other.invalidate()
        await owner.invalidate()
    }

    /// The error names the download and the command that ends it.
    @Test func pausedTaskOfAnotherProcessIsNamed() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let origin = ScriptedTransport(texts: [Self.source.text: playlist, Self.base + "0.ts": "zero"])
        let owner = try temporary.session(DownloadSession.serverIdentifier, origin)
        let task = try await owner.makeTask(Self.source)
        let other = try temporary.session("others", origin)
        let error = await #expect(throws: DownloadError.self) { try await other.makeTask(Self.source) }
        #expect(error?.detail == "asset-busy")
        #expect(error?.message.hasSuffix("it is the download \(task.id) of millstream serve") == true)
        #expect(error?.hint?.hasSuffix("millstream downloads cancel \(task.id)") == true)
        await other.invalidate()
        await owner.invalidate()
    }

    /// Another selection needs files that the complete asset does not have.
    @Test func failedTaskWithAnotherSelectionStays() async throws {
        let main = """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=800000
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=3000000
            high.m3u8

            """
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let origin = ScriptedTransport(texts: [Self.source.text: main, Self.base + "low.m3u8": media])
        origin.setResponses(for: Self.base + "0.ts", .text("zero"))
        let failing = try temporary.session("others", origin)
        let high = ScriptedTransport.Response.text(media.replacing("0.ts", with: "1.ts"))
        origin.setResponses(for: Self.base + "high.m3u8", high)
        let task = try await failedTask(of: failing)
        await failing.invalidate()
        let lowest = try await temporary.session("films", origin).makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        lowest.resume()
        #expect(try await lowest.value().state == .partial)
        #expect(try temporary.library.downloads().map(\.id) == [task.id])
    }
}

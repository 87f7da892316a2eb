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

    private func session(
        _ transport: any Transport,
        identifier: String = "films",
        resumesAutomatically: Bool = true
    ) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = resumesAutomatically
        return try DownloadSession(
            identifier: identifier,
            library: try AssetLibrary(directory: temporary.directory),
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
    }

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
        return SchemeTransport(
            http: ScriptedTransport(texts: [source.text: playlist, base + "0.ts": "zero"]),
            file: FileTransport()
        )
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
        let owner = try session(origin)
        let task = try await owner.makeTask(Self.source)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        let follower = try session(ScriptedTransport(), resumesAutomatically: false)
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

    /// The URL of the key answers with an error, and the key is given instead.
    @Test(arguments: [false, true]) func failedTaskIsCompletedByADownloadWithAKey(isSameSession: Bool) async throws {
        let origin = Self.originWithoutKey()
        let first = try session(origin)
        let task = try await first.makeTask(Self.source)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        if !isSameSession { await first.invalidate() }
        let second = try isSameSession ? first : session(origin, identifier: "others")
        var selection = DownloadSelection.standard
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        let keyed = try await second.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: selection)
        )
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
        let owner = try session(origin, identifier: DownloadSession.serverIdentifier)
        let task = try await owner.makeTask(Self.source)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        let events = task.events
        let other = try session(origin, identifier: "others")
        var selection = DownloadSelection.standard
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        let keyed = try await other.makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: selection)
        )
        keyed.resume()
        let asset = try await keyed.value()
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

    /// For example, a server that may not load the stream was to record it, and a terminal records it instead.
    @Test func failedRecordingOfAnotherProcessIsCompletedByARecording() async throws {
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let origin = ScriptedTransport(texts: [Self.source.text: playlist, Self.base + "0.ts": "zero"])
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions()
        let owner = try session(ScriptedTransport(), identifier: DownloadSession.serverIdentifier)
        let task = try await owner.makeTask(Self.source, configuration: configuration)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        let events = task.events
        let other = try session(origin, identifier: "others")
        let recording = try await other.makeTask(Self.source, configuration: configuration)
        recording.resume()
        let asset = try await recording.value()
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
        let owner = try session(origin, identifier: DownloadSession.serverIdentifier)
        let task = try await owner.makeTask(Self.source)
        let other = try session(origin, identifier: "others")
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
        let failing = try session(origin, identifier: "others")
        let high = ScriptedTransport.Response.text(media.replacing("0.ts", with: "1.ts"))
        origin.setResponses(for: Self.base + "high.m3u8", high)
        let task = try await failing.makeTask(Self.source)
        task.resume()
        await #expect(throws: DownloadError.self) { try await task.value() }
        await failing.invalidate()
        let lowest = try await session(origin).makeTask(
            Self.source,
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .lowest))
        )
        lowest.resume()
        #expect(try await lowest.value().state == .partial)
        #expect(try temporary.library.downloads().map(\.id) == [task.id])
    }
}

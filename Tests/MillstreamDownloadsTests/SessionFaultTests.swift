import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that stands still, and counts the sleeps that were canceled.
private final class CancelableClock: TimeSource {
    private let canceled = Mutex(0)

    var now: Duration { .zero }
    /// The number of sleeps that were canceled.
    var canceledCount: Int { canceled.withLock { $0 } }

    func sleep(for duration: Duration) async throws {
        do {
            while true { try await SystemTimeSource().sleep(for: .seconds(1)) }
        } catch {
            canceled.withLock { $0 += 1 }
            throw error
        }
    }
}

/// Tests which tasks a session replaces, changes and leaves alone, and the end of a session.
@Suite(.timeLimit(.minutes(5))) struct SessionFaultTests {
    private static let base = "https://films.example/"
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func source(_ query: String = "") -> ResourceAddress { ResourceAddress("\(base)main.m3u8\(query)") }

    // MARK: Signatures

    /// Returns an origin of a film with signed URLs.
    ///
    /// The origin does not have the segment.
    private static func origin(_ query: String) -> ScriptedTransport {
        ScriptedTransport(texts: [
            source(query).text: "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nv.m3u8\(query)\n",
            "\(base)v.m3u8\(query)": media.replacing("0.ts", with: "0.ts\(query)"),
        ])
    }

    /// The description and the image of a task are copied to the task that replaces it, unless the new task has its
    /// own.
    @Test(arguments: [("", "film 7"), ("film 8", "film 8")])
    func taskWithANewSignatureHasTheDetailsOfTheFormerOne(details: String, expected: String) async throws {
        var configuration = DownloadConfiguration()
        configuration.details = "film 7"
        configuration.artwork = Data("GIF89a: an image".utf8)
        let former = try temporary.session("films", Self.origin("?token=a"), resumesAutomatically: false)
        let failing = try await former.makeTask(Self.source("?token=a"), configuration: configuration)
        failing.resume()
        await #expect(throws: DownloadError.self) { try await failing.value() }
        await former.invalidate()
        let session = try temporary.session("films", Self.origin("?token=b"), resumesAutomatically: false)
        var changed = DownloadConfiguration()
        changed.details = details
        let task = try await session.makeTask(Self.source("?token=b"), configuration: changed)
        #expect(task.assetID == failing.assetID && session.tasks.map(\.id) == [task.id])
        #expect(task.details == expected && task.artwork == configuration.artwork)
        let record = try #require(try library.downloads().first { $0.id == task.id })
        #expect(record.details == expected && record.artwork == configuration.artwork)
        #expect(try library.downloads().count == 1)
        await session.invalidate()
    }

    // MARK: Other tasks

    /// A new recording replaces the one that a session left, but not a paused download of the same URL.
    @Test(arguments: ["terminal", "server"]) func newRecordingLeavesDownloadsAlone(identifier: String) async throws {
        let assetID = try library.addAsset(source: Self.source(), title: "Live", selection: "")
        var recording = DownloadConfiguration()
        recording.recording = RecordingOptions()
        var former = recording
        former.recording = RecordingOptions(duration: MediaTime(seconds: 5))
        try temporary.addRecord("paused", of: assetID, source: Self.source(), session: identifier)
        try temporary.addRecord("recorded", of: assetID, source: Self.source(), session: identifier, former)
        let session = try temporary.session("server", ScriptedTransport(), resumesAutomatically: false)
        let task = try await session.makeTask(Self.source(), configuration: recording)
        #expect(task.assetID == assetID)
        #expect(try Set(library.downloads().map(\.id)) == ["paused", task.id])
        await session.invalidate()
    }

    /// If another process manages a task, its options are changed in that process.
    @Test func taskOfAnotherProcessIsNotChanged() async throws {
        let transport = ScriptedTransport(texts: [Self.source().text: Self.media])
        let owner = try temporary.session("films", transport, resumesAutomatically: false)
        let task = try await owner.makeTask(Self.source())
        let other = try temporary.session("films", transport, resumesAutomatically: false)
        let seen = try #require(other.tasks.first)
        var changed = DownloadConfiguration(maximumConcurrentFetches: 2)
        changed.details = "film 7"
        try await other.change(seen, to: changed)
        #expect(seen.id == task.id && seen.details.isEmpty && seen.configuration.maximumConcurrentFetches == 6)
        #expect(try library.downloads().map(\.details) == [""])
        await owner.invalidate()
        try await other.change(seen, to: changed)
        #expect(seen.details == "film 7" && seen.configuration.maximumConcurrentFetches == 2)
        #expect(try library.downloads().map(\.details) == ["film 7"])
        await other.invalidate()
    }

    // MARK: Events

    /// If a recording waits for its stream and its metadata is too long, its task and its session report this.
    @Test func recordingThatWaitsIsReported() async throws {
        let value = String(repeating: "y", count: 17 << 10)
        let range = "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",X-A=\"\(value)\"\n"
        let transport = ScriptedTransport(texts: [Self.base + "0.ts": "zero"])
        transport.setResponses(
            for: Self.source().text,
            .failure(TransportError(.status, "not found", status: 404)),
            .text(Self.media.replacing("#EXTINF", with: range + "#EXTINF"))
        )
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            time: RecordingTime()
        )
        var configuration = DownloadConfiguration()
        configuration.recording = RecordingOptions(waitsForStream: true)
        let task = try await session.makeTask(Self.source(), configuration: configuration)
        let (events, allEvents) = (task.events, session.events)
        task.resume()
        let asset = try await task.value()
        #expect(asset.state == .complete)
        await session.invalidate()
        var names: [String] = []
        for await event in events {
            if case .waitingForStream(let error) = event { names.append(error.detail) }
            if case .metadataOmitted = event { names.append("omitted") }
        }
        for await (_, event) in allEvents {
            if case .waitingForStream(let error) = event { names.append(error.detail) }
            if case .metadataOmitted = event { names.append("omitted") }
        }
        #expect(names == ["http-status", "omitted", "http-status", "omitted"])
    }

    // MARK: End

    /// A session that has ended neither reads the catalog nor deletes assets.
    @Test func endedSessionDoesNotWaitAnyMore() async throws {
        let time = CancelableClock()
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(ScriptedTransport()),
            time: time
        )
        await session.invalidate()
        for _ in 0..<1_000 {
            if time.canceledCount > 0 { break }
            try await SystemTimeSource().sleep(for: .milliseconds(5))
        }
        #expect(time.canceledCount == 1)
        withExtendedLifetime(session) {}
    }
}

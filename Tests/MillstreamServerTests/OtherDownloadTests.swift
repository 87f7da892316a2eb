import AssetStorage
import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests what clients are told of the downloads of other processes in the library of the server.
@Suite(.timeLimit(.minutes(10))) struct OtherDownloadTests {
    private final class States: Sendable {
        let states = Mutex<[String]>([])
    }

    /// A download in the catalog without a process, as one of a terminal that was closed.
    private struct Download {
        let id: String
        let assetID: String

        init(in library: AssetLibrary, recording: RecordingOptions?) async throws {
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
            let session = try DownloadSession(
                identifier: "terminal",
                library: library,
                loader: ResourceLoader(ScriptedTransport(texts: ["https://h/a.m3u8": playlist]))
            )
            var configuration = DownloadConfiguration()
            configuration.recording = recording
            let task = try await session.makeTask(ResourceAddress("https://h/a.m3u8"), configuration: configuration)
            id = task.id
            assetID = task.assetID
            await session.invalidate()
            try library.changeDownload(id, .state(.waiting, nil))
        }
    }

    @Test(arguments: [true, false])
    func activityIsThatOfTheListOfDownloads(isRecording: Bool) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let download = try await Download(in: library, recording: isRecording ? RecordingOptions() : nil)
            let kind = isRecording ? "recording" : "download"
            func expect(_ activity: String, _ state: String, isAttended: Bool, isContinued: Bool) async throws {
                let report = try await stage.ask("/api/library").body
                #expect(report.contains(#""activity":"\#(activity)""#), "\(report)")
                let task = #""task":{"id":"\#(download.id)","kind":"\#(kind)","state":"\#(state)","#
                #expect(report.contains(task + #""attended":\#(isAttended)"#), "\(report)")
                let command = "millstream downloads resume \(download.id) --library "
                #expect(report.contains(command) == isContinued, "\(report)")
            }
            try await expect("idle", "interrupted", isAttended: false, isContinued: true)
            let claim = try #require(library.claimDownload(download.id))
            try await expect("waiting", "waiting", isAttended: true, isContinued: false)
            let lock = try library.lock(download.assetID)
            try await expect(
                isRecording ? "recording" : "downloading",
                "running",
                isAttended: true,
                isContinued: false
            )
            withExtendedLifetime(lock) {}
            try library.changeDownload(download.id, .state(.suspended, nil))
            try await expect("paused", "paused", isAttended: true, isContinued: true)
            let failure = DownloadRecord.Failure(code: "storage", detail: "disk", message: "the disk is full")
            try library.changeDownload(download.id, .state(.failed, failure))
            try await expect("failed", "failed", isAttended: true, isContinued: true)
            #expect(try await stage.ask("/api/library").body.contains("the disk is full"))
            withExtendedLifetime(claim) {}
            try library.removeDownload(download.id)
            let report = try await stage.ask("/api/library").body
            #expect(report.contains(#""activity":"idle""#) && !report.contains(#""task""#), "\(report)")
        }
    }

    /// The end of the process changes no file, so that the asset itself stays as it is.
    @Test func endOfTheOtherProcessIsReportedToPages() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let download = try await Download(in: library, recording: RecordingOptions())
        let (simulation, broadcast) = (Simulation(), EventBroadcast())
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(ScriptedTransport()),
            broadcast: broadcast,
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let watch = LibraryObserver(library: library, downloads: downloads, broadcast: broadcast, time: simulation)
        let seen = States()
        let events = broadcast.events()
        try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watch.run() }
                group.addTask {
                    for await event in events where event.name == "asset" {
                        let state = event.data.json.firstMatch(of: /"state":"([a-z]+)","attended"/).map { String($0.1) }
                        seen.states.withLock { $0.append(state ?? event.data.json) }
                    }
                }
                try await Self.hold(download, of: library, in: simulation)
                try await simulation.sleep(for: .seconds(6))
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        #expect(seen.states.withLock { $0 } == ["waiting", "interrupted"])
    }

    /// Manages a download for some seconds, as another process does.
    private static func hold(_ download: Download, of library: AssetLibrary, in simulation: Simulation) async throws {
        let claim = try #require(library.claimDownload(download.id))
        defer { withExtendedLifetime(claim) {} }
        try await simulation.sleep(for: .seconds(7))
    }

    @Test(arguments: [
        ("/var/lib/millstream", "/var/lib/millstream"), ("/home/a b", "'/home/a b'"), ("/it's", #"'/it'\''s'"#),
        ("", "''"), ("/$HOME", "'/$HOME'"),
    ])
    func folderIsQuotedForTheShell(folder: String, word: String) {
        #expect(ShellWord(folder).text == word)
    }
}

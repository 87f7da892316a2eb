import AssetStorage
import Foundation
import HTTPTypes
import Logging
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import PlaylistEditing
import ReportFormat
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests what clients are told of the downloads of other processes in the library of the server, and how they are continued.
@Suite(.timeLimit(.minutes(10))) struct OtherDownloadTests {
    private final class States: Sendable {
        let states = Mutex<[String]>([])
    }

    /// A download in the catalog without a process, as one of a terminal that was closed.
    private struct Download {
        static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"

        let id: String
        let assetID: String

        init(in library: AssetLibrary, recording: RecordingOptions?) async throws {
            let session = try DownloadSession(
                identifier: "terminal",
                library: library,
                loader: ResourceLoader(ScriptedTransport(texts: ["https://h/a.m3u8": Self.playlist]))
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

    /// Runs a test with a library that has a download without a process, and the downloads of a server.
    private static func withDownload(
        recording: RecordingOptions?,
        _ body: (AssetLibrary, Download, DownloadQueue) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let download = try await Download(in: library, recording: recording)
        let origin = ScriptedTransport(texts: ["https://h/a.m3u8": Download.playlist, "https://h/0.ts": "media"])
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(origin),
            broadcast: EventBroadcast(),
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await body(library, download, downloads)
    }

    @Test(arguments: [true, false], [DownloadRecord.State.waiting, .suspended, .failed])
    func serverContinuesWhatAnotherProcessLeft(isRecording: Bool, state: DownloadRecord.State) async throws {
        let recording = isRecording ? RecordingOptions(startsFromBeginning: true) : nil
        try await Self.withDownload(recording: recording) { library, download, downloads in
            let failure = DownloadRecord.Failure(code: "storage", detail: "disk", message: "the disk is full")
            try library.changeDownload(download.id, .state(state, state == .failed ? failure : nil))
            let before = downloads.report(try library.asset(download.assetID), downloads.snapshot()).json
            #expect(before.contains(#""attended":false"#), "\(before)")
            #expect(before.contains(#""recording":true"#) == isRecording, "\(before)")
            try downloads.resume(download.assetID)
            var after = ""
            repeat {
                try await Task.sleep(for: .milliseconds(5))
                let snapshot = downloads.snapshot()
                after = downloads.report(try library.asset(download.assetID), snapshot).json
            } while !after.contains(#""activity":"idle""#)
            #expect(after.contains(#""state":"complete""#), "\(after)")
            #expect(try library.downloads().isEmpty)
            #expect(!after.contains(#""task""#) && !after.contains(#""recording""#), "\(after)")
        }
    }

    @Test func downloadThatAnotherProcessManagesIsResumedThere() async throws {
        try await Self.withDownload(recording: RecordingOptions()) { library, download, downloads in
            let claim = try #require(library.claimDownload(download.id))
            try library.changeDownload(download.id, .state(.suspended, nil))
            try downloads.resume(download.assetID)
            let record = try #require(try library.downloads().first)
            #expect(record.state == .waiting && record.session == "terminal")
            // Only the process that manages it ends it.
            let error = #expect(throws: ServerError.self) { try downloads.end(download.assetID) }
            #expect(error?.status == .conflict && error?.code == "busy")
            #expect(error?.message == "another process manages the download \(download.id)")
            #expect(error?.hint?.contains("millstream downloads cancel \(download.id) --library ") == true)
            #expect(try library.downloads() == [record])
            withExtendedLifetime(claim) {}
        }
    }

    /// The loader of the server loads no files, neither as the playlist nor in place of a break.
    @Test(arguments: [true, false])
    func downloadOfAFileStaysInItsSession(isInserted: Bool) async throws {
        try await Self.withDownload(recording: nil) { library, download, downloads in
            let former = try DownloadSession(
                identifier: "files",
                library: library,
                loader: ResourceLoader(
                    ScriptedTransport(texts: [
                        "https://h/b.m3u8": Download.playlist, "file:///tmp/a.m3u8": Download.playlist,
                    ])
                )
            )
            let file = ResourceAddress("file:///tmp/a.m3u8")
            var configuration = DownloadConfiguration()
            if isInserted { configuration.selection.edits = EditPlan([.prepend(file.text)]) }
            let source = isInserted ? ResourceAddress("https://h/b.m3u8") : file
            let task = try await former.makeTask(source, configuration: configuration)
            await former.invalidate()
            let error = #expect(throws: ServerError.self) { try downloads.resume(task.assetID) }
            #expect(error?.status == .conflict && error?.code == "file-source")
            #expect(error?.hint?.contains("millstream downloads resume \(task.id) --library ") == true)
            let record = try #require(try library.downloads().first { $0.id == task.id })
            #expect(record.session == "files" && record.state == .suspended)
            // The server can end it nevertheless.
            try downloads.end(task.assetID)
            #expect(try library.downloads().map(\.id) == [download.id])
        }
    }

    /// An earlier version handed such downloads to the server.
    @Test func downloadOfAFileOfTheServerIsNotResumed() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let file = ResourceAddress("file:///tmp/a.m3u8")
        let former = try DownloadSession(
            identifier: DownloadSession.serverIdentifier,
            library: library,
            loader: ResourceLoader(ScriptedTransport(texts: [file.text: Download.playlist]))
        )
        let task = try await former.makeTask(file)
        await former.invalidate()
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(ScriptedTransport()),
            broadcast: EventBroadcast(),
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let error = #expect(throws: ServerError.self) { try downloads.resume(task.assetID) }
        #expect(error?.status == .conflict && error?.code == "file-source")
        #expect(error?.hint?.contains("millstream downloads cancel \(task.id) --library ") == true)
        // The server can end it nevertheless.
        try downloads.end(task.assetID)
        #expect(try library.downloads().isEmpty)
    }

    @Test func serverEndsWhatAnotherProcessLeft() async throws {
        try await Self.withDownload(recording: RecordingOptions()) { library, download, downloads in
            try downloads.end(download.assetID)
            #expect(try library.downloads().isEmpty)
            let error = #expect(throws: ServerError.self) { try downloads.resume(download.assetID) }
            #expect(error?.code == "not-found")
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

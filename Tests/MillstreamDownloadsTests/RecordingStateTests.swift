import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests what a run of a recording or of a download remembers about its files.
@Suite struct RecordingStateTests {
    private let temporary: TemporaryLibrary
    private let resources: [StoredResource]

    /// Plans an asset with a key and four segments, none of which is stored.
    init() throws {
        temporary = try TemporaryLibrary()
        let address = ResourceAddress("https://live.example/live.m3u8")
        let segments = (0..<4).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n\(segments)#EXT-X-ENDLIST\n"
        let playlist = try MediaPlaylist(parsing: Array(text.utf8), context: PlaylistContext(address: address))
        resources = try temporary.library.missingResources(temporary.plan(playlist, at: address))
    }

    /// Returns the file of a segment of the recording.
    private func segment(_ position: Int) throws -> RecordingWriter.File {
        let resource = try #require(resources.first { $0.address.lastPathComponent == "\(position).ts" })
        return RecordingWriter.File(position: position, sequence: Int64(position), resource: resource)
    }

    /// Returns the file of the key, which a segment needs.
    private func key(_ position: Int) throws -> RecordingWriter.File {
        let resource = try #require(resources.first { $0.kind == .key })
        return RecordingWriter.File(position: position, sequence: Int64(position), resource: resource)
    }

    // MARK: Open segments

    @Test func recordingEndsBeforeTheFirstOpenSegment() throws {
        let open = OpenSegments()
        #expect(open.firstPositions.isEmpty)
        open.insert(try segment(3))
        open.insert(try segment(1))
        open.insert(try key(0))
        let folder = try segment(1).resource.folder
        #expect(open.firstPositions == [folder: 1])
        // A key that was stored says nothing about the segment that needs it.
        open.remove(try key(1))
        #expect(open.firstPositions == [folder: 1])
        open.remove(try segment(1))
        #expect(open.firstPositions == [folder: 3])
        open.remove(try segment(3))
        #expect(open.firstPositions.isEmpty)
    }

    // MARK: Failed files

    @Test func failedFilesAreTakenByTheirKind() throws {
        let files = FailedFiles()
        let folder = "media"
        #expect(!files.hasSegments(of: folder))
        files.add(try key(0), of: folder, at: .zero)
        #expect(!files.hasSegments(of: folder))
        files.add(try segment(2), of: folder, at: .zero)
        files.add(try segment(1), of: folder, at: .zero)
        files.add(try segment(2), of: folder, at: .zero)
        #expect(files.hasSegments(of: folder) && !files.hasSegments(of: "other"))
        #expect(files.take(5, of: "other").isEmpty)
        let others = files.takeSegments(of: "other") { _ in true }
        #expect(others.isEmpty)
        // The files are requested again in the order of their failures, each of them once.
        let first = files.takeSegments(1, of: folder) { _ in true }
        #expect(first.map(\.file.position) == [2])
        let rest = files.takeSegments(of: folder) { _ in true }
        #expect(rest.map(\.file.position) == [1] && !files.hasSegments(of: folder))
        #expect(files.take(5, of: folder).map(\.resource.kind) == [.key] && files.take(5, of: folder).isEmpty)
    }

    /// The time of the first failure decides for how long a segment is requested again.
    @Test func timeOfTheFirstFailureStays() throws {
        let files = FailedFiles()
        files.add(try segment(0), of: "media", at: .seconds(5))
        files.add(try segment(1), of: "media", at: .seconds(6))
        let due = files.takeSegments(of: "media") { $0.failureTime <= .seconds(5) }
        #expect(due.map(\.file.position) == [0] && due.map(\.failureTime) == [.seconds(5)])
        files.add(try segment(0), of: "media", at: .seconds(9))
        let again = files.takeSegments(of: "media") { $0.file.position == 0 }
        #expect(again.map(\.failureTime) == [.seconds(5)])
        // A segment that was stored, or is lost, can fail anew.
        files.forget(try segment(0))
        files.add(try segment(0), of: "media", at: .seconds(20))
        let later = files.takeSegments(of: "media") { _ in true }
        #expect(later.map(\.file.position) == [1, 0] && later.map(\.failureTime) == [.seconds(6), .seconds(20)])
    }

    // MARK: Activity

    @Test func stallIsReportedOncePerStall() {
        let activity = RecordingActivity(at: .seconds(10))
        #expect(activity.idleTime(at: .seconds(25)) == .seconds(15))
        #expect(activity.reportsStall() && !activity.reportsStall())
        activity.addUpdate(at: .seconds(30))
        #expect(activity.idleTime(at: .seconds(31)) == .seconds(1))
        #expect(activity.reportsStall() && !activity.reportsStall())
    }

    /// Requests that wait for their turn begin within half a minute after a stall has ended the recording.
    @Test func requestsEndAfterAStall() {
        let activity = RecordingActivity(at: .zero)
        #expect(activity.endError == nil && activity.permitsRequest(at: .seconds(1_000)))
        for (message, time) in [("first", 300), ("second", 310)] {
            activity.end(DownloadError(TransportError(.timedOut, message)), at: .seconds(time))
        }
        #expect(activity.endError?.message == "first")
        #expect(activity.permitsRequest(at: .seconds(329)) && !activity.permitsRequest(at: .seconds(330)))
    }

    // MARK: Renewal

    private static func error(_ status: Int?) -> TransportError {
        TransportError(.status, "refused", status: status)
    }

    /// The playlists are loaded again at most twice because of one file.
    @Test func addressesOfAFileAreRenewedTwice() throws {
        var renewal = DownloadRenewal()
        #expect(renewal.isFirstRound && !renewal.isNeeded)
        renewal.beginRound()
        #expect(!renewal.isFirstRound)
        let file = try segment(0).resource
        for _ in 0..<2 {
            let renews = renewal.renewsAddresses(after: Self.error(403), of: file)
            #expect(renews && renewal.isNeeded)
            renewal.beginRound()
            #expect(!renewal.isNeeded)
        }
        let renewsAgain = renewal.renewsAddresses(after: Self.error(403), of: file)
        #expect(!renewsAgain && !renewal.isNeeded)
        for other in [try segment(1).resource, try key(0).resource] {
            let renews = renewal.renewsAddresses(after: Self.error(403), of: other)
            #expect(renews)
        }
    }

    @Test(
        arguments: [(401, true), (403, true), (410, true), (404, false), (500, false), (nil, false)] as [(Int?, Bool)]
    )
    func onlySomeStatusesIndicateExpiredAddresses(status: Int?, renews: Bool) throws {
        var renewal = DownloadRenewal()
        let found = renewal.renewsAddresses(after: Self.error(status), of: try segment(0).resource)
        #expect(found == renews && renewal.isNeeded == renews)
    }

    // MARK: Queue

    @Test func expiredAddressesEndTheQueueAfterTheRunningFetches() {
        var queue = FetchQueue()
        queue.append(resources)
        #expect(queue.next() == .fetch(resources[0]) && queue.next() == .fetch(resources[1]))
        queue.end()
        #expect(queue.next() == .wait)
        queue.fetchSucceeded(resources[1])
        #expect(queue.next() == .fail)
    }

    /// Only keys and initialization sections are copied from those of another playlist.
    @Test func segmentsWithOneAddressAreFetchedSeparately() throws {
        var queue = FetchQueue()
        let file = try segment(0).resource
        queue.append([file, file])
        queue.append([])
        let actions = [queue.next(), queue.next(), queue.next()]
        #expect(actions == [.fetch(file), .fetch(file), .wait])
    }

    // MARK: Observers

    @Test func observerHasTheEventsFromItsBeginningOn() async {
        let observers = EventObservers<Int>()
        observers.send(0)
        let (first, second) = (observers.stream(), observers.stream())
        observers.send(1)
        observers.send(2)
        observers.finish()
        observers.send(3)
        for stream in [first, second] {
            var events: [Int] = []
            for await event in stream { events.append(event) }
            #expect(events == [1, 2])
        }
    }

    @Test func observersThatBeginAfterTheEndHaveNoEvents() async {
        let observers = EventObservers<Int>()
        let ended = observers.stream(isFinished: true)
        observers.send(1)
        observers.finish()
        for stream in [ended, observers.stream()] {
            for await event in stream { Issue.record("\(event)") }
        }
    }

    /// A slow observer loses the oldest events.
    @Test func observerMayLagBehindByAFewThousandEvents() async {
        let observers = EventObservers<Int>()
        let stream = observers.stream()
        for number in 0..<5_000 { observers.send(number) }
        observers.finish()
        var events: [Int] = []
        for await event in stream { events.append(event) }
        #expect(events == Array(904..<5_000))
    }

    // MARK: Summary

    @Test func summaryAddsTheFiguresOfAllSelections() {
        var summary = DownloadSummary()
        summary.add(
            DownloadFigures(bytes: ByteCount(10), requestCount: 2, recoverableErrorCount: 1),
            variants: []
        )
        summary.add(
            DownloadFigures(bytes: ByteCount(5), requestCount: 4, recoverableErrorCount: 3),
            variants: []
        )
        #expect(summary.bytes == ByteCount(15) && summary.mediaResourceRequestCount == 6)
        #expect(summary.recoverableErrorCount == 4 && summary.duration == .zero)
    }
}

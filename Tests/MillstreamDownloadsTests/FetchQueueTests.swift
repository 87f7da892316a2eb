import AssetStorage
import Foundation
import HLSPlaylist
import MediaTransport
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct FetchQueueTests {
    private let temporary: TemporaryLibrary
    private let files: [StoredResource]

    init() throws {
        temporary = try TemporaryLibrary()
        files = try temporary.plannedFiles(12)
    }

    /// Takes files until the queue returns another action.
    private func take(_ queue: inout FetchQueue) -> (taken: [StoredResource], end: FetchQueue.Action) {
        var taken: [StoredResource] = []
        while true {
            let action = queue.next()
            guard case .fetch(let resource) = action else { return (taken, action) }
            taken.append(resource)
        }
    }

    @Test func filesAreFetchedInOrderPageByPage() {
        var queue = FetchQueue()
        #expect(queue.next() == .readNextPage(after: nil))
        queue.append(Array(files[..<5]))
        let first = take(&queue)
        #expect(first.taken == Array(files[..<5]) && first.end == .readNextPage(after: files[4]))
        queue.append(Array(files[5...]))
        let second = take(&queue)
        #expect(second.taken == Array(files[5...]) && second.end == .readNextPage(after: files[11]))
        queue.append([])
        #expect(queue.next() == .wait)
        for _ in 0..<11 { queue.fetchSucceeded() }
        #expect(queue.next() == .wait)
        queue.fetchSucceeded()
        #expect(queue.next() == .finish)
    }

    @Test func queueWithoutMissingFilesIsFinished() {
        var queue = FetchQueue()
        queue.append([])
        #expect(queue.next() == .finish)
    }

    @Test func toleratedFailuresDoNotPreventOtherFetches() {
        var queue = FetchQueue()
        queue.append(files)
        for _ in 0..<RecoveryPolicy().limits.skippedResources {
            guard case .fetch = queue.next() else {
                Issue.record("a file is left")
                return
            }
            queue.fetchFailed()
        }
        let rest = take(&queue)
        #expect(rest.taken == Array(files[RecoveryPolicy().limits.skippedResources...]))
        #expect(rest.end == .readNextPage(after: files[11]))
        queue.append([])
        #expect(queue.next() == .wait)
        for _ in rest.taken { queue.fetchSucceeded() }
        #expect(queue.next() == .fail, "what failed is not fetched: the download is not finished")
    }

    @Test func noMoreFilesAreFetchedAfterFiveFailures() throws {
        var queue = FetchQueue()
        queue.append(files)
        for _ in 0..<5 {
            _ = queue.next()
            queue.fetchFailed()
        }
        #expect(queue.next() == .fail)
        var patient = FetchQueue()
        patient.append(files)
        for _ in 0..<4 {
            _ = patient.next()
            patient.fetchFailed()
        }
        #expect(patient.next() == .fetch(files[4]))
    }

    @Test func segmentsOfAnyTimeAreNotDeferred() throws {
        let files = try TemporaryLibrary().plannedFiles(3, seconds: 1 << 50)
        #expect(files.map(\.path) == ["media/000000.ts", "media/000001.ts", "media/000002.ts"])
        let deferred = files.filter(\.isDeferred)
        #expect(deferred.isEmpty)
    }

    @Test func tooManyFailuresEndTheDownload() {
        var queue = FetchQueue()
        queue.append(files)
        for _ in 0...RecoveryPolicy().limits.skippedResources + 1 { _ = queue.next() }
        for _ in 0...RecoveryPolicy().limits.skippedResources { queue.fetchFailed() }
        #expect(queue.next() == .wait, "one still runs")
        queue.fetchSucceeded()
        #expect(queue.next() == .fail)
    }
}

extension TemporaryLibrary {
    /// Plans an asset with the given number of segments, none of which is stored.
    func plannedFiles(_ count: Int, seconds: Int64 = 4) throws -> [StoredResource] {
        let text = (0..<count).map { "#EXTINF:\(seconds),\n\($0).ts\n" }.joined()
        let playlist = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n\(text)#EXT-X-ENDLIST\n".utf8),
            context: PlaylistContext(address: ResourceAddress("https://origin.example/media.m3u8"))
        )
        let address = ResourceAddress("https://origin.example/media.m3u8")
        return try library.missingResources(plan(playlist, at: address))
    }
}

import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import Synchronization
import Testing

@testable import AssetStorage
@testable import MillstreamServer

/// Tests of the intervals at which a server reads and cleans up its library.
@Suite(.timeLimit(.minutes(2))) struct LibraryTimeFaultTests {
    /// A clock that advances each time it is read.
    ///
    /// The third wait does not end.
    private final class TickingTime: TimeSource {
        private struct State {
            var now = Duration.zero
            var waits: [Duration] = []
        }

        private let state = Mutex(State())
        private let tick: Duration

        init(tick: Duration) { self.tick = tick }

        var waits: [Duration] { state.withLock { $0.waits } }

        var now: Duration {
            state.withLock { state in
                state.now += tick
                return state.now
            }
        }

        func sleep(for duration: Duration) async throws {
            let count = state.withLock { state in
                state.waits.append(duration)
                return state.waits.count
            }
            if count == 3 { throw CancellationError() }
        }
    }

    private func withLibrary(_ body: (AssetLibrary) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(try AssetLibrary(directory: folder))
    }

    /// A library that takes a second to read is read for a tenth of the time at most.
    @Test(arguments: [(1_000, [3_000, 10_000, 10_000]), (310, [3_000, 3_100, 3_100]), (290, [3_000, 3_000, 3_000])])
    func largeLibraryIsReadLessOften(milliseconds: Int, waits: [Int]) async throws {
        try await withLibrary { library in
            let (time, broadcast) = (TickingTime(tick: .milliseconds(milliseconds)), EventBroadcast())
            let downloads = try DownloadQueue(
                library: library,
                loader: ResourceLoader(ScriptedTransport()),
                broadcast: broadcast,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            let events = broadcast.events()
            try await LibraryObserver(library: library, downloads: downloads, broadcast: broadcast, time: time).run()
            let expected = waits.map { Duration.milliseconds($0) }
            #expect(time.waits == expected)
            withExtendedLifetime(events) {}
        }
    }

    private func package(_ id: String, in library: AssetLibrary) throws -> URL {
        let package = library.packageDirectory(id)
        try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
        return package
    }

    @Test(arguments: [(255, true), (256, false)])
    func onlyTheLatestPackagesAreMarked(others: Int, isMarked: Bool) async throws {
        try await withLibrary { library in
            let time = ManualTime()
            let uses = PackageUses(library, time: time)
            let (first, second) = (try package("first", in: library), try package("0", in: library))
            uses.mark("first")
            time.advance(by: .seconds(1))
            for number in 0..<others {
                uses.mark("\(number)")
                time.advance(by: .milliseconds(1))
            }
            #expect(PackageUse.isMarked(first) == isMarked && PackageUse.isMarked(second))
        }
    }

    /// Expired marks are removed every 15 seconds.
    @Test func markExpiresWithoutAnotherRequest() async throws {
        try await withLibrary { library in
            let simulation = Simulation()
            let uses = PackageUses(library, time: simulation)
            let package = try package("a", in: library)
            try await simulation.run {
                uses.mark("a")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await uses.run() }
                    try await simulation.sleep(for: .milliseconds(299_500))
                    #expect(PackageUse.isMarked(package))
                    try await simulation.sleep(for: .seconds(1))
                    #expect(!PackageUse.isMarked(package))
                    group.cancelAll()
                    try await group.waitForAll()
                }
            }
        }
    }
}

/// Tests of the verification of the storage of live playlists.
@Suite(.timeLimit(.minutes(2))) struct ReadinessFaultTests {
    /// A storage whose verification ends when a test permits it.
    private final class Store: BreakStore {
        private let state = Mutex((count: 0, isOpen: false))

        var count: Int { state.withLock { $0.count } }

        func open() { state.withLock { $0.isOpen = true } }

        func breaks(of key: String) async throws -> StoredBreaks { StoredBreaks() }

        func store(
            _ breaks: BreakTimelines,
            of key: String,
            replacing revision: Int64,
            for client: ClientNetwork?
        ) async throws -> Bool { true }

        func verify() async throws {
            state.withLock { $0.count += 1 }
            while !state.withLock({ $0.isOpen }) { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test func requestsShareAVerification() async throws {
        let store = Store()
        let readiness = Readiness(store, time: ManualTime())
        let requests = (0..<4).map { _ in Task { try await readiness.verify() } }
        while store.count == 0 { try await Task.sleep(for: .milliseconds(2)) }
        try await Task.sleep(for: .milliseconds(20))
        store.open()
        for request in requests { try await request.value }
        #expect(store.count == 1)
    }
}

import AssetStorage
import Foundation
import Logging
import MediaTiming
import MediaTransport
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests how pages are notified of changes by other processes, in simulated time.
@Suite(.timeLimit(.minutes(10))) struct LibraryObserverTests {
    private final class Lines: Sendable {
        let lines = Mutex<[String]>([])
    }

    @Test func changesAreReportedEveryThreeSeconds() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder)
        let (simulation, broadcast) = (Simulation(), EventBroadcast())
        let downloads = try DownloadQueue(
            library: library,
            loader: ResourceLoader(ScriptedTransport()),
            broadcast: broadcast,
            logger: .init(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let watch = LibraryObserver(library: library, downloads: downloads, broadcast: broadcast, time: simulation)
        let first = try library.addAsset(source: ResourceAddress("https://h/a"), title: "A", selection: "")
        let seen = Lines()
        try await simulation.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await watch.run() }
                // Without a connected page, changes are not detected.
                try await simulation.sleep(for: .seconds(7))
                group.addTask {
                    for await event in broadcast.events() {
                        let seconds = simulation.now.components.seconds
                        seen.lines.withLock { $0.append("\(seconds) \(event.name) \(event.data.json)") }
                    }
                }
                try await simulation.sleep(for: .seconds(6))
                _ = try library.addAsset(source: ResourceAddress("https://h/b"), title: "B", selection: "")
                try await simulation.sleep(for: .seconds(3))
                try library.delete(first)
                try await simulation.sleep(for: .seconds(6))
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        let second = try #require(try library.asset(source: ResourceAddress("https://h/b"))).id
        let expected = [
            "9 asset \(first)", "9 alive", "12 alive", "15 asset \(second)", "15 alive",
            "18 removed \(first)", "18 alive", "21 alive",
        ]
        let events = seen.lines.withLock { $0 }.map { line in
            let id = line.firstMatch(of: /"id":"([^"]+)"/).map { " \($0.1)" } ?? ""
            return line.split(separator: " ").prefix(2).joined(separator: " ") + id
        }
        #expect(events == expected)
    }
}

import AssetStorage
import Foundation
import HLSPlaylist
import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests of the segments in memory when others have been forgotten.
@Suite(.timeLimit(.minutes(2))) struct SegmentStoreFaultTests {
    /// A clock that a test advances.
    ///
    /// It counts the scheduled actions: one for each transfer that has ended.
    private final class CountingTime: TimeSource {
        private let state = Mutex((now: Duration.zero, actionCount: 0))

        var now: Duration { state.withLock { $0.now } }
        var actionCount: Int { state.withLock { $0.actionCount } }

        func advance(by duration: Duration) { state.withLock { $0.now += duration } }

        func sleep(for duration: Duration) async throws { advance(by: duration) }

        func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
            state.withLock { $0.actionCount += 1 }
            return ScheduledAction {}
        }
    }

    /// Loads a segment of four bytes.
    private static let load: @Sendable (SegmentMemory.Key) async throws -> TransportResponse = { key in
        TransportResponse(
            status: 200,
            headers: [],
            address: ResourceAddress(key.address),
            expectedLength: 4,
            body: TransportBody(Array("abcd".utf8))
        )
    }

    private func playlist(_ names: [String]) throws -> MediaPlaylist {
        let segments = names.map { "#EXTINF:4,\n\($0)\n" }.joined()
        return try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)".utf8))
    }

    private func receive(_ address: String, _ memory: SegmentMemory) async throws -> Int {
        let response = try await memory.response(to: SegmentMemory.Key(address: address), Self.load)
        var count = 0
        for try await buffer in response.body { count += buffer.readableBytes }
        return count
    }

    private func wait(_ condition: () -> Bool) async throws {
        for _ in 0..<3_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        Issue.record("the condition did not hold within 30 s")
    }

    /// Neither a request nor a scheduled action has removed the segment.
    @Test func retainedSegmentIsForgottenAfterHalfAMinute() async throws {
        let time = CountingTime()
        let memory = SegmentMemory(aheadCount: 1, time: time)
        let names = ["http://h/0.ts", "http://h/1.ts"]
        memory.store(order: try playlist(names))
        let count = try await receive(names[0], memory)
        #expect(count == 4)
        let next = SegmentMemory.Key(address: names[1])
        // It was loaded ahead, and both transfers have ended.
        try await wait { time.actionCount == 2 }
        time.advance(by: .milliseconds(29_999))
        #expect(memory.isLoaded(next))
        time.advance(by: .seconds(1))
        #expect(!memory.isLoaded(next))
    }

    /// Only the pairs that exceed the size are forgotten, the oldest first.
    @Test func orderOfTheOtherSegmentsIsStillKnown() async throws {
        let filling = String(repeating: "a", count: 1_006)
        let names = (10_000..<18_195).map { "http://h/\(filling)/\($0).ts" }
        try #require(names[0].utf8.count == 1_024)
        let memory = SegmentMemory(aheadCount: 1, time: ManualTime())
        memory.store(order: try playlist(names))
        for (number, isKnown) in [(0, false), (1, false), (2, true), (8_193, true)] {
            _ = try await receive(names[number], memory)
            #expect(memory.isLoaded(SegmentMemory.Key(address: names[number + 1])) == isKnown, "\(number)")
        }
    }
}

/// Tests of the guards between a cache or a folder and the clients of a server.
@Suite struct SourceGuardFaultTests {
    private func code(_ address: String, _ base: ScriptedTransport, hosts: HostCache?) async throws -> String? {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let transport = PermittedTransport(base: base, policy: policy, hosts: hosts)
        do {
            _ = try await transport.send(TransportRequest(ResourceAddress(address), kind: .segment))
            return nil
        } catch let error as TransportError {
            return error.code.rawValue
        }
    }

    @Test(arguments: [true, false])
    func responseFromAHostThatIsNotPermittedIsRefused(isResolved: Bool) async throws {
        let base = ScriptedTransport([
            "http://8.8.8.8/a": [.text("a")], "http://10.0.0.1/a": [.text("a")],
            "http://8.8.8.8/b": [.redirected(to: ResourceAddress("http://10.0.0.1/b"), [1])],
            "http://8.8.8.8/c": [.redirected(to: ResourceAddress("http://8.8.4.4/c"), [1])],
            // The transport itself decides whether other schemes are answered.
            "file:///a": [.text("a")],
        ])
        let hosts = isResolved ? HostCache() : nil
        for (address, expected) in [
            ("http://8.8.8.8/a", nil), ("http://10.0.0.1/a", "address-refused"),
            ("http://8.8.8.8/b", "address-refused"), ("http://8.8.8.8/c", nil), ("file:///a", nil),
        ] as [(String, String?)] {
            #expect(try await code(address, base, hosts: hosts) == expected, "\(address)")
        }
        #expect(!base.requestedAddresses.contains("http://10.0.0.1/a"))
    }

    @Test func folderIsNoFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in [ContainedFile([], in: folder.path), ContainedFile(["none"], in: folder.path)] {
            let error = #expect(throws: ServerError.self) {
                try FileResponder().respond(file, named: "a.ts", to: .get("/a.ts"), cacheControl: "no-cache")
            }
            #expect(error?.status == .notFound)
        }
    }

    /// The first entries are listed, in the order of their names.
    @Test func listOfALargeFolderEnds() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let areCreated = (10_000...20_000).allSatisfy { number in
            FileManager.default.createFile(atPath: folder.appendingPathComponent("\(number)").path, contents: nil)
        }
        #expect(areCreated)
        let page = try #require(FolderPage(ContainedFile([], in: folder.path), at: folder, path: "/"))
        let text = try await page.response.body.recorded().text
        let entries = text.split(separator: "\n").filter { $0.hasPrefix("<li>") }
        #expect(entries.count == 10_000)
        #expect(entries.first == "<li><a href=\"/10000\">10000</a></li>")
        #expect(entries.last == "<li><a href=\"/19999\">19999</a></li>")
    }
}

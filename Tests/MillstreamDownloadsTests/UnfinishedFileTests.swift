import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

/// A server whose responses can stop after some bytes, and that continues them with a validator.
final class StallingTransport: Transport {
    private struct State {
        var texts: [String: String]
        var stalls: [String: Int] = [:]
        var tag = "\"1\""
        var requests: [String] = []
        var stalled: [AsyncStream<ByteBuffer>.Continuation] = []
    }

    private let state: Mutex<State>

    init(_ texts: [String: String]) { state = Mutex(State(texts: texts)) }

    /// The requests, as the last part of the URL and the offset.
    var requests: [String] { state.withLock { $0.requests } }

    /// Makes responses for a URL stop after some bytes; `nil` to send them completely.
    func stall(_ address: String, after count: Int?) { state.withLock { $0.stalls[address] = count } }

    /// Changes a resource and the validator of all resources.
    func change(_ address: String, to text: String) {
        state.withLock { state in
            state.texts[address] = text
            state.tag = "\"2\""
        }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        let offset = Int(request.resumption?.offset ?? 0)
        let (text, stall, tag) = state.withLock { state in
            state.requests.append("\(request.address.lastPathComponent) \(offset)")
            return (state.texts[request.address.text], state.stalls[request.address.text], state.tag)
        }
        guard let text else { throw TransportError(.status, "not found", address: request.address, status: 404) }
        if let resumption = request.resumption, resumption.validator != tag {
            throw TransportError(.contentChanged, "changed", address: request.address)
        }
        let bytes = Array(text.utf8)
        let (buffers, buffer) = AsyncStream<ByteBuffer>.makeStream()
        buffer.yield(ByteBuffer(bytes: bytes[offset..<max(offset, min(bytes.count, stall ?? bytes.count))]))
        // A body whose continuation is released ends.
        if stall == nil { buffer.finish() } else { state.withLock { $0.stalled.append(buffer) } }
        return TransportResponse(
            status: offset > 0 ? 206 : 200,
            headers: [HeaderField("ETag", tag)],
            address: request.address,
            expectedLength: Int64(bytes.count - offset),
            body: TransportBody(buffers)
        )
    }
}

/// Tests transfers that stop inside a file and are continued after the bytes that were received.
@Suite(.timeLimit(.minutes(10))) struct UnfinishedFileTests {
    private let temporary: TemporaryLibrary
    private static let base = "https://origin.example/"
    private static let source = ResourceAddress(base + "media.m3u8")

    init() throws { temporary = try TemporaryLibrary() }

    private let origin = StallingTransport([
        base + "media.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n",
        base + "0.ts": "the first segment", base + "1.ts": "the second segment",
    ])

    private func task(
        in library: AssetLibrary,
        maximumRate: BitRate? = nil
    ) async throws -> (DownloadSession, DownloadTask) {
        let session = try DownloadSession(
            identifier: "films",
            library: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0))
        )
        if let task = session.tasks.first { return (session, task) }
        var configuration = DownloadConfiguration(maximumConcurrentFetches: 1)
        configuration.maximumRate = maximumRate
        let task = try await session.makeTask(Self.source, configuration: configuration)
        return (session, task)
    }

    private func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await SystemTimeSource().sleep(for: .milliseconds(10)) }
    }

    /// Suspends a task after 10 bytes of the second segment, and waits until its run has ended.
    private func suspendedTask() async throws -> DownloadTask {
        origin.stall(Self.base + "1.ts", after: 10)
        let (_, task) = try await task(in: temporary.library)
        task.resume()
        try await wait { task.progress.bytes.bytes == 17 + 10 }
        task.suspend()
        try await wait { (try? temporary.library.lock(task.assetID)) != nil }
        return task
    }

    private func expectComplete(_ library: AssetLibrary, _ id: String, second: String = "the second segment") throws {
        let texts = try library.resources(id).map { resource in
            try String(contentsOf: library.packageDirectory(id).appendingPathComponent(resource.path), encoding: .utf8)
        }
        #expect(texts == ["the first segment", second])
        let folder = library.packageDirectory(id).path
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects as? [String] ?? []
        #expect(names.filter { $0.hasSuffix(".part") || $0.hasSuffix(".resume") } == [])
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 0))
    }

    @Test func suspendedTaskContinuesInsideASegment() async throws {
        let task = try await suspendedTask()
        origin.stall(Self.base + "1.ts", after: nil)
        task.resume()
        try await task.value()
        #expect(origin.requests.filter { $0.contains(".ts") }.sorted() == ["0.ts 0", "1.ts 0", "1.ts 10"])
        try expectComplete(temporary.library, task.assetID)
    }

    /// The bytes are kept although the task is canceled while it waits, before it writes them.
    @Test func taskThatIsSuspendedAtItsRateLimitKeepsWhatItReceived() async throws {
        origin.stall(Self.base + "0.ts", after: 5)
        let (session, task) = try await task(in: temporary.library, maximumRate: BitRate(bitsPerSecond: 1))
        task.resume()
        try await wait { task.progress.bytes.bytes == 5 }
        task.suspend()
        try await wait { (try? temporary.library.lock(task.assetID)) != nil }
        task.resume()
        try await wait { origin.requests.count { $0.hasPrefix("0.ts") } == 2 }
        #expect(origin.requests.filter { $0.hasPrefix("0.ts") } == ["0.ts 0", "0.ts 5"])
        await session.invalidate()
    }

    @Test func alteredBytesAreReceivedAgain() async throws {
        let task = try await suspendedTask()
        let path = temporary.library.packageDirectory(task.assetID).appendingPathComponent("media/000001.ts.part")
        try Data("the second".utf8.map { $0 ^ 1 }).write(to: path)
        origin.stall(Self.base + "1.ts", after: nil)
        task.resume()
        try await task.value()
        #expect(origin.requests.filter { $0.contains(".ts") }.sorted() == ["0.ts 0", "1.ts 0", "1.ts 0"])
        try expectComplete(temporary.library, task.assetID)
    }

    @Test func changedFileIsReceivedFromItsBeginning() async throws {
        let task = try await suspendedTask()
        origin.change(Self.base + "1.ts", to: "another segment")
        origin.stall(Self.base + "1.ts", after: nil)
        task.resume()
        try await task.value()
        #expect(origin.requests.filter { $0.hasPrefix("1.ts") } == ["1.ts 0", "1.ts 10", "1.ts 0"])
        try expectComplete(temporary.library, task.assetID, second: "another segment")
    }

    /// A library that a process left behind is continued, unless the machine was restarted.
    ///
    /// After a restart, bytes that were not synchronized may be missing.
    @Test(arguments: [false, true]) func processThatWasKilledLosesLittle(isRestarted: Bool) async throws {
        origin.stall(Self.base + "1.ts", after: 10)
        let (session, running) = try await task(in: temporary.library)
        running.resume()
        let folder = temporary.library.packageDirectory(running.assetID).appendingPathComponent("media")
        let note = folder.appendingPathComponent("000001.ts.resume")
        // The body stalls, so the note is written with the bytes that follow after a second.
        try await wait { running.progress.bytes.bytes == 17 + 10 }
        try await SystemTimeSource().sleep(for: .milliseconds(1_100))
        await session.invalidate()
        #expect(FileManager.default.fileExists(atPath: note.path))
        var text = try String(contentsOf: note, encoding: .utf8)
        if isRestarted { text = text.replacing("{", with: "{\"boot\":\"another\",", maxReplacements: 1) }
        try text.write(to: note, atomically: false, encoding: .utf8)
        origin.stall(Self.base + "1.ts", after: nil)
        let library = try AssetLibrary(directory: temporary.directory)
        let (_, restored) = try await task(in: library)
        #expect(restored.id == running.id)
        try await restored.value()
        #expect(origin.requests.last { $0.hasPrefix("1.ts") } == (isRestarted ? "1.ts 0" : "1.ts 10"))
        try expectComplete(library, restored.assetID)
    }

    @Test(arguments: [
        "", "{", "{\"validator\":\"\\\"1\\\"\",\"path\":\"/other.ts\"}", String(repeating: "x", count: 20_000),
    ])
    func noteOfAnotherFileIsIgnored(note: String) async throws {
        let task = try await suspendedTask()
        let folder = temporary.library.packageDirectory(task.assetID).appendingPathComponent("media")
        try note.write(to: folder.appendingPathComponent("000001.ts.resume"), atomically: false, encoding: .utf8)
        origin.stall(Self.base + "1.ts", after: nil)
        task.resume()
        try await task.value()
        #expect(origin.requests.filter { $0.hasPrefix("1.ts") } == ["1.ts 0", "1.ts 0"])
        try expectComplete(temporary.library, task.assetID)
    }

    // MARK: Sharing

    private func send(_ name: String, _ task: DownloadTask) async throws -> String {
        let loaded = try await task.loader.load(TransportRequest(ResourceAddress(Self.base + name), kind: .segment))
        return String(decoding: loaded.bytes, as: UTF8.self)
    }

    @Test func playerReadsWhatTheDownloadReceives() async throws {
        origin.stall(Self.base + "1.ts", after: 10)
        let (_, task) = try await task(in: temporary.library)
        task.resume()
        try await wait { task.progress.bytes.bytes == 17 + 10 }
        #expect(try await send("0.ts", task) == "the first segment")
        let response = try await task.loader.transport.send(
            TransportRequest(ResourceAddress(Self.base + "1.ts"), kind: .segment)
        )
        #expect(response.expectedLength == 18)
        #expect(origin.requests.filter { $0.contains(".ts") }.sorted() == ["0.ts 0", "1.ts 0"])
    }

    @Test func whatAPlayerStreamsIsStored() async throws {
        let (_, task) = try await task(in: temporary.library)
        origin.stall(Self.base + "0.ts", after: 3)
        task.resume()
        try await wait {
            origin.requests.contains("0.ts 0") && (try? temporary.library.resources(task.assetID).count) == 2
        }
        task.suspend()
        try await wait { (try? temporary.library.lock(task.assetID)) != nil }
        // The player needs a file that the download does not receive at the moment.
        #expect(try await send("1.ts", task) == "the second segment")
        #expect(try temporary.library.missingCount(task.assetID) == 1)
        origin.stall(Self.base + "0.ts", after: nil)
        task.resume()
        try await task.value()
        #expect(origin.requests.filter { $0.contains(".ts") } == ["0.ts 0", "1.ts 0", "0.ts 3"])
        try expectComplete(temporary.library, task.assetID)
        // A complete asset needs no server.
        let count = origin.requests.count
        #expect(try await send("1.ts", task) == "the second segment" && origin.requests.count == count)
        let playlist = try await task.loader.load(TransportRequest(Self.source, kind: .playlist))
        #expect(playlist.address == Self.source && origin.requests.count == count)
    }
}

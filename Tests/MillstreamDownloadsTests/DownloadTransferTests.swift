import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock whose sleeping tasks are woken one by one.
private final class SteppedTime: TimeSource {
    private struct State {
        var durations: [Duration] = []
        var sleeper: CheckedContinuation<Void, any Error>?
        var isCancelled = false
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var now: Duration { .zero }
    /// The durations of all sleeps so far.
    var durations: [Duration] { state.withLock { $0.durations } }

    func sleep(for duration: Duration) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let watchers: [CheckedContinuation<Void, Never>] = state.withLock { state in
                    state.durations.append(duration)
                    if state.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.sleeper = continuation
                    }
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.isCancelled = true
                defer { state.sleeper = nil }
                return state.sleeper
            }
            sleeper?.resume(throwing: CancellationError())
        }
    }

    /// Waits until a task sleeps.
    func waitForSleeper() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.sleeper == nil else { return true }
                state.watchers.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Wakes the sleeping task, and waits until it sleeps again.
    func step() async {
        await waitForSleeper()
        let sleeper = state.withLock { state in
            defer { state.sleeper = nil }
            return state.sleeper
        }
        sleeper?.resume()
        await waitForSleeper()
    }
}

/// A transport that delivers the bodies of some addresses in buffers of given sizes, and can wait before a request and
/// after the first buffer.
private final class BufferingTransport: Transport {
    private let base: ScriptedTransport
    private let sizes: [String: [Int]]
    private let waitBeforeMedia: @Sendable () async -> Void
    private let waitAfterFirstBuffer: @Sendable () async -> Void

    init(
        _ base: ScriptedTransport,
        sizes: [String: [Int]],
        waitBeforeMedia: @escaping @Sendable () async -> Void = {},
        waitAfterFirstBuffer: @escaping @Sendable () async -> Void = {}
    ) {
        self.base = base
        self.sizes = sizes
        self.waitBeforeMedia = waitBeforeMedia
        self.waitAfterFirstBuffer = waitAfterFirstBuffer
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        if request.kind != .playlist { await waitBeforeMedia() }
        let response = try await base.send(request)
        guard let sizes = sizes[request.address.lastPathComponent] else { return response }
        var whole = ByteBuffer()
        for try await buffer in response.body { whole.writeImmutableBuffer(buffer) }
        let buffers = Mutex(sizes.compactMap { whole.readSlice(length: $0) })
        let count = sizes.count
        let wait = waitAfterFirstBuffer
        let body = AsyncStream<ByteBuffer> {
            let (next, left) = buffers.withLock { buffers in
                (buffers.isEmpty ? nil : buffers.removeFirst(), buffers.count)
            }
            // When this buffer is requested, the previous one has been counted.
            if left == count - 2 { await wait() }
            return next
        }
        return response.replacingBody(with: TransportBody(body), record: TransferRecord())
    }
}

/// A transport that responds to media requests only when a number of them are pending, and records the maximum number
/// of concurrent requests.
private final class CrowdedTransport: Transport {
    private struct State {
        var running = 0
        var maximumCount = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isOpen = false
    }

    private let base: ScriptedTransport
    private let count: Int
    private let state = Mutex(State())

    init(_ base: ScriptedTransport, until count: Int) {
        self.base = base
        self.count = count
    }

    var maximumCount: Int { state.withLock { $0.maximumCount } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.kind != .playlist else { return try await base.send(request) }
        await withCheckedContinuation { continuation in
            let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                state.running += 1
                state.maximumCount = max(state.maximumCount, state.running)
                state.waiting.append(continuation)
                if state.running >= count { state.isOpen = true }
                guard state.isOpen else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in ready { continuation.resume() }
        }
        for _ in 0..<50 { await Task.yield() }
        defer { state.withLock { $0.running -= 1 } }
        return try await base.send(request)
    }
}

/// The events of a download as text, without the identifier of the asset.
private final class EventLog: Sendable {
    private let state = Mutex<[String]>([])

    var texts: [String] { state.withLock { $0 } }

    func append(_ event: AssetDownload.Event) {
        let text: String
        switch event {
        case .resolved(_, let progress, _): text = "resolved \(progress.bytes) \(progress.percent)"
        case .progress(_, let progress): text = "progress \(progress.bytes) \(progress.percent)"
        case .ended, .waiting, .lost, .metadataOmitted, .keyNotVerified: return
        case .completed(let asset): text = "completed \(asset.state) \(asset.bytes)"
        }
        state.withLock { $0.append(text) }
    }
}

/// Tests the requests, writes, counts and events of a download.
@Suite struct DownloadTransferTests {
    private static let origin = "https://origin.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    /// Returns a transport with a media playlist and segments `0.ts`, `1.ts`… with the given contents.
    private static func film(_ segments: [String]) -> ScriptedTransport {
        let lines = segments.indices.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        var texts = [origin + "film.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"]
        for (index, text) in segments.enumerated() { texts[origin + "\(index).ts"] = text }
        return ScriptedTransport(texts: texts)
    }

    private func task(
        _ transport: any Transport,
        into library: AssetLibrary? = nil,
        retries: Int = 0,
        jobs: Int = 1,
        limits: DownloadLimits = DownloadLimits(),
        time: any TimeSource = SystemTimeSource()
    ) -> AssetDownload {
        AssetDownload(
            ResourceAddress(Self.origin + "film.m3u8"),
            into: library ?? temporary.library,
            loader: ResourceLoader(
                transport,
                policy: RecoveryPolicy(rule: .init(maximumRetries: retries, initialDelay: .zero), rules: [:])
            ),
            configuration: DownloadConfiguration(
                selection: DownloadSelection(),
                maximumConcurrentFetches: jobs,
                limits: limits
            ),
            time: time
        )
    }

    @Test(.timeLimit(.minutes(10))) func progressIsReportedFiveTimesASecondIfItChanged() async throws {
        let time = SteppedTime()
        let (paused, pause) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        let transport = BufferingTransport(
            Self.film(["zero", "onetwo"]),
            sizes: ["1.ts": [2, 4]],
            waitBeforeMedia: { await time.waitForSleeper() },
            waitAfterFirstBuffer: {
                pause.finish()
                for await _ in released {}
            }
        )
        let events = EventLog()
        let task = task(transport, time: time)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await task.run { event in
                    events.append(event)
                }
            }
            for await _ in paused {}
            // The first file is stored while the second one is received.
            let id = try #require(try temporary.library.assets().first?.id)
            while try temporary.library.missingResources(id).count > 1 { await Task.yield() }
            await time.step()
            await time.step()
            release.finish()
            try await group.waitForAll()
        }
        #expect(
            events.texts == [
                "resolved 0 bytes 0.0", "progress 6 bytes 50.0", "progress 10 bytes 100.0",
                "completed complete 10 bytes",
            ]
        )
        #expect(time.durations == Array(repeating: .milliseconds(200), count: 3))
    }

    /// A clock that stands still, so that blocks are written only because of their size.
    private struct StoppedClock: TimeSource {
        let now = Duration.zero

        func sleep(for duration: Duration) async throws {
            while true { try await SystemTimeSource().sleep(for: .seconds(1)) }
        }
    }

    @Test(arguments: [
        ([131_072, 131_072, 131_072, 1], [131_072, 131_072, 131_072, 1]), ([262_143, 1, 5], [262_143, 1, 5]),
        ([32_767, 32_767, 1], [65_534, 1]), ([32_768, 5], [32_768, 5]), ([5, 32_768], [5, 32_768]),
        ([300_000, 5], [300_000, 5]), ([262_143], [262_143]), ([262_144], [262_144, 0]), ([1, 5, 1], [7]),
        ([262_144, 262_143], [262_144, 262_143]),
    ])
    func smallPartsAreWrittenTogetherAndLargeOnesAlone(sizes: [Int], writes: [Int]) async throws {
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let text = String((0..<sizes.reduce(0, +)).map { Character(UnicodeScalar(UInt8(0x41 + $0 % 23))) })
        let transport = BufferingTransport(Self.film([text]), sizes: ["0.ts": sizes])
        let asset = try await task(transport, into: library, time: StoppedClock()).run()
        let file = try #require(
            files.operations.compactMap { operation -> Int? in
                guard case .createFile(let path, let file) = operation, path.hasSuffix(".ts.part") else { return nil }
                return file
            }.first
        )
        let written = files.operations.compactMap { operation -> Int? in
            guard case .write(let bytes, file) = operation else { return nil }
            return bytes.count
        }
        #expect(written == writes)
        #expect(try temporary.text("media/000000.ts", of: asset.id) == text)
        #expect(asset.bytes.bytes == Int64(text.utf8.count))
    }

    @Test(.timeLimit(.minutes(10)), arguments: [1, 3]) func numberOfConcurrentTransfersIsThatOfTheJobs(
        jobs: Int
    ) async throws {
        let transport = CrowdedTransport(Self.film((0..<9).map { "\($0)" }), until: jobs)
        #expect(try await task(transport, jobs: jobs).run().state == .complete)
        #expect(transport.maximumCount == jobs)
    }

    @Test func requestsHaveTheKindOfTheirResources() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "film.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="E",URI="text.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,SUBTITLES="s"
            video.m3u8

            """,
            Self.origin + "video.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="4@0"
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
            #EXT-X-BYTERANGE:6@4
            #EXTINF:4,
            all.mp4
            #EXT-X-ENDLIST

            """,
            Self.origin + "text.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nsub.vtt\n#EXT-X-ENDLIST\n",
            Self.origin + "all.mp4": "initsegment", Self.origin + "key": "0123456789abcdef",
            Self.origin + "sub.vtt": "WEBVTT\n",
        ])
        let asset = try await task(transport).run()
        let requests = transport.requests.map { request in
            "\(request.kind) \(request.address.lastPathComponent)"
                + (request.byteRange.map { " \($0.start)+\($0.length)" } ?? "")
        }
        #expect(Array(requests.prefix(1)) == ["playlist film.m3u8"])
        #expect(Set(requests[1...2]) == ["playlist video.m3u8", "playlist text.m3u8"])
        #expect(
            requests.dropFirst(3).sorted() == [
                "initialization all.mp4 0+4", "key key", "segment all.mp4 4+6", "subtitle sub.vtt",
            ]
        )
        #expect(asset.selection == "variants=best&audio=all&subtitles=all" && asset.bytes == ByteCount(33))
    }

    // MARK: Failures

    @Test func firstFailureIsReportedAndFiveFailuresEndTheDownload() async throws {
        let transport = Self.film((0..<8).map { "\($0)" })
        for index in [1, 2, 4, 5, 6] {
            transport.setResponses(
                for: Self.origin + "\(index).ts",
                .failure(TransportError(.status, "failure \(index)", status: 404))
            )
        }
        let error = await #expect(throws: DownloadError.self) { try await task(transport).run() }
        #expect(error?.message == "failure 1" && error?.code == .transport && error?.detail == "http-status")
        #expect(transport.requestedAddresses.last == Self.origin + "6.ts", "the one after the fifth is not asked for")
        #expect(try temporary.library.assets().map(\.bytes) == [ByteCount(2)])
    }

    @Test func downloadThatIsTooLargeEndsImmediately() async throws {
        let transport = Self.film(["zero", "one", "two"])
        let error = await #expect(throws: DownloadError.self) {
            try await task(transport, limits: DownloadLimits(assetSize: ByteCount(3))).run()
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.message == "the download exceeds its size limit of 3 bytes")
        #expect(transport.requestedAddresses == [Self.origin + "film.m3u8", Self.origin + "0.ts"])
    }

    @Test func bytesOfAFailedAttemptAreNotCounted() async throws {
        let transport = Self.film(["0123456789"])
        transport.setResponses(
            for: Self.origin + "0.ts",
            .truncated(Array("01234567".utf8), announced: 10),
            .text("0123456789")
        )
        let bytes = Mutex<ByteCount?>(nil)
        try await task(transport, retries: 1, limits: DownloadLimits(assetSize: ByteCount(12))).run { event in
            if case .progress(_, let progress) = event { bytes.withLock { $0 = progress.bytes } }
        }
        #expect(bytes.withLock { $0 } == ByteCount(10))
    }

    @Test(arguments: [
        ("key", ScriptedTransport.Response.bytes(Array(repeating: 1, count: 15)), "the key has 15 bytes instead of 16"),
        ("key", .bytes(Array(repeating: 1, count: 17)), "the key is longer than 16 bytes"),
        ("0.ts", .truncated([1, 2, 3], announced: 3), "the server sent 3 bytes instead of the requested 5"),
        ("0.ts", .truncated([1, 2, 3, 4, 5, 6], announced: 6), "the server sent more than the requested 5 bytes"),
    ])
    func fileOfAnUnexpectedSizeIsRejected(
        name: String,
        response: ScriptedTransport.Response,
        message: String
    ) async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "film.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
            #EXT-X-BYTERANGE:5@0
            #EXTINF:4,
            0.ts
            #EXT-X-ENDLIST

            """,
            Self.origin + "key": "0123456789abcdef", Self.origin + "0.ts": "01234",
        ])
        transport.setResponses(for: Self.origin + name, response)
        let error = await #expect(throws: DownloadError.self) { try await task(transport).run() }
        #expect(error?.message == message + ": \(Self.origin)\(name)" && error?.address?.text == Self.origin + name)
        #expect(error?.code == .transport && error?.detail == "wrong-content")
        let asset = try #require(try temporary.library.assets().first)
        #expect(try temporary.library.missingResources(asset.id).map(\.address.lastPathComponent) == [name])
    }

    // MARK: The library

    @Test func missingFileIsDetectedAndFetchedAgain() async throws {
        let asset = try await task(Self.film(["zero", "one"])).run()
        let lost = temporary.library.packageDirectory(asset.id).appendingPathComponent("media/000001.ts")
        try FileManager.default.removeItem(at: lost)
        let again = Self.film(["zero", "one"])
        let resolved = Mutex<DownloadProgress?>(nil)
        #expect(
            try await task(again).run { event in
                if case .resolved(_, let progress, _) = event { resolved.withLock { $0 = progress } }
            }.state == .complete
        )
        #expect(resolved.withLock { $0?.bytes } == ByteCount(4))
        #expect(again.requestedAddresses == [Self.origin + "film.m3u8", Self.origin + "1.ts"])
    }

    /// Another task deletes the asset between its entry into the catalog and its lock.
    @Test(arguments: [1, 2, 3]) func assetDeletedBeforeItsLockIsAddedAgainUpToThreeTimes(deletions: Int) async throws {
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let other = try AssetLibrary(directory: temporary.directory)
        let left = Mutex(deletions)
        @Sendable func deleteAfterEntry() {
            files.beforeNextCommit {
                for asset in (try? other.assets()) ?? [] { try? other.delete(asset.id) }
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                if !isLast { deleteAfterEntry() }
            }
        }
        deleteAfterEntry()
        let task = task(Self.film(["zero"]), into: library)
        if deletions < 3 {
            #expect(try await task.run().state == .complete)
        } else {
            let error = await #expect(throws: DownloadError.self) { try await task.run() }
            #expect(error?.detail == "not-found")
            #expect(try library.assets().isEmpty)
        }
        #expect(left.withLock { $0 } == 0)
    }

    @Test func assetInUseIsNotAddedAgain() async throws {
        let id = try await task(Self.film(["zero"])).run().id
        let files = RecordingFiles(temporary.directory)
        let library = try AssetLibrary(directory: temporary.directory, files: files)
        let lock = try temporary.library.lock(id)
        let error = await #expect(throws: DownloadError.self) {
            try await task(Self.film(["zero"]), into: library).run()
        }
        withExtendedLifetime(lock) {}
        #expect(error?.detail == "asset-busy" && error?.hint == "wait until the other task has finished, or stop it")
        #expect(files.operations.count { if case .commit = $0 { true } else { false } } == 1)
    }
}

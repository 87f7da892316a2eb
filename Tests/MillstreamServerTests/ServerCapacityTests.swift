import HLSPlaylist
import HTTPTypes
import Hummingbird
import HummingbirdCore
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOPosix
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the limits of one request, and of all requests together.
@Suite struct ServerCapacityTests {
    private let transport = ScriptedTransport(texts: [
        "https://h/media.m3u8": ServerCapacityTests.media(100), "https://h/other.m3u8": ServerCapacityTests.media(100),
    ])

    private static func media(_ segments: Int) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            + "#EXT-X-ENDLIST\n"
    }

    private func play(_ query: String, _ limits: ServerLimits, in work: ServerCapacity? = nil) async throws -> [UInt8] {
        let budget = try (work ?? ServerCapacity(limits)).admit()
        let editing = PlaybackRequestHandler(loader: ResourceLoader(transport), budget: budget, workers: .callingTask)
        var request = try PlaybackRequest(QueryItems(query), limits: limits.editing)
        request.mediaAddressing = .server(SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 32))))
        return try await editing.playlist(for: request)
    }

    private func refusal(_ query: String, _ limits: ServerLimits) async -> ServerError? {
        do {
            _ = try await play(query, limits)
            return nil
        } catch {
            return ServerError(error)
        }
    }

    @Test func playlistThatIsTooLargeIsRejected() async {
        let limits = ServerLimits(editing: EditLimits(loadedBytes: ByteCount(1_000)))
        let error = await refusal("url=https://h/media.m3u8", limits)
        #expect(error?.status == .contentTooLarge && error?.response.status == .contentTooLarge)
        #expect(
            await refusal("url=https://h/media.m3u8", ServerLimits(editing: EditLimits(loadedBytes: ByteCount(2_000))))
                == nil
        )
    }

    @Test func playlistsOfARequestAreCountedTogether() async {
        let limits = ServerLimits(editing: EditLimits(loadedBytes: ByteCount(3_000)))
        #expect(await refusal("url=https://h/media.m3u8", limits) == nil)
        let error = await refusal("url=https://h/media.m3u8&append=https://h/other.m3u8", limits)
        #expect(error?.status == .contentTooLarge && error?.code == "playlist-too-large")
    }

    @Test func tooManyEntriesAreRejected() async {
        let error = await refusal("url=https://h/media.m3u8", ServerLimits(editing: EditLimits(entries: 99)))
        #expect(error?.status == .contentTooLarge && error?.code == "limit-exceeded")
        let edited = await refusal(
            "url=https://h/media.m3u8&append=https://h/other.m3u8",
            ServerLimits(editing: EditLimits(entries: 150))
        )
        #expect(edited?.status == .contentTooLarge && edited?.code == "playlist-too-large")
    }

    @Test func responseThatWouldBeTooLargeIsAnError() async throws {
        let limits = ServerLimits(editing: EditLimits(resultBytes: ByteCount(6_000)))
        let error = await refusal("url=https://h/media.m3u8", limits)
        #expect(error?.status == .contentTooLarge && error?.code == "playlist-too-large")
        let bytes = try await play("url=https://h/media.m3u8&duration=40", limits)
        #expect(String(decoding: bytes, as: UTF8.self).contains("/segment/0.ts?url="))
    }

    @Test func reportThatWouldBeTooLargeIsRejected() async throws {
        let limits = ServerLimits(editing: EditLimits(resultBytes: ByteCount(4_000)))
        let budget = try ServerCapacity(limits).admit()
        let editing = PlaybackRequestHandler(loader: ResourceLoader(transport), budget: budget, workers: .callingTask)
        let error = await #expect(throws: ServerError.self) {
            try await editing.report(of: ResourceAddress("https://h/media.m3u8"))
        }
        #expect(error?.status == .contentTooLarge && error?.code == "report-too-large")
    }

    @Test func numbersOfEditsAndSourcesAreLimited() {
        let limits = ServerLimits(editing: EditLimits(edits: 3, sources: 1))
        func code(_ query: String) -> String? {
            do {
                _ = try PlaybackRequest(QueryItems("url=https://h/a.m3u8" + query), limits: limits.editing)
                return nil
            } catch {
                let failure = ServerError(error)
                return "\(failure.status.code) \(failure.code)"
            }
        }
        #expect(code("&append=https://h/b&prepend=https://h/b&duration=9") == nil)
        #expect(code("&append=https://h/b&prepend=https://h/c") == "413 too-many-sources")
        #expect(code("&duration=9&duration=9&duration=9&duration=9") == "413 too-many-edits")
    }

    @Test func capacityIsReleasedWhenARequestEnds() async throws {
        let work = ServerCapacity(ServerLimits(pendingEdits: 1))
        var budget: RequestBudget? = try work.admit()
        #expect(work.pendingRequests == 1)
        let busy = #expect(throws: ServerError.self) { try work.admit() }
        #expect(busy?.status == .serviceUnavailable && busy?.response.headers[.retryAfter] == "1")
        try budget?.editing.receive(100)
        try budget?.reserve(50)
        #expect(work.pendingBytes == 150)
        budget = nil
        #expect(work.pendingRequests == 0 && work.pendingBytes == 0)
        _ = try await play("url=https://h/media.m3u8", work.limits, in: work)
        #expect(work.pendingRequests == 0 && work.pendingBytes == 0)
    }

    @Test func totalBytesOfAllRequestsAreLimited() throws {
        let work = ServerCapacity(ServerLimits(pendingBytes: ByteCount(1_000)))
        let (first, second) = (try work.admit(), try work.admit())
        try first.editing.receive(600)
        let busy = #expect(throws: ServerError.self) { try second.editing.receive(401) }
        #expect(busy?.status == .serviceUnavailable && work.pendingBytes == 600)
        try second.editing.receive(400)
        #expect(work.pendingBytes == 1_000)
        #expect(throws: ServerError.self) { try first.reserve(1) }
    }
}

/// Tests the variables of a multivariant playlist, which media playlists may import.
@Suite struct InheritedVariableTests {
    private func playlists(valueLength: Int, variants: Int) -> ScriptedTransport {
        let value = String(repeating: "x", count: valueLength)
        let entries = (0..<variants).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1)\nv\($0).m3u8\n" }.joined()
        return ScriptedTransport(texts: [
            "https://h/top.m3u8?t=1": "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n\(entries)",
            "https://h/v0.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-DEFINE:IMPORT=\"a\"\n#EXTINF:4,\n{$a}.ts\n#EXT-X-ENDLIST\n",
            "https://h/v1.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\ns.ts\n#EXT-X-ENDLIST\n",
        ])
    }

    private func play(_ query: String, from transport: ScriptedTransport) async throws -> Playlist {
        let budget = try ServerCapacity(ServerLimits()).admit()
        let editing = PlaybackRequestHandler(loader: ResourceLoader(transport), budget: budget, workers: .callingTask)
        return try Playlist.parse(await editing.playlist(for: PlaybackRequest(QueryItems(query))))
    }

    private func children(_ playlist: Playlist) throws -> [String] {
        guard case .multivariant(let multivariant) = playlist else { return [] }
        return multivariant.variants.map { String($0.uri.dropFirst("/play.m3u8?".count)) }
    }

    @Test func longVariablesAreNotRepeatedForEachMediaPlaylist() async throws {
        let small = try await play("url=https://h/top.m3u8%3Ft=1", from: playlists(valueLength: 5_000, variants: 50))
        let large = try await play("url=https://h/top.m3u8%3Ft=1", from: playlists(valueLength: 20_000, variants: 200))
        #expect(small.bytes.count < 5_000 + 50 * 200)
        #expect(large.bytes.count < 5 * small.bytes.count)
    }

    @Test func mediaPlaylistReadsLongVariablesFromItsParent() async throws {
        let transport = playlists(valueLength: 2_000, variants: 2)
        let children = try children(
            await play("url=https://h/top.m3u8%3Ft=1&duration=9&segments=proxy", from: transport)
        )
        #expect(QueryItems(children[0])["parent"] == "https://h/top.m3u8?t=1")
        guard case .media(let media) = try await play(children[0], from: transport) else {
            Issue.record("not a media playlist")
            return
        }
        #expect(media.segments.map(\.uri) == ["https://h/\(String(repeating: "x", count: 2_000)).ts"])
        #expect(QueryItems(children[0])["segments"] == "proxy")
    }

    @Test func mediaPlaylistWithoutImportsDoesNotLoadItsParent() async throws {
        let transport = playlists(valueLength: 2_000, variants: 2)
        let children = try children(await play("url=https://h/top.m3u8%3Ft=1", from: transport))
        transport.setResponses(for: "https://h/top.m3u8?t=1", .text("gone"))
        _ = try await play(children[1], from: transport)
        await #expect(throws: ServerError.self) { try await play(children[0], from: transport) }
    }

    @Test func shortVariablesArePartOfTheAddress() async throws {
        let children = try children(
            await play("url=https://h/top.m3u8%3Ft=1", from: playlists(valueLength: 511, variants: 2))
        )
        #expect(children.allSatisfy { QueryItems($0)["parent"] == nil && QueryItems($0)["define"] != nil })
        let longer = try self.children(
            await play("url=https://h/top.m3u8%3Ft=1", from: playlists(valueLength: 512, variants: 2))
        )
        #expect(longer.allSatisfy { QueryItems($0)["parent"] != nil && QueryItems($0)["define"] == nil })
    }

    @Test func parentMustBeAnHTTPAddress() {
        #expect(throws: ServerError.self) {
            try PlaybackRequest(QueryItems("url=https://h/a.m3u8&parent=file:///etc/passwd"))
        }
    }

    @Test func largeMultivariantPlaylistsCanBeStitched() async throws {
        let entries = (0..<2_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0 + 1),RESOLUTION=2x1\nv\($0).m3u8\n" }.joined()
        let transport = ScriptedTransport(texts: [
            "https://h/a": "#EXTM3U\n" + entries, "https://h/b": "#EXTM3U\n" + entries,
        ])
        guard case .multivariant(let playlist) = try await play("url=https://h/a&append=https://h/b", from: transport)
        else {
            Issue.record("not a multivariant playlist")
            return
        }
        #expect(playlist.variants[1_999].uri == "/play.m3u8?url=https://h/v1999.m3u8&append=https://h/v1999.m3u8")
    }
}

/// Tests work on worker threads, and its cancellation when the client disconnects.
@Suite(.timeLimit(.minutes(10))) struct EditWorkerTests {
    @Test func cancelledWorkEndsAtItsNextCheck() async throws {
        let workers = EditWorkers(threads: 1)
        let (steps, step) = AsyncStream<Void>.makeStream()
        let work = Task {
            try await workers.run { check in
                step.yield()
                while true { try check() }
            }
        }
        for await _ in steps { break }
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(try await workers.run { _ in 7 } == 7, "the thread is free again")
        try await workers.shutdown()
    }

    /// Parsers have no closure to call, but notice that their work is canceled.
    @Test func cancelledWorkIsNoticedWithoutItsClosure() async throws {
        let workers = EditWorkers(threads: 1)
        let (steps, step) = AsyncStream<Void>.makeStream()
        let work = Task {
            try await workers.run { _ in
                let wasCanceled = CancelableWork.isCanceled
                step.yield()
                while !CancelableWork.isCanceled {}
                return wasCanceled
            }
        }
        for await _ in steps { break }
        work.cancel()
        #expect(try await work.value == false)
        #expect(try await workers.run { _ in CancelableWork.isCanceled } == false)
        try await workers.shutdown()
    }

    @Test func secondJobWaitsForAFreeThread() async throws {
        let workers = EditWorkers(threads: 1)
        let (steps, step) = AsyncStream<Int>.makeStream()
        let first = Task {
            try await workers.run { check in
                step.yield(1)
                while true { try check() }
            }
        }
        var iterator = steps.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        async let second: Void = workers.run { _ in _ = step.yield(2) }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        try await second
        #expect(await iterator.next() == 2)
        try await workers.shutdown()
    }

    /// Serves a route whose work never ends by itself, and a route with a short response.
    private func serving(_ test: (_ port: Int, _ events: AsyncStream<String>) async throws -> Void) async throws {
        let workers = EditWorkers(threads: 1)
        let (events, event) = AsyncStream<String>.makeStream()
        let router = Router(context: BasicRequestContext.self)
        router.get("endless") { _, _ -> String in
            do {
                return try await ClientPresence.whileClientIsConnected {
                    try await workers.run { check in
                        event.yield("begun")
                        while true { try check() }
                    }
                }
            } catch is CancellationError {
                event.yield("stopped")
                throw CancellationError()
            }
        }
        router.get("short") { _, _ in
            try await ClientPresence.whileClientIsConnected { try await workers.run { _ in "short response" } }
        }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router,
            server: .limited(by: ConnectionRegistry(ConnectionLimits())),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.serve(host: "127.0.0.1", port: 0) }
            var iterator = ports.makeAsyncIterator()
            let number = try #require(await iterator.next())
            try await test(number, events)
            group.cancelAll()
            try? await group.waitForAll()
        }
        try await workers.shutdown()
    }

    private func connect(_ port: Int) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }

    private static func request(_ path: String) -> ByteBuffer {
        ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    @Test func workIsCancelledWhenTheClientClosesTheConnection() async throws {
        try await serving { port, events in
            var iterator = events.makeAsyncIterator()
            let client = try await connect(port)
            try await client.executeThenClose { _, outbound in
                try await outbound.write(Self.request("/endless"))
                #expect(await iterator.next() == "begun")
            }
            #expect(await iterator.next() == "stopped")
        }
    }

    @Test func connectionServesSeveralRequests() async throws {
        try await serving { port, _ in
            let client = try await connect(port)
            try await client.executeThenClose { inbound, outbound in
                var responses = inbound.makeAsyncIterator()
                for _ in 0..<3 {
                    try await outbound.write(Self.request("/short"))
                    var text = ""
                    while !text.hasSuffix("short response"), let buffer = try await responses.next() {
                        text += String(buffer: buffer)
                    }
                    #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("short response"))
                }
            }
        }
    }
}

import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NIOPosix
import NetworkConditioning
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamServer
@testable import PlaylistEditing

/// Tests the default sizes of the stores of a server.
///
/// Long addresses fill the stores, because they are fast to create.
@Suite(.timeLimit(.minutes(2))) struct DefaultSizeFaultTests {
    private static let mebibyte = 1 << 20

    /// Returns a playlist without text that occupies the given number of bytes.
    private func playlist(_ size: Int) -> EditedPlaylistCache.Entry {
        let source = ResourceAddress(String(repeating: "a", count: size - 64 - 2_048))
        return EditedPlaylistCache.Entry([], versions: [source: 1], second: nil)
    }

    private func key(_ target: String) -> EditedPlaylistCache.Key {
        EditedPlaylistCache.Key(target: target, authority: "h", isForeign: false)
    }

    @Test func editedPlaylistsOccupy64Mebibytes() {
        let cache = EditedPlaylistCache()
        let quarter = playlist(16 * Self.mebibyte - 3)
        #expect(quarter.size == 16 * Self.mebibyte - 3)
        for number in 0..<4 { cache.store(quarter, for: key("/\(number)")) }
        #expect((0..<4).allSatisfy { cache.entry(for: key("/\($0)")) != nil })
        cache.store(playlist(4_096), for: key("/4"))
        #expect(cache.entry(for: key("/0")) == nil && cache.entry(for: key("/4")) != nil)
        // A playlist that is larger than a quarter is not stored.
        cache.store(playlist(16 * Self.mebibyte - 2), for: key("/4"))
        #expect(cache.entry(for: key("/4")) == nil)
    }

    @Test func repeatedResponsesOccupy64Mebibytes() throws {
        let policy = SourcePolicy(allowedHosts: [], catalog: []) { _ in false }
        let loading = ResourceLoader(ScriptedTransport(), policy: RecoveryPolicy(retries: 0))
        let responses = RepeatedResponses(
            sources: SourceAccess(trusted: (loading, policy, HostCache()), foreign: (loading, policy, HostCache())),
            capacity: ServerCapacity(ServerLimits()),
            metrics: ServerMetrics(),
            faults: FaultSettings([]),
            links: LinkRegistry(shared: .off)
        )
        func request(_ number: Int) throws -> RepeatedRequest {
            let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/play.m3u8?\(number)")
            return try #require(RepeatedRequest(head, isForwarded: false))
        }
        let key = key("/a")
        let requestSize = try request(0).size
        let overhead = key.size + 4_096 + requestSize
        func store(_ number: Int, _ size: Int) throws {
            let offer = ResponseOffer.Value(
                playlist: playlist(size - overhead),
                key: key,
                expiry: nil,
                initiator: .player
            )
            responses.store(offer, head: HTTPResponse(status: .ok), for: try request(number))
        }
        func isStored(_ number: Int) throws -> Bool { try responses.response(to: request(number)) != nil }
        for number in 0..<4 { try store(number, 16 * Self.mebibyte) }
        let all = try (0..<4).map { try isStored($0) }
        #expect(all == [true, true, true, true])
        try store(4, 8_192)
        let (first, last) = (try isStored(0), try isStored(4))
        #expect(!first && last)
    }

    @Test func breaksOccupy32Mebibytes() throws {
        func breaks(_ size: Int) -> BreakTimelines {
            var breaks = BreakTimelines()
            breaks.timelines[""] = BreakTimeline()
            let name = String(repeating: "a", count: size - breaks.size)
            breaks.timelines = [name: BreakTimeline()]
            return breaks
        }
        let client = ClientNetwork(HostAddress([192, 0, 2, 1]))
        let quarter = breaks(8 * Self.mebibyte)
        #expect(quarter.size == 8 * Self.mebibyte)
        let store = MemoryBreakStore()
        let refusal = #expect(throws: ServerError.self) {
            try store.store(breaks(8 * Self.mebibyte + 1), of: "a", replacing: 0, for: client)
        }
        #expect(refusal?.status == .tooManyRequests)
        let isStored = try store.store(quarter, of: "a", replacing: 0, for: client)
        #expect(isStored && store.breaks(of: "a").revision == 1)
        for number in 0..<3 {
            let isStored = try store.store(quarter, of: "\(number)", replacing: 0, for: nil)
            #expect(isStored)
        }
        let full = #expect(throws: ServerError.self) { try store.store(breaks(4_096), of: "b", replacing: 0, for: nil) }
        #expect(full?.status == .serviceUnavailable)
    }

    @Test(arguments: [(0, true), (1, false)])
    func statesOfVariantsOccupy4Mebibytes(excess: Int, isKnown: Bool) async throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let playlist = try Playlist.parse(Array(text.utf8))
        let time = Simulation()
        let monitor = VariantMonitor(time: time)
        let addresses = (0..<4).map { number in
            let base = "https://h/\(number)/"
            let rest = Self.mebibyte - 512 - base.utf8.count + (number == 3 ? excess : 0)
            return ResourceAddress(base + String(repeating: "a", count: rest))
        }
        let loads = Mutex(0)
        let load: VariantMonitor.Load = { _ in
            loads.withLock { $0 += 1 }
            return playlist
        }
        try await time.run {
            for _ in 0..<2 { _ = try await monitor.availability(of: addresses, loading: load) }
        }
        let count = loads.withLock { $0 }
        #expect((count == 4) == isKnown, "\(count)")
    }
}

/// Tests the connection to Redis, against servers that send one reply.
@Suite(.timeLimit(.minutes(2))) struct RedisConnectionFaultTests {
    /// A handler that sends the same reply to each command, and can close the connection after it.
    private final class Replies: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let reply: String
        private let isLast: Bool

        init(_ reply: String, isLast: Bool) {
            self.reply = reply
            self.isLast = isLast
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply)), promise: nil)
            if isLast { context.close(promise: nil) }
        }
    }

    /// The number of connections that a server has accepted.
    private final class Connections: Sendable {
        private let number = Mutex(0)

        var count: Int { number.withLock { $0 } }

        func add() { number.withLock { $0 += 1 } }
    }

    private func withServer(
        _ reply: String,
        isLast: Bool = false,
        _ body: (RedisConnection, Connections) async throws -> Void
    ) async throws {
        let connections = Connections()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                connections.add()
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Replies(reply, isLast: isLast))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            let port = try #require(server.localAddress?.port)
            let address = try #require(RedisAddress("redis://127.0.0.1:\(port)"))
            try await body(RedisConnection(address), connections)
        } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    private func text(_ reply: RedisReply) -> String {
        switch reply {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): "\(number)"
        case .array(let elements): "[" + elements.map { text($0) }.joined(separator: ",") + "]"
        case .null: "null"
        }
    }

    private func ask(_ connection: RedisConnection) async throws -> String {
        text(try await BlockingQueue("test").run { try connection.send(["GET", "a"]) })
    }

    @Test(arguments: [
        ("+OK\r\n", "OK"), (":-7\r\n", "-7"), ("$-1\r\n", "null"), ("$0\r\n\r\n", ""), ("*0\r\n", "[]"),
        ("*2\r\n:1\r\n$2\r\nab\r\n", "[1,ab]"), ("*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n", "[[[[7]]]]"),
        // Arrays in more arrays are not read.
        ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n", "[[[[null]]]]"),
    ])
    func repliesAreRead(reply: String, expected: String) async throws {
        try await withServer(reply) { connection, connections in
            for _ in 0..<2 {
                let answer = try await ask(connection)
                #expect(answer == expected)
            }
            #expect(connections.count == 1)
        }
    }

    /// A server closes connections that are not used for a while.
    @Test func lostConnectionIsOpenedAgain() async throws {
        try await withServer("+OK\r\n", isLast: true) { connection, connections in
            for _ in 0..<3 {
                let answer = try await ask(connection)
                #expect(answer == "OK")
            }
            #expect(connections.count == 3)
        }
    }
}

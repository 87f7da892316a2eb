import MediaTransport
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import MillstreamServer
@testable import PlaylistEditing

/// A handler that reads the commands of a client of Redis, and sends the replies to them.
private final class RedisHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let reply: @Sendable ([String]) -> String
    private var bytes: [UInt8] = []

    init(_ reply: @escaping @Sendable ([String]) -> String) { self.reply = reply }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += unwrapInboundIn(data).readableBytesView
        while let command = takeCommand() {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: reply(command))), promise: nil)
        }
    }

    /// Removes the first command, an array of texts; `nil` if it has not arrived yet.
    private func takeCommand() -> [String]? {
        var position = 0
        func number() -> Int? {
            guard let end = bytes[position...].firstIndex(of: 0x0A) else { return nil }
            defer { position = end + 1 }
            // Without the first character, which is the type, and the line break.
            return Int(String(decoding: bytes[position..<end].dropFirst().dropLast(), as: UTF8.self))
        }
        guard let count = number() else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = number(), bytes.count >= position + length + 2 else { return nil }
            words.append(String(decoding: bytes[position..<(position + length)], as: UTF8.self))
            position += length + 2
        }
        bytes.removeFirst(position)
        return words
    }
}

/// The replies of a server that knows the commands of the storage of breaks.
private final class RedisReplies: Sendable {
    private struct State {
        var values: [String: [String]] = [:]
        var commands: [[String]] = []
        var fixedReply: String?
    }
    private let state = Mutex(State())

    /// The commands without the script.
    var commands: [[String]] {
        state.withLock { $0.commands.map { $0.filter { !$0.contains("redis.call") } } }
    }

    /// Sets the reply to every command; `nil` for that of the server.
    func fix(_ reply: String?) { state.withLock { $0.fixedReply = reply } }

    func reply(to command: [String]) -> String {
        state.withLock { state in
            state.commands.append(command)
            if let reply = state.fixedReply { return reply }
            switch command.first {
            case "PING": return "+PONG\r\n"
            case "HMGET":
                let values = state.values[command[1]].map { $0.map { "$\($0.utf8.count)\r\n\($0)\r\n" } }
                return "*2\r\n" + (values ?? ["$-1\r\n", "$-1\r\n"]).joined()
            case "EVAL":
                guard command[4] == state.values[command[3]]?[0] ?? "0" else { return ":0\r\n" }
                state.values[command[3]] = [command[5], command[6]]
                return ":1\r\n"
            default: return "+OK\r\n"
            }
        }
    }
}

/// Tests of the storage of breaks in Redis, against a server in this process.
@Suite(.timeLimit(.minutes(10))) struct RedisBreakStoreTests {
    private func withServer(_ body: (RedisReplies, Int) async throws -> Void) async throws {
        let replies = RedisReplies()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(RedisHandler { replies.reply(to: $0) })
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            try await body(replies, try #require(server.localAddress?.port))
        } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    private static let breaks: BreakTimelines = {
        var breaks = BreakTimelines()
        breaks.timelines["a"] = BreakTimeline()
        return breaks
    }()

    @Test func breaksAreStoredIfTheyWereRead() async throws {
        try await withServer { replies, port in
            let store = RedisBreakStore(try #require(RedisAddress("redis://me:word@127.0.0.1:\(port)/3")))
            try await store.verify()
            #expect(replies.commands == [["AUTH", "me", "word"], ["SELECT", "3"], ["PING"]])
            #expect(try await store.breaks(of: "k").revision == 0)
            #expect(try await store.store(Self.breaks, of: "k", replacing: 0, for: nil))
            let stored = try await store.breaks(of: "k")
            #expect(stored.revision == 1 && stored.breaks == Self.breaks)
            #expect(try await !store.store(BreakTimelines(), of: "k", replacing: 0, for: nil))
            #expect(try await store.store(BreakTimelines(), of: "k", replacing: 1, for: nil))
            let later = try await store.breaks(of: "k")
            #expect(later.revision == 2 && later.breaks == BreakTimelines())
            #expect(try await store.breaks(of: "other").revision == 0)
            // One connection, and a lifetime of six hours.
            let commands = replies.commands
            #expect(commands.count { $0.first == "AUTH" } == 1)
            let first = try #require(commands.first { $0.first == "EVAL" })
            #expect(first.prefix(5) == ["EVAL", "1", "millstream:breaks:k", "0", "1"] && first.last == "21600")
            #expect(commands.contains(["HMGET", "millstream:breaks:other", "revision", "breaks"]))
        }
    }

    @Test(arguments: [
        "*1\r\n$1\r\n7\r\n", "*3\r\n$1\r\n7\r\n$2\r\n{}\r\n$1\r\nx\r\n", "*2\r\n$1\r\nx\r\n$2\r\n{}\r\n",
        "*2\r\n$1\r\n7\r\n$-1\r\n", "*2\r\n$-1\r\n$2\r\n{}\r\n", ":7\r\n", "$-1\r\n",
    ])
    func otherRepliesAreThoseOfAnUnknownPlaylist(reply: String) async throws {
        try await withServer { replies, port in
            let store = RedisBreakStore(try #require(RedisAddress("redis://127.0.0.1:\(port)")))
            try await store.verify()
            #expect(replies.commands == [["PING"]], "no password, and the first database")
            replies.fix(reply)
            let unknown = try await store.breaks(of: "k")
            #expect(unknown.revision == 0 && unknown.breaks == BreakTimelines())
        }
    }

    @Test func repliesThatStoreNothing() async throws {
        try await withServer { replies, port in
            let store = RedisBreakStore(try #require(RedisAddress("redis://:word@127.0.0.1:\(port)")))
            try await store.verify()
            #expect(replies.commands == [["AUTH", "word"], ["PING"]])
            for reply in [":2\r\n", ":0\r\n", "+OK\r\n"] {
                replies.fix(reply)
                #expect(try await !store.store(Self.breaks, of: "k", replacing: 0, for: nil), "\(reply)")
            }
            // What cannot be read is replaced.
            replies.fix("*2\r\n$1\r\n7\r\n$1\r\n{\r\n")
            let damaged = try await store.breaks(of: "k")
            #expect(damaged.revision == 7 && damaged.breaks == BreakTimelines())
            replies.fix("-ERR no\r\n")
            let error = await #expect(throws: ServerError.self) { () async throws in try await store.verify() }
            #expect(error?.code == "state-unavailable" && error?.message == "Redis refused a command (ERR no)")
            // The connection is used nevertheless.
            replies.fix(nil)
            try await store.verify()
            #expect(replies.commands.count { $0.first == "AUTH" } == 1)
        }
    }
}

import Foundation
import MediaTiming
import ResourceAddressing
import Synchronization

#if os(Linux) || os(macOS)
import CHiredis
#endif

/// The address of a Redis server: `redis://[[USER:]PASSWORD@]HOST[:PORT][/DATABASE]`.
public struct RedisAddress: Sendable, Hashable {
    let host: String
    let port: Int32
    let user: String?
    let password: String?
    let database: Int

    /// Creates an address from its URL.
    ///
    /// - Returns: `nil` if the text is no such URL.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), parts.scheme?.lowercased() == "redis",
            let host = parts.host, !host.isEmpty, parts.query == nil, parts.fragment == nil
        else { return nil }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard let port = Int32(exactly: parts.port ?? 6_379), (1...65_535).contains(port) else { return nil }
        self.port = port
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password.flatMap { $0.isEmpty ? nil : $0 }
        let path = parts.path.drop { $0 == "/" }
        guard let database = path.isEmpty ? 0 : Int(path), (0...100_000).contains(database) else { return nil }
        self.database = database
    }
}

/// A reply of a Redis server.
enum RedisReply: Sendable {
    /// A string, whose bytes can be any.
    case text([UInt8])
    case integer(Int64)
    case array([RedisReply])
    case null
}

/// A connection to a Redis server, which is opened when it is needed and again after an error.
///
/// Its calls block.
final class RedisConnection: Sendable {
    private let address: RedisAddress

    init(_ address: RedisAddress) { self.address = address }

    #if os(Linux) || os(macOS)
    /// The time after which a connection or a command fails, in seconds.
    private static let timeout = 2
    /// The time after a failure in which commands fail at once, so that those that wait for their turn do not add up their time-outs.
    private static let pause = Duration.seconds(1)
    /// The maximum depth of a reply, of which the commands of this program have one.
    private static let maximumDepth = 4

    private struct Context: ~Copyable {
        let pointer: UnsafeMutablePointer<redisContext>

        deinit { redisFree(pointer) }
    }

    /// The context, in which one command at a time is sent.
    private struct State: ~Copyable, @unchecked Sendable {
        // Safe: the context is used only while the mutex is locked.
        var context: Context?
        /// The time before which no connection is opened, and the last failure.
        var pause: (end: ContinuousClock.Instant, failure: ServerError)?
    }

    private let state = Mutex(State())

    /// Sends a command, once more over a new connection if the connection was closed.
    ///
    /// - Throws: ``ServerError`` with 503 if the server cannot be reached or answers with an error.
    func send(_ arguments: [String]) throws -> RedisReply {
        try state.withLock { state in
            if let pause = state.pause, ContinuousClock.now < pause.end { throw pause.failure }
            state.pause = nil
            let isConnected = state.context != nil
            do {
                do {
                    return try Self.send(arguments, &state, address)
                } catch is ConnectionLost where isConnected {
                    return try Self.send(arguments, &state, address)
                }
            } catch let error as ConnectionLost {
                let failure = error.failure(address)
                state.pause = (ContinuousClock.now + Self.pause, failure)
                throw failure
            }
        }
    }

    private struct ConnectionLost: Error {
        let reason: String

        func failure(_ address: RedisAddress) -> ServerError {
            .stateUnavailable("Redis at \(address.host):\(address.port) cannot be reached (\(reason))")
        }
    }

    private static func send(
        _ arguments: [String],
        _ state: inout State,
        _ address: RedisAddress
    ) throws -> RedisReply {
        if state.context == nil {
            let context = try open(address)
            if let password = address.password {
                _ = try command(["AUTH"] + (address.user.map { [$0] } ?? []) + [password], context.pointer)
            }
            if address.database > 0 { _ = try command(["SELECT", "\(address.database)"], context.pointer) }
            state.context = consume context
        }
        guard let pointer = state.context?.pointer else { return .null }
        do {
            return try command(arguments, pointer)
        } catch let error as ConnectionLost {
            state.context = nil
            throw error
        }
    }

    private static func open(_ address: RedisAddress) throws -> Context {
        let limit = timeval(tv_sec: timeout, tv_usec: 0)
        guard let pointer = redisConnectWithTimeout(address.host, address.port, limit) else {
            throw ConnectionLost(reason: "there is no memory")
        }
        let context = Context(pointer: pointer)
        guard pointer.pointee.err == 0, redisSetTimeout(pointer, limit) == REDIS_OK else {
            throw ConnectionLost(reason: errorText(pointer))
        }
        return context
    }

    private static func errorText(_ pointer: UnsafeMutablePointer<redisContext>) -> String {
        withUnsafeBytes(of: pointer.pointee.errstr) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func command(
        _ arguments: [String],
        _ pointer: UnsafeMutablePointer<redisContext>
    ) throws -> RedisReply {
        let texts = arguments.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var pointers = texts.map { UnsafePointer<CChar>($0) }
        var lengths = arguments.map(\.utf8.count)
        guard let received = redisCommandArgv(pointer, Int32(clamping: arguments.count), &pointers, &lengths) else {
            throw ConnectionLost(reason: errorText(pointer))
        }
        defer { freeReplyObject(received) }
        return try reply(received.assumingMemoryBound(to: redisReply.self).pointee, depth: 0)
    }

    private static func reply(_ reply: redisReply, depth: Int) throws -> RedisReply {
        let text = UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : Int(reply.len))
        switch reply.type {
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS: return .text([UInt8](text))
        case REDIS_REPLY_INTEGER: return .integer(reply.integer)
        case REDIS_REPLY_ARRAY where depth < maximumDepth:
            return .array(
                try (0..<Int(reply.elements)).map { index in
                    guard let element = reply.element[index] else { return .null }
                    return try self.reply(element.pointee, depth: depth + 1)
                }
            )
        case REDIS_REPLY_ERROR:
            throw ServerError.stateUnavailable("Redis refused a command (\(String(decoding: text, as: UTF8.self)))")
        default: return .null
        }
    }
    #else
    /// Throws an error, because Redis is not available on this platform.
    func send(_ arguments: [String]) throws -> RedisReply {
        throw ServerError.stateUnavailable("Redis is not supported on this platform")
    }
    #endif
}

import Foundation
import MediaTiming
import PlaylistEditing
import Synchronization

/// The breaks of edited live playlists in Redis, which several servers share.
///
/// Each playlist is a hash with the fields `revision` and `breaks`, which expires six hours after its last change. Each server counts what
/// it has stored in this time for each of its clients.
final class RedisBreakStore: BreakStore {
    private let connection: RedisConnection
    private let queue = BlockingQueue("millstream.redis")
    private let time: any TimeSource
    private let shares: Mutex<BreakShares>

    private static let lifetime = 6 * 3_600

    /// The limits for what one server stores: 64 MiB for a client, and 1 GiB for all.
    static let defaultLimits = BreakShares.Limits(
        size: 1 << 30,
        clientSize: 64 << 20,
        minimumSize: 8 << 10,
        idleTime: .seconds(lifetime)
    )

    /// Stores the breaks only if the version is that which was read, in one step.
    private static let script = """
        if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[1] then return 0 end
        redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'breaks', ARGV[3])
        redis.call('EXPIRE', KEYS[1], ARGV[4])
        return 1
        """

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - address: The server.
    ///   - limits: The limits for what this process stores.
    ///   - time: The clock.
    init(
        _ address: RedisAddress,
        limits: BreakShares.Limits = RedisBreakStore.defaultLimits,
        time: any TimeSource = SystemTimeSource()
    ) {
        connection = RedisConnection(address)
        shares = Mutex(BreakShares(limits))
        self.time = time
    }

    /// Verifies that the server can be reached and accepts the connection.
    func verify() async throws { _ = try await command(["PING"]) }

    func breaks(of key: String) async throws -> StoredBreaks {
        guard case .array(let values) = try await command(["HMGET", Self.name(key), "revision", "breaks"]),
            values.count == 2, case .text(let revision) = values[0], case .text(let breaks) = values[1],
            let number = Int64(String(decoding: revision, as: UTF8.self))
        else { return StoredBreaks() }
        let now = time.now
        shares.withLock { $0.use(key, size: breaks.count, at: now) }
        return StoredBreaks(json: breaks, revision: number)
    }

    func store(
        _ breaks: BreakTimelines,
        of key: String,
        replacing revision: Int64,
        for client: ClientNetwork?
    ) async throws -> Bool {
        let json = String(decoding: try JSONEncoder().encode(breaks), as: UTF8.self)
        let now = time.now
        // The timelines that no longer count have expired in Redis.
        try shares.withLock { _ = try $0.store(json.utf8.count, of: key, for: client, at: now) }
        let reply = try await command([
            "EVAL", Self.script, "1", Self.name(key), "\(revision)", "\(revision +| 1)", json, "\(Self.lifetime)",
        ])
        guard case .integer(let isStored) = reply else { return false }
        return isStored == 1
    }

    private static func name(_ key: String) -> String { "millstream:breaks:" + key }

    private func command(_ arguments: [String]) async throws -> RedisReply {
        let connection = connection
        return try await queue.run { try connection.send(arguments) }
    }
}

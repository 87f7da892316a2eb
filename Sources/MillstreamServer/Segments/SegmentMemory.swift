import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// The segments that pass through the server: identical requests are joined, and the next segments are loaded ahead where
/// that is asked for.
final class SegmentMemory: Sendable {
    /// The properties in which requests for segments differ.
    struct Key: Hashable {
        let address: String
        /// The value of the `Range` field.
        var range: String?
    }

    private struct Retained {
        let key: Key
        let byteCount: Int
        let end: Duration
    }

    private struct State {
        var transfers: [Key: SharedTransfer] = [:]
        /// The complete segments in memory, the oldest first.
        var retained: [Retained] = []
        var retainedByteCount = 0
        /// The next segment of each one, for segments that players were told of last.
        var followers: [String: String] = [:]
        var order: [String] = []
        var aheadCount = 0
    }

    /// The number of segments that are loaded ahead of a player; 0 to load none.
    private let aheadCount: Int
    private let time: any TimeSource
    private let memory: SharedMemory
    private let state = Mutex(State())

    /// The maximum total size of complete segments in memory.
    private static let maximumRetainedSize = 64 << 20
    /// The time for which a segment stays in memory.
    private static let retention = Duration.seconds(30)
    /// The maximum number of segments whose next one is known.
    private static let maximumFollowerCount = 50_000
    /// The maximum number of segments that are loaded ahead at the same time, for all players.
    private static let maximumConcurrentLoads = 8

    /// Creates a memory.
    ///
    /// - Parameters:
    ///   - aheadCount: The number of segments that are loaded ahead of a player; 0 to load none.
    ///   - memory: The memory of the segments.
    ///   - time: The clock.
    init(
        aheadCount: Int = 0,
        memory: SharedMemory = SharedMemory(),
        time: any TimeSource = SystemTimeSource()
    ) {
        self.aheadCount = aheadCount
        self.memory = memory
        self.time = time
    }

    /// A Boolean value that indicates whether segments are loaded ahead of players.
    var loadsAhead: Bool { aheadCount > 0 }

    /// Stores the order of the segments of a playlist.
    func store(order addresses: [String]) {
        let last = addresses.suffix(Self.maximumFollowerCount / 4)
        state.withLock { state in
            for (address, next) in zip(last, last.dropFirst()) {
                if state.followers.updateValue(next, forKey: address) == nil { state.order.append(address) }
            }
            let excess = state.order.count - Self.maximumFollowerCount
            guard excess > 0 else { return }
            for address in state.order.prefix(excess) { state.followers[address] = nil }
            state.order.removeFirst(excess)
        }
    }

    /// Returns the response to a request, which is joined with identical ones in progress.
    ///
    /// - Parameters:
    ///   - key: The request.
    ///   - load: A closure that sends the request for a segment.
    /// - Returns: The response.
    /// - Throws: The error of `load`.
    func response(
        to key: Key,
        _ load: @escaping @Sendable (Key) async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let reader = reader(of: key, load)
        // The reader must not end before those of the next segments have begun.
        if key.range == nil { loadAhead(of: key, load) }
        if let response = try await reader.response() { return response }
        return try await load(key)
    }

    /// Returns a reader of the transfer of a segment, which is started if there is none.
    private func reader(
        of key: Key,
        _ load: @escaping @Sendable (Key) async throws -> TransportResponse
    ) -> SharedTransfer.Reader {
        let (transfer, reader, isNew) = state.withLock { state in
            removeOutdated(&state)
            if let known = state.transfers[key], known.isShareable { return (known, known.reader(), false) }
            let transfer = SharedTransfer(in: memory)
            state.transfers[key] = transfer
            return (transfer, transfer.reader(), true)
        }
        if isNew {
            transfer.start({ try await load(key) }, onEnd: { [weak self] in self?.finish(key, transfer) })
        }
        return reader
    }

    /// Starts to load the next segments.
    private func loadAhead(of key: Key, _ load: @escaping @Sendable (Key) async throws -> TransportResponse) {
        guard aheadCount > 0 else { return }
        var address = key.address
        for _ in 0..<aheadCount {
            let next: Key? = state.withLock { state in
                guard let next = state.followers[address] else { return nil }
                address = next
                guard state.transfers[Key(address: next)] == nil, state.aheadCount < Self.maximumConcurrentLoads else {
                    return nil
                }
                state.aheadCount += 1
                return Key(address: next)
            }
            guard let next else { continue }
            let reader = reader(of: next, load)
            Task { [weak self] in
                await reader.waitUntilEnd()
                self?.state.withLock { $0.aheadCount -= 1 }
            }
        }
    }

    /// Keeps a complete segment if segments are loaded ahead, and forgets any other.
    private func finish(_ key: Key, _ transfer: SharedTransfer) {
        state.withLock { state in
            guard state.transfers[key] === transfer else { return }
            guard aheadCount > 0, transfer.isComplete else {
                state.transfers[key] = nil
                return
            }
            let size = transfer.byteCount
            state.retained.append(Retained(key: key, byteCount: size, end: time.now + Self.retention))
            state.retainedByteCount +|= size
            removeOutdated(&state)
        }
    }

    /// Removes the segments that are in memory for too long, and the oldest ones while all of them are too large.
    private func removeOutdated(_ state: inout State) {
        let now = time.now
        while let first = state.retained.first,
            first.end <= now || state.retainedByteCount > Self.maximumRetainedSize
        {
            state.retained.removeFirst()
            state.retainedByteCount -|= first.byteCount
            state.transfers[first.key] = nil
        }
    }
}

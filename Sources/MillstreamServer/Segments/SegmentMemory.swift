import HLSPlaylist
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
        /// The value of the `If-Range` field of a request with a range.
        var validator: String?
        /// The field `If-None-Match` or `If-Modified-Since` of a request.
        var condition: HeaderField?

        /// The number of bytes of the key.
        var size: Int {
            let texts: [String?] = [address, range, validator, condition?.value]
            return texts.reduce(0) { $0 +| ($1?.utf8.count ?? 0) }
        }
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
        var order: ArraySlice<String> = []
        var followerByteCount = 0
        var aheadCount = 0
    }

    /// The number of segments that are loaded ahead of a player; 0 to load none.
    private let aheadCount: Int
    /// A Boolean value that indicates whether the conditions of requests are sent to the origin.
    ///
    /// They are not if a disk cache is behind this memory: it answers only requests without a condition.
    let forwardsConditions: Bool
    private let time: any TimeSource
    private let memory: SharedMemory
    /// The maximum total size of complete segments in memory.
    private let retainedBytes: ByteCount
    private let state = Mutex(State())

    /// The time for which a segment stays in memory.
    private static let retention = Duration.seconds(30)
    /// The maximum number of segments that are kept in memory.
    private static let maximumRetainedCount = 256
    /// The maximum number of segments of a playlist whose next one is known.
    private static let maximumOrderCount = 10_000
    /// The maximum number of bytes of the URLs of all segments whose next one is known.
    private static let maximumFollowerSize = 16 << 20
    /// The maximum length of such a URL.
    private static let maximumAddressLength = 1_024
    /// The maximum number of segments that are loaded ahead at the same time, for all players.
    private static let maximumConcurrentLoads = 8

    /// Creates a memory.
    ///
    /// - Parameters:
    ///   - aheadCount: The number of segments that are loaded ahead of a player; 0 to load none.
    ///   - forwardsConditions: A Boolean value that indicates whether the conditions of requests are sent to the origin.
    ///   - retainedBytes: The maximum total size of complete segments in memory.
    ///   - memory: The memory of the segments; by default, 64 MiB for transfers in addition to the complete segments.
    ///   - time: The clock.
    init(
        aheadCount: Int = 0,
        forwardsConditions: Bool = true,
        retainedBytes: ByteCount = ByteCount(64 << 20),
        memory: SharedMemory? = nil,
        time: any TimeSource = SystemTimeSource()
    ) {
        self.aheadCount = aheadCount
        self.forwardsConditions = forwardsConditions
        self.retainedBytes = retainedBytes
        self.memory = memory ?? SharedMemory(total: Int(clamping: retainedBytes.bytes) +| 64 << 20)
        self.time = time
    }

    /// A Boolean value that indicates whether segments are loaded ahead of players.
    var loadsAhead: Bool { aheadCount > 0 }

    /// Stores the order of the segments of a playlist: of the first ones of a long playlist.
    ///
    /// Only segments of one origin follow each other, so that a playlist cannot name others as those that follow.
    func store(order playlist: MediaPlaylist) {
        var previous: ResourceAddress?
        var pairs: [(String, String)] = []
        for segment in playlist.segments.prefix(Self.maximumOrderCount) {
            let address = segment.byteRange == nil ? segment.address : nil
            defer { previous = address }
            guard let previous, let address, address.text.utf8.count <= Self.maximumAddressLength,
                let scope = HeaderFieldScope(originOf: previous), scope.contains(address)
            else { continue }
            pairs.append((previous.text, address.text))
        }
        state.withLock { state in
            for (address, next) in pairs {
                let former = state.followers.updateValue(next, forKey: address)
                state.followerByteCount +|= next.utf8.count
                if let former {
                    state.followerByteCount -|= former.utf8.count
                } else {
                    state.order.append(address)
                    state.followerByteCount +|= address.utf8.count
                }
            }
            while state.followerByteCount > Self.maximumFollowerSize, let first = state.order.popFirst() {
                let next = state.followers.removeValue(forKey: first)
                state.followerByteCount -|= first.utf8.count +| (next?.utf8.count ?? 0)
            }
        }
    }

    /// Returns a Boolean value that indicates whether the response to a request is in memory, or is being loaded.
    func isLoaded(_ key: Key) -> Bool {
        state.withLock { state in
            removeOutdated(&state)
            return state.transfers[key] != nil
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
        if let response = try await reader?.response() { return response }
        return try await load(key)
    }

    /// Returns a reader of the transfer of a segment, which is started if there is none.
    private func reader(
        of key: Key,
        isAhead: Bool = false,
        _ load: @escaping @Sendable (Key) async throws -> TransportResponse
    ) -> SharedTransfer.Reader? {
        let (transfer, reader, isNew): (SharedTransfer, SharedTransfer.Reader?, Bool) = state.withLock { state in
            removeOutdated(&state)
            if let known = state.transfers[key], let reader = known.reader() { return (known, reader, false) }
            let transfer = SharedTransfer(in: memory, isAhead: isAhead)
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
            let reader = reader(of: next, isAhead: true, load)
            Task { [weak self] in
                await reader?.waitUntilEnd()
                self?.state.withLock { $0.aheadCount -= 1 }
            }
        }
    }

    /// Keeps a segment that was loaded ahead, and forgets any other.
    private func finish(_ key: Key, _ transfer: SharedTransfer) {
        state.withLock { state in
            guard state.transfers[key] === transfer else { return }
            guard transfer.mayBeRetained else {
                state.transfers[key] = nil
                return
            }
            let size = transfer.byteCount +| key.size
            state.retained.append(Retained(key: key, byteCount: size, end: time.now + Self.retention))
            state.retainedByteCount +|= size
            removeOutdated(&state)
        }
        _ = time.schedule(after: Self.retention) { [weak self] in
            self?.state.withLock { state in self?.removeOutdated(&state) }
        }
    }

    /// Removes the segments that are in memory for too long, and the oldest ones while all of them are too large.
    private func removeOutdated(_ state: inout State) {
        let now = time.now
        while let first = state.retained.first,
            first.end <= now || Int64(state.retainedByteCount) > retainedBytes.bytes
                || state.retained.count > Self.maximumRetainedCount
        {
            state.retained.removeFirst()
            state.retainedByteCount -|= first.byteCount
            state.transfers[first.key] = nil
        }
    }
}

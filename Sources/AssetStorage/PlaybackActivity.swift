package import MediaTiming
import MediaTransport
import NIOCore
import Synchronization

/// The waits of players for media from the network, during which the downloads of a library leave the network to them.
///
/// A player whose buffer is full reads nothing and does not count.
package final class PlaybackActivity: Sendable {
    private struct State {
        var waitingCount = 0
        var totalCount: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of waits so far.
    var totalCount: UInt64 { state.withLock { $0.totalCount } }

    /// A Boolean value that indicates whether a player is waiting.
    var isWaiting: Bool { state.withLock { $0.waitingCount > 0 } }

    /// Records that a player begins to wait; each call is followed by one of ``end()``.
    func begin() {
        state.withLock { state in
            state.waitingCount += 1
            state.totalCount &+= 1
        }
    }

    /// Records that a player no longer waits.
    func end() { state.withLock { $0.waitingCount -= 1 } }
}

/// A transport of players to the origin, which records when they wait for media.
struct PlaybackTransport: Transport {
    let base: any Transport
    let activity: PlaybackActivity

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // A server may hold back a playlist until it has changed (draft-pantos-hls-rfc8216bis §6.2.5.2).
        guard request.kind != .playlist else { return try await base.send(request) }
        activity.begin()
        defer { activity.end() }
        let response = try await base.send(request)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(AwaitedBuffers(body: response.body, activity: activity)),
            record: response.record
        )
    }
}

/// The body of a response for which a player waits.
private struct AwaitedBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let activity: PlaybackActivity

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let activity: PlaybackActivity

        mutating func next() async throws -> ByteBuffer? {
            activity.begin()
            defer { activity.end() }
            return try await iterator.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), activity: activity) }
}

/// The rule by which the transfer of a downloaded file leaves the network to players.
///
/// A player that waits for this file does not delay it.
package struct PlaybackPrecedence: Sendable {
    private let activity: PlaybackActivity
    private let reception: FileReception
    private let time: any TimeSource
    private var seenCount: UInt64

    /// The maximum duration for which a transfer that has begun receives nothing, so that the server does not close the connection.
    private static let maximumPause = Duration.seconds(15)
    /// The duration without a wait of a player after which a transfer continues.
    private static let interval = Duration.milliseconds(100)

    /// Creates the rule for the reception of a file.
    package init(_ reception: FileReception, in library: AssetLibrary, time: any TimeSource) {
        self.reception = reception
        self.time = time
        activity = library.playback
        seenCount = library.playback.totalCount
    }

    /// Waits before a request as long as players wait for other media.
    ///
    /// - Throws: `CancellationError`.
    package mutating func waitBeforeRequest() async throws { try await wait(atMost: nil) }

    /// Waits between two buffers of a response as long as players wait for other media, and 15 s at most.
    ///
    /// - Throws: `CancellationError`.
    package mutating func waitBetweenBuffers() async throws { try await wait(atMost: Self.maximumPause) }

    private mutating func wait(atMost limit: Duration?) async throws {
        var waited = Duration.zero
        while hasActivity(), !reception.hasReaders, limit.map({ waited < $0 }) ?? true {
            try await time.sleep(for: Self.interval)
            waited += Self.interval
        }
    }

    /// Returns a Boolean value that indicates whether a player waits, or has waited since the last call.
    private mutating func hasActivity() -> Bool {
        let count = activity.totalCount
        defer { seenCount = count }
        return activity.isWaiting || count != seenCount
    }
}

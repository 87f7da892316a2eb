import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import Synchronization

/// The waits of players for media from the network, during which the downloads of a library leave the network to them.
///
/// A player whose buffer is full reads nothing and does not count. Other processes see a wait as a shared lock on a byte of a file
/// in the library, which the system releases when the process of the player ends. Without the file, as on a disk that was full when
/// a download needed it, each process only knows the waits of its own players.
package final class PlaybackActivity: Sendable {
    /// A wait that has begun.
    struct Wait: Sendable {
        /// The locked byte; `nil` if other processes do not see the wait.
        fileprivate let position: Int64?
    }

    /// The media for which players of other processes wait.
    enum AwaitedMedia: Sendable, Hashable {
        /// They wait for no media.
        case none
        /// One of them waits for the file of the transfer that asks.
        case file
        /// They wait for other media.
        case other
    }

    private struct State {
        var waitingCount = 0
        var totalCount: UInt64 = 0
        var locks: ByteLocks?
        /// The wait of another process that was found last, and the time when it was found first.
        var found: (position: Int64, since: Duration)?

        /// Returns the locks on the file at a path; `nil` if it cannot be opened.
        mutating func openLocks(_ path: String, _ flags: CInt) -> ByteLocks? {
            if locks == nil { locks = ByteLocks(path, flags: flags) }
            return locks
        }
    }

    /// The name of the file in the directory of a library.
    static let fileName = "playing"
    /// The duration after which the same wait of another process no longer counts, because that process may be suspended.
    ///
    /// A player begins a new wait with each buffer that it receives, and ends one for which it receives nothing sooner.
    private static let maximumWait = Duration.seconds(60)
    /// The number of positions for the waits for one file, so that each wait has its own; a power of two.
    private static let positionCount: Int64 = 1 << 20

    private let path: String
    private let packagesPath: String
    private let isWritable: Bool
    private let state = Mutex(State())

    /// Creates the waits of the players of one library object; no file is opened before the first wait.
    ///
    /// - Parameters:
    ///   - directory: The directory of the library.
    ///   - packagesPath: The path of the directory of all packages.
    ///   - isWritable: A Boolean value that indicates whether the file for other processes is created if needed.
    init(_ directory: URL, packagesPath: String, isWritable: Bool) {
        path = directory.appendingPathComponent(Self.fileName).path
        self.packagesPath = packagesPath
        self.isWritable = isWritable
    }

    /// The number of waits so far.
    var totalCount: UInt64 { state.withLock { $0.totalCount } }

    /// A Boolean value that indicates whether a player is waiting.
    var isWaiting: Bool { state.withLock { $0.waitingCount > 0 } }

    /// Records that a player begins to wait; each call is followed by one of ``end(_:)``.
    ///
    /// - Parameter reception: The reception that the player reads; `nil` if it waits for its own request.
    /// - Returns: The wait.
    func begin(for reception: FileReception? = nil) -> Wait {
        let first = reception.map { firstPosition(of: $0) } ?? 0
        return state.withLock { state in
            state.waitingCount += 1
            state.totalCount &+= 1
            // Downloads create the file; without it, no download of another process looks at it.
            guard let locks = state.openLocks(path, O_RDONLY) else { return Wait(position: nil) }
            let position = first +| Int64(clamping: state.totalCount) & (Self.positionCount -| 1)
            _ = locks.acquire(.shared, at: position)
            return Wait(position: position)
        }
    }

    /// Records that a player no longer waits.
    func end(_ wait: Wait) {
        state.withLock { state in
            state.waitingCount -= 1
            if let position = wait.position { state.locks?.release(at: position) }
        }
    }

    /// Creates the file in which players of other processes lock bytes, unless the library is open for reading only.
    func prepareForOthers() {
        state.withLock { _ = $0.openLocks(path, isWritable ? O_RDONLY | O_CREAT : O_RDONLY) }
    }

    /// Returns the media for which players of other processes wait.
    ///
    /// - Parameters:
    ///   - reception: The reception of the transfer that asks.
    ///   - now: The current time.
    /// - Returns: The media; a wait that has lasted for a minute does not count.
    func mediaAwaitedElsewhere(_ reception: FileReception, at now: Duration) -> AwaitedMedia {
        let first = firstPosition(of: reception)
        return state.withLock { state in
            guard let locks = state.locks, let position = locks.positionOfOther(at: 0, count: 0) else {
                state.found = nil
                return .none
            }
            if locks.positionOfOther(at: first, count: Self.positionCount) != nil { return .file }
            guard let found = state.found, found.position == position else {
                state.found = (position, now)
                return .other
            }
            return now - found.since < Self.maximumWait ? .other : .none
        }
    }

    /// Returns the first of the positions at which players lock bytes while they wait for a file.
    ///
    /// The positions from 0 are those of players that wait for their own requests. Two files have the same positions with a
    /// probability of 2^-42; a wait for one of them then does not delay the other.
    private func firstPosition(of reception: FileReception) -> Int64 {
        let hash = StableHash(reception.path.utf8.dropFirst(packagesPath.utf8.count)).value
        return max(1, Int64(clamping: hash >> 22)) *| Self.positionCount
    }
}

/// A transport of players to the origin, which records when they wait for media.
struct PlaybackTransport: Transport {
    let base: any Transport
    let activity: PlaybackActivity

    var executor: (any TaskExecutor)? { base.executor }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // A server may hold back a playlist until it has changed (draft-pantos-hls-rfc8216bis §6.2.5.2).
        guard request.kind != .playlist else { return try await base.send(request) }
        let wait = activity.begin()
        defer { activity.end(wait) }
        let response = try await base.send(request)
        return response.replacingBody(with: TransportBody(AwaitedBuffers(body: response.body, activity: activity)))
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
            let wait = activity.begin()
            defer { activity.end(wait) }
            return try await iterator.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), activity: activity) }
}

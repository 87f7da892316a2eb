import HLSPlaylist
import HTTPTypes
import MediaTiming
import MediaTransport
import PlaylistEditing
import ResourceAddressing
import Synchronization

/// The last known states of the media playlists of redundant variants, which are loaded when players request multivariant playlists.
///
/// A state is used for a target duration. Without requests, no playlists are loaded.
final class VariantMonitor: Sendable {
    /// A closure that loads a playlist.
    typealias Load = @Sendable (ResourceAddress) async throws -> Playlist

    /// The properties that determine the result of loading a playlist.
    ///
    /// A playlist cannot be parsed without the variables that it imports, so that a multivariant playlist that does not define them
    /// must not determine the result for others.
    private struct Key: Hashable {
        let address: ResourceAddress
        /// The hash value of the variables, which can be long.
        let variables: Int
    }

    private let time: any TimeSource
    private let observations: Mutex<RecentlyUsedValues<Key, VariantObservation>>

    /// The maximum time for which the response with a multivariant playlist waits for media playlists.
    static let maximumTime = Duration.seconds(3)
    /// The maximum time for which a media playlist is awaited.
    static let maximumLoadTime = Duration.seconds(2)
    /// The maximum number of media playlists that are loaded at once for a request.
    static let maximumConcurrentLoadCount = 8
    /// The size of a state in memory besides its URL, in bytes.
    private static let observationSize = 512

    /// Creates a monitor that knows no playlist.
    ///
    /// - Parameters:
    ///   - time: The clock.
    ///   - size: The maximum size of all states together.
    init(time: any TimeSource, size: ByteCount = ByteCount(4 << 20)) {
        self.time = time
        observations = Mutex(RecentlyUsedValues(maximumSize: size))
    }

    /// Returns the availability of variants, after those playlists are loaded whose states are older than a target duration.
    ///
    /// - Parameters:
    ///   - addresses: The URLs of the media playlists, each of them once.
    ///   - variables: The variables that the media playlists can import.
    ///   - load: A closure that loads a playlist.
    /// - Returns: The availability by URL. Playlists that are not loaded in time have their last known state.
    /// - Throws: `CancellationError`.
    func availability(
        of addresses: [ResourceAddress],
        variables: [String: String] = [:],
        loading load: @escaping Load
    ) async throws -> [ResourceAddress: VariantAvailability] {
        let start = time.now
        let hash = variables.hashValue
        let keys = addresses.map { Key(address: $0, variables: hash) }
        let due = observations.withLock { known in
            keys.filter { known.use($0)?.isFresh(at: start) != true }
        }
        if !due.isEmpty { try await loadInTime(due, load) }
        let end = time.now
        return observations.withLock { known in
            var result: [ResourceAddress: VariantAvailability] = [:]
            for key in keys { result[key.address] = known[key]?.availability(at: end) ?? .unknown }
            return result
        }
    }

    private func loadInTime(_ keys: [Key], _ load: @escaping Load) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.loadAll(keys, load) }
            group.addTask { [time] in try await time.sleep(for: Self.maximumTime) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func loadAll(_ keys: [Key], _ load: @escaping Load) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = keys.makeIterator()
            for _ in 0..<Self.maximumConcurrentLoadCount {
                guard let key = rest.next() else { break }
                group.addTask { try await self.observe(key, load) }
            }
            while try await group.next() != nil {
                guard let key = rest.next() else { continue }
                group.addTask { try await self.observe(key, load) }
            }
        }
    }

    /// Loads a playlist and records the result, unless the load failed because of this server.
    private func observe(_ key: Key, _ load: @escaping Load) async throws {
        guard let result = try await outcome(of: key.address, load) else { return }
        let now = time.now
        observations.withLock { known in
            var observation = known[key] ?? VariantObservation()
            observation.record(result, at: now)
            known.insert(observation, size: key.address.text.utf8.count +| Self.observationSize, for: key)
        }
    }

    /// Returns the result of a load; `nil` if it failed because of this server.
    private func outcome(
        of address: ResourceAddress,
        _ load: @escaping Load
    ) async throws -> VariantObservation.Outcome? {
        do {
            return try await withThrowingTaskGroup(of: VariantObservation.Outcome.self) { group in
                group.addTask { VariantObservation.Outcome(try await load(address)) }
                group.addTask { [time] in
                    try await time.sleep(for: Self.maximumLoadTime)
                    return .timedOut
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw CancellationError() }
                return first
            }
        } catch {
            try Task.checkCancellation()
            return Self.isFailureOfOrigin(error) ? .failed : nil
        }
    }

    /// Returns a Boolean value that indicates whether a playlist is unavailable, and not this server too busy to load it.
    private static func isFailureOfOrigin(_ error: any Error) -> Bool {
        switch error {
        case let error as ServerError:
            [.badGateway, .gatewayTimeout, .unsupportedMediaType].contains(error.status)
        case let error as TransportError:
            ![.tooManyLookups, .networkRefused, .tokenUnavailable, .tooLarge].contains(error.code)
        default: false
        }
    }
}

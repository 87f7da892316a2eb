import Dispatch
import Foundation
import HTTPTypes
import PlaylistEditing

/// The storage of the breaks of edited live playlists between requests.
protocol BreakStore: Sendable {
    /// Returns the breaks of a playlist.
    ///
    /// - Throws: ``ServerError`` with 503 if the storage is not available.
    func breaks(of key: String) async throws -> StoredBreaks

    /// Stores the breaks of a playlist, unless others were stored since it was read.
    ///
    /// - Parameters:
    ///   - breaks: The breaks.
    ///   - key: The key of the playlist.
    ///   - revision: The version that was read.
    ///   - client: The client that requests the playlist; `nil` for one in this process.
    /// - Returns: A Boolean value that indicates whether the breaks were stored.
    /// - Throws: ``ServerError`` with 503 if the storage is not available or has no room, with 429 if the client uses too much of it.
    func store(
        _ breaks: BreakTimelines,
        of key: String,
        replacing revision: Int64,
        for client: ClientNetwork?
    ) async throws -> Bool

    /// Verifies that the storage is available.
    ///
    /// - Throws: ``ServerError`` with 503 if it is not.
    func verify() async throws
}

extension BreakStore {
    /// Does nothing: what is in the process or on its disk is available.
    func verify() async throws {}
}

/// The breaks of a playlist with the number of their version.
struct StoredBreaks: Sendable {
    var breaks = BreakTimelines()
    /// The version; 0 if nothing is stored.
    var revision: Int64 = 0
}

extension StoredBreaks {
    /// Creates the breaks that a store has as JSON.
    ///
    /// Breaks of another version of this program are as good as none: they are replaced.
    init(json: [UInt8], revision: Int64) {
        let breaks = try? JSONDecoder().decode(BreakTimelines.self, from: Data(json))
        self.init(breaks: breaks ?? BreakTimelines(), revision: revision)
    }
}

/// A queue for calls that block, which would occupy threads that other requests need.
struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}

extension ServerError {
    /// Returns the error for breaks that cannot be read or stored.
    static func stateUnavailable(_ message: String) -> ServerError {
        ServerError(.serviceUnavailable, "state-unavailable", message, hint: "try again in a moment")
    }
}

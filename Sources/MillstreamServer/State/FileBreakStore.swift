import Foundation
import PlaylistEditing
import PresentationLoading

/// The breaks of edited live playlists in the state file of one server.
struct FileBreakStore: BreakStore {
    private let file: StateFile
    private let queue = BlockingQueue("millstream.state")

    init(_ file: StateFile) { self.file = file }

    func breaks(of key: String) async throws -> StoredBreaks {
        try await perform {
            guard let value = try file.value(.breaks, of: key) else { return StoredBreaks() }
            return StoredBreaks(json: value.bytes, revision: value.revision)
        }
    }

    func store(
        _ breaks: BreakTimelines,
        of key: String,
        replacing revision: Int64,
        for client: ClientNetwork?
    ) async throws -> Bool {
        try await perform {
            try file.store(Array(try JSONEncoder().encode(breaks)), .breaks, of: key, replacing: revision)
        }
    }

    private func perform<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        do {
            return try await queue.run(work)
        } catch let error as StateFileError {
            throw ServerError.stateUnavailable(error.message)
        }
    }
}

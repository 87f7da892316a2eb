import GRDB
import HLSPlaylist
import MediaTiming
import Synchronization
import Testing

@testable import AssetStorage

/// An observer of the bytes that a process has counted when a transaction becomes visible.
private final class CommitObserver: TransactionObserver, Sendable {
    private struct State {
        var hasChanges = false
        var enteredBytes: Int64?
    }

    private let space: LibrarySpace
    private let state = Mutex(State())

    init(_ space: LibrarySpace) { self.space = space }

    /// The bytes that were counted at the first commit of a change; `nil` before it.
    var enteredBytes: Int64? { state.withLock { $0.enteredBytes } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) { state.withLock { $0.hasChanges = true } }

    func databaseDidCommit(_ database: Database) {
        let bytes = space.enteredBytes
        state.withLock { state in
            if state.hasChanges, state.enteredBytes == nil { state.enteredBytes = bytes }
        }
    }

    func databaseDidRollback(_ database: Database) {}
}

/// Tests when the bytes that this process enters in the catalog are counted, so that they are told from those of others.
@Suite struct EnteredBytesTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        let temporary = try TemporaryLibrary()
        self.temporary = temporary
        id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "a.ts")
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
    }

    private var library: AssetLibrary { temporary.library }

    /// A measurement between the transaction and the count would take the bytes for those of another process.
    @Test func bytesAreCountedBeforeTheirTransactionIsVisible() throws {
        try library.setStorageLimits(StorageLimits(quota: ByteCount(.max)))
        let observer = CommitObserver(library.space)
        try library.catalog.write { $0.add(transactionObserver: observer) }
        try temporary.store(library.missingResources(id), of: id, content: "media")
        #expect(observer.enteredBytes == 5)
        #expect(library.space.enteredBytes == 5)
    }

    @Test func bytesOfATransactionThatFailsAreNotCounted() throws {
        let missing = try library.missingResources(id)
        try library.write { database in
            try database.execute(sql: "UPDATE resource SET address = 'other' WHERE assetID = ?", arguments: [id])
        }
        #expect(throws: StorageError.self) { try temporary.store(missing, of: id, content: "media") }
        #expect(library.space.enteredBytes == 0)
    }
}

import AssetStorage
import MediaTiming

/// Notes for the catalogue, gathered while files come quickly.
///
/// A transaction for each of thousands of small files took a quarter of the whole work.
struct StoredNotes {
    /// So long a note waits at most while others come.
    private static let interval = Duration.milliseconds(100)

    private let library: AssetLibrary
    private let time: any TimeSource
    private var waiting: [(resource: StoredResource, bytes: ByteCount)] = []
    private var lastWrite: Duration

    init(_ library: AssetLibrary, _ time: any TimeSource) {
        self.library = library
        self.time = time
        lastWrite = time.now - Self.interval
    }

    mutating func add(_ resource: StoredResource, _ bytes: ByteCount) throws {
        waiting.append((resource, bytes))
        if time.now - lastWrite >= Self.interval { try write() }
    }

    mutating func write() throws {
        try library.markStored(waiting)
        waiting = []
        lastWrite = time.now
    }
}

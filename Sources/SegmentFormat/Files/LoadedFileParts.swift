import MediaTiming

/// The loaded parts of a file: its head and the part that was requested last.
struct LoadedFileParts: Sendable {
    /// The length of the file in bytes; `nil` until it is known.
    private(set) var length: Int64?
    private let head: [UInt8]
    private var recentPart: [UInt8] = []
    private var recentPartStart: Int64 = 0

    /// An empty request.
    static let emptyRange: ByteRange = {
        guard let range = ByteRange(start: 0, length: 0) else { preconditionFailure("an empty byte range is valid") }
        return range
    }()

    init(head: [UInt8], length: Int64?) {
        self.head = head
        // A file with more bytes than its declared length is at least as long as those bytes.
        self.length = length.map { max($0, Int64(head.count)) }
    }

    /// Loaded bytes, and the index at which the requested position is in them.
    struct LoadedBytes {
        let bytes: [UInt8]
        let offset: Int
        var count: Int { bytes.count - offset }
    }

    /// Returns the loaded bytes at `start` if they include `count` bytes or all up to the end of the file, else `nil`.
    func loadedBytes(at start: Int64, count: Int) -> LoadedBytes? {
        let wanted = length.map { Int(clamping: min(Int64(count), max(0, $0 -| start))) } ?? count
        return Self.loadedBytes(in: head, startingAt: 0, from: start, count: wanted)
            ?? Self.loadedBytes(in: recentPart, startingAt: recentPartStart, from: start, count: wanted)
    }

    private static func loadedBytes(
        in bytes: [UInt8],
        startingAt position: Int64,
        from start: Int64,
        count: Int
    ) -> LoadedBytes? {
        guard start >= position, start -| position <= Int64(bytes.count) else { return nil }
        let offset = Int(start -| position)
        return count <= bytes.count - offset ? LoadedBytes(bytes: bytes, offset: offset) : nil
    }

    /// Returns whether the file is known to end at or before the given position.
    func ends(at position: Int64) -> Bool { length.map { position >= $0 } ?? false }

    /// A Boolean value that indicates whether the head contains the whole file.
    var isCompletelyLoaded: Bool { length == Int64(head.count) }

    /// Returns a request for bytes, limited to the end of the file; it may be empty.
    func request(at start: Int64, count: Int) -> MediaFileIndexer.State {
        let end = min(length ?? .max, start.addingSaturated(Int64(min(count, MediaFileIndexer.maximumRequestSize))))
        return .needsBytes(ByteRange(start: max(0, start), length: max(0, end -| start)) ?? Self.emptyRange)
    }

    mutating func add(_ bytes: [UInt8], for range: ByteRange) {
        recentPart = bytes
        recentPartStart = range.start
        let end = range.start.addingSaturated(Int64(bytes.count))
        if Int64(bytes.count) < range.length {
            length = max(Int64(head.count), min(length ?? end, end))
        }
    }
}

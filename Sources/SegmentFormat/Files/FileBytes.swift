import MediaTiming

/// The loaded parts of a file: its head and the part that was requested last.
struct FileBytes: Sendable {
    /// The length of the file in bytes; `nil` until it is known.
    private(set) var length: Int64?
    private let head: [UInt8]
    private var part: [UInt8] = []
    private var partStart: Int64 = 0

    /// An empty request.
    static let nothing: ByteRange = {
        guard let range = ByteRange(start: 0, length: 0) else { preconditionFailure("an empty range is one") }
        return range
    }()

    init(head: [UInt8], length: Int64?) {
        self.head = head
        // A file with more bytes than its declared length is at least as long as those bytes.
        self.length = length.map { max($0, Int64(head.count)) }
    }

    /// Loaded bytes, and the index at which the requested position is in them.
    struct Found {
        let bytes: [UInt8]
        let offset: Int
        var count: Int { bytes.count - offset }
    }

    /// Returns the loaded bytes at `start` if they include `count` bytes or all up to the end of the file, else `nil`.
    func found(at start: Int64, _ count: Int) -> Found? {
        let wanted = length.map { Int(clamping: min(Int64(count), max(0, $0 -| start))) } ?? count
        return Self.found(head, 0, start, wanted) ?? Self.found(part, partStart, start, wanted)
    }

    private static func found(_ bytes: [UInt8], _ place: Int64, _ start: Int64, _ count: Int) -> Found? {
        guard start >= place, start -| place <= Int64(bytes.count) else { return nil }
        let offset = Int(start -| place)
        return count <= bytes.count - offset ? Found(bytes: bytes, offset: offset) : nil
    }

    /// Returns whether the file is known to end at or before the given position.
    func ends(at place: Int64) -> Bool { length.map { place >= $0 } ?? false }

    /// A Boolean value that indicates whether the head contains the whole file.
    var isWhole: Bool { length == Int64(head.count) }

    /// Returns a request for bytes, limited to the end of the file; it may be empty.
    func request(_ start: Int64, _ count: Int) -> MediaFileIndex.State {
        let end = min(length ?? .max, start.addingSaturated(Int64(min(count, MediaFileIndex.mostRequestBytes))))
        return .needs(ByteRange(start: max(0, start), length: max(0, end -| start)) ?? Self.nothing)
    }

    mutating func add(_ bytes: [UInt8], for range: ByteRange) {
        part = bytes
        partStart = range.start
        let end = range.start.addingSaturated(Int64(bytes.count))
        if Int64(bytes.count) < range.length {
            length = max(Int64(head.count), min(length ?? end, end))
        }
    }
}

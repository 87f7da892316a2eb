import MediaTiming

/// The parts of a file that were loaded: its head, and the one asked for last.
struct FileBytes: Sendable {
    /// How many bytes the file has; `nil` as long as nobody said.
    private(set) var length: Int64?
    private let head: [UInt8]
    private var part: [UInt8] = []
    private var partStart: Int64 = 0

    /// A request for nothing.
    static let nothing: ByteRange = {
        guard let range = ByteRange(start: 0, length: 0) else { preconditionFailure("an empty range is one") }
        return range
    }()

    init(head: [UInt8], length: Int64?) {
        self.head = head
        // Whoever has more bytes than the file is said to have knows better.
        self.length = length.map { max($0, Int64(head.count)) }
    }

    /// Bytes, and where in them the place that was asked for is.
    struct Found {
        let bytes: [UInt8]
        let offset: Int
        var count: Int { bytes.count - offset }
    }

    /// The bytes from a place on, if so many are there, or all up to the end of the file.
    func found(at start: Int64, _ count: Int) -> Found? {
        let wanted = length.map { Int(clamping: min(Int64(count), max(0, $0 -| start))) } ?? count
        return Self.found(head, 0, start, wanted) ?? Self.found(part, partStart, start, wanted)
    }

    private static func found(_ bytes: [UInt8], _ place: Int64, _ start: Int64, _ count: Int) -> Found? {
        guard start >= place, start -| place <= Int64(bytes.count) else { return nil }
        let offset = Int(start -| place)
        return count <= bytes.count - offset ? Found(bytes: bytes, offset: offset) : nil
    }

    /// Whether the file is known to end at a place or before.
    func ends(at place: Int64) -> Bool { length.map { place >= $0 } ?? false }

    /// Whether the head is the whole file.
    var isWhole: Bool { length == Int64(head.count) }

    /// A request for bytes, cut to the end of the file; it may be empty.
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

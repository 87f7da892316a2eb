import MediaTiming

/// The different advertisements in the breaks of a timeline, as playlists with absolute URLs.
///
/// It is encoded as an array of strings.
struct StoredAdvertisements: Sendable, Hashable, RandomAccessCollection {
    /// The maximum size of an advertisement, in bytes.
    static let maximumTextSize = 256 << 10
    /// The maximum size of all advertisements, in bytes, beyond which further breaks of a live playlist are not replaced.
    private static let maximumSize = 1 << 20

    private var texts: [String] = []

    /// Creates an instance without advertisements.
    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { texts.count }

    subscript(index: Int) -> String { texts[index] }

    /// The size of all advertisements, in bytes.
    var byteCount: Int { texts.reduce(0) { $0 +| $1.utf8.count } }

    /// Returns a Boolean value that indicates whether the text of an advertisement can be stored with the others.
    func hasRoom(for advertisement: Advertisement) -> Bool {
        let size = byteCount +| advertisement.text.utf8.count
        return size <= Self.maximumSize || texts.contains(advertisement.text)
    }

    /// Adds an advertisement unless it is stored already.
    ///
    /// - Parameter advertisement: The advertisement.
    /// - Returns: Its index.
    mutating func insert(_ advertisement: Advertisement) -> Int {
        if let known = texts.firstIndex(of: advertisement.text) { return known }
        texts.append(advertisement.text)
        return texts.count - 1
    }

    /// Removes the advertisements that are not used.
    ///
    /// - Parameter used: The indices of the advertisements that are used.
    /// - Returns: The new indices by the former ones; `nil` if all advertisements are used.
    mutating func removeUnused(except used: Set<Int>) -> [Int: Int]? {
        let used = used.sorted()
        guard used.count < texts.count else { return nil }
        texts = used.map { texts[$0] }
        return Dictionary(uniqueKeysWithValues: used.enumerated().map { ($1, $0) })
    }
}

extension StoredAdvertisements: Codable {
    init(from decoder: any Decoder) throws { texts = try decoder.singleValueContainer().decode([String].self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(texts)
    }
}

import MediaTiming

/// A cache of the values of tags that apply to all following segments.
///
/// Segments are read one after the other. Without the cache, a long line would be parsed again for each segment to
/// which it applies.
struct TagValueCache: Sendable {
    /// A date and the position of the segment at which it is written.
    struct Date: Sendable {
        let segment: Int
        let date: ProgramDateTime
    }

    /// The keys by the position of their tag in the index; `nil` for a tag that cannot be read.
    private var keys: [UInt32: EncryptionKey?] = [:]
    private var map: (lineStart: UInt32, value: MediaInitialization?)?
    private var date: (tagCount: Int, value: Date?)?
    private var bitRate: (tagCount: Int, value: BitRate?)?
    /// The implied offset of each part, for byte ranges without an offset; `nil` until one is requested.
    var partStarts: [Int64]?

    /// Returns the keys of some tags.
    ///
    /// - Parameters:
    ///   - tags: The positions of the tags in the index.
    ///   - read: A closure that reads a key that is not cached.
    /// - Returns: The keys that can be read.
    mutating func keys(of tags: [UInt32], reading read: (UInt32) -> EncryptionKey?) -> [EncryptionKey] {
        // Lookups for a map and for its segment alternate, so entries are removed only when there are more than both
        // need.
        if keys.count > Self.maximumKeyCount { keys = keys.filter { tags.contains($0.key) } }
        return tags.compactMap { tag in
            if let known = keys[tag] { return known }
            let key = read(tag)
            keys[tag] = .some(key)
            return key
        }
    }

    /// The maximum number of cached keys: twice as many as can be in force at once.
    private static let maximumKeyCount = 32

    /// Returns the cached map of the line at an offset.
    ///
    /// - Returns: `nil` if the map has not been read yet, `.some(nil)` if it cannot be read.
    func map(at lineStart: UInt32) -> MediaInitialization?? {
        guard let map, map.lineStart == lineStart else { return nil }
        return .some(map.value)
    }

    mutating func storeMap(_ value: MediaInitialization?, at lineStart: UInt32) { map = (lineStart, value) }

    /// Returns the last readable date of the first `tagCount` date tags, and reads it only if the count has changed.
    mutating func date(ofFirst tagCount: Int, reading read: () -> Date?) -> Date? {
        if let date, date.tagCount == tagCount { return date.value }
        let value = read()
        date = (tagCount, value)
        return value
    }

    /// Returns the last readable rate of the first `tagCount` bit rate tags, and reads it only if the count has
    /// changed.
    mutating func bitRate(ofFirst tagCount: Int, reading read: () -> BitRate?) -> BitRate? {
        if let bitRate, bitRate.tagCount == tagCount { return bitRate.value }
        let value = read()
        bitRate = (tagCount, value)
        return value
    }
}

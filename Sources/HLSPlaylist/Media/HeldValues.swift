import MediaTiming

/// The values of tags that hold until the next of their kind, as they were read last.
///
/// Segments are read one after the other. Without this, a long line would be read again for each segment that it holds
/// for.
struct HeldValues: Sendable {
    /// A date and the segment at which it is written.
    struct Date: Sendable {
        let segment: Int
        let moment: ProgramDateTime
    }

    /// By the position of the tag in the index; `nil` for a tag that cannot be read.
    private var keys: [UInt32: EncryptionKey?] = [:]
    private var map: (lineStart: UInt32, value: MediaInitialization?)?
    private var date: (tagCount: Int, value: Date?)?
    private var bitRate: (tagCount: Int, value: BitRate?)?
    /// The offset of each part whose byte range does not name it; `nil` until one is asked for.
    var partStarts: [Int64]?

    /// The keys of some tags.
    ///
    /// - Parameters:
    ///   - tags: Their positions in the index; values of others are forgotten.
    ///   - read: Reads one that is not known.
    /// - Returns: Those that can be read.
    mutating func keys(of tags: [UInt32], reading read: (UInt32) -> EncryptionKey?) -> [EncryptionKey] {
        // The keys of a map and of its segment alternate: entries are removed only when there are more than both need.
        if keys.count > Self.mostKeys { keys = keys.filter { tags.contains($0.key) } }
        return tags.compactMap { tag in
            if let known = keys[tag] { return known }
            let key = read(tag)
            keys[tag] = .some(key)
            return key
        }
    }

    /// Twice as many as can hold at once.
    private static let mostKeys = 32

    /// The map that the line at an offset holds.
    ///
    /// - Returns: `nil` if it has not been read yet, `.some(nil)` if it cannot be read.
    func map(at lineStart: UInt32) -> MediaInitialization?? {
        guard let map, map.lineStart == lineStart else { return nil }
        return .some(map.value)
    }

    mutating func note(_ value: MediaInitialization?, at lineStart: UInt32) { map = (lineStart, value) }

    /// The last readable one of the first `tagCount` dates; read again only when the count changes.
    mutating func date(ofFirst tagCount: Int, reading read: () -> Date?) -> Date? {
        if let date, date.tagCount == tagCount { return date.value }
        let value = read()
        date = (tagCount, value)
        return value
    }

    /// The last readable one of the first `tagCount` bit rates; read again only when the count changes.
    mutating func bitRate(ofFirst tagCount: Int, reading read: () -> BitRate?) -> BitRate? {
        if let bitRate, bitRate.tagCount == tagCount { return bitRate.value }
        let value = read()
        bitRate = (tagCount, value)
        return value
    }
}

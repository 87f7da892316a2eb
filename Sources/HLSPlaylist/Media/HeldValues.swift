/// Values of the tags that hold until the next of their kind, as they were read last.
///
/// Segments are asked one behind the other: without this, one long line would be read again for each segment that it holds
/// for.
struct HeldValues: Sendable {
    /// By the position of the tag in the index; `nil` for a tag that cannot be read.
    private var keys: [UInt32: EncryptionKey?] = [:]
    private var map: (lineStart: UInt32, value: MediaInitialization)?

    /// The keys of some tags.
    ///
    /// - Parameters:
    ///   - tags: Their positions in the index; values of others are forgotten.
    ///   - read: Reads one that is not known.
    /// - Returns: Those that can be read.
    mutating func keys(of tags: [UInt32], reading read: (UInt32) -> EncryptionKey?) -> [EncryptionKey] {
        // A map's keys and those of its segment are asked for in turn: what holds less than both do is kept.
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

    func map(at lineStart: UInt32) -> MediaInitialization? { map?.lineStart == lineStart ? map?.value : nil }

    mutating func note(_ value: MediaInitialization, at lineStart: UInt32) { map = (lineStart, value) }
}

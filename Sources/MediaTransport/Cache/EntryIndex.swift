import MediaTiming

/// An index of the cache entries, with their sizes and their order of use.
///
/// It does no file operations: the caller removes the files of the entries that are returned, then calls ``releaseSpace(of:)``.
struct EntryIndex {
    /// An entry of the cache.
    struct Entry: Sendable, Hashable {
        let file: EntryFile
        fileprivate(set) var size: Int64
        fileprivate var use: Int64
    }

    private struct Use {
        let moment: Int64
        let name: EntryName
    }

    /// The maximum number of bytes of all files.
    let capacity: Int64
    /// The number of times that all entries were removed.
    private(set) var generation = 0
    /// The number of bytes that the entries use.
    private(set) var storedBytes: Int64 = 0
    /// The number of bytes that are reserved for files that are being written.
    private var reservedBytes: Int64 = 0
    /// The number of bytes of removed entries whose files still exist.
    private var pendingDeletionBytes: Int64 = 0
    private var entries: [EntryName: Entry] = [:]
    /// The uses of all entries in chronological order; of several uses of an entry, only the last one counts.
    private var uses: [Use] = []
    private var firstUse = 0
    private var lastUse: Int64 = 0

    /// Creates an empty index.
    init(capacity: Int64) { self.capacity = capacity }

    /// The number of entries.
    var count: Int { entries.count }

    /// Returns the disk space of a file: its size, rounded up to whole blocks of 4,096 bytes.
    static func diskSpace(for byteCount: Int64) -> Int64 {
        let block: Int64 = 4096
        // Bounded: the divisor is the block size, 4,096 bytes.
        return byteCount > .max -| block ? .max : (byteCount +| block -| 1) / block *| block
    }

    /// Returns the file of an entry; `nil` if there is no such entry.
    func file(_ name: EntryName) -> EntryFile? { entries[name]?.file }

    // MARK: Disk space

    /// Reserves disk space for bytes to be written.
    ///
    /// - Returns: The entries to remove first; `nil` if the space is not available even without any entries.
    mutating func reserve(_ byteCount: Int64) -> [Entry]? {
        guard byteCount <= capacity -| reservedBytes -| pendingDeletionBytes else { return nil }
        reservedBytes +|= byteCount
        var victims: [Entry] = []
        var excess = storedBytes +| reservedBytes +| pendingDeletionBytes -| capacity
        while excess > 0, let victim = removeOldest() {
            victims.append(victim)
            excess -|= victim.size
        }
        return victims
    }

    /// Releases reserved disk space.
    mutating func release(_ byteCount: Int64) { reservedBytes -|= byteCount }

    /// Releases the disk space of a removed entry after its file was deleted.
    mutating func releaseSpace(of entry: Entry) { pendingDeletionBytes -|= entry.size }

    // MARK: Entries

    /// Adds an entry whose disk space is reserved.
    ///
    /// - Returns: The entry that was replaced, if any, and the time of use.
    mutating func insert(_ file: EntryFile, size: Int64, now: UnixSeconds) -> (replaced: Entry?, use: Int64) {
        reservedBytes -|= size
        let use = nextUse(now)
        return (add(Entry(file: file, size: size, use: use)), use)
    }

    /// Adds an existing entry; entries must be added in the order of their last use.
    ///
    /// - Returns: The entry that was replaced, if any.
    mutating func insertExisting(_ file: EntryFile, size: Int64, lastUse: Int64) -> Entry? {
        self.lastUse = max(self.lastUse, lastUse)
        return add(Entry(file: file, size: size, use: lastUse))
    }

    /// Marks an entry as used and returns the time of use; `nil` if the entry was removed.
    mutating func markUsed(_ file: EntryFile, now: UnixSeconds) -> Int64? {
        guard entries[file.name]?.file == file else { return nil }
        let use = nextUse(now)
        entries[file.name]?.use = use
        append(Use(moment: use, name: file.name))
        return use
    }

    /// Changes the size of an entry; `reserved` is the disk space that was reserved for its growth.
    mutating func resize(_ file: EntryFile, to size: Int64, reserved: Int64) {
        reservedBytes -|= reserved
        guard let entry = entries[file.name], entry.file == file else { return }
        entries[file.name]?.size = size
        storedBytes +|= size -| entry.size
    }

    /// Removes the entry of a file; `nil` if it was already removed.
    mutating func remove(_ file: EntryFile) -> Entry? {
        guard let entry = entries[file.name], entry.file == file else { return nil }
        entries[file.name] = nil
        storedBytes -|= entry.size
        pendingDeletionBytes +|= entry.size
        return entry
    }

    /// Removes all entries; bodies that are being written are not added later.
    mutating func removeAll() -> [Entry] {
        generation += 1
        let all = Array(entries.values)
        return all.filter { remove($0.file) != nil }
    }

    private mutating func add(_ entry: Entry) -> Entry? {
        let replaced = entries[entry.file.name].flatMap { remove($0.file) }
        entries[entry.file.name] = entry
        storedBytes +|= entry.size
        append(Use(moment: entry.use, name: entry.file.name))
        return replaced
    }

    // MARK: Uses

    /// Returns a time of use in nanoseconds that is later than all before, even within one second or after the clock
    /// was set back.
    private mutating func nextUse(_ now: UnixSeconds) -> Int64 {
        let (nanoseconds, isTooLarge) = now.rawValue.multipliedReportingOverflow(by: 1_000_000_000)
        lastUse = max(isTooLarge ? 0 : nanoseconds, lastUse &+ 1)
        return lastUse
    }

    private mutating func append(_ use: Use) {
        uses.append(use)
        guard uses.count > 2 *| entries.count + 64 else { return }
        uses = uses[firstUse...].filter { entries[$0.name]?.use == $0.moment }
        firstUse = 0
    }

    private mutating func removeOldest() -> Entry? {
        while firstUse < uses.count {
            let use = uses[firstUse]
            firstUse += 1
            if let entry = entries[use.name], entry.use == use.moment { return remove(entry.file) }
        }
        return nil
    }
}

import MediaTiming

/// Which entries there are, how much room they take, and which of them was used longest ago.
///
/// It knows no files: whoever gets one back removes it, and says so.
struct EntryIndex {
    /// An entry.
    struct Entry: Sendable, Hashable {
        let file: EntryFile
        fileprivate(set) var size: Int64
        fileprivate var use: Int64
    }

    private struct Use {
        let moment: Int64
        let name: EntryName
    }

    /// The most bytes that all files may take.
    let capacity: Int64
    /// How often everything was removed.
    private(set) var generation = 0
    /// How many bytes the entries take.
    private(set) var storedBytes: Int64 = 0
    /// Bytes of files that are being written.
    private var reservedBytes: Int64 = 0
    /// Bytes of files that are no entries any more and are still there.
    private var leavingBytes: Int64 = 0
    private var entries: [EntryName: Entry] = [:]
    /// All uses, the oldest first; of several of one entry, only the last counts.
    private var uses: [Use] = []
    private var firstUse = 0
    private var lastUse: Int64 = 0

    /// Makes an empty index.
    init(capacity: Int64) { self.capacity = capacity }

    /// How many entries there are.
    var count: Int { entries.count }

    /// Disks give room in blocks: a file of one byte takes as much as one of 4096.
    static func room(_ byteCount: Int64) -> Int64 {
        let block: Int64 = 4096
        // Bounded: a block has 4,096 bytes.
        return byteCount > .max -| block ? .max : (byteCount +| block -| 1) / block *| block
    }

    /// The file of an entry.
    func file(_ name: EntryName) -> EntryFile? { entries[name]?.file }

    // MARK: Room

    /// Reserves room for bytes that are about to be written.
    ///
    /// - Returns: The entries that have to leave before; `nil` where there is no room even without any.
    mutating func reserve(_ byteCount: Int64) -> [Entry]? {
        guard byteCount <= capacity -| reservedBytes -| leavingBytes else { return nil }
        reservedBytes +|= byteCount
        var victims: [Entry] = []
        var excess = storedBytes +| reservedBytes +| leavingBytes -| capacity
        while excess > 0, let victim = removeOldest() {
            victims.append(victim)
            excess -|= victim.size
        }
        return victims
    }

    /// Gives room back that was reserved.
    mutating func release(_ byteCount: Int64) { reservedBytes -|= byteCount }

    /// Notes that the file of a removed entry is gone.
    mutating func left(_ entry: Entry) { leavingBytes -|= entry.size }

    // MARK: Entries

    /// Adds an entry whose room was reserved.
    ///
    /// - Returns: The one whose place it takes.
    mutating func insert(_ file: EntryFile, size: Int64, now: UnixSeconds) -> (replaced: Entry?, use: Int64) {
        reservedBytes -|= size
        let use = nextUse(now)
        return (add(Entry(file: file, size: size, use: use)), use)
    }

    /// Adds an entry that was there before; call it in the order of last uses.
    ///
    /// - Returns: The one whose place it takes.
    mutating func adopt(_ file: EntryFile, size: Int64, lastUse: Int64) -> Entry? {
        self.lastUse = max(self.lastUse, lastUse)
        return add(Entry(file: file, size: size, use: lastUse))
    }

    /// Notes a use; `nil` where the entry is none any more.
    mutating func noteUse(_ file: EntryFile, now: UnixSeconds) -> Int64? {
        guard entries[file.name]?.file == file else { return nil }
        let use = nextUse(now)
        entries[file.name]?.use = use
        append(Use(moment: use, name: file.name))
        return use
    }

    /// Gives an entry another size, for whose growth room was reserved.
    mutating func resize(_ file: EntryFile, to size: Int64, reserved: Int64) {
        reservedBytes -|= reserved
        guard let entry = entries[file.name], entry.file == file else { return }
        entries[file.name]?.size = size
        storedBytes +|= size -| entry.size
    }

    /// Removes the entry of a file; `nil` where it is none any more.
    mutating func remove(_ file: EntryFile) -> Entry? {
        guard let entry = entries[file.name], entry.file == file else { return nil }
        entries[file.name] = nil
        storedBytes -|= entry.size
        leavingBytes +|= entry.size
        return entry
    }

    /// Removes all entries; bodies that are being written now will be none.
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

    /// Later than all before, also where two fall into one second or the clock was set back.
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

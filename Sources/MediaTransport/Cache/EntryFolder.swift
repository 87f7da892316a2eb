import Foundation
import MediaTiming
import NIOCore
import NIOPosix
import Synchronization

/// The folder of the cache: one file for each entry, and an index of them in memory.
///
/// Files get names that nobody else uses, and appear under them when they are whole. So a crash leaves whole entries and
/// files of another form, which the next opening removes. Nothing is synchronised to the disk: what a power failure
/// damages is noticed by its checksum.
final class EntryFolder: Sendable {
    let largestEntry: Int64
    let pool: NIOThreadPool
    private let path: String
    private let write: DiskFile.Write
    private let now: @Sendable () -> UnixSeconds
    private let index: Mutex<EntryIndex>
    /// Held while a tail is read or written anew, only on threads of the pool: half of one looks like damage.
    private let tails = Mutex(())

    /// Opens a folder, and makes it where there is none.
    ///
    /// This blocks.
    ///
    /// - Throws: ``TransportError/Code/fileFailed`` where there is none and none can be made.
    init(
        _ path: String,
        capacity: Int64,
        largestEntry: Int64,
        now: @escaping @Sendable () -> UnixSeconds,
        pool: NIOThreadPool,
        write: @escaping DiskFile.Write
    ) throws {
        self.path = path
        self.largestEntry = largestEntry
        self.now = now
        self.pool = pool
        self.write = write
        index = Mutex(EntryIndex(capacity: capacity))
        do {
            try PrivateFiles.createFolder(path)
        } catch {
            throw TransportError(.fileFailed, "the folder \(path) of the cache cannot be made; name another one")
        }
        adoptFiles()
    }

    /// How many bytes the entries take on the disk.
    var byteCount: Int64 { index.withLock { $0.storedBytes } }
    /// How many entries there are.
    var count: Int { index.withLock { $0.count } }
    /// How often everything was removed.
    var generation: Int { index.withLock { $0.generation } }

    /// Does work that blocks on a thread that may; `nil` where the pool does no work any more.
    ///
    /// It is not cancelled: what was begun on the disk is brought to an end.
    @discardableResult
    func perform<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
        await withCheckedContinuation { continuation in
            pool.submit { state in
                if case .active = state {
                    continuation.resume(returning: work())
                } else {
                    continuation.resume(returning: nil)
                }
            }
        }
    }

    private func filePath(_ name: String) -> String { path + "/" + name }
}

// MARK: What was there before

extension EntryFolder {
    /// Finds the entries of an earlier time, and removes what is ours and no entry.
    private func adoptFiles() {
        var found: [(file: EntryFile, size: Int64, lastUse: Int64)] = []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // A folder with files of others keeps its mode: it was not made for the cache.
        if names.allSatisfy({ EntryFile.isPartial($0) || EntryFile(fileName: $0) != nil }) {
            PrivateFiles.restrictFolder(path)
        }
        for name in names {
            if EntryFile.isPartial(name) { unlink(filePath(name)) }
            guard let file = EntryFile(fileName: name) else { continue }
            PrivateFiles.restrictFile(filePath(name))
            do throws(DiskFile.OpenFailure) {
                let disk = try DiskFile(filePath(name), flags: O_RDONLY, pool: pool)
                if EntryTail.isWhole(disk), let size = disk.size, let lastUse = disk.lastUse {
                    found.append((file, EntryIndex.room(size), lastUse))
                } else {
                    unlink(filePath(name))
                }
            } catch {
                if error.isGone { unlink(filePath(name)) }
            }
        }
        for entry in found.sorted(by: { $0.lastUse < $1.lastUse }) {
            remove(index.withLock { $0.adopt(entry.file, size: entry.size, lastUse: entry.lastUse) })
        }
        // The folder may have been allowed more when it was filled.
        for victim in index.withLock({ $0.reserve(0) }) ?? [] { remove(victim) }
    }
}

// MARK: Reading, each on a thread that may block

extension EntryFolder {
    /// The entry of a key; `nil` where there is none, or only a damaged one, which is removed.
    func open(_ key: EntryKey) -> StoredEntry? {
        guard let file = index.withLock({ $0.file(key.name) }) else { return nil }
        do throws(DiskFile.OpenFailure) {
            let disk = try openForUpdate(filePath(file.fileName))
            guard let tail = tails.withLock({ _ in EntryTail(of: disk) }) else {
                drop(file)
                return nil
            }
            // Two keys can share a name; the other one's entry is none of our business.
            return tail.metadata.key == key ? StoredEntry(file: file, disk: disk, tail: tail) : nil
        } catch {
            if error.isGone { drop(file) }
            return nil
        }
    }

    private func openForUpdate(_ path: String) throws(DiskFile.OpenFailure) -> DiskFile {
        do throws(DiskFile.OpenFailure) {
            return try DiskFile(path, flags: O_RDWR, pool: pool, write: write)
        } catch {
            // A folder that became read-only can still be read.
            return try DiskFile(path, flags: O_RDONLY, pool: pool, write: write)
        }
    }

    /// Notes that an entry was used, in the file too, so that the order outlives the process.
    func noteUse(_ entry: StoredEntry) {
        let now = now()
        if let use = index.withLock({ $0.noteUse(entry.file, now: now) }) { entry.disk.noteUse(at: use) }
    }

    /// Removes an entry.
    func drop(_ file: EntryFile) { remove(index.withLock { $0.remove(file) }) }

    /// Removes the entry of a key.
    func drop(_ key: EntryKey) {
        remove(index.withLock { index in index.file(key.name).flatMap { index.remove($0) } })
    }

    /// Removes all entries, but no file that is not ours.
    func dropAll() {
        for entry in index.withLock({ $0.removeAll() }) { remove(entry) }
    }

    /// Removes the file of what is an entry no more, and then counts its room as free.
    private func remove(_ entry: EntryIndex.Entry?) {
        guard let entry else { return }
        unlink(filePath(entry.file.fileName))
        index.withLock { $0.left(entry) }
    }
}

// MARK: Writing, each on a thread that may block

extension EntryFolder {
    /// Makes room for bytes, if need be of entries that were used longest ago.
    ///
    /// - Returns: Whether there is room.
    func reserve(_ byteCount: Int64) -> Bool {
        guard let victims = index.withLock({ $0.reserve(byteCount) }) else { return false }
        for victim in victims { remove(victim) }
        return true
    }

    /// Gives room back.
    func release(_ byteCount: Int64) { index.withLock { $0.release(byteCount) } }

    /// Makes the file of an entry that is to be written; `nil` where that cannot be done.
    func make(_ file: EntryFile) -> DiskFile? {
        try? DiskFile(filePath(file.partialFileName), flags: O_RDWR | O_CREAT | O_EXCL, pool: pool, write: write)
    }

    /// Removes a file that was not written to its end, and gives its room back.
    func discard(_ file: EntryFile, reserved: Int64) {
        unlink(filePath(file.partialFileName))
        release(reserved)
    }

    /// Makes a file an entry that is whole, and whose room was reserved.
    ///
    /// - Returns: Whether it is one now; everything may have been removed since `generation`.
    func publish(_ file: EntryFile, _ disk: DiskFile, size: Int64, generation: Int) -> Bool {
        let path = filePath(file.fileName)
        guard rename(filePath(file.partialFileName), path) == 0 else { return false }
        let now = now()
        let added = index.withLock { index in
            index.generation == generation ? index.insert(file, size: size, now: now) : nil
        }
        guard let added else {
            unlink(path)
            return false
        }
        disk.noteUse(at: added.use)
        remove(added.replaced)
        return true
    }

    /// Writes other metadata behind the body of an entry, which is lost where that fails.
    func rewrite(_ entry: StoredEntry) {
        guard let bytes = entry.tail.encoded(), let oldSize = entry.disk.size else { return drop(entry.file) }
        noteUse(entry)
        let newSize = entry.tail.bodyLength +| Int64(bytes.readableBytes)
        let growth = max(0, EntryIndex.room(newSize) -| EntryIndex.room(oldSize))
        guard reserve(growth) else { return drop(entry.file) }
        let isWritten = tails.withLock { _ in
            defer { index.withLock { $0.resize(entry.file, to: EntryIndex.room(newSize), reserved: growth) } }
            return entry.disk.write(bytes, at: entry.tail.bodyLength) && entry.disk.truncate(to: newSize)
        }
        if !isWritten { drop(entry.file) }
    }
}

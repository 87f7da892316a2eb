import Foundation
import MediaTiming
import NIOCore
import NIOPosix
import Synchronization

/// The directory of the cache, with one file for each entry and an index in memory.
///
/// Files are written under unique temporary names and renamed when they are complete. A crash therefore leaves complete
/// entries, and temporary files that are removed the next time the directory is opened. Files are not synchronized to
/// the disk: damage by a power failure is detected by the checksums.
final class EntryFolder: Sendable {
    let maximumEntrySize: Int64
    let pool: NIOThreadPool
    private let path: String
    private let write: DiskFile.Write
    private let now: @Sendable () -> UnixSeconds
    private let index: Mutex<EntryIndex>
    /// The lock for reading and rewriting the tails of entries, used on threads of the pool only: a partially written
    /// tail would be taken for damage.
    private let tailLock = Mutex(())
    /// The lock that tells other processes that the directory is in use; `nil` if it is read-only.
    private let processLock = Mutex<EntryFolderLock?>(nil)

    /// Creates an instance that opens a directory, which is created if it does not exist.
    ///
    /// This initializer blocks.
    ///
    /// - Throws: ``TransportError/Code/fileFailed`` if the directory does not exist and cannot be created.
    init(
        _ path: String,
        capacity: Int64,
        maximumEntrySize: Int64,
        now: @escaping @Sendable () -> UnixSeconds,
        pool: NIOThreadPool,
        write: @escaping DiskFile.Write
    ) throws {
        self.path = path
        self.maximumEntrySize = maximumEntrySize
        self.now = now
        self.pool = pool
        self.write = write
        index = Mutex(EntryIndex(capacity: capacity))
        do {
            try PrivateFiles.createFolder(path)
        } catch {
            throw TransportError(.fileFailed, "the cache directory \(path) cannot be created; choose another one")
        }
        var isShared = true
        let lock = EntryFolderLock(path) {
            isShared = false
            indexExistingFiles(removingIncomplete: true)
        }
        processLock.withLock { $0 = lock }
        if isShared { indexExistingFiles(removingIncomplete: false) }
    }

    /// The number of bytes that the entries use on the disk.
    var byteCount: Int64 { index.withLock { $0.storedBytes } }
    /// The number of entries.
    var count: Int { index.withLock { $0.count } }
    /// The number of times that all entries were removed.
    var generation: Int { index.withLock { $0.generation } }

    /// Runs blocking work on a thread of the pool; `nil` if the pool was shut down.
    ///
    /// The work is not canceled, so that disk operations are completed.
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

// MARK: Existing files

extension EntryFolder {
    /// Adds the existing entries to the index, and removes temporary files and damaged entries if asked to.
    ///
    /// They must stay while another process uses the directory, because it may be writing them.
    private func indexExistingFiles(removingIncomplete: Bool) {
        var found: [(file: EntryFile, size: Int64, lastUse: Int64)] = []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        // A directory that also contains other files keeps its mode, because it was not created for the cache.
        let ownNames = names.filter {
            $0 == EntryFolderLock.fileName || EntryFile.isPartial($0) || EntryFile(fileName: $0) != nil
        }
        if ownNames.count == names.count {
            PrivateFiles.restrictFolder(path)
        }
        for name in names {
            if removingIncomplete, EntryFile.isPartial(name) { unlink(filePath(name)) }
            guard let file = EntryFile(fileName: name) else { continue }
            PrivateFiles.restrictFile(filePath(name))
            do throws(DiskFile.OpenFailure) {
                let disk = try DiskFile(filePath(name), flags: O_RDONLY, pool: pool)
                if EntryTail.isComplete(disk), let size = disk.size, let lastUse = disk.lastUse {
                    found.append((file, EntryIndex.diskSpace(for: size), lastUse))
                } else if removingIncomplete {
                    unlink(filePath(name))
                }
            } catch {
                if removingIncomplete, error.isMissing { unlink(filePath(name)) }
            }
        }
        for entry in found.sorted(by: { $0.lastUse < $1.lastUse }) {
            remove(index.withLock { $0.insertExisting(entry.file, size: entry.size, lastUse: entry.lastUse) })
        }
        // The capacity may have been larger when the directory was filled.
        guard removingIncomplete else { return }
        for victim in index.withLock({ $0.reserve(0) }) ?? [] { remove(victim) }
    }
}

// MARK: Reading (on threads that may block)

extension EntryFolder {
    /// Opens the entry of a key; `nil` if there is none, or if it is damaged, in which case it is removed.
    func open(_ key: EntryKey) -> StoredEntry? {
        guard let file = index.withLock({ $0.file(key.name) }) else { return nil }
        do throws(DiskFile.OpenFailure) {
            let disk = try openForUpdate(filePath(file.fileName))
            guard let tail = tailLock.withLock({ _ in EntryTail(of: disk) }) else {
                drop(file)
                return nil
            }
            // Two keys can share an entry name; the entry of another key is neither used nor removed.
            return tail.metadata.key == key ? StoredEntry(file: file, disk: disk, tail: tail) : nil
        } catch {
            if error.isMissing { drop(file) }
            return nil
        }
    }

    private func openForUpdate(_ path: String) throws(DiskFile.OpenFailure) -> DiskFile {
        do throws(DiskFile.OpenFailure) {
            return try DiskFile(path, flags: O_RDWR, pool: pool, write: write)
        } catch {
            // Entries in a directory that became read-only can still be read.
            return try DiskFile(path, flags: O_RDONLY, pool: pool, write: write)
        }
    }

    /// Marks an entry as used, also in its file, so that the order of use survives the process.
    func markUsed(_ entry: StoredEntry) {
        let now = now()
        if let use = index.withLock({ $0.markUsed(entry.file, now: now) }) { entry.disk.setLastUse(use) }
    }

    /// Removes an entry.
    func drop(_ file: EntryFile) { remove(index.withLock { $0.remove(file) }) }

    /// Removes the entry of a key.
    func drop(_ key: EntryKey) {
        remove(index.withLock { index in index.file(key.name).flatMap { index.remove($0) } })
    }

    /// Removes all entries; other files are kept.
    func dropAll() {
        for entry in index.withLock({ $0.removeAll() }) { remove(entry) }
    }

    /// Removes the file of a removed entry, then releases its disk space.
    private func remove(_ entry: EntryIndex.Entry?) {
        guard let entry else { return }
        unlink(filePath(entry.file.fileName))
        index.withLock { $0.releaseSpace(of: entry) }
    }
}

// MARK: Writing (on threads that may block)

extension EntryFolder {
    /// Reserves disk space, and evicts the least recently used entries if needed.
    ///
    /// - Returns: A Boolean value that indicates whether the space is available.
    func reserve(_ byteCount: Int64) -> Bool {
        guard let victims = index.withLock({ $0.reserve(byteCount) }) else { return false }
        for victim in victims { remove(victim) }
        return true
    }

    /// Releases reserved disk space.
    func release(_ byteCount: Int64) { index.withLock { $0.release(byteCount) } }

    /// Creates the file of an entry to write; `nil` if it cannot be created.
    func createFile(_ file: EntryFile) -> DiskFile? {
        try? DiskFile(filePath(file.partialFileName), flags: O_RDWR | O_CREAT | O_EXCL, pool: pool, write: write)
    }

    /// Removes an incomplete file and releases its reserved space.
    func discard(_ file: EntryFile, reserved: Int64) {
        unlink(filePath(file.partialFileName))
        release(reserved)
    }

    /// Renames a complete file, whose space is reserved, into place and adds it as an entry.
    ///
    /// - Returns: A Boolean value that indicates whether the entry was added; `false` if all entries were removed since
    ///   `generation`.
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
        disk.setLastUse(added.use)
        remove(added.replaced)
        return true
    }

    /// Rewrites the metadata after the body of an entry; the entry is removed if this fails.
    func rewrite(_ entry: StoredEntry) {
        guard let bytes = entry.tail.encoded(), let oldSize = entry.disk.size else { return drop(entry.file) }
        markUsed(entry)
        let newSize = entry.tail.bodyLength +| Int64(bytes.readableBytes)
        let growth = max(0, EntryIndex.diskSpace(for: newSize) -| EntryIndex.diskSpace(for: oldSize))
        guard reserve(growth) else { return drop(entry.file) }
        let isWritten = tailLock.withLock { _ in
            defer { index.withLock { $0.resize(entry.file, to: EntryIndex.diskSpace(for: newSize), reserved: growth) } }
            return entry.disk.write(bytes, at: entry.tail.bodyLength) && entry.disk.truncate(to: newSize)
        }
        if !isWritten { drop(entry.file) }
    }
}

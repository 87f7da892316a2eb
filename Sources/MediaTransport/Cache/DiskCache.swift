public import Foundation
public import MediaTiming
import NIOPosix

/// A directory of stored responses, which several transports can use at the same time.
///
/// Pass the cache to a ``CachedTransport`` for each underlying transport. Processes can share a directory too: each one
/// uses the entries that were complete when it opened the directory, and those that it stores itself. The limit of the
/// size then applies to each process, and to the directory when the first of them opens it. Signed URLs are stored
/// unchanged in the directory, which only its owner can read.
public final class DiskCache: Sendable {
    let folder: EntryFolder
    let rules: CacheRules
    let now: @Sendable () -> UnixSeconds

    /// Creates a cache and indexes the existing entries of its directory.
    ///
    /// This initializer blocks while it reads the directory.
    ///
    /// - Parameters:
    ///   - directory: The directory of the cache; it is created if it does not exist. Other files in it are kept.
    ///   - options: The size limits, and the kinds of resources to store.
    ///   - now: The clock for the age of entries; the system clock by default.
    /// - Throws: ``TransportError/Code/fileFailed`` if the directory does not exist and cannot be created.
    public convenience init(
        directory: URL,
        options: Options = Options(),
        now: @escaping @Sendable () -> UnixSeconds = { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }
    ) throws {
        try self.init(directory: directory, options: options, now: now, pool: .singleton)
    }

    /// Creates a cache with a replaceable write function, so that tests can simulate disk errors.
    init(
        directory: URL,
        options: Options,
        now: @escaping @Sendable () -> UnixSeconds,
        pool: NIOThreadPool,
        write: @escaping DiskFile.Write = DiskFile.systemWrite
    ) throws {
        self.now = now
        rules = CacheRules(kinds: options.kinds, maximumEntrySize: options.maximumEntrySize.bytes)
        folder = try EntryFolder(
            directory.path,
            capacity: options.capacity.bytes,
            maximumEntrySize: options.maximumEntrySize.bytes,
            now: now,
            pool: pool,
            write: write
        )
    }

    /// The disk space that the entries use, in whole blocks of 4 KiB.
    public var byteCount: ByteCount { ByteCount(folder.byteCount) }
    /// The number of entries.
    public var entryCount: Int { folder.count }

    /// Removes all entries; bodies that are being read are not stored either.
    public func removeAll() async { await folder.perform { [folder] in folder.dropAll() } }
}

extension DiskCache: Hashable {
    /// Returns a Boolean value that indicates whether two references are to the same cache.
    public static func == (first: DiskCache, second: DiskCache) -> Bool { first === second }

    /// Hashes the identity of the cache.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

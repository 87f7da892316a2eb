public import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import MediaTransport
public import ResourceAddressing

/// A folder with kept assets and the catalogue that says what is in it.
///
/// The catalogue is written before the data: whatever lies in the folder is known to it, and what is not is swept away
/// when the library is opened. Several processes may use one library; SQLite keeps them apart.
public final class AssetLibrary: Sendable {
    /// The library's folder.
    public let directory: URL
    let database: DatabasePool

    /// Opens a library, making it where there is none, and finishes deletions that were interrupted.
    ///
    /// - Throws: ``StorageError`` where the folder or the catalogue cannot be used.
    public init(directory: URL) throws {
        self.directory = directory.standardizedFileURL
        do {
            try Self.makePrivate(directory)
            try Self.excludeFromBackup(directory)
            var configuration = Configuration()
            configuration.busyMode = .timeout(10)
            configuration.foreignKeysEnabled = true
            database = try DatabasePool(
                path: directory.appendingPathComponent("catalogue.sqlite").path,
                configuration: configuration
            )
            try database.write { database in
                if try Schema.migrator.hasBeenSuperseded(database) {
                    throw StorageError(.tooNew, "the library was made by a newer version of Millstream")
                }
            }
            try Schema.migrator.migrate(database)
        } catch let error as StorageError {
            throw error
        } catch {
            throw StorageError(.cannotOpen, "the library \(directory.path) cannot be opened (\(Self.reason(error)))")
        }
        try sweep()
    }

    /// The library that is used where none is named: `$MILLSTREAM_LIBRARY`, else the platform's folder for data.
    public static var defaultDirectory: URL {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["MILLSTREAM_LIBRARY"], !named.isEmpty { return URL(fileURLWithPath: named) }
        #if os(Linux)
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return URL(fileURLWithPath: data).appendingPathComponent("millstream")
        }
        return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share/millstream")
        #else
        return URL.applicationSupportDirectory.appendingPathComponent("Millstream")
        #endif
    }

    /// All assets, newest first.
    public func assets() throws -> [StoredAsset] {
        try database.read { database in
            try AssetRecord.filter(Column("state") != AssetRecord.State.deleting.rawValue)
                .order(Column("createdAt").desc).fetchAll(database).map { try Self.asset($0, database) }
        }
    }

    /// An asset by its identifier.
    ///
    /// - Throws: ``StorageError/Code/notFound``.
    public func asset(_ id: String) throws -> StoredAsset {
        try database.read { database in try Self.asset(try Self.record(id, database), database) }
    }

    /// The asset that came from an address, `nil` where there is none.
    public func asset(source: ResourceAddress) throws -> StoredAsset? {
        try database.read { database in
            try AssetRecord.filter(Column("source") == source.text)
                .filter(Column("state") != AssetRecord.State.deleting.rawValue)
                .fetchOne(database).map { try Self.asset($0, database) }
        }
    }

    /// The folder of an asset's package.
    public func packageDirectory(_ id: String) -> URL {
        directory.appendingPathComponent("packages").appendingPathComponent(id)
    }

    /// A file of a package, `nil` where the path leads out of it or nothing lies there.
    public func file(_ path: String, of id: String) -> URL? {
        guard Self.isIdentifier(id), !path.isEmpty,
            path.split(separator: "/", omittingEmptySubsequences: false)
                .allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && !$0.contains("\0") })
        else { return nil }
        let url = packageDirectory(id).appendingPathComponent(path)
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }

    /// Removes an asset with all its bytes; doing it twice does no harm.
    public func delete(_ id: String) throws {
        guard Self.isIdentifier(id) else { return }
        let isKnown = try database.write { database in
            try AssetRecord.filter(key: id).updateAll(
                database,
                Column("state").set(to: AssetRecord.State.deleting.rawValue)
            ) > 0
        }
        guard isKnown else { return }
        try finishDeletion(id)
    }

    // MARK: Inside

    /// What the system says, without the wrapping.
    static func reason(_ error: any Error) -> String {
        var error = error as NSError
        while let inner = error.userInfo[NSUnderlyingErrorKey] as? NSError { error = inner }
        guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return String(cString: strerror(Int32(clamping: error.code)))
    }

    static func record(_ id: String, _ database: Database) throws -> AssetRecord {
        guard let record = try AssetRecord.fetchOne(database, key: id), record.state != .deleting else {
            throw StorageError(.notFound, "the library has no asset \(id)")
        }
        return record
    }

    /// Whether a text can be the name of a package: nothing that leads elsewhere.
    static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty && text.count <= 64
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    private func finishDeletion(_ id: String) throws {
        let package = packageDirectory(id)
        if FileManager.default.fileExists(atPath: package.path) {
            do {
                try FileManager.default.removeItem(at: package)
            } catch {
                throw StorageError(.disk, "the package \(package.path) cannot be deleted (\(Self.reason(error)))")
            }
        }
        _ = try database.write { database in try AssetRecord.deleteOne(database, key: id) }
    }

    /// Finishes deletions and removes packages that the catalogue does not know.
    private func sweep() throws {
        let packages = directory.appendingPathComponent("packages")
        // Listed before the catalogue is read: a package is entered before its folder is made, so one that lies here and
        // is not entered then is nobody's, whatever other processes do meanwhile.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: packages.path)) ?? []
        let (deleting, known) = try database.read { database in
            (
                try AssetRecord.filter(Column("state") == AssetRecord.State.deleting.rawValue).fetchAll(database),
                Set(try AssetRecord.fetchAll(database).map(\.id))
            )
        }
        for record in deleting { try finishDeletion(record.id) }
        for name in names where !known.contains(name) && Self.isIdentifier(name) {
            try? FileManager.default.removeItem(at: packages.appendingPathComponent(name))
        }
    }

    /// The Cache Directory Tagging convention: backup programs leave such folders out.
    private static func excludeFromBackup(_ directory: URL) throws {
        #if os(Linux)
        let tag = directory.appendingPathComponent("CACHEDIR.TAG")
        guard !FileManager.default.fileExists(atPath: tag.path) else { return }
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# Millstream keeps streams here; they can be loaded again.\n"
        try PrivateFiles.write(Array(text.utf8), to: tag.path)
        #else
        var url = directory
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #endif
    }

    static func asset(_ record: AssetRecord, _ database: Database) throws -> StoredAsset {
        let renditions = try RenditionRecord.filter(Column("assetID") == record.id).order(Column("id"))
            .fetchAll(database)
        let resources = try ResourceRecord.filter(Column("assetID") == record.id).fetchAll(database)
        let byRendition = Dictionary(grouping: resources, by: \.renditionID)
        let stored = renditions.map { StoredRendition($0, resources: byRendition[$0.id ?? 0] ?? []) }
        let keysAreThere = !resources.contains { $0.bytes == nil && $0.position < 0 }
        return StoredAsset(
            id: record.id,
            title: record.title,
            source: ResourceAddress(record.source),
            state: record.state == .complete ? .complete : .partial,
            duration: stored.map(\.duration).max(),
            bytes: ByteCount(resources.compactMap(\.bytes).reduce(0, +|)),
            renditions: stored,
            loadedTimeRanges: StoredRendition.commonTime(of: stored),
            path: "packages/\(record.id)",
            selection: record.selection,
            isPlayableOffline: StoredRendition.makePlayableSet(stored) && keysAreThere
        )
    }
}

extension StoredRendition {
    init(_ record: RenditionRecord, resources: [ResourceRecord]) {
        let playlist = try? MediaPlaylist(parsing: Array(record.playlist))
        var loaded = MediaTimeRangeSet()
        for resource in resources where resource.bytes != nil && resource.position >= 0 {
            if let range = resource.timeRange { loaded.insert(range) }
        }
        // Nothing has to be loaded for what is missing at the origin.
        for segment in playlist?.segments.lazy.filter(\.isGap) ?? [] { loaded.insert(segment.timeRange) }
        self.init(
            role: record.role,
            folder: record.folder,
            language: record.language,
            bandwidth: record.bandwidth.map { BitRate(bitsPerSecond: $0) },
            width: record.width,
            height: record.height,
            codecs: record.codecs.split(separator: ",").map(String.init),
            loadedTimeRanges: loaded,
            duration: playlist?.duration ?? .zero,
            isComplete: resources.allSatisfy { $0.bytes != nil }
        )
    }

    /// The time for which every rendition is there; where one is shorter than the others it lacks nothing behind its end.
    static func commonTime(of renditions: [StoredRendition]) -> MediaTimeRangeSet {
        guard let end = renditions.map(\.duration).max() else { return MediaTimeRangeSet() }
        return renditions.reduce(MediaTimeRangeSet([MediaTimeRange(start: .zero, end: end)])) { common, rendition in
            var loaded = rendition.loadedTimeRanges
            loaded.insert(MediaTimeRange(start: rendition.duration, end: end))
            return common.intersection(loaded)
        }
    }

    /// Whether one variant is whole and, where there is sound apart, one rendition of it too.
    static func makePlayableSet(_ renditions: [StoredRendition]) -> Bool {
        let audio = renditions.filter { $0.role == .audio }
        return renditions.contains { $0.role == .variant && $0.isComplete }
            && (audio.isEmpty || audio.contains(where: \.isComplete))
    }
}

extension ResourceRecord {
    var timeRange: MediaTimeRange? {
        guard let start = MediaTime(decimal: start), let duration = MediaTime(decimal: duration) else { return nil }
        return MediaTimeRange(start: start, duration: duration)
    }
}

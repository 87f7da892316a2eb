import AssetStorage
import Foundation
import HLSPlaylist
import ResourceAddressing
import Synchronization
import Testing

/// The operations of the system, recorded as lines of text; all operations with a given line can be made to fail.
///
/// Paths are relative to the library, and the name of a package is an asterisk. Synchronization of files does not wait
/// for the disk.
final class RecordedFiles: FileOperations {
    private struct State {
        var lines: [String] = []
        var names: [CInt: String] = [:]
        var failures: [String: CInt] = [:]
        var waits = 0
        var whileWaiting: @Sendable (Int) -> Void = { _ in }
    }

    private let root: String
    private let system = SystemFileOperations()
    private let state = Mutex(State())

    init(_ directory: URL) { root = directory.standardizedFileURL.path + "/" }

    /// Returns the operations that succeeded since the last call.
    func takeLines() -> [String] {
        state.withLock { state in
            defer { state.lines = [] }
            return state.lines
        }
    }

    /// Makes all operations with the given line fail.
    func fail(_ line: String, with number: CInt) { state.withLock { $0.failures[line] = number } }

    /// Makes all operations succeed again.
    func stopFailing() { state.withLock { $0.failures = [:] } }

    private func relative(_ path: String) -> String {
        guard path.hasPrefix(root) else { return path }
        var parts = path.dropFirst(root.count).split(separator: "/").map(String.init)
        if parts.count > 1, parts[0] == "packages" { parts[1] = "*" }
        return parts.joined(separator: "/")
    }

    private func perform(_ line: String, _ body: () throws(FileFailure) -> Void = {}) throws(FileFailure) {
        if let number = state.withLock({ $0.failures[line] }) { throw FileFailure(number) }
        try body()
        state.withLock { $0.lines.append(line) }
    }

    private func name(_ descriptor: CInt) -> String { state.withLock { $0.names[descriptor] ?? "unknown" } }

    func makeFolder(_ path: String) throws(FileFailure) {
        try perform("make folder \(relative(path))") { () throws(FileFailure) in try system.makeFolder(path) }
    }

    func createFile(_ path: String) throws(FileFailure) -> CInt {
        var descriptor: CInt = -1
        try perform("create \(relative(path))") { () throws(FileFailure) in descriptor = try system.createFile(path) }
        let created = descriptor
        state.withLock { $0.names[created] = relative(path) }
        return created
    }

    func openFile(_ path: String, truncatedTo length: Int64) throws(FileFailure) -> CInt {
        var descriptor: CInt = -1
        try perform("open \(relative(path))") { () throws(FileFailure) in
            descriptor = try system.openFile(path, truncatedTo: length)
        }
        let opened = descriptor
        state.withLock { $0.names[opened] = relative(path) }
        return opened
    }

    var bootIdentifier: String? { "boot" }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure) {
        try perform("write \(name(descriptor))") { () throws(FileFailure) in try system.write(bytes, to: descriptor) }
    }

    func synchronizeFile(_ descriptor: CInt) throws(FileFailure) { try perform("synchronize \(name(descriptor))") }

    func closeFile(_ descriptor: CInt) {
        let name = name(descriptor)
        state.withLock { $0.lines.append("close \(name)") }
        system.closeFile(descriptor)
    }

    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try perform("rename \(relative(path)) to \(relative(newPath))") { () throws(FileFailure) in
            try system.rename(path, to: newPath)
        }
    }

    func link(_ path: String, to newPath: String) throws(FileFailure) {
        try perform("link \(relative(path)) to \(relative(newPath))") { () throws(FileFailure) in
            try system.link(path, to: newPath)
        }
    }

    func removeFile(_ path: String) throws(FileFailure) {
        try perform("remove \(relative(path))") { () throws(FileFailure) in try system.removeFile(path) }
    }

    func removeFolder(_ path: String) throws(FileFailure) {
        try perform("remove folder \(relative(path))") { () throws(FileFailure) in try system.removeFolder(path) }
    }

    func synchronizeFolder(_ path: String) throws(FileFailure) { try perform("synchronize folder \(relative(path))") }

    func freeSpace(at path: String) -> Int64? { path + "/" == root ? 123_456 : nil }

    /// Sets a function that is called with the number of each wait for a lock, which otherwise takes no time.
    func whileWaiting(_ body: @escaping @Sendable (Int) -> Void) {
        state.withLock { state in
            state.waits = 0
            state.whileWaiting = body
        }
    }

    func waitForLock() {
        let (number, body) = state.withLock { state in
            state.waits += 1
            return (state.waits, state.whileWaiting)
        }
        body(number)
    }

    func catalogDidCommit() { state.withLock { $0.lines.append("commit") } }
}

/// A library in a temporary directory that is removed when the object is deallocated.
final class TemporaryLibrary {
    let directory: URL
    let files: RecordedFiles
    let library: AssetLibrary

    init() throws {
        directory =
            FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
            .standardizedFileURL
        files = RecordedFiles(directory)
        library = try AssetLibrary(directory: directory, files: files)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    // MARK: Playlists

    static let origin = "https://origin.example/"

    /// Parses a media playlist with the given name at the origin.
    static func media(_ lines: String..., at name: String = "media.m3u8") throws -> MediaPlaylist {
        try playlist(["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + lines, at: name)
    }

    /// Parses the media playlist with the given lines and an end.
    static func playlist(_ lines: [String], at name: String = "media.m3u8") throws -> MediaPlaylist {
        let text = (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(origin + name))
        )
    }

    /// Parses a multivariant playlist.
    static func multivariant(_ lines: String...) throws -> Playlist {
        try Playlist.parse(Array((["#EXTM3U"] + lines + [""]).joined(separator: "\n").utf8))
    }

    /// Creates the description of a media playlist to download.
    static func rendition(
        _ role: StoredRendition.Role = .variant,
        _ position: Int = -1,
        _ playlist: MediaPlaylist,
        language: String? = nil,
        variant: Variant? = nil,
        aliases: [Int] = []
    ) -> PlannedRendition {
        PlannedRendition(
            role: role,
            position: position,
            language: language,
            variant: variant,
            playlist: playlist,
            address: ResourceAddress(origin + "media.m3u8"),
            aliases: aliases
        )
    }

    // MARK: Assets

    /// Adds an asset that has no playlists yet.
    func enter(_ title: String = "A", from name: String = "top.m3u8") throws -> String {
        try library.addAsset(source: ResourceAddress(Self.origin + name), title: title, selection: "all")
    }

    /// Plans the files of an asset, as a download does.
    func plan(_ id: String, _ source: Playlist, _ renditions: PlannedRendition...) throws {
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        try library.planDownload(
            of: id,
            source: source,
            at: ResourceAddress(Self.origin + "top.m3u8"),
            renditions: renditions
        )
    }

    /// Adds an asset whose source is a media playlist.
    func planned(_ playlist: MediaPlaylist) throws -> String {
        let id = try enter()
        try plan(id, .media(playlist), Self.rendition(.variant, -1, playlist))
        return id
    }

    /// Stores files with the last component of their addresses as content, or with the given content.
    func store(_ resources: [StoredResource], of id: String, content: String? = nil) throws {
        let written = try resources.map { resource in
            let file = library.makePackageFile(for: resource, of: id)
            try Array((content ?? resource.address.lastPathComponent).utf8).withUnsafeBytes { try file.write($0) }
            try file.finish()
            return WrittenFile(resource, file)
        }
        try library.commit(written)
    }

    /// Stores all missing files, and marks the asset as complete.
    func complete(_ id: String) throws {
        try store(library.missingResources(id), of: id)
        try library.finish(id)
    }

    // MARK: Files

    func url(_ path: String, of id: String) -> URL { library.packageDirectory(id).appendingPathComponent(path) }

    func text(_ path: String, of id: String) throws -> String {
        try String(contentsOf: url(path, of: id), encoding: .utf8)
    }

    /// Returns the sorted paths of the files and directories in a package.
    func names(of id: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: library.packageDirectory(id).path).sorted()
    }

    /// The sorted names in the directory of packages.
    var packages: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory.path + "/packages").sorted()
        }
    }
}

/// Returns the code and the message of the ``StorageError`` that a call throws.
func storageError(_ body: () throws -> Void) -> (code: String, message: String)? {
    let error = #expect(throws: StorageError.self) { try body() }
    return error.map { ($0.code.rawValue, $0.message) }
}

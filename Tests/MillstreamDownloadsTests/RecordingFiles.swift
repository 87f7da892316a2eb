import AssetStorage
import Foundation
import Synchronization

/// The operations of a real file system, recorded so that a crash after each of them can be simulated; operations can
/// be made to fail.
final class RecordingFiles: FileOperations {
    /// An operation, with paths relative to the library.
    enum Operation: Sendable {
        case makeFolder(String)
        case createFile(String, file: Int)
        case write([UInt8], file: Int)
        case synchronizeFile(Int)
        case rename(String, to: String)
        case link(String, to: String)
        case removeFile(String)
        case removeFolder(String)
        case synchronizeFolder(String)
        /// The contents of the catalog files after a transaction.
        case commit([String: Data])

        /// A Boolean value that indicates whether a failure may be ignored because the remaining files are removed
        /// later.
        var isRemoval: Bool {
            switch self {
            case .removeFile, .removeFolder: true
            default: false
            }
        }
    }

    private struct State {
        var operations: [Operation] = []
        var openFiles: [CInt: Int] = [:]
        var lastFile = 0
        var calls = 0
        var failure: (call: Int, number: CInt)?
        var failed: Operation?
        var freeSpace: Int64?
        var beforeCommit: (@Sendable () -> Void)?
    }

    private let root: String
    private let system = SystemFileOperations()
    private let state = Mutex(State())

    init(_ directory: URL) { root = directory.standardizedFileURL.path + "/" }

    var operations: [Operation] { state.withLock { $0.operations } }
    /// The number of operations that may fail.
    var calls: Int { state.withLock { $0.calls } }
    /// The operation that was made to fail.
    var failed: Operation? { state.withLock { $0.failed } }

    /// Makes one operation fail, given by its number counted from now.
    func fail(_ call: Int, with number: CInt) {
        state.withLock { state in
            state.failure = (state.calls + call, number)
            state.failed = nil
        }
    }

    /// Makes all operations succeed again.
    func stopFailing() { state.withLock { $0.failure = nil } }

    /// Sets the free space of the disk, in bytes.
    func setFreeSpace(_ bytes: Int64?) { state.withLock { $0.freeSpace = bytes } }

    /// Sets a function, which may block, that is called before the end of the next transaction of the catalog is
    /// recorded.
    func beforeNextCommit(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeCommit = body } }

    /// The present contents of the catalog files.
    var catalog: [String: Data] {
        var result: [String: Data] = [:]
        for name in ["catalogue.sqlite", "catalogue.sqlite-wal"] {
            result[name] = try? Data(contentsOf: URL(fileURLWithPath: root + name))
        }
        return result
    }

    private func relative(_ path: String) -> String { path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path }

    private func perform(_ operation: Operation, _ body: () throws(FileFailure) -> Void) throws(FileFailure) {
        let failure: FileFailure? = state.withLock { state in
            defer { state.calls += 1 }
            guard let failure = state.failure, failure.call == state.calls else { return nil }
            state.failed = operation
            return FileFailure(failure.number)
        }
        if let failure { throw failure }
        try body()
        state.withLock { $0.operations.append(operation) }
    }

    func makeFolder(_ path: String) throws(FileFailure) {
        try perform(.makeFolder(relative(path))) { () throws(FileFailure) in try system.makeFolder(path) }
    }

    func createFile(_ path: String) throws(FileFailure) -> CInt {
        let file = state.withLock { state in
            state.lastFile += 1
            return state.lastFile
        }
        var descriptor: CInt = -1
        try perform(.createFile(relative(path), file: file)) { () throws(FileFailure) in
            descriptor = try system.createFile(path)
        }
        let opened = descriptor
        state.withLock { $0.openFiles[opened] = file }
        return descriptor
    }

    func openFile(_ path: String, truncatedTo length: Int64) throws(FileFailure) -> CInt {
        try system.openFile(path, truncatedTo: length)
    }

    var bootIdentifier: String? { system.bootIdentifier }

    private func file(_ descriptor: CInt) -> Int { state.withLock { $0.openFiles[descriptor] ?? 0 } }

    func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) throws(FileFailure) {
        try perform(.write(Array(bytes), file: file(descriptor))) { () throws(FileFailure) in
            try system.write(bytes, to: descriptor)
        }
    }

    func synchronizeFile(_ descriptor: CInt) throws(FileFailure) {
        try perform(.synchronizeFile(file(descriptor))) { () throws(FileFailure) in }
    }

    func closeFile(_ descriptor: CInt) { system.closeFile(descriptor) }

    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try perform(.rename(relative(path), to: relative(newPath))) { () throws(FileFailure) in
            try system.rename(path, to: newPath)
        }
    }

    func link(_ path: String, to newPath: String) throws(FileFailure) {
        try perform(.link(relative(path), to: relative(newPath))) { () throws(FileFailure) in
            try system.link(path, to: newPath)
        }
    }

    func removeFile(_ path: String) throws(FileFailure) {
        try perform(.removeFile(relative(path))) { () throws(FileFailure) in try system.removeFile(path) }
    }

    func removeFolder(_ path: String) throws(FileFailure) {
        try perform(.removeFolder(relative(path))) { () throws(FileFailure) in try system.removeFolder(path) }
    }

    func synchronizeFolder(_ path: String) throws(FileFailure) {
        try perform(.synchronizeFolder(relative(path))) { () throws(FileFailure) in }
    }

    func freeSpace(at path: String) -> Int64? { state.withLock { $0.freeSpace } ?? system.freeSpace(at: path) }

    func waitForLock() { system.waitForLock() }

    func catalogDidCommit() {
        let body = state.withLock { state in
            defer { state.beforeCommit = nil }
            return state.beforeCommit
        }
        body?()
        let catalog = catalog
        state.withLock { $0.operations.append(.commit(catalog)) }
    }
}

/// The state of a disk after a crash of the machine.
struct CrashedDisk {
    /// The part of the unsynchronized operations that reaches the disk.
    enum Survival: CaseIterable {
        /// None of them.
        case nothing
        /// The names, without the contents of the files.
        case names
        /// The names, and the length and the first half of the content of each file.
        case tornContent
        /// All of them, as after the end of a process.
        case everything
    }

    private struct File {
        var content: [UInt8] = []
        var synchronized: [UInt8] = []
    }

    private enum Entry {
        case folder
        case file(Int)
    }

    private var files: [Int: File] = [:]
    private var names: [String: Entry] = ["packages": .folder]
    private var synchronizedNames: [String: Entry] = ["packages": .folder]
    private var catalog: [String: Data]

    /// Replays operations.
    ///
    /// - Parameters:
    ///   - operations: The operations before the crash.
    ///   - catalog: The contents of the catalog files before the first operation.
    init(_ operations: some Sequence<RecordingFiles.Operation>, catalog: [String: Data]) {
        self.catalog = catalog
        for operation in operations { perform(operation) }
    }

    private mutating func perform(_ operation: RecordingFiles.Operation) {
        switch operation {
        case .makeFolder(let path): names[path] = .folder
        case .createFile(let path, let file):
            files[file] = File()
            names[path] = .file(file)
        case .write(let bytes, let file): files[file]?.content += bytes
        case .synchronizeFile(let file):
            let content = files[file]?.content ?? []
            files[file]?.synchronized = content
        case .rename(let path, let newPath):
            if let file = names.removeValue(forKey: path) { names[newPath] = file }
        case .link(let path, let newPath): names[newPath] = names[path]
        case .removeFile(let path), .removeFolder(let path): names.removeValue(forKey: path)
        case .synchronizeFolder(let folder):
            synchronizedNames = synchronizedNames.filter { Self.folder(of: $0.key) != folder }
            for (path, file) in names where Self.folder(of: path) == folder { synchronizedNames[path] = file }
        case .commit(let files): catalog = files
        }
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Writes the library that is found after the crash.
    func write(to directory: URL, _ survival: Survival) throws {
        let surviving = survival == .nothing ? synchronizedNames : names
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (name, data) in catalog { try data.write(to: directory.appendingPathComponent(name)) }
        for (path, entry) in surviving.sorted(by: { $0.key < $1.key }) {
            let url = directory.appendingPathComponent(path)
            guard case .file(let file) = entry else {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
                continue
            }
            guard FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) else { continue }
            try Data(content(of: files[file] ?? File(), survival)).write(to: url)
        }
    }

    private func content(of file: File, _ survival: Survival) -> [UInt8] {
        switch survival {
        case .nothing, .names: return file.synchronized
        case .everything: return file.content
        case .tornContent:
            guard file.content != file.synchronized else { return file.content }
            let half = file.content.count / 2
            return Array(file.content.prefix(half)) + Array(repeating: 0, count: file.content.count - half)
        }
    }
}

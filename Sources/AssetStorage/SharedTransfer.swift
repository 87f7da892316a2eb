import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import Synchronization

/// The transfer of a file from the origin to the disk for a player, which reads the bytes as they arrive.
///
/// The transfer also goes on while the player does not read, so that a slow player delays no one else who needs the file.
/// The player then reads from the disk. A file that is not stored is only received as fast as it is read.
final class SharedTransfer: Sendable {
    /// The maximum number of bytes that are kept in memory for the player.
    private static let maximumRecentSize: Int64 = 1 << 20
    /// The maximum number of bytes in a buffer that is read from the disk.
    private static let bufferSize: Int64 = 256 << 10

    private struct State {
        /// The last received bytes that the player has not read.
        var recent: ArraySlice<ByteBuffer> = []
        /// The position of the first byte of ``recent``; earlier bytes are read from the disk.
        var recentStart: Int64 = 0
        var recentSize: Int64 = 0
        /// The file on the disk, which stays readable if it is removed.
        var file: ReadableFile?
        var result: Result<Void, any Error>?

        mutating func removeFirst() -> ByteBuffer? {
            guard let first = recent.popFirst() else { return nil }
            recentStart +|= Int64(clamping: first.readableBytes)
            recentSize -|= Int64(clamping: first.readableBytes)
            return first
        }
    }

    /// The next step of the player.
    private enum Step {
        case use(ByteBuffer)
        case read(ReadableFile, count: Int64)
        case wait
        case end(Result<Void, any Error>)
    }

    private let storing: StoredReception
    private let state: Mutex<State>
    private let changes = Broadcast()

    /// Creates a transfer and begins to receive a body; the transfer is canceled when its last reader ends.
    init(_ body: TransportBody, _ storing: StoredReception, executor: (any TaskExecutor)?) {
        self.storing = storing
        // What an earlier transfer received is read from the disk.
        state = Mutex(State(recentStart: storing.count, file: storing.readableFile))
        let task = Task(executorPreference: executor) {
            let result = await self.receive(body)
            self.state.withLock { $0.result = result }
            self.changes.notify()
        }
        storing.reception.whenUnused { task.cancel() }
    }

    private func receive(_ body: TransportBody) async -> Result<Void, any Error> {
        do {
            var isFirst = true
            for try await buffer in body where buffer.readableBytes > 0 {
                // The player rejects a web page, and requests the file again.
                if isFirst, storing.count == 0, WebPage.isRecognized(in: buffer) { storing.stopStoring() }
                isFirst = false
                try await BlockingOperation.run { self.storing.write(buffer) }
                try await keep(buffer)
            }
            try await BlockingOperation.run { self.storing.finish() }
            return .success(())
        } catch {
            storing.abandon()
            return .failure(error)
        }
    }

    /// Keeps received bytes in memory for the player; waits for it if they are not on the disk.
    private func keep(_ buffer: ByteBuffer) async throws {
        state.withLock { state in
            state.recent.append(buffer)
            state.recentSize +|= Int64(clamping: buffer.readableBytes)
        }
        changes.notify()
        while true {
            let seen = changes.count
            let isStored = storing.isStoring
            let hasSpace = state.withLock { state in
                guard isStored else { return state.recent.isEmpty }
                while state.recentSize > Self.maximumRecentSize {
                    state.file = state.file ?? storing.openFile()
                    guard state.file != nil else { return false }
                    _ = state.removeFirst()
                }
                return true
            }
            if hasSpace { return }
            try Task.checkCancellation()
            await changes.wait(after: seen)
        }
    }

    /// Returns the bytes at a position, at which the player has read all earlier ones; `nil` at the end.
    fileprivate func bytes(at position: Int64) async throws -> ByteBuffer? {
        while true {
            let seen = changes.count
            let step = state.withLock { state -> Step in
                if position < state.recentStart, let file = state.file {
                    return .read(file, count: min(state.recentStart -| position, Self.bufferSize))
                }
                if let first = state.removeFirst() { return .use(first) }
                return state.result.map { .end($0) } ?? .wait
            }
            switch step {
            case .use(let buffer):
                // A transfer that is not stored waits for this.
                changes.notify()
                return buffer
            case .read(let file, let count):
                return try await BlockingOperation.run { try file.read(count, at: position) }
            case .end(let result):
                try result.get()
                return nil
            case .wait:
                try Task.checkCancellation()
                await changes.wait(after: seen)
            }
        }
    }
}

/// The body of a transfer for the player that requested it.
struct SharedTransferBuffers: AsyncSequence, Sendable {
    let transfer: SharedTransfer
    let reader: ReceptionReader

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffers: SharedTransferBuffers
        var position: Int64 = 0

        mutating func next() async throws -> ByteBuffer? {
            let buffer = try await buffers.transfer.bytes(at: position)
            position +|= Int64(clamping: buffer?.readableBytes ?? 0)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffers: self) }
}

/// A file of a package that is written while a player receives it; if the transfer is stopped, the received bytes are kept
/// so that it can be continued.
final class StoredReception: @unchecked Sendable {
    // Safe: the task that requests the file uses it until the transfer begins, and then only the task of the transfer does,
    // which waits for each write before the next.
    private let library: AssetLibrary
    private let id: String
    private let resource: StoredResource
    private var file: PackageFile
    /// The unfinished file that is being continued, for reading.
    private(set) var readableFile: ReadableFile?
    let reception: FileReception
    /// The version of the resource; `nil` if a later transfer cannot continue this one.
    var version: ResourceVersion?
    /// The length that the server announced; `nil` if it did not.
    var length: Int64?
    private var isEnded = false

    init(
        _ library: AssetLibrary,
        _ id: String,
        _ resource: StoredResource,
        _ reception: FileReception
    ) {
        self.library = library
        self.id = id
        self.resource = resource
        self.reception = reception
        file = library.makePackageFile(for: resource, of: id)
    }

    deinit { abandon() }

    /// A Boolean value that indicates whether the received bytes are on the disk.
    var isStoring: Bool { !isEnded }

    /// The number of bytes in the file.
    var count: Int64 { file.count }

    /// Opens the unfinished file of an earlier transfer; `nil` if there is none that can be continued.
    func continueUnfinished() -> TransportRequest.Resumption? {
        guard let resumption = file.resumption(of: resource) else { return nil }
        do {
            try file.continueUnfinished(at: resumption.offset)
        } catch {
            restart()
            return nil
        }
        readableFile = openFile()
        guard readableFile != nil else {
            restart()
            return nil
        }
        // If the request fails, the bytes are kept for the next one.
        version = ResourceVersion(resumption)
        return resumption
    }

    /// Removes the unfinished file, so that the file is received from its beginning.
    func restart() {
        file.discard()
        file.discardUnfinished()
        file = library.makePackageFile(for: resource, of: id)
        readableFile = nil
        version = nil
    }

    /// Removes the bytes of an earlier transfer.
    func removeEarlierBytes() { file.removeEarlierBytes() }

    /// Opens the file that is being written for reading; `nil` if that is not possible.
    func openFile() -> ReadableFile? { ReadableFile(reception.path + PackageFile.partialExtension) }

    /// Writes bytes; after a failure of the disk, the file is no longer stored but still played.
    func write(_ buffer: ByteBuffer) {
        guard !isEnded else { return }
        do {
            try buffer.withUnsafeReadableBytes { try file.write($0) }
        } catch {
            return stopStoring()
        }
        guard file.count <= SharedFiles.maximumFileSize else { return stopStoring() }
        reception.setWritten(file.count)
    }

    /// Removes the file, which is still played.
    func stopStoring() {
        guard !isEnded else { return }
        file.discard()
        end(nil)
    }

    /// Stores the file, whose bytes have all been received.
    func finish() {
        guard !isEnded else { return }
        do {
            if let length, file.count < length { return abandon() }
            let isWhole = (resource.byteRange?.length ?? length ?? file.count) == file.count
            guard isWhole, resource.kind.keySize ?? file.count == file.count else { return stopStoring() }
            for result in library.finish([file]) { try result.get() }
            try library.commit([WrittenFile(resource, file)])
            end(file.count)
        } catch {
            file.discard()
            end(nil)
        }
    }

    /// Ends the reception without storing the file.
    func abandon() {
        guard !isEnded else { return }
        // A file that was not begun may be that of an earlier transfer.
        if file.isOpen {
            if let version { file.keep(version, of: resource) } else { file.discard() }
        }
        end(nil)
    }

    private func end(_ length: Int64?) {
        isEnded = true
        library.endReception(of: resource, id, length: length)
    }
}

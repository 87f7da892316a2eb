import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// The reception of a file of a package by a download or a player; others read the bytes while they arrive.
package final class FileReception: Sendable {
    /// A state of a reception.
    package enum Phase: Sendable, Hashable {
        /// The response has not begun.
        case waiting
        /// Bytes are received; `attempt` changes when the file is received anew.
        case receiving(attempt: Int, length: Int64?, written: Int64)
        /// The file is stored and in the catalog.
        case stored(length: Int64)
        /// The file was not received completely.
        case failed
    }

    private struct State {
        var phase = Phase.waiting
        var attempt = 0
        /// The claim of this process on the file, in a library with others.
        var claim: (claims: ReceptionClaims, file: ClaimedFile)?
        /// The file that another process is writing.
        var followed: FileIdentity?
        var readerCount = 0
        var whenUnused: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let changes = Broadcast()
    /// The path of the file when it is stored.
    let path: String

    init(_ path: String) { self.path = path }

    /// The state.
    package var phase: Phase { state.withLock { $0.phase } }

    /// A Boolean value that indicates whether there are readers, or tasks that wait for the file.
    var hasReaders: Bool { state.withLock { $0.readerCount > 0 } }

    /// Begins to receive the file; readers of an earlier attempt fail.
    ///
    /// - Parameters:
    ///   - length: The length of the file; `nil` if it is unknown.
    ///   - written: The number of bytes that an earlier reception wrote.
    package func begin(length: Int64?, written: Int64) {
        state.withLock { state in
            state.attempt += 1
            state.phase = .receiving(attempt: state.attempt, length: length, written: written)
            if let claim = state.claim { claim.claims.setReceiving(true, claim.file) }
        }
        changes.notify()
    }

    /// Holds a claim on the file until the reception ends.
    func hold(_ claims: ReceptionClaims, _ file: ClaimedFile) { state.withLock { $0.claim = (claims, file) } }

    /// Follows the reception by another process.
    ///
    /// - Parameter part: The file that it writes and the number of bytes in it; `nil` if it has not begun to write.
    func follow(_ part: (file: FileIdentity?, written: Int64)?) {
        guard let part else {
            if phase != .waiting { interrupt() }
            return
        }
        let isSameFile = state.withLock { state in
            defer { state.followed = part.file ?? state.followed }
            return part.file == nil || state.followed == nil || state.followed == part.file
        }
        if isSameFile, case .receiving(_, _, let before) = phase, before <= part.written {
            if before < part.written { setWritten(part.written) }
        } else {
            begin(length: nil, written: part.written)
        }
    }

    /// Records the number of bytes in the file.
    package func setWritten(_ count: Int64) {
        state.withLock { state in
            guard case .receiving(let attempt, let length, _) = state.phase else { return }
            state.phase = .receiving(attempt: attempt, length: length, written: count)
        }
        changes.notify()
    }

    /// Makes the readers fail until the file is received anew.
    package func interrupt() {
        state.withLock { state in
            state.phase = .waiting
            if let claim = state.claim { claim.claims.setReceiving(false, claim.file) }
        }
        changes.notify()
    }

    /// Ends the reception.
    func end(_ phase: Phase) {
        state.withLock { state in
            state.phase = phase
            if let claim = state.claim { claim.claims.release(claim.file) }
            state.claim = nil
        }
        changes.notify()
    }

    /// Waits until the response has begun or the reception has ended.
    ///
    /// - Throws: `CancellationError`.
    package func waitForResponse() async throws -> Phase { try await wait { $0 != .waiting } }

    /// Waits until the reception has ended.
    ///
    /// - Throws: `CancellationError`.
    package func waitForEnd() async throws -> Phase {
        try await wait { phase in
            switch phase {
            case .waiting, .receiving: false
            case .stored, .failed: true
            }
        }
    }

    /// Sets a closure that is called when the last reader leaves.
    func whenUnused(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenUnused = body } }

    fileprivate func addReader() { state.withLock { $0.readerCount += 1 } }

    fileprivate func removeReader() {
        let unused = state.withLock { state in
            state.readerCount -= 1
            return state.readerCount == 0 ? state.whenUnused : nil
        }
        unused?()
    }

    func wait(until condition: (Phase) -> Bool) async throws -> Phase {
        while true {
            let seen = changes.count
            let phase = phase
            if condition(phase) { return phase }
            try Task.checkCancellation()
            await changes.wait(after: seen)
        }
    }
}

/// A reference of a reader, or of a task that waits for the file, to a reception.
///
/// A transfer that a player has begun is canceled when the last such reference is released.
package final class ReceptionReader: Sendable {
    private let reception: FileReception

    /// Creates a reader of a reception.
    package init(_ reception: FileReception) {
        self.reception = reception
        reception.addReader()
    }

    deinit { reception.removeReader() }
}

/// The files of a library that this process is receiving, so that a player and a download share the transfer of a file.
package final class ReceptionRegistry: Sendable {
    /// The receptions by the paths of their files.
    private let receptions = Mutex<[String: FileReception]>([:])

    /// Returns the reception of a file, which is new if `isOwner` is true; its owner must end it.
    func reception(path: String) -> (reception: FileReception, isOwner: Bool) {
        receptions.withLock { receptions in
            if let known = receptions[path] { return (known, false) }
            let reception = FileReception(path)
            receptions[path] = reception
            return (reception, true)
        }
    }

    /// Ends the reception of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - length: The length of the stored file; `nil` if it was not stored.
    func end(path: String, length: Int64?) {
        let reception = receptions.withLock { $0.removeValue(forKey: path) }
        reception?.end(length.map { .stored(length: $0) } ?? .failed)
    }
}

extension AssetLibrary {
    /// Returns the reception of a file by this process, which is new if `isOwner` is true; its owner must end it with
    /// ``endReception(of:_:length:)``.
    package func reception(of resource: StoredResource, _ id: String) -> (reception: FileReception, isOwner: Bool) {
        receptions.reception(path: path(of: resource, id))
    }

    /// Ends the reception of a file that the caller owns.
    package func endReception(of resource: StoredResource, _ id: String, length: Int64?) {
        receptions.end(path: path(of: resource, id), length: length)
    }

    private func path(of resource: StoredResource, _ id: String) -> String {
        "\(packagePath(id))/\(resource.path)"
    }
}

/// The bytes of a file that is being received, read from the disk as they arrive.
struct FollowedBuffers: AsyncSequence, Sendable {
    let reception: FileReception
    let attempt: Int
    let offset: Int64
    let address: ResourceAddress
    /// The reference that keeps the transfer from being canceled.
    let reader: ReceptionReader
    let activity: PlaybackActivity

    /// The maximum number of bytes in a buffer.
    private static let bufferSize: Int64 = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffers: FollowedBuffers
        var position: Int64
        var file: ReadableFile?

        mutating func next() async throws -> ByteBuffer? {
            let (attempt, position) = (buffers.attempt, position)
            let phase = try await nextPhase()
            let available: Int64
            switch phase {
            case .receiving(attempt, _, let written): available = written
            case .stored(let length):
                guard length > position else { return nil }
                available = length
            case .waiting, .receiving, .failed:
                // The reader repeats its request, which is then sent to the origin or joins the next transfer.
                throw TransportError(.connectionLost, "the transfer of the file was stopped", address: buffers.address)
            }
            let count = Swift.min(available -| position, FollowedBuffers.bufferSize)
            // The file exists when its first bytes are written, and is renamed when it is stored.
            let path = buffers.reception.path
            guard let file = file ?? ReadableFile(path + PackageFile.partialExtension) ?? ReadableFile(path) else {
                throw TransportError(.connectionLost, "the file was removed", address: buffers.address)
            }
            self.file = file
            let bytes = try await BlockingOperation.run { try file.read(count, at: position) }
            self.position +|= Int64(bytes.readableBytes)
            return bytes
        }

        /// Waits until there are bytes that have not been read, or no more.
        private func nextPhase() async throws -> FileReception.Phase {
            let (attempt, position) = (buffers.attempt, position)
            let wait = buffers.activity.begin(for: buffers.reception)
            defer { buffers.activity.end(wait) }
            return try await buffers.reception.wait { phase in
                guard case .receiving(attempt, _, let written) = phase else { return true }
                return written > position
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffers: self, position: offset) }
}

/// A file that stays readable while it is written, renamed or removed.
final class ReadableFile: Sendable {
    private let descriptor: CInt

    /// Creates an instance that opens a file; `nil` if it cannot be read.
    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Reads bytes that are known to be in the file.
    ///
    /// - Throws: ``StorageError`` if the file is shorter.
    func read(_ count: Int64, at position: Int64) throws -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: Int(clamping: count))
        let read = buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Int(clamping: count)) { memory in
            Swift.max(0, pread(descriptor, memory.baseAddress, Int(clamping: count), off_t(position)))
        }
        guard read > 0 else { throw StorageError(.damaged, "a file of the package is shorter than expected") }
        return buffer
    }
}

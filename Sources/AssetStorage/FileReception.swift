import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import NIOPosix
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

    private let state = Mutex((phase: Phase.waiting, attempt: 0))
    private let changes = Broadcast()
    /// The path of the file when it is stored.
    let path: String

    init(_ path: String) { self.path = path }

    /// The state.
    package var phase: Phase { state.withLock { $0.phase } }

    /// Begins to receive the file; readers of an earlier attempt fail.
    ///
    /// - Parameters:
    ///   - length: The length of the file; `nil` if it is unknown.
    ///   - written: The number of bytes that an earlier reception wrote.
    package func begin(length: Int64?, written: Int64) {
        state.withLock { state in
            state.attempt += 1
            state.phase = .receiving(attempt: state.attempt, length: length, written: written)
        }
        changes.notify()
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
        state.withLock { $0.phase = .waiting }
        changes.notify()
    }

    /// Ends the reception.
    func end(_ phase: Phase) {
        state.withLock { $0.phase = phase }
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

/// The files of a library that this process is receiving, so that a player and a download share the transfer of a file.
package final class ReceptionRegistry: Sendable {
    private struct State {
        /// The receptions by the paths of their files.
        var receptions: [String: FileReception] = [:]
        /// The sizes of the files that players stored, by the identifiers of the files.
        var storedByPlayers: [Int64: Int64] = [:]
    }

    private let state = Mutex(State())

    /// Returns the reception of a file, which is new if `isOwner` is true; its owner must end it.
    func reception(of resource: StoredResource, path: String) -> (reception: FileReception, isOwner: Bool) {
        state.withLock { state in
            if let known = state.receptions[path] { return (known, false) }
            let reception = FileReception(path)
            state.receptions[path] = reception
            return (reception, true)
        }
    }

    /// Ends the reception of a file.
    ///
    /// - Parameters:
    ///   - resource: The file.
    ///   - path: The path of the file.
    ///   - length: The length of the stored file; `nil` if it was not stored.
    ///   - isPlayer: Whether a player received it.
    func end(_ resource: StoredResource, path: String, length: Int64?, isPlayer: Bool) {
        let reception = state.withLock { state in
            if isPlayer, let length { state.storedByPlayers[resource.id] = length }
            return state.receptions.removeValue(forKey: path)
        }
        reception?.end(length.map { .stored(length: $0) } ?? .failed)
    }

    /// Returns the length of a file that a player stored; `nil` if none did.
    func lengthStoredByPlayer(_ resource: StoredResource) -> Int64? {
        state.withLock { $0.storedByPlayers[resource.id] }
    }
}

extension AssetLibrary {
    /// Returns the reception of a file by this process, which is new if `isOwner` is true; its owner must end it with
    /// ``endReception(of:_:length:isPlayer:)``.
    package func reception(of resource: StoredResource, _ id: String) -> (reception: FileReception, isOwner: Bool) {
        receptions.reception(of: resource, path: path(of: resource, id))
    }

    /// Ends the reception of a file that the caller owns.
    package func endReception(of resource: StoredResource, _ id: String, length: Int64?, isPlayer: Bool = false) {
        receptions.end(resource, path: path(of: resource, id), length: length, isPlayer: isPlayer)
    }

    private func path(of resource: StoredResource, _ id: String) -> String {
        "\(packageDirectory(id).path)/\(resource.path)"
    }

    /// Returns the length of a file that a player of this process stored; `nil` if none did.
    package func lengthStoredByPlayer(_ resource: StoredResource) -> Int64? {
        receptions.lengthStoredByPlayer(resource)
    }
}

/// The bytes of a file that is being received, read from the disk as they arrive.
struct FollowedBuffers: AsyncSequence, Sendable {
    let reception: FileReception
    let attempt: Int
    let offset: Int64
    let address: ResourceAddress

    /// The maximum number of bytes in a buffer.
    private static let bufferSize: Int64 = 256 << 10

    struct AsyncIterator: AsyncIteratorProtocol {
        let buffers: FollowedBuffers
        var position: Int64
        var file: ReadableFile?

        mutating func next() async throws -> ByteBuffer? {
            let (attempt, position) = (buffers.attempt, position)
            let phase = try await buffers.reception.wait { phase in
                guard case .receiving(attempt, _, let written) = phase else { return true }
                return written > position
            }
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
            let bytes = try await NIOThreadPool.singleton.runIfActive { try file.read(count, at: position) }
            self.position +|= Int64(bytes.readableBytes)
            return bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(buffers: self, position: offset) }
}

/// A file that stays readable while it is written, renamed or removed.
final class ReadableFile: Sendable {
    private let descriptor: CInt

    /// Opens a file; `nil` if it cannot be read.
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

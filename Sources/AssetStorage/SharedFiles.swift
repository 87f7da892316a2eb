import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import NIOPosix
import ResourceAddressing

/// The files of a package for a player: stored ones from the disk, and others from the origin, from where they are stored
/// while they are played.
///
/// A file that this process is already receiving is not requested again.
struct SharedFiles: Sendable {
    let library: AssetLibrary
    let id: String
    let files: any Transport
    let origin: any Transport

    /// The maximum size of a file that is stored while it is played; a larger one is only played.
    fileprivate static let maximumFileSize: Int64 = 1 << 30
    /// The free space that is left on the disk.
    private static let minimumFreeSpace: Int64 = 256 << 20

    /// Returns the response for a file that is not stored.
    func response(for resource: StoredResource, to request: TransportRequest) async throws -> TransportResponse {
        var original = TransportRequest(resource.address, kind: request.kind, byteRange: resource.byteRange)
        original.resumption = request.resumption
        while true {
            let (reception, isOwner) = library.reception(of: resource, id)
            if isOwner {
                switch library.claim(reception, of: resource, id) {
                case .granted: return try await receive(resource, original, reception)
                case .stored(let length):
                    library.endReception(of: resource, id, length: length)
                    return try await stored(resource, original)
                case .receivedElsewhere: follow(reception, of: resource)
                }
            }
            let phase = try await reception.waitForResponse()
            switch phase {
            case .receiving(let attempt, let length, _):
                let offset = original.resumption?.offset ?? 0
                let buffers = FollowedBuffers(
                    reception: reception,
                    attempt: attempt,
                    offset: offset,
                    address: resource.address
                )
                return TransportResponse(
                    status: offset > 0 ? 206 : 200,
                    headers: [],
                    address: resource.address,
                    expectedLength: length.map { max(0, $0 -| offset) },
                    body: TransportBody(buffers)
                )
            case .stored: return try await stored(resource, original)
            case .waiting, .failed: continue
            }
        }
    }

    /// Makes the bytes readable that another process receives.
    private func follow(_ reception: FileReception, of resource: StoredResource) {
        Task { [library, id] in
            // If the other process stops, the readers repeat their requests, and one of them receives the file.
            let claim = try await library.follow(reception, of: resource, id)
            if case .stored(let length) = claim {
                library.endReception(of: resource, id, length: length)
            } else {
                library.endReception(of: resource, id, length: nil)
            }
        }
    }

    /// Returns the response for a stored file.
    func stored(_ resource: StoredResource, _ request: TransportRequest) async throws -> TransportResponse {
        let path = "\(library.packageDirectory(id).path)/\(resource.path)"
        var local = TransportRequest(ResourceAddress(filePath: path), kind: request.kind)
        local.resumption = request.resumption
        let response = try await files.send(local)
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: request.address,
            expectedLength: response.expectedLength,
            body: response.body,
            record: response.record
        )
    }

    private var hasSpace: Bool {
        library.freeSpace.map { $0.bytes >= Self.minimumFreeSpace +| Self.maximumFileSize } ?? true
    }

    /// Requests a file from the origin and stores it while it is read.
    private func receive(
        _ resource: StoredResource,
        _ request: TransportRequest,
        _ reception: FileReception
    ) async throws -> TransportResponse {
        // The package is not locked: a download of another process leaves the files out that this one has claimed.
        let storing = StoredReception(library, id, resource, reception)
        guard library.isWritable, hasSpace, request.resumption == nil else {
            storing.abandon()
            return try await origin.send(request)
        }
        let response = try await origin.send(request)
        // The body of an error is not the file.
        guard response.status == (resource.byteRange == nil ? 200 : 206) else {
            storing.abandon()
            return response
        }
        storing.removeEarlierBytes()
        reception.begin(length: response.expectedLength, written: 0)
        storing.validator = response.resumptionValidator
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: response.address,
            expectedLength: response.expectedLength,
            body: TransportBody(StoringReceptionBuffers(body: response.body, storing: storing)),
            record: response.record
        )
    }
}

/// A file that a player receives and that is stored at the same time; if the player stops reading, the received bytes are
/// kept so that the transfer can be continued.
private final class StoredReception: @unchecked Sendable {
    // Safe: the single reader of the body uses it, and waits for each write before the next.
    private let library: AssetLibrary
    private let id: String
    private let resource: StoredResource
    private let reception: FileReception
    private let file: PackageFile
    var validator: String?
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

    /// Removes the bytes of an earlier transfer.
    func removeEarlierBytes() { file.removeEarlierBytes() }

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

    private func stopStoring() {
        file.discard()
        end(nil)
    }

    /// Stores the file, whose bytes have all been received.
    func finish() {
        guard !isEnded else { return }
        do {
            let isWhole = resource.byteRange.map { $0.length == file.count } ?? true
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
            if let validator { file.keep(validator, of: resource) } else { file.discard() }
        }
        end(nil)
    }

    private func end(_ length: Int64?) {
        isEnded = true
        library.endReception(of: resource, id, length: length)
    }
}

/// A body whose bytes are stored as they are read.
private struct StoringReceptionBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let storing: StoredReception

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        let storing: StoredReception

        mutating func next() async throws -> ByteBuffer? {
            let storing = storing
            do {
                guard let buffer = try await iterator.next() else {
                    try await NIOThreadPool.singleton.runIfActive { storing.finish() }
                    return nil
                }
                try await NIOThreadPool.singleton.runIfActive { storing.write(buffer) }
                return buffer
            } catch {
                storing.abandon()
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(iterator: body.makeAsyncIterator(), storing: storing) }
}

import Foundation
import MediaTiming
import MediaTransport
import NIOCore
import PresentationLoading
import ResourceAddressing

/// The files of a package for a player: stored ones from the disk, and others from the origin, from where they are stored
/// while they are played.
///
/// A file that this process is already receiving is not requested again.
struct SharedFiles: Sendable {
    let library: AssetLibrary
    let id: String
    let files: any Transport
    /// The transport for what is not stored; a part of a WebVTT file arrives without the other cues.
    private let origin: any Transport

    /// The maximum size of a file that is stored while it is played; a larger one is only played.
    static let maximumFileSize: Int64 = 1 << 30
    /// The free space that is left on the disk.
    private static let minimumFreeSpace: Int64 = 256 << 20

    init(library: AssetLibrary, id: String, files: any Transport, origin: any Transport) {
        self.library = library
        self.id = id
        self.files = files
        // The player repeats failed requests.
        self.origin = ClippedSubtitles(base: origin, policy: RecoveryPolicy(retries: 0))
    }

    /// Returns the response for a file that is not stored.
    func response(for resource: StoredResource, to request: TransportRequest) async throws -> TransportResponse {
        let kind = resource.kind == .subtitle ? .subtitle : request.kind
        var original = TransportRequest(resource.address, kind: kind, byteRange: resource.byteRange)
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
            let reader = ReceptionReader(reception)
            let phase = try await response(of: reception)
            switch phase {
            case .receiving(let attempt, let length, _):
                let offset = original.resumption?.offset ?? 0
                let buffers = FollowedBuffers(
                    reception: reception,
                    attempt: attempt,
                    offset: offset,
                    address: resource.address,
                    reader: reader,
                    activity: library.playback
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

    /// Waits until the response of a reception has begun, or the reception has ended.
    private func response(of reception: FileReception) async throws -> FileReception.Phase {
        let wait = library.playback.begin(for: reception)
        defer { library.playback.end(wait) }
        return try await reception.waitForResponse()
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
        let path = "\(library.packagePath(id))/\(resource.path)"
        // A stored byte range is an entire file.
        let byteRange = resource.byteRange == nil ? request.byteRange : nil
        var local = TransportRequest(ResourceAddress(filePath: path), kind: request.kind, byteRange: byteRange)
        local.resumption = request.resumption
        let response = try await files.send(local)
        // The speed of the disk is not that of the network.
        response.record.update { $0.isFromCache = true }
        return TransportResponse(
            status: response.status,
            headers: response.headers,
            address: request.address,
            expectedLength: response.expectedLength,
            body: response.body,
            record: response.record
        )
    }

    /// Returns a Boolean value that indicates whether a file of a size can be stored; `nil` if the size is unknown.
    private func hasSpace(for size: Int64?) -> Bool {
        let size = size ?? Self.maximumFileSize
        guard size <= Self.maximumFileSize else { return false }
        return library.freeSpace.map { $0.bytes >= Self.minimumFreeSpace +| size } ?? true
    }

    /// Requests a file from the origin and stores it while it is read.
    private func receive(
        _ resource: StoredResource,
        _ request: TransportRequest,
        _ reception: FileReception
    ) async throws -> TransportResponse {
        // The package is not locked: a download of another process leaves the files out that this one has claimed.
        let storing = StoredReception(library, id, resource, reception)
        guard library.isWritable, library.hasFolder(of: resource, id), request.resumption == nil,
            hasSpace(for: resource.byteRange?.length ?? 0)
        else {
            storing.abandon()
            return try await origin.send(request)
        }
        let (response, offset, version) = try await continuedResponse(to: request, storing)
        // The body of an error is not the file.
        guard response.status == (resource.byteRange == nil && offset == 0 ? 200 : 206) else {
            storing.abandon()
            return response
        }
        // The rest of an unfinished file is a part of what was announced before.
        guard offset > 0 || hasSpace(for: response.expectedLength) else {
            storing.abandon()
            return response
        }
        if offset == 0 { storing.removeEarlierBytes() }
        let length = response.expectedLength.map { $0 +| offset }
        reception.begin(length: length, written: offset)
        (storing.version, storing.length) = (version, length)
        // The transfer ends with its last reader, of which this is the first.
        let reader = ReceptionReader(reception)
        let transfer = SharedTransfer(response.body, storing, executor: origin.executor)
        return TransportResponse(
            status: resource.byteRange == nil ? 200 : 206,
            headers: response.headers.filter { $0.name.lowercased() != "content-range" },
            address: response.address,
            expectedLength: length,
            body: TransportBody(SharedTransferBuffers(transfer: transfer, reader: reader)),
            record: response.record
        )
    }

    /// Requests a file, or only what an earlier transfer has not received if the resource is unchanged.
    ///
    /// - Returns: The response, the number of bytes that the unfinished file already has, and the version of the resource.
    private func continuedResponse(
        to request: TransportRequest,
        _ storing: StoredReception
    ) async throws -> (TransportResponse, offset: Int64, ResourceVersion?) {
        guard let resumption = try await BlockingOperation.run({ storing.continueUnfinished() }) else {
            let response = try await origin.send(request)
            return (response, 0, ResourceVersion(response, to: request))
        }
        var rest = request
        rest.resumption = resumption
        do {
            let response = try await origin.send(rest)
            return (response, resumption.offset, ResourceVersion(response, to: rest))
        } catch let error as TransportError where error.mayBeCausedByResumption {
            storing.restart()
            let response = try await origin.send(request)
            return (response, 0, ResourceVersion(response, to: request))
        }
    }
}

import AssetStorage
import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing

/// The transfer of one file of a download from the server to the disk.
///
/// The bytes that were received when a transfer is stopped stay on the disk, and the next transfer of the file continues
/// after them if the server confirms with a validator that the resource is unchanged (RFC 9110 §13.1.5).
struct FileTransfer: Sendable {
    let resource: StoredResource
    let assetID: String
    let library: AssetLibrary
    let loader: ResourceLoader
    let commits: CommitQueue
    let meter: ProgressMeter
    let budget: DownloadBudget
    let limiter: RateLimiter?
    /// A Boolean value that indicates whether the transfer leaves the network to players that wait for media of the library.
    let yieldsToPlayback: Bool
    let time: any TimeSource
    /// The check of the keys of encrypted segments; `nil` for none.
    var verification: KeyVerification?

    /// The number of bytes that are collected before they are written on another thread.
    private static let writeSize = 256 << 10
    /// The size below which received buffers are joined, so that many small ones are no more writes than a large one.
    private static let joinedSize = 32 << 10
    /// The maximum time for which bytes are collected, so that a process that is killed loses little.
    private static let writeInterval = Duration.milliseconds(500)
    /// The duration of a transfer after which it is noted that a later process can continue it.
    ///
    /// A shorter one is sooner repeated than noted.
    private static let noteDelay = Duration.seconds(1)

    /// The size of a file above which its transfer does not end for players, because its bytes are read again to continue it.
    private static let maximumContinuedSize: Int64 = 64 << 20

    /// The source of the bytes of a file.
    private enum ByteSource {
        /// A stored file.
        case storedFile
        /// A server; `canContinue` indicates whether another request can continue the transfer.
        case server(canContinue: Bool)
    }

    /// A file whose bytes were received, but which is not stored yet.
    struct ReceivedFile: Sendable {
        let file: PackageFile
        /// The identifier with which its bytes count as progress; `nil` for a copy of bytes that are stored already.
        let progressID: Int?
    }

    /// The result of ``receive()``.
    enum Reception: Sendable {
        /// All bytes were received; ``FileTransfer/store(_:)`` stores the file.
        case received(ReceivedFile)
        /// A player, or another process, that was receiving the file has stored it.
        case stored
    }

    /// Receives the file and stores it; waits instead if a player or another process is receiving it.
    func run() async throws {
        if case .received(let file) = try await receive() { try await store(file) }
    }

    /// Receives the file, but does not store it yet; waits instead if a player or another process is receiving it.
    func receive() async throws -> Reception {
        while true {
            let (reception, isOwner) = library.reception(of: resource, assetID)
            guard isOwner else {
                let reader = ReceptionReader(reception)
                _ = try await reception.waitForEnd()
                withExtendedLifetime(reader) {}
                continue
            }
            do {
                var claim = library.claim(reception, of: resource, assetID)
                if claim == .receivedElsewhere {
                    claim = try await library.follow(reception, of: resource, assetID)
                }
                if case .stored(let length) = claim {
                    library.endReception(of: resource, assetID, length: length)
                    meter.addStoredFile(resource, bytes: ByteCount(length))
                    return .stored
                }
                return .received(try await receive(reception))
            } catch {
                library.endReception(of: resource, assetID, length: nil)
                throw error
            }
        }
    }

    /// Synchronizes a received file to the disk and commits it to the catalog.
    func store(_ received: ReceivedFile) async throws {
        let file = received.file
        do {
            try await commits.commit(file, as: resource)
        } catch {
            file.discard()
            received.progressID.map { meter.endFile($0) }
            library.endReception(of: resource, assetID, length: nil)
            throw error
        }
        meter.addStoredFile(resource, bytes: ByteCount(file.count), replacing: received.progressID)
        library.endReception(of: resource, assetID, length: file.count)
    }

    private func receive(_ reception: FileReception) async throws -> ReceivedFile {
        var request = TransportRequest(
            resource.address,
            kind: TransportRequest.Kind(resource.kind),
            byteRange: resource.byteRange
        )
        if resource.isDeferred, resource.byteRange != nil,
            let path = library.storedFile(at: resource.address, of: assetID),
            let file = try await copy(resource.byteRange, from: path, reception)
        {
            return ReceivedFile(file: file, progressID: nil)
        }
        if resource.isSharedByPlaylists, let path = library.storedCopy(of: resource),
            let file = try await copy(nil, from: path, reception)
        {
            return ReceivedFile(file: file, progressID: nil)
        }
        let requestID = meter.beginRequest(resource.address.lastPathComponent)
        defer { meter.endRequest(requestID) }
        var precedence = makePrecedence(reception)
        var canContinue = true
        while true {
            if precedence != nil {
                meter.setWaiting(true, requestID)
                defer { meter.setWaiting(false, requestID) }
                try await precedence?.waitBeforeRequest()
            }
            let unfinished = library.makePackageFile(for: resource, of: assetID)
            if unfinished.isUnfinished {
                request.resumption = try await BlockingOperation.run { [resource] in
                    unfinished.resumption(of: resource)
                }
            }
            do {
                return try await receive(request, reception, canContinue: canContinue)
            } catch let error as TransportError where request.resumption != nil && error.mayBeCausedByResumption {
                // The server does not send the rest, so the next transfer is not interrupted.
                canContinue = false
                request.resumption = nil
                library.makePackageFile(for: resource, of: assetID).discardUnfinished()
            } catch is PlaybackPrecedence.Interruption {
                // The next request continues after the received bytes.
            }
        }
    }

    /// Copies a file that is stored already, or a range of it; returns `nil` if it cannot be read or does not have the range.
    private func copy(
        _ range: ByteRange?,
        from path: String,
        _ reception: FileReception
    ) async throws -> PackageFile? {
        guard let length = range?.length ?? FileInspection.size(path), length <= Self.maximumCopySize else {
            return nil
        }
        // Nothing is deleted for a file that is refused in any case.
        try budget.checkAssetSize(adding: length)
        var space = try await budget.reserveSpace(for: length)
        defer { budget.endReservation(space) }
        let response: TransportResponse
        do {
            let request = TransportRequest(
                ResourceAddress(filePath: path),
                kind: TransportRequest.Kind(resource.kind),
                byteRange: range
            )
            response = try await FileTransport().send(request)
        } catch is TransportError {
            return nil
        }
        let file = library.makePackageFile(for: resource, of: assetID)
        file.removeEarlierBytes()
        reception.begin(length: length, written: 0)
        var counted: Int64 = 0
        do {
            try budget.addBytes(length)
            counted = length
            try await write(response, nil, to: file, reception, from: .storedFile, counting: { _ in }) { count, _ in
                try await budget.useSpace(count, of: &space)
            }
        } catch {
            budget.subtractBytes(counted)
            reception.interrupt()
            file.discard()
            throw error
        }
        return file
    }

    /// The maximum size of a file that is copied from a stored one.
    private static let maximumCopySize: Int64 = 256 << 20

    private func makePrecedence(_ reception: FileReception) -> PlaybackPrecedence? {
        yieldsToPlayback ? PlaybackPrecedence(reception, in: library, time: time) : nil
    }

    /// Receives the response to a request; another request may continue the transfer only if `canContinue` is true.
    private func receive(
        _ request: TransportRequest,
        _ reception: FileReception,
        canContinue: Bool
    ) async throws -> ReceivedFile {
        try await loader.send(request, onRetry: { _, _ in meter.addRecoverableError() }) { response in
            let offset = request.resumption?.offset ?? 0
            let announced = response.expectedLength.map { $0 +| offset }
            // Nothing is deleted for a file that is refused in any case.
            if let announced { try budget.checkSize(announced, of: resource, at: response.address) }
            var space = try await budget.reserveSpace(for: response.expectedLength)
            defer { budget.endReservation(space) }
            try budget.checkBeforeWriting(resource, announced: announced, at: response.address)
            let file = library.makePackageFile(for: resource, of: assetID)
            let version = ResourceVersion(response, to: request)
            // Received bytes count as progress until the file is stored or abandoned.
            let fileID = meter.beginFile(resource.path, containing: offset)
            var isReceived = false
            defer { if !isReceived { meter.endFile(fileID) } }
            try budget.addBytes(offset)
            var received = offset
            var counted = offset
            do {
                if offset > 0 {
                    try await BlockingOperation.run { try file.continueUnfinished(at: offset) }
                } else {
                    file.removeEarlierBytes()
                }
                // Only from now on are the bytes on the disk those that are received.
                reception.begin(length: announced, written: offset)
                let source = ByteSource.server(canContinue: canContinue && response.canBeContinued(after: request))
                let counting: (Int) -> Void = { meter.countBytes($0) }
                try await write(
                    response,
                    version,
                    to: file,
                    reception,
                    from: source,
                    counting: counting
                ) { count, skippedCount in
                    received +|= count
                    try budget.check(received, of: resource, at: response.address)
                    try await budget.useSpace(count, of: &space)
                    try budget.addBytes(count +| skippedCount)
                    counted +|= count +| skippedCount
                    meter.addUncountedBytes(Int(clamping: count), to: fileID)
                }
            } catch {
                budget.subtractBytes(counted)
                reception.interrupt()
                abandon(file, version, after: error)
                if file.isUnfinished { meter.addUnfinishedFile(resource.path, bytes: file.count) }
                throw error
            }
            isReceived = true
            return ReceivedFile(file: file, progressID: fileID)
        }
    }

    /// Keeps the received bytes of a transfer that can be continued, and removes those of any other.
    private func abandon(_ file: PackageFile, _ version: ResourceVersion?, after error: any Error) {
        // This is not done on another thread, because the thread pool would not run it after a cancellation.
        let isIntact =
            error is CancellationError || error is PlaybackPrecedence.Interruption || error.isLossOfConnection
        guard let version, isIntact else { return file.discard() }
        file.keep(version, of: resource)
    }

    private func write(
        _ response: TransportResponse,
        _ version: ResourceVersion?,
        to file: PackageFile,
        _ reception: FileReception,
        from source: ByteSource,
        counting: (_ count: Int) -> Void,
        received: (_ count: Int64, _ skippedCount: Int64) async throws -> Void
    ) async throws {
        // Large buffers are written one after the other: to join them would copy every byte.
        var pending: [ByteBuffer] = []
        var pendingSize = 0
        let begun = time.now
        var (written, lastNoted) = (begun, begun)
        var skipped: Int64 = 0
        var precedence: PlaybackPrecedence?
        if case .server = source { precedence = makePrecedence(reception) }
        do {
            for try await buffer in response.body {
                // Bytes before the range were received, although they are not a part of the file.
                let skippedCount = max(0, response.record.measurement.skippedBytes.bytes -| skipped)
                skipped +|= skippedCount
                try await received(Int64(clamping: buffer.readableBytes), skippedCount)
                pendingSize +|= buffer.readableBytes
                if buffer.readableBytes == 0 {
                    // There is nothing to write.
                } else if let last = pending.indices.last,
                    max(pending[last].readableBytes, buffer.readableBytes) < Self.joinedSize
                {
                    pending[last].writeImmutableBuffer(buffer)
                } else {
                    pending.append(buffer)
                }
                // A cancellation ends the wait; what was received is kept.
                if case .server(let canContinue) = source {
                    try await waitForLimit(buffer.readableBytes, Int(clamping: skippedCount), counting: counting)
                    try await precedence?.leaveNetwork(
                        canContinue: canContinue && file.count <= Self.maximumContinuedSize
                    )
                }
                let now = time.now
                guard pendingSize >= Self.writeSize || now - written >= Self.writeInterval else { continue }
                written = now
                let full = pending
                let isDue = now - begun >= Self.noteDelay && now - lastNoted >= Self.writeInterval
                let noted = isDue ? version : nil
                if isDue { lastNoted = now }
                try await BlockingOperation.run { [resource] in
                    try file.write(full)
                    reception.setWritten(file.count)
                    if let noted { file.note(noted, of: resource) }
                }
                // A canceled task does not begin to write; its bytes are still pending then.
                (pending, pendingSize) = ([], 0)
            }
        } catch {
            // The bytes were received, so they are kept with the others.
            try? file.write(pending)
            throw error
        }
        let rest = pending
        try await BlockingOperation.run { [self] in
            try file.write(rest)
            try check(file.count, response)
            if resource.kind == .initialization { try checkProtection(of: file, response) }
            try verification?.check(file, of: resource)
            reception.setWritten(file.count)
        }
    }

    /// Counts received bytes, and waits until more bytes may be received.
    ///
    /// - Parameters:
    ///   - count: The number of bytes of the file.
    ///   - skippedCount: The number of bytes that are not a part of the file.
    ///   - counting: A function that counts bytes.
    /// - Throws: `CancellationError` as soon as the task is canceled.
    private func waitForLimit(_ count: Int, _ skippedCount: Int, counting: (_ count: Int) -> Void) async throws {
        guard let limiter else { return counting(count) }
        try await limiter.waitAfterReceiving(count, counting: counting)
        if skippedCount > 0 { try await limiter.waitAfterReceiving(skippedCount) }
    }

    /// The maximum size of an initialization section that is checked for protection.
    private static let maximumInitializationSize = ProtectedMedia.maximumInitializationSize

    /// Verifies that media whose playlist names no key is not encrypted, because it could never be played.
    private func checkProtection(of file: PackageFile, _ response: TransportResponse) throws {
        guard let bytes = file.unfinishedBytes(upTo: Self.maximumInitializationSize),
            let scheme = ProtectedMedia.scheme(ofInitialization: bytes), try !library.mayNameKeys(resource)
        else { return }
        throw DownloadError(
            .contentProtected,
            "the content is protected (\(scheme)), and its playlist names no key",
            address: response.address
        )
    }

    private func check(_ count: Int64, _ response: TransportResponse) throws {
        if let range = resource.byteRange, count != range.length {
            throw TransportError(
                .wrongContent,
                "the server sent \(count) bytes instead of the requested \(range.length)",
                address: response.address
            )
        }
        if let size = resource.kind.keySize, count != size {
            throw TransportError(
                .wrongContent,
                "the key has \(count) bytes instead of \(size)",
                address: response.address
            )
        }
    }
}

extension PackageFile {
    /// Appends the bytes of buffers to the file; without buffers, it only creates the file.
    fileprivate func write(_ buffers: [ByteBuffer]) throws {
        if buffers.isEmpty { try write(UnsafeRawBufferPointer(start: nil, count: 0)) }
        for buffer in buffers { try buffer.withUnsafeReadableBytes { try write($0) } }
    }
}

extension TransportRequest.Kind {
    init(_ kind: StoredResource.Kind) {
        self =
            switch kind {
            case .segment: .segment
            case .initialization: .initialization
            case .key, .longKey: .key
            case .subtitle: .subtitle
            }
    }
}

extension Error {
    /// A Boolean value that indicates whether the bytes that were received before the error are intact.
    fileprivate var isLossOfConnection: Bool {
        guard let error = self as? TransportError else { return false }
        return [.connectionLost, .timedOut, .cannotConnect].contains(error.code)
    }
}

extension TransportResponse {
    /// Returns a Boolean value that indicates whether the server probably sends the rest of the resource after an interruption.
    ///
    /// A server that sends more than the request asks for would send everything again.
    fileprivate func canBeContinued(after request: TransportRequest) -> Bool {
        guard resumptionValidator != nil else { return false }
        return status == 206 || request.resumption == nil && request.byteRange == nil
    }
}

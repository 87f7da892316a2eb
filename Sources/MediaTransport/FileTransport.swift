import Foundation
public import MediaTiming
import NIOCore
import ResourceAddressing

/// A transport that reads local files through `file` URLs.
public struct FileTransport: Transport {
    private static let chunkSize = 256 * 1024
    private let time: any TimeSource

    /// Creates a transport.
    public init(time: any TimeSource = SystemTimeSource()) { self.time = time }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let path = request.address.filePath else {
            throw TransportError(.addressRefused, "the URL is not a file URL", address: request.address)
        }
        let address = request.address
        let begun = time.now
        let (handle, size) = try await BlockingOperation.run { try Self.open(path, address) }
        let range = request.byteRange ?? ByteRange(start: 0, length: size)
        let offset = request.resumption?.offset ?? 0
        guard let range, range.end <= size, offset <= range.length,
            let rest = ByteRange(start: range.start +| offset, length: range.length -| offset)
        else {
            throw TransportError(
                .wrongContent,
                "the requested byte range exceeds the file size of \(size) bytes",
                address: address
            )
        }
        let record = TransferRecord(TransferMeasurement(requestStart: begun))
        let chunks = FileChunks(handle: handle, range: rest, chunkSize: Self.chunkSize, address: address)
        record.update { $0.timeToFirstByte = time.now - begun }
        return TransportResponse(
            status: rest.length == size ? 200 : 206,
            headers: [],
            address: address,
            expectedLength: rest.length,
            body: TransportBody(chunks).measured(by: record, time),
            record: record
        )
    }

    private static func open(_ path: String, _ address: ResourceAddress) throws -> (OpenFile, Int64) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw TransportError(.fileNotFound, "the file \(path) does not exist", address: address)
        }
        guard !isFolder.boolValue else {
            // A package that was moved out of its library is a plain HLS presentation.
            let playlist = "\(path.hasSuffix("/") ? path : path + "/")multivariant.m3u8"
            let hint = FileManager.default.fileExists(atPath: playlist) ? "; its playlist is \(playlist)" : ""
            throw TransportError(.fileFailed, "\(path) is a directory, not a file\(hint)", address: address)
        }
        // A named pipe can only be opened when another program writes to it.
        guard !isPipe(path) else { throw notRegular(path, address) }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw TransportError(.fileFailed, "the file \(path) cannot be read", address: address)
        }
        guard let size = try? handle.seekToEnd() else { throw notRegular(path, address) }
        return (OpenFile(handle: handle), Int64(clamping: size))
    }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    private static func notRegular(_ path: String, _ address: ResourceAddress) -> TransportError {
        TransportError(
            .fileFailed,
            "\(path) is not a regular file; use - to read from a pipe",
            address: address
        )
    }
}

/// A file that a single body reads in consecutive chunks.
private final class OpenFile: @unchecked Sendable {
    // Safe: one iterator holds the file, and each read ends before the next begins.
    let handle: FileHandle

    init(handle: FileHandle) { self.handle = handle }
}

private struct FileChunks: AsyncSequence, Sendable {
    let handle: OpenFile
    let range: ByteRange
    let chunkSize: Int
    let address: ResourceAddress

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: FileChunks
        var position: Int64

        mutating func next() async throws -> ByteBuffer? {
            let (start, file, address) = (position, chunks.handle, chunks.address)
            let count = Int(Swift.min(Int64(chunks.chunkSize), chunks.range.end -| start))
            guard count > 0 else { return nil }
            let data = try await BlockingOperation.run {
                try file.handle.seek(toOffset: UInt64(clamping: start))
                return try file.handle.read(upToCount: count)
            }
            guard let data, !data.isEmpty else {
                throw TransportError(
                    .connectionLost,
                    "the file was truncated while it was being read",
                    address: address
                )
            }
            position +|= Int64(data.count)
            return ByteBuffer(bytes: data)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self, position: range.start) }
}

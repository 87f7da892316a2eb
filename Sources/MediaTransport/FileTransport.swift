import Foundation
public import MediaTiming
package import NIOCore
package import ResourceAddressing

/// A transport that reads local files through `file` URLs.
public struct FileTransport: Transport {
    private static let chunkSize = 256 * 1024
    private let time: any TimeSource

    /// An open file that a transport reads.
    package struct OpenedFile: Sendable {
        fileprivate let size: Int64
        fileprivate let read: @Sendable (_ offset: Int64, _ count: Int) throws -> ByteBuffer

        /// Creates the description of an open file.
        ///
        /// - Parameters:
        ///   - size: The size of the file in bytes.
        ///   - read: A function that reads up to a number of bytes at an offset. It returns an empty buffer at the end
        ///     of the file, and may block.
        package init(size: Int64, read: @escaping @Sendable (_ offset: Int64, _ count: Int) throws -> ByteBuffer) {
            self.size = size
            self.read = read
        }
    }

    /// Creates a transport.
    public init(time: any TimeSource = SystemTimeSource()) { self.time = time }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let path = request.address.filePath else {
            throw TransportError(.addressRefused, "the URL is not a file URL", address: request.address)
        }
        let address = request.address
        return try await send(request) { try Self.open(path, address) }
    }

    /// Sends a request for a file that the given function opens.
    ///
    /// The function can, for example, refuse symbolic links.
    ///
    /// - Parameters:
    ///   - request: The request, whose URL names the file in errors.
    ///   - open: A function that opens the file; it may block.
    /// - Returns: The response.
    /// - Throws: `TransportError` if the file does not have the requested range; otherwise the error of the function.
    package func send(
        _ request: TransportRequest,
        opening open: @escaping @Sendable () throws -> OpenedFile
    ) async throws -> TransportResponse {
        let address = request.address
        let begun = time.now
        let file = try await BlockingOperation.run(open)
        let size = file.size
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
        let chunks = FileChunks(file: file, range: rest, chunkSize: Self.chunkSize, address: address)
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

    private static func open(_ path: String, _ address: ResourceAddress) throws -> OpenedFile {
        if let failure = failure(at: path, address) { throw failure }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw unreadable(path, address) }
        guard let size = try? handle.seekToEnd() else { throw notRegular(path, address) }
        let file = HandledFile(handle: handle)
        return OpenedFile(size: Int64(clamping: size)) { offset, count in
            try file.handle.seek(toOffset: UInt64(clamping: offset))
            return try file.handle.read(upToCount: count).map { ByteBuffer(bytes: $0) } ?? ByteBuffer()
        }
    }

    /// Returns the error for a path that does not name a file which can be opened; `nil` if the path has no known
    /// obstacle.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - address: The URL of the request.
    /// - Returns: The error.
    package static func failure(at path: String, _ address: ResourceAddress) -> TransportError? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return TransportError(.fileNotFound, "the file \(path) does not exist", address: address)
        }
        guard !isFolder.boolValue else {
            // A package that was moved out of its library is a plain HLS presentation.
            let playlist = "\(path.hasSuffix("/") ? path : path + "/")multivariant.m3u8"
            let hint = FileManager.default.fileExists(atPath: playlist) ? "; its playlist is \(playlist)" : ""
            return TransportError(.fileFailed, "\(path) is a directory, not a file\(hint)", address: address)
        }
        // A named pipe can only be opened when another program writes to it.
        return isPipe(path) ? notRegular(path, address) : nil
    }

    /// Returns the error for a file that cannot be opened or read.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - address: The URL of the request.
    /// - Returns: The error.
    package static func unreadable(_ path: String, _ address: ResourceAddress) -> TransportError {
        TransportError(.fileFailed, "the file \(path) cannot be read", address: address)
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
private final class HandledFile: @unchecked Sendable {
    // Safe: one iterator holds the file, and each read ends before the next begins.
    let handle: FileHandle

    init(handle: FileHandle) { self.handle = handle }
}

private struct FileChunks: AsyncSequence, Sendable {
    let file: FileTransport.OpenedFile
    let range: ByteRange
    let chunkSize: Int
    let address: ResourceAddress

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: FileChunks
        var position: Int64

        mutating func next() async throws -> ByteBuffer? {
            let (start, file) = (position, chunks.file)
            let count = Int(Swift.min(Int64(chunks.chunkSize), chunks.range.end -| start))
            guard count > 0 else { return nil }
            let buffer = try await BlockingOperation.run { try file.read(start, count) }
            guard buffer.readableBytes > 0 else {
                throw TransportError(
                    .connectionLost,
                    "the file was truncated while it was being read",
                    address: chunks.address
                )
            }
            position +|= Int64(clamping: buffer.readableBytes)
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self, position: range.start) }
}

import Foundation
import MediaTiming
package import MediaTransport
import ResourceAddressing

/// A transport with which a player and a download share an asset; requests have the addresses of the origin.
///
/// Stored files are read from the disk. Files that the download has planned are stored while they are played. Everything
/// else is loaded from the origin.
///
/// A player that uses it has all variants and renditions of the source, and combines stored media with streamed media.
package final class AssetTransport: Transport {
    private let library: AssetLibrary
    private let id: String
    private let origin: any Transport
    private let shared: SharedFiles
    private let files: any Transport
    /// The URL of the source of the asset; `nil` if the catalog cannot be read.
    private let source: ResourceAddress?
    /// The mark that excludes the package from eviction while it is being played.
    private let use: RepeatedPackageUse

    /// Creates a transport for one asset.
    ///
    /// - Parameters:
    ///   - library: The library that contains the asset.
    ///   - id: The identifier of the asset.
    ///   - origin: The transport for what is not stored.
    ///   - files: The transport that reads local files.
    ///   - marksAtFirstRequest: A Boolean value that indicates whether the package is marked as being played only at the first
    ///     request, because there may never be one.
    package init(
        _ library: AssetLibrary,
        id: String,
        origin: any Transport,
        files: any Transport = FileTransport(),
        marksAtFirstRequest: Bool = false
    ) {
        self.library = library
        self.id = id
        let origin = PlaybackTransport(base: origin, activity: library.playback)
        self.origin = origin
        self.files = files
        source = try? library.asset(id).source
        shared = SharedFiles(library: library, id: id, files: files, origin: origin)
        use = RepeatedPackageUse(library.packageDirectory(id), isDeferred: marksAtFirstRequest)
    }

    /// The executor of the transport to the origin.
    package var executor: (any TaskExecutor)? { origin.executor }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        use.repeatIfNeeded()
        // The catalog is a database on the local disk; a look-up takes some microseconds.
        if let file = try? library.mediaFile(of: id) {
            let isFile = request.address == file.address || request.address == source
            guard isFile, library.file(file.path, of: id) != nil else { return try await origin.send(request) }
            return try await shared.stored(file, request)
        }
        if request.kind == .playlist, request.byteRange == nil, request.resumption == nil,
            let playlist = try? library.playlist(at: request.address, of: id)
        {
            var response = TransportResponse(
                status: 200,
                headers: [HeaderField("Content-Type", "application/vnd.apple.mpegurl")],
                address: playlist.address,
                expectedLength: Int64(playlist.bytes.count),
                body: TransportBody(playlist.bytes)
            )
            // It was verified when it was stored, and may name the local files of an edit.
            response.mayNameFiles = true
            return response
        }
        guard request.kind != .playlist,
            let resource = try? library.resource(at: request.address, request.byteRange, of: id)
        else { return try await origin.send(request) }
        if resource.bytes != nil, library.file(resource.path, of: id) != nil {
            return try await shared.stored(resource, request)
        }
        return try await shared.response(for: resource, to: request)
    }
}

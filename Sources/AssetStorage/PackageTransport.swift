package import Foundation
import MediaTiming
package import MediaTransport
package import ResourceAddressing

/// A transport that reads the stored files of a package and loads all others from the origin, so that a package can be
/// played while it is being downloaded.
///
/// The package of a media file, such as an MP4 file, is answered with that file instead of a playlist.
package final class PackageTransport: Transport {
    private let library: AssetLibrary
    private let id: String
    private let files: any Transport
    private let origin: (any Transport)?
    private let folder: String
    /// The mark that excludes the package from eviction while it is being played.
    private let use: RepeatedPackageUse

    /// Creates a transport for one package.
    ///
    /// - Parameters:
    ///   - library: The library that contains the package.
    ///   - id: The identifier of the asset.
    ///   - files: The transport that reads local files.
    ///   - origin: The transport for files that are not stored; `nil` to play only stored files.
    package init(
        _ library: AssetLibrary,
        id: String,
        files: any Transport = FileTransport(),
        origin: (any Transport)?
    ) {
        self.library = library
        self.id = id
        self.files = files
        self.origin = origin.map { PlaybackTransport(base: $0, activity: library.playback) }
        folder = library.packageDirectory(id).standardizedFileURL.path + "/"
        use = RepeatedPackageUse(library.packageDirectory(id))
    }

    /// Returns the library and the asset identifier of the package in a directory.
    ///
    /// - Returns: The library, opened for reading only, and the identifier; `nil` if the directory is not a package.
    package static func package(at folder: URL) -> (library: AssetLibrary, id: String)? {
        guard isPackagePath(folder) else { return nil }
        let folder = folder.standardizedFileURL
        let directory = folder.deletingLastPathComponent().deletingLastPathComponent()
        guard let library = try? AssetLibrary(reading: directory),
            let asset = try? library.asset(folder.lastPathComponent)
        else { return nil }
        return (library, asset.id)
    }

    /// Returns a Boolean value that indicates whether a path has the form of a package path, without accessing the
    /// disk.
    package static func isPackagePath(_ folder: URL) -> Bool {
        let folder = folder.standardizedFileURL
        return folder.deletingLastPathComponent().lastPathComponent == "packages"
            && AssetLibrary.isIdentifier(folder.lastPathComponent)
    }

    /// The URL of the multivariant playlist of the package.
    package var address: ResourceAddress { address(of: AssetLibrary.multivariantName) }

    /// Returns the URL of a file of the package, whether or not it is stored.
    package func address(of path: String) -> ResourceAddress { ResourceAddress(filePath: folder + path) }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        use.repeatIfNeeded()
        guard FileInspection.isFolder(folder) || request.address.filePath == nil else {
            throw TransportError(.fileNotFound, library.movedPackage(id).message, address: request.address)
        }
        if let path = request.address.filePath, isEntry(path) {
            if let file = try library.mediaFile(of: id) { return try await send(request, for: file) }
            // A request for the directory returns the multivariant playlist.
            return try await readFile(AssetLibrary.multivariantName, TransportRequest(address, kind: request.kind))
        }
        guard let path = request.address.filePath, path.hasPrefix(folder) else {
            guard let origin, request.address.isHTTP || request.address.hasCustomScheme else {
                throw TransportError(
                    .addressRefused,
                    "the URL is not part of the package",
                    address: request.address
                )
            }
            return try await origin.send(request)
        }
        let name = String(path.dropFirst(folder.count))
        guard library.file(name, of: id) == nil else { return try await readFile(name, request) }
        guard let resource = try library.resource(at: name, of: id) else {
            throw TransportError(.fileNotFound, "the package has no \(name)", address: request.address)
        }
        guard let origin, request.byteRange == nil else {
            throw TransportError(.fileNotFound, "\(name) is not downloaded", address: request.address)
        }
        // A remote stream may name local files. They were not accessible when it was downloaded, and must not be now.
        guard
            try resource.address.isHTTP || resource.address.hasCustomScheme
                || library.asset(id).source.filePath != nil
        else {
            // The key of the user is a data URL, whose content is stored by a download that has checked it.
            guard resource.address.normalizedScheme != "data" else {
                throw TransportError(
                    .fileNotFound,
                    "\(name) is not stored in the package: download the stream again",
                    address: request.address
                )
            }
            throw TransportError(
                .addressRefused,
                "\(name) refers to a local file, which a remote asset must not use",
                address: request.address
            )
        }
        let response = try await SharedFiles(library: library, id: id, files: files, origin: origin)
            .response(for: resource, to: request)
        // The response is that of the file in the package, which can be a part of the resource at the origin.
        return TransportResponse(
            status: request.resumption == nil ? 200 : 206,
            headers: response.headers.filter { $0.name.lowercased() == "content-type" },
            address: request.address,
            expectedLength: response.expectedLength,
            body: response.body,
            record: response.record
        )
    }

    /// Sends a request for a stored file; the playlists of a recording are those of this moment.
    private func readFile(_ name: String, _ request: TransportRequest) async throws -> TransportResponse {
        guard name.hasSuffix(".m3u8"), request.byteRange == nil, request.resumption == nil,
            let playlist = try? await BlockingOperation.run({ [library, id] in
                try library.currentPlaylist(name, of: id)
            })
        else { return try await files.send(request) }
        return TransportResponse(
            status: 200,
            headers: [],
            address: request.address,
            expectedLength: Int64(playlist.count),
            body: TransportBody(playlist)
        )
    }

    /// Returns a Boolean value that indicates whether a path is the directory of the package or its multivariant playlist.
    private func isEntry(_ path: String) -> Bool {
        path == folder || path + "/" == folder || path == folder + AssetLibrary.multivariantName
    }

    /// Sends a request for the package to its media file, or to the origin while that is not stored.
    private func send(_ request: TransportRequest, for file: StoredResource) async throws -> TransportResponse {
        var request = request
        if library.file(file.path, of: id) != nil {
            request.address = address(of: file.path)
            return try await files.send(request)
        }
        guard let origin, file.address.isHTTP || file.address.hasCustomScheme else {
            throw TransportError(.fileNotFound, "the media file is not downloaded", address: request.address)
        }
        request.address = file.address
        return try await origin.send(request)
    }
}

public import Foundation
public import MediaTransport
public import ResourceAddressing

/// The stored files of a package, and those that are not stored from their origin, so that a package can be played while
/// it is downloaded.
public final class PackageTransport: Transport {
    private let library: AssetLibrary
    private let id: String
    private let files: any Transport
    private let origin: (any Transport)?
    private let folder: String

    /// Makes a transport for one package.
    ///
    /// - Parameters:
    ///   - library: Where the package is.
    ///   - id: The identifier of its asset.
    ///   - files: What reads files.
    ///   - origin: Where the rest is asked for; `nil` to play only what is there.
    public init(
        _ library: AssetLibrary,
        id: String,
        files: any Transport = FileTransport(),
        origin: (any Transport)?
    ) {
        self.library = library
        self.id = id
        self.files = files
        self.origin = origin
        folder = library.packageDirectory(id).standardizedFileURL.path + "/"
    }

    /// Returns the package in a folder, opened for reading only.
    ///
    /// - Returns: Its library and its identifier; `nil` for any other folder.
    public static func package(at folder: URL) -> (library: AssetLibrary, id: String)? {
        guard isPackagePath(folder) else { return nil }
        let folder = folder.standardizedFileURL
        let directory = folder.deletingLastPathComponent().deletingLastPathComponent()
        guard let library = try? AssetLibrary(reading: directory),
            let asset = try? library.asset(folder.lastPathComponent)
        else { return nil }
        return (library, asset.id)
    }

    /// Returns whether a path has the form of a package's, without a look at the disk.
    public static func isPackagePath(_ folder: URL) -> Bool {
        let folder = folder.standardizedFileURL
        return folder.deletingLastPathComponent().lastPathComponent == "packages"
            && AssetLibrary.isIdentifier(folder.lastPathComponent)
    }

    /// The playlist that the package is played by.
    public var address: ResourceAddress { ResourceAddress(filePath: folder + "multivariant.m3u8") }

    /// Asks for a resource; see `Transport`.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        // The folder stands for what it is played by.
        if let path = request.address.filePath, path == folder || path + "/" == folder {
            return try await files.send(TransportRequest(address, kind: request.kind))
        }
        guard let path = request.address.filePath, path.hasPrefix(folder) else {
            guard let origin, request.address.isHTTP else {
                throw TransportError(
                    .addressRefused,
                    "only what the package names is loaded",
                    address: request.address
                )
            }
            return try await origin.send(request)
        }
        let name = String(path.dropFirst(folder.count))
        guard library.file(name, of: id) == nil else { return try await files.send(request) }
        guard let resource = try library.resource(at: name, of: id) else {
            throw TransportError(.fileNotFound, "the package has no \(name)", address: request.address)
        }
        guard let origin, request.byteRange == nil else {
            throw TransportError(.fileNotFound, "\(name) is not downloaded", address: request.address)
        }
        // A stream from elsewhere may name files of this machine; what it was not given then, it is not given now.
        guard try resource.address.isHTTP || library.asset(id).source.filePath != nil else {
            throw TransportError(
                .addressRefused,
                "\(name) would be a file of this machine, and the asset is from elsewhere",
                address: request.address
            )
        }
        var original = TransportRequest(resource.address, kind: request.kind, byteRange: resource.byteRange)
        original.resumption = request.resumption
        return try await origin.send(original)
    }
}

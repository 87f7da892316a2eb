public import Foundation
public import MediaTransport
public import ResourceAddressing
import Synchronization

/// The files of a package that are there, and from where they came those that are not: so a package is played that is not
/// complete, while it is downloaded or instead.
public final class PackageTransport: Transport {
    private let library: AssetLibrary
    private let id: String
    private let files: any Transport
    private let origin: (any Transport)?
    private let folder: String
    private let origins = Mutex<[String: StoredResource]?>(nil)

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

    /// The package that a folder is, if it is one.
    ///
    /// - Returns: Its library and its identifier; `nil` for any other folder.
    public static func package(at folder: URL) -> (library: AssetLibrary, id: String)? {
        let packages = folder.standardizedFileURL.deletingLastPathComponent()
        let directory = packages.deletingLastPathComponent()
        guard packages.lastPathComponent == "packages",
            FileManager.default.fileExists(atPath: directory.appendingPathComponent("catalogue.sqlite").path),
            let library = try? AssetLibrary(directory: directory),
            let asset = try? library.asset(folder.standardizedFileURL.lastPathComponent)
        else { return nil }
        return (library, asset.id)
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
                    "what is not in the package is not asked for",
                    address: request.address
                )
            }
            return try await origin.send(request)
        }
        let name = String(path.dropFirst(folder.count))
        guard library.file(name, of: id) == nil else { return try await files.send(request) }
        guard let resource = try resource(at: name) else {
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

    private func resource(at path: String) throws -> StoredResource? {
        if let known = origins.withLock({ $0 }) { return known[path] }
        let resources = try library.resources(id)
        let named = Dictionary(resources.map { ($0.path, $0) }) { first, _ in first }
        origins.withLock { $0 = named }
        return named[path]
    }
}

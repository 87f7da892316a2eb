import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import ResourceAddressing

/// The title and artwork that the library has stored for the asset that is played.
struct StoredDescription: Sendable {
    /// The title; `nil` if there is no asset, or if its title is that of its URL.
    var title: String?
    /// The bytes of the artwork, an image file; `nil` if there is none.
    var artwork: [UInt8]?
}

extension PlayCommand {
    /// The path of the package of a downloaded asset whose identifier is given instead of a source; `nil` for any other source.
    var downloadedPackage: String? {
        guard !source.contains("/"), !source.contains("."), !FileManager.default.fileExists(atPath: source),
            let library = try? library.openForReading(),
            let asset = try? library.asset(source)
        else { return nil }
        return library.packageDirectory(asset.id).path
    }

    /// Returns the library and the identifier of the asset whose package is played; `nil` if the path is not that of a package.
    ///
    /// While files of the asset are missing, the library is open for writing, so that what is streamed of them is stored. A
    /// library that cannot be changed is read only.
    func playedPackage(at path: String) -> (library: AssetLibrary, id: String)? {
        guard let package = PackageTransport.package(at: URL(fileURLWithPath: path)) else { return nil }
        guard let asset = try? package.library.asset(package.id), asset.state != .complete,
            let writer = try? AssetLibrary(directory: package.library.directory)
        else { return package }
        return (writer, package.id)
    }

    /// Verifies that a source without a path or an extension is an asset or a file.
    ///
    /// - Throws: ``Failure``.
    func verifyNamesAsset() throws {
        guard !source.isEmpty else { throw Failure(.wrongUsage, "usage", "the source is empty") }
        guard source != "-", !source.contains("/"), !source.contains("."), !source.contains(":"),
            !FileManager.default.fileExists(atPath: source), downloadedPackage == nil
        else { return }
        // A library that cannot be read may have the asset.
        _ = try library.openForReading()
        throw Failure(
            .failed,
            "file-not-found",
            "there is no file \(source), and no asset with this identifier in \(library.directory.path)",
            hint: "millstream library list shows the assets; --library DIR names another library"
        )
    }

    /// Returns the title of the window: that of a downloaded asset, otherwise what an asset with the address would have.
    func title(of package: (library: AssetLibrary, id: String)?, at address: ResourceAddress) throws -> String {
        if let package { return try package.library.asset(package.id).title }
        return source == "-" ? "standard input" : address.defaultAssetTitle
    }

    /// Returns the description of the asset that is played, or whose source is the URL that is played.
    ///
    /// The media can be played without it, so that errors of the library are ignored here.
    func storedDescription(
        of package: (library: AssetLibrary, id: String)?,
        at address: ResourceAddress
    ) -> StoredDescription {
        guard let (library, asset) = playedAsset(package, at: address) else { return StoredDescription() }
        let artwork = (try? library.artwork(of: asset.id))?.data
        return StoredDescription(
            title: asset.title == asset.source.defaultAssetTitle ? nil : asset.title,
            artwork: artwork.map { [UInt8]($0) }
        )
    }

    private func playedAsset(
        _ package: (library: AssetLibrary, id: String)?,
        at address: ResourceAddress
    ) -> (library: AssetLibrary, asset: StoredAsset)? {
        if let package {
            guard let asset = try? package.library.asset(package.id) else { return nil }
            return (package.library, asset)
        }
        guard usesLibrary, source != "-", address.isHTTP, let reader = try? library.openForReading(),
            let found = try? reader.sharableAsset(source: address)
        else { return nil }
        return (reader, found.asset)
    }

    /// A Boolean value that indicates whether stored files are played in place of those at a URL.
    ///
    /// A simulated network is there to be measured, so everything is loaded over it.
    var usesLibrary: Bool { !ignoreLibrary && http.network.conditions == nil }

    /// Returns a transport that plays what the library has stored of a source, and the variants that are stored entirely;
    /// `nil` if the source is not downloaded.
    func sharedAsset(
        _ source: ResourceAddress,
        _ origin: any Transport,
        _ display: PlaybackDisplay
    ) -> (transport: AssetTransport, variants: [StoredRendition])? {
        do {
            guard let reader = try library.openForReading(),
                let (asset, variants) = try reader.sharableAsset(source: source)
            else { return nil }
            // What is streamed of an unfinished download is stored, if the library can be changed.
            let opened = asset.state == .complete ? reader : (try? library.open()) ?? reader
            display.showNotice(
                "asset \(asset.id) of the library has media of this stream: it is read from the disk where the played variant is stored, and streamed otherwise"
            )
            return (AssetTransport(opened, id: asset.id, origin: origin), variants)
        } catch {
            // The stream can be played without the library.
            display.showNotice("streaming without the library: \(Failure(error).message)")
            return nil
        }
    }

    /// Returns the address of the origin of a downloaded package, from which missing resources can be loaded.
    func origin(of package: (library: AssetLibrary, id: String)?) throws -> String? {
        try package.map { try $0.library.asset($0.id).source.text }
    }
}

import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PresentationLoading
import ResourceAddressing
import StreamingEngine

#if Playback
import MediaDecoding
#endif

extension Player.Environment {
    /// The environment with the system clock, the network and file access, in which media is decoded.
    ///
    /// Each player has an audio device and ``Player/outputs``, to which video outputs can be attached; without one, the
    /// video is decoded and discarded. In a build without the package trait `Playback` there are no decoders, and the
    /// environment is that of ``withoutDecoding``.
    ///
    /// Connections, files and the network are those of ``withoutDecoding``.
    public static var standard: Player.Environment {
        #if Playback
        var environment = withoutDecoding
        environment.outputs = .ofEachPlayer
        environment.canDecode = { DecodingPipeline.canDecode($0) }
        return environment
        #else
        return withoutDecoding
        #endif
    }

    /// The environment with the system clock, the network and file access, in which nothing is decoded: media is loaded
    /// and the playhead advances as in playback, for measurements of a stream or a network.
    ///
    /// Assets without a user agent or cookies in their options share connections and cookies; cookies are stored in
    /// memory only. Files are read only if the asset itself is a file, since a remote playlist must not refer to local
    /// files; those that a remote playlist of such an asset names are not read either. The cost of the network is determined from the routes of the system. The throughput of the network is
    /// remembered until the process ends (``ThroughputHistory/shared``).
    public static var withoutDecoding: Player.Environment {
        var environment = Player.Environment(
            time: SystemTimeSource(),
            makeLoading: { address, options in
                let http = SharedHTTPTransport.transport(for: address, options)
                let scheme = SchemeTransport(http: http, file: address.filePath == nil ? nil : FileTransport())
                let files = options.authorizing(scheme, for: address)
                guard let folder = address.filePath.map({ URL(fileURLWithPath: $0, isDirectory: true) }),
                    PackageTransport.isPackagePath(folder)
                else { return ResourceLoader(files) }
                // The missing playlists of a downloaded DASH presentation are translated again.
                let origin =
                    options.translatesDASH
                    ? ResourceLoader(http).translatingPresentations(in: PresentationStore()).transport : http
                // Creating an asset does no I/O; the first load determines whether it is a downloaded package.
                return ResourceLoader(LocalAssetTransport(folder, origin: origin, files: files))
            },
            makeSessionID: { UUID().uuidString },
            // Milliseconds suffice: the system clock is hardly more accurate, and more digits make dates harder to
            // read.
            date: { .milliseconds(Int64(saturating: (Date().timeIntervalSince1970 * 1_000).rounded())) }
        )
        environment.network = .system
        environment.throughputHistory = .shared
        environment.findCache = { $0.package.flatMap { AssetCache(of: $0.id, in: $0.library) } }
        return environment
    }
}

extension ResourceAddress {
    /// The library and the identifier of the downloaded package at the address; `nil` if it is not a package.
    fileprivate var package: (library: AssetLibrary, id: String)? {
        filePath.flatMap { PackageTransport.package(at: URL(fileURLWithPath: $0)) }
    }
}

extension AssetCache {
    /// Creates a description of what a library has stored of a source; `nil` if it has no download of the source, or
    /// cannot be read.
    init?(ofSource source: ResourceAddress, inLibraryAt directory: URL) {
        guard let (library, id) = AssetLibrary.sharableAsset(source: source, at: directory) else { return nil }
        self.init(of: id, in: library)
    }

    /// Creates a description of the stored part of a downloaded package; `nil` if it cannot be read.
    fileprivate init?(of id: String, in library: AssetLibrary) {
        guard let asset = try? library.asset(id), let file = library.file("multivariant.m3u8", of: id),
            let data = try? Data(contentsOf: file),
            let playlist = try? Playlist.parse(Array(data), context: PlaylistContext(address: nil))
        else { return nil }
        // The playlist of the package lists all renditions of the download, including those that are not stored yet.
        let stored = Set(asset.renditions.filter(\.isComplete).map(\.folder))
        let groups = Presentation(playlist).groups
        let options = groups.flatMap(\.options).filter { option in
            option.encodings.contains { encoding in
                encoding.address.map { stored.contains($0.text.split(separator: "/").first.map(String.init) ?? "") }
                    ?? asset.isPlayableOffline
            }
        }
        self.init(isPlayableOffline: library.isPlayableOffline(id), options: options)
    }
}

import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import StreamingEngine

extension Player.Environment {
    /// The machine's clock, its network and its files, and a pipeline that decodes nothing.
    ///
    /// Connections and cookies are shared by all assets that ask for nothing special; cookies are kept in memory only. Files
    /// are read where the asset itself is one: a playlist from elsewhere must not name files of this machine. What the
    /// network costs, the routes of this machine tell.
    public static var standard: Player.Environment {
        let time = SystemTimeSource()
        var environment = Player.Environment(
            time: time,
            makeLoading: { address, options in
                let http = SharedConnections.transport(for: address, options)
                let scheme = SchemeTransport(http: http, file: address.filePath == nil ? nil : FileTransport())
                let files = options.authorizing(scheme, for: address)
                guard let folder = address.filePath.map({ URL(fileURLWithPath: $0, isDirectory: true) }),
                    PackageTransport.isPackagePath(folder)
                else { return ResourceLoading(files) }
                // Creating an asset does no I/O; the first load finds out whether it is a package.
                return ResourceLoading(LocalAssetTransport(folder, origin: http, files: files))
            },
            makePipeline: { UndecodedPipeline(time: time) },
            makeSessionID: { UUID().uuidString },
            // Finer than a clock of the world is, a date is only longer to read.
            date: { .milliseconds(Int64(saturating: (Date().timeIntervalSince1970 * 1_000).rounded())) }
        )
        environment.network = .system
        environment.findCache = { $0.package.flatMap { AssetCache(of: $0.id, in: $0.library) } }
        return environment
    }
}

extension ResourceAddress {
    /// The downloaded package whose folder it is; `nil` for anything else.
    fileprivate var package: (library: AssetLibrary, id: String)? {
        filePath.flatMap { PackageTransport.package(at: URL(fileURLWithPath: $0)) }
    }
}

extension AssetCache {
    /// What a package holds.
    fileprivate init?(of id: String, in library: AssetLibrary) {
        guard let asset = try? library.asset(id), let file = library.file("multivariant.m3u8", of: id),
            let data = try? Data(contentsOf: file),
            let playlist = try? Playlist.parse(Array(data), context: PlaylistContext(address: nil))
        else { return nil }
        let groups = Presentation(playlist, capabilities: PlaybackCapabilities { _ in true }).groups
        self.init(isPlayableOffline: asset.isPlayableOffline, options: groups.flatMap(\.options))
    }
}

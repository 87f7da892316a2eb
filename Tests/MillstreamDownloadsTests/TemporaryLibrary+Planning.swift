import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

extension PlannedRendition {
    /// Creates the description of the only media playlist of a source.
    init(only playlist: MediaPlaylist, at address: ResourceAddress, role: StoredRendition.Role = .variant) {
        self.init(role: role, position: -1, language: nil, variant: nil, playlist: playlist, address: address)
    }
}

/// A recording that was begun, none of whose files is stored.
struct BegunRecording {
    let id: String
    let playlist: MediaPlaylist
    let writer: RecordingWriter
    let files: [RecordingWriter.File]

    /// The files of the segments, in their order.
    var segments: [RecordingWriter.File] { files.filter(\.isSegment).sorted { $0.position < $1.position } }

    func key(_ name: String) throws -> RecordingWriter.File {
        try #require(files.first { $0.resource.address.lastPathComponent == name })
    }
}

extension TemporaryLibrary {
    /// Plans an asset whose source is a media playlist, and returns its identifier; none of its files is stored.
    func plan(_ playlist: MediaPlaylist, at address: ResourceAddress) throws -> String {
        let id = try library.addAsset(source: address, title: "A", selection: "")
        let rendition = PlannedRendition(only: playlist, at: address)
        try library.planDownload(of: id, source: .media(playlist), at: address, renditions: [rendition])
        return id
    }

    /// Begins the recording of a media playlist, and adds its first segments, which are not stored yet.
    func beginRecording(
        of playlist: MediaPlaylist,
        at address: ResourceAddress,
        segmentCount: Int
    ) throws -> BegunRecording {
        let id = try library.addAsset(source: address, title: "Live", selection: "")
        let (writers, _) = try library.beginRecording(
            of: id,
            source: .media(playlist),
            at: address,
            renditions: [PlannedRendition(only: playlist, at: address)]
        )
        try library.publishRecording(id)
        let writer = try #require(writers.first)
        let files = try writer.append(0..<segmentCount, of: playlist).files
        return BegunRecording(id: id, playlist: playlist, writer: writer, files: files)
    }

    /// Stores a file with the given content.
    func store(_ bytes: [UInt8], as resource: StoredResource, of id: String) throws {
        let file = library.makePackageFile(for: resource, of: id)
        try bytes.withUnsafeBytes { try file.write($0) }
        try file.finish()
        try library.commit([WrittenFile(resource, file)])
    }

    /// Returns the transfer of a planned file, which is not repeated after an error.
    func transfer(
        _ resource: StoredResource,
        _ transport: any Transport,
        limits: DownloadLimits = DownloadLimits()
    ) throws -> FileTransfer {
        let asset = try library.asset(resource.assetID)
        return FileTransfer(
            resource: resource,
            assetID: asset.id,
            library: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            commits: CommitQueue(library),
            meter: ProgressMeter(ProgressCounter(asset, missing: 1)),
            budget: DownloadBudget(asset, in: library, limits),
            limiter: nil,
            yieldsToPlayback: false,
            time: SystemTimeSource()
        )
    }
}

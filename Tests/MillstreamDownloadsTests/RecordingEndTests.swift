import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Synchronization
import Testing

@testable import MillstreamDownloads

/// A clock that stands still, so that each wait lasts until its task is canceled.
private struct StandingTime: TimeSource {
    var now: Duration { .zero }

    func sleep(for duration: Duration) async throws { try await Task.sleep(for: .seconds(86_400)) }
}

/// Tests recordings that end before their stream, and those that were interrupted.
@Suite(.timeLimit(.minutes(5))) struct RecordingEndTests {
    /// The cause of the end of a recording.
    enum Cause: CaseIterable {
        case sizeLimit
        case fullDisk
        case deletedPackage
        case wrongKey
    }

    private static let source = "https://live.example/live.m3u8"
    private static let segmentSize: Int64 = 100_000
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Returns the text of a live playlist with six segments of four seconds.
    private static func text(_ tags: String = "") -> String {
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:10\n" + tags
        for number in 10..<16 { text += "#EXTINF:4,\ns\(number).ts\n" }
        return text
    }

    // MARK: Ends

    /// Records a stream whose playlist is not loaded a second time; its segments are fetched one after the other.
    private func record(
        _ cause: Cause,
        report: @escaping @Sendable (AssetDownload.Event) -> Void = { _ in }
    ) async throws -> StoredAsset {
        let library = temporary.library
        let origin = SyntheticOrigin(time: StandingTime()) { address, _ in
            let name = ResourceAddress(address).lastPathComponent
            switch name {
            case "live.m3u8":
                return .text(Self.text(cause == .wrongKey ? "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n" : ""))
            case "key": return .bytes(Array("fedcba9876543210".utf8))
            default:
                guard cause != .wrongKey else { return .bytes(Array("0123456789abcdef".utf8)) }
                if cause == .deletedPackage, name == "s14.ts", let id = try? library.assets().first?.id {
                    try? FileManager.default.removeItem(at: library.packageDirectory(id))
                }
                return .media(ByteCount(Self.segmentSize))
            }
        }
        var configuration = DownloadConfiguration(maximumConcurrentFetches: 1)
        configuration.recording = RecordingOptions()
        switch cause {
        case .sizeLimit: configuration.limits.assetSize = ByteCount(Self.segmentSize * 5 / 2)
        case .fullDisk: configuration.limits.freeSpace = ByteCount(.max)
        case .deletedPackage, .wrongKey: break
        }
        return try await AssetDownload(
            ResourceAddress(Self.source),
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0), time: StandingTime()),
            configuration: configuration,
            time: StandingTime()
        ).run(report)
    }

    /// The error of one fetch ends the recording at once, although its live playlist does not end.
    @Test(arguments: Cause.allCases) func fatalErrorEndsTheRecordingOfALiveStream(cause: Cause) async throws {
        let error = await #expect(throws: DownloadError.self) { try await record(cause) }
        let code: DownloadError.Code =
            switch cause {
            case .sizeLimit: .tooLarge
            case .fullDisk, .deletedPackage: .storage
            case .wrongKey: .damaged
            }
        #expect(error?.code == code, "\(String(describing: error))")
    }

    @Test func sizeLimitEndsTheRecordingWithWhatIsStored() async throws {
        let lost = Mutex<Int64>(0)
        let error = await #expect(throws: DownloadError.self) {
            try await record(.sizeLimit) { event in
                if case .lost(_, let count) = event { lost.withLock { $0 += count } }
            }
        }
        #expect(error?.message == "the recording has reached its size limit of 250 kB; it is stored up to there")
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .complete && asset.isPlayableOffline)
        #expect(asset.bytes == ByteCount(Self.segmentSize * 2))
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        #expect(playlist.playlistType == .vod && playlist.hasEndMarker)
        #expect(playlist.segments.map(\.isGap) == [false, false])
        #expect(lost.withLock { $0 } == 0)
        #expect(try library.verify(asset.id).damaged == [])
    }

    /// A later segment is stored already when the recording ends.
    @Test func recordingEndsBeforeTheFirstSegmentWhoseRequestWasStopped() throws {
        let recording = try beginRecording()
        let lock = try library.lock(recording.id)
        defer { withExtendedLifetime(lock) {} }
        for index in [0, 2] { try store(recording.files[index], of: recording) }
        let end = try library.endRecording(recording.id, isComplete: false, endingBefore: [recording.writer.folder: 1])
        #expect(end.hasMedia && end.lostCount == 0)
        let asset = try library.asset(recording.id)
        #expect(asset.state == .complete && asset.duration == MediaTime(seconds: 4))
        let playlist = try MediaPlaylist(parsing: Array(temporary.text("media/media.m3u8", of: asset.id).utf8))
        #expect(playlist.segments.map(\.isGap) == [false] && playlist.hasEndMarker)
        let removed = library.packageDirectory(asset.id).appendingPathComponent(recording.files[2].resource.path)
        #expect(!FileManager.default.fileExists(atPath: removed.path))
    }

    // MARK: Interruptions

    /// Begins the recording of a media playlist, and adds three segments, which are not stored yet.
    private func beginRecording() throws -> BegunRecording {
        let address = ResourceAddress(Self.source)
        let playlist = try MediaPlaylist(
            parsing: Array(Self.text().utf8),
            context: PlaylistContext(address: address)
        )
        return try temporary.beginRecording(of: playlist, at: address, segmentCount: 3)
    }

    /// Stores a segment of five bytes.
    private func store(_ file: RecordingWriter.File, of recording: BegunRecording) throws {
        try temporary.store(Array("media".utf8), as: file.resource, of: recording.id)
        try recording.writer.settle(file.position)
    }

    private func text(_ path: String, _ player: PackageTransport) async throws -> String {
        let request = TransportRequest(player.address(of: path), kind: .playlist)
        return String(decoding: try await ResourceLoader(player).load(request).bytes, as: UTF8.self)
    }

    /// The lock tells whether a process records the asset.
    @Test func interruptedRecordingHasEndedForPlayersUntilItIsContinued() async throws {
        let recording = try beginRecording()
        let player = PackageTransport(library, id: recording.id, origin: nil)
        let path = "media/media.m3u8"
        func liveText() async throws -> String {
            let lock = try library.lock(recording.id)
            defer { withExtendedLifetime(lock) {} }
            return try await text(path, player)
        }
        for file in recording.files.prefix(2) { try store(file, of: recording) }
        let live = try await liveText()
        #expect(try live == temporary.text(path, of: recording.id))
        #expect(live.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") && !live.contains("#EXT-X-ENDLIST"))
        let ended = try MediaPlaylist(parsing: Array(try await text(path, player).utf8))
        #expect(ended.playlistType == .vod && ended.hasEndMarker && ended.segments.count == 2)
        // The player is not the one that ends the recording.
        #expect(try await liveText() == live)
        #expect(try temporary.text(path, of: recording.id) == live)
    }

    /// No multivariant playlist declares the bit rate of a recorded media playlist.
    @Test func bitRateOfARecordingIsThatOfItsStoredSegments() async throws {
        let recording = try beginRecording()
        let lock = try library.lock(recording.id)
        defer { withExtendedLifetime(lock) {} }
        let player = PackageTransport(library, id: recording.id, origin: nil)
        for file in recording.files.prefix(2) { try store(file, of: recording) }
        let expected = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=10\nmedia/media.m3u8\n"
        #expect(try await text("multivariant.m3u8", player) == expected)
        // The address of the package is that of its multivariant playlist.
        let package = ResourceAddress(filePath: library.packageDirectory(recording.id).path)
        let response = try await ResourceLoader(player).load(TransportRequest(package, kind: .playlist))
        #expect(String(decoding: response.bytes, as: UTF8.self) == expected)
    }
}

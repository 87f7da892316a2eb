import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests how many segments of a download are checked with their keys, and the tasks of recordings.
@Suite(.timeLimit(.minutes(5))) struct KeyCheckTests {
    private static let base = "https://films.example/"
    private static let key = Array("fedcba9876543210".utf8)
    private static let longKey = Array("0123456789abcdef0123456789ABCDEF".utf8)
    /// A segment of one block that is not encrypted with a key of the tests.
    private static let wrongSegment = Array("0123456789abcdef".utf8)
    /// A segment that is encrypted with `longKey`, after its initialization vector.
    private static let authenticated: [UInt8] = [
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x47, 0xe2,
        0xc4, 0x25, 0x2f, 0x45, 0x8d, 0xd5, 0xda, 0xa1, 0xe7, 0xe5, 0x38, 0xe7, 0xe5, 0x31, 0xa4, 0xeb, 0xd5, 0xe9,
        0xd2, 0x45, 0x69, 0xa5, 0x02, 0x15, 0xd6, 0x83, 0x2c, 0xb5, 0x27, 0xaf, 0xf3, 0xd3,
    ]
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// An asset with its check, none of whose files is stored.
    private struct PlannedAsset {
        let id: String
        let files: [StoredResource]
        let playlist: MediaPlaylist
        let verification: KeyVerification

        func file(_ name: String) throws -> StoredResource {
            try #require(files.first { $0.address.lastPathComponent == name })
        }
    }

    /// Plans an asset whose segments have the given keys.
    private func plan(
        keys: [String],
        method: String = "AES-128,IV=0x0A",
        source: String = "media.m3u8"
    ) throws -> PlannedAsset {
        let segments = keys.enumerated().map { number, key in
            "#EXT-X-KEY:METHOD=\(method),URI=\"\(key)\"\n#EXTINF:4,\ns\(number).ts\n"
        }
        let address = ResourceAddress(Self.base + source)
        let playlist = try MediaPlaylist(
            parsing: Array(("#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments.joined() + "#EXT-X-ENDLIST\n").utf8),
            context: PlaylistContext(address: address)
        )
        let id = try temporary.plan(playlist, at: address)
        return PlannedAsset(
            id: id,
            files: try library.missingResources(id),
            playlist: playlist,
            verification: KeyVerification([PlannedRendition(only: playlist, at: address)], of: id, in: library)
        )
    }

    private func store(_ bytes: [UInt8], as name: String, of asset: PlannedAsset) throws {
        try temporary.store(bytes, as: asset.file(name), of: asset.id)
    }

    /// Returns the name of the stored segment that its key does not match; `nil` if there is none.
    private func mismatch(_ asset: PlannedAsset) throws -> String? {
        do {
            try asset.verification.checkStoredSegments()
            return nil
        } catch let error as DownloadError {
            #expect(error.code == .damaged)
            return error.address?.lastPathComponent
        }
    }

    // MARK: Stored segments

    @Test func firstSegmentsOfAKeyAreChecked() throws {
        let asset = try plan(keys: Array(repeating: "key", count: 5))
        try store(Self.key, as: "key", of: asset)
        try store(Self.wrongSegment, as: "s4.ts", of: asset)
        #expect(try mismatch(asset) == nil)
        try store(Self.wrongSegment, as: "s3.ts", of: asset)
        #expect(try mismatch(asset) == "s3.ts")
        #expect(library.storedKey(at: ResourceAddress(Self.base + "key"), .key, of: asset.id) == nil)
    }

    @Test(arguments: [(99, true), (100, false)]) func firstKeysAreChecked(index: Int, isChecked: Bool) throws {
        let asset = try plan(keys: (0..<101).map { "key\($0)" })
        try store(Self.key, as: "key\(index)", of: asset)
        try store(Self.wrongSegment, as: "s\(index).ts", of: asset)
        #expect(try mismatch(asset) == (isChecked ? "s\(index).ts" : nil))
    }

    /// Each of these checks decrypts an entire segment.
    @Test(arguments: [(15, true), (16, false)]) func fewAuthenticatedSegmentsAreChecked(
        index: Int,
        isChecked: Bool
    ) throws {
        let asset = try plan(keys: (0..<17).map { "key\($0)" }, method: "AES-256-GCM")
        try store(Self.longKey.reversed(), as: "key\(index)", of: asset)
        try store(Self.authenticated, as: "s\(index).ts", of: asset)
        #expect(try mismatch(asset) == (isChecked ? "s\(index).ts" : nil))
    }

    @Test func oneAuthenticatedSegmentOfAKeyIsChecked() throws {
        let asset = try plan(keys: ["key", "key"], method: "AES-256-GCM")
        try store(Self.longKey, as: "key", of: asset)
        try store(Self.authenticated, as: "s0.ts", of: asset)
        try store(Self.authenticated.reversed(), as: "s1.ts", of: asset)
        #expect(try mismatch(asset) == nil)
    }

    /// The parts of segments in I-frame playlists have no padding of their own, and subtitles are not encrypted in this way.
    @Test(arguments: [(StoredRendition.Role.subtitles, false), (.iFrames, false), (.audio, true), (.video, true)])
    func segmentsOfSomeRolesAreChecked(role: StoredRendition.Role, isChecked: Bool) throws {
        let asset = try plan(keys: ["key"])
        try store(Self.key, as: "key", of: asset)
        try store(Self.wrongSegment, as: "s0.ts", of: asset)
        let rendition = PlannedRendition(
            role: role,
            position: 0,
            language: nil,
            variant: nil,
            playlist: asset.playlist,
            address: ResourceAddress(Self.base + "media.m3u8")
        )
        let verification = KeyVerification([rendition], of: asset.id, in: library)
        if isChecked {
            #expect(throws: DownloadError.self) { try verification.checkStoredSegments() }
        } else {
            try verification.checkStoredSegments()
        }
    }

    // MARK: Received segments

    /// Returns a Boolean value that indicates whether a received segment is accepted.
    private func accepts(_ bytes: [UInt8], as name: String, of asset: PlannedAsset) throws -> Bool {
        let resource = try asset.file(name)
        let file = library.makePackageFile(for: resource, of: asset.id)
        defer { file.discard() }
        try bytes.withUnsafeBytes { try file.write($0) }
        do {
            try asset.verification.check(file, of: resource)
            return true
        } catch let error as DownloadError {
            #expect(error.code == .damaged && error.address == resource.address)
            return false
        }
    }

    /// A segment that says nothing about the key does not verify it.
    @Test func verifiedKeyIsNotCheckedAgain() throws {
        let asset = try plan(keys: ["key", "key", "key"], method: "AES-256-GCM")
        let damaged = Array(Self.authenticated.reversed())
        #expect(try accepts(damaged, as: "s0.ts", of: asset), "without the key, nothing is checked")
        try store(Self.longKey, as: "key", of: asset)
        #expect(try accepts(Array(damaged.prefix(31)), as: "s0.ts", of: asset))
        #expect(try accepts(Self.authenticated, as: "s1.ts", of: asset))
        #expect(try accepts(damaged, as: "s2.ts", of: asset), "the key is verified")
        let other = try plan(keys: ["key", "key"], method: "AES-256-GCM", source: "other.m3u8")
        try store(Self.longKey, as: "key", of: other)
        #expect(try accepts(Array(damaged.prefix(31)), as: "s0.ts", of: other))
        #expect(try !accepts(damaged, as: "s1.ts", of: other))
    }

    @Test func paddingOfEachReceivedSegmentIsChecked() throws {
        let asset = try plan(keys: ["key", "key"])
        try store(Self.key, as: "key", of: asset)
        #expect(try accepts(Array("media".utf8), as: "s0.ts", of: asset))
        #expect(try !accepts(Self.wrongSegment, as: "s1.ts", of: asset))
        // The key was removed, so that it is fetched again.
        #expect(try accepts(Self.wrongSegment, as: "s1.ts", of: asset))
    }

    // MARK: Tasks of recordings

    private func session(_ transport: any Transport) throws -> DownloadSession {
        var configuration = DownloadSession.Configuration()
        configuration.resumesAutomatically = false
        return try DownloadSession(
            identifier: "films",
            library: try AssetLibrary(directory: temporary.directory),
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: configuration
        )
    }

    private static func recording(_ seconds: Int64, title: String? = nil) -> DownloadConfiguration {
        var configuration = DownloadConfiguration(title: title)
        configuration.recording = RecordingOptions(duration: MediaTime(seconds: seconds))
        return configuration
    }

    @Test func tasksOfRecordingsDifferInTheirOptions() async throws {
        let origin = ScriptedTransport()
        let session = try session(origin)
        let source = ResourceAddress(Self.base + "live.m3u8")
        let first = try await session.makeTask(source, configuration: Self.recording(5))
        let second = try await session.makeTask(source, configuration: Self.recording(6))
        let again = try await session.makeTask(source, configuration: Self.recording(5))
        #expect(again === first && second !== first && second.assetID == first.assetID)
        #expect(session.tasks.map(\.id) == [first.id, second.id])
        #expect(first.progress.duration == MediaTime(seconds: 5))
        // The playlists are loaded when the recording begins.
        #expect(origin.requests.isEmpty)
        await session.invalidate()
    }

    /// A new task continues the recording with its own options.
    @Test func interruptedRecordingIsReplacedByANewTask() async throws {
        let (source, other) = (ResourceAddress(Self.base + "live.m3u8"), ResourceAddress(Self.base + "other.m3u8"))
        let former = try session(ScriptedTransport())
        let interrupted = try await former.makeTask(source, configuration: Self.recording(5))
        let kept = try await former.makeTask(other, configuration: Self.recording(5))
        await former.invalidate()
        let later = try session(ScriptedTransport())
        #expect(later.tasks.map(\.id) == [interrupted.id, kept.id] && later.tasks.allSatisfy { !$0.isAttended })
        let task = try await later.makeTask(source, configuration: Self.recording(6, title: "Live"))
        #expect(later.tasks.map(\.id) == [kept.id, task.id] && task.assetID == interrupted.assetID)
        #expect(task.configuration.recording?.duration == MediaTime(seconds: 6) && task.title == "Live")
        #expect(try library.downloads().map(\.id) == [kept.id, task.id])
        #expect(try library.asset(task.assetID).title == "Live")
        await later.invalidate()
    }
}

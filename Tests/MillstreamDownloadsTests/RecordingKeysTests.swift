import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests which segments of a recording are checked with their keys, and which bytes of a stopped transfer stay.
@Suite(.timeLimit(.minutes(5))) struct RecordingKeysTests {
    private static let base = "https://live.example/"
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Begins the recording of segments with the given keys, none of which is stored.
    private func beginRecording(keys: [String]) throws -> BegunRecording {
        let address = ResourceAddress(Self.base + "live.m3u8")
        let segments = keys.enumerated().map { number, key in
            "#EXT-X-KEY:METHOD=AES-128,URI=\"\(key)\",IV=0x0A\n#EXTINF:4,\ns\(number).ts\n"
        }
        let playlist = try MediaPlaylist(
            parsing: Array(("#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + segments.joined()).utf8),
            context: PlaylistContext(address: address)
        )
        return try temporary.beginRecording(of: playlist, at: address, segmentCount: keys.count)
    }

    /// Stores a file; no segment is encrypted with the key.
    private func store(_ file: RecordingWriter.File, of recording: BegunRecording) throws {
        let bytes = Array((file.isSegment ? "0123456789abcdef" : "fedcba9876543210").utf8)
        try temporary.store(bytes, as: file.resource, of: recording.id)
    }

    /// Returns the name of the segment that a key does not match after a file was stored; `nil` if there is none.
    private func check(_ keys: RecordingKeys, after file: RecordingWriter.File) throws -> String? {
        do {
            try keys.check(after: file)
            return nil
        } catch let error as DownloadError {
            #expect(error.code == .damaged)
            return error.address?.lastPathComponent
        }
    }

    /// One that the server has damaged later does not end a recording.
    @Test func onlyTheFirstSegmentsOfAKeyAreChecked() throws {
        let recording = try beginRecording(keys: Array(repeating: "key", count: 5))
        let keys = RecordingKeys(of: recording.id, in: library)
        for (index, file) in recording.segments.enumerated() { keys.add(file, recording.playlist.segments[index]) }
        try store(recording.key("key"), of: recording)
        for file in recording.segments { try store(file, of: recording) }
        #expect(try check(keys, after: recording.segments[4]) == nil)
        #expect(try check(keys, after: recording.segments[3]) == "s3.ts")
        // The key is fetched again by the next run.
        #expect(library.storedKey(at: ResourceAddress(Self.base + "key"), .key, of: recording.id) == nil)
        #expect(try check(keys, after: recording.segments[2]) == nil)
    }

    /// The file that is stored last is the occasion of the check.
    @Test func segmentIsCheckedWhenItsKeyIsStored() throws {
        let recording = try beginRecording(keys: ["key0", "key1"])
        let keys = RecordingKeys(of: recording.id, in: library)
        keys.add(recording.segments[0], recording.playlist.segments[0])
        try store(recording.segments[0], of: recording)
        #expect(try check(keys, after: recording.segments[0]) == nil)
        try store(recording.key("key1"), of: recording)
        #expect(try check(keys, after: recording.key("key1")) == nil)
        try store(recording.key("key0"), of: recording)
        #expect(try check(keys, after: recording.key("key0")) == "s0.ts")
    }

    @Test func segmentThatIsNotStoredIsNotChecked() throws {
        let recording = try beginRecording(keys: ["key", "key"])
        let keys = RecordingKeys(of: recording.id, in: library)
        for (index, file) in recording.segments.enumerated() { keys.add(file, recording.playlist.segments[index]) }
        keys.remove(recording.segments[0])
        try store(recording.key("key"), of: recording)
        try store(recording.segments[0], of: recording)
        #expect(try check(keys, after: recording.segments[0]) == nil)
        #expect(try check(keys, after: recording.segments[1]) == nil)
        try store(recording.segments[1], of: recording)
        #expect(try check(keys, after: recording.segments[1]) == "s1.ts")
    }

    /// A stream can replace its key with each segment.
    @Test(arguments: [(100, true), (101, false)]) func theLastKeysAreRemembered(count: Int, isChecked: Bool) throws {
        let recording = try beginRecording(keys: (0..<count).map { "key\($0)" })
        let keys = RecordingKeys(of: recording.id, in: library)
        for (index, file) in recording.segments.enumerated() { keys.add(file, recording.playlist.segments[index]) }
        try store(recording.key("key0"), of: recording)
        try store(recording.segments[0], of: recording)
        #expect(try check(keys, after: recording.segments[0]) == (isChecked ? "s0.ts" : nil))
    }

    // MARK: Transfers

    /// A server whose response for a segment breaks off after four of ten bytes.
    struct BreakingTransport: Transport {
        let base: ScriptedTransport
        let error: TransportError
        let headers: [HeaderField]

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            guard request.address.lastPathComponent == "0.ts" else { return try await base.send(request) }
            let (buffers, continuation) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
            continuation.yield(ByteBuffer(bytes: Array("abcd".utf8)))
            continuation.finish(throwing: error)
            return TransportResponse(
                status: 200,
                headers: headers,
                address: request.address,
                expectedLength: 10,
                body: TransportBody(buffers)
            )
        }
    }

    /// Bytes stay only if they are intact, and if the server can confirm that the resource is unchanged.
    @Test(
        arguments: [
            (.connectionLost, true, true), (.timedOut, true, true), (.cannotConnect, true, true),
            (.wrongContent, true, false), (.tooLarge, true, false), (.connectionLost, false, false),
        ] as [(TransportError.Code, Bool, Bool)]
    )
    func bytesOfALostConnectionStay(code: TransportError.Code, hasValidator: Bool, isKept: Bool) async throws {
        let source = ResourceAddress("https://films.example/media.m3u8")
        let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let transport = BreakingTransport(
            base: ScriptedTransport(texts: [source.text: playlist]),
            error: TransportError(code, "it happened"),
            headers: hasValidator ? [HeaderField("ETag", "\"1\"")] : []
        )
        let error = await #expect(throws: DownloadError.self) {
            try await AssetDownload(
                source,
                into: library,
                loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
            ).run()
        }
        #expect(error?.detail == code.rawValue)
        let asset = try #require(try library.assets().first)
        #expect(library.unfinishedFiles(of: asset) == (isKept ? ["media/000000.ts": 4] : [:]))
        #expect(try library.downloadProgress(of: asset.id).bytes.bytes == (isKept ? 4 : 0))
    }
}

import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests downloads of encrypted segments whose key does not match.
@Suite(.timeLimit(.minutes(5))) struct KeyVerificationTests {
    private static let base = "https://films.example/"
    private static let key = Array("0123456789abcdef".utf8)
    private static let wrongKey = Array("fedcba9876543210".utf8)
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Segments of one, three and two blocks, encrypted with `key`; the initialization vectors are 7, 8 and 9.
    ///
    /// The first decrypted byte of each is that of a transport stream.
    private static let encryptedSegments = [
        "e6bc29a20dc49f0ea18c6e2d87e323db",
        "8c309496325947c4070074fd723981816a8866fc947ed89019c66a656e28ed56e60da9c253c035d5b92d09c4faf03983",
        "fe2e86c3effe8028ffd060efc68d61547ec09f94b0d97f2cb144f8ef4300a0f3",
    ].map { bytes($0) }

    /// A segment with the initialization vector 00 01 … 0f before it, encrypted with `longKey`.
    private static let authenticatedSegment = bytes(
        "000102030405060708090a0b0c0d0e0f47e2c4252f458dd5daa1e7e538e7e531a4ebd5e9d24569a50215d6832cb527aff3d3"
    )
    private static let longKey = Array("0123456789abcdef0123456789ABCDEF".utf8)
    private static let authenticatedTag = "#EXT-X-KEY:METHOD=AES-256-GCM,URI=\"key\""

    private static func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.utf8.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    private static func origin(
        key: [UInt8],
        segments: [[UInt8]] = encryptedSegments,
        keyTag: String = "#EXT-X-KEY:METHOD=AES-128,URI=\"key\""
    ) -> ScriptedTransport {
        let list = segments.indices.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let transport = ScriptedTransport(texts: [
            base + "main.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n\(keyTag)\n\(list)#EXT-X-ENDLIST\n"
        ])
        transport.setResponses(for: base + "key", .bytes(key))
        for (index, bytes) in segments.enumerated() {
            transport.setResponses(for: base + "\(index).ts", .bytes(bytes))
        }
        return transport
    }

    @discardableResult
    private func download(
        _ origin: ScriptedTransport,
        jobs: Int = 1,
        _ selection: DownloadSelection = DownloadSelection(),
        records: Bool = false
    ) async throws -> StoredAsset {
        var configuration = DownloadConfiguration(selection: selection, maximumConcurrentFetches: jobs)
        if records { configuration.recording = RecordingOptions() }
        return try await AssetDownload(
            ResourceAddress(Self.base + "main.m3u8"),
            into: library,
            loader: ResourceLoader(
                SchemeTransport(http: origin, file: FileTransport()),
                policy: RecoveryPolicy(retries: 0)
            ),
            configuration: configuration
        ).run()
    }

    private func expectMismatch(
        _ error: DownloadError?,
        _ name: String,
        _ reason: String = "the decrypted data has no valid PKCS7 padding"
    ) {
        #expect(error?.code == .damaged && error?.detail == "damaged", "\(String(describing: error))")
        #expect(error?.message == "the key does not match: \(reason): \(Self.base)\(name)")
        #expect(error?.address?.text == Self.base + name)
    }

    @Test(arguments: [1, 6]) func matchingKeyIsAccepted(jobs: Int) async throws {
        let asset = try await download(Self.origin(key: Self.key), jobs: jobs)
        #expect(asset.state == .complete && asset.isPlayableOffline)
    }

    /// The initialization vector of a segment of one block is needed for its padding.
    @Test(arguments: 0..<3) func keyThatDoesNotMatchEndsTheDownload(index: Int) async throws {
        let segments = [Self.encryptedSegments[index], Self.encryptedSegments[1]]
        let origin = Self.origin(
            key: Self.wrongKey,
            segments: segments,
            keyTag: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x\(7 + index)"
        )
        let error = await #expect(throws: DownloadError.self) { try await download(origin) }
        expectMismatch(error, "0.ts")
        #expect(!origin.requestedAddresses.contains(Self.base + "1.ts"))
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
        #expect(try library.resources(asset.id).map(\.bytes) == [nil, nil, nil])
        // The next download fetches the key again.
        let complete = try await download(
            Self.origin(
                key: Self.key,
                segments: segments,
                keyTag: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x\(7 + index)"
            )
        )
        #expect(complete.id == asset.id && complete.state == .complete)
    }

    /// The segments can be received before the key.
    @Test func segmentsThatAreReceivedWithTheKeyDoNotCompleteTheAsset() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await download(Self.origin(key: Self.wrongKey), jobs: 6)
        }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
        let again = Self.origin(key: Self.key)
        #expect(try await download(again, jobs: 6).state == .complete)
        #expect(again.requestedAddresses.contains(Self.base + "key"))
    }

    /// The key of the edit is not that of the stored segments, which stay playable with their own one.
    @Test func wrongKeyOfALaterDownloadIsFound() async throws {
        try await download(Self.origin(key: Self.key))
        var selection = DownloadSelection()
        let digits = "66656463626139383736353433323130"
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: digits)])
        let origin = Self.origin(key: Self.key)
        let error = await #expect(throws: DownloadError.self) { try await download(origin, selection) }
        expectMismatch(error, "0.ts")
        #expect(origin.requestedAddresses == [Self.base + "main.m3u8"])
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .complete && library.isPlayableOffline(asset.id))
        let again = Self.origin(key: Self.key)
        #expect(try await download(again).state == .complete)
        #expect(again.requestedAddresses == [Self.base + "main.m3u8"])
    }

    /// The padding of a segment can be valid by chance, and media that is not encrypted need not be a series of blocks.
    @Test(arguments: [false, true]) func givenKeyThatDecryptsNoMediaIsNotStored(isPadded: Bool) async throws {
        // The word "zero", encrypted with `key` and the initialization vector 7.
        let segment = isPadded ? Self.bytes("625a06b3141263442535565aa858d322") : Array("media".utf8)
        let reason = isPadded ? "does not begin like media of a known format" : "has no valid PKCS7 padding"
        var selection = DownloadSelection()
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        let origin = Self.origin(key: Self.key, segments: [segment])
        let error = await #expect(throws: DownloadError.self) { try await download(origin, selection) }
        expectMismatch(error, "0.ts", "the decrypted data \(reason)")
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
        #expect(try library.resources(asset.id).map(\.bytes) == [nil, nil])
    }

    /// The stored key is replaced only by one that was received.
    @Test func keyOfAnEditStaysWhileThatOfThePlaylistIsNotAvailable() async throws {
        let origin = Self.origin(key: Self.key)
        origin.setResponses(
            for: Self.base + "key",
            .failure(TransportError(.status, "not found", status: 404))
        )
        await #expect(throws: DownloadError.self) { try await download(origin) }
        var selection = DownloadSelection()
        selection.edits = EditPlan([try PlaylistEdit(name: "key", value: "30313233343536373839616263646566")])
        let id = try await download(origin, selection).id
        #expect(library.isPlayableOffline(id))
        // The asset has everything that the same selection needs without the edit.
        let same = try await download(origin)
        #expect(same.id == id && same.state == .complete && library.isPlayableOffline(id))
        let error = await #expect(throws: DownloadError.self) {
            try await download(origin, DownloadSelection(variants: .all))
        }
        #expect(error?.detail == "http-status")
        let stored = try library.asset(id)
        #expect(stored.state == .complete && library.isPlayableOffline(id))
        origin.setResponses(for: Self.base + "key", .bytes(Self.wrongKey))
        let mismatch = await #expect(throws: DownloadError.self) { try await download(origin) }
        expectMismatch(mismatch, "0.ts")
        #expect(library.isPlayableOffline(id))
        origin.setResponses(for: Self.base + "key", .bytes(Self.key))
        let before = origin.requestedAddresses.count
        let replaced = try await download(origin)
        #expect(replaced.state == .complete && library.isPlayableOffline(id))
        let requests = Array(origin.requestedAddresses.dropFirst(before))
        #expect(requests == [Self.base + "main.m3u8", Self.base + "key"])
    }

    /// The length of a segment that is not encrypted says nothing about the key.
    @Test func segmentsThatAreNoSeriesOfBlocksAreStored() async throws {
        let origin = Self.origin(key: Self.wrongKey, segments: [Array("media".utf8)])
        #expect(try await download(origin).state == .complete)
    }

    /// The first segment ends the recording, and the next run fetches the key again.
    @Test func keyThatDoesNotMatchEndsTheRecording() async throws {
        let origin = Self.origin(key: Self.wrongKey)
        let error = await #expect(throws: DownloadError.self) { try await download(origin, records: true) }
        expectMismatch(error, "0.ts")
        #expect(!origin.requestedAddresses.contains(Self.base + "1.ts"))
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
        let again = Self.origin(key: Self.key)
        let complete = try await download(again, records: true)
        #expect(complete.id == asset.id && complete.state == .complete && complete.isPlayableOffline)
        #expect(complete.duration == MediaTime(seconds: 12))
        #expect(again.requestedAddresses.contains(Self.base + "key"))
        // The stored segment is encrypted with the other key, and stays stored.
        #expect(!again.requestedAddresses.contains(Self.base + "0.ts"))
    }

    /// The segments can be stored before the key.
    @Test func segmentsThatAreReceivedWithTheKeyDoNotCompleteTheRecording() async throws {
        let error = await #expect(throws: DownloadError.self) {
            try await download(Self.origin(key: Self.wrongKey), jobs: 6, records: true)
        }
        #expect(error?.code == .damaged, "\(String(describing: error))")
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
    }

    @Test(arguments: [1, 6]) func matchingKeyOfARecordingIsAccepted(jobs: Int) async throws {
        let asset = try await download(Self.origin(key: Self.key), jobs: jobs, records: true)
        #expect(asset.state == .complete && asset.isPlayableOffline)
    }

    @Test(arguments: [false, true]) func authenticationTagIsVerified(records: Bool) async throws {
        let segments = [Self.authenticatedSegment, Self.authenticatedSegment]
        let origin = Self.origin(
            key: Self.longKey.reversed(),
            segments: segments,
            keyTag: Self.authenticatedTag
        )
        let error = await #expect(throws: DownloadError.self) { try await download(origin, records: records) }
        expectMismatch(error, "0.ts", "the authentication tag is invalid")
        #expect(!origin.requestedAddresses.contains(Self.base + "1.ts"))
        let asset = try #require(try library.assets().first)
        #expect(asset.state == .partial && !asset.isPlayableOffline)
        let again = Self.origin(key: Self.longKey, segments: segments, keyTag: Self.authenticatedTag)
        let complete = try await download(again, records: records)
        #expect(complete.state == .complete)
        // The segments begin with their initialization vectors.
        #expect(try !temporary.text("media/media.m3u8", of: complete.id).contains("IV="))
    }

    @Test func otherMethodsAreNotChecked() async throws {
        let tag = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"key\""
        #expect(try await download(Self.origin(key: Self.wrongKey, keyTag: tag)).state == .complete)
    }
}

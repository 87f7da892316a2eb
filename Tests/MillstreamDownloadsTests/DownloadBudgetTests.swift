import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

@Suite struct DownloadBudgetTests {
    private static let origin = "https://origin.example/"
    private static let address = ResourceAddress(origin + "asked")
    private let directory: TemporaryLibrary
    private let files: RecordingFiles
    private let library: AssetLibrary

    init() throws {
        directory = try TemporaryLibrary()
        files = RecordingFiles(directory.directory)
        library = try AssetLibrary(directory: directory.directory, files: files)
        files.setFreeSpace(.max)
    }

    /// Plans the asset of a multivariant playlist, or of a single media playlist.
    private func plan(_ texts: [String: String], source: String) async throws -> StoredAsset {
        let transport = ScriptedTransport(
            texts: Dictionary(uniqueKeysWithValues: texts.map { (Self.origin + $0.key, $0.value) })
        )
        let address = ResourceAddress(Self.origin + source)
        let found = try await DownloadResolver(
            loader: ResourceLoader(transport),
            selection: DownloadSelection(variants: .all)
        ).resolve(address)
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(of: id, source: found.playlist, at: found.address, renditions: found.renditions)
        return try library.asset(id)
    }

    /// Plans an asset with an encrypted segment, a byte range and a key; the playlist contains no bit rate.
    private func planMedia(seconds: Int = 4) async throws -> StoredAsset {
        try await plan(
            [
                "media.m3u8": """
                #EXTM3U
                #EXT-X-TARGETDURATION:\(seconds)
                #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
                #EXTINF:\(seconds),
                0.ts
                #EXT-X-BYTERANGE:500@0
                #EXTINF:0,
                1.ts
                #EXT-X-ENDLIST

                """
            ],
            source: "media.m3u8"
        )
    }

    private func resource(_ name: String, of asset: StoredAsset) throws -> StoredResource {
        try #require(try library.resources(asset.id).first { $0.address.lastPathComponent == name })
    }

    // MARK: Limits of a file

    @Test func defaultBitRateIsTwoHundredMegabitsPerSecond() async throws {
        let asset = try await planMedia()
        let budget = DownloadBudget(asset, in: library, DownloadLimits())
        #expect(budget.limit(for: try resource("0.ts", of: asset)) == ByteCount(400_000_000))
        #expect(budget.limit(for: try resource("1.ts", of: asset)) == ByteCount(500))
        #expect(budget.limit(for: try resource("key", of: asset)) == ByteCount(16))
        #expect(DownloadBudget.guaranteedFileSize == ByteCount(67_108_864))
    }

    @Test func fileMayHaveExactlyItsLimit() async throws {
        let asset = try await planMedia()
        let budget = DownloadBudget(asset, in: library, DownloadLimits(fileSize: ByteCount(1_000)))
        func error(_ name: String, _ count: Int64) throws -> TransportError? {
            let resource = try resource(name, of: asset)
            try budget.check(count - 1, of: resource, at: Self.address)
            return #expect(throws: TransportError.self) { try budget.check(count, of: resource, at: Self.address) }
        }
        let key = try error("key", 17)
        #expect(key?.code == .wrongContent && key?.message == "the key is longer than 16 bytes")
        #expect(key?.address == Self.address)
        let range = try error("1.ts", 501)
        #expect(range?.code == .wrongContent && range?.message == "the server sent more than the requested 500 bytes")
        #expect(range?.address == Self.address)
        let large = try error("0.ts", 1_001)
        #expect(large?.code == .tooLarge && large?.address == Self.address)
        #expect(large?.message == "the file exceeds its size limit of 1.00 kB")
        // A byte range that exceeds the limit of a file is rejected as too large.
        let small = DownloadBudget(asset, in: library, DownloadLimits(fileSize: ByteCount(499)))
        let refused = #expect(throws: TransportError.self) {
            try small.check(500, of: try resource("1.ts", of: asset), at: Self.address)
        }
        #expect(refused?.code == .tooLarge)
        #expect(refused?.message == "the file exceeds its size limit of 499 bytes")
    }

    // MARK: Limit of the asset

    private func expectRemainingBudget(_ count: Int64, in budget: DownloadBudget, _ comment: Comment? = nil) throws {
        try budget.addBytes(count)
        let error = #expect(throws: DownloadError.self, comment) { try budget.addBytes(1) }
        #expect(error?.code == .tooLarge, comment)
        #expect(error?.hint == "use --max-size to change the limit", comment)
    }

    @Test func assetLimitFollowsFromBitRatesAndDurations() async throws {
        // The minimum is 1 GiB: 4 s are only 400 MB.
        let short = try await planMedia()
        try expectRemainingBudget(1_073_741_824, in: DownloadBudget(short, in: library, DownloadLimits()))
        let error = #expect(throws: DownloadError.self) {
            try DownloadBudget(short, in: library, DownloadLimits()).addBytes(1_073_741_825)
        }
        #expect(error?.message == "the download exceeds its size limit of 1.07 GB")
        let limits = DownloadLimits(assetSize: ByteCount(1_000))
        try expectRemainingBudget(1_000, in: DownloadBudget(short, in: library, limits))
    }

    @Test func assetLimitIsTheSumOfItsRenditions() async throws {
        func media(_ seconds: Int) -> String {
            "#EXTM3U\n#EXT-X-TARGETDURATION:\(seconds)\n#EXTINF:\(seconds),\n\(seconds).ts\n#EXT-X-ENDLIST\n"
        }
        let asset = try await plan(
            [
                "top.m3u8": """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="audio.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=8000000,AUDIO="a"
                video.m3u8

                """,
                "video.m3u8": media(1_000), "audio.m3u8": media(10),
            ],
            source: "top.m3u8"
        )
        // Four times the sum of 1 MB per second for 1000 s and 25 MB per second for 10 s.
        try expectRemainingBudget(5_000_000_000, in: DownloadBudget(asset, in: library, DownloadLimits()))
    }

    @Test func storedBytesCountAndDiscardedBytesDoNot() async throws {
        let transport = ScriptedTransport(texts: [
            Self.origin + "m.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n",
            Self.origin + "0.ts": "0123456789",
        ])
        let asset = try await AssetDownload(
            ResourceAddress(Self.origin + "m.m3u8"),
            into: library,
            loader: ResourceLoader(transport)
        ).run()
        let limits = DownloadLimits(assetSize: ByteCount(1_000))
        try expectRemainingBudget(990, in: DownloadBudget(asset, in: library, limits))
        let budget = DownloadBudget(asset, in: library, limits)
        try budget.addBytes(990)
        budget.subtractBytes(90)
        try expectRemainingBudget(90, in: budget, "90 of 990 bytes were given up")
        budget.subtractBytes(5_000)
        try expectRemainingBudget(1_000, in: budget, "no more than was counted is taken back")
    }

    @Test func concurrentTransfersStayWithinTheLimitTogether() async throws {
        let asset = try await planMedia()
        let limit: Int64 = 100_000
        for _ in 0..<20 {
            let budget = DownloadBudget(asset, in: library, DownloadLimits(assetSize: ByteCount(limit)))
            let counted = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        var counted: Int64 = 0
                        while (try? budget.addBytes(7)) != nil { counted += 7 }
                        return counted
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(counted <= limit && counted > limit - 7)
            // Bytes that were refused are not counted, and so they are not taken back.
            try budget.addBytes(limit - counted)
            #expect(throws: DownloadError.self) { try budget.addBytes(1) }
        }
    }

    // MARK: Before the first byte

    @Test func announcedSizeIsCheckedBeforeWriting() async throws {
        let asset = try await planMedia()
        let budget = DownloadBudget(
            asset,
            in: library,
            DownloadLimits(fileSize: ByteCount(600), assetSize: ByteCount(1_000), freeSpace: ByteCount(100))
        )
        let segment = try resource("0.ts", of: asset)
        try budget.checkBeforeWriting(segment, announced: 600, at: Self.address)
        let file = #expect(throws: TransportError.self) {
            try budget.checkBeforeWriting(segment, announced: 601, at: Self.address)
        }
        #expect(file?.code == .tooLarge && file?.address == Self.address)
        try budget.addBytes(500)
        try budget.checkBeforeWriting(segment, announced: 500, at: Self.address)
        let whole = #expect(throws: DownloadError.self) {
            try budget.checkBeforeWriting(segment, announced: 501, at: Self.address)
        }
        #expect(whole?.code == .tooLarge)
        files.setFreeSpace(600)
        try budget.checkBeforeWriting(segment, announced: 500, at: Self.address)
        files.setFreeSpace(599)
        let disk = #expect(throws: StorageError.self) {
            try budget.checkBeforeWriting(segment, announced: 500, at: Self.address)
        }
        #expect(disk?.code == .full)
        // Without an announced size, only the free space is checked.
        files.setFreeSpace(100)
        try budget.checkBeforeWriting(segment, announced: nil, at: Self.address)
        files.setFreeSpace(99)
        let unknown = #expect(throws: StorageError.self) {
            try budget.checkBeforeWriting(segment, announced: nil, at: Self.address)
        }
        #expect(
            unknown?.message == "the disk is nearly full: 99 bytes are free in \(library.directory.path), and "
                + "100 bytes must stay free"
        )
    }

    // MARK: Free space

    @Test func freeSpaceIsCheckedEverySixteenMebibytes() async throws {
        let asset = try await planMedia()
        let limits = DownloadLimits(freeSpace: ByteCount(1_000))
        let budget = DownloadBudget(asset, in: library, limits)
        files.setFreeSpace(999)
        #expect(throws: StorageError.self, "the first time, at once") { try budget.addBytes(0) }
        for _ in 0..<2 {
            // The interval restarts with each check.
            try budget.addBytes((16 << 20) - 1)
            #expect(throws: StorageError.self) { try budget.addBytes(1) }
        }
        files.setFreeSpace(1_016)
        try budget.addBytes((16 << 20) - 16)
        try budget.addBytes(16)
        try budget.addBytes((16 << 20) - 17)
        #expect(throws: StorageError.self, "the bytes that are about to be written count") { try budget.addBytes(17) }
    }

    @Test func limitsHaveTheDocumentedDefaults() {
        let limits = DownloadLimits()
        #expect(limits.fileSize == ByteCount(17_179_869_184) && limits.assetSize == ByteCount(1_099_511_627_776))
        #expect(limits.playlistSize == ByteCount(268_435_456) && limits.freeSpace == ByteCount(268_435_456))
        let others = DownloadLimits(
            fileSize: ByteCount(1),
            assetSize: ByteCount(2),
            playlistSize: ByteCount(3),
            freeSpace: ByteCount(4)
        )
        #expect(others.fileSize == ByteCount(1) && others.assetSize == ByteCount(2))
        #expect(others.playlistSize == ByteCount(3) && others.freeSpace == ByteCount(4))
    }
}

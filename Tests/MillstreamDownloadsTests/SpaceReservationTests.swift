import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests the space that transfers reserve within the limits of a library.
@Suite(.timeLimit(.minutes(5))) struct SpaceReservationTests {
    private static let base = "https://films.example/"
    private static let source = ResourceAddress(base + "media.m3u8")
    private static let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
    private let temporary: TemporaryLibrary
    private let library: AssetLibrary

    init() throws {
        temporary = try TemporaryLibrary()
        let files = RecordingFiles(temporary.directory)
        library = try AssetLibrary(directory: temporary.directory, files: files)
        files.setFreeSpace(1 << 40)
    }

    /// Limits that all files of the tests satisfy.
    private static let limits = StorageLimits(minimumFreeSpace: ByteCount(1))

    private var reserved: Int64 { library.space.reservedBytes.bytes }
    private var stored: Int64 { library.space.storedBytes.bytes }

    private func makeBudget() throws -> DownloadBudget {
        let id = try library.addAsset(source: Self.source, title: "A", selection: "")
        return DownloadBudget(try library.asset(id), in: library, DownloadLimits())
    }

    @Test func announcedSizeAndABlockAreReserved() async throws {
        try library.setStorageLimits(Self.limits)
        let budget = try makeBudget()
        var space = try await budget.reserveSpace(for: 1_000)
        #expect(reserved == 5_096)
        try await budget.useSpace(600, of: &space)
        #expect(reserved == 4_496 && stored == 600)
        // The rest can be used without another reservation.
        try await budget.useSpace(4_496, of: &space)
        #expect(reserved == 0 && stored == 5_096)
        // More than was announced is reserved in steps of 1 MiB.
        try await budget.useSpace(10_000, of: &space)
        #expect(reserved == 1_048_576 - 10_000 && stored == 15_096)
        try await budget.useSpace(3 << 20, of: &space)
        #expect(reserved == 0 && stored == 15_096 + 3_145_728)
        budget.endReservation(space)
        #expect(reserved == 0)
    }

    @Test func spaceThatIsNotUsedIsReleased() async throws {
        try library.setStorageLimits(Self.limits)
        let budget = try makeBudget()
        var unknown = try await budget.reserveSpace(for: nil)
        let other = try await budget.reserveSpace(for: 10)
        #expect(reserved == 1_048_576 + 4_096 + 10 + 4_096)
        try await budget.useSpace(100, of: &unknown)
        budget.endReservation(unknown)
        #expect(reserved == 10 + 4_096 && stored == 100)
        budget.endReservation(other)
        #expect(reserved == 0 && stored == 100)
    }

    @Test func nothingIsReservedWithoutLimits() async throws {
        let budget = try makeBudget()
        var space = try await budget.reserveSpace(for: 1_000)
        try await budget.useSpace(5_000, of: &space)
        #expect(reserved == 0)
        budget.endReservation(space)
        #expect(reserved == 0)
    }

    /// No reservation of a transfer that has ended stays, so that other downloads have the space.
    @Test(
        arguments: [
            (.text("0123456789"), true), (.truncated(Array("012".utf8), announced: 10), false),
            (.failure(TransportError(.status, "not found", status: 404)), false),
            (.truncated(Array("012".utf8), announced: 1_000), false),
        ] as [(ScriptedTransport.Response, Bool)]
    )
    func transferReleasesItsSpace(response: ScriptedTransport.Response, isStored: Bool) async throws {
        try library.setStorageLimits(Self.limits)
        let transport = ScriptedTransport(texts: [Self.source.text: Self.playlist])
        transport.setResponses(for: Self.base + "0.ts", response)
        let download = AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(limits: DownloadLimits(fileSize: ByteCount(100)))
        )
        if isStored {
            #expect(try await download.run().state == .complete)
        } else {
            await #expect(throws: DownloadError.self) { try await download.run() }
        }
        #expect(reserved == 0)
    }

    /// The initialization section of the second media playlist is copied from that of the first one.
    @Test func copyReleasesItsSpace() async throws {
        try library.setStorageLimits(Self.limits)
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MAP:URI=\"i.mp4\"\n#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n"
        let transport = ScriptedTransport(texts: [
            Self.source.text: """
            #EXTM3U
            #EXT-X-STREAM-INF:BANDWIDTH=500000
            low.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000
            high.m3u8

            """,
            Self.base + "low.m3u8": media, Self.base + "high.m3u8": media.replacing("0.ts", with: "1.ts"),
            Self.base + "i.mp4": "init", Self.base + "0.ts": "zero", Self.base + "1.ts": "one",
        ])
        let asset = try await AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(selection: DownloadSelection(variants: .all))
        ).run()
        #expect(asset.state == .complete && asset.bytes == ByteCount(4 + 4 + 4 + 3))
        #expect(transport.requestedAddresses.count { $0.hasSuffix("i.mp4") } == 1)
        #expect(reserved == 0 && stored >= 15)
    }
}

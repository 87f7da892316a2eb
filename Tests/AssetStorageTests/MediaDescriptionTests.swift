import GRDB
import HLSPlaylist
import MediaTiming
import Testing

@testable import AssetStorage

/// Tests what a library lists of sources without variants.
@Suite struct MediaDescriptionTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    private static func media(_ names: String...) throws -> MediaPlaylist {
        try TemporaryLibrary.playlist(
            ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + names.flatMap { ["#EXTINF:4,", $0] }
        )
    }

    private static let description = MediaDescription(
        width: 640,
        height: 360,
        audioLanguages: ["en", "und"],
        subtitleLanguages: ["ko"]
    )

    private func describe(_ id: String) throws {
        let media = try #require(try library.undescribedMedia(of: id))
        try library.describe(Self.description, of: media)
    }

    @Test func qualityIsTheBitRateOfWhatIsStored() throws {
        let id = try temporary.planned(Self.media("0.ts", "1.ts"))
        #expect(try library.summary(id).quality.isEmpty)
        let missing = try library.missingResources(id)
        try temporary.store(Array(missing.prefix(1)), of: id, content: String(repeating: "x", count: 50_000))
        #expect(try library.summary(id).quality == "100 kbit/s")
        try temporary.store(Array(missing.dropFirst()), of: id, content: String(repeating: "y", count: 150_000))
        try library.finish(id)
        #expect(try library.summaries().map(\.quality) == ["200 kbit/s"])
        let rendition = try library.asset(id).renditions.first
        #expect(rendition?.bandwidth == nil && rendition?.averageBitRate == BitRate(bitsPerSecond: 200_000))
        #expect(try library.assets() == [library.asset(id)])
    }

    @Test func declaredBitRateIsThatOfTheVariant() throws {
        let source = try TemporaryLibrary.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=900000", "low.m3u8")
        guard case .multivariant(let multivariant) = source else {
            Issue.record("the source is not a multivariant playlist")
            return
        }
        let id = try temporary.enter()
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, Self.media("0.ts"), variant: multivariant.variants[0])
        )
        try temporary.complete(id)
        #expect(try library.summary(id).quality == "900 kbit/s")
        #expect(try library.asset(id).renditions.map(\.averageBitRate) == [nil])
        #expect(try library.undescribedMedia(of: id) == nil)
    }

    @Test func describedMediaIsListedWithItsHeightAndItsLanguages() throws {
        let id = try temporary.planned(Self.media("0.ts", "1.ts"))
        #expect(try library.undescribedMedia(of: id) == nil)
        try temporary.complete(id)
        try describe(id)
        let summary = try library.summary(id)
        #expect(summary.quality == "360p" && summary.languages == "en (subtitles ko)")
        #expect(try library.summaries() == [summary])
        #expect(try library.undescribedMedia(of: id) == nil)
    }

    @Test func descriptionIsThatOfTheSameMedia() throws {
        let first = try Self.media("0.ts", "1.ts")
        let id = try temporary.planned(first)
        try temporary.complete(id)
        try describe(id)
        let more = try Self.media("0.ts", "1.ts", "2.ts")
        try temporary.plan(id, .media(more), TemporaryLibrary.rendition(.variant, -1, more))
        #expect(try library.summary(id).quality == "360p")
        let other = try Self.media("a.ts", "b.ts", "c.ts")
        try temporary.plan(id, .media(other), TemporaryLibrary.rendition(.variant, -1, other))
        #expect(try library.asset(id).renditions.map(\.height) == [nil])
        #expect(try library.summary(id).languages.isEmpty)
    }

    @Test func encryptedSegmentDescribesNothing() throws {
        let playlist = try TemporaryLibrary.media("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:4,", "0.ts")
        let id = try temporary.planned(playlist)
        try temporary.store(library.missingResources(id), of: id)
        #expect(try library.undescribedMedia(of: id) == nil)
    }

    @Test func initializationSectionDescribesItsSegments() throws {
        let playlist = try TemporaryLibrary.media("#EXT-X-MAP:URI=\"i.mp4\"", "#EXTINF:4,", "0.m4s")
        let id = try temporary.planned(playlist)
        let missing = try library.missingResources(id)
        try temporary.store(missing.filter { $0.kind == .segment }, of: id)
        #expect(try library.undescribedMedia(of: id) == nil)
        try temporary.store(missing.filter { $0.kind == .initialization }, of: id)
        #expect(try library.undescribedMedia(of: id)?.resource.kind == .initialization)
    }

    /// Summaries of an earlier version do not have the bit rate.
    @Test func summariesOfAnEarlierVersionAreComputedAgain() throws {
        let queue = try DatabaseQueue()
        try Schema.migrator.migrate(queue, upTo: "languages-of-media-files")
        try queue.write { database in
            for (id, bandwidth) in [("a", "NULL"), ("b", "900000")] {
                try database.execute(
                    sql: """
                        INSERT INTO asset VALUES ('\(id)', 'A', 'https://h/\(id)', 1, 'complete', '', NULL, NULL);
                        INSERT INTO rendition (assetID, folder, role, position, bandwidth, codecs, playlist, address)
                        VALUES ('\(id)', 'media', 'variant', -1, \(bandwidth), '', '', '');
                        INSERT INTO assetSummary VALUES ('\(id)', 'A', 1, 1, 100, '4', 10, 4096, '', '', 0, 1)
                        """
                )
            }
        }
        try Schema.migrator.migrate(queue)
        let remaining = try queue.read { try String.fetchAll($0, sql: "SELECT assetID FROM assetSummary") }
        #expect(remaining == ["b"])
    }
}

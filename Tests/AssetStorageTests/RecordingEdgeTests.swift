import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the tags of recorded segments, and when segments are published.
@Suite struct RecordingEdgeTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Parses a live playlist whose first segment has the media sequence number 10.
    private static func live(_ lines: String...) throws -> MediaPlaylist {
        let header = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:10"]
        return try MediaPlaylist(
            parsing: Array((header + lines + [""]).joined(separator: "\n").utf8),
            context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"))
        )
    }

    private func begin(_ playlist: MediaPlaylist) throws -> (id: String, writer: RecordingWriter) {
        let id = try temporary.enter()
        let result = try library.beginRecording(
            of: id,
            source: .media(playlist),
            at: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"),
            renditions: [TemporaryLibrary.rendition(.variant, -1, playlist)]
        )
        try library.publishRecording(id)
        return (id, try #require(result.writers.first))
    }

    /// The lines of the recorded segments.
    private func recorded() throws -> [String] {
        try library.catalog.read { database in
            try String.fetchAll(database, sql: "SELECT lines FROM recordedSegment ORDER BY position")
        }
    }

    /// The lines of the local playlist after the header.
    private func published(_ id: String) throws -> String {
        let text = try temporary.text("media/media.m3u8", of: id)
        let header = "#EXT-X-PLAYLIST-TYPE:EVENT\n"
        return text.firstRange(of: header).map { String(text[$0.upperBound...]) } ?? text
    }

    // MARK: Segments

    @Test(arguments: [false, true]) func discontinuityIsThatOfTheNextSegment(isDeclared: Bool) throws {
        let tags = isDeclared ? ["#EXT-X-DISCONTINUITY"] : []
        let text = (["#EXTINF:4,", "s10.ts"] + tags + ["#EXTINF:4,", "s11.ts"]).joined(separator: "\n")
        let playlist = try Self.live(text, "#EXTINF:4,", "s12.ts")
        let (_, writer) = try begin(playlist)
        _ = try writer.append(0..<1, of: playlist)
        _ = try writer.append(1..<3, of: playlist, hasDiscontinuity: !isDeclared)
        #expect(try recorded().map { $0.contains("#EXT-X-DISCONTINUITY") } == [false, true, false])
    }

    /// Without an initialization section, a segment after others that have one would be played with theirs.
    @Test func segmentThatLosesItsInitializationSectionIsAGap() throws {
        let first = try Self.live(#"#EXT-X-MAP:URI="i.mp4""#, "#EXTINF:4,", "s10.m4s")
        let next = try Self.live("#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXT-X-GAP", "#EXTINF:4,", "s12.ts")
        let (id, writer) = try begin(first)
        let files = try writer.append(0..<1, of: first).files
        #expect(files.map(\.resource.kind) == [.initialization, .segment])
        let lost = try writer.append(1..<3, of: next)
        #expect(lost.files.isEmpty && lost.unplayableCount == 1)
        #expect(try recorded().map { $0.contains("#EXT-X-GAP") } == [false, true, true])
        // A later run continues the same recording.
        let again = try begin(first)
        let later = try again.writer.append(0..<1, of: next)
        #expect(again.id == id && later.files.isEmpty && later.unplayableCount == 1)
        let fragmented = try again.writer.append(0..<1, of: first)
        #expect(fragmented.files.last?.isSegment == true && fragmented.unplayableCount == 0)
    }

    @Test func gapOfTheOriginIsPublishedAtOnce() throws {
        let playlist = try Self.live("#EXT-X-GAP", "#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts")
        let (id, writer) = try begin(playlist)
        let files = try writer.append(0..<2, of: playlist).files
        #expect(files.map(\.sequence) == [11] && files.map(\.position) == [1])
        #expect(try published(id) == "#EXT-X-GAP\n#EXTINF:4,\n000000.ts\n")
    }

    @Test func iFramePlaylistsOfARecordingAreNotMissing() throws {
        let playlist = try Self.live("#EXTINF:4,", "s10.ts")
        let source = try TemporaryLibrary.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=8",
            "v.m3u8",
            #"#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8""#
        )
        let id = try temporary.enter()
        _ = try library.beginRecording(
            of: id,
            source: source,
            at: ResourceAddress(TemporaryLibrary.origin + "top.m3u8"),
            renditions: [TemporaryLibrary.rendition(.variant, 0, playlist)]
        )
        #expect(try library.omittedContent(of: id).isEmpty)
    }

    // MARK: Date ranges

    private static func range(_ id: String, _ attributes: String) -> String {
        "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:00Z\",\(attributes)"
    }

    @Test func changedDateRangeReplacesTheRecordedOne() throws {
        func playlist(_ value: String) throws -> MediaPlaylist {
            try Self.live(Self.range("a", "X-A=\(value)"), "#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts")
        }
        let first = try playlist("1")
        let (_, writer) = try begin(first)
        _ = try writer.append(0..<1, of: first)
        _ = try writer.append(1..<2, of: try playlist("2"))
        let before = try recorded()
        #expect(before.map { $0.contains("#EXT-X-DATERANGE:") } == [true, false])
        #expect(before[0].hasPrefix(Self.range("a", "X-A=2") + "\n"))
        let counts = Mutex<[Int64]>([])
        let supervision = RecordingWriter.Supervision(willStore: { count in counts.withLock { $0.append(count) } })
        try writer.updateDateRanges(of: try playlist("2"), supervision: supervision)
        #expect(counts.withLock { $0 }.isEmpty)
        try writer.updateDateRanges(of: try playlist("333"), supervision: supervision)
        #expect(counts.withLock { $0 } == [4])
        #expect(try recorded() == [before[0].replacing("X-A=2\n", with: "X-A=333\n"), before[1]])
    }

    /// A player must not request an interstitial whose media is not stored.
    @Test func interstitialIsRecordedAndNotPublished() throws {
        let playlist = try Self.live(
            Self.range("a", "X-ASSET-URI=\"ad.m3u8\""),
            Self.range("b", "X-A=1"),
            "#EXTINF:4,",
            "s10.ts"
        )
        let (id, writer) = try begin(playlist)
        _ = try writer.append(0..<1, of: playlist)
        try writer.settle(0)
        let (origin, other) = (TemporaryLibrary.origin, Self.range("b", "X-A=1") + "\n")
        #expect(try published(id) == other + "#EXTINF:4,\n000000.ts\n")
        let interstitial = Self.range("a", "X-ASSET-URI=\"\(origin)ad.m3u8\"") + "\n"
        #expect(try recorded() == [interstitial + other + "#EXTINF:4,\n\(origin)s10.ts\n"])
    }

    @Test func recordedDateRangesAreKnownToALaterRun() throws {
        let tags = [Self.range("a", "X-A=1"), "#EXT-X-CUE-OUT:4", "#EXT-X-DISCONTINUITY"]
        let lines = (["#EXTINF:4,", "s10.ts"] + tags).joined(separator: "\n")
        let playlist = try Self.live(lines, "#EXTINF:4,", "s11.ts")
        let (_, writer) = try begin(playlist)
        _ = try writer.append(1..<2, of: playlist, gaps: [MediaTime(seconds: 4)])
        let known = try library.catalog.read { try Int64.fetchOne($0, sql: "SELECT id FROM rendition") }
        let rendition = try #require(known)
        let budget = MetadataBudget()
        var metadata = try library.catalog.read { try RecordedMetadata(of: rendition, $0, budget) }
        // The tags of the segment itself are no metadata.
        #expect(budget.size == tags[0].utf8.count + tags[1].utf8.count)
        let again = try metadata.newDateRanges(of: playlist, from: playlist.segments[1], at: 9)
        #expect(again.lines.isEmpty && again.changes.isEmpty)
        let changes = try metadata.changedDateRanges(of: Self.live(Self.range("a", "X-A=2"), "#EXTINF:4,", "s10.ts"))
        #expect(changes.map(\.position) == [1] && changes.map(\.former) == [tags[0]])
    }

    // MARK: Playlist files

    @Test func fileIsWrittenWhenSegmentsAreSettled() throws {
        let url = temporary.directory.appendingPathComponent("live.m3u8")
        let file = RecordingPlaylistFile(at: url, files: temporary.files, segmentCount: 0, targetDuration: 4)
        // Only a longer segment changes the header.
        let isLonger = ([4, 5, 5, 3] as [Int64]).map { file.add([:], targetDuration: $0) }
        #expect(isLonger == [false, true, false, false])
        file.settle(3)
        file.markAsGap(3)
        #expect(throws: Never.self) { try file.publish() }
        _ = file.add(
            [
                0: RecordingPlaylistFile.Segment(lines: "#EXTINF:4,\na\n", isSettled: true),
                1: RecordingPlaylistFile.Segment(lines: "#EXTINF:4,\nb\n", isSettled: false),
            ],
            targetDuration: 5
        )
        let error = storageError { try file.publish() }
        #expect(error?.message.hasPrefix("\(url.path) cannot be written (") == true)
        try Data().write(to: url)
        try file.publish()
        #expect(try String(contentsOf: url, encoding: .utf8) == "#EXTINF:4,\na\n")
        file.markAsGap(1)
        for _ in 0..<2 { try file.publish() }
        #expect(try String(contentsOf: url, encoding: .utf8) == "#EXTINF:4,\na\n#EXT-X-GAP\n#EXTINF:4,\nb\n")
    }

    @Test func targetDurationThatIsNoNumberIsASecond() {
        #expect(RecordingHeader("#EXT-X-TARGETDURATION:x\n").targetDuration == 1)
        #expect(RecordingHeader("#EXT-X-TARGETDURATION:7\n").targetDuration == 7)
    }
}

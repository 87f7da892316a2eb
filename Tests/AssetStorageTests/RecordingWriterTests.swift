import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import AssetStorage

/// Tests the playlists of recordings.
@Suite struct RecordingWriterTests {
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

    private static func plain() throws -> MediaPlaylist {
        try live("#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXTINF:4,", "s12.ts")
    }

    private func begin(
        _ playlist: MediaPlaylist
    ) throws -> (id: String, writer: RecordingWriter, missing: [RecordingWriter.File]) {
        let id = try temporary.enter()
        let result = try library.beginRecording(
            of: id,
            source: .media(playlist),
            at: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"),
            renditions: [TemporaryLibrary.rendition(.variant, -1, playlist)]
        )
        try library.publishRecording(id)
        return (id, try #require(result.writers.first), try #require(result.missing.first))
    }

    private static let header = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:EVENT\n"

    /// The local playlist without its header.
    private func text(_ id: String, header: String = Self.header) throws -> String {
        let text = try temporary.text("media/media.m3u8", of: id)
        #expect(text.hasPrefix(header))
        return String(text.dropFirst(header.count))
    }

    /// The positions, the sequence numbers and the lines of the recorded segments.
    private func recorded() throws -> [String] {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        return try database.read { database in
            try Row.fetchAll(database, sql: "SELECT position, sequence, lines FROM recordedSegment ORDER BY position")
                .map { row in
                    let (position, sequence, lines): (Int, Int64, String) = (row[0], row[1], row[2])
                    return "\(position) \(sequence) \(lines.replacing("\n", with: " "))"
                }
        }
    }

    // MARK: Segments

    @Test func segmentsArePublishedInOrderWhenTheyAreStored() throws {
        let playlist = try Self.live(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key""#,
            "#EXT-X-DISCONTINUITY",
            "#EXTINF:4,",
            "s10.ts",
            "#EXT-X-KEY:METHOD=NONE",
            "#EXT-X-DISCONTINUITY",
            "#EXTINF:4,",
            "s11.ts",
            "#EXTINF:3.5,a title",
            "#EXT-X-BYTERANGE:10@20",
            "s12.ts"
        )
        let (id, writer, missing) = try begin(playlist)
        #expect(missing.isEmpty && writer.last == nil && writer.end == .zero && writer.formerByteCount == 0)
        #expect(writer.role == .variant && writer.position == -1 && writer.folder == "media")
        let appended = try writer.append(0..<3, of: playlist)
        #expect(appended.unplayableCount == 0)
        #expect(appended.files.map(\.resource.kind) == [.key, .segment, .segment, .segment])
        #expect(appended.files.map(\.isSegment) == [false, true, true, true])
        #expect(appended.files.map(\.position) == [0, 0, 1, 2] && appended.files.map(\.sequence) == [10, 10, 11, 12])
        #expect(writer.end.description == "11.5" && writer.last?.sequence == 12)
        #expect(writer.last?.uri == TemporaryLibrary.origin + "s12.ts")
        #expect(try text(id).isEmpty)
        try writer.settle(2)
        try writer.settle(1)
        #expect(try text(id).isEmpty)
        try writer.settle(0)
        let vector = "IV=0x0000000000000000000000000000000A"
        let expected = """
            #EXT-X-KEY:METHOD=AES-128,URI="key-9f521ab0ec29d751f6cd7f04fad35df8.key",\(vector)
            #EXTINF:4,
            000000.ts
            #EXT-X-DISCONTINUITY
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            000001.ts
            #EXTINF:3.5,a title
            000002.ts

            """
        #expect(try text(id) == expected)
        let origin = TemporaryLibrary.origin
        #expect(
            try recorded() == [
                "0 10 #EXT-X-KEY:METHOD=AES-128,URI=\"\(origin)key\",\(vector) #EXTINF:4, \(origin)s10.ts ",
                "1 11 #EXT-X-DISCONTINUITY #EXT-X-KEY:METHOD=NONE #EXTINF:4, \(origin)s11.ts ",
                "2 12 #EXTINF:3.5,a title #EXT-X-BYTERANGE:10@20 \(origin)s12.ts ",
            ]
        )
        // A segment is published once.
        try writer.settle(0)
        #expect(try text(id) == expected)
    }

    @Test func lostSegmentsAreGapsBeforeTheFirst() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        let gaps = [MediaTime(seconds: 4), MediaTime(seconds: 2)]
        let files = try writer.append(0..<1, of: playlist, gaps: gaps, hasDiscontinuity: true).files
        #expect(files.map(\.position) == [2] && files.map(\.resource.path) == ["media/000002.ts"])
        #expect(files.first?.resource.timeRange.start == MediaTime(seconds: 6))
        #expect(writer.end == MediaTime(seconds: 10))
        let lost = "#EXT-X-GAP\n#EXTINF:4,\n000000.gap\n#EXT-X-GAP\n#EXTINF:2,\n000001.gap\n"
        #expect(try text(id) == lost)
        try writer.settle(2)
        #expect(try text(id) == lost + "#EXT-X-DISCONTINUITY\n#EXTINF:4,\n000002.ts\n")
        #expect(
            try recorded() == [
                "0 8 #EXT-X-GAP #EXTINF:4, 000000.gap ", "1 9 #EXT-X-GAP #EXTINF:2, 000001.gap ",
                "2 10 #EXT-X-DISCONTINUITY #EXTINF:4, \(TemporaryLibrary.origin)s10.ts ",
            ]
        )
    }

    @Test func segmentThatCannotBeFetchedIsAGap() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        _ = try writer.append(0..<3, of: playlist)
        try writer.markAsGap(1)
        #expect(try text(id).isEmpty)
        try writer.settle(0)
        #expect(try text(id) == "#EXTINF:4,\n000000.ts\n#EXT-X-GAP\n#EXTINF:4,\n000001.ts\n")
        #expect(try recorded()[1] == "1 11 #EXT-X-GAP #EXTINF:4, \(TemporaryLibrary.origin)s11.ts ")
        #expect(try library.missingResources(id).map(\.path) == ["media/000000.ts", "media/000002.ts"])
    }

    @Test func sizeIsThatOfTheLines() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        let counts = Mutex<[Int64]>([])
        let supervision = RecordingWriter.Supervision(willStore: { count in counts.withLock { $0.append(count) } })
        _ = try writer.append(0..<2, of: playlist, supervision: supervision)
        let origin = "#EXTINF:4,\n\(TemporaryLibrary.origin)s10.ts\n".utf8.count
        let local = "#EXTINF:4,\n000000.ts\n".utf8.count
        #expect(counts.withLock { $0 } == [Int64(2 * (origin + local))])
        // A later run counts twice what is recorded.
        let again = try begin(playlist)
        #expect(again.id == id && again.writer.formerByteCount == Int64(4 * origin))
    }

    @Test(arguments: [true, false]) func nothingIsAddedAfterAnError(isLimit: Bool) throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        let calls = Mutex(0)
        let supervision = RecordingWriter.Supervision(
            checkCancellation: {
                let count = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if !isLimit, count == 3 { throw CancellationError() }
            },
            willStore: { _ in if isLimit { throw StorageError(.full, "full") } }
        )
        #expect(throws: (any Error).self) { _ = try writer.append(0..<3, of: playlist, supervision: supervision) }
        #expect(calls.withLock { $0 } == 3)
        #expect(writer.last == nil && writer.end == .zero)
        #expect(try recorded().isEmpty && library.missingCount(id) == 0)
        #expect(try writer.append(0..<3, of: playlist).files.map(\.position) == [0, 1, 2])
        #expect(try writer.append(3..<3, of: playlist).files.isEmpty)
    }

    @Test func longerSegmentRaisesTheTargetDuration() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        _ = try writer.append(0..<1, of: playlist)
        try writer.settle(0)
        let longer = try Self.live("#EXTINF:4,", "s10.ts", "#EXTINF:6.5,", "s11.ts")
        _ = try writer.append(1..<2, of: longer)
        let header = Self.header.replacing("DURATION:4", with: "DURATION:7")
        #expect(try text(id, header: header) == "#EXTINF:4,\n000000.ts\n")
        try writer.settle(1)
        #expect(try text(id, header: header) == "#EXTINF:4,\n000000.ts\n#EXTINF:6.5,\n000001.ts\n")
        // The catalog has the same header.
        try library.publishRecording(id)
        #expect(try text(id, header: header).hasPrefix("#EXTINF:4,\n"))
    }

    @Test func dateOfTheFirstSegmentIsRecorded() throws {
        let date = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z"
        let playlist = try Self.live(date, "#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXTINF:4,", "s12.ts")
        let (_, writer, _) = try begin(playlist)
        _ = try writer.append(1..<3, of: playlist)
        #expect(try recorded().map { $0.contains("#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:04") } == [true, false])
        let next = try Self.live(date, "#EXTINF:4,", "s10.ts")
        _ = try writer.append(0..<1, of: next, gaps: [MediaTime(seconds: 1)])
        #expect(try recorded().map { $0.contains("PROGRAM-DATE-TIME") } == [true, false, false, true])
    }

    @Test func continuedRecordingFollowsTheLastSegment() throws {
        let playlist = try Self.live(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "s10.ts",
            "#EXTINF:2,",
            "s11.ts"
        )
        let (id, writer, _) = try begin(playlist)
        _ = try writer.append(0..<2, of: playlist)
        try writer.markAsGap(1)
        let again = try begin(playlist)
        #expect(again.missing.map(\.resource.kind) == [.key, .segment])
        #expect(again.missing.map(\.sequence) == [0, 10] && again.missing.map(\.position) == [-1, 0])
        #expect(again.writer.end == MediaTime(seconds: 6) && again.writer.last?.sequence == 11)
        #expect(again.writer.last?.uri == TemporaryLibrary.origin + "s11.ts")
        let before = try text(id)
        let next = try Self.live("#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXTINF:4,", "s12.ts")
        _ = try again.writer.append(2..<3, of: next)
        try again.writer.settle(2)
        // The key of the earlier run does not apply.
        #expect(try text(id) == before + "#EXT-X-KEY:METHOD=NONE\n#EXTINF:4,\n000002.ts\n")
    }

    @Test func fileThatHasMovedHasItsNewURL() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        let file = try #require(try writer.append(0..<1, of: playlist).files.first)
        let other = try Self.live("#EXTINF:4,", "moved.ts")
        let moved = try writer.move(file, to: other.segments[0])
        #expect(moved.resource.address.lastPathComponent == "moved.ts" && moved.resource.path == file.resource.path)
        #expect(moved.position == file.position && moved.sequence == file.sequence)
        #expect(try library.resources(id).map(\.address.lastPathComponent) == ["moved.ts"])
    }

    @Test func recordingIsToldFromADownload() throws {
        let playlist = try Self.plain()
        let (id, writer, _) = try begin(playlist)
        #expect(try library.isRecording(id))
        #expect(throws: Never.self) { try library.checkRecording(of: id) }
        let file = try #require(try writer.append(0..<1, of: playlist).files.first)
        try temporary.store([file.resource], of: id)
        try writer.settle(0)
        #expect(try library.endRecording(id, isComplete: true).hasMedia)
        #expect(try !library.isRecording(id))
        #expect(throws: Never.self) { try library.checkRecording(of: id) }
        let other = try temporary.enter(from: "film.m3u8")
        let film = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(other, .media(film), TemporaryLibrary.rendition(.variant, -1, film))
        #expect(try !library.isRecording(other))
        #expect(storageError { try library.checkRecording(of: other) }?.code == "not-recorded")
    }

    // MARK: Headers

    @Test(
        arguments: [
            (["#EXT-X-TARGETDURATION:4", "#EXTINF:4,", "0.ts"], 8, 4, false),
            (["#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:4", "#EXTINF:4.5,", "0.ts"], 9, 5, false),
            (["#EXT-X-VERSION:12", "#EXT-X-TARGETDURATION:4", "#EXTINF:4.4,", "0.ts"], 12, 4, false),
            (["#EXT-X-VERSION:13", "#EXT-X-TARGETDURATION:0", "#EXTINF:0.4,", "0.ts"], 12, 1, false),
            (["#EXT-X-TARGETDURATION:8", "#EXT-X-INDEPENDENT-SEGMENTS", "#EXTINF:4,", "0.ts"], 8, 8, true),
        ] as [([String], Int, Int64, Bool)]
    )
    func headerIsThatOfTheOrigin(lines: [String], version: Int, target: Int64, isIndependent: Bool) throws {
        let header = RecordingHeader(of: try TemporaryLibrary.playlist(["#EXTM3U"] + lines))
        #expect(
            header.text == "#EXTM3U\n#EXT-X-VERSION:\(version)\n#EXT-X-TARGETDURATION:\(target)\n"
                + "#EXT-X-PLAYLIST-TYPE:EVENT\n" + (isIndependent ? "#EXT-X-INDEPENDENT-SEGMENTS\n" : "")
        )
        #expect(header.isRecording && !header.hasEnded && header.targetDuration == target)
    }

    @Test func endedRecordingCanBeContinued() {
        var header = RecordingHeader(Self.header)
        header.hasEnded = true
        #expect(header.hasEnded && header.isRecording && header.targetDuration == 4)
        #expect(header.text == Self.header.replacing("EVENT", with: "VOD"))
        header.hasEnded = true
        #expect(header.hasEnded)
        header.hasEnded = false
        #expect(header.text == Self.header)
        header.targetDuration = 10
        #expect(header.text == Self.header.replacing("DURATION:4", with: "DURATION:10"))
    }

    @Test(
        arguments: [
            ("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n", true), ("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n", true),
            ("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT\n#EXTINF:4,\n0.ts\n", false),
            ("#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:4,\n0.ts\n", false), ("#EXTM3U\n", false), ("", false),
        ]
    )
    func recordingHasNoSegmentsInItsHeader(text: String, isRecording: Bool) {
        #expect(RecordingHeader(text).isRecording == isRecording)
        // Without the tag, the target duration is a second.
        #expect(RecordingHeader(text).targetDuration == 1)
    }
}

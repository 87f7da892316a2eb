import MediaTiming
import ReportFormat
import ResourceAddressing
import SeededRandomness
import Testing

@testable import HLSPlaylist

/// A live stream whose media playlist is regenerated for each reload.
private struct LiveStream {
    var lines: [[String]] = []
    var first = 0
    var header = "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:6\n"

    mutating func append(using generator: inout SeededGenerator) {
        let number = first + lines.count
        var block: [String] = []
        if Int.random(in: 0..<6, using: &generator) == 0 { block.append("#EXT-X-DISCONTINUITY") }
        if Int.random(in: 0..<5, using: &generator) == 0 {
            block.append("#EXT-X-KEY:METHOD=AES-128,URI=\"k\(number)\"")
        }
        if Int.random(in: 0..<5, using: &generator) == 0 {
            block.append("#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:\(10 + number % 50):00Z")
        }
        if Int.random(in: 0..<7, using: &generator) == 0 { block.append("#EXT-X-MAP:URI=\"i\(number).mp4\"") }
        if Int.random(in: 0..<4, using: &generator) == 0 { block.append("#EXT-X-BYTERANGE:\(number + 1)@\(number)") }
        if Int.random(in: 0..<9, using: &generator) == 0 { block.append("#EXT-X-CUE-OUT:\(number)") }
        let digits = ["4", "4.5", "4.004", "3.999999", "5.0000001"].randomElement(using: &generator) ?? "4"
        lines.append(block + ["#EXTINF:\(digits),", "segment\(number).ts"])
    }

    func text(ended: Bool = false) -> [UInt8] {
        let body = lines.map { $0.joined(separator: "\n") + "\n" }.joined()
        return Array((header + "#EXT-X-MEDIA-SEQUENCE:\(first)\n" + body + (ended ? "#EXT-X-ENDLIST\n" : "")).utf8)
    }
}

@Suite struct PlaylistUpdateTests {
    private func expectEqual(_ first: MediaPlaylist, _ second: MediaPlaylist, _ comment: Comment) {
        #expect(first.bytes == second.bytes, comment)
        #expect(Playlist.media(first).report.json == Playlist.media(second).report.json, comment)
        #expect(first.index.tags.map(\.lineStart) == second.index.tags.map(\.lineStart), comment)
        #expect(first.index.segments.map(\.blockStart) == second.index.segments.map(\.blockStart), comment)
        #expect(first.index.trailerStart == second.index.trailerStart, comment)
    }

    @Test(arguments: 0..<40)
    func incrementalParsingEqualsFullParsing(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var stream = LiveStream()
        for _ in 0..<Int.random(in: 1..<12, using: &generator) { stream.append(using: &generator) }
        var previous = try MediaPlaylist(parsing: stream.text())
        for step in 0..<30 {
            let gone = min(Int.random(in: 0..<3, using: &generator), stream.lines.count - 1)
            stream.lines.removeFirst(gone)
            stream.first += gone
            for _ in 0..<Int.random(in: 0..<3, using: &generator) { stream.append(using: &generator) }
            if Int.random(in: 0..<8, using: &generator) == 0 { stream.header += "# changed\n" }
            if Int.random(in: 0..<12, using: &generator) == 0 {
                let victim = Int.random(in: 0..<stream.lines.count, using: &generator)
                stream.lines[victim][stream.lines[victim].count - 1] += "?changed"
            }
            if Int.random(in: 0..<15, using: &generator) == 0 { stream.first += 7 }
            let bytes = stream.text(ended: step == 29)
            let updated = try MediaPlaylist(parsing: bytes, after: previous)
            expectEqual(updated, try MediaPlaylist(parsing: bytes), "seed \(seed), step \(step)")
            previous = updated
        }
    }

    @Test func unrelatedPlaylistIsParsedFromScratch() throws {
        let media = try MediaPlaylist(parsing: Array("#EXTM3U\n#EXTINF:1,\na\n#EXTINF:1,\nb\n".utf8))
        let texts = [
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:99\n#EXTINF:1,\na\n", "#EXTM3U\n",
            "#EXTM3U\n#EXTINF:1,\nx\n#EXTINF:1,\ny\n",
            "\u{FEFF}#EXTM3U\r\n#EXTINF:1,\r\na\r\n#EXTINF:1,\r\nb\r\n",
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1\n#EXTINF:1,\nb\n#EXTINF:1,\nc\n",
        ]
        for text in texts {
            let updated = try MediaPlaylist(parsing: Array(text.utf8), after: media)
            expectEqual(updated, try MediaPlaylist(parsing: Array(text.utf8)), "\(text)")
        }
        #expect(throws: PlaylistParsingError.self) { try MediaPlaylist(parsing: [], after: media) }
        #expect(throws: PlaylistParsingError.self) {
            try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n".utf8), after: media)
        }
        let limits = PlaylistLimits(entryCount: 3)
        #expect(throws: PlaylistParsingError.self) {
            try MediaPlaylist(
                parsing: media.bytes + Array("#EXTINF:1,\nc\n#EXTINF:1,\nd\n".utf8),
                after: media,
                limits: limits
            )
        }
    }
}

@Suite struct DeltaUpdateTests {
    private let previousText = """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:10
        #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES
        #EXT-X-DATERANGE:ID="old",START-DATE="2024-01-01T00:00:00Z"
        #EXT-X-DATERANGE:ID="gone",START-DATE="2024-01-01T00:00:01Z"
        #EXT-X-KEY:METHOD=AES-128,URI="k1"
        #EXT-X-MAP:URI="i.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00Z
        #EXT-X-BITRATE:800
        #EXT-X-BYTERANGE:10@100
        #EXTINF:4,
        all.mp4
        #EXT-X-BYTERANGE:11
        #EXTINF:4,
        all.mp4
        #EXT-X-DATERANGE:ID="inside",START-DATE="2024-01-01T00:00:08Z"
        #EXT-X-PART:DURATION=1,URI="p"
        #EXT-X-DISCONTINUITY
        #EXT-X-CUE-OUT:5
        #EXT-X-KEY:METHOD=AES-128,URI="k2"
        #EXT-X-BYTERANGE:12
        #EXTINF:4,
        all.mp4
        #EXTINF:4,
        13.ts
        """

    private let updateText = """
        #EXTM3U
        #EXT-X-VERSION:9
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:11
        #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES
        #EXT-X-SKIP:SKIPPED-SEGMENTS=3,RECENTLY-REMOVED-DATERANGES="gone"
        #EXTINF:4,
        14.ts
        #EXT-X-DATERANGE:ID="new",START-DATE="2024-01-01T00:00:16Z"
        #EXTINF:4,
        15.ts

        """

    private func playlist(_ text: String) throws -> MediaPlaylist { try MediaPlaylist(parsing: Array(text.utf8)) }

    @Test func skippedSegmentsComeFromPreviousPlaylist() throws {
        let merged = try playlist(previousText).applying(playlist(updateText))
        #expect(merged.skippedSegmentCount == 0 && merged.mediaSequence == 11)
        #expect(merged.segments.map(\.uri) == ["all.mp4", "all.mp4", "13.ts", "14.ts", "15.ts"])
        #expect(merged.segments.map(\.sequence) == [11, 12, 13, 14, 15])
        #expect(merged.segments.map { $0.keys.first?.uri } == ["k1", "k2", "k2", "k2", "k2"])
        #expect(merged.segments.allSatisfy { $0.map?.uri == "i.mp4" && $0.map?.keys.first?.uri == "k1" })
        #expect(merged.segments.map { $0.bitRate?.bitsPerSecond } == [nil, nil, 800_000, 800_000, 800_000])
        #expect(merged.segments[0].byteRange == ByteRange(start: 110, length: 11))
        #expect(merged.segments[1].byteRange == ByteRange(start: 121, length: 12))
        #expect(merged.segments.map(\.hasDiscontinuity) == [false, true, false, false, false])
        #expect(merged.segments[4].programDateTime?.description == "2024-01-01T00:00:20.000Z")
        #expect(
            merged.dateRanges.map(\.id) == ["old", "inside", "new"]
                && merged.unknownTags.map(\.name) == ["EXT-X-CUE-OUT"]
        )
        #expect(merged.segments.allSatisfy { $0.parts.isEmpty })
    }

    @Test func consecutiveDeltaUpdatesAreApplied() throws {
        var merged = try playlist(previousText).applying(playlist(updateText))
        let next = updateText.replacing("SEQUENCE:11", with: "SEQUENCE:12")
            .replacing("14.ts", with: "16.ts").replacing("15.ts", with: "17.ts").replacing(
                "SEGMENTS=3",
                with: "SEGMENTS=4"
            )
        merged = try merged.applying(playlist(next))
        #expect(merged.segments.map(\.uri) == ["all.mp4", "13.ts", "14.ts", "15.ts", "16.ts", "17.ts"])
        #expect(
            merged.segments[0].byteRange == ByteRange(start: 121, length: 12)
                && merged.segments[0].keys.first?.uri == "k2"
        )
        #expect(merged.dateRanges.map(\.id) == ["old", "inside", "new"])
    }

    @Test func dateRangesComeFromUpdateThatSkipsNone() throws {
        let update = try playlist(updateText.replacing(",RECENTLY-REMOVED-DATERANGES=\"gone\"", with: ""))
        #expect(try playlist(previousText).applying(update).dateRanges.map(\.id) == ["new"])
    }

    /// Of several `EXT-X-SKIP` tags, the first valid one applies, and none of them is in the merged playlist.
    @Test func repeatedSkipTagIsRemovedFromMergedPlaylist() throws {
        let update = try playlist(
            updateText.replacing("#EXT-X-SKIP:", with: "#EXT-X-SKIP\n#EXT-X-SKIP:")
                .replacing("15.ts", with: "15.ts\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1")
        )
        let merged = try playlist(previousText).applying(update)
        #expect(merged.skippedSegmentCount == 0 && merged.segments.count == 5)
        #expect(!String(decoding: merged.bytes, as: UTF8.self).contains("SKIP:"))
    }

    /// `METHOD=NONE` is carried over to the merged playlist as well.
    @Test func clearSegmentsAfterEncryptedMapStayClear() throws {
        let previous = try playlist(
            """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:100
            #EXT-X-KEY:METHOD=AES-128,URI="k1",IV=0x01
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:4,
            100.m4s
            #EXTINF:4,
            101.m4s

            """
        )
        let update = try playlist(
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:101\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1\n#EXTINF:4,\n102.m4s\n"
        )
        let merged = try previous.applying(update)
        #expect(merged.segments.allSatisfy { $0.keys.isEmpty && $0.map?.keys.first?.uri == "k1" })
    }

    /// A later tag with the same ID adds attributes and keeps the earlier ones.
    @Test func extendedDateRangeKeepsItsStartDate() throws {
        let update = updateText.replacing(
            "ID=\"new\",START-DATE=\"2024-01-01T00:00:16Z\"",
            with: "ID=\"inside\",DURATION=12"
        )
        let merged = try playlist(previousText).applying(playlist(update))
        let range = try #require(merged.dateRanges.first { $0.id == "inside" })
        #expect(range.startDate != nil && range.duration == MediaTime(seconds: 12))
    }

    /// Tags after the header belong to the first segment, even if they are not in the standard.
    @Test func firstSegmentKeepsItsUnknownTags() throws {
        let previous = try playlist(
            "#EXTM3U\n#EXT-X-OWN\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-CUE-OUT:30\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n"
        )
        let update = try playlist(
            "#EXTM3U\n#EXT-X-OWN\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n#EXTINF:4,\nc.ts\n"
        )
        let merged = try previous.applying(update)
        #expect(merged.unknownTags.map(\.name) == ["EXT-X-OWN", "EXT-X-CUE-OUT"])
    }

    @Test func exceededLimitIsReported() throws {
        #expect(throws: PlaylistUpdateError.limitExceeded(.entryCount(6))) {
            _ = try playlist(previousText).applying(playlist(updateText), limits: PlaylistLimits(entryCount: 6))
        }
    }

    @Test func completePlaylistIsReturnedUnchanged() throws {
        let whole = try playlist("#EXTM3U\n#EXTINF:4,\na\n")
        #expect(try playlist(previousText).applying(whole).bytes == whole.bytes)
    }

    @Test(arguments: [
        ("SEQUENCE:11", "SEQUENCE:9"), ("SEQUENCE:11", "SEQUENCE:15"), ("SEGMENTS=3", "SEGMENTS=4"),
        ("SEGMENTS=3", "SEGMENTS=1152921504606846976"), ("SEQUENCE:11", "SEQUENCE:1152921504606846976"),
    ])
    func missingSegmentsMakeUpdateFail(from: String, to: String) throws {
        let update = try playlist(updateText.replacing(from, with: to))
        #expect(throws: PlaylistUpdateError.self) { try playlist(previousText).applying(update) }
        #expect(throws: PlaylistUpdateError.previousIsIncomplete) { try playlist(updateText).applying(update) }
    }
}

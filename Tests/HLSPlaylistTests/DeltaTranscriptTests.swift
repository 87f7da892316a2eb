import HLSPlaylist
import ResourceAddressing
import TestTranscripts
import Testing

/// Compares the playlists that result from delta updates with reviewed transcripts (RFC 8216bis §6.3.7).
@Suite struct DeltaTranscriptTests {
    private func media(_ lines: [String]) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// The lines of a playlist with six segments and every tag that also applies to the following segments.
    private let previous = [
        "#EXTM3U", "#EXT-X-VERSION:10", "#EXT-X-VENDOR:head", "#EXT-X-TARGETDURATION:4",
        "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24", "#EXT-X-MEDIA-SEQUENCE:10", "#EXT-X-DISCONTINUITY-SEQUENCE:2",
        "#EXT-X-VENDOR:segment", "# comment", "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2024-01-01T00:00:00Z\"",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"mk\"", "#EXT-X-MAP:URI=\"m\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1",
        "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:00:00.000Z", "#EXT-X-BITRATE:800", "#EXT-X-BYTERANGE:5@10",
        "#EXTINF:4,", "s", "#EXT-X-BYTERANGE:6", "#EXTINF:4,", "s", "#EXT-X-DISCONTINUITY", "#EXT-X-GAP", "#EXTINF:4,",
        "12", "#EXT-X-KEY:METHOD=NONE", "#EXT-X-MAP:URI=\"n\"",
        "#EXT-X-DATERANGE:ID=\"b\",START-DATE=\"2024-01-01T00:00:12Z\"",
        "#EXT-X-PROGRAM-DATE-TIME:2024-01-01T00:01:00.000Z",
        "#EXTINF:4,title", "13", "#EXT-X-PART:DURATION=2,URI=\"14.0\"", "#EXT-X-PART:DURATION=2,URI=\"14.1\"",
        "#EXTINF:4,", "14", "#EXTINF:4,", "15", "#EXT-X-DATERANGE:ID=\"c\",START-DATE=\"2024-01-01T00:00:20Z\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"16.0\"",
    ]

    private func update(_ sequence: Int, _ skip: String, _ more: [String] = []) -> [String] {
        [
            "#EXTM3U", "#EXT-X-VERSION:10", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:\(sequence)",
            "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24", "#EXT-X-SKIP:\(skip)", "#EXTINF:4,", "new0",
        ] + more + ["#EXTINF:4,", "new1"]
    }

    @Test func deltaUpdatesAreMerged() throws {
        let again = "#EXT-X-DATERANGE:ID=\"b\",START-DATE=\"2024-01-01T00:00:12Z\""
        let updates: [(name: String, lines: [String])] = [
            ("all", update(10, "SKIPPED-SEGMENTS=6")), ("the first", update(10, "SKIPPED-SEGMENTS=1")),
            ("from the second", update(11, "SKIPPED-SEGMENTS=5")), ("from the third", update(12, "SKIPPED-SEGMENTS=3")),
            ("from the fourth", update(13, "SKIPPED-SEGMENTS=2")), ("from the fifth", update(14, "SKIPPED-SEGMENTS=1")),
            ("none is left", update(16, "SKIPPED-SEGMENTS=1")), ("one too many", update(10, "SKIPPED-SEGMENTS=7")),
            ("one too many later", update(15, "SKIPPED-SEGMENTS=2")), ("too early", update(9, "SKIPPED-SEGMENTS=2")),
            ("no number", update(10, "SKIPPED-SEGMENTS=x")), ("none", update(10, "SKIPPED-SEGMENTS=0")),
            ("twice", update(14, "SKIPPED-SEGMENTS=2", ["#EXT-X-SKIP:SKIPPED-SEGMENTS=3"])),
            ("date ranges stay", update(12, "SKIPPED-SEGMENTS=4,RECENTLY-REMOVED-DATERANGES=\"\"")),
            ("a date range is gone", update(12, "SKIPPED-SEGMENTS=4,RECENTLY-REMOVED-DATERANGES=\"b\tc\"")),
            (
                "a date range is there again",
                update(12, "SKIPPED-SEGMENTS=4,RECENTLY-REMOVED-DATERANGES=\"a\"", [again, again + ",DURATION=1"])
            ),
        ]
        let base = try media(previous)
        var transcript = Transcript("delta", besideFileAt: #filePath)
        for (name, lines) in updates {
            do {
                let merged = try base.applying(try media(lines))
                transcript.add(name, String(decoding: merged.bytes, as: UTF8.self))
            } catch {
                transcript.add(name, "\(error)\n")
            }
        }
        let difference = try transcript.difference()
        #expect(difference == nil)
    }

    @Test func deltaUpdateRequiresCompletePlaylist() throws {
        let delta = try media(update(10, "SKIPPED-SEGMENTS=1"))
        #expect(throws: PlaylistUpdateError.previousIsIncomplete) { try delta.applying(delta) }
        #expect(
            PlaylistUpdateError.previousIsIncomplete.description == "the previous playlist is a delta update itself"
        )
        let missing = PlaylistUpdateError.segmentsMissing(first: 3, count: 2)
        #expect(
            missing.description
                == "the update skips 2 segments from media sequence number 3, which the previous playlist lacks"
        )
        let whole = try media(previous)
        #expect(try delta.applying(whole).bytes == whole.bytes)
        let size = try whole.applying(delta).bytes.count
        #expect(try whole.applying(delta, limits: PlaylistLimits(byteCount: size)).bytes.count == size)
        let error = #expect(throws: PlaylistUpdateError.self) {
            try whole.applying(delta, limits: PlaylistLimits(byteCount: size - 1))
        }
        #expect(error == .limitExceeded(.byteCount(size - 1)))
        #expect(
            error?.description
                == "with the skipped segments, the playlist is larger than \(size - 1) bytes"
        )
    }

    /// The last line of the previous playlist has no line ending, and its other lines end with CR.
    @Test func copiedLinesGetLineEnding() throws {
        let base = try MediaPlaylist(
            parsing: Array("#EXTM3U\r#EXT-X-MAP:URI=\"m\"\r#EXTINF:1,\ra\r#EXTINF:1,\rb\r#EXTINF:1,\rc".utf8)
        )
        let merged = try base.applying(
            try media(["#EXTM3U", "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-SKIP:SKIPPED-SEGMENTS=2", "#EXTINF:1,", "d"])
        )
        #expect(
            String(decoding: merged.bytes, as: UTF8.self)
                == "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MAP:URI=\"m\"\r#EXTINF:1,\rb\r#EXTINF:1,\rc\n#EXTINF:1,\nd\n"
        )
    }
}

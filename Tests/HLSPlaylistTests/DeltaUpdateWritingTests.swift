import HLSPlaylist
import MediaTiming
import Testing

/// Tests the delta updates that a server makes of its playlists (RFC 8216bis §6.2.5.1).
@Suite struct DeltaUpdateWritingTests {
    /// Returns a live playlist of ten segments of four seconds, with tags that also apply to the following segments.
    private func playlist(
        from first: Int,
        control: String = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24\n",
        end: String = "",
        version: String = "#EXT-X-VERSION:7\n",
        count: Int = 10
    ) throws -> MediaPlaylist {
        var text = "#EXTM3U\n\(version)#EXT-X-VENDOR:head\n#EXT-X-TARGETDURATION:4\n\(control)"
        text += "#EXT-X-MEDIA-SEQUENCE:\(first)\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        for number in first..<(first + count) {
            if number == first || number % 4 == 0 { text += "#EXT-X-MAP:URI=\"\(number / 4).mp4\"\n" }
            if number == first {
                text += "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(10 + number * 4).000Z\n"
            }
            if number % 3 == 0 {
                text += "#EXT-X-DATERANGE:ID=\"r\(number)\",START-DATE=\"2026-01-01T00:00:00.000Z\",X-A=\"\(number)\"\n"
            }
            if number % 5 == 0 { text += "#EXT-X-CUE-OUT:\(number)\n# comment\n#EXT-X-BITRATE:80\(number)\n" }
            text += "#EXTINF:4,\n\(number).m4s\n"
        }
        return try MediaPlaylist(parsing: Array((text + end).utf8))
    }

    private func text(_ playlist: MediaPlaylist?) -> String {
        playlist.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "full"
    }

    private func errors(_ playlist: MediaPlaylist) -> [String] {
        Playlist.media(playlist).validated().filter { $0.severity == .error }.map(\.message)
    }

    private func dateRanges(_ playlist: MediaPlaylist) -> [String] {
        playlist.dateRanges.map { "\($0.id) \($0["X-A"] ?? "-")" }.sorted()
    }

    private func contents(_ playlist: MediaPlaylist) -> [String] {
        var contents: [String] = []
        for segment in playlist.segments {
            let (map, date) = (segment.map?.uri ?? "-", segment.programDateTime?.description ?? "-")
            contents.append("\(segment.sequence) \(segment.uri) \(segment.duration) \(map) \(date)")
        }
        contents += dateRanges(playlist)
        contents += playlist.unknownTags.map(\.name)
        return contents
    }

    @Test func updateHasTheLinesAfterTheBoundary() throws {
        let update = try #require(try playlist(from: 3).deltaUpdate(.segments))
        #expect(update.skippedSegmentCount == 4 && update.segments.first?.sequence == 7 && update.version == 9)
        let lines = text(update).split(separator: "\n")
        #expect(
            lines.prefix(10) == [
                "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-VENDOR:head", "#EXT-X-TARGETDURATION:4",
                "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24", "#EXT-X-MEDIA-SEQUENCE:3", "#EXT-X-INDEPENDENT-SEGMENTS",
                "#EXT-X-SKIP:SKIPPED-SEGMENTS=4",
                "#EXT-X-DATERANGE:ID=\"r3\",START-DATE=\"2026-01-01T00:00:00.000Z\",X-A=\"3\"",
                "#EXT-X-DATERANGE:ID=\"r6\",START-DATE=\"2026-01-01T00:00:00.000Z\",X-A=\"6\"",
            ]
        )
        #expect(errors(update) == [])
    }

    @Test(arguments: 0...3) func mergedUpdateIsTheFullPlaylist(age: Int) throws {
        let previous = try playlist(from: 3)
        let full = try playlist(from: 3 + age)
        let update = try #require(full.deltaUpdate(.segments))
        let merged = try previous.applying(update)
        #expect(contents(merged) == contents(full))
        // The ranges of the previous version that the new one lacks are named.
        let removed = Set(previous.dateRanges.map(\.id)).subtracting(full.dateRanges.map(\.id))
        let second = try #require(full.deltaUpdate(.segmentsAndDateRanges(removed: removed.sorted())))
        #expect(second.version == 10 && second.recentlyRemovedDateRanges == removed.sorted())
        #expect(second.dateRanges.count < full.dateRanges.count)
        #expect(contents(try previous.applying(second)) == contents(full))
    }

    @Test func fullPlaylistIsUsedIfNothingMayBeSkipped() throws {
        for control in ["", "#EXT-X-SERVER-CONTROL:HOLD-BACK=12\n"] {
            #expect(try text(playlist(from: 3, control: control).deltaUpdate(.segments)) == "full")
        }
        #expect(try text(playlist(from: 3, end: "#EXT-X-ENDLIST\n").deltaUpdate(.segments)) == "full")
        #expect(try text(playlist(from: 3, count: 6).deltaUpdate(.segments)) == "full")
        #expect(try playlist(from: 3, count: 7).deltaUpdate(.segments)?.skippedSegmentCount == 1)
        let update = try #require(try playlist(from: 3).deltaUpdate(.segments))
        #expect(text(update.deltaUpdate(.segments)) == "full")
        // An ID with the separator of the list cannot be written.
        #expect(try text(playlist(from: 3).deltaUpdate(.segmentsAndDateRanges(removed: ["a\tb"]))) == "full")
    }

    /// The boundary is at least six target durations, and at most a number that no playlist reaches.
    @Test(arguments: [("1", 4), ("0", 4), ("30", 2), ("36", 1), ("37", 0), ("99999999999999999999", 0), ("x", 0)])
    func boundaryIsAtLeastSixTargetDurations(value: String, count: Int) throws {
        let playlist = try playlist(from: 0, control: "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=\(value)\n")
        #expect(playlist.deltaUpdate(.segments)?.skippedSegmentCount ?? 0 == Int64(count))
    }

    @Test func missingVersionIsWritten() throws {
        let update = try #require(try playlist(from: 3, version: "").deltaUpdate(.segments))
        #expect(text(update).hasPrefix("#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-VENDOR:head\n"))
        let later = try #require(try playlist(from: 3, version: "#EXT-X-VERSION:12\n").deltaUpdate(.segments))
        #expect(later.version == 12)
    }
}

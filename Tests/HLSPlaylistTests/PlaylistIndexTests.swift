import MediaTiming
import Testing

@testable import HLSPlaylist

/// The start times and byte ranges in the index of a playlist.
@Suite struct PlaylistIndexTests {
    private func playlist(_ lines: String) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(lines)".utf8))
    }

    /// Returns an index with a digit count, the start times and the end, in units of its last digit.
    private func times(_ durations: [String]) throws -> [Int64] {
        let index = try playlist(durations.map { "#EXTINF:\($0),\na\n" }.joined()).index
        return [Int64(index.timeDigits)] + index.segments.map(\.startTicks) + [index.endTicks]
    }

    @Test(
        arguments: [
            (["5", "6"], [0, 0, 5, 11]), (["5.0", "6"], [1, 0, 50, 110]), (["5", "6.25"], [2, 0, 500, 1125]),
            (["5.25", "6.5"], [2, 0, 525, 1175]), ([".5", "1."], [1, 0, 5, 15]), (["0", "1"], [0, 0, 0, 1]),
            (["-1", "x", "", "2"], [0, 0, 0, 0, 0, 2]), (["."], [0, 0, 0]), ([" 5 "], [0, 0, 5]),
            (["999999999999999999"], [0, 0, 999_999_999_999_999_999]), (["1.123456789"], [9, 0, 1_123_456_789]),
            (["1.1234567894"], [9, 0, 1_123_456_789]), (["1.1234567895"], [9, 0, 1_123_456_790]),
            (["1.12345678949"], [9, 0, 1_123_456_789]), (["1.12345678950"], [9, 0, 1_123_456_790]),
            (["1.1", "1.12345678949"], [9, 0, 1_100_000_000, 2_223_456_789]), (["1.2.3"], [0, 0, 0]),
            (["00000000000000000001"], [0, 0, 1]), (["0000000000000000001"], [0, 0, 1]),
        ] as [([String], [Int64])]
    )
    func startTimesAreExactSums(durations: [String], expected: [Int64]) throws {
        #expect(try times(durations) == expected)
    }

    /// A sum that exceeds 63 bits stays at the maximum.
    @Test func startTimesSaturate() throws {
        let large = [String](repeating: "999999999999999999", count: 10)
        #expect(try times(large).suffix(2) == [8_999_999_999_999_999_991, .max])
        #expect(try times(["9999999999", "1.123456789"]).suffix(2) == [.max, .max])
        #expect(try times(["1.123456789", "9999999999"]).suffix(1) == [.max])
        #expect(try times(large + ["0.1", "1"]).suffix(1) == [.max])
    }

    /// An update with fewer, as many and more decimal places than before gives the index that parsing gives.
    @Test(
        arguments: [
            (["6.5", "6", "6", "6"], ["6", "6", "6", "6"]), (["6", "6.5", "6", "6.25"], ["6.5", "6", "6.25", "6"]),
            (["6", "6", "6", "6"], ["6", "6", "6", "6.5"]), (["6.25", "6", "6", "6"], ["6", "6", "6", "6.5"]),
            (["6", "6", "6", "6"], ["6.5", "6", "6", "6"]),
            (["6.5", "6.5", "6.5", "6.5"], ["6.5", "6.5", "6.5", "6.5"]),
        ]
    )
    func updatesHaveTheTimesOfTheWholePlaylist(old: [String], new: [String]) throws {
        func text(_ durations: [String], from first: Int) -> [UInt8] {
            let segments = durations.enumerated().map { "#EXT-X-BITRATE:1\n#EXTINF:\($1),\ns\(first + $0)\n" }.joined()
            return Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(segments)".utf8)
        }
        let limits = PlaylistLimits()
        let oldBytes = text(old, from: 0)
        let newBytes = text(new, from: 1)
        let previous = try PlaylistIndex(oldBytes, limits: limits)
        let whole = try PlaylistIndex(newBytes, limits: limits)
        let update = try PlaylistIndex(newBytes, after: previous, of: oldBytes, dropping: 1, limits: limits)
        func time(_ ticks: Int64, _ index: PlaylistIndex) -> MediaTime {
            MediaTime(value: ticks, fractionDigits: index.timeDigits)
        }
        #expect(
            update.segments.map { time($0.startTicks, update) } == whole.segments.map { time($0.startTicks, whole) }
        )
        #expect(time(update.endTicks, update) == time(whole.endTicks, whole))
        #expect(update.segments.map(\.uriStart) == whole.segments.map(\.uriStart))
        #expect(update.segments.map(\.blockStart) == whole.segments.map(\.blockStart))
        #expect(update.tags.map(\.lineStart) == whole.tags.map(\.lineStart))
        #expect(update.tags.map(\.segment) == whole.tags.map(\.segment))
        #expect(update.trailerStart == whole.trailerStart)
    }

    /// A tag without a colon has no duration, but it announces a URI.
    @Test func tagsWithoutADurationAnnounceASegment() throws {
        let index = try playlist("#EXTINF\na\n#EXTINF:6,\nb\n").index
        #expect(index.segments.map(\.startTicks) == [0, 0] && index.endTicks == 6)
        #expect(index.tags.map(\.tag) == [.header, .targetDuration])
        let multivariant = try Playlist.parse(Array("#EXTM3U\n#EXTINF\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n".utf8))
        #expect(multivariant.kind == .media)
    }
}

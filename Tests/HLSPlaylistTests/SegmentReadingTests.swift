import MediaTiming
import Testing

@testable import HLSPlaylist

/// Tests of values that are read several bytes at a time, or without reading the line of the segment.
@Suite struct SegmentReadingTests {
    private func media(_ text: String) throws -> MediaPlaylist {
        try MediaPlaylist(parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(text)".utf8))
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("12345678", 12_345_678), ("123456789", 123_456_789),
            ("1234567890123456", 1_234_567_890_123_456), ("00000000000000000000000000042", 42),
            ("9223372036854775807", UInt64(Int64.max)), ("18446744073709551615", .max), ("18446744073709551616", nil),
            ("99999999999999999999999", nil), ("", nil), ("x1", nil), (":", nil), ("/", nil), ("é1", nil),
        ] as [(String, UInt64?)]
    )
    func unsignedIntegerIsReadAtEachDistanceFromTheEnd(text: String, expected: UInt64?) {
        for suffix in ["", "@", "@1", "é234567890", ":/", " 12345678901234567890"] {
            for padding in 0...9 {
                let bytes = Array((text + suffix + String(repeating: "#", count: padding)).utf8)
                var index = 0
                #expect(bytes.span.unsignedInteger(&index, before: bytes.count) == expected)
                if expected != nil { #expect(index == text.utf8.count) }
            }
        }
    }

    @Test func unsignedIntegerEndsAtTheGivenOffset() {
        let bytes = Array("12345678901234567890".utf8)
        for end in 1...19 {
            var index = 0
            #expect(bytes.span.unsignedInteger(&index, before: end) == UInt64("12345678901234567890".prefix(end)))
            #expect(index == end)
        }
    }

    @Test func byteIsFoundInsideTheRangeOnly() {
        let bytes = Array("01234567@9abcdefghi@".utf8)
        for low in 0...bytes.count {
            for high in low...bytes.count {
                let expected = bytes[low..<high].contains(UInt8(ascii: "@"))
                #expect(bytes.span.contains(UInt8(ascii: "@"), in: low..<high) == expected)
            }
        }
        let neighbors: [UInt8] = [0x3F, 0x41, 0xC0, 0xBF, 0x00, 0xFF, 0x3F, 0x41, 0x40]
        #expect(!neighbors.span.contains(0x40, in: 0..<8) && neighbors.span.contains(0x40, in: 1..<9))
    }

    @Test func durationIsExactWhateverTheDigitsOfTheOthers() throws {
        let written = ["5.5", "5.123456789", "4.1234567891234", "6", "", "-3", "abc", "0.00001", "7."]
        for count in 1...written.count {
            let lines = written.prefix(count).map { "#EXTINF:\($0),\nsegment.ts\n" }.joined()
            let durations = try media(lines).segments.map(\.duration)
            let expected = written.prefix(count).map { MediaTime(decimal: $0).map { max($0, .zero) } ?? .zero }
            #expect(durations == expected)
        }
    }

    @Test func durationsAreExactIfTheSumOverflows() throws {
        let long = "99999999999999999"
        let playlist = try media(
            "#EXTINF:0.001,\na.ts\n#EXTINF:\(long),\nb.ts\n#EXTINF:\(long).5,\nc.ts\n#EXTINF:4,\nd.ts\n"
        )
        #expect(
            playlist.segments.map(\.duration.description)
                == ["0.001", "99999999999999999", "99999999999999999.5", "4"]
        )
    }

    @Test func durationsAreExactInAnUpdateOfAPlaylistWithRoundedTimes() throws {
        func text(_ numbers: Range<Int>) -> [UInt8] {
            let segments = numbers.map { "#EXTINF:4.12345678912\($0 % 10),\nsegment\($0).ts\n" }.joined()
            return Array("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n\(segments)".utf8)
        }
        let updated = try MediaPlaylist(parsing: text(1..<12), after: MediaPlaylist(parsing: text(0..<11)))
        #expect(try updated.segments.map(\.duration) == MediaPlaylist(parsing: text(1..<12)).segments.map(\.duration))
        #expect(updated.segments.first?.duration == MediaTime(decimal: "4.123456789121"))
    }

    @Test(arguments: ["\n", "\r\n", "\r", " \n", "\t\r\n", ""])
    func uriHasNoWhiteSpaceWithAnyLineEnding(end: String) throws {
        let playlist = try media(
            "#EXTINF:4,\(end.isEmpty ? "\n" : end) first.ts\(end.isEmpty ? "\n" : end)#EXTINF:4,\nlast.ts\(end)"
        )
        #expect(playlist.segments.map(\.uri) == ["first.ts", "last.ts"])
        #expect(playlist.segments.map(\.duration) == [MediaTime(seconds: 4), MediaTime(seconds: 4)])
    }

    @Test func invalidUTF8IsReportedBeforeOtherProblems() throws {
        let bytes = Array("#EXTM3U\n#EXTINF:4,".utf8) + [0xC3, 0x28] + Array("\na.ts\n".utf8)
        let codes = try Playlist.parse(bytes).diagnostics.map(\.code)
        #expect(codes.first == "not-utf-8" && codes.contains("missing-target-duration"))
        #expect(
            try !Playlist.parse(Array("#EXTM3U\n#EXTINF:4,é\na.ts\n".utf8)).diagnostics.contains {
                $0.code == "not-utf-8"
            }
        )
    }

    @Test func keySetsAreComparedOnceForEachChange() throws {
        let key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
        let other = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"other\"\n"
        let segment = "#EXTINF:4,\na.ts\n"
        let text = key + other + segment + segment + "#EXT-X-KEY:METHOD=NONE\n" + segment + key + other + segment
        let lines = try Playlist.media(media(text)).diagnostics.filter { $0.code == "key-methods-differ" }.map(\.line)
        #expect(lines == [4, 13])
    }
}

import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of the positions of date ranges in the item.
@Suite struct DateRangeTests {
    private static func media(_ tags: String) -> String {
        let segments = (0..<10).map { number in
            "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:\(number < 2 ? "0" : "")\(number * 6)Z\n#EXTINF:6,\nv\(number).ts\n"
        }
        return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(tags)\n" + segments.joined() + "#EXT-X-ENDLIST\n"
    }

    private func ranges(_ tags: String) async throws -> [TimedDateRange] {
        var texts = [TextStreamPlayback.address: Self.media(tags)]
        for number in 0..<10 { texts["https://origin.example/v\(number).ts"] = "media" }
        let stream = TextStreamPlayback(texts)
        return try await stream.run { engine in
            try await stream.expect { $0.status == .readyToPlay }
            return engine.snapshot.dateRanges
        }
    }

    @Test func aDateRangeIsAtThePositionOfItsDate() async throws {
        let found = try await ranges(
            """
            #EXT-X-DATERANGE:ID="a",CLASS="c",START-DATE="2026-01-01T00:00:20.5Z",DURATION=4.5,X-COM-N="v"
            #EXT-X-DATERANGE:ID="b",START-DATE="2025-12-31T00:00:00Z",END-DATE="2026-01-01T00:00:01Z"
            #EXT-X-DATERANGE:ID="c"
            """
        )
        #expect(found.map(\.id) == ["a", "b"])
        #expect(found.first?.start == MediaTime(value: 205, timescale: 10))
        #expect(found.first?.endDate == ProgramDateTime("2026-01-01T00:00:25Z"))
        #expect(found.first?.classIdentifier == "c" && found.first?.attributes["X-COM-N"] == "v")
        #expect(found.last?.start == nil && found.last?.endDate == ProgramDateTime("2026-01-01T00:00:01Z"))
    }

    @Test func aDateRangeMayEndWhereTheNextOfItsClassBegins() async throws {
        let found = try await ranges(
            """
            #EXT-X-DATERANGE:ID="a",CLASS="c",START-DATE="2026-01-01T00:00:10Z",END-ON-NEXT=YES
            #EXT-X-DATERANGE:ID="b",CLASS="d",START-DATE="2026-01-01T00:00:15Z"
            #EXT-X-DATERANGE:ID="e",CLASS="c",START-DATE="2026-01-01T00:00:40Z",END-ON-NEXT=YES
            #EXT-X-DATERANGE:ID="f",CLASS="c",START-DATE="2026-01-01T00:00:30Z"
            """
        )
        #expect(found.first?.endDate == ProgramDateTime("2026-01-01T00:00:30Z"))
        #expect(found.dropFirst().map(\.endDate) == [nil, nil, nil])
    }

    /// Each range ends where the next one begins, and refers to a variable many times: neither time nor memory may grow
    /// quadratically.
    @Test func manyDateRangesNeedLinearTimeAndMemory() async throws {
        let count = 20_000
        let references = String(repeating: "{$long}", count: 20)
        let tags = (0..<count).map { number in
            let seconds = String(format: "%02d.%03d", number / 1000, number % 1000)
            let date = "2026-01-01T00:00:\(seconds)Z"
            return
                "#EXT-X-DATERANGE:ID=\"\(number)\",CLASS=\"c\",START-DATE=\"\(date)\",END-ON-NEXT=YES,X-A=\"\(references)\""
        }
        let variable = "#EXT-X-DEFINE:NAME=\"long\",VALUE=\"\(String(repeating: "x", count: 20))\"\n"
        let found = try await ranges(variable + tags.joined(separator: "\n"))
        #expect(found.count == TimedDateRange.maximumCount)
        #expect(found.first?.id == "\(count - TimedDateRange.maximumCount)" && found.last?.id == "\(count - 1)")
        #expect(
            found.dropLast().allSatisfy {
                $0.endDate?.sinceEpoch == $0.startDate.sinceEpoch + .init(value: 1, timescale: 1000)
            }
        )
        #expect(found.last?.endDate == nil)
        #expect(found.last?.attributes["X-A"]?.utf8.count == 400)
        #expect(found.last?.hasAttribute(in: ["X-A"]) == true && found.last?.hasAttribute(in: ["X-B"]) == false)
    }
}

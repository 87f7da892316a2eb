import Adaptation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

@Suite struct VariantChooserTests {
    private static func ladder(_ count: Int) throws -> Ladder {
        try #require(
            Ladder(
                (0..<count).map {
                    LadderRung(variantIndex: $0, peakBitRate: BitRate(bitsPerSecond: Int64($0 + 1) * 1_000_000))
                }
            )
        )
    }

    private static func sizes(_ segments: String, of rung: Int? = 1, from index: Int = 0) throws -> [[Int64]] {
        let timeline = PresentationTimeline(
            try media("#EXTM3U\n#EXT-X-TARGETDURATION:10\n\(segments)#EXT-X-ENDLIST\n")
        )
        let chooser = VariantChooser(StreamingOptions())
        return try chooser.sizes(from: timeline.segments[index], in: timeline, of: rung, ladder(3)).map {
            $0.map(\.bytes)
        }
    }

    @Test func theBitRateOfASegmentGivesItsSize() throws {
        let found = try Self.sizes("#EXT-X-BITRATE:800\n#EXTINF:6,\na.ts\n#EXTINF:4.5,\nb.ts\n#EXTINF:10,\nc.ts\n")
        #expect(found == [[0, 600_000, 0], [0, 450_000, 0], [0, 1_000_000, 0]])
    }

    @Test func theByteRangeOfASegmentGivesItsSize() throws {
        let segments = "#EXT-X-BYTERANGE:1000@0\n#EXTINF:6,\na.ts\n#EXT-X-BYTERANGE:2000\n#EXTINF:6,\na.ts\n"
        #expect(try Self.sizes(segments) == [[0, 1_000, 0], [0, 2_000, 0]])
        #expect(try Self.sizes("#EXT-X-BITRATE:800\n" + segments) == [[0, 1_000, 0], [0, 2_000, 0]])
        #expect(try Self.sizes(segments, of: 0, from: 1) == [[2_000, 0, 0]])
    }

    @Test func theSizeIsUnknownWithoutByteRangeAndBitRate() throws {
        #expect(try Self.sizes("#EXTINF:6,\na.ts\n").isEmpty)
        #expect(try Self.sizes("#EXT-X-BITRATE:800\n#EXTINF:6,\na.ts\n", of: nil).isEmpty)
    }

    @Test func theSizesOfEightSegmentsAreReturned() throws {
        let segments = "#EXT-X-BITRATE:8\n" + String(repeating: "#EXTINF:1,\na.ts\n", count: 20)
        #expect(try Self.sizes(segments).count == 8)
        #expect(try Self.sizes(segments, from: 15).count == 5)
    }

    @Test func theNeededBitRateIsProportionalToTheRate() throws {
        let chooser = VariantChooser(StreamingOptions())
        #expect(chooser.neededBitRate(of: nil, rate: 1).bitsPerSecond == 1_000_000)
        #expect(chooser.neededBitRate(of: nil, rate: 0).bitsPerSecond == 1_000_000)
        #expect(chooser.neededBitRate(of: nil, rate: -2).bitsPerSecond == 2_000_000)
        #expect(chooser.neededBitRate(of: nil, rate: 100).bitsPerSecond == 32_000_000)
    }

    @Test(arguments: [
        (["1", "3", "2"], "1"), (["1", "2", "3"], "2"), (["1", "3", nil], "2"), (["3", "2", "1"], "0"),
    ])
    func variantOfALowerScoreAndAHigherBitRateIsNotSelected(scores: [String?], expected: String) throws {
        let lines = scores.enumerated().map { index, score in
            let score = score.map { ",SCORE=\($0)" } ?? ""
            return Self.variant("\(index)", "BANDWIDTH=\(index + 1)000000,CODECS=\"avc1.4d401e\"\(score)")
        }
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        var chooser = VariantChooser(options)
        chooser.setPresentation(
            Presentation(try multivariant("#EXTM3U\n" + lines.joined())),
            selection: MediaSelection()
        )
        let first = try #require(chooser.first(bufferCapacity: .seconds(30)))
        #expect(first.address.text.hasSuffix("\(expected).m3u8"))
    }

    // MARK: Ladders

    private static func ladderOf(_ lines: String) throws -> [String] {
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines))
        return VariantFamily.variants(of: presentation, for: MediaSelection()).map {
            String($0.address.text.split(separator: "/").last ?? "")
        }
    }

    private static func variant(_ name: String, _ attributes: String) -> String {
        "#EXT-X-STREAM-INF:\(attributes)\n\(name).m3u8\n"
    }

    @Test func theFirstFamilyWithTheMostRungsIsSelected() throws {
        let hevc = (0..<2).map { Self.variant("h\($0)", "BANDWIDTH=\($0 + 1)000000,CODECS=\"hvc1.1\"") }.joined()
        let avc = (0..<3).map { Self.variant("a\($0)", "BANDWIDTH=\($0 + 1)000000,CODECS=\"avc1.4d\"") }.joined()
        #expect(try Self.ladderOf(hevc + avc) == ["a0.m3u8", "a1.m3u8", "a2.m3u8"])
        let two = (0..<2).map { Self.variant("a\($0)", "BANDWIDTH=\($0 + 1)000000,CODECS=\"avc1.4d\"") }.joined()
        #expect(try Self.ladderOf(hevc + two) == ["h0.m3u8", "h1.m3u8"])
        #expect(try Self.ladderOf(two + hevc) == ["a0.m3u8", "a1.m3u8"])
    }

    @Test func theLowestOfVariantsWithTheSamePlaylistIsUsed() throws {
        let lines =
            Self.variant("a", "BANDWIDTH=3000000,CODECS=\"avc1.4d\"")
            + Self.variant("b", "BANDWIDTH=1000000,CODECS=\"avc1.4d\"")
            + Self.variant("a", "BANDWIDTH=2000000,CODECS=\"avc1.4d,mp4a.40.2\"")
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines))
        let found = VariantFamily.variants(of: presentation, for: MediaSelection())
        #expect(found.map { $0.peakBitRate?.bitsPerSecond } == [2_000_000, 1_000_000])
    }

    @Test func theVariantsOfASelectionHaveItsGroup() throws {
        let presentation = Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",DEFAULT=YES,URI="en.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="Korean",URI="ko.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,AUDIO="a"
                one.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,AUDIO="b"
                two.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=3000000
                three.m3u8
                """
            )
        )
        let options = try #require(presentation.group(.audio)).options
        func names(_ option: MediaSelectionOption) -> [String] {
            var selection = MediaSelection()
            selection[.audio] = option
            return presentation.variants(for: selection).map {
                String($0.address.text.split(separator: "/").last ?? "")
            }
        }
        // A variant without an audio group carries the default audio.
        #expect(names(options[0]) == ["one.m3u8", "three.m3u8"])
        #expect(names(options[1]) == ["two.m3u8"])
    }
}

@Suite struct DateIndexTests {
    /// Compares the positions of many dates by the index with those of a search through all anchors.
    @Test(arguments: 0..<40)
    func theIndexOfDatesAgreesWithALinearSearch(seed: Int) throws {
        var state = UInt64(seed)
        func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n"
        var second = 1_000
        for number in 0..<(1 + random(30)) {
            if random(3) > 0 {
                // The date jumps forward or back, or stays.
                second += [0, 0, 7, 40, -30, -3][random(6)]
                text += "#EXT-X-PROGRAM-DATE-TIME:\(LiveWindowText.date(max(0, second)))\n"
            }
            let duration = 1 + random(9)
            text += "#EXTINF:\(duration),\ns\(number).ts\n"
            second += duration
        }
        let timeline = PresentationTimeline(try media(text))
        let index = timeline.dateIndex
        for second in stride(from: 900, through: 1_400, by: 3) {
            let date = try date(second)
            let expected = timeline.position(of: date)
            let found = index.position(of: date)
            #expect(found.map { MediaTime(nanoseconds: $0.place) } == expected?.time, "\(second)")
            #expect(found?.relation == expected?.relation, "\(second)")
        }
    }
}

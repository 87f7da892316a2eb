import HLSPlaylist
import MediaTiming
import ResourceAddressing
import StreamingEngine
import Testing

@Suite struct PresentationTimelineTests {
    private static let film = """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-MAP:URI="init.mp4?a=%2f",BYTERANGE="700@0"
        #EXT-X-BYTERANGE:1000@700
        #EXTINF:9.97667,
        media.mp4?sig=a%2Bb
        #EXT-X-BYTERANGE:500
        #EXTINF:9.97667,
        media.mp4?sig=a%2Bb
        #EXTINF:3.5,
        ../other/plain.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-GAP
        #EXTINF:2,
        https://cdn.example/gap.mp4
        #EXT-X-ENDLIST
        """

    @Test func aSegmentHasItsAddressAndTimes() throws {
        let timeline = PresentationTimeline(try media(Self.film))
        let segments = Array(timeline.segments)
        try #require(segments.count == 4)
        #expect(segments.map(\.sequence) == [7, 8, 9, 10])
        #expect(
            segments.map(\.address.text) == [
                "https://example.com/live/media.mp4?sig=a%2Bb", "https://example.com/live/media.mp4?sig=a%2Bb",
                "https://example.com/other/plain.mp4", "https://cdn.example/gap.mp4",
            ]
        )
        #expect(
            segments.map(\.byteRange) == [
                ByteRange(start: 700, length: 1000), ByteRange(start: 1700, length: 500), nil, nil,
            ]
        )
        #expect(segments.map(\.start) == [.zero, seconds("9.97667"), seconds("19.95334"), seconds("23.45334")])
        #expect(segments.map(\.isGap) == [false, false, false, true])
        #expect(segments.map(\.domain.sequence) == [0, 0, 0, 1])
        #expect(segments.map(\.beginsDomain) == [false, false, false, true])
        #expect(timeline.duration == seconds("25.45334"))
        #expect(timeline.range.duration == timeline.playlist.duration)
    }

    @Test func aMapHasItsOwnByteRange() throws {
        let timeline = PresentationTimeline(try media(Self.film))
        for segment in timeline.segments {
            #expect(segment.initialization?.byteRange == ByteRange(start: 0, length: 700))
            #expect(segment.initialization?.address.text == "https://example.com/live/init.mp4?a=%2f")
        }
    }

    @Test(arguments: [
        ("0", 7), ("9.97666", 7), ("9.97667", 8), ("19.95333", 8), ("23.45334", 10), ("25.45333", 10),
    ])
    func theSegmentAtATimeContainsIt(time: String, sequence: Int64) throws {
        let timeline = PresentationTimeline(try media(Self.film))
        #expect(timeline.segment(at: seconds(time))?.sequence == sequence)
    }

    @Test(arguments: ["-0.001", "25.45334", "1000"])
    func noSegmentIsFoundOutsideTheTimeline(time: String) throws {
        #expect(PresentationTimeline(try media(Self.film)).segment(at: seconds(time)) == nil)
    }

    @Test func theNextSegmentIsFoundFromBeforeTheFirst() throws {
        let timeline = PresentationTimeline(try media(Self.film), start: MediaTime(seconds: 100))
        #expect(timeline.segment(atOrAfter: .zero)?.sequence == 7)
        #expect(timeline.segment(atOrAfter: MediaTime(seconds: 126)) == nil)
        #expect(timeline.segment(sequence: 8)?.start == seconds("109.97667"))
        #expect(timeline.segment(sequence: 11) == nil)
    }

    @Test func discontinuityDomainsCoverRangesOfTheTimeline() throws {
        let domains = PresentationTimeline(try media(Self.film)).domains
        #expect(domains.map(\.domain) == [DiscontinuityDomain(sequence: 0), DiscontinuityDomain(sequence: 1)])
        #expect(domains.last?.range.start == seconds("23.45334"))
    }

    @Test func domainsOfAnyNumberOfSegmentsAreFound() throws {
        let counts = [1, 1, 2, 3, 1, 4, 5, 8, 1, 9, 16, 17, 1, 40]
        let segments = counts.map { String(repeating: "#EXTINF:1,\na.ts\n", count: $0) }
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + segments.joined(separator: "#EXT-X-DISCONTINUITY\n")
        let domains = PresentationTimeline(try media(text + "#EXT-X-ENDLIST")).domains
        #expect(domains.map(\.domain.sequence) == Array(0..<Int64(counts.count)))
        #expect(domains.map(\.range.duration) == counts.map { MediaTime(seconds: Int64($0)) })
    }

    @Test func aSegmentWithoutDurationIsNeverReturned() throws {
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na\n#EXTINF:0,\nb\n#EXTINF:4,\nc\n#EXTINF:0,\nd\n#EXT-X-ENDLIST\n"
        let timeline = PresentationTimeline(try media(text))
        #expect(timeline.segment(at: MediaTime(seconds: 4))?.sequence == 2)
        #expect(timeline.segment(at: MediaTime(seconds: 8)) == nil)
        #expect(timeline.end == MediaTime(seconds: 8))
    }

    @Test func aPlaylistWithoutSegmentsHasAnEmptyTimeline() throws {
        let timeline = PresentationTimeline(
            try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n"),
            start: MediaTime(seconds: 3)
        )
        #expect(timeline.segments.isEmpty && timeline.domains.isEmpty)
        #expect(timeline.range == MediaTimeRange(start: MediaTime(seconds: 3), duration: .zero))
        #expect(timeline.segment(at: MediaTime(seconds: 3)) == nil && timeline.liveWindow.seekable.isEmpty)
    }

    @Test(arguments: ["9223372036854775807", "99999999999999999999", "9000000000", "1e400", "nan", "-5"])
    func extremeDurationsDoNotTrap(duration: String) throws {
        let entry = "#EXTINF:\(duration),\na.ts\n"
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n" + String(repeating: entry, count: 4)
        var timeline = PresentationTimeline(try media(text), start: MediaTime(seconds: 5_000_000_000))
        #expect(timeline.range.duration >= .zero)
        for (segment, next) in zip(timeline.segments, timeline.segments.dropFirst()) {
            #expect(segment.end <= next.start)
        }
        let later = try media("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1152921504606846970\n" + entry)
        _ = try timeline.update(later)
        _ = LiveWindow(timeline)
        _ = StartPosition(in: timeline)
        _ = TimelineAlignment(of: later, to: timeline)
        timeline.shift(by: MediaTime(seconds: .max))
        #expect(timeline.range.duration >= .zero)
    }

    @Test func partsAreContiguousUpToTheEdge() throws {
        let timeline = PresentationTimeline(
            try media(
                """
                #EXTM3U
                #EXT-X-TARGETDURATION:4
                #EXT-X-PART-INF:PART-TARGET=1
                #EXT-X-MAP:URI="init.mp4"
                #EXT-X-PART:DURATION=1,URI="0.0.mp4",INDEPENDENT=YES
                #EXT-X-PART:DURATION=1,URI="0.1.mp4"
                #EXTINF:2,
                0.mp4
                #EXT-X-DISCONTINUITY
                #EXT-X-MAP:URI="init2.mp4",BYTERANGE="20@4"
                #EXT-X-KEY:METHOD=AES-128,URI="key"
                #EXT-X-PART:DURATION=1,URI="1.0.mp4",INDEPENDENT=YES,BYTERANGE="10@0"
                #EXT-X-PART:DURATION=0.5,URI="1.0.mp4",BYTERANGE="20"
                #EXT-X-PRELOAD-HINT:TYPE=PART,URI="1.1.mp4",BYTERANGE-START=30
                #EXT-X-PRELOAD-HINT:TYPE=NEW,URI="x"
                """
            )
        )
        let first = try #require(timeline.segments.first)
        #expect(first.parts.map(\.range.start) == [.zero, MediaTime(seconds: 1)])
        #expect(first.parts.map(\.isIndependent) == [true, false])
        let pending = try #require(timeline.pendingSegment)
        #expect(pending.sequence == 1 && pending.start == MediaTime(seconds: 2) && pending.domain.sequence == 1)
        #expect(pending.parts.map(\.index) == [0, 1] && pending.parts.map(\.sequence) == [1, 1])
        #expect(pending.parts.last?.byteRange == ByteRange(start: 10, length: 20))
        #expect(pending.initialization?.address.text == "https://example.com/live/init2.mp4")
        #expect(pending.initialization?.byteRange == ByteRange(start: 4, length: 20))
        #expect(pending.protection.key?.initializationVector?.last == 1)
        #expect(timeline.edge == seconds("3.5") && timeline.end == MediaTime(seconds: 2))
        #expect(timeline.preloads.map(\.address.text) == ["https://example.com/live/1.1.mp4"])
        #expect(timeline.preloads.first?.byteRangeStart == 30)
    }

    @Test func anIFrameLastsUntilTheNextOne() throws {
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-I-FRAMES-ONLY
            #EXT-X-MAP:URI="film.mp4",BYTERANGE="600@0"
            #EXTINF:2,
            #EXT-X-BYTERANGE:3000@5000
            film.mp4
            #EXTINF:2,
            #EXT-X-BYTERANGE:2500@90000
            film.mp4
            #EXT-X-ENDLIST
            """
        let timeline = PresentationTimeline(try media(text))
        #expect(timeline.isIFramesOnly)
        #expect(timeline.segment(at: MediaTime(seconds: 3))?.byteRange == ByteRange(start: 90_000, length: 2_500))
    }
}

import MediaTiming
import Testing

@testable import SegmentFormat

/// Tests that the memory and work that an input requires are bounded by its size.
@Suite struct BudgetTests {
    // MARK: Fragments

    /// Returns a fragment with many runs that all refer to the same bytes in the `mdat` box.
    private static func repeated(runs: Int, sample: [UInt8]) -> [UInt8] {
        func moof(_ offset: Int) -> [UInt8] {
            let run = fullBox("trun", 0, 0x301, u32(1), u32(offset), u32(1_000), u32(sample.count))
            return box(
                "moof",
                box(
                    "traf",
                    fullBox("tfhd", 0, 0x2_0000, u32(3)),
                    fullBox("tfdt", 1, 0, u64(0)),
                    Array(repeating: run, count: runs).flatMap { $0 }
                )
            )
        }
        return moof(moof(0).count + 8) + box("mdat", sample)
    }

    private static func movie(_ initialization: [UInt8]) throws -> Movie {
        let movie = FragmentedSegment(initialization.span).movie
        return try #require(movie)
    }

    @Test func samplesThatShareBytesAreLimitedToSegmentSize() throws {
        let movie = try Self.movie(FragmentedSubtitlesTests.timedText)
        let segment = Self.repeated(runs: 500, sample: zeros(10_000))
        let samples = FragmentSample.samples(in: segment.span, movie: movie, trackID: 3)
        #expect(samples.count == 2)
        #expect(samples.reduce(0) { $0 + $1.bytes.count } <= segment.count)
    }

    @Test func documentReferencedByManyRunsIsParsedOnce() throws {
        let document = ascii(Subtitles.tt("<body><div><p>\(String(repeating: "a", count: 4_000))</p></div></body>"))
        let segment = Self.repeated(runs: 50, sample: document)
        let initialization = FragmentedSubtitlesTests.timedText
        let found = FragmentedSubtitles(initialization: initialization.span)
        let track = try #require(found)
        let cues = try track.cues(in: segment.span)
        #expect(cues.count == 1)
    }

    @Test func emptySamplesAreLimitedByByteCountOfSegment() throws {
        let movie = try Self.movie(FragmentedSubtitlesTests.timedText)
        let segment = box(
            "moof",
            box("traf", fullBox("tfhd", 0, 0x2_0010, u32(3), u32(0)), fullBox("trun", 0, 0, u32(-1)))
        )
        let samples = FragmentSample.samples(in: segment.span, movie: movie, trackID: 3)
        #expect(samples.count <= segment.count)
    }

    // MARK: Sample tables

    private static func movie(_ kind: String, entry: [UInt8], times: [Int], chunk: Int, sizes: [UInt8]) throws -> Int64
    {
        let tables =
            Movies.table("stts", [times]) + Movies.table("stsc", [[1, chunk, 1]]) + sizes
            + Movies.table("stco", [[100]])
        let bytes = box(
            "moov",
            Movies.movieHeader(),
            Movies.track(1, handler: kind, timescale: 8_000, entry: entry, tables: tables)
        )
        return try Movie(reading: bytes).indexEntryCount(bytes.span)
    }

    @Test func indexEntryCountIsKnownBeforeIndexIsBuilt() throws {
        let video = Movies.visualEntry("avc1")
        let audio = Movies.audioEntry("sowt")
        let billions = fullBox("stsz", 0, 0, u32(2), u32(-1))
        #expect(try Self.movie("vide", entry: video, times: [-1, 1], chunk: -1, sizes: billions) == 0xFFFF_FFFF)
        // The samples count even if the table has no durations for them.
        #expect(try Self.movie("vide", entry: video, times: [1, 1], chunk: 1, sizes: billions) == 0xFFFF_FFFF)
        #expect(try Self.movie("soun", entry: audio, times: [-1, 2], chunk: -1, sizes: billions) == 0xFFFF_FFFF)
        // Several samples of uncompressed audio in a chunk form one entry.
        #expect(try Self.movie("soun", entry: audio, times: [-1, 1], chunk: 1_280, sizes: billions) == 11)
        #expect(try Self.movie("soun", entry: audio, times: [-1, 1], chunk: -1, sizes: billions) == 1 << 25)
        let listed = fullBox("stsz", 0, 0, u32(0), u32(3), u32(1), u32(1), u32(1))
        #expect(try Self.movie("vide", entry: video, times: [3, 1], chunk: 3, sizes: listed) == 3)
    }

    // MARK: TTML

    @Test func paragraphWithTooManyStatesIsRejected() {
        // 500 spans of one letter, each in about 60 states: 3 MB of text from a document of about 15,000 bytes.
        let parts = (0..<500).map { "<span style='\($0 % 2 == 0 ? "r" : "g")'>a</span>" }.joined()
        let states = (1...60).map { "<span begin='\($0)ms'/>" }.joined()
        let head = "<styling><style xml:id='r' tts:color='#ff0000'/><style xml:id='g' tts:color='#00ff00'/></styling>"
        let text = Subtitles.tt("<body><div><p end='3000s'>\(parts)\(states)</p></div></body>", head: head)
        var refusal: MediaFormatError?
        do {
            _ = try Subtitles.timedText(text)
        } catch {
            refusal = error as? MediaFormatError
        }
        #expect(refusal == .tooLarge("timed text with all states of its cues"))
    }

    @Test func wordByWordCuesAreWithinTheBudget() throws {
        let words = (0..<24).map { "<span begin='\($0 * 200)ms'>word\($0) </span>" }.joined()
        let paragraphs = (0..<40).map { "<p begin='\($0 * 6)s' end='\($0 * 6 + 6)s'>\(words)</p>" }.joined()
        let document = try Subtitles.timedText(Subtitles.tt("<body><div>\(paragraphs)</div></body>"))
        #expect(document.cues.count == 40 * 24)
    }

    @Test func elementNestingIsLimited() throws {
        func nested(_ depth: Int) -> String {
            let open = String(repeating: "<div>", count: depth)
            let close = String(repeating: "</div>", count: depth)
            return Subtitles.tt("<body>\(open)<p end='1s'>a</p>\(close)</body>")
        }
        #expect(try Subtitles.timedText(nested(60)).cues.count == 1)
        #expect(throws: MediaFormatError.self) { try Subtitles.timedText(nested(62)) }
    }

    @Test func nestedSequentialContainersAddUpTimes() throws {
        let inner = "<div timeContainer='seq'><p dur='1s'>a</p><p dur='2s'>b</p></div>"
        let text =
            "<body timeContainer='seq'><div timeContainer='seq'>\(inner)\(inner)</div><div><p dur='1s'>c</p></div></body>"
        let cues = try Subtitles.timedText(Subtitles.tt(text)).cues
        #expect(cues.map(Subtitles.line) == ["0-1 a", "1-3 b", "3-4 a", "4-6 b", "6-7 c"])
    }

    @Test func longStyleNamesAndValuesAreIgnored() throws {
        let long = String(repeating: "x", count: 300)
        let head = """
            <styling><style xml:id="\(long)" tts:color="#ff0000"/><style xml:id="s" tts:color="#00ff00"
            tts:textDecoration="underline \(long)"/></styling>
            <layout><region xml:id="\(long)" tts:origin="0% 0%"/></layout>
            """
        let text = Subtitles.tt(
            "<body style='s \(long)' region='\(long)'><div><p end='1s'>a</p></div></body>",
            head: head
        )
        let cue = try #require(try Subtitles.timedText(text).cues.first)
        let style = try #require(cue.lines.first?.spans.first?.style)
        #expect(style.color == SubtitleColor(red: 0, green: 255, blue: 0) && !style.isUnderlined)
        #expect(cue.placement.overlapHandling == .avoidOverlap)
    }

    @Test func styleReferencesOfRegionAreLimited() throws {
        let styles = (0..<40).map { "<style xml:id='s\($0)' tts:opacity='0.99'/>" }.joined()
        let references = (0..<40).map { "<style style='s\($0)'/>" }.joined()
        let head = """
            <styling>\(styles)<style xml:id='last' tts:color='#ff0000'/></styling>
            <layout><region xml:id='r'>\(references)<style style='last'/></region></layout>
            """
        let cue = try #require(
            try Subtitles.timedText(Subtitles.tt("<body region='r'><div><p end='1s'>a</p></div></body>", head: head))
                .cues.first
        )
        #expect(cue.lines.first?.spans.first?.style.color != SubtitleColor(red: 255, green: 0, blue: 0))
    }

    // MARK: Cues

    @Test func rememberedCuesAreLimitedInBytes() {
        var deduplicator = WebVTTCueDeduplicator()
        let text = String(repeating: "a", count: 1 << 20)
        func cue(_ second: Int64) -> WebVTTCue {
            WebVTTCue(
                timeRange: MediaTimeRange(start: MediaTime(seconds: second), duration: MediaTime(seconds: 1)),
                text: text
            )
        }
        for second in 0..<20 { #expect(deduplicator.add([cue(Int64(second))]).count == 1) }
        // The most recent cues are remembered, the oldest ones are not.
        #expect(deduplicator.add([cue(19)]).isEmpty)
        #expect(deduplicator.add([cue(0)]).count == 1)
    }

    @Test func timelineIsLimitedInBytes() {
        var timeline = SubtitleTimeline()
        let text = String(repeating: "a", count: 1 << 20)
        for second in 0..<80 {
            timeline.insert([Subtitles.cue(text + "\(second)", Int64(second) * 1_000, Int64(second) * 1_000 + 500)])
        }
        #expect(timeline.count <= 64 && timeline.count >= 40)
        #expect(timeline.firstStart.map { $0 > .zero } == true)
        timeline.discard(MediaTimeRange(start: .zero, end: MediaTime(seconds: 100)))
        #expect(timeline.isEmpty)
        for second in 0..<60 {
            timeline.insert([Subtitles.cue(text + "\(second)", Int64(second) * 1_000, Int64(second) * 1_000 + 500)])
        }
        #expect(timeline.count == 60)
    }

    @Test func discardingKeepsRemainingCuesInOrder() {
        var timeline = SubtitleTimeline()
        timeline.insert([
            Subtitles.cue("a", 0, 4_000), Subtitles.cue("b", 1_000, 2_000), Subtitles.cue("c", 3_000, 5_000),
            Subtitles.cue("d", 6_000, 7_000),
        ])
        timeline.discard(Subtitles.range(1_500, 3_000))
        #expect(timeline.cues.map(Subtitles.line) == ["0-1.5 a", "1-1.5 b", "3-5 c", "3-4 a", "6-7 d"])
        #expect(timeline.cues(at: Subtitles.time(2_000)).isEmpty)
        #expect(timeline.cues(at: Subtitles.time(3_500)).count == 2)
        timeline.insert([Subtitles.cue("b", 1_495, 1_600)])
        #expect(timeline.cues.map(Subtitles.line).contains("1-1.6 b"))
    }

    @Test func selectorWithTooManyClassesIsIgnored() throws {
        let names = (0..<20).map { "c\($0)" }.joined(separator: ".")
        let cues = try Subtitles.webVTT(
            """
            WEBVTT

            STYLE
            ::cue(.\(names)) { color: red }
            ::cue(.c3) { color: lime; font-weight: bold; font-style: italic; text-decoration: underline }

            00:00.000 --> 00:01.000
            <c.\(names)>a</c>
            """
        )
        let style = try #require(cues.first?.lines.first?.spans.first?.style)
        #expect(style.color == SubtitleColor(red: 0, green: 255, blue: 0))
        #expect(style.isBold && style.isItalic && style.isUnderlined)
    }
}

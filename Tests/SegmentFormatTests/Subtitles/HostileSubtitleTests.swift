import Foundation
import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

/// Tests that arbitrary subtitle documents are parsed or rejected, and rendered without override tags from their text.
@Suite struct HostileSubtitleTests {
    enum Format: String, CaseIterable {
        case webVTT, subRip, timedText, webVTTSamples, timedTextSamples
    }

    static func fixture(_ format: Format) -> [UInt8] {
        switch format {
        case .webVTT:
            ascii(
                """
                WEBVTT

                STYLE
                ::cue(.a) { color: rgba(1,2,3,0.5); font-weight: bold }

                REGION
                id:r width:40% lines:3 regionanchor:0%,100% viewportanchor:10%,90%

                1
                00:00:01.000 --> 00:00:02.000 line:-1 position:10%,line-left size:30% align:start
                <c.a.bg_red>x</c> {\\an8}<ruby>a<rt>b</rt></ruby>

                00:00:01.000 --> 00:00:02.000 region:r vertical:rl
                y
                """
            )
        case .subRip:
            ascii("1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>a</i><font color=#f00>b\n\n2\n00:00:03.5 --> 4\nc")
        case .timedText: ascii(timedText)
        case .webVTTSamples:
            FragmentedSubtitlesTests.webVTT
                + FragmentedSubtitlesTests.fragment(
                    base: 0,
                    [(1_000, FragmentedSubtitlesTests.cue("<b>a</b>", settings: "region:r line:2", id: "1"))]
                )
        case .timedTextSamples:
            FragmentedSubtitlesTests.timedText + FragmentedSubtitlesTests.fragment(base: 0, [(9_000, ascii(timedText))])
        }
    }

    private static let timedText = Subtitles.tt(
        """
        <body region="r" timeContainer="seq"><div style="s"><p begin="1s" end="00:00:09:12">a<br/><span begin="10f" dur="90t">b</span>
        <span tts:ruby="text">c</span></p></div></body>
        """,
        root: #"ttp:frameRate="25" ttp:frameRateMultiplier="1000 1001" ttp:tickRate="90" ttp:cellResolution="40 20""#,
        head: """
            <styling><style xml:id="s" style="s" tts:color="#ff0000" tts:fontSize="80% 90%"/></styling>
            <layout><region xml:id="r" tts:origin="10% 1c" tts:extent="80% 10em" tts:padding="1px 2%" tts:position="right 1% top 2%"/>
            </layout>
            """
    )

    static func read(_ format: Format, _ bytes: [UInt8]) -> [SubtitleCue] {
        switch format {
        case .webVTT: (try? WebVTTDocument(bytes.span))?.subtitles(near: MediaTime(seconds: 100_000)) ?? []
        case .subRip: (try? SubRipDocument(bytes.span))?.cues ?? []
        case .timedText: (try? TimedTextDocument(bytes.span))?.cues ?? []
        case .webVTTSamples, .timedTextSamples:
            (try? FragmentedSubtitles(initialization: bytes.span)?.cues(in: bytes.span)) ?? []
        }
    }

    private func check(_ cues: [SubtitleCue]) {
        var timeline = SubtitleTimeline()
        timeline.insert(cues)
        timeline.insert(cues.map { $0.shifted(by: MediaTime(seconds: 1)) })
        timeline.discard(MediaTimeRange(start: MediaTime(seconds: 1), end: MediaTime(seconds: 2)))
        for event in SubStationScript().events(of: timeline) {
            let isWhole = event.timeRange.duration > .zero && !event.dialogueLine.contains(where: \.isNewline)
            if !isWhole { Issue.record("an impossible event: \(event.dialogueLine)") }
        }
    }

    @Test(arguments: Format.allCases)
    func mutatedSubtitlesDoNotTrap(_ format: Format) {
        let fixture = Self.fixture(format)
        #expect(!Self.read(format, fixture).isEmpty)
        var random = SeededGenerator(seed: UInt64(fixture.count))
        for _ in 0..<HostileInputTests.rounds {
            var bytes = fixture
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<6, using: &random) {
                case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[position] = .random(in: 0...255, using: &random)
                case 2: bytes[position] = UInt8(ascii: "9")
                case 3: bytes.insert(contentsOf: ascii("99999999999999999999"), at: position)
                case 4: bytes.removeSubrange(position..<min(bytes.count, position + 3))
                default: bytes.insert(contentsOf: ascii("<-{\\}\"%:"), at: position)
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            check(Self.read(format, bytes))
        }
    }

    @Test(arguments: Format.allCases)
    func truncatedSubtitlesDoNotTrap(_ format: Format) {
        let fixture = Self.fixture(format)
        for length in stride(from: 0, to: fixture.count, by: max(1, fixture.count / 200)) {
            check(Self.read(format, Array(fixture.prefix(length))))
        }
    }

    @Test func manyOverlappingCuesAreLimited() throws {
        let cues = (0..<20_000).map { Subtitles.cue("\($0)", Int64($0), 90_000_000) }
        var timeline = SubtitleTimeline()
        timeline.insert(cues)
        #expect(timeline.cues(at: Subtitles.time(19_999)).count == SubtitlePositioner.maximumCueCount)
        #expect(SubStationScript().events(of: timeline).count >= SubtitlePositioner.maximumCueCount)
    }
}

import MediaTiming
import SeededRandomness
import Testing

@testable import SegmentFormat

@Suite struct WebVTTTests {
    static func document(_ text: String) throws -> WebVTTDocument {
        let bytes = Array(text.utf8)
        return try WebVTTDocument(bytes.span)
    }

    static func cue(_ text: String) throws -> WebVTTCue {
        let document = try document("WEBVTT\n\n" + text)
        return try #require(document.cues.first)
    }

    static func settings(_ text: String) throws -> WebVTTCueSettings {
        try cue("00:00.000 --> 00:01.000 \(text)\nx").settings
    }

    static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(
            start: MediaTime(value: start, timescale: 1_000),
            end: MediaTime(value: end, timescale: 1_000)
        )
    }

    @Test(arguments: ["\n", "\r\n", "\r"])
    func allBlockTypesAreParsed(_ end: String) throws {
        let lines = [
            "\u{FEFF}WEBVTT - a title", "X-TIMESTAMP-MAP=LOCAL:00:00:01.000,MPEGTS:900000", "", "NOTE not shown", "",
            "STYLE ",
            "::cue { color: red }", "b { }", "", "REGION", "id:low width:40% lines:2",
            "regionanchor:0%,90% viewportanchor:10%,20%",
            "scroll:up", "", "first", "00:01.000 --> 01:00:02.500 region:low", "one", "two", "", "",
            "00:03.000 --> 00:04.000", "three",
        ]
        let document = try Self.document(lines.joined(separator: end))
        #expect(document.timestampMap == WebVTTTimestampMap(mediaTimestamp: 900_000, localTime: MediaTime(seconds: 1)))
        #expect(document.styleSheets == ["::cue { color: red }\nb { }"])
        let region = try #require(document.regions.first)
        #expect(region.id == "low")
        #expect(region.width == 40)
        #expect(region.lines == 2)
        #expect(region.anchor == .init(x: 0, y: 90))
        #expect(region.viewportAnchor == .init(x: 10, y: 20))
        #expect(region.scrollsUp)
        #expect(document.cues.map(\.id) == ["first", ""])
        #expect(document.cues.map(\.text) == ["one\ntwo", "three"])
        #expect(document.cues[0].timeRange == Self.range(1_000, 3_602_500))
        #expect(document.region(of: document.cues[0]) == region)
        #expect(document.region(of: document.cues[1]) == nil)
    }

    @Test func emptyLinesBetweenCuesAreOptional() throws {
        let document = try Self.document(
            "WEBVTT\n00:01.000 --> 00:02.000\na\nb\n00:02.000 --> 00:03.000\nc\nid\n00:03.000 --> 00:04.000\nd"
        )
        #expect(document.cues.map(\.text) == ["a\nb", "c\nid", "d"])
    }

    @Test func consecutiveTimingLinesStartNewCue() throws {
        let document = try Self.document("WEBVTT\n\n00:01.000 --> 00:02.000\n00:03.000 --> 00:04.000\nb")
        #expect(document.cues.map(\.text) == ["", "b"])
        #expect(document.cues.map(\.timeRange.start.seconds) == [1, 3])
    }

    @Test func styleBlockAfterCueIsIgnored() throws {
        let document = try Self.document("WEBVTT\n\n00:01.000 --> 00:02.000\na\n\nSTYLE\n::cue {}")
        #expect(document.styleSheets.isEmpty)
        #expect(document.cues.count == 1)
    }

    @Test func zeroBytesAreReplaced() throws {
        #expect(try Self.cue("00:01.000 --> 00:02.000\na\0b").text == "a\u{FFFD}b")
    }

    @Test(arguments: ["", "WEBVT", "WEBVTTX", " WEBVTT", "\n\nWEBVTT", "1\n00:01.000 --> 00:02.000\na"])
    func documentWithoutSignatureIsRejected(_ text: String) {
        #expect(throws: MediaFormatError.missing("WEBVTT signature")) { try Self.document(text) }
    }

    static let times: [(String, Int64?)] = [
        ("00:00.000", 0), ("59:59.999", 3_599_999), ("1:00:00.000", 3_600_000), ("100:00:00.000", 360_000_000),
        ("60:00.000", nil), ("1:00.000", nil), ("00:60.000", nil), ("00:00:60.000", nil), ("00:00.00", nil),
        ("00:00.0000", nil),
        ("00:00,000", nil), ("00:00", nil), ("123456789012:00:00.000", nil),
    ]

    @Test(arguments: times)
    func timestampsAreParsedStrictly(_ text: String, _ milliseconds: Int64?) {
        var scanner = WebVTTScanner(text)
        let time = scanner.timestamp()
        #expect((scanner.isAtEnd ? time : nil) == milliseconds.map { MediaTime(value: $0, timescale: 1_000) })
    }

    @Test func cueWithInvalidTimingIsIgnored() throws {
        let document = try Self.document(
            "WEBVTT\n\n00:01.000 -> 00:02.000\na\n\n00:0x.000 --> 00:02.000\nb\n\n00:01.000-->00:02.000\nc"
        )
        #expect(document.cues.map(\.text) == ["c"])
    }

    @Test func cueSettingsAreParsed() throws {
        let settings = try Self.settings("vertical:lr line:10.5%,end position:20%,line-right size:33% align:left")
        #expect(settings.direction == .growingRight)
        #expect(settings.line == .percentage(10.5))
        #expect(settings.lineAlignment == .end)
        #expect(settings.position == 20)
        #expect(settings.positionAlignment == .lineRight)
        #expect(settings.size == 33)
        #expect(settings.alignment == .left)
        #expect(try Self.settings("line:-1").line == .number(-1))
        #expect(try Self.settings("region:a").regionID == "a")
        #expect(try Self.settings("region:a size:50%").regionID == nil)
    }

    @Test(arguments: [
        "line:x", "line:5%%", "line:101%", "line:--1", "line:1.", "line:.5", "line:1,middle", "position:5",
        "position:-1%",
        "position:50%,left", "size:200%", "size:%", "align:middle", "vertical:up", "line", ":5", "line:", "line:1e5",
    ])
    func invalidCueSettingIsIgnored(_ text: String) throws {
        #expect(try Self.settings(text) == WebVTTCueSettings())
    }

    @Test func cueTextIsParsedIntoNodes() throws {
        let cue = try Self.cue(
            "00:01.000 --> 00:02.000\n<v.loud  Mary  Ann >Hi <i.a.b>th<00:01.500>ere</i> &amp; &lt;b&gt;&#x41;&#66;&unknown;</v><lang de>Ja"
        )
        #expect(
            cue.nodes == [
                .element(
                    .init(
                        tag: .voice,
                        classes: ["loud"],
                        annotation: "Mary Ann",
                        children: [
                            .text("Hi "),
                            .element(
                                .init(
                                    tag: .italic,
                                    classes: ["a", "b"],
                                    annotation: "",
                                    children: [
                                        .text("th"), .timestamp(MediaTime(value: 3, timescale: 2)), .text("ere"),
                                    ]
                                )
                            ),
                            .text(" & <b>AB&unknown;"),
                        ]
                    )
                ),
                .element(.init(tag: .language, classes: [], annotation: "de", children: [.text("Ja")])),
            ]
        )
        #expect(cue.nodes.map(\.plainText).joined() == "Hi there & <b>AB&unknown;Ja")
    }

    static let texts: [(String, String)] = [
        ("<ruby>A<rt>a</ruby>B", "ruby(A rt(a)) B"), ("<rt>x</rt>", "x"), ("<b><i>x</b>y", "b(i(x y))"),
        ("<x>y</x>", "y"),
        ("<b", "b()"), ("</b>x", "x"), ("<>x", "x"), ("<b>x</b", "b(x)"), ("a<99:99.000>b", "a b"),
    ]

    @Test(arguments: texts)
    func invalidTagsAreIgnored(_ text: String, _ expected: String) throws {
        func shape(_ nodes: [WebVTTNode]) -> String {
            nodes.map { node in
                switch node {
                case .text(let text): text
                case .timestamp: "@"
                case .element(let element): "\(element.tag.rawValue)(\(shape(element.children)))"
                }
            }.joined(separator: " ")
        }
        #expect(shape(WebVTTNode.nodes(text)) == expected)
    }

    @Test func nodeDepthIsLimited() {
        let nodes = WebVTTNode.nodes(String(repeating: "<b>", count: 10_000) + "x")
        #expect(nodes.map(\.plainText) == ["x"])
    }

    @Test(arguments: [
        "X-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:10.000", "X-TIMESTAMP-MAP=LOCAL:00:10.000,MPEGTS:900000",
        "X-TIMESTAMP-MAP = LOCAL:00:10.000 , MPEGTS:900000",
    ])
    func timestampMapMovesCues(_ line: String) throws {
        let document = try Self.document("WEBVTT\n\(line)\n\n00:12.000 --> 00:13.000\na")
        #expect(document.cues(near: .zero).map(\.timeRange) == [Self.range(12_000, 13_000)])
    }

    @Test(arguments: [
        "X-TIMESTAMP-MAP=MPEGTS:x,LOCAL:00:00.000", "X-TIMESTAMP-MAP=MPEGTS:5", "X-TIMESTAMP-MAP", "NOTE",
    ])
    func invalidTimestampMapIsIgnored(_ line: String) throws {
        let document = try Self.document("WEBVTT\n\(line)\n\n00:12.000 --> 00:13.000\na")
        #expect(document.timestampMap == nil)
        #expect(document.cues(near: .zero).map(\.timeRange) == [Self.range(12_000, 13_000)])
    }

    @Test func timestampMapAppliesAcrossWraparound() throws {
        // Time zero of the cues is one second before the wraparound; the media timestamps have wrapped around three
        // times.
        let stamp = TimestampUnwrapper.period - 90_000
        let document = try Self.document(
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(stamp),LOCAL:00:00.000\n\n00:03.000 --> 00:04.000\na"
        )
        let reference = TimestampUnwrapper.mediaTime(of: 3 * TimestampUnwrapper.period)
        let cue = try #require(document.cues(near: reference).first)
        #expect(cue.timeRange.start == reference + MediaTime(seconds: 2))
    }

    @Test func repeatedCueIsAddedOnce() throws {
        var deduplicator = WebVTTCueDeduplicator()
        let cue = WebVTTCue(id: "1", timeRange: Self.range(1_000, 9_000), text: "a")
        let other = WebVTTCue(id: "1", timeRange: Self.range(1_000, 9_000), text: "b")
        #expect(deduplicator.add([cue, other]) == [cue, other])
        #expect(deduplicator.add([cue, cue]).isEmpty)
        deduplicator.discardCues(before: MediaTime(seconds: 10))
        #expect(deduplicator.add([cue]) == [cue])
    }

    @Test func gatheringRemembersBoundedNumberOfCues() {
        var deduplicator = WebVTTCueDeduplicator()
        for start in stride(from: Int64(0), to: 30_000, by: 10_000) {
            let cues = (start..<start + 10_000).map { WebVTTCue(timeRange: Self.range($0, $0 + 1), text: "") }
            #expect(deduplicator.add(cues).count == 10_000)
        }
        #expect(deduplicator.add([WebVTTCue(timeRange: Self.range(29_999, 30_000), text: "")]).isEmpty)
        #expect(deduplicator.add([WebVTTCue(timeRange: Self.range(0, 1), text: "")]).count == 1)
    }

    @Test func mutatedWebVTTDoesNotTrap() {
        let fixture = Array(
            """
            WEBVTT
            X-TIMESTAMP-MAP=LOCAL:00:00:01.000,MPEGTS:900000

            STYLE
            ::cue {}

            REGION
            id:a width:40% lines:2 regionanchor:0%,90%

            id
            00:01.000 --> 01:00:02.500 line:1,end position:10%,center size:50% align:end vertical:rl
            <v.a Bob>x <i>&amp;&#65;</i><00:01.500><ruby>y<rt>z</ruby>
            """.utf8
        )
        var random = SeededGenerator(seed: 3)
        let characters = Array("<>&;:%.,-#/ \n\r\0\u{FF}0".utf8)
        for _ in 0..<2_000 {
            var bytes = fixture
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let position = Int.random(in: 7..<bytes.count, using: &random)
                bytes[position] = characters[Int.random(in: 0..<characters.count, using: &random)]
            }
            guard let document = try? WebVTTDocument(bytes.span) else { continue }
            for cue in document.cues(near: MediaTime(seconds: 100_000)) { _ = cue.nodes.map(\.plainText) }
        }
    }
}

import Adaptation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the variants whose bit rate is unknown, and of the limits of what is known about the next segments.
@Suite struct SchedulingSurvivorTests {
    private static func variant(_ name: String, _ attributes: String) -> String {
        "#EXT-X-STREAM-INF:\(attributes)\n\(name).m3u8\n"
    }

    private static func presentation(_ lines: [String]) throws -> Presentation {
        Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
    }

    private static func chooser(
        _ lines: [String],
        _ change: (inout StreamingOptions) -> Void = { _ in }
    ) throws -> VariantChooser {
        var options = StreamingOptions()
        change(&options)
        var chooser = VariantChooser(options)
        chooser.setPresentation(try presentation(lines), selection: MediaSelection())
        return chooser
    }

    // MARK: Variants

    /// A variant without a bit rate counts as one of 0 bit/s.
    @Test(arguments: [
        ("BANDWIDTH=1", ["BANDWIDTH=2", "NAME=\"n\""], "v0.m3u8"),
        ("BANDWIDTH=2", ["NAME=\"n\"", "BANDWIDTH=3"], "v1.m3u8"),
        ("NAME=\"m\"", ["NAME=\"n\"", "BANDWIDTH=1"], "v0.m3u8"),
    ])
    func unknownBitRateIsTheLowest(former: String, others: [String], nearest: String) throws {
        let variant = try #require(try Self.presentation([Self.variant("former", former)]).variants.first)
        let lines = others.enumerated().map { Self.variant("v\($0.offset)", $0.element) }
        let found = try Self.chooser(lines).nearest(to: variant)
        #expect(found?.address.lastPathComponent == nearest)
    }

    @Test(arguments: [("BANDWIDTH=1", "NAME=\"n\"", "ac-3"), ("NAME=\"n\"", "BANDWIDTH=0", "mp4a.40.2")])
    func variantWithoutABitRateIsTheLowestOfItsPlaylist(first: String, second: String, codec: String) throws {
        let lines = [
            Self.variant("v", first + ",CODECS=\"avc1.4d,mp4a.40.2\""),
            Self.variant("v", second + ",CODECS=\"avc1.4d,ac-3\""),
        ]
        let found = VariantFamily.variants(of: try Self.presentation(lines), for: MediaSelection())
        #expect(found.map(\.codecs.audio) == [[codec]])
    }

    @Test func twoVariantsAreEnoughToChoose() throws {
        let lines = [Self.variant("a", "BANDWIDTH=1"), Self.variant("b", "BANDWIDTH=2")]
        let variants = try Self.presentation(lines).variants
        try #require(variants.count == 2)
        var chooser = try Self.chooser(lines) { $0.pinnedVariant = variants[1].id.text }
        let timeline = try Self.timeline()
        let context = VariantChooser.Context(
            current: variants[0],
            isFirst: false,
            bufferLevel: .seconds(10),
            capacity: .seconds(30),
            segment: timeline.segments[0],
            timeline: timeline,
            rate: 1,
            now: .zero
        )
        let choice = chooser.choose(context) { _ in true }
        #expect(choice.cause == "pinned" && choice.variant.id == variants[1].id)
    }

    /// A video of 640 × 360 pixels fills a view in one dimension only if the view is narrow or low.
    @Test(arguments: [(1_000, 380, "high.m3u8"), (380, 1_000, "low.m3u8"), (640, 1_000, "low.m3u8")])
    func videoFillsTheViewInOneDimension(width: Int, height: Int, name: String) throws {
        let lines = [
            Self.variant("low", "BANDWIDTH=1000000,RESOLUTION=640x360"),
            Self.variant("high", "BANDWIDTH=2000000,RESOLUTION=1280x720"),
        ]
        let chooser = try Self.chooser(lines) { options in
            options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
            options.viewSize = Resolution(width: width, height: height)
        }
        let first = chooser.first(bufferCapacity: .seconds(30))
        #expect(first?.address.lastPathComponent == name)
    }

    // MARK: Sizes

    /// Twelve segments, the first of which has one byte, and each further one a byte more.
    private static func timeline() throws -> PresentationTimeline {
        let segments = (0..<12).map { "#EXT-X-BYTERANGE:\($0 + 1)@\($0 * 100)\n#EXTINF:4,\nfilm.ts\n" }.joined()
        return PresentationTimeline(try media("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n"))
    }

    @Test(arguments: [(0, 1...8), (1, 2...9), (4, 5...12), (5, 6...12), (11, 12...12)] as [(Int, ClosedRange<Int64>)])
    func sizesOfEightSegmentsAreKnown(position: Int, sizes: ClosedRange<Int64>) throws {
        let timeline = try Self.timeline()
        let chooser = VariantChooser(StreamingOptions())
        let ladder = try #require(Ladder([LadderRung(variantIndex: 0, peakBitRate: BitRate(bitsPerSecond: 1))]))
        let segment = timeline.segments[position]
        let found = chooser.sizes(from: segment, in: timeline, of: 0, ladder)
        #expect(found.map { $0.map(\.bytes) } == sizes.map { [$0] })
        #expect(chooser.sizes(from: segment, in: timeline, of: nil, ladder).isEmpty)
    }

    @Test func sizesThatThePlaylistDoesNotDeclareAreUnknown() throws {
        let timeline = PresentationTimeline(try LiveWindowText().playlist)
        let ladder = try #require(Ladder([LadderRung(variantIndex: 0, peakBitRate: BitRate(bitsPerSecond: 1))]))
        let chooser = VariantChooser(StreamingOptions())
        #expect(chooser.sizes(from: timeline.segments[0], in: timeline, of: 0, ladder).isEmpty)
    }

    // MARK: Offset

    @Test(arguments: [(5, 1.0), (6, 1.0), (7, 1.05)])
    func playbackIsFasterOnlyWithMoreThanTheMinimumBuffer(buffered: Int, expected: Double) {
        var control = LiveOffsetControl()
        let factor = control.rateFactor(
            offset: seconds("21"),
            target: seconds("20"),
            bufferedDuration: .seconds(buffered),
            minimumBuffer: .seconds(6)
        )
        #expect(factor == expected)
    }
}

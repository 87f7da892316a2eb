import Adaptation
import MediaTiming
import Testing

/// Tests of the caps by user preference and by view size.
@Suite struct PictureCapTests {
    /// 360p, 540p, 720p twice, 1080p and 2160p.
    private static let sizes = [(640, 360), (960, 540), (1_280, 720), (1_280, 720), (1_920, 1_080), (3_840, 2_160)]

    private static func ladder() throws -> Ladder {
        try #require(
            Ladder(
                sizes.enumerated().map { index, size in
                    LadderRung(
                        peakBitRate: BitRate(bitsPerSecond: Int64(index + 1) * 1_000_000),
                        width: size.0,
                        height: size.1
                    )
                }
            )
        )
    }

    @Test(
        arguments: [
            ((1_280, 720), [0, 1, 2, 3]), ((1_300, 740), [0, 1, 2, 3, 4]), ((300, 200), [0]), ((640, 361), [0]),
            ((960, 960), [0, 1]), ((8_000, 8_000), [0, 1, 2, 3, 4, 5]), ((0, 720), [0, 1, 2, 3, 4, 5]),
            ((-5, -5), [0, 1, 2, 3, 4, 5]), ((.max, .max), [0, 1, 2, 3, 4, 5]),
        ] as [((Int, Int), [Int])]
    )
    func smallestResolutionThatFillsViewIsHighestOpenRung(view: (Int, Int), open: [Int]) throws {
        let cap = ViewSizeCap(width: view.0, height: view.1)
        let restriction = LadderRestriction(try Self.ladder(), caps: [cap])
        #expect(restriction.allowedRungs == open)
        #expect(restriction.reasons.indices.filter { restriction.reasons[$0] == nil } == open)
        #expect(restriction.reasons.compactMap { $0 }.allSatisfy { $0 == .viewSize })
    }

    @Test func rungsWithoutResolutionStayOpen() throws {
        let restriction = LadderRestriction(try makeLadder(fiveRungs), caps: [ViewSizeCap(width: 10, height: 10)])
        #expect(restriction.allowedRungs == [0, 1, 2, 3, 4])
    }

    @Test func closedRungDoesNotCountAsFillingTheView() throws {
        let ladder = try Self.ladder()
        var restriction = LadderRestriction(ladder)
        restriction.exclude(because: .codecs) { $0 == 2 || $0 == 3 }
        ViewSizeCap(width: 1_280, height: 720).restrict(&restriction, of: ladder)
        #expect(restriction.allowedRungs == [0, 1, 4])
    }

    @Test(
        arguments: [
            (nil, nil, nil, 6), (3_000_000, nil, nil, 3), (2_999_999, nil, nil, 2), (0, nil, nil, 6), (1, nil, nil, 1),
            (nil, 1_280, nil, 4), (nil, nil, 1_080, 5), (nil, 1, 1, 1), (nil, 0, 0, 6), (4_000_000, 960, 540, 2),
        ] as [(Int64?, Int?, Int?, Int)]
    )
    func preferenceClosesHigherRungs(peak: Int64?, width: Int?, height: Int?, count: Int) throws {
        let cap = PreferenceCap(peakBitRate: peak.map { BitRate(bitsPerSecond: $0) }, width: width, height: height)
        let restriction = LadderRestriction(try Self.ladder(), caps: [cap])
        #expect(restriction.allowedRungs == Array(0..<count))
    }

    @Test func preferenceGivesReasons() throws {
        let cap = PreferenceCap(peakBitRate: BitRate(bitsPerSecond: 5_000_000), height: 720)
        let restriction = LadderRestriction(try Self.ladder(), caps: [cap])
        #expect(restriction.reasons == [nil, nil, nil, nil, .preferredResolution, .preferredBitRate])
    }
}

import MediaTiming
import SegmentFormat
import Testing

@Suite struct SubtitleArrangementTests {
    private typealias S = Subtitles
    private static let line = SubtitleLayout.lineHeight

    private func places(_ cues: [SubtitleCue]) -> [Double] {
        cues.map { ($0.placement.verticalPosition * 100).rounded() / 100 }
    }

    private func rounded(_ values: [Double]) -> [Double] { values.map { ($0 * 100).rounded() / 100 } }

    @Test func newCueIsPlacedAboveAndKeepsItsPosition() {
        var arrangement = SubtitleArrangement()
        let first = S.cue("one\ntwo", 0, 2_000)
        let second = S.cue("three", 1_000, 3_000)
        #expect(places(arrangement.arrange([first])) == [95])
        #expect(places(arrangement.arrange([first, second])) == rounded([95, 95 - 2 * Self.line]))
        #expect(places(arrangement.arrange([second])) == rounded([95 - 2 * Self.line]))
        #expect(
            places(arrangement.arrange([S.cue("four", 2_500, 4_000), second])) == rounded([95, 95 - 2 * Self.line])
        )
    }

    @Test func cueAtTheTopMovesDown() {
        var arrangement = SubtitleArrangement()
        var first = S.cue("one", 0, 2_000)
        first.placement.verticalAnchor = .top
        first.placement.verticalPosition = 5
        var second = first
        second.lines = [SubtitleLine([SubtitleSpan("two")])]
        #expect(places(arrangement.arrange([first, second])) == rounded([5, 5 + Self.line]))
    }

    @Test func cuesSideBySideAreNotMoved() {
        var arrangement = SubtitleArrangement()
        var left = S.cue("one", 0, 2_000)
        (left.placement.regionWidth, left.placement.horizontalPosition) = (40, 25)
        var right = S.cue("two", 0, 2_000)
        (right.placement.regionWidth, right.placement.horizontalPosition) = (40, 75)
        #expect(places(arrangement.arrange([left, right])) == [95, 95])
    }

    @Test func cuesOfRegionAreStacked() {
        var arrangement = SubtitleArrangement()
        var first = S.cue("one", 0, 2_000)
        first.placement.stacking = .flows(region: "r")
        var second = S.cue("two\nthree", 0, 2_000)
        second.placement.stacking = .flows(region: "r")
        let result = arrangement.arrange([first, second])
        #expect(places(result) == rounded([95 - 3 * Self.line, 95 - 2 * Self.line]))
        #expect(result.allSatisfy { $0.placement.stacking == .none && $0.placement.verticalAnchor == .top })
    }

    @Test func cuesThatDoNotFitOverlap() {
        var arrangement = SubtitleArrangement()
        let cues = (0..<40).map { S.cue("\($0)", 0, 1_000) }
        #expect(places(arrangement.arrange(cues)).count { $0 == 95 } > 1)
    }
}

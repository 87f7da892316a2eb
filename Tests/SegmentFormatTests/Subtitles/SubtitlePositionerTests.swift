import MediaTiming
import SegmentFormat
import Testing

@Suite struct SubtitlePositionerTests {
    private typealias S = Subtitles
    private static let line = SubtitleLayout.lineHeight

    private func positions(_ cues: [SubtitleCue]) -> [Double] {
        cues.map { ($0.placement.verticalPosition * 100).rounded() / 100 }
    }

    private func rounded(_ values: [Double]) -> [Double] { values.map { ($0 * 100).rounded() / 100 } }

    @Test func newCueIsPlacedAboveAndKeepsItsPosition() {
        var arrangement = SubtitlePositioner()
        let first = S.cue("one\ntwo", 0, 2_000)
        let second = S.cue("three", 1_000, 3_000)
        #expect(positions(arrangement.position([first])) == [95])
        #expect(positions(arrangement.position([first, second])) == rounded([95, 95 - 2 * Self.line]))
        #expect(positions(arrangement.position([second])) == rounded([95 - 2 * Self.line]))
        #expect(
            positions(arrangement.position([S.cue("four", 2_500, 4_000), second])) == rounded([95, 95 - 2 * Self.line])
        )
    }

    @Test func cueAtTheTopMovesDown() {
        var arrangement = SubtitlePositioner()
        var first = S.cue("one", 0, 2_000)
        first.placement.verticalAnchor = .top
        first.placement.verticalPosition = 5
        var second = first
        second.lines = [SubtitleLine([SubtitleSpan("two")])]
        #expect(positions(arrangement.position([first, second])) == rounded([5, 5 + Self.line]))
    }

    @Test func cuesSideBySideAreNotMoved() {
        var arrangement = SubtitlePositioner()
        var left = S.cue("one", 0, 2_000)
        (left.placement.boxSize, left.placement.horizontalPosition) = (40, 25)
        var right = S.cue("two", 0, 2_000)
        (right.placement.boxSize, right.placement.horizontalPosition) = (40, 75)
        #expect(positions(arrangement.position([left, right])) == [95, 95])
    }

    @Test func cuesOfRegionAreStacked() {
        var arrangement = SubtitlePositioner()
        var first = S.cue("one", 0, 2_000)
        first.placement.overlapHandling = .stackInRegion(region: "r")
        var second = S.cue("two\nthree", 0, 2_000)
        second.placement.overlapHandling = .stackInRegion(region: "r")
        let result = arrangement.position([first, second])
        #expect(positions(result) == rounded([95 - 3 * Self.line, 95 - 2 * Self.line]))
        #expect(result.allSatisfy { $0.placement.overlapHandling == .fixed && $0.placement.verticalAnchor == .top })
    }

    @Test func cuesThatDoNotFitOverlap() {
        var arrangement = SubtitlePositioner()
        let cues = (0..<40).map { S.cue("\($0)", 0, 1_000) }
        #expect(positions(arrangement.position(cues)).count { $0 == 95 } > 1)
    }
}

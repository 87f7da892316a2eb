import MediaTiming
import SegmentFormat
import Testing

@Suite struct SubtitleTimelineTests {
    private typealias S = Subtitles

    private func lines(_ timeline: SubtitleTimeline) -> [String] { timeline.cues.map(Subtitles.line) }

    @Test func cueRepeatedInSegmentsIsInsertedOnce() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 0, 2_000), S.cue("b", 5_000, 7_000)])
        timeline.insert([S.cue("b", 5_000, 7_000), S.cue("c", 8_000, 9_000)])
        #expect(lines(timeline) == ["0-2 a", "5-7 b", "8-9 c"])
    }

    @Test func cueSplitAcrossSegmentsIsJoined() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 4_000, 6_000, id: "1")])
        timeline.insert([S.cue("a", 6_004, 7_000, id: "9"), S.cue("b", 7_000, 8_000)])
        timeline.insert([S.cue("b", 8_000, 9_000)])
        #expect(lines(timeline) == ["4-7 a", "7-9 b"])
        #expect(timeline.cues[0].id == "1")
    }

    @Test func partsInsertedInReverseOrderAreJoined() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 6_000, 7_000), S.cue("z", 20_000, 21_000)])
        timeline.insert([S.cue("a", 2_000, 3_000)])
        timeline.insert([S.cue("a", 3_000, 6_000)])
        #expect(lines(timeline) == ["2-7 a", "20-21 z"])
    }

    @Test func cuesWithGapOrDifferentPlacementAreNotJoined() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 0, 1_000)])
        timeline.insert([S.cue("a", 1_100, 2_000)])
        var other = S.cue("a", 2_000, 3_000)
        other.placement.verticalPosition = 10
        timeline.insert([other])
        #expect(lines(timeline) == ["0-1 a", "1.1-2 a", "2-3 a"])
    }

    @Test func cuesOfOneDocumentAreNotJoined() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 0, 1_000), S.cue("a", 1_000, 2_000), S.cue("a", 0, 1_000)])
        #expect(lines(timeline) == ["0-1 a", "1-2 a"])
    }

    @Test func cuesAtTimeHaveStartedAndNotEnded() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("b", 1_000, 3_000), S.cue("a", 0, 2_000), S.cue("c", 2_000, 2_000)])
        func texts(_ milliseconds: Int64) -> [String] { timeline.cues(at: S.time(milliseconds)).map(\.plainText) }
        #expect(texts(0) == ["a"])
        #expect(texts(1_000) == ["a", "b"])
        #expect(texts(2_000) == ["b"])
        #expect(texts(3_000) == [])
        var changes: [String] = []
        var time = S.time(-1)
        while let next = timeline.nextChange(after: time) {
            changes.append("\(next)")
            time = next
        }
        #expect(changes == ["0", "1", "2", "3"])
    }

    @Test func longCueIsFoundAfterManyShortOnes() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("long", 0, 2_000_000)])
        timeline.insert((0..<1_000).map { S.cue("\($0)", $0 * 1_000, $0 * 1_000 + 500) })
        #expect(timeline.cues(at: S.time(999_600)).map(\.plainText) == ["long"])
        #expect(timeline.cues(at: S.time(999_400)).map(\.plainText) == ["long", "999"])
        #expect(timeline.nextChange(after: S.time(999_600)) == S.time(2_000_000))
    }

    @Test func discardingKeepsCuesOutsideTheRange() {
        var timeline = SubtitleTimeline()
        timeline.insert([S.cue("a", 0, 10_000), S.cue("b", 4_000, 5_000), S.cue("c", 5_000, 7_000)])
        timeline.discard(S.range(3_000, 6_000))
        #expect(lines(timeline) == ["0-3 a", "6-10 a", "6-7 c"])
        timeline.insert([S.cue("a", 0, 10_000), S.cue("c", 5_000, 7_000)])
        #expect(lines(timeline) == ["0-10 a", "5-7 c"])
    }

    @Test func cueCountOfTimelineIsLimited() {
        var timeline = SubtitleTimeline()
        for part in 0..<110 {
            timeline.insert(
                (0..<1_000).map {
                    S.cue("x\($0 % 50)", Int64(part * 1_000 + $0) * 100, Int64(part * 1_000 + $0) * 100 + 50)
                }
            )
        }
        #expect(timeline.count <= SubtitleTimeline.maximumCueCount)
        #expect(timeline.count >= SubtitleTimeline.maximumCueCount / 2)
        #expect(timeline.cues(at: S.time(10_999_920)).map(\.plainText) == ["x49"])
    }
}

import HLSPlaylist
import MediaTiming
import StreamingEngine
import Testing

/// Tests of the properties that a timeline must keep for any sequence of reloads.
@Suite struct RandomReloadTests {
    /// A pseudorandom number generator with a seed.
    private struct Numbers {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func aTimelineStaysOrderedAndContainsThePlaylistsSegments(seed: UInt64) throws {
        var numbers = Numbers(state: seed)
        var window = LiveWindowText(first: 20, dateOfZero: seed.isMultiple(of: 2) ? 1_000 : nil)
        var timeline = PresentationTimeline(try window.playlist)
        for _ in 0..<40 {
            window.first = max(0, window.first + numbers.below(5) - 1)
            if numbers.below(12) == 0 { window.first = numbers.below(400) }
            window.count = numbers.below(9)
            window.duration = ["4", "0", "3.9376", "100", "0.001"][numbers.below(5)]
            window.name = numbers.below(10) == 0 ? "other" : "segment"
            window.discontinuities = [window.first + numbers.below(6), window.first + numbers.below(6)]
            window.discontinuitySequence = numbers.below(2) == 0 ? nil : numbers.below(4)
            window.tail = numbers.below(15) == 0 ? ["#EXT-X-ENDLIST"] : []
            let known = Dictionary(uniqueKeysWithValues: timeline.segments.map { ($0.sequence, $0.start) })
            let domain = timeline.segments.last?.domain
            let update = try timeline.update(try window.playlist)
            check(timeline, update)
            if !update.hasRestarted {
                for segment in timeline.segments {
                    #expect(segment.start == known[segment.sequence, default: segment.start])
                }
            }
            if let domain, let last = timeline.segments.last?.domain, update.hasRestarted { #expect(last > domain) }
        }
    }

    private func check(_ timeline: PresentationTimeline, _ update: TimelineUpdate) {
        #expect(timeline.segments.count == timeline.playlist.segments.count)
        #expect(update.added.isEmpty || timeline.sequences.contains(update.added.lowerBound))
        for (segment, next) in zip(timeline.segments, timeline.segments.dropFirst()) {
            #expect(segment.end == next.start && segment.domain <= next.domain)
        }
        #expect(timeline.segments.last.map { $0.end == timeline.end } ?? true)
        #expect(timeline.range.contains(timeline.liveWindow.seekable.start) || timeline.range.isEmpty)
    }
}

import MediaTiming
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests decisions of the pipeline that need no media.
@Suite struct PipelineValuesTests {
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    // MARK: Timeline entries

    @Test func laterEntryReplacesEarlierOnes() {
        var timeline = BufferTimeline<String>()
        timeline.insert("a", at: range(0, 6))
        timeline.insert("b", at: range(6, 12))
        timeline.insert("c", at: range(4, 8))
        #expect(timeline.entries.map(\.segment) == ["a", "c", "b"])
        #expect(timeline.entries.map(\.range) == [range(0, 4), range(4, 8), range(8, 12)])
        timeline.insert("d", at: range(5, 6))
        #expect(timeline.entries.map(\.segment) == ["a", "c", "d", "c", "b"])
        #expect(timeline.entries[1].id == timeline.entries[3].id)
        #expect(timeline.index(at: MediaTime(seconds: 5)) == 2)
        #expect(timeline.index(at: MediaTime(seconds: 12)) == nil)
        #expect(timeline.index(endingAfter: MediaTime(seconds: 8)) == 4)
    }

    @Test func onlyMatchingEntriesAreRemoved() {
        var timeline = BufferTimeline<String>()
        timeline.insert("video", at: range(0, 6))
        timeline.insert("muxed", at: range(6, 12))
        timeline.remove(range(3, 9)) { $0 == "muxed" }
        #expect(timeline.entries.map(\.range) == [range(0, 6), range(9, 12)])
        #expect(!timeline.isContiguous(1) && !timeline.isContiguous(0) && !timeline.isContiguous(2))
        timeline.insert("late", at: range(6, 9))
        #expect(timeline.isContiguous(1) && timeline.isContiguous(2))
    }

    // MARK: Timestamps

    private static let turn = MediaTime(value: 1 << 33, timescale: 90_000)

    private func input(
        _ first: MediaTime,
        at range: MediaTimeRange,
        hasVideo: Bool = true,
        playlist: String = "a",
        sequence: Int64 = 0,
        damaged: Bool = false
    ) -> TimestampMapping.Input {
        TimestampMapping.Input(
            domain: PipelineSegment.Domain(playlist: playlist, sequence: sequence),
            firstTimestamp: first,
            range: range,
            hasVideo: hasVideo,
            timestampPeriod: Self.turn,
            isDamaged: damaged
        )
    }

    @Test func videoDeterminesTheOffsetOfAllRenditionsOfASequence() {
        var mapping = TimestampMapping()
        let early = MediaTime(value: 995, timescale: 100)
        #expect(
            mapping.offset(of: input(early, at: range(0, 6), hasVideo: false, playlist: "sound")) == .zero - early
        )
        #expect(mapping.offset(of: input(MediaTime(seconds: 10), at: range(0, 6))) == MediaTime(seconds: -10))
        // From now on, audio uses the offset of the video.
        #expect(
            mapping.offset(of: input(early, at: range(0, 6), hasVideo: false, playlist: "sound"))
                == MediaTime(seconds: -10)
        )
        #expect(mapping.offset(ofSequence: 0) == MediaTime(seconds: -10))
        #expect(mapping.offset(ofSequence: 1) == nil)
    }

    @Test func roundedDurationsDoNotChangeTheOffset() {
        var mapping = TimestampMapping()
        _ = mapping.offset(of: input(.zero, at: range(0, 6)))
        // The duration in the playlist is 6 s, but that of the media is 5.96 s.
        for count in 1...10 {
            let first = MediaTime(value: Int64(596 * count), timescale: 100)
            let offset = mapping.offset(of: input(first, at: range(Int64(6 * count), Int64(6 * count + 6))))
            #expect(offset == .zero)
        }
    }

    @Test func renditionWithADifferentClockHasASeparateOffset() {
        var mapping = TimestampMapping()
        _ = mapping.offset(of: input(.zero, at: range(0, 6)))
        let other = input(MediaTime(seconds: 900), at: range(6, 12), playlist: "b")
        #expect(mapping.offset(of: other) == MediaTime(seconds: -894))
        #expect(mapping.offset(of: input(MediaTime(seconds: 12), at: range(12, 18))) == .zero)
        // Timestamps of damaged segments are ignored.
        let damaged = input(MediaTime(seconds: 500), at: range(18, 24), damaged: true)
        #expect(mapping.offset(of: damaged) == .zero)
    }

    /// The timestamps of the audio begin 4 s before those of the video.
    @Test func datesWithWhichTheTimestampsAgreeDelayARendition() {
        var mapping = TimestampMapping()
        _ = mapping.offset(of: input(MediaTime(seconds: 104), at: range(0, 4)))
        let early = input(MediaTime(seconds: 100), at: range(0, 4), hasVideo: false, playlist: "sound")
        #expect(!mapping.isSharedOffsetAcceptable(for: early))
        let delay = mapping.delay(of: early, startByDates: MediaTime(seconds: -4))
        #expect(delay == MediaTime(seconds: -4))
        #expect(mapping.offset(of: early.delayed(by: delay)) == MediaTime(seconds: -104))
        // Without dates, or with others than those of the media, the playlists begin together.
        #expect(mapping.delay(of: early, startByDates: nil) == .zero)
        #expect(mapping.delay(of: early, startByDates: MediaTime(seconds: 4)) == .zero)
    }

    @Test func datesWithWhichTheTimestampsDisagreeDelayNoRendition() {
        var mapping = TimestampMapping()
        _ = mapping.offset(of: input(MediaTime(seconds: 104), at: range(0, 4)))
        let aligned = input(MediaTime(seconds: 104), at: range(0, 4), hasVideo: false, playlist: "sound")
        #expect(mapping.delay(of: aligned, startByDates: MediaTime(seconds: -4)) == .zero)
        let unknown = input(MediaTime(seconds: 100), at: range(0, 4), hasVideo: false, sequence: 7)
        #expect(mapping.delay(of: unknown, startByDates: MediaTime(seconds: -4)) == .zero)
    }

    @Test func timestampWraparoundIsContinuous() {
        var mapping = TimestampMapping()
        let first = Self.turn - MediaTime(seconds: 3)
        #expect(mapping.offset(of: input(first, at: range(0, 6))) == .zero - first)
        let second = mapping.offset(of: input(MediaTime(seconds: 3), at: range(6, 12)))
        #expect(second + MediaTime(seconds: 3) == MediaTime(seconds: 6))
    }

    // MARK: Damage

    /// Adds packets of a second each; digits are damaged packets, and capital letters are key frames.
    private func add(_ packets: String, of entry: Int, to damage: inout DecodingDamage) -> [MediaTimeRange] {
        packets.enumerated().compactMap { position, letter in
            damage.add(
                range(Int64(position), Int64(position) + 1),
                isKeyFrame: letter.isUppercase,
                isDamaged: letter.isNumber,
                of: entry
            )
        }
    }

    @Test(
        arguments: [
            ("Ppppp", nil), ("P1pp2p", nil), ("P12", nil), ("P123", 4), ("P1p2p34", 7), ("P123ppp", nil),
        ] as [(String, Int64?)]
    )
    func segmentIsDamagedIfMostPacketsAre(packets: String, end: Int64?) {
        var damage = DecodingDamage()
        #expect(add(packets, of: 1, to: &damage).isEmpty)
        // The first packet of the next segment ends the previous one.
        var copy = damage
        #expect(add("p", of: 2, to: &copy) == (end.map { [range(0, $0)] } ?? []))
        #expect(copy.finish() == nil)
        #expect(damage.finish() == end.map { range(0, $0) })
        #expect(damage.finish() == nil)
    }

    /// The packets of audio do not depend on each other, so that a few damaged ones are reported, too.
    @Test(
        arguments: [
            ("PPPPP", nil), ("PP1P2PP", nil), ("PP1P2P3PPP", [2, 7]), ("PPPPP123PPP", [5, 8]), ("P123", [0, 4]),
        ] as [(String, [Int64]?)]
    )
    func damagedPartOfAudioIsReported(packets: String, bounds: [Int64]?) {
        var damage = DecodingDamage(reportsParts: true)
        #expect(add(packets, of: 1, to: &damage).isEmpty)
        let found = damage.finish()
        #expect(found == bounds.map { range($0[0], $0[1]) })
        // The next segment is reported in the same way.
        let second = add("PP123PPP", of: 2, to: &damage)
        let end = damage.finish()
        #expect(second.isEmpty && end == range(2, 5))
    }

    /// A decoder rejects the packets before the first key frame of an intact stream.
    @Test func packetsBeforeTheFirstKeyFrameAreNotDamage() {
        var damage = DecodingDamage()
        #expect(add("12345Ppp", of: 1, to: &damage).isEmpty)
        #expect(damage.finish() == nil)
    }

    @Test func mediaIsMostlyLostIfMoreThanHalfIs() {
        var loss = MediaLoss()
        #expect(!loss.isMostOfMedia)
        loss.add(1, of: 2)
        #expect(!loss.isMostOfMedia)
        loss.add(1, of: 1)
        #expect(loss.isMostOfMedia)
        loss.add(.max, of: .max)
        #expect(loss.lost == .max && loss.total == .max && loss.isMostOfMedia)
    }

    // MARK: Playback clock

    @Test func clockDoesNotAdvanceBeforeItsStart() {
        var clock = PlaybackClock(at: .seconds(5))
        clock.jump(to: MediaTime(seconds: 30), now: .seconds(5))
        clock.setRate(1, at: .seconds(7), now: .seconds(5))
        #expect(clock.timebase(at: .seconds(6)).mediaTime(at: .seconds(6)) == MediaTime(seconds: 30))
        #expect(clock.targetTimebase.mediaTime(at: .seconds(6)) == MediaTime(seconds: 30))
        #expect(clock.timebase(at: .seconds(9)).mediaTime(at: .seconds(9)) == MediaTime(seconds: 32))
        // Shifts are ignored before the clock starts.
        clock.shift(by: MediaTime(seconds: 1), now: .seconds(6))
        #expect(clock.targetTimebase.mediaTime(at: .seconds(9)) == MediaTime(seconds: 32))
        clock.shift(by: MediaTime(seconds: 1), now: .seconds(9))
        #expect(clock.targetTimebase.mediaTime(at: .seconds(10)) == MediaTime(seconds: 34))
        clock.setRate(-2, at: .seconds(10), now: .seconds(10))
        #expect(clock.timebase(at: .seconds(12)).mediaTime(at: .seconds(12)) == MediaTime(seconds: 30))
        clock.jump(to: .zero, now: .seconds(12))
        #expect(clock.targetTimebase.rate == -2 && clock.targetTimebase.mediaTime == .zero)
    }
}

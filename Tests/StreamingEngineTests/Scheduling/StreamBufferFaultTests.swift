import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

/// Tests of buffers without a size or a duration, and of playback that ends after the playlist.
@Suite struct StreamBufferFaultTests {
    private static func entry(_ start: Int64, _ end: Int64, _ bytes: Int) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end)),
            type: .muxed,
            byteCount: bytes,
            variant: nil
        )
    }

    @Test func bitRateIsUnknownWithoutBytesOrDuration() {
        var sizeless = StreamBuffer()
        sizeless.insert(Self.entry(0, 6, 0))
        #expect(sizeless.averageBitRate == nil)
        sizeless.insert(Self.entry(6, 12, 1_500))
        #expect(sizeless.averageBitRate == BitRate(bitsPerSecond: 1_000))
        var momentary = StreamBuffer()
        momentary.insert(Self.entry(6, 6, 100))
        #expect(momentary.averageBitRate == nil)
    }

    @Test func segmentIsMediaForNormalPlaybackByDefault() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 6, 100))
        let discarded = buffer.discardTrickPlay()
        #expect(discarded.isEmpty && buffer.entries.count == 1 && buffer.withoutMedia.isEmpty)
        #expect(buffer.entries.allSatisfy { !$0.isTrickPlay && !$0.hasNoMedia && $0.segment == nil })
    }

    @Test(arguments: [(110, false), (110, true), (120, true), (130, false), (130, true)])
    func playbackThatEndsAfterALivePlaylistAwaitsIt(end: Int64, isLive: Bool) throws {
        let window = LiveWindowText(count: 30, tail: isLive ? [] : ["#EXT-X-ENDLIST"])
        var scheduler = SegmentScheduler(
            position: MediaTime(seconds: 100),
            loaded: MediaTimeRangeSet([MediaTimeRange(start: MediaTime(seconds: 96), end: MediaTime(seconds: 120))]),
            capacity: MediaTime(seconds: 30)
        )
        scheduler.end = MediaTime(seconds: end)
        let step = scheduler.nextStep(in: PresentationTimeline(try window.playlist))
        let expected: SegmentScheduler.Step = isLive && end > 120 ? .awaitPlaylist : .complete
        #expect(step == expected)
    }
}

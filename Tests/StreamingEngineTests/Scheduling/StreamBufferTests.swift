import MediaTiming
import PlaybackReporting
import Testing

@testable import StreamingEngine

@Suite struct StreamBufferTests {
    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(seconds: start), end: MediaTime(seconds: end))
    }

    private static func variant(_ id: String) -> VariantDescription {
        VariantDescription(id: id, address: id, peakBitRate: BitRate(bitsPerSecond: 1))
    }

    /// Returns a buffer of segments of six seconds and 100 bytes each.
    private static func buffer(_ count: Int64 = 5) -> StreamBuffer {
        var buffer = StreamBuffer()
        for index in 0..<count { buffer.insert(entry(index * 6, index * 6 + 6)) }
        return buffer
    }

    private static func entry(
        _ start: Int64,
        _ end: Int64,
        bytes: Int = 100,
        variant: String? = nil,
        isTrickPlay: Bool = false,
        hasNoMedia: Bool = false
    ) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: range(start, end),
            type: .muxed,
            byteCount: bytes,
            variant: variant.map { Self.variant($0) },
            isTrickPlay: isTrickPlay,
            hasNoMedia: hasNoMedia
        )
    }

    @Test func mediaIsThatOfTheSegmentWithTheLargestPart() {
        func entry(_ start: Int64, _ end: Int64, _ type: MediaType, _ sequence: Int64) -> StreamBuffer.Entry {
            var entry = StreamBuffer.Entry(range: Self.range(start, end), type: type, byteCount: 1, variant: nil)
            entry.segment = SegmentIdentification(address: "\(sequence).ts", sequence: sequence)
            return entry
        }
        var buffer = StreamBuffer()
        buffer.insert(entry(0, 6, .muxed, 0))
        buffer.insert(entry(6, 12, .video, 1))
        buffer.insert(entry(12, 18, .muxed, 2))
        // Another variant replaces the segment.
        buffer.insert(entry(12, 18, .muxed, 7))
        func sequence(_ start: Int64, _ end: Int64, _ type: MediaType) -> Int64? {
            buffer.segment(of: type, in: Self.range(start, end))?.sequence
        }
        #expect(sequence(2, 4, .video) == 0 && sequence(2, 4, .audio) == 0 && sequence(5, 9, .muxed) == 1)
        #expect(sequence(7, 8, .audio) == nil && sequence(13, 14, .audio) == 7 && sequence(20, 21, .video) == nil)
    }

    @Test func discardedMediaIsNotCounted() {
        var buffer = Self.buffer()
        #expect(buffer.byteCount == 500 && buffer.loaded.ranges == [Self.range(0, 30)])
        #expect(buffer.discard(before: MediaTime(seconds: 12)) == [.muxed: Self.range(0, 12)])
        #expect(buffer.byteCount == 300 && buffer.loaded.ranges == [Self.range(12, 30)])
        #expect(buffer.discard(before: MediaTime(seconds: 17)).isEmpty)
        #expect(buffer.discard(after: MediaTime(seconds: 24)) == [.muxed: Self.range(24, 30)])
        #expect(buffer.byteCount == 200 && buffer.current.ranges == [Self.range(12, 24)])
        #expect(buffer.discard(after: MediaTime(seconds: 19)).isEmpty)
    }

    @Test func mediaThatOverlapsADiscardedRangeIsKept() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 6))
        buffer.insert(Self.entry(4, 10))
        _ = buffer.discard(before: MediaTime(seconds: 6))
        #expect(buffer.loaded.ranges == [Self.range(4, 10)])
        var reverse = StreamBuffer()
        reverse.insert(Self.entry(0, 8))
        reverse.insert(Self.entry(6, 12))
        reverse.insert(Self.entry(12, 18))
        _ = reverse.discard(after: MediaTime(seconds: 6))
        #expect(reverse.loaded.ranges == [Self.range(0, 8)])
        #expect(reverse.byteCount == 100)
    }

    @Test func smallGapsBetweenSegmentsAreClosed() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 6))
        let next = MediaTimeRange(start: MediaTime(value: 625, timescale: 100), end: MediaTime(seconds: 12))
        #expect(StreamBuffer.closingGaps(around: next, in: buffer.loaded) == Self.range(6, 12))
        let later = MediaTimeRange(start: MediaTime(value: 626, timescale: 100), end: MediaTime(seconds: 12))
        #expect(StreamBuffer.closingGaps(around: later, in: buffer.loaded) == later)
        let earlier = Self.range(2, 4)
        #expect(StreamBuffer.closingGaps(around: earlier, in: buffer.loaded) == earlier)
    }

    /// In reverse playback, a segment of another variant is loaded before those that follow it.
    @Test func smallGapsBeforeLaterSegmentsAreClosed() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(6, 12))
        let former = MediaTimeRange(start: .zero, end: MediaTime(value: 575, timescale: 100))
        #expect(StreamBuffer.closingGaps(around: former, in: buffer.loaded) == Self.range(0, 6))
        let earlier = MediaTimeRange(start: .zero, end: MediaTime(value: 574, timescale: 100))
        #expect(StreamBuffer.closingGaps(around: earlier, in: buffer.loaded) == earlier)
        buffer.insert(Self.entry(0, 4))
        let between = MediaTimeRange(
            start: MediaTime(value: 41, timescale: 10),
            end: MediaTime(value: 59, timescale: 10)
        )
        #expect(StreamBuffer.closingGaps(around: between, in: buffer.loaded) == Self.range(4, 6))
    }

    @Test func theBackBufferIsLimitedByDurationAndBytes() {
        let buffer = Self.buffer()
        let position = MediaTime(seconds: 30)
        let long = MediaTime(seconds: 20)
        #expect(
            buffer.retentionStart(before: position, duration: long, byteLimit: ByteCount(1_000))
                == MediaTime(seconds: 10)
        )
        // Two segments are allowed, so the third from the end is removed.
        #expect(
            buffer.retentionStart(before: position, duration: long, byteLimit: ByteCount(200)) == MediaTime(seconds: 18)
        )
        #expect(
            buffer.retentionStart(before: position, duration: long, byteLimit: ByteCount(199)) == MediaTime(seconds: 24)
        )
        #expect(
            buffer.retentionStart(before: position, duration: MediaTime(seconds: 7), byteLimit: ByteCount(200))
                == MediaTime(seconds: 23)
        )
        // Media ahead of the playhead does not count as back buffer.
        #expect(
            buffer.retentionStart(before: MediaTime(seconds: 12), duration: long, byteLimit: ByteCount(200))
                == MediaTime(seconds: -8)
        )
    }

    @Test func theBackBufferInReverseIsLimitedByDurationAndBytes() {
        let buffer = Self.buffer()
        let position = MediaTime(seconds: 6)
        func end(_ duration: Int64, _ bytes: Int64) -> MediaTime {
            buffer.retentionEnd(
                after: position,
                duration: MediaTime(seconds: duration),
                byteLimit: ByteCount(bytes)
            )
        }
        #expect(end(10, 1_000_000) == MediaTime(seconds: 16))
        let sizes = buffer.entries.filter { $0.range.start >= position }.map { Int64($0.byteCount) }
        // Two segments are allowed, so the third is removed.
        #expect(
            sizes.count > 3
                && end(1_000, sizes[0] + sizes[1])
                    == buffer.entries.filter { $0.range.start >= position }[2].range.start
        )
        #expect(end(1, sizes[0] + sizes[1]) == MediaTime(seconds: 7))
    }

    @Test func theVariantAtATimeIsThatOfTheLastSegmentWithOne() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 6, variant: "a"))
        buffer.insert(Self.entry(6, 12, hasNoMedia: true))
        buffer.insert(Self.entry(12, 18, variant: "b"))
        #expect(buffer.variant(at: MediaTime(seconds: -1)) == nil)
        #expect(buffer.variant(at: .zero)?.id == "a")
        #expect(buffer.variant(at: MediaTime(seconds: 11))?.id == "a")
        #expect(buffer.variant(at: MediaTime(seconds: 12))?.id == "b")
    }

    @Test func aLoadedRangeIsNoLongerAGap() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 6, hasNoMedia: true))
        #expect(buffer.withoutMedia.ranges == [Self.range(0, 6)])
        buffer.insert(Self.entry(0, 6))
        #expect(buffer.withoutMedia.ranges.isEmpty)
    }

    @Test func outdatedMediaIsLoadedButNotCurrent() {
        var buffer = Self.buffer()
        buffer.markOutdated(from: MediaTime(seconds: 12))
        #expect(buffer.current.ranges == [Self.range(0, 12)] && buffer.loaded.ranges == [Self.range(0, 30)])
        buffer.markOutdated(from: MediaTime(seconds: 40))
        #expect(buffer.current.ranges == [Self.range(0, 12)])
    }

    @Test func discardingIFramesRemovesOverlappingMedia() {
        var buffer = StreamBuffer()
        #expect(buffer.discardTrickPlay().isEmpty)
        buffer.insert(Self.entry(0, 6))
        buffer.insert(Self.entry(6, 12, isTrickPlay: true))
        buffer.insert(Self.entry(10, 16))
        buffer.insert(Self.entry(18, 24))
        #expect(buffer.discardTrickPlay().count == 2)
        #expect(buffer.loaded.ranges == [Self.range(0, 6), Self.range(18, 24)])
        #expect(buffer.byteCount == 200)
    }
}

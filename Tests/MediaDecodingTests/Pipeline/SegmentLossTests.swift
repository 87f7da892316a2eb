import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests the time ranges of media that is certainly lost.
@Suite struct SegmentLossTests {
    /// Returns a range between two times, in halves of a second.
    private static func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 2), end: MediaTime(value: end, timescale: 2))
    }

    private static let domain = PipelineSegment.Domain(playlist: "p", sequence: 0)

    /// Returns a segment of six seconds of video with packets of half a second, of which the first ones are left.
    private static func video(packetCount: Int, lost: MediaTimeRange?, hasLostBytes: Bool) throws -> DecodableSegment {
        let format = try SyntheticPackets.format(AV_CODEC_ID_H264, .video)
        let packets = try (0..<packetCount).map {
            try SyntheticPackets.packet([1], at: Int64($0) * 45_000, duration: 45_000)
        }
        var segment = DecodableSegment(
            type: .video,
            range: range(0, 12),
            domain: domain,
            video: DecodableSegment.Samples(
                SyntheticPackets.segment(format, packets),
                format,
                timestampPeriod: nil
            ),
            audio: nil
        )
        segment.hasLostBytes = hasLostBytes
        if let lost { segment.lostSamples = (type: .video, range: lost) }
        return segment
    }

    /// The segment has chunks of two seconds and ends within the second one.
    @Test func lossOfACutSegmentExtendsFromItsChunkToItsEnd() throws {
        let segment = try Self.video(packetCount: 5, lost: Self.range(5, 8), hasLostBytes: true)
        let loss = try #require(segment.loss(offset: .zero))
        #expect(loss.type == .video && loss.range == Self.range(5, 12))
        let withoutSamples = try Self.video(packetCount: 5, lost: nil, hasLostBytes: true)
        #expect(withoutSamples.loss(offset: .zero)?.range == Self.range(5, 12))
        let intact = try Self.video(packetCount: 12, lost: nil, hasLostBytes: false)
        #expect(intact.loss(offset: .zero) == nil)
    }

    @Test func longerOneOfTwoSeparateLossesIsReported() throws {
        let short = try Self.video(packetCount: 8, lost: Self.range(2, 3), hasLostBytes: true)
        #expect(short.loss(offset: .zero)?.range == Self.range(8, 12))
        let long = try Self.video(packetCount: 10, lost: Self.range(2, 6), hasLostBytes: true)
        #expect(long.loss(offset: .zero)?.range == Self.range(2, 6))
    }

    /// Returns a segment of a transport stream with packets of half a second at the given positions, in halves of a
    /// second.
    private static func contiguous(
        _ positions: [Int64],
        in range: MediaTimeRange,
        _ kind: MediaTrack.MediaType = .audio
    ) throws -> DecodableSegment {
        let format = try SyntheticPackets.format(kind == .video ? AV_CODEC_ID_H264 : AV_CODEC_ID_MP3, kind)
        let packets = try positions.map { try SyntheticPackets.packet([1], at: $0 * 45_000, duration: 45_000) }
        let samples = DecodableSegment.Samples(SyntheticPackets.segment(format, packets), format, timestampPeriod: nil)
        var segment = DecodableSegment(
            type: .muxed,
            range: range,
            domain: domain,
            video: kind == .video ? samples : nil,
            audio: kind == .audio ? samples : nil
        )
        segment.hasContiguousSamples = true
        return segment
    }

    /// The segment ends between two packets, so that only the following segment tells that its end is missing.
    @Test func endOfASegmentThatWasCutBetweenPacketsIsMissing() throws {
        let following = try Self.contiguous(Array(12..<24), in: Self.range(12, 24))
        let whole = try Self.contiguous(Array(0..<12), in: Self.range(0, 12))
        #expect(whole.missingMedia(before: following, offset: .zero) == nil)
        var cut = try Self.contiguous(Array(0..<8), in: Self.range(0, 12))
        #expect(cut.loss(offset: .zero) == nil)
        #expect(cut.missingMedia(before: following, offset: .zero) == Self.range(8, 12))
        // Its end is known to be lost.
        cut.hasLostBytes = true
        #expect(cut.loss(offset: .zero)?.range == Self.range(8, 12))
        #expect(cut.missingMedia(before: following, offset: .zero) == nil)
        // Playlists may declare other durations than those of the media.
        let early = try Self.contiguous(Array(8..<20), in: Self.range(12, 24))
        cut.hasLostBytes = false
        #expect(cut.missingMedia(before: early, offset: .zero) == nil)
    }

    /// Frames may be shown for a long time, and segments for trick play contain few of them.
    @Test func sparseVideoIsNotMissing() throws {
        let following = try Self.contiguous(Array(12..<24), in: Self.range(12, 24), .video)
        let sparse = try Self.contiguous([0, 1, 2, 3, 4, 5, 6, 8], in: Self.range(0, 12), .video)
        #expect(sparse.missingMedia(before: following, offset: .zero) == nil)
        let keyFrame = try Self.contiguous([0], in: Self.range(0, 12), .video)
        #expect(keyFrame.missingMedia(before: following, offset: .zero) == nil)
        let file = try Self.video(packetCount: 8, lost: nil, hasLostBytes: false)
        #expect(file.missingMedia(before: following, offset: .zero) == nil)
    }

    @Test func middleOfASegmentThatWasOverwrittenIsLost() throws {
        var segment = try Self.contiguous([0, 1, 2, 3, 4, 12, 13, 14, 15, 16], in: Self.range(0, 17))
        #expect(segment.loss(offset: .zero) == nil)
        segment.hasLostBytes = true
        let loss = try #require(segment.loss(offset: .zero))
        #expect(loss.type == .muxed && loss.range == Self.range(5, 12))
    }

    /// All bytes that are left belong to packets, but their continuity counters have a gap.
    @Test func middleOfASegmentThatLacksPacketsIsLost() throws {
        var segment = try Self.contiguous([0, 1, 2, 3, 4, 12, 13, 14, 15, 16], in: Self.range(0, 17), .video)
        #expect(!segment.mayLackMedia && segment.ownLoss(offset: .zero) == nil)
        segment.lacksPackets = true
        let loss = try #require(segment.ownLoss(offset: .zero))
        #expect(segment.mayLackMedia && loss.type == .muxed && loss.range == Self.range(5, 12))
        // A few packets without an interruption of the frames are not reported.
        var whole = try Self.contiguous(Array(0..<12), in: Self.range(0, 12), .video)
        whole.lacksPackets = true
        #expect(whole.ownLoss(offset: .zero) == nil)
    }

    @Test func rangesAreJoinedUnlessIntactMediaSeparatesThem() {
        let ranges = [Self.range(8, 9), Self.range(0, 1), Self.range(1, 2), Self.range(4, 6), Self.range(5, 7)]
        #expect(MediaTimeRange.joined(ranges) == [Self.range(0, 2), Self.range(4, 7), Self.range(8, 9)])
        #expect(MediaTimeRange.joined([]) == [])
    }

    /// Segments can be longer than the playlist declares.
    @Test func lossAfterTheDeclaredEndHasItsOwnTimes() throws {
        let late = try Self.video(packetCount: 12, lost: Self.range(12, 13), hasLostBytes: false)
        #expect(late.loss(offset: .zero)?.range == Self.range(12, 13))
        let damaged = try Self.video(packetCount: 12, lost: Self.range(9_000, 9_001), hasLostBytes: false)
        #expect(damaged.loss(offset: .zero)?.range == Self.range(0, 12))
    }

    @Test func lossesThatIntactMediaSeparatesAreNotJoined() {
        var segment = DemuxedSegment()
        segment.recordLostRange(Self.range(0, 2), ofTrack: 1)
        segment.recordLostRange(Self.range(2, 4), ofTrack: 1)
        segment.recordLostRange(Self.range(8, 9), ofTrack: 1)
        #expect(segment.lostRanges == [1: Self.range(0, 4)])
        segment.recordLostRange(Self.range(20, 26), ofTrack: 1)
        segment.recordLostRange(Self.range(5, 6), ofTrack: 2)
        #expect(segment.lostRanges == [1: Self.range(20, 26), 2: Self.range(5, 6)])
    }

    /// A loss of samples was reported for its own media type when the segment was appended.
    @Test func damagedAudioIsReportedUnlessItsSamplesWereLost() throws {
        let format = try SyntheticPackets.format(AV_CODEC_ID_MP3, .audio)
        // None of the packets begins with the header of a frame.
        let packets = try (0..<10).map {
            try SyntheticPackets.packet([UInt8](repeating: 1, count: 400), at: Int64($0) * 9_000, duration: 9_000)
        }
        let samples = DecodableSegment.Samples(SyntheticPackets.segment(format, packets), format, timestampPeriod: nil)
        for (type, isReported) in [(.muxed, true), (.audio, false)] as [(MediaType, Bool)] {
            var segment = DecodableSegment(
                type: .muxed,
                range: Self.range(0, 2),
                domain: Self.domain,
                video: nil,
                audio: samples
            )
            segment.lostSamples = (type: type, range: Self.range(0, 1))
            let feed = AudioFeed(AudioFormat(sampleRate: 48_000, channelCount: 2))
            feed.timeline.insert(segment, at: Self.range(0, 2))
            var mapping = TimestampMapping()
            feed.seek(to: .zero, &mapping)
            while feed.next(before: MediaTime(seconds: 2), &mapping) != nil {}
            #expect(feed.undecodableRanges == (isReported ? [Self.range(0, 2)] : []))
        }
    }
}

import MediaTiming
import NIOCore
import PlaybackReporting
import SeededRandomness
import SegmentFormat
import StreamingEngine
import Testing

@testable import MediaDecoding

@Suite("Movie fragments of other segments") struct MovieFragmentRepackagerTests {
    private func segment(_ bytes: [UInt8], _ initialization: [UInt8]? = nil) -> PipelineSegment {
        PipelineSegment(
            type: .muxed,
            content: .media(
                ByteBuffer(bytes: bytes),
                initialization: initialization.map { .init(id: "i", bytes: $0) }
            ),
            range: MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6)),
            discontinuityDomain: PipelineSegment.Domain(playlist: "p", sequence: 0)
        )
    }

    @Test(
        .enabled(if: SampleStreams.areAvailable, "Scripts/make-samples was not run"),
        arguments: ["ts/180p", "ad/240p", "fmp4/360p"]
    )
    func samplesAndTimestampsStay(path: String) throws {
        let pieces = try SampleStreams.segments(path)
        // The demuxer of a player, for comparison.
        for piece in [pieces[0], pieces[2]] {
            let fragment = try MovieFragmentRepackager().movieFragment(of: segment(piece.bytes, piece.initialization))
            let parsed = FragmentedSegment(fragment.span)
            let movie = try #require(parsed.movie)
            #expect(!parsed.isIncomplete && parsed.fragments.count == 1)
            var (original, copied) = (DemuxerPool(), DemuxerPool())
            let before = try #require(
                try DecodableSegment(segment(piece.bytes, piece.initialization), .all, &original)
            )
            let after = try #require(try DecodableSegment(segment(fragment), .all, &copied))
            #expect((before.audio == nil) == (after.audio == nil))
            for (first, second) in [(before.video, after.video), (before.audio, after.audio)] {
                guard let first, let second else { continue }
                #expect(first.firstTimestamp == second.firstTimestamp)
                #expect(first.packets.map(\.presentationTime) == second.packets.map(\.presentationTime))
                #expect(first.packets.map(\.isKeyFrame) == second.packets.map(\.isKeyFrame))
            }
            let video = try #require(movie.tracks.first { $0.mediaType == .video })
            #expect(video.mediaTrack.codec?.hasPrefix("avc1.") == true)
            #expect(parsed.timeRange(of: video.id)?.start == before.video?.firstTimestamp)
        }
    }

    /// Damaged segments are converted as far as they can be read, or refused.
    @Test(
        .enabled(if: SampleStreams.areAvailable, "Scripts/make-samples was not run"),
        arguments: ["ts/180p", "fmp4/360p"]
    )
    func damagedSegmentsAreNoProblem(path: String) throws {
        let piece = try SampleStreams.segments(path)[0]
        var random = SeededGenerator(seed: 7)
        var converted = 0
        for _ in 0..<60 {
            var bytes = Array(piece.bytes.prefix(Int(random.unit() * 60_000)))
            for _ in 0..<(bytes.isEmpty ? 0 : 20) {
                bytes[Int(random.unit() * Double(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if (try? MovieFragmentRepackager().movieFragment(of: segment(bytes, piece.initialization))) != nil {
                converted += 1
            }
        }
        #expect(converted > 10)
    }

    @Test func segmentsWithoutMediaAreRefused() {
        for bytes in [
            [UInt8](repeating: 0x47, count: 188 * 4), Array("WEBVTT\n\n".utf8), Array(repeating: 0xFF, count: 4_096),
        ] {
            #expect(throws: DecodingError.self) { try MovieFragmentRepackager().movieFragment(of: segment(bytes)) }
        }
        let gap = PipelineSegment(
            type: .muxed,
            content: .gap,
            range: MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6)),
            discontinuityDomain: PipelineSegment.Domain(playlist: "p", sequence: 0)
        )
        #expect(throws: DecodingError.self) { try MovieFragmentRepackager().movieFragment(of: gap) }
    }
}

import Foundation
import MediaTiming
import Testing

@testable import MediaDecoding

@Suite("Sample streams", .enabled(if: SampleStreams.areThere, "Scripts/make-samples was not run"))
struct SampleStreamTests {
    @Test(arguments: [
        ("ts/180p", 0), ("ts/360p", 1), ("ts/480p", 2), ("ts/720p", 3), ("ad/240p", 0), ("ad/540p", 1),
        ("fmp4/360p", 0), ("fmp4/720p", 1), ("byterange/360p", 0), ("byterange/720p", 1),
    ])
    func everyPictureEqualsTheOneThatFFmpegDecodes(path: String, variant: Int) throws {
        var decoding = StreamDecoding()
        for segment in try SampleStreams.segments(path) {
            try decoding.add(segment.bytes, segment.initialization)
        }
        try decoding.finish()
        #expect(decoding.problems.isEmpty)
        #expect(decoding.decoderCount == 1)
        let expected = try Tool.checksums("media.m3u8", in: SampleStreams.url(path))
        #expect(decoding.frames.map { $0.picture.checksum() } == expected)
        let readings = decoding.frames.map { StripReader.read($0.picture) }
        #expect(readings == decoding.frames.indices.map { StripReader.Reading(frame: $0, variant: variant) })
        for (frame, next) in zip(decoding.frames, decoding.frames.dropFirst()) {
            #expect(next.time - frame.time == MediaTime(value: 1, timescale: 30))
            #expect(frame.duration == MediaTime(value: 1, timescale: 30))
        }
    }
}

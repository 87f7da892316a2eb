import Foundation
import MediaTiming
import Testing

@testable import MediaDecoding

@Suite("Sample streams", .enabled(if: SampleStreams.areAvailable, "Scripts/make-samples was not run"))
struct SampleStreamTests {
    @Test(arguments: [
        ("ts/180p", 0), ("ts/360p", 1), ("ad/240p", 0), ("fmp4/360p", 0), ("byterange/360p", 0),
    ])
    func framesOfSegmentsEqualThoseOfFFmpeg(path: String, variant: Int) throws {
        var decoding = StreamDecoding()
        for segment in try SampleStreams.segments(path) {
            try decoding.add(segment.bytes, segment.initialization)
        }
        try decoding.finish()
        #expect(decoding.problems.isEmpty)
        #expect(decoding.decoderCount == 1)
        let expected = try Tool.checksums("media.m3u8", in: SampleStreams.url(path))
        #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == expected)
        let readings = decoding.frames.map { StripReader.read($0.pixelBuffer) }
        #expect(readings == decoding.frames.indices.map { StripReader.Reading(frame: $0, variant: variant) })
        for (frame, next) in zip(decoding.frames, decoding.frames.dropFirst()) {
            #expect(next.time - frame.time == MediaTime(value: 1, timescale: 30))
            #expect(frame.duration == MediaTime(value: 1, timescale: 30))
        }
    }

    @Test(arguments: [("dash-number", "init-0.mp4", "chunk-0-"), ("dash-timeline", "init-1.mp4", "chunk-1-")])
    func framesOfSegmentedDASHEqualThoseOfFFmpeg(folder: String, header: String, prefix: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SampleStreams.url(folder).path)
            .filter { $0.hasPrefix(prefix) }.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        let header = try SampleStreams.bytes("\(folder)/\(header)")
        var decoding = StreamDecoding()
        var all = header
        for name in names {
            let bytes = try SampleStreams.bytes("\(folder)/\(name)")
            all += bytes
            try decoding.add(bytes, header)
        }
        try decoding.finish()
        let fixtures = try Fixtures()
        try Data(all).write(to: fixtures.folder.appendingPathComponent("a.mp4"))
        #expect(try decoding.frames.map { $0.pixelBuffer.checksum() } == Tool.checksums("a.mp4", in: fixtures.folder))
        #expect(decoding.frames.count == 1_200)
        #expect(decoding.frames.first?.time == .zero)
        #expect(decoding.problems.isEmpty)
    }

    @Test(arguments: ["movie.mp4", "dash-ondemand/360p.mp4"])
    func framesOfAFileEqualThoseOfFFmpeg(name: String) throws {
        var decoding = StreamDecoding()
        try decoding.add(SampleStreams.bytes(name))
        try decoding.finish()
        #expect(try decoding.frames.map { $0.pixelBuffer.checksum() } == Tool.checksums(SampleStreams.url(name).path))
        #expect(decoding.frames.map { StripReader.read($0.pixelBuffer)?.frame } == decoding.frames.indices.map { $0 })
        #expect(decoding.frames.first?.time == .zero)
    }

    @Test func iFrameSegmentsDecodeToOneFrameEach() throws {
        var decoding = StreamDecoding()
        for segment in try SampleStreams.segments("ts/iframe") {
            try decoding.add(segment.bytes, segment.initialization)
        }
        try decoding.finish()
        #expect(decoding.frames.map { StripReader.read($0.pixelBuffer)?.frame } == (0..<36).map { $0 * 60 })
        #expect(decoding.frames.map(\.time) == (0..<36).map { MediaTime(seconds: 10 + $0 * 2) })
    }

    @Test(arguments: [
        (["ts/180p", "ts/360p", "ts/480p"], 1), (["fmp4/360p", "fmp4/720p"], 15), (["ad/240p", "ad/540p"], 1),
    ])
    func switchingAtEachSegmentDecodesEachFrameOnce(paths: [String], decoderCount: Int) throws {
        let variants = try paths.map { try SampleStreams.segments($0) }
        var decoding = StreamDecoding()
        decoding.decodesAudio = false
        var expected: [StripReader.Reading] = []
        let framesPerSegment = paths[0].hasPrefix("ts") ? 180 : 120
        for position in variants[0].indices {
            let variant = position % variants.count
            try decoding.add(variants[variant][position].bytes, variants[variant][position].initialization)
            expected += (0..<framesPerSegment).map { .init(frame: position * framesPerSegment + $0, variant: variant) }
        }
        try decoding.finish()
        #expect(decoding.frames.map { StripReader.read($0.pixelBuffer) } == expected)
        #expect(decoding.decoderCount == decoderCount)
        for (frame, next) in zip(decoding.frames, decoding.frames.dropFirst()) {
            #expect(next.time - frame.time == MediaTime(value: 1, timescale: 30))
        }
    }
}

import Foundation
import MediaTiming
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Pictures")
struct VideoDecoderTests {
    private static func segment(_ fixtures: borrowing Fixtures, _ options: String) throws -> DemuxedSegment {
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=25:d=4 -c:v libx264 -pix_fmt yuv420p \(options) -f mpegts a.ts"
        )
        return try fixtures.bytes("a.ts").withUnsafeBytes { try SegmentDemuxer().demux($0) }
    }

    @Test(arguments: [1, 2, 4])
    func outputIsIndependentOfTheNumberOfThreads(threadCount: Int) throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-bf 3 -g 25")
        let decoder = try VideoDecoder(segment.tracks[0], options: .init(threadCount: threadCount))
        var frames = segment.packets.flatMap { decoder.decode($0) }
        frames += decoder.drain()
        #expect(try frames.map { $0.pixelBuffer.checksum() } == Tool.checksums("a.ts", in: fixtures.folder))
    }

    @Test func decodingStartsAtAKeyFrameAfterAFlush() throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-bf 3 -g 25")
        let all = try VideoDecoder(segment.tracks[0])
        let expected = segment.packets.flatMap { all.decode($0) } + all.drain()
        let decoder = try VideoDecoder(segment.tracks[0])
        for packet in segment.packets.prefix(40) { _ = decoder.decode(packet) }
        decoder.flush()
        let position = try #require(
            segment.packets.indices.filter { segment.packets[$0].isKeyFrame }.dropFirst(2).first
        )
        let frames = segment.packets[position...].flatMap { decoder.decode($0) } + decoder.drain()
        #expect(frames.map { $0.pixelBuffer.checksum() } == expected[50...].map { $0.pixelBuffer.checksum() })
        #expect(frames.first?.isKeyFrame == true)
        // After draining, the decoder accepts packets again.
        let again = segment.packets[position...].flatMap { decoder.decode($0) } + decoder.drain()
        #expect(again.map(\.time) == frames.map(\.time))
    }

    @Test func framesBeforeTheFirstKeyFrameAreNotReturned() throws {
        let fixtures = try Fixtures()
        // Open groups: frames after a key frame in decoding order refer to frames before it.
        let segment = try Self.segment(fixtures, "-bf 3 -g 25 -x264-params open-gop=1")
        let decoder = try VideoDecoder(segment.tracks[0])
        let frames = segment.packets.dropFirst(10).flatMap { decoder.decode($0) } + decoder.drain()
        let first = try #require(frames.first)
        #expect(first.isKeyFrame)
        #expect(frames.count > 60 && frames.count < 90)
        let all = try VideoDecoder(segment.tracks[0])
        let expected = segment.packets.flatMap { all.decode($0) } + all.drain()
        for frame in frames {
            #expect(expected.first { $0.time == frame.time }?.pixelBuffer.checksum() == frame.pixelBuffer.checksum())
        }
    }

    @Test func discardOmitsFrames() throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-bf 2 -b_strategy 0 -g 25")
        for (discard, range) in [
            (VideoDecoder.SkippedFrames.nonKey, 4...4), (.nonReference, 30...70), (.none, 100...100),
        ] {
            let decoder = try VideoDecoder(segment.tracks[0])
            decoder.skippedFrames = discard
            let frames = segment.packets.flatMap { decoder.decode($0) } + decoder.drain()
            #expect(range.contains(frames.count))
        }
    }

    @Test func missingHardwareIsReportedAndSoftwareDecodes() throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-bf 2 -g 25")
        let decoder = try VideoDecoder(segment.tracks[0], options: .init(prefersHardware: true))
        let frames = segment.packets.flatMap { decoder.decode($0) } + decoder.drain()
        #expect(frames.count == 100)
        #expect(decoder.usesHardware || decoder.hardwareFailureReason != nil)
    }

    @Test(arguments: [("yuv420p", 0), ("nv12", 1), ("rgb24", 2), ("bgra", 3), ("yuv444p", 4), ("gray", 5)])
    func convertedFramesAreEqual(name: String, index: Int) throws {
        let format = [PixelFormat.yuv420p, .nv12, .rgb24, .bgra, .yuv444p, .other("gray")][index]
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-g 25")
        let decoder = try VideoDecoder(segment.tracks[0])
        let picture = try #require((segment.packets.flatMap { decoder.decode($0) } + decoder.drain()).first).pixelBuffer
        #expect(picture.format == .yuv420p && picture.width == 192 && picture.height == 108)
        #expect(picture.sampleAspectRatio == .square && picture.colorMatrix == .bt601 && !picture.isFullRange)
        let converted = try picture.converted(to: format)
        #expect(converted.format == format)
        #expect(converted.checksum().count == 32)
        let back = try converted.converted(to: .yuv420p)
        func rows(_ plane: PixelBufferPlane) -> [UInt8] {
            (0..<plane.height).flatMap {
                plane.bytes[$0 * plane.bytesPerRow..<$0 * plane.bytesPerRow + plane.unpaddedBytesPerRow]
            }
        }
        let (left, right) = (picture.withPlanes { rows($0[0]) }, back.withPlanes { rows($0[0]) })
        let difference = zip(left, right).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } / (192 * 108)
        #expect(difference <= 2)
        let small = try picture.converted(to: .rgb24, width: 64, height: 36)
        #expect(small.width == 64 && small.height == 36)
    }

    @Test func redIsConvertedToRed() throws {
        for (size, matrix) in [("192x108", ColorMatrix.bt601), ("1280x720", .bt709)] {
            let fixtures = try Fixtures()
            let coefficients = matrix == .bt601 ? "bt601" : "bt709"
            try fixtures.make(
                "-f lavfi -i color=red:s=\(size):r=25:d=0.2 -vf scale=out_color_matrix=\(coefficients) -c:v libx264 -pix_fmt yuv420p -f mpegts a.ts"
            )
            let segment = try fixtures.bytes("a.ts").withUnsafeBytes { try SegmentDemuxer().demux($0) }
            let decoder = try VideoDecoder(segment.tracks[0])
            let picture = try #require((segment.packets.flatMap { decoder.decode($0) } + decoder.drain()).first)
                .pixelBuffer
            #expect(picture.colorMatrix == matrix)
            let pixel = try picture.converted(to: .rgb24).withPlanes { Array($0[0].bytes.prefix(3)).map { Int($0) } }
            #expect(pixel[0] > 248 && pixel[1] < 6 && pixel[2] < 6)
        }
    }

    @Test func unsupportedConversionsAreRejected() throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-g 25")
        let decoder = try VideoDecoder(segment.tracks[0])
        let picture = try #require((segment.packets.flatMap { decoder.decode($0) } + decoder.drain()).first).pixelBuffer
        #expect(throws: DecodingError.self) { try picture.converted(to: .other("nonsense")) }
        #expect(throws: DecodingError.self) { try picture.converted(to: .rgb24, width: 0) }
        #expect(throws: DecodingError.self) { try picture.converted(to: .rgb24, height: 1 << 40) }
    }

    @Test func captionDataBelongsToItsFrame() throws {
        let fixtures = try Fixtures()
        let segment = try Self.segment(fixtures, "-bf 2 -g 25 -x264-params aud=0")
        // A CTA-708 message before each key frame (ATSC A/53 part 4 §6.2.3).
        let triples: [UInt8] = [0xFC, 0x94, 0x20, 0xFC, 0x41, 0x42]
        let user: [UInt8] =
            [0xB5, 0x00, 0x31] + Array("GA94".utf8) + [0x03, 0x40 | UInt8(triples.count / 3), 0xFF] + triples + [0xFF]
        let message: [UInt8] = [0, 0, 0, 1, 6, 4, UInt8(user.count)] + user + [0x80]
        var writer = TransportWriter([TransportTests.videoFrame])
        for packet in segment.packets {
            var units = SampleAESWriter.units(packet.withBytes { Array($0) })
            let position = units.firstIndex { [1, 5].contains($0[0] & 0x1F) } ?? 0
            if packet.isKeyFrame { units.insert(Array(message[4...]), at: position) }
            writer.write(
                units.flatMap { [0, 0, 0, 1] + $0 },
                TransportTests.videoFrame,
                presentation: UInt64(packet.presentationTime.units(in: .ninetyKilohertz)),
                decode: UInt64(packet.decodeTime.units(in: .ninetyKilohertz))
            )
        }
        var decoding = StreamDecoding()
        try decoding.add(writer.bytes)
        try decoding.finish()
        #expect(decoding.frames.count == 100)
        let captions = decoding.frames.filter { !$0.captionData.isEmpty }
        #expect(captions.count == 4)
        #expect(captions.allSatisfy { $0.isKeyFrame && $0.captionData == triples })
    }

    @Test(arguments: [
        ("avc1.64001f,mp4a.40.2", true), ("hvc1.1.6.L93.B0", true), ("hev1.2.4.L120.B0", true), ("av01.0.04M.08", true),
        ("vp09.00.10.08", true), ("mp4a.40.5", true), ("mp4a.40.29", true), ("mp4a.40.34", true), ("mp4a.69", true),
        ("mp4a.6B", true), ("ac-3", true), ("ec-3", true), ("opus", true), ("Opus", true), ("fLaC", true),
        ("flac", true),
        ("stpp.ttml.im1t", true), ("wvtt", true), ("mp4a.40.42", false), ("mp4a", false), ("ac-4", false),
        ("xyz1", false),
        ("avc1.64001f,xyz1", false), ("", false),
    ])
    func codecsAreRecognizedByName(names: String, isDecodable: Bool) {
        #expect(
            DecoderCatalog.canDecode(names.split(separator: ",", omittingEmptySubsequences: false).map { String($0) })
                == isDecodable
        )
        #expect(DecoderCatalog.canDecode([]))
    }
}

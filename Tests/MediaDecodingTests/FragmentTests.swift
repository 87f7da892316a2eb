import Foundation
import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Fragmented movies")
struct FragmentTests {
    static let fragmented = "-movflags frag_keyframe+empty_moov+default_base_moof+delay_moov -f mp4"

    @Test(arguments: [
        MovieEncryption.Scheme(name: "cenc", vectorLength: 8, clearLead: 100),
        MovieEncryption.Scheme(name: "cenc", vectorLength: 16),
        MovieEncryption.Scheme(name: "cenc", vectorLength: 8, clearLead: 100, usesAuxiliary: true),
        MovieEncryption.Scheme(name: "cbcs", pattern: (1, 9), vectorLength: 16, clearLead: 100, usesAuxiliary: true),
        MovieEncryption.Scheme(name: "cbc1", vectorLength: 16, clearLead: 100),
        MovieEncryption.Scheme(name: "cens", pattern: (1, 9), vectorLength: 8, clearLead: 100),
        MovieEncryption.Scheme(name: "cbcs", pattern: (1, 9), vectorLength: 0, clearLead: 100),
        MovieEncryption.Scheme(name: "cbcs", pattern: (1, 9), vectorLength: 16, clearLead: 100),
    ])
    func encryptedVideoIsDecrypted(scheme: MovieEncryption.Scheme) throws {
        let fixtures = try Fixtures()
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=25:d=2 -c:v libx264 -bf 2 -g 50 -pix_fmt yuv420p \(Self.fragmented) a.mp4"
        )
        let key: [UInt8] = Array(31...46)
        let clear = try fixtures.bytes("a.mp4")
        let encrypted = try MovieEncryption.encrypted(clear, scheme, key: key)
        let expected = try Tool.checksums("a.mp4", in: fixtures.folder)
        #expect(expected.count == 50)
        var opened = StreamDecoding()
        try opened.add(encrypted, key: SampleKey(key: key))
        try opened.finish()
        #expect(opened.frames.map { $0.pixelBuffer.checksum() } == expected)
        #expect(opened.problems.isEmpty)
        let demuxer = SegmentDemuxer()
        #expect(throws: DecodingError.self) { try encrypted.withUnsafeBytes { try demuxer.demux($0) } }
        // FFmpeg decrypts the schemes that it supports, so that a common error of the encryption and decryption here is
        // detected.
        try Data(encrypted).write(to: fixtures.folder.appendingPathComponent("e.mp4"))
        let hexadecimal = key.map { String($0, radix: 16) }.joined()
        // One fragment only: with several, FFmpeg 5.1 uses the initialization vectors of the last.
        if scheme.vectorLength == 8 || scheme.name == "cbcs" {
            #expect(
                try Tool.checksums("e.mp4", in: fixtures.folder, options: "-decryption_key \(hexadecimal)") == expected
            )
        }
    }

    @Test func encryptedAudioWithAConstantVectorIsDecrypted() throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=2 -c:a aac \(Self.fragmented) -frag_duration 500000 a.mp4")
        let key: [UInt8] = Array(31...46)
        let clear = try fixtures.bytes("a.mp4")
        let scheme = MovieEncryption.Scheme(name: "cbcs", vectorLength: 0)
        let encrypted = try MovieEncryption.encrypted(clear, scheme, key: key)
        var (left, right) = (StreamDecoding(), StreamDecoding())
        try left.add(clear)
        try left.finish()
        try right.add(encrypted, key: SampleKey(key: key))
        try right.finish()
        #expect(left.sound.flatMap(\.samples).count > 90_000)
        #expect(left.sound.flatMap(\.samples).elementsEqual(right.sound.flatMap(\.samples)))
    }

    @Test func eventMessagesHaveTheirTimes() throws {
        let fixtures = try Fixtures()
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=25:d=2 -c:v libx264 -g 25 -pix_fmt yuv420p \(Self.fragmented) a.mp4"
        )
        let absolute: [UInt8] =
            [1, 0, 0, 0] + MovieEncryption.big(1_000) + [0, 0, 0, 0] + MovieEncryption.big(2_500)
            + MovieEncryption.big(300) + MovieEncryption.big(7) + Array("urn:test".utf8) + [0] + Array("v".utf8) + [
                0, 1, 2, 3,
            ]
        let relative: [UInt8] =
            [0, 0, 0, 0] + Array("urn:test".utf8) + [0, 0] + MovieEncryption.big(1_000)
            + MovieEncryption.big(500) + MovieEncryption.big(-1) + MovieEncryption.big(8) + [9]
        let boxes = MovieEncryption.split(try fixtures.bytes("a.mp4"))
        var bytes: [UInt8] = []
        for (type, payload) in boxes {
            bytes += MovieEncryption.box(type, payload)
            if type == "moov" { bytes += MovieEncryption.box("emsg", absolute) + MovieEncryption.box("emsg", relative) }
        }
        let result = try bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
        #expect(result.metadata.map(\.time) == [MediaTime(value: 5, timescale: 2), MediaTime(value: 1, timescale: 2)])
        #expect(result.metadata.map(\.duration) == [MediaTime(value: 3, timescale: 10), nil])
        #expect(result.metadata.map(\.payload) == [[1, 2, 3], [9]])
        #expect(result.metadata.map(\.id) == [7, 8])
    }

    @Test func newFormatCreatesANewDecoderWithoutLosingFrames() throws {
        let fixtures = try Fixtures()
        var decoding = StreamDecoding()
        var expected: [String] = []
        for (index, options) in ["-bf 2", "-bf 0 -profile:v baseline", "-bf 3 -s 320x180"].enumerated() {
            try fixtures.make(
                "-f lavfi -i testsrc2=s=192x108:r=25:d=2 -c:v libx264 -g 25 -pix_fmt yuv420p \(options) \(Self.fragmented) \(index).mp4"
            )
            expected += try Tool.checksums("\(index).mp4", in: fixtures.folder)
            try decoding.add(fixtures.bytes("\(index).mp4"))
        }
        try decoding.finish()
        #expect(decoding.decoderCount == 3)
        #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == expected)
    }

    @Test func newSizeInATransportStreamContinuesWithTheSameDecoder() throws {
        let fixtures = try Fixtures()
        var decoding = StreamDecoding()
        var expected: [String] = []
        for (index, options) in ["-bf 2", "-bf 0 -profile:v baseline", "-bf 3 -s 320x180"].enumerated() {
            try fixtures.make(
                "-f lavfi -i testsrc2=s=192x108:r=25:d=2 -c:v libx264 -g 25 -pix_fmt yuv420p \(options) -output_ts_offset \(index * 2) \(index).ts"
            )
            expected += try Tool.checksums("\(index).ts", in: fixtures.folder)
            try decoding.add(fixtures.bytes("\(index).ts"))
        }
        try decoding.finish()
        #expect(decoding.decoderCount == 1)
        #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == expected)
    }
}

import Foundation
import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Transport streams")
struct TransportTests {
    static let videoFrame = TransportWriter.Stream(pid: 0x100, type: 0x1B, streamID: 0xE0)
    static let encryptedVideo = TransportWriter.Stream(pid: 0x100, type: 0xDB, streamID: 0xE0)
    static let encryptedAAC = TransportWriter.Stream(
        pid: 0x101,
        type: 0xCF,
        streamID: 0xC0,
        // Apple's registration descriptor with the start of the audio configuration, and private data that contains the
        // codec.
        descriptors: [0x05, 14] + Array("apad".utf8) + Array("zaac".utf8) + [0, 0, 1, 2] + [0x11, 0x90] + [0x0F, 4]
            + Array("aacd".utf8)
    )
    static let tags = TransportWriter.Stream(
        pid: 0x102,
        type: 0x15,
        streamID: 0xBD,
        descriptors: [0x26, 13, 0xFF, 0xFF] + Array("ID3 ".utf8) + [0xFF] + Array("ID3 ".utf8) + [0, 0x0F]
    )

    /// The key and initialization vector of all encrypted samples here.
    static let key = SampleKey(key: Array(1...16), initializationVector: Array(101...116))

    static func clear(_ fixtures: borrowing Fixtures) throws -> DemuxedSegment {
        try fixtures.make("\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -ac 2 -f mpegts a.ts")
        return try fixtures.bytes("a.ts").withUnsafeBytes { try SegmentDemuxer().demux($0) }
    }

    @Test func timestampsContinueAfterWraparound() throws {
        let fixtures = try Fixtures()
        let clear = try Self.clear(fixtures)
        let first = try #require(clear.packets.first)
        // The frame at two seconds is the first one after the wraparound.
        let shift = UInt64(1 << 33) - 180_000 - UInt64(first.decodeTime.units(in: .ninetyKilohertz))
        var segments = [TransportWriter([Self.videoFrame]), TransportWriter([Self.videoFrame])]
        let pictures = clear.packets.filter { $0.trackID == clear.tracks[0].id }
        for (index, packet) in pictures.enumerated() {
            segments[index < 75 ? 0 : 1].write(
                packet.withBytes { Array($0) },
                Self.videoFrame,
                presentation: UInt64(packet.presentationTime.units(in: .ninetyKilohertz)) + shift,
                decode: UInt64(packet.decodeTime.units(in: .ninetyKilohertz)) + shift,
                isKey: packet.isKeyFrame
            )
        }
        var decoding = StreamDecoding()
        for segment in segments { try decoding.add(segment.bytes) }
        try decoding.finish()
        #expect(decoding.frames.count == 100)
        for (frame, next) in zip(decoding.frames, decoding.frames.dropFirst()) {
            #expect(next.time - frame.time == MediaTime(value: 1, timescale: 25))
        }
        let wrapTime = MediaTime(value: 1 << 33, timescale: 90_000)
        #expect(try #require(decoding.frames.last).time > wrapTime)
        #expect(try #require(decoding.frames.first).time < wrapTime)
    }

    @Test(arguments: [188, 1_000, 4_321, 65_536])
    func streamSplitAtAnyByteDecodesEqually(size: Int) throws {
        let fixtures = try Fixtures()
        let clear = try Self.clear(fixtures)
        var whole = StreamDecoding()
        try whole.add(clear)
        try whole.finish()
        let bytes = try fixtures.bytes("a.ts")
        var pieces = StreamDecoding(isContinuous: true)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(bytes.count, start + size)])
            let segment = try piece.withUnsafeBytes { try pieces.demuxer.demux($0) }
            try pieces.add(segment)
        }
        try pieces.finish()
        #expect(pieces.frames.map { $0.pixelBuffer.checksum() } == whole.frames.map { $0.pixelBuffer.checksum() })
        #expect(pieces.frames.map(\.time) == whole.frames.map(\.time))
        #expect(pieces.sound.flatMap(\.samples).elementsEqual(whole.sound.flatMap(\.samples)))
    }

    @Test func encryptedSamplesAreDecrypted() throws {
        let fixtures = try Fixtures()
        let clear = try Self.clear(fixtures)
        let key = try #require(Self.key)
        var writer = TransportWriter([Self.encryptedVideo, Self.encryptedAAC])
        for packet in clear.packets {
            let isPicture = clear.track(withID: packet.trackID)?.kind == .video
            let bytes = packet.withBytes { Array($0) }
            writer.write(
                try isPicture ? SampleAESWriter.video(bytes, key) : SampleAESWriter.audio(bytes, key),
                isPicture ? Self.encryptedVideo : Self.encryptedAAC,
                presentation: UInt64(packet.presentationTime.units(in: .ninetyKilohertz)),
                decode: UInt64(packet.decodeTime.units(in: .ninetyKilohertz)),
                isKey: packet.isKeyFrame
            )
        }
        var expected = StreamDecoding()
        try expected.add(clear)
        try expected.finish()
        var opened = StreamDecoding()
        try opened.add(writer.bytes, key: key)
        try opened.finish()
        #expect(expected.frames.count == 100)
        #expect(opened.frames.map { $0.pixelBuffer.checksum() } == expected.frames.map { $0.pixelBuffer.checksum() })
        #expect(opened.sound.flatMap(\.samples).elementsEqual(expected.sound.flatMap(\.samples)))
        var closed = StreamDecoding()
        try closed.add(writer.bytes)
        try closed.finish()
        #expect(closed.frames.map { $0.pixelBuffer.checksum() } != expected.frames.map { $0.pixelBuffer.checksum() })
    }

    @Test func id3TagsHaveTheirTimes() throws {
        let fixtures = try Fixtures()
        let clear = try Self.clear(fixtures)
        var writer = TransportWriter([Self.videoFrame, Self.tags])
        let tag =
            Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 15] + Array("TIT2".utf8) + [0, 0, 0, 5, 0, 0, 3] + Array("abcd".utf8)
        for (index, packet) in clear.packets.filter({ $0.trackID == clear.tracks[0].id }).enumerated() {
            let time = UInt64(packet.presentationTime.units(in: .ninetyKilohertz))
            writer.write(
                packet.withBytes { Array($0) },
                Self.videoFrame,
                presentation: time,
                decode: UInt64(packet.decodeTime.units(in: .ninetyKilohertz))
            )
            if index % 25 == 0 { writer.write(tag, Self.tags, presentation: UInt64(900_000 + index * 90)) }
        }
        let result = try writer.bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
        #expect(
            result.metadata.map(\.time)
                == [0, 25, 50, 75].map { MediaTime(value: 900_000 + $0 * 90, timescale: 90_000) }
        )
        #expect(result.metadata.map(\.payload) == [tag, tag, tag, tag])
        #expect(result.metadata.allSatisfy { $0.scheme == TimedMetadata.id3Scheme })
        #expect(result.tracks.count == 1)
    }

    @Test func tracksAreDescribed() throws {
        let fixtures = try Fixtures()
        let clear = try Self.clear(fixtures)
        let picture = try #require(clear.tracks.first { $0.kind == .video })
        #expect(picture.codec.hasPrefix("avc1.64"))
        #expect(picture.width == 192 && picture.height == 108)
        #expect(picture.reorderDepth == 1 || picture.reorderDepth == 2)
        let audio = try #require(clear.tracks.first { $0.kind == .audio })
        #expect(audio.codec == "mp4a.40.2" && audio.sampleRate == 48_000 && audio.channelCount == 2)
    }
}

import Foundation
import MediaTiming
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Files")
struct FileTests {
    @Test(arguments: [
        "-vn -c:a libmp3lame -write_xing 0 -f mp3 a.mp3", "-vn -c:a aac -f adts a.aac", "-vn -c:a flac -f flac a.flac",
        "-vn -c:a pcm_s16le -f wav a.wav",
        "-vn -c:a libopus -f ogg a.ogg", "-c:v libx264 -bf 2 -g 25 -c:a aac -f matroska a.mkv",
        "-c:v libx264 -bf 2 -g 25 -c:a aac -f mpegts a.ts",
        "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 25 -c:a libopus -f webm a.webm",
    ])
    func segmentsOfAnIndexDecodeLikeTheWholeFile(coding: String) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("\(Fixtures.source) -pix_fmt yuv420p \(coding)")
        let bytes = try fixtures.bytes(name)
        let options = MediaFileIndexer.Options(minimumSegmentDuration: MediaTime(seconds: 1))
        let begun = MediaFileIndexer(head: Array(bytes.prefix(4_096)), length: Int64(bytes.count), options: options)
        var index = try #require(begun)
        while case .needsBytes(let range) = index.state {
            index.add(Array(bytes[Int(range.start)..<min(bytes.count, Int(range.end))]))
        }
        guard case .ready(let timeline) = index.state else {
            Issue.record("the index is not complete: \(index.state)")
            return
        }
        #expect(timeline.segments.count > 1 || name == "a.ogg")
        let header = timeline.initializationRange.map { Array(bytes[Int($0.start)..<Int($0.end)]) }
        var pieces = StreamDecoding(isContinuous: timeline.boundaryAccuracy == .approximate)
        for segment in timeline.segments {
            let part = Array(bytes[Int(segment.byteRange.start)..<Int(segment.byteRange.end)])
            try pieces.add(part, header, startTime: timeline.firstTimestamp + segment.timeRange.start)
        }
        try pieces.finish()
        var whole = StreamDecoding()
        try whole.add(bytes)
        try whole.finish()
        #expect(pieces.frames.map { $0.pixelBuffer.checksum() } == whole.frames.map { $0.pixelBuffer.checksum() })
        #expect(pieces.frames.map(\.time) == whole.frames.map(\.time))
        let (left, right) = (pieces.sound.flatMap(\.samples), whole.sound.flatMap(\.samples))
        #expect(left.count == right.count)
        #expect(left.elementsEqual(right))
        #expect(pieces.problems.isEmpty)
        for (chunk, next) in zip(pieces.sound, pieces.sound.dropFirst()) {
            #expect(abs((next.time - chunk.end).seconds) < 0.001)
        }
        #expect(abs(((pieces.sound.last?.end ?? .zero) - (whole.sound.last?.end ?? .zero)).seconds) < 0.001)
    }

    /// FFmpeg makes a video stream of the image, but it is not a track that is played.
    @Test(arguments: [
        "-c:a libopus -metadata METADATA_BLOCK_PICTURE=IMAGE a.ogg",
        "-c:a aac -attach c.png -metadata:s:t mimetype=image/png a.mkv",
        "-i c.png -map 0 -map 1 -c:a aac -c:v copy -disposition:v:0 attached_pic a.mp4",
    ])
    func attachedImageIsNoTrack(coding: String) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i color=s=16x16 -frames:v 1 c.png")
        let image = try fixtures.bytes("c.png")
        // A picture block (RFC 9639 §8.8): the front cover, without a description and dimensions.
        let fields: [UInt8] = [0, 0, 0, 3, 0, 0, 0, 9] + Array("image/png".utf8) + [UInt8](repeating: 0, count: 20)
        let size = withUnsafeBytes(of: UInt32(image.count).bigEndian) { Array($0) }
        let block = Data(fields + size + image).base64EncodedString()
        let name = String(try #require(coding.split(separator: " ").last))
        let arguments = coding.replacingOccurrences(of: "IMAGE", with: block)
        try fixtures.make("-f lavfi -i sine=440:r=48000:d=2 \(arguments)")
        let segment = try fixtures.bytes(name).withUnsafeBytes { try SegmentDemuxer().demux($0) }
        #expect(segment.tracks.map(\.kind) == [.audio])
        let track = try #require(segment.tracks.first)
        #expect(segment.packets.count > 50 && segment.packets.allSatisfy { $0.trackID == track.id })
        #expect(segment.timeRange().map { abs($0.duration.seconds - 2) < 0.2 } == true)
    }
}

import Foundation
import MediaTiming
import NIOCore
import PlaybackReporting
import SegmentFormat
import StreamingEngine
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

    /// The text begins in the first cluster, and its cue shows that it is in progress at the start of the last segment.
    @Test func segmentOfAMatroskaFileHasTheSubtitlesThatBeganEarlier() throws {
        let fixtures = try Fixtures()
        let text = "1\n00:00:00,500 --> 00:00:03,800\nLong text\n\n"
        try Data(text.utf8).write(to: fixtures.folder.appendingPathComponent("a.srt"))
        let inputs = "\(Fixtures.source) -i a.srt -map 0 -map 1 -map 2"
        try fixtures.make("\(inputs) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -c:s srt -f matroska a.mkv")
        let bytes = try fixtures.bytes("a.mkv")
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
        let last = try #require(timeline.segments.last)
        let range = last.byteRangeWithEarlierSubtitles
        #expect(last.timeRange.start.seconds > 2.5 && range.start < last.byteRange.start, "\(timeline.segments)")
        let head = try #require(timeline.initializationRange)
        func demux(_ range: ByteRange) throws -> DemuxedSegment {
            let part = Array(bytes[Int(range.start)..<Int(range.end)])
            return try part.withUnsafeBytes { part in
                try Array(bytes[Int(head.start)..<Int(head.end)]).withUnsafeBytes {
                    try SegmentDemuxer().demux(
                        part,
                        initialization: $0,
                        startTime: last.timeRange.start,
                        earlierLength: last.byteRange.start - range.start
                    )
                }
            }
        }
        let (segment, own) = (try demux(range), try demux(last.byteRange))
        let cues = FileSubtitles.cues(of: segment, offset: .zero).values.flatMap(\.self)
        #expect(cues.map(\.plainText) == ["Long text"])
        #expect(own.earlierSubtitles.isEmpty && FileSubtitles.cues(of: own, offset: .zero).isEmpty)
        // The video and the audio before the segment are left out.
        #expect(segment.packets.map(\.presentationTime) == own.packets.map(\.presentationTime))
    }

    /// The decoder continues at the next element too, and the pictures are those of the intact file.
    @Test func matroskaFileWithOtherBytesBeforeItsMediaIsDecoded() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -an -f matroska a.mkv")
        let intact = try fixtures.bytes("a.mkv")
        var whole = StreamDecoding()
        try whole.add(intact)
        try whole.finish()
        for id in [[0x18, 0x53, 0x80, 0x67], [0x1F, 0x43, 0xB6, 0x75]] as [[UInt8]] {
            // The list of elements refers to no clusters.
            let offset = try #require(intact.firstRange(of: id)).lowerBound
            let damaged = Array(intact[..<offset]) + [UInt8](repeating: 0, count: 500) + Array(intact[offset...])
            let file = try ProgressiveTests.File(damaged)
            #expect(file.timeline.damage == "500 bytes at byte \(offset) belong to no element")
            #expect(file.timeline.segments.count > 1)
            var pieces = StreamDecoding()
            for piece in file.timeline.segments {
                try pieces.add(file.bytes(of: piece), file.header, startTime: piece.timeRange.start)
            }
            try pieces.finish()
            #expect(pieces.frames.map { $0.pixelBuffer.checksum() } == whole.frames.map { $0.pixelBuffer.checksum() })
            #expect(pieces.frames.map(\.time) == whole.frames.map(\.time))
        }
    }

    /// Returns a transport stream of four seconds without the packets between 40 % and 70 % of its length.
    private static func transportStreamWithHole(_ fixtures: borrowing Fixtures) throws -> [UInt8] {
        try fixtures.make("\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -ac 2 -f mpegts a.ts")
        var bytes = try fixtures.bytes("a.ts")
        // Bounded: the file has many packets.
        let count = bytes.count / 188
        bytes.removeSubrange(188 * (count * 4 / 10)..<188 * (count * 7 / 10))
        return bytes
    }

    /// The missing packets may also be between two parts of the file.
    @Test(arguments: [60_000, 150_001, 10_000_000]) func missingPacketsOfAFileAreFoundOnce(size: Int) throws {
        let fixtures = try Fixtures()
        let bytes = try Self.transportStreamWithHole(fixtures)
        let demuxer = SegmentDemuxer(isContinuous: true)
        var segments: [DemuxedSegment] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let part = Array(bytes[start..<min(bytes.count, start + size)])
            segments.append(try part.withUnsafeBytes { try demuxer.demux($0) })
        }
        segments.append(try demuxer.finish())
        for kind in [MediaTrack.MediaType.video, .audio] {
            let lost = segments.flatMap { segment in
                segment.tracks.filter { $0.kind == kind }.compactMap { segment.lostRanges[$0.id] }
            }
            #expect(lost.count == 1, "\(kind): \(lost)")
            let range = try #require(lost.first)
            #expect(range.duration.seconds > 0.6 && range.duration.seconds < 2, "\(kind): \(range)")
        }
    }

    @Test func intactFileHasNoMissingPackets() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -ac 2 -f mpegts a.ts")
        let bytes = try fixtures.bytes("a.ts")
        let demuxer = SegmentDemuxer(isContinuous: true)
        for start in stride(from: 0, to: bytes.count, by: 60_000) {
            let part = Array(bytes[start..<min(bytes.count, start + 60_000)])
            let segment = try part.withUnsafeBytes { try demuxer.demux($0) }
            #expect(segment.lostRanges.isEmpty, "\(segment.lostRanges)")
        }
        let rest = try demuxer.finish()
        #expect(rest.lostRanges.isEmpty)
    }

    @Test(arguments: [false, true]) func inspectionNamesTheTimeOfMissingPackets(isFile: Bool) throws {
        let fixtures = try Fixtures()
        let bytes = try Self.transportStreamWithHole(fixtures)
        let position = PipelineSegment.FilePosition(
            offset: 0,
            firstTimestamp: .zero,
            beginsWithinFrames: true,
            isLast: true
        )
        let segment = PipelineSegment(
            type: .muxed,
            content: .media(ByteBuffer(bytes: bytes), initialization: nil),
            range: MediaTimeRange(start: .zero, end: MediaTime(seconds: 4)),
            discontinuityDomain: PipelineSegment.Domain(playlist: "a.ts", sequence: 0),
            position: isFile ? position : nil
        )
        var probe = MediaProbe()
        let contents = try probe.read(segment)
        let missing = contents.problems.filter { $0.hasPrefix("video of ") && $0.hasSuffix(" s is missing") }
        #expect(missing.count == 1, "\(contents.problems)")
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

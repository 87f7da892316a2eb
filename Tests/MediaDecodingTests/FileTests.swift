import Foundation
import MediaTiming
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Files")
struct FileTests {
    private static func open(_ bytes: [UInt8]) throws -> FileDemuxer {
        let known = MediaContainer(bytes.span)
        let container = try #require(known)
        return try FileDemuxer(container, length: Int64(bytes.count)) { offset, buffer in
            let start = Int(min(Int64(bytes.count), max(0, offset)))
            let count = min(buffer.count, bytes.count - start)
            buffer.copyBytes(from: bytes[start..<start + count])
            return count
        }
    }

    @Test(arguments: [
        "-c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -f mp4 a.mp4",
        "-c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a libopus -f matroska a.mkv",
        "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 25 -c:a libvorbis -f webm a.webm",
        "-c:v libx265 -x265-params log-level=none -c:a flac -strict -2 -f mp4 a.mp4",
    ])
    func fileDecodesAsWithFFmpeg(coding: String) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("\(Fixtures.source) -pix_fmt yuv420p \(coding)")
        try fixtures.make("-i \(name) -f f32le -c:a pcm_f32le out.raw")
        let expected = try fixtures.bytes("out.raw").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let file = try Self.open(fixtures.bytes(name))
        #expect(abs((file.duration?.seconds ?? 0) - 4) < 0.1)
        var segment = DemuxedSegment()
        segment.tracks = file.tracks
        while let packet = try file.readPacket() { segment.packets.append(packet) }
        var decoding = StreamDecoding()
        try decoding.add(segment)
        try decoding.finish()
        let checksums = try Tool.checksums(name, in: fixtures.folder)
        #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == checksums)
        // Matroska has no edit lists: video starts after the encoder delay of the audio.
        if name == "a.mp4" { #expect(decoding.frames.first?.time == .zero) }
        let samples = decoding.sound.flatMap(\.samples)
        #expect(abs(samples.count - expected.count) <= 4_096)
        #expect(Array(samples.prefix(150_000)).elementsEqual(Array(expected.prefix(150_000))))
    }

    @Test func segmentsOfAProgressiveMovieContainEachPacketOnce() throws {
        let fixtures = try Fixtures()
        try fixtures.make(
            "\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -movflags faststart -f mp4 a.mp4"
        )
        let bytes = try fixtures.bytes("a.mp4")
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
        #expect(timeline.segments.count == 4 && timeline.isProgressive)
        let header = try #require(timeline.initializationRange)
        var windows: [(Int64, [UInt8])] = [(header.start, Array(bytes[Int(header.start)..<Int(header.end)]))]
        // Only the header and the segment of the file are available.
        final class Window { var parts: [(Int64, [UInt8])] = [] }
        let window = Window()
        window.parts = windows + [(0, Array(bytes.prefix(Int(header.end))))]
        let file = try FileDemuxer(.isoBaseMedia, length: Int64(bytes.count)) { offset, buffer in
            for (start, part) in window.parts where offset >= start && offset < start + Int64(part.count) {
                let first = Int(offset - start)
                let count = min(buffer.count, part.count - first)
                buffer.copyBytes(from: part[first..<first + count])
                return count
            }
            return 0
        }
        var decoding = StreamDecoding()
        var keys: [MediaTime] = []
        var count = 0
        for segment in timeline.segments {
            windows = [
                (segment.byteRange.start, Array(bytes[Int(segment.byteRange.start)..<Int(segment.byteRange.end)]))
            ]
            window.parts = windows
            let segment = try file.packets(in: segment.timeRange)
            count += segment.packets.count
            keys += segment.packets.filter { $0.isKeyFrame && segment.track(withID: $0.trackID)?.kind == .video }.map(
                \.presentationTime
            )
            try decoding.add(segment)
        }
        try decoding.finish()
        let whole = try Self.open(bytes)
        var all = 0
        while try whole.readPacket() != nil { all += 1 }
        #expect(count == all)
        #expect(keys == [0, 1, 2, 3].map { MediaTime(seconds: $0) })
        #expect(try decoding.frames.map { $0.pixelBuffer.checksum() } == Tool.checksums("a.mp4", in: fixtures.folder))
    }

    @Test func seekLandsOnThePreviousKeyFrame() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) -c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac -f mp4 a.mp4")
        let file = try Self.open(fixtures.bytes("a.mp4"))
        let track = try #require(file.tracks.first { $0.kind == .video })
        for (target, key) in [(2.5, 2), (0, 0), (3.99, 3), (1, 1)] {
            try file.seek(to: #require(MediaTime(approximating: target)))
            var first: MediaPacket?
            while first == nil, let packet = try file.readPacket() { if packet.trackID == track.id { first = packet } }
            #expect(first?.presentationTime == MediaTime(seconds: Int64(key)))
            #expect(first?.isKeyFrame == true)
        }
    }

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
}

import CFFmpeg
import Foundation
import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Progressive movies")
struct ProgressiveTests {
    /// A file as the playback engine plays it: the bytes of its header, and segments.
    struct File {
        let bytes: [UInt8]
        let timeline: MediaFileTimeline
        let header: [UInt8]

        init(_ bytes: [UInt8], minimumSegmentDuration: MediaTime = MediaTime(seconds: 1)) throws {
            self.bytes = bytes
            let options = MediaFileIndexer.Options(minimumSegmentDuration: minimumSegmentDuration)
            let begun = MediaFileIndexer(head: Array(bytes.prefix(4_096)), length: Int64(bytes.count), options: options)
            var index = try #require(begun)
            while case .needsBytes(let range) = index.state { index.add(Self.part(bytes, range)) }
            guard case .ready(let timeline) = index.state else {
                throw DecodingError(status: .failed, operation: "no timeline")
            }
            self.timeline = timeline
            header = Self.part(bytes, try #require(timeline.initializationRange))
        }

        static func part(_ bytes: [UInt8], _ range: ByteRange) -> [UInt8] {
            let end = Int(min(Int64(bytes.count), max(0, range.end)))
            return Array(bytes[min(end, Int(range.start))..<end])
        }

        func bytes(of segment: MediaFileSegment) -> [UInt8] { Self.part(bytes, segment.byteRange) }

        func segment(_ segment: MediaFileSegment, _ demuxer: SegmentDemuxer) throws -> DemuxedSegment {
            try bytes(of: segment).withUnsafeBytes { part in
                try header.withUnsafeBytes {
                    try demuxer.demux(
                        part,
                        initialization: $0,
                        startTime: segment.timeRange.start,
                        fileOffset: segment.byteRange.start,
                        timeRange: segment.timeRange
                    )
                }
            }
        }
    }

    static let video = "-c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p"

    /// Codings of files with different structures, each with a duration of four seconds.
    static let codings = [
        "\(video) -c:a aac -movflags faststart -f mp4 a.mp4",
        "\(video) -c:a aac -f mp4 a.mp4",
        "\(video) -c:a aac -use_editlist 0 -f mp4 a.mp4",
        "\(video) -x264-params open-gop=1 -c:a aac -f mp4 a.mp4",
        "-c:v libx264 -bf 0 -g 1 -pix_fmt yuv420p -c:a ac3 -f mov a.mov",
        "\(video) -c:a pcm_s16le -f mov a.mov",
        "\(video) -c:a pcm_s24le -ac 2 -frag_duration 0 -max_interleave_delta 0 -f mov a.mov",
        "-vn -c:a aac -f mp4 a.m4a",
        "-vn -c:a alac -movflags faststart -f mp4 a.m4a",
        "-vn -c:a libopus -f mp4 a.mp4",
        "-vn -c:a libmp3lame -f mp4 a.mp4",
        "-vn -c:a pcm_f32le -ac 2 -f mov a.mov",
        "-an \(video) -f mov a.mov",
        "-an -c:v mpeg4 -bf 2 -g 25 -f mp4 a.mp4",
        "-c:v libx265 -x265-params log-level=none:keyint=25 -c:a flac -strict -2 -f mp4 a.mp4",
    ]

    private static func audio(_ name: String, _ fixtures: borrowing Fixtures) throws -> [Float] {
        try fixtures.make("-i \(name) -map 0:a:0 -f f32le -c:a pcm_f32le out.raw")
        return try fixtures.bytes("out.raw").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    @Test(arguments: codings)
    func segmentsDecodeLikeTheWholeFileWithFFmpeg(coding: String) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("\(Fixtures.source) -pix_fmt yuv420p \(coding)")
        let file = try File(fixtures.bytes(name))
        #expect(file.timeline.isProgressive)
        #expect(file.timeline.segments.count >= 2)
        var decoding = StreamDecoding()
        for segment in file.timeline.segments { try decoding.add(file.segment(segment, decoding.demuxer)) }
        try decoding.finish()
        #expect(decoding.problems == [])
        if !coding.contains("-vn") {
            let checksums = try Tool.checksums(name, in: fixtures.folder)
            #expect(checksums.count >= 100)
            #expect(decoding.frames.map { $0.pixelBuffer.checksum() } == checksums)
            for (frame, next) in zip(decoding.frames, decoding.frames.dropFirst()) {
                #expect(next.time - frame.time == MediaTime(value: 1, timescale: 25))
            }
            if !coding.contains("-use_editlist 0") { #expect(decoding.frames.first?.time == .zero) }
        }
        if !coding.contains("-an") {
            let expected = try Self.audio(name, fixtures)
            let samples = decoding.sound.flatMap(\.samples)
            #expect(samples.count == expected.count)
            #expect(samples.elementsEqual(expected))
            #expect(decoding.sound.first?.time == .zero)
            // Without an edit list, the second audio packet is delayed to the start of the video, according to the time
            // table.
            if !coding.contains("-use_editlist 0") {
                for (chunk, next) in zip(decoding.sound, decoding.sound.dropFirst()) { #expect(next.time == chunk.end) }
            }
        }
    }

    @Test(arguments: codings, [1, 2, 7])
    func eachPacketIsInOneSegment(coding: String, tenths: Int64) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("\(Fixtures.source) -pix_fmt yuv420p \(coding)")
        let file = try File(fixtures.bytes(name), minimumSegmentDuration: MediaTime(value: tenths, timescale: 10))
        let demuxer = SegmentDemuxer()
        // List the packets in the sample tables with ffprobe, independent of the edit list.
        let listed = try Tool.run(
            "ffprobe",
            [
                "-v", "error", "-ignore_editlist", "1", "-show_entries", "packet=stream_index,pos,size,pts,dts", "-of",
                "compact=p=0:nk=1", name,
            ],
            in: fixtures.folder
        )
        var expected: [Int: [[Int64]]] = [:]
        for line in listed.split(separator: "\n") {
            let fields = line.split(separator: "|").compactMap { Int64($0) }
            expected[Int(fields[0]), default: []].append(Array(fields.dropFirst()))
        }
        var offsets: [Int: Int64] = [:]
        var found: [Int: [[Int64]]] = [:]
        for piece in file.timeline.segments {
            let segment = try file.segment(piece, demuxer)
            #expect(segment.problems == [])
            let isFirst = piece == file.timeline.segments.first
            for track in segment.tracks {
                let packets = segment.packets.filter { $0.trackID == track.id }
                if track.kind == .video {
                    #expect(packets.first?.isKeyFrame == true)
                    #expect(isFirst || packets.first?.presentationTime == piece.timeRange.start)
                } else if !isFirst {
                    #expect(packets.allSatisfy { $0.presentationTime >= piece.timeRange.start })
                }
                for packet in packets {
                    let values = packet.pointer.pointee
                    // The track numbers in these files start at one.
                    let stream = track.id - 1
                    let shift = offsets[stream] ?? ((expected[stream]?.first?[1] ?? 0) - values.dts)
                    offsets[stream] = shift
                    found[stream, default: []].append([
                        values.pts + shift, values.dts + shift, Int64(values.size), values.pos,
                    ])
                }
            }
        }
        #expect(found.keys.sorted() == expected.keys.sorted())
        for (stream, packets) in found where !coding.contains("pcm") || stream == 0 && !coding.contains("-vn") {
            #expect(packets == expected[stream])
        }
        // Uncompressed audio is split at other positions than by FFmpeg: each byte must occur once, in order.
        for (stream, packets) in found where coding.contains("pcm") {
            let positions = packets.flatMap { Array($0[3]..<$0[3] + $0[2]) }
            #expect(positions.elementsEqual((expected[stream] ?? []).flatMap { Array($0[3]..<$0[3] + $0[2]) }))
        }
    }

    /// The engine adds the durations of segments, which are rounded to nanoseconds.
    @Test(
        arguments: [
            "-r 30000/1001 -c:v libx264 -bf 2 -g 7 -pix_fmt yuv420p -c:a aac -ar 44100 -f mp4 a.mp4",
            "-r 30000/1001 -c:v libx264 -bf 2 -g 7 -pix_fmt yuv420p -c:a pcm_s16le -ar 44100 -f mov a.mov",
            "-vn -c:a aac -ar 44100 -f mp4 a.mp4", "-vn -c:a pcm_s16le -ar 44100 -f mov a.mov",
        ],
        [-1, 1] as [Int64]
    )
    func roundedTimesSplitAtTheSameSamples(coding: String, sign: Int64) throws {
        let fixtures = try Fixtures()
        let name = String(try #require(coding.split(separator: " ").last))
        try fixtures.make("\(Fixtures.source) \(coding)")
        let file = try File(fixtures.bytes(name), minimumSegmentDuration: MediaTime(value: 1, timescale: 5))
        #expect(file.timeline.segments.count > 15)
        let (demuxer, other) = (SegmentDemuxer(), SegmentDemuxer())
        func positions(_ segment: DemuxedSegment) -> [[Int64]] {
            segment.packets.map { [Int64($0.trackID), $0.pointer.pointee.pos, Int64($0.byteCount)] }
        }
        for (index, segment) in file.timeline.segments.enumerated() {
            let error = MediaTime(value: sign * 5_000, timescale: 1_000_000_000)
            let (start, end) = (segment.timeRange.start, segment.timeRange.end)
            let rounded = MediaFileSegment(
                timeRange: MediaTimeRange(start: index == 0 ? start : start + error, end: end + error),
                byteRange: segment.byteRange
            )
            let (exact, off) = try (file.segment(segment, demuxer), file.segment(rounded, other))
            #expect(positions(exact) == positions(off))
            #expect(off.problems == [] && exact.problems == [])
        }
    }

    @Test(.enabled(if: SampleStreams.areAvailable, "Scripts/make-samples was not run"))
    func segmentsOfTheSampleMovieContainEachFrameOnce() throws {
        let file = try File(
            SampleStreams.bytes("movie.mp4"),
            minimumSegmentDuration: MediaFileIndexer.Options().minimumSegmentDuration
        )
        #expect(file.timeline.segments.count > 2)
        var decoding = StreamDecoding()
        for segment in file.timeline.segments { try decoding.add(file.segment(segment, decoding.demuxer)) }
        try decoding.finish()
        #expect(decoding.problems == [])
        let path = try SampleStreams.url("movie.mp4").path
        #expect(try decoding.frames.map { $0.pixelBuffer.checksum() } == Tool.checksums(path))
        #expect(decoding.frames.map { StripReader.read($0.pixelBuffer)?.frame } == Array(decoding.frames.indices))
        let samples = decoding.sound.flatMap(\.samples)
        let fixtures = try Fixtures()
        let expected = try Self.audio(path, fixtures)
        #expect(samples.elementsEqual(expected))
    }

    @Test func singleSegmentStartsAtItsKeyFrame() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) \(Self.codings[1])")
        let file = try File(fixtures.bytes("a.mp4"))
        let segment = file.timeline.segments[2]
        var decoding = StreamDecoding()
        try decoding.add(file.segment(segment, decoding.demuxer))
        try decoding.finish()
        #expect(decoding.frames.map(\.time) == (50..<75).map { MediaTime(value: $0, timescale: 25) })
        let start = try #require(decoding.sound.first?.time)
        #expect(start >= segment.timeRange.start && (start - segment.timeRange.start).seconds < 0.022)
    }

    @Test func allPacketsInTheBytesAreReturnedWithoutATimeRange() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) \(Self.codings[0])")
        let file = try File(fixtures.bytes("a.mp4"))
        let piece = file.timeline.segments[1]
        let segment = try file.bytes(of: piece).withUnsafeBytes { part in
            try file.header.withUnsafeBytes {
                try SegmentDemuxer().demux(part, initialization: $0, fileOffset: piece.byteRange.start)
            }
        }
        let own = try file.segment(piece, SegmentDemuxer())
        #expect(segment.problems == [])
        #expect(segment.packets.count >= own.packets.count)
        let positions = Set(segment.packets.map(\.pointer.pointee.pos))
        #expect(positions.isSuperset(of: own.packets.map(\.pointer.pointee.pos)))
        #expect(segment.packets.allSatisfy { $0.pointer.pointee.pos >= piece.byteRange.start })
    }

    @Test func framesExcludedByAnEditListHaveNegativeTimes() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) \(Self.video) -c:a aac -f mp4 whole.mp4")
        // Copied from the middle of a group of pictures: an edit list excludes the frames that are needed only for
        // decoding.
        try fixtures.make("-ss 1.52 -i whole.mp4 -c copy -f mp4 a.mp4")
        let file = try File(fixtures.bytes("a.mp4"))
        var decoding = StreamDecoding()
        for segment in file.timeline.segments { try decoding.add(file.segment(segment, decoding.demuxer)) }
        try decoding.finish()
        #expect(decoding.problems == [])
        let checksums = try Tool.checksums("a.mp4", in: fixtures.folder)
        #expect(decoding.frames.filter { $0.time >= .zero }.map { $0.pixelBuffer.checksum() } == checksums)
        #expect(decoding.frames.contains { $0.time < .zero })
        #expect(decoding.frames.contains { $0.time == .zero })
    }

    /// The text begins in the first segment and is in progress at the start of the last one.
    @Test func segmentHasTheSubtitlesThatBeganEarlier() throws {
        let fixtures = try Fixtures()
        let text = "1\n00:00:00,500 --> 00:00:03,800\nLong text\n\n"
        try Data(text.utf8).write(to: fixtures.folder.appendingPathComponent("a.srt"))
        let inputs = "\(Fixtures.source) -i a.srt -map 0 -map 1 -map 2"
        try fixtures.make("\(inputs) \(Self.video) -c:a aac -c:s mov_text -f mp4 a.mp4")
        let file = try File(fixtures.bytes("a.mp4"))
        let last = try #require(file.timeline.segments.last)
        #expect(last.timeRange.start == MediaTime(seconds: 3) && last.earlierSubtitleOffset != nil)
        let piece = MediaFileSegment(timeRange: last.timeRange, byteRange: last.byteRangeWithEarlierSubtitles)
        let segment = try file.segment(piece, SegmentDemuxer())
        #expect(segment.problems == [])
        let cues = FileSubtitles.cues(of: segment, offset: .zero).values.flatMap(\.self)
        #expect(cues.map(\.plainText) == ["Long text"])
        let range = try #require(cues.first?.timeRange)
        #expect(abs(range.start.seconds - 0.5) < 0.05 && abs(range.end.seconds - 3.8) < 0.05, "\(range)")
        // Each sample is a packet of one segment only, as exports need it.
        let tracks = segment.tracks.filter { $0.kind == .subtitles }.map(\.id)
        #expect(tracks.count == 1)
        #expect(
            segment.packets.allSatisfy { !tracks.contains($0.trackID) || $0.presentationTime >= last.timeRange.start }
        )
        // A cue that is already known is not added twice.
        var subtitles = FileSubtitles()
        for segment in try file.timeline.segments.map({ try file.segment($0, SegmentDemuxer()) }) + [segment] {
            subtitles.insert(FileSubtitles.cues(of: segment, offset: .zero))
        }
        let selectable = Array(segment.fileTracks(.subtitles).keys)
        #expect(selectable.count == 1)
        subtitles.selected = selectable.first
        #expect(subtitles.cues(at: MediaTime(value: 7, timescale: 2)).map(\.plainText) == ["Long text"])
    }

    @Test func encryptedMoviesAreRejected() throws {
        let fixtures = try Fixtures()
        let key = "-encryption_scheme cenc-aes-ctr -encryption_key 00112233445566778899aabbccddeeff"
        try fixtures.make(
            "\(Fixtures.source) \(Self.video) \(key) -encryption_kid 00112233445566778899aabbccddeeff -f mp4 a.mp4"
        )
        let file = try File(fixtures.bytes("a.mp4"))
        let error = #expect(throws: DecodingError.self) {
            try file.segment(file.timeline.segments[0], SegmentDemuxer())
        }
        #expect(error?.code == .unsupported)
    }

    @Test func damagedTablesAndSegmentsNeitherCrashNorHang() throws {
        let fixtures = try Fixtures()
        var generator = SeededGenerator(seed: 11)
        for (position, coding) in [Self.codings[0], Self.codings[5], Self.codings[7]].enumerated() {
            let name = String(try #require(coding.split(separator: " ").last))
            try fixtures.make("\(Fixtures.source) \(coding)")
            let file = try File(fixtures.bytes(name))
            let tables = ["stts", "ctts", "stsc", "stsz", "stco", "stss", "elst", "mdhd", "mvhd"].flatMap { name in
                Self.positions(of: name, in: file.header)
            }
            for trial in 0..<400 {
                var header = file.header
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let start = try #require(tables.randomElement(using: &generator))
                    let position = min(header.count - 1, start + 4 + Int.random(in: 0..<48, using: &generator))
                    let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                    let length = trial % 2 == 0 ? 1 : 4
                    let value = try #require(values.randomElement(using: &generator))
                    for index in position..<min(header.count, position + length) { header[index] = value }
                }
                let piece = try #require(file.timeline.segments.randomElement(using: &generator))
                var bytes = file.bytes(of: piece)
                bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
                let offsets = [piece.byteRange.start, 0, .max, .min, -1]
                let ranges = [
                    piece.timeRange, nil, MediaTimeRange(start: .zero, duration: MediaTime(value: .max, timescale: 1)),
                    MediaTimeRange(start: MediaTime(value: .min + 1, timescale: 1), end: MediaTime(seconds: 2)),
                ]
                let offset = trial % 4 == 0 ? offsets.randomElement(using: &generator) : piece.byteRange.start
                let range = trial % 5 == 0 ? ranges.randomElement(using: &generator) ?? nil : piece.timeRange
                let demuxer = SegmentDemuxer()
                let segment = try? bytes.withUnsafeBytes { bytes in
                    try header.withUnsafeBytes {
                        try demuxer.demux(bytes, initialization: $0, fileOffset: offset, timeRange: range)
                    }
                }
                let total = segment?.packets.reduce(0) { $0 + $1.byteCount } ?? 0
                #expect(total <= bytes.count * 2, "\(position), \(trial)")
            }
        }
    }

    private static func positions(of name: String, in bytes: [UInt8]) -> [Int] {
        let letters = Array(name.utf8)
        return bytes.indices.dropLast(4).filter { bytes[$0] == letters[0] && bytes[$0..<$0 + 4].elementsEqual(letters) }
    }

    @Test func truncatedSegmentReturnsItsRemainingPackets() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) \(Self.codings[0])")
        let file = try File(fixtures.bytes("a.mp4"))
        let piece = file.timeline.segments[1]
        let bytes = file.bytes(of: piece)
        let segment = try bytes.prefix(bytes.count / 2).withUnsafeBytes { part in
            try file.header.withUnsafeBytes {
                try SegmentDemuxer().demux(
                    part,
                    initialization: $0,
                    fileOffset: piece.byteRange.start,
                    timeRange: piece.timeRange
                )
            }
        }
        #expect(segment.isDamaged)
        #expect(!segment.packets.isEmpty)
    }

    @Test func numberOfListedSamplesIsLimited() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) \(Self.codings[0])")
        let file = try File(fixtures.bytes("a.mp4"))
        let box = Box.first(.moov, in: file.header.span)
        let position = try #require(box).range.lowerBound
        let movie = try Movie(file.header.span, at: position)
        let track = try #require(movie.tracks.first { $0.mediaType == .video })
        let listed = track.samples(in: file.header.span)
        let samples = try #require(listed)
        #expect(samples.count == 100)
        #expect(samples.filter(\.isSync).count == 4)
        let (tooMany, enough) = (
            track.samples(in: file.header.span, limit: 99), track.samples(in: file.header.span, limit: 100)
        )
        #expect(tooMany == nil)
        #expect(enough == samples)
    }
}

import Foundation
import MediaTiming
import SeededRandomness
import SegmentFormat
import Testing

@testable import MediaDecoding

@Suite("Damage")
struct DamageTests {

    enum Corruption: CaseIterable {
        case flippedBits, fewFlippedBits, truncation, garbage, wrongContainer, missingMiddle, damagedHeader
    }

    private static func corrupted(
        _ bytes: [UInt8],
        _ corruption: Corruption,
        other: [UInt8],
        _ generator: inout SeededGenerator
    ) -> [UInt8] {
        var bytes = bytes
        switch corruption {
        case .flippedBits:
            for _ in 0..<bytes.count / 100 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
        case .fewFlippedBits:
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                    1 << UInt8.random(in: 0..<8, using: &generator)
            }
        case .truncation: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
        case .garbage:
            bytes = (0..<Int.random(in: 1..<20_000, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
        case .wrongContainer: bytes = other
        case .missingMiddle:
            let start = Int.random(in: 0..<bytes.count / 2, using: &generator)
            bytes.removeSubrange(start..<Int.random(in: start..<bytes.count, using: &generator))
        case .damagedHeader:
            for _ in 0..<20 {
                bytes[Int.random(in: 0..<min(2_000, bytes.count), using: &generator)] = UInt8.random(
                    in: 0...255,
                    using: &generator
                )
            }
        }
        return bytes
    }

    @Test func damagedSegmentsNeitherCrashNorHangAndDecodingContinues() throws {
        let fixtures = try Fixtures()
        let fragmented = "-movflags frag_keyframe+empty_moov+default_base_moof+delay_moov -f mp4"
        let encoding = "-c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac"
        try fixtures.make("\(Fixtures.source) -t 1 \(encoding) -f mpegts a.ts")
        try fixtures.make("\(Fixtures.source) -t 1 \(encoding) \(fragmented) a.mp4")
        try fixtures.make("\(Fixtures.source) -t 1 \(encoding) -f mp4 p.mp4")
        try fixtures.make("\(Fixtures.source) -t 1 -vn -c:a aac a.aac")
        try fixtures.make("\(Fixtures.source) -t 1 -vn -c:a libmp3lame a.mp3")
        try fixtures.make("\(Fixtures.source) -t 1 -vn -c:a flac a.flac")
        try fixtures.make("\(Fixtures.source) -t 1 -c:v libx265 -x265-params log-level=none -c:a libopus a.mkv")
        let clear = try fixtures.bytes("a.mp4")
        let key: [UInt8] = Array(31...46)
        let names = ["a.ts", "a.mp4", "p.mp4", "a.aac", "a.mp3", "a.flac", "a.mkv"]
        let files = try names.map { try fixtures.bytes($0) }
        var generator = SeededGenerator(seed: 7)
        let whole = try Self.frameCount(files[0], after: nil)
        for trial in 0..<500 {
            let position = trial % (files.count)
            let corruption = try #require(Corruption.allCases.randomElement(using: &generator))
            let other = files[(position + 1) % files.count]
            let bytes = Self.corrupted(files[position], corruption, other: other, &generator)
            // After any damage, an intact segment decodes to all of its frames again.
            if trial % 10 == 0 { #expect(try Self.frameCount(files[0], after: bytes) >= whole - 2) }
            var decoding = StreamDecoding(isContinuous: trial % 3 == 0)
            let protection = trial % 5 == 0 ? SampleKey(key: key, initializationVector: key) : nil
            try? decoding.add(bytes, position == 1 ? Array(clear.prefix(1_200)) : nil, key: protection)
            try? decoding.finish()
            #expect(decoding.frames.count <= 200)
        }
    }

    @Test func damagedEncryptionNeitherCrashesNorHangs() throws {
        let fixtures = try Fixtures()
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=25:d=1 -c:v libx264 -g 25 -pix_fmt yuv420p \(FragmentTests.fragmented) a.mp4"
        )
        let key: [UInt8] = Array(31...46)
        let scheme = MovieEncryption.Scheme(name: "cbcs", pattern: (1, 9), vectorLength: 16, clearLead: 100)
        let bytes = try MovieEncryption.encrypted(fixtures.bytes("a.mp4"), scheme, key: key)
        var generator = SeededGenerator(seed: 8)
        for trial in 0..<200 {
            let corruption: Corruption = trial % 2 == 0 ? .damagedHeader : .fewFlippedBits
            var decoding = StreamDecoding()
            try? decoding.add(Self.corrupted(bytes, corruption, other: bytes, &generator), key: SampleKey(key: key))
            try? decoding.finish()
            #expect(decoding.frames.count <= 30)
        }
    }

    private static func frameCount(_ bytes: [UInt8], after damaged: [UInt8]?) throws -> Int {
        var decoding = StreamDecoding()
        decoding.decodesAudio = false
        if let damaged { try? decoding.add(damaged) }
        let before = decoding.frames.count
        try decoding.add(bytes)
        try decoding.finish()
        return decoding.frames.count - before
    }

    @Test(arguments: ["", "hello, this is no media at all", "<html><body>404</body></html>", "#EXTM3U\n", "WEBVTT\n\n"])
    func dataThatIsNotMediaIsRejected(text: String) {
        let demuxer = SegmentDemuxer()
        #expect(throws: DecodingError.self) { try Array(text.utf8).withUnsafeBytes { try demuxer.demux($0) } }
    }

    @Test func packetLossInATransportStreamIsReported() throws {
        let fixtures = try Fixtures()
        try fixtures.make("\(Fixtures.source) -c:v libx264 -g 25 -pix_fmt yuv420p -f mpegts a.ts")
        var bytes = try fixtures.bytes("a.ts")
        bytes.removeSubrange(188 * 40..<188 * 43)
        let result = try bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
        #expect(result.isDamaged)
        #expect(result.packets.count > 90)
    }

    /// Returns the boxes of two seconds of fragmented audio, without the index at the end.
    private static func fragmentedAudio() throws -> [(type: String, payload: [UInt8])] {
        let fixtures = try Fixtures()
        let encoding = "-c:a aac \(FragmentTests.fragmented) -frag_duration 500000"
        try fixtures.make("-f lavfi -i anoisesrc=r=48000:d=2 \(encoding) a.mp4")
        return MovieEncryption.split(try fixtures.bytes("a.mp4")).filter { $0.0 != "mfra" }
            .map { (type: $0.0, payload: $0.1) }
    }

    private static func demux(_ bytes: [UInt8]) throws -> DemuxedSegment {
        try bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
    }

    @Test func samplesAfterTheEndOfASegmentAreLost() throws {
        let boxes = try Self.fragmentedAudio()
        let bytes = boxes.flatMap { MovieEncryption.box($0.type, $0.payload) }
        let intact = try Self.demux(bytes)
        #expect(intact.lostRanges.isEmpty && !intact.isTruncated && intact.problems.isEmpty)
        let end = try #require(intact.timeRange()).end
        let last = try #require(boxes.last)
        try #require(last.type == "mdat")
        let cut = try Self.demux(Array(bytes.dropLast(last.payload.count / 2)))
        let track = try #require(cut.tracks.first)
        let lost = try #require(cut.lostRanges[track.id])
        #expect(cut.isTruncated && cut.lossDescription(of: track) == nil)
        #expect(lost.start == cut.timeRange()?.end && abs((lost.end - end).seconds) < 0.03, "\(lost)")
    }

    @Test func samplesOfZerosHaveTheirTimeRange() throws {
        var boxes = try Self.fragmentedAudio()
        let position = try #require(boxes.lastIndex { $0.type == "mdat" && $0.payload.count > 3_000 })
        for index in 500..<2_500 { boxes[position].payload[index] = 0 }
        let damaged = try Self.demux(boxes.flatMap { MovieEncryption.box($0.type, $0.payload) })
        let whole = try #require(damaged.timeRange())
        let track = try #require(damaged.tracks.first)
        let lost = try #require(damaged.lostRanges[track.id])
        #expect(lost.start >= whole.start && lost.end <= whole.end, "\(lost)")
        #expect(lost.duration > .zero && lost.duration.seconds < 0.5, "\(lost)")
        #expect(damaged.lossDescription(of: track) == nil && !damaged.isTruncated)
    }

    @Test(arguments: [("-c:a aac", "a.aac"), ("-c:a libmp3lame", "a.mp3"), ("-c:a ac3", "a.ac3")])
    func lostFramesOfPackedAudioHaveATimeRange(encoding: String, name: String) throws {
        let fixtures = try Fixtures()
        try fixtures.make("-f lavfi -i anoisesrc=r=48000:d=4 \(encoding) \(name)")
        var bytes = try fixtures.bytes(name)
        let intact = try Self.demux(bytes)
        #expect(intact.byteLoss.lost == 0 && intact.lostRanges.isEmpty && intact.problems.isEmpty)
        let start = bytes.count / 2
        for index in start..<start + 6_000 { bytes[index] = 0 }
        let damaged = try Self.demux(bytes)
        let track = try #require(damaged.tracks.first)
        let lost = try #require(damaged.lostRanges[track.id])
        #expect(damaged.byteLoss.lost > 4_000 && damaged.byteLoss.lost < 8_000)
        #expect(abs(lost.start.seconds - 2) < 0.4 && lost.duration > .zero && lost.duration.seconds < 1, "\(lost)")
        #expect(damaged.lossDescription(of: track) == nil)
    }

    @Test func overlappingSamplesDoNotExhaustMemory() throws {
        let fixtures = try Fixtures()
        try fixtures.make(
            "-f lavfi -i testsrc2=s=192x108:r=25:d=1 -c:v libx264 -g 25 -pix_fmt yuv420p \(FragmentTests.fragmented) a.mp4"
        )
        let header = try fixtures.bytes("a.mp4").prefix(1_000)
        let big = MovieEncryption.big
        // A hundred thousand samples that all refer to the same megabyte.
        let header4: [UInt8] = [0, 2, 0, 0x10] + big(1) + big(1_000_000)
        let run: [UInt8] = [0, 0, 0, 1] + big(1) + big(100)
        let runs = (0..<100_000).flatMap { _ in MovieEncryption.box("trun", run) }
        let fragment = MovieEncryption.box(
            "moof",
            MovieEncryption.box("traf", MovieEncryption.box("tfhd", header4) + runs)
        )
        let bytes = fragment + MovieEncryption.box("mdat", [UInt8](repeating: 1, count: 1_100_000))
        let result = try bytes.withUnsafeBytes { bytes in
            try Array(header).withUnsafeBytes { try SegmentDemuxer().demux(bytes, initialization: $0) }
        }
        #expect(result.packets.count < 10)
        #expect(result.isDamaged)
    }
}

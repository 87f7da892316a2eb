import MediaTiming
import SegmentFormat
import Testing

@testable import MediaDecoding

/// Tests movies whose tables name the same bytes for many samples.
@Suite struct SharedSampleTests {
    private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
        MovieEncryption.box(type, parts.flatMap { $0 })
    }

    private static func big(_ numbers: Int...) -> [UInt8] { numbers.flatMap { MovieEncryption.big($0) } }

    /// Returns a track of timed text, each sample of which lasts four seconds and is a chunk of its own.
    private static func track(_ id: Int, samples: [Range<Int>]) -> [UInt8] {
        let entry = box("tx3g", [UInt8](repeating: 0, count: 6), [0, 1], [UInt8](repeating: 0, count: 30))
        let table = box(
            "stbl",
            box("stsd", big(0, 1), entry),
            box("stts", big(0, 1, samples.count, 4_000)),
            box("stsc", big(0, 1, 1, 1, 1)),
            box("stsz", big(0, 0, samples.count), samples.flatMap { MovieEncryption.big($0.count) }),
            box("stco", big(0, samples.count), samples.flatMap { MovieEncryption.big($0.lowerBound) })
        )
        let header = box("mdhd", big(0, 0, 0, 1_000, samples.count * 4_000), [0x55, 0xC4, 0, 0])
        let handler = box("hdlr", big(0, 0), Array("sbtl".utf8), [UInt8](repeating: 0, count: 13))
        let media = box("mdia", header, handler, box("minf", box("nmhd", big(0)), table))
        let tracks = big(7, 0, 0, id, 0, samples.count * 4_000) + [UInt8](repeating: 0, count: 60)
        return box("trak", box("tkhd", tracks), media)
    }

    private static func movie(_ tracks: [[UInt8]], duration: Int) -> [UInt8] {
        let header = box("mvhd", big(0, 0, 0, 1_000, duration), [UInt8](repeating: 0, count: 80))
        return MovieEncryption.box("moov", header + tracks.flatMap { $0 })
    }

    /// The first sample of each track is in progress at the start of the segment.
    @Test func tracksThatShareASampleHaveCopiesUpToFourTimesTheSizeOfTheSegment() throws {
        let shared = 1_000..<11_000
        let tracks = (0..<8).map { index in
            let start = 11_000 + index * 100
            return Self.track(index + 1, samples: [shared, start..<start + 100])
        }
        let header = Self.movie(tracks, duration: 8_000)
        let bytes = [UInt8](repeating: 0x20, count: 10_800)
        let segment = try bytes.withUnsafeBytes { bytes in
            try header.withUnsafeBytes {
                try SegmentDemuxer().demux(
                    bytes,
                    initialization: $0,
                    fileOffset: 1_000,
                    timeRange: MediaTimeRange(start: MediaTime(seconds: 4), end: MediaTime(seconds: 8))
                )
            }
        }
        #expect(segment.tracks.count == 8)
        // The samples of the segment itself are complete.
        #expect(Set(segment.packets.map(\.trackID)) == Set(1...8) && segment.packets.count == 8)
        #expect(segment.earlierSubtitles.map(\.byteCount) == [10_000, 10_000, 10_000, 10_000])
        #expect(segment.isDamaged)
        #expect(segment.problems.count == 4 && segment.problems.allSatisfy { $0.contains("are left out") })
    }

    /// Tracks whose samples do not share bytes are complete.
    @Test func samplesOfTheirOwnAreComplete() throws {
        let tracks = (0..<8).map { index in
            let start = 1_000 + index * 200
            return Self.track(index + 1, samples: [start..<start + 100, start + 100..<start + 200])
        }
        let header = Self.movie(tracks, duration: 8_000)
        let segment = try [UInt8](repeating: 0x20, count: 1_600).withUnsafeBytes { bytes in
            try header.withUnsafeBytes {
                try SegmentDemuxer().demux(
                    bytes,
                    initialization: $0,
                    fileOffset: 1_000,
                    timeRange: MediaTimeRange(start: MediaTime(seconds: 4), end: MediaTime(seconds: 8))
                )
            }
        }
        #expect(segment.problems == [])
        #expect(segment.packets.count == 8 && segment.earlierSubtitles.count == 8)
    }

    /// FFmpeg reads such a file, because its header and its media are in one segment.
    @Test func packetsOfAWholeFileAreLimitedByItsSize() throws {
        let shared = 8..<20_008
        let movie = Self.movie(
            [Self.track(1, samples: [Range<Int>](repeating: shared, count: 2_000))],
            duration: 8_000_000
        )
        let bytes = Self.box("mdat", [UInt8](repeating: 0x20, count: 20_000)) + movie
        let segment = try bytes.withUnsafeBytes { try SegmentDemuxer().demux($0) }
        let size = segment.packets.reduce(0) { $0 + $1.byteCount }
        #expect(size <= bytes.count * 2 + (16 << 20) + shared.count && size > bytes.count)
        #expect(segment.problems.contains { $0.contains("more than twice as large") })
    }
}

import MediaTiming
import SegmentFormat
import Testing

/// Tests that the parts of a segment have the samples of the segment, divided where their durations end.
@Suite struct SegmentDivisionTests {
    /// Returns a fragment of one second: 25 video samples of 1 to 25 bytes and 47 audio samples of 3 bytes.
    ///
    /// The first video sample is a sync sample. The bytes of each sample are different from those of its neighbors.
    private static func fragment(_ number: Int, _ extra: [UInt8] = []) -> [UInt8] {
        func tracks(_ offset: Int) -> [UInt8] {
            let sizes = (1...25).flatMap { (size: Int) -> [UInt8] in
                let flags = size == 1 ? 0x200_0000 : 0x101_0000
                return u32(size) + u32(flags) + u32(size % 3 * 512)
            }
            let video = box(
                "traf",
                fullBox("tfhd", 0, 0x2_0002, u32(1), u32(1)),
                fullBox("tfdt", 1, 0, u64(number * 12_800)),
                fullBox("trun", 0, 0xE01, u32(25), u32(offset), sizes),
                extra
            )
            let audio = box(
                "traf",
                fullBox("tfhd", 0, 0x2_0010, u32(2), u32(3)),
                fullBox("tfdt", 1, 0, u64(number * 47 * 1_024)),
                fullBox("trun", 0, 0x1, u32(47), u32(offset + 325))
            )
            return box("moof", fullBox("mfhd", 0, 0, u32(number)), video, audio)
        }
        let data = (1...25).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: number * 100 + $0), count: $0) }
        return tracks(tracks(0).count + 8) + box("mdat", data + (0..<141).map { UInt8($0) })
    }

    private static let segment = box("styp", ascii("msdh"), u32(0)) + fragment(0) + fragment(1)

    /// Returns the times and the bytes of the samples of a track.
    private func samples(_ bytes: [UInt8], track: UInt32) throws -> [(time: MediaTimeRange, data: [UInt8])] {
        FragmentSample.samples(in: bytes.span, movie: try FragmentTests.movie(), trackID: track)
            .map { ($0.timeRange, Array(bytes[$0.bytes])) }
    }

    private func divided(
        _ segment: [UInt8],
        seconds: Int64 = 2,
        tenths: Int64 = 5,
        count: Int = 4,
        initialization: [UInt8] = Movies.initialization
    ) throws -> [[UInt8]] {
        let division = SegmentDivision(
            of: MediaTime(seconds: seconds),
            target: MediaTime(value: tenths, timescale: 10),
            count: count
        )
        let parts = try division.parts(of: segment, initialization: initialization)
        #expect(parts.count == count && parts.count == division.partCount)
        return parts
    }

    @Test func fragmentedMediaIsDividedBetweenItsSamples() throws {
        let parts = try divided(Self.segment)
        for track: UInt32 in [1, 2] {
            let whole = try samples(Self.segment, track: track)
            let divided = try parts.flatMap { try samples($0, track: track) }
            #expect(whole.count == (track == 1 ? 50 : 94))
            #expect(divided.map(\.time) == whole.map(\.time) && divided.map(\.data) == whole.map(\.data))
        }
        #expect(try parts.map { try samples($0, track: 1).count } == [13, 12, 13, 12])
        #expect(try parts.map { try samples($0, track: 2).count } == [24, 23, 24, 23])
        let segments = try parts.map { FragmentedSegment(reading: $0, movie: try FragmentTests.movie()) }
        #expect(segments.map(\.brands.count) == [1, 0, 0, 0] && segments.allSatisfy { !$0.isIncomplete })
        #expect(segments.map { $0.fragments[0].sequenceNumber } == [0, 1, 2, 3])
        // The second fragment of the segment begins with a sync sample, the third part.
        #expect(segments.map { $0.fragments[0].track(1)?.isFirstSampleSync } == [true, false, true, false])
    }

    @Test func lastPartMayBeShorter() throws {
        let parts = try divided(Self.segment, tenths: 8, count: 3)
        #expect(try parts.map { try samples($0, track: 1).count } == [20, 20, 10])
    }

    /// A part of a segment whose duration in the playlist is a little longer than its samples still has a sample.
    @Test func eachPartHasASample() throws {
        let parts = try divided(Self.fragment(0), seconds: 1, tenths: 1, count: 25)
        #expect(try parts.allSatisfy { try !samples($0, track: 1).isEmpty })
        // With fewer samples than parts, each sample is in the part of its time.
        let sparse = try divided(Self.fragment(0), seconds: 1, tenths: 1, count: 30)
        #expect(try sparse.map { try samples($0, track: 1).count }.prefix(4) == [3, 2, 3, 2])
        #expect(try sparse.map { try samples($0, track: 1).count }.reduce(0, +) == 25)
        let last = FragmentedSegment(reading: try #require(sparse.last), movie: try FragmentTests.movie())
        #expect(last.fragments[0].track(2)?.sampleCount ?? 0 <= 1 && !last.isIncomplete)
        let film = TransportStreamBuilder.film(seconds: 1)
        #expect(throws: MediaFormatError.self) { try divided(film, seconds: 1, tenths: 1, count: 100) }
    }

    /// Without the movie, the durations of the video samples are unknown.
    @Test func initializationSectionIsRequiredForItsDefaults() throws {
        #expect(throws: MediaFormatError.self) { try divided(Self.segment, initialization: []) }
        let parts = try divided(Movies.initialization + Self.segment, initialization: [])
        #expect(try parts.map { try samples($0, track: 1).count } == [13, 12, 13, 12])
    }

    /// A small segment that declares many samples without bytes, in many tracks and fragments, has limited samples.
    @Test(.timeLimit(.minutes(10))) func declaredSamplesAreLimited() throws {
        let empty = (1...128).flatMap { track in
            box(
                "traf",
                fullBox("tfhd", 0, 0x2_0018, u32(track), u32(1), u32(0)),
                fullBox("trun", 0, 0, u32(100_000))
            )
        }
        #expect(throws: MediaFormatError.self) { try divided(box("moof", empty) + box("mdat", [])) }
        let single = (0..<40_000).flatMap { _ in
            box("traf", fullBox("tfhd", 0, 0x2_0018, u32(1), u32(1), u32(0)), fullBox("trun", 0, 0, u32(1)))
        }
        #expect(try divided(box("moof", single) + box("mdat", [])).count == 4)
    }

    /// A gap between the times of samples remains, in a track fragment of its own.
    @Test func gapsInTimeRemain() throws {
        let segment = Self.fragment(0) + Self.fragment(3)
        let parts = try divided(segment, seconds: 4, tenths: 40, count: 1)
        let whole = try samples(segment, track: 1)
        #expect(try samples(parts[0], track: 1).map(\.time) == whole.map(\.time))
        #expect(whole[25].time.start - whole[24].time.end > MediaTime(seconds: 1))
    }

    @Test func audioOfATransportStreamIsDividedBetweenPackets() throws {
        var builder = TransportStreamBuilder()
        builder.tables([(0x0F, 0x101, [])])
        for index in 0..<3 {
            builder.unit(0x101, 90_000 + index * 60_000, stream: 0xC0)
            for _ in 0..<9 { builder.packet(0x101, isStart: false, zeros(184)) }
        }
        let parts = try divided(builder.bytes, seconds: 4, count: 8)
        #expect(
            parts.flatMap { $0 } == builder.bytes && parts.allSatisfy { $0.count >= 3 * 188 && $0.count <= 5 * 188 }
        )
        // Bytes between packets do not end the division.
        let film = TransportStreamBuilder.film(seconds: 2)
        let damaged = Array(film[..<1_880]) + [1, 2, 3] + Array(film[1_880...])
        #expect(try divided(damaged).map { $0.count / 188 }.allSatisfy { $0 > 10 })
    }

    @Test func transportStreamIsDividedBeforeItsFrames() throws {
        for (prefix, suffix) in [(0, 0), (4, 0), (0, 16)] {
            let segment = TransportStreamBuilder.film(
                seconds: 2,
                from: 1 << 33 - 50_000,
                prefix: prefix,
                suffix: suffix
            )
            let parts = try divided(segment)
            #expect(parts.flatMap { $0 } == segment)
            let summaries = try parts.map { try #require(TransportStreamSummary(reading: $0)) }
            #expect(summaries.map { $0.timestamps[0x100]?.count } == [13, 12, 13, 12])
            #expect(summaries[0].programs.count == 1)
        }
    }

    @Test(arguments: [Audio.adts(), Audio.mp3, Audio.ac3, Audio.enhancedAC3])
    func packedAudioIsDividedBetweenItsFrames(frame: [UInt8]) throws {
        let rate = frame[0] == 0x0B ? 48_000 : 44_100
        let frameSamples = [0x0B: 1_536, 0xFF: frame[1] == 0xF1 ? 1_024 : 1_152][Int(frame[0])] ?? 0
        let start = 1 << 33 - 1_000
        let tag = Audio.id3(Audio.timestamp(start))
        let parts = try divided(tag + Audio.repeated(frame, 40), tenths: 6)
        let counts = parts.map { ($0.count - tag.count) / frame.count }
        #expect(counts == [12, 12, 12, 4])
        let times = try parts.map { try #require(ID3Tag(reading: $0)?.transportTimestamp) }
        let expected = [0, 12, 24, 36].map { UInt64((start + $0 * frameSamples * 90_000 / rate) & (1 << 33 - 1)) }
        #expect(times == expected)
        let bare = try divided(Audio.repeated(frame, 40), tenths: 6)
        #expect(bare.flatMap { $0 } == Audio.repeated(frame, 40))
    }

    @Test(arguments: [
        [], Array("WEBVTT\n\n00:00.000 --> 00:01.000\nA\n".utf8), Array("#EXTM3U\n".utf8), zeros(1_000),
        Self.fragment(0, box("senc", zeros(8))), box("styp", zeros(8)), Array(Self.segment.dropLast(200)),
        Array(Self.segment.prefix(400)),
    ])
    func otherContentIsRefused(segment: [UInt8]) {
        #expect(throws: MediaFormatError.self) { try divided(segment) }
    }

    /// Each input is divided in full or refused, and the parts are not much larger than it.
    @Test func damagedSegmentsAreHandled() throws {
        let streams = [
            Self.segment, TransportStreamBuilder.film(seconds: 1),
            Audio.id3(Audio.timestamp(9)) + Audio.repeated(Audio.adts(), 9),
        ]
        var divisions = 0
        for (number, stream) in streams.enumerated() {
            for position in stride(from: 0, to: stream.count, by: 7) {
                for value: UInt8 in [0, 0x7F, 0xFF] {
                    var damaged = stream
                    damaged[position] = value
                    guard let parts = try? divided(damaged) else { continue }
                    divisions += 1
                    let size = parts.reduce(0) { $0 + $1.count }
                    #expect(size < damaged.count * 4 + 4_000, "stream \(number), position \(position)")
                }
            }
        }
        #expect(divisions > 100)
    }
}

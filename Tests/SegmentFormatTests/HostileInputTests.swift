import Foundation
import MediaTiming
import SeededRandomness
import Testing

@testable import SegmentFormat

/// Tests that parsers handle arbitrary bytes without traps, endless loops and allocations beyond the size of the input.
@Suite struct HostileInputTests {
    struct Fixture: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var testDescription: String { name }
    }

    static let fixtures: [Fixture] = [
        Fixture(name: "initialization section", bytes: Movies.initialization),
        Fixture(
            name: "fragments",
            bytes: Movies.initialization + Movies.fragment(1, base: 0) + Movies.fragment(2, base: 25_600)
        ),
        Fixture(
            name: "index",
            bytes: Movies.initialization + Movies.index(earliest: 0, [(false, 900, 25_600), (true, 100, 1)])
                + Movies.fragment(1, base: 0)
        ),
        Fixture(
            name: "event",
            bytes: fullBox("emsg", 1, 0, u32(1), u64(1), u32(1), u32(1), ascii("urn:x\0\0"), zeros(8))
        ),
        Fixture(name: "progressive movie", bytes: Array(Movies.progressive(movieFirst: true).bytes.prefix(3_500))),
        Fixture(name: "transport stream", bytes: Array(TransportStreamBuilder.film(seconds: 1).prefix(188 * 12))),
        Fixture(name: "AAC", bytes: Audio.id3(Audio.timestamp(7)) + Audio.repeated(Audio.adts(60), 8)),
        Fixture(name: "MP3", bytes: Audio.repeated(Audio.mp3, 3)),
        Fixture(name: "AC-3", bytes: Audio.repeated(Audio.ac3, 2) + Audio.enhancedAC3),
        Fixture(
            name: "tag",
            bytes: Audio.id3(
                Audio.frame("TXXX", [1, 0xFF, 0xFE, 0x41, 0, 0, 0, 0x42, 0])
                    + Audio.frame("GEOB", [3] + ascii("a\0b\0c\0d"))
                    + Audio.frame("APIC", [0] + ascii("a\0") + [3, 0, 1], flags: 0x43)
            ) + Audio.adts()
        ),
        Fixture(name: "FLAC", bytes: Audio.flac(samples: 100_000, picture: 20, frames: 50)),
        Fixture(name: "Matroska", bytes: Containers.matroska(seconds: 4, step: 2).file),
        Fixture(name: "Ogg", bytes: Containers.opus(seconds: 1)),
        Fixture(name: "WAV", bytes: Array(Audio.wave(seconds: 1).prefix(100))),
    ]

    /// Calls every parser with the given bytes.
    static func readAll(_ bytes: [UInt8]) {
        let span = bytes.span
        _ = MediaContainer(span)
        _ = PackedAudioSummary(span)
        _ = ID3Tag(span)
        if let stream = TransportStreamSummary(span) { _ = stream.timeRange(upTo: stream) }
        _ = try? EventMessage(span)
        _ = try? ProducerReferenceTime(span)
        _ = try? SegmentIndex(span)
        let movie = (try? Movie(span)) ?? (try? Movie(span, at: Movies.fileType.count))
        if let movie {
            _ = movie.segments(minimumDuration: MediaTime(seconds: 1), in: span)
            for track in movie.tracks { _ = track.sampleTable?.syncSampleTimes(span) }
        }
        _ = FragmentedSegment(span, movie: movie)
        _ = FragmentRandomAccess.tables(span, at: 0)
        index(bytes)
    }

    static func index(_ bytes: [UInt8]) {
        guard
            var index = MediaFileIndexer(
                head: Array(bytes.prefix(600)),
                length: Int64(bytes.count),
                options: .init(minimumSegmentDuration: MediaTime(seconds: 1), maximumRequestCount: 20)
            )
        else { return }
        var requests = 0
        while case .needsBytes(let range) = index.state {
            requests += 1
            guard requests <= 20 else {
                Issue.record("more requests than allowed")
                return
            }
            index.add(Array(bytes.dropFirst(Int(clamping: range.start)).prefix(Int(clamping: range.length))))
        }
        guard case .ready(let timeline) = index.state else { return }
        if timeline.segments.count > Movie.maximumSegmentCount { Issue.record("more pieces than allowed") }
        for segment in timeline.segments where segment.timeRange.duration < .zero {
            Issue.record("a negative duration")
        }
        // Clients of a timeline round, add and format its times.
        for segment in timeline.segments {
            let (range, bytes) = (segment.timeRange, segment.byteRange)
            _ = (range.end.roundedSeconds, range.duration.duration, range.description, bytes.end, bytes.description)
        }
    }

    @Test(arguments: fixtures)
    func mutatedMediaDoesNotTrap(_ fixture: Fixture) {
        var random = SeededGenerator(seed: UInt64(fixture.bytes.count))
        let interesting: [UInt8] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF]
        for _ in 0..<Self.rounds {
            var bytes = fixture.bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[position] = interesting[Int.random(in: 0..<6, using: &random)]
                case 2: bytes[position] = UInt8.random(in: 0...255, using: &random)
                case 3:
                    for index in position..<min(bytes.count, position + 4) { bytes[index] = 0xFF }
                case 4: if bytes.count > 16 { bytes.removeSubrange(position..<min(bytes.count - 1, position + 3)) }
                case 5, 6:
                    let number = Self.extremeNumbers[Int.random(in: 0..<Self.extremeNumbers.count, using: &random)]
                    let width = [4, 8][Int.random(in: 0..<2, using: &random)]
                    let big = u64(number).suffix(width)
                    let spelled = Bool.random(using: &random) ? Array(big) : big.reversed()
                    for (index, byte) in zip(position..<bytes.count, spelled) { bytes[index] = byte }
                default: bytes.insert(0xFF, at: position)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            Self.readAll(bytes)
        }
    }

    /// Boundary values of 32-bit, 53-bit, 63-bit and 64-bit arithmetic, as 64-bit patterns.
    static let extremeNumbers: [Int] = [
        0, 1, -1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, 1 << 53, 1 << 62, .max - 1, .max, .min, .min + 1,
        1_000_000_000_000_000_000,
    ]

    @Test(arguments: fixtures)
    func extremeNumbersAtEveryOffsetDoNotTrap(_ fixture: Fixture) {
        var random = SeededGenerator(seed: UInt64(fixture.bytes.count) &* 31)
        // Small fixtures are changed at every offset, large ones at evenly spaced offsets.
        let step = max(1, fixture.bytes.count / Self.rounds)
        for position in stride(from: 0, to: fixture.bytes.count, by: step) {
            let number = Self.extremeNumbers[Int.random(in: 0..<Self.extremeNumbers.count, using: &random)]
            for width in [4, 8] {
                let big = u64(number).suffix(width)
                for spelled in [Array(big), big.reversed()] {
                    var bytes = fixture.bytes
                    for (index, byte) in zip(position..<bytes.count, spelled) { bytes[index] = byte }
                    Self.readAll(bytes)
                }
            }
        }
    }

    @Test(arguments: fixtures)
    func truncatedMediaDoesNotTrap(_ fixture: Fixture) {
        let step = max(1, fixture.bytes.count / 400)
        for length in stride(from: 0, to: fixture.bytes.count, by: step) {
            Self.readAll(Array(fixture.bytes.prefix(length)))
            Self.readAll(Array(fixture.bytes.suffix(length)))
        }
    }

    @Test func randomBytesDoNotTrap() {
        var random = SeededGenerator(seed: 99)
        for round in 0..<2_000 {
            var bytes = (0..<Int.random(in: 0..<400, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let starts = [
                ascii("\0\0\0\u{20}ftyp"), [0x47], ascii("ID3\u{4}"), [0xFF, 0xF1], [0x0B, 0x77], ascii("fLaC"),
                ascii("RIFF"),
            ]
            let start = starts[round % starts.count]
            if bytes.count > start.count { bytes.replaceSubrange(0..<start.count, with: start) }
            Self.readAll(bytes)
        }
    }

    /// The number of mutations of each fixture: `MILLSTREAM_MUTATIONS`, or a number that a debug build processes in a
    /// few seconds.
    static let rounds = ProcessInfo.processInfo.environment["MILLSTREAM_MUTATIONS"].flatMap { Int($0) } ?? 400
}

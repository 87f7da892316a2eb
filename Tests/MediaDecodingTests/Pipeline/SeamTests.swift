import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import SeededRandomness
import SegmentFormat
import StreamingEngine
import Synchronization
import Testing

@testable import MediaDecoding

/// Tests streams that are concatenated, damaged or subtitled.
@Suite(
    .timeLimit(.minutes(10)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct SeamTests {
    private func stream(
        _ playlist: String,
        replacing replacements: [String: [UInt8]] = [:],
        options: StreamingOptions = StreamingOptions()
    ) throws -> DecodedStream {
        try DecodedStream(
            playlist,
            in: try #require(SampleStreams.directory),
            replacing: replacements,
            options: options
        )
    }

    /// Two segments of a movie, eight seconds of an advertisement with another size, and the movie again.
    private static let stitched = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:6
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXTINF:6,
        ts/360p/0.ts
        #EXTINF:6,
        ts/360p/1.ts
        #EXT-X-DISCONTINUITY
        #EXTINF:4,
        ad/540p/0.ts
        #EXTINF:4,
        ad/540p/1.ts
        #EXT-X-DISCONTINUITY
        #EXTINF:6,
        ts/360p/5.ts
        #EXTINF:6,
        ts/360p/6.ts
        #EXT-X-ENDLIST
        """

    /// The frame numbers in the strips, for each thirtieth of a second.
    private static let numbers = Array(0..<360) + Array(0..<240) + Array(900..<1260)

    @Test func noFrameIsMissingAtDiscontinuities() async throws {
        let stream = try stream("stitched.m3u8", replacing: ["stitched.m3u8": Array(Self.stitched.utf8)])
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let shown = stream.shown.all
        #expect(shown.map { $0.reading?.frame ?? -1 } == Self.numbers)
        #expect(shown.map(\.time) == Self.numbers.indices.map { MediaTime(value: Int64($0), timescale: 30) })
        let onsets = BeepFinder.onsets(stream.audio.all)
        #expect(onsets.count >= 31)
        for onset in onsets.dropFirst() {
            #expect(abs(onset - onset.rounded()) < 0.02, "a beep at \(onset)")
        }
    }

    @Test func seeksAcrossDiscontinuitiesAreExact() async throws {
        let stream = try stream("stitched.m3u8", replacing: ["stitched.m3u8": Array(Self.stitched.utf8)])
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            for index in [359, 360, 599, 600, 959, 0, 480, 361, 598, 601] {
                _ = await stream.engine.seek(to: MediaTime(value: Int64(index), timescale: 30), tolerance: .exact)
                #expect(stream.shown.all.last?.reading?.frame == Self.numbers[index], "frame \(index)")
            }
            // Audio and video are still synchronized after these seeks.
            _ = await stream.engine.seek(to: MediaTime(value: 95, timescale: 10), tolerance: .exact)
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(6))
            let onsets = BeepFinder.onsets(stream.audio.all)
            #expect(onsets.count >= 5)
            for onset in onsets.dropFirst() { #expect(abs(onset - onset.rounded()) < 0.02, "a beep at \(onset)") }
        }
    }

    @Test func subtitlesAreDisplayedOnceAtTheirTimes() async throws {
        var options = StreamingOptions()
        options.selectionRules.subtitleLanguages = ["en"]
        options.selectionRules.subtitleMode = .always
        let stream = try stream("fmp4/multivariant.m3u8", options: options)
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let shown = stream.cues.all.filter { !$0.text.isEmpty }
        #expect(shown.count == 60)
        for (second, cue) in shown.enumerated() {
            #expect(cue.text == "English caption \(second) s")
            #expect(abs(cue.time / .seconds(1) - Double(second) - 0.2) < 0.02, "\(cue)")
        }
    }

    /// The buffer holds cues of the former option when another one is selected.
    @Test func subtitlesOfOneOptionAreDisplayedAtATime() async throws {
        var options = StreamingOptions()
        options.selectionRules.subtitleLanguages = ["en"]
        options.selectionRules.subtitleMode = .always
        let stream = try stream("fmp4/multivariant.m3u8", options: options)
        try await stream.run {
            let engine = stream.engine
            await engine.setRate(1)
            func select(_ language: String?, after seconds: Double) async throws {
                try await stream.simulation.sleep(for: .seconds(seconds))
                let group = engine.snapshot.presentation?.group(.subtitles)
                await engine.select(group?.options.first { $0.language == language }, for: .subtitles)
            }
            try await select("ko", after: 10.5)
            try await select(nil, after: 10)
            try await select("en", after: 10)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let shown = stream.cues.all
        #expect(shown.allSatisfy { !$0.text.contains("|") })
        func texts(_ interval: Range<Double>) -> [String] {
            shown.filter { interval.contains($0.time / .seconds(1)) && !$0.text.isEmpty }.map(\.text)
        }
        #expect(texts(0..<10.4).count == 11 && texts(0..<10.4).allSatisfy { $0.hasPrefix("English") })
        #expect(texts(12..<20.4).count == 9 && texts(12..<20.4).allSatisfy { !$0.hasPrefix("English") })
        #expect(texts(20.6..<30.4).isEmpty)
        #expect(texts(32..<60).count == 28 && texts(32..<60).allSatisfy { $0.hasPrefix("English") })
    }

    enum Damage: String, CaseIterable {
        case flipped, truncated, replaced, garbage, emptied
    }

    /// The number of trials, which `MILLSTREAM_TRIALS=1000` increases.
    private static let trials = ProcessInfo.processInfo.environment["MILLSTREAM_TRIALS"].flatMap { Int($0) } ?? 60

    private static func damaged(
        _ bytes: [UInt8],
        _ damage: Damage,
        _ random: inout some RandomNumberGenerator
    ) -> [UInt8] {
        var bytes = bytes
        switch damage {
        case .flipped:
            for _ in 0..<max(1, bytes.count / 100) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        case .truncated: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
        case .replaced: bytes = Array("#EXTM3U this is no segment".utf8) + bytes.reversed()
        case .garbage: bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &random) }
        case .emptied: bytes = []
        }
        return bytes
    }

    @Test(arguments: ["ts/180p", "fmp4/360p"]) func damagedSegmentDoesNotAffectOtherSegments(path: String) async throws
    {
        let folder = try #require(SampleStreams.directory)
        let isTransport = path.hasPrefix("ts")
        let (name, seconds) = isTransport ? ("ts", 6) : ("m4s", 4)
        let map = isTransport ? "" : "#EXT-X-MAP:URI=\"\(path)/init.mp4\"\n"
        let text = (0..<3).reduce("#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:6\n\(map)") {
            $0 + "#EXTINF:\(seconds),\n\(path)/\($1).\(name)\n"
        }
        let segment = [UInt8](try Data(contentsOf: folder.appendingPathComponent("\(path)/1.\(name)")))
        var random = SeededGenerator(seed: 11)
        for trial in 0..<Self.trials {
            let damage = Damage.allCases[trial % Damage.allCases.count]
            let stream = try stream(
                "damaged.m3u8",
                replacing: [
                    "damaged.m3u8": Array((text + "#EXT-X-ENDLIST\n").utf8),
                    "\(path)/1.\(name)": Self.damaged(segment, damage, &random),
                ]
            )
            try await stream.run {
                await stream.engine.setRate(1)
                try await stream.wait { $0.hasPlayedToEnd }
            }
            let shown = stream.shown.all
            let frames = seconds * 30
            // The frames before and after the damaged segment are complete.
            #expect(shown.prefix(frames).map { $0.reading?.frame ?? -1 } == Array(0..<frames), "\(damage) \(trial)")
            let last = shown.suffix(frames - 2).map { $0.reading?.frame ?? -1 }
            #expect(last == Array((frames * 2 + 2)..<(frames * 3)), "\(damage) \(trial)")
            let times = shown.map(\.time)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        }
    }
}

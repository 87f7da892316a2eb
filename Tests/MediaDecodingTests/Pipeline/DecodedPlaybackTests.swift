import Foundation
import HLSPlaylist
import MediaTiming
import MillstreamTesting
import PlaybackReporting
import SeededRandomness
import StreamingEngine
import Testing

@testable import MediaDecoding

/// Tests that each frame of a stream is displayed once, in order, at its time.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct DecodedPlaybackTests {
    static let playlists = [
        "ts/360p/media.m3u8", "fmp4/360p/media.m3u8", "byterange/360p/media.m3u8", "aes/360p/media.m3u8",
        "ad/240p/media.m3u8", "ts/multivariant.m3u8", "fmp4/multivariant.m3u8", "aes/multivariant.m3u8",
        "byterange/multivariant.m3u8",
    ]

    private func stream(_ playlist: String) throws -> DecodedStream {
        try DecodedStream(playlist, in: try #require(SampleStreams.directory))
    }

    @Test(arguments: playlists) func eachFrameIsDisplayedOnceAtItsTime(playlist: String) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let shown = stream.shown.all
        let duration = try #require(stream.engine.snapshot.duration)
        #expect(shown.count == Int((duration.seconds * 30).rounded()))
        let start = try #require(shown.first).shownAt
        for (index, frame) in shown.enumerated() {
            guard frame.reading?.frame == index, frame.time == MediaTime(value: Int64(index), timescale: 30),
                abs(((frame.shownAt - start) / .milliseconds(1)) - Double(index) * 1000 / 30) < 2
            else {
                Issue.record("frame \(index): \(frame.time) \(String(describing: frame.reading)) at \(frame.shownAt)")
                break
            }
        }
        #expect(stream.pipeline.frameCounts.dropped == 0)
    }

    @Test(arguments: ["ts/multivariant.m3u8", "fmp4/multivariant.m3u8"], VariantSwitchMode.allCases)
    func noFrameIsMissingWhenAVariantSwitchReplacesTheBuffer(
        playlist: String,
        mode: VariantSwitchMode
    ) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            await stream.engine.setRate(1)
            for (turn, second) in [5, 11, 26].enumerated() {
                try await stream.simulation.sleep(for: .seconds(second) - stream.simulation.now)
                let variants = stream.engine.snapshot.presentation?.variants ?? []
                let variant = try #require(turn % 2 == 0 ? variants.last : variants.first)
                await stream.engine.update {
                    $0.pinning = mode
                    $0.pinnedVariant = variant.id.text
                }
            }
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let frames = stream.shown.all.map { $0.reading?.frame ?? -1 }
        let duration = try #require(stream.engine.snapshot.duration)
        let wanted = Array(0..<Int((duration.seconds * 30).rounded()))
        #expect(frames == wanted, "\(frames.difference(from: wanted))")
        // The size that the engine reports follows that of the frames within one of them.
        let sizes = stream.shown.all
        let late = sizes.indices.dropFirst(2).filter { index in
            sizes[index].reportedSize != sizes[index - 1].size && sizes[index].reportedSize != sizes[index - 2].size
        }
        #expect(late.isEmpty && Set(sizes.map(\.size)).count > 1)
        let switches = stream.events.count { if case .variantSwitched(_, true) = $0.kind { true } else { false } }
        #expect(switches >= 2)
    }

    @Test(arguments: playlists) func exactSeekDisplaysTheExactFrame(playlist: String) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            let duration = try #require(stream.engine.snapshot.duration)
            let last = Int((duration.seconds * 30).rounded()) - 1
            // First and last frames of segments of 4 and 6 seconds, and frames in between, out of order.
            let targets = [0, last, 179, 180, 119, 120, 1, 541 % last, 239, 240, last - 1, 300, 59, 60, 61, 0]
            for frame in targets where frame <= last {
                let time = MediaTime(value: Int64(frame), timescale: 30)
                let result = await stream.engine.seek(to: time, tolerance: .exact)
                #expect(result.isFinished && result.position == time)
                let shown = try #require(stream.shown.all.last)
                #expect(shown.reading?.frame == frame, "\(frame) wanted, \(String(describing: shown.reading)) shown")
                // A time in the middle of a frame's duration selects that frame.
                let middle = MediaTime(value: Int64(frame * 2 + 1), timescale: 60)
                guard middle < duration else { continue }
                _ = await stream.engine.seek(to: middle, tolerance: .exact)
                #expect(stream.shown.all.last?.reading?.frame == frame)
            }
        }
    }

    @Test(arguments: [
        "ts/multivariant.m3u8", "fmp4/multivariant.m3u8", "aes/multivariant.m3u8", "byterange/multivariant.m3u8",
    ])
    func exactSeeksRemainExactWhenTheVariantChanges(playlist: String) async throws {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        options.preferredForwardBufferDuration = .seconds(6)
        let stream = try DecodedStream(playlist, in: try #require(SampleStreams.directory), options: options)
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            var heights: Set<Int> = []
            // Switch up and down in turns, and seek to times where another variant is buffered, or at the boundary
            // between variants.
            for (turn, frame) in [200, 380, 179, 541, 539, 180, 900, 719, 720, 0].enumerated() {
                await stream.engine.update {
                    $0.preferredMaximumResolution = turn % 2 == 0 ? Resolution(width: 640, height: 360) : nil
                }
                await stream.engine.setRate(1)
                try await stream.simulation.sleep(for: .seconds(7))
                await stream.engine.setRate(0)
                let time = MediaTime(value: Int64(frame), timescale: 30)
                let result = await stream.engine.seek(to: time, tolerance: .exact)
                #expect(result.isFinished && result.position == time)
                #expect(stream.shown.all.last?.reading?.frame == frame)
                if let height = stream.engine.snapshot.playedVariant?.height { heights.insert(height) }
            }
            #expect(heights.count > 1, "\(heights)")
        }
    }

    @Test(arguments: ["ts/360p/media.m3u8", "fmp4/multivariant.m3u8"])
    func tolerantSeekLandsOnAKeyFrame(playlist: String) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            _ = await stream.engine.seek(to: MediaTime(value: 219, timescale: 10), tolerance: .exact)
            let before = stream.pipeline.frameCounts.discarded
            #expect(before > 20)
            let any = await stream.engine.seek(to: MediaTime(value: 277, timescale: 10))
            // The nearest key frame is at 28 s, but its segment may not be loaded yet.
            #expect([26, 28].map { MediaTime(seconds: $0) }.contains(any.position))
            #expect(stream.shown.all.last?.reading?.frame == Int((any.position.seconds * 30).rounded()))
            #expect(stream.pipeline.frameCounts.discarded == before)
            let early = SeekTolerance(before: MediaTime(seconds: 2), after: .zero)
            let landed = await stream.engine.seek(to: MediaTime(value: 153, timescale: 10), tolerance: early)
            #expect(landed.position == MediaTime(seconds: 14))
            #expect(stream.shown.all.last?.reading?.frame == 420)
        }
    }

    @Test(arguments: ["ts/360p/media.m3u8", "fmp4/multivariant.m3u8", "aes/360p/media.m3u8"])
    func audioIsSynchronizedWithTheTimeline(playlist: String) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            await stream.engine.setRate(1)
            try await stream.wait { $0.hasPlayedToEnd }
        }
        let onsets = BeepFinder.onsets(stream.audio.all)
        #expect(onsets.count >= 50)
        for onset in onsets.dropFirst() {
            #expect(abs(onset - onset.rounded()) < 0.005, "a beep at \(onset)")
        }
    }
}

/// Tests that audio and video remain synchronized.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct SoundWithPicturesTests {
    @Test(arguments: ["ts/multivariant.m3u8", "fmp4/multivariant.m3u8"])
    func audioAndVideoAreSynchronizedAfterTwentySeeksAndSwitches(playlist: String) async throws {
        let stream = try DecodedStream(playlist, in: try #require(SampleStreams.directory))
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            let variants = stream.engine.snapshot.presentation?.variants ?? []
            var random = SeededGenerator(seed: 5)
            for turn in 0..<20 {
                let time = MediaTime(value: Int64.random(in: 0..<60_000, using: &random), timescale: 1_000)
                _ = await stream.engine.seek(to: time, tolerance: .exact)
                await stream.engine.setRate(1)
                try await stream.simulation.sleep(for: .milliseconds(1_300))
                await stream.engine.update {
                    $0.pinning = .atOnce
                    $0.pinnedVariant = variants[turn % variants.count].id.text
                }
                try await stream.simulation.sleep(for: .milliseconds(1_900))
            }
        }
        var beeps = 0
        for stretch in stream.audio.sections {
            // A seek may land in the middle of a beep.
            for onset in BeepFinder.onsets(stretch).dropFirst() {
                beeps += 1
                #expect(abs(onset - onset.rounded()) < 0.02, "a beep at \(onset)")
            }
        }
        #expect(beeps >= 30)
        // The strip in each frame contains its frame number.
        #expect(
            stream.shown.all.allSatisfy { frame in
                frame.reading.map { MediaTime(value: Int64($0.frame), timescale: 30) == frame.time } ?? false
            }
        )
        #expect(stream.events.count { if case .variantSwitched(_, true) = $0.kind { true } else { false } } >= 15)
    }
}

/// Finds the start times of the beeps, which the samples contain at each whole second.
enum BeepFinder {
    /// Returns the start times in seconds of the item, computed from the number of samples after the first one.
    static func onsets(_ audio: [AudioSamples]) -> [Double] {
        guard let first = audio.first else { return [] }
        let rate = Double(first.sampleRate)
        let samples = audio.flatMap { block in
            stride(from: 0, to: block.samples.count, by: max(1, block.channelCount)).map { block.samples[$0] }
        }
        var onsets: [Double] = []
        var quietSince = -10_000
        for (index, sample) in samples.enumerated() where abs(sample) > 0.15 {
            if index - quietSince > 4_800 { onsets.append(first.time.seconds + Double(index) / rate) }
            quietSince = index
        }
        return onsets
    }
}

/// Tests reverse playback, stepping and other rates.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: SampleStreams.areAvailable, "the sample streams were not made: run Scripts/make-samples")
)
struct DecodedRateTests {
    private func stream(_ playlist: String) throws -> DecodedStream {
        try DecodedStream(playlist, in: try #require(SampleStreams.directory))
    }

    @Test(arguments: ["ts/360p/media.m3u8", "fmp4/multivariant.m3u8"])
    func reversePlaybackDisplaysEachFrameOnceInReverseOrder(playlist: String) async throws {
        let stream = try stream(playlist)
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            _ = await stream.engine.seek(to: MediaTime(seconds: 13), tolerance: .exact)
            let first = stream.shown.all.count - 1
            await stream.engine.setRate(-1)
            try await stream.wait { $0.desiredRate < 0 }
            try await stream.wait { $0.desiredRate == 0 }
            let shown = stream.shown.all[first...]
            #expect(shown.map { $0.reading?.frame } == (0...390).reversed().map { $0 })
            let (begin, end) = (try #require(shown.dropFirst().first).shownAt, try #require(shown.last).shownAt)
            #expect(abs((end - begin) / .seconds(1) - 13) < 0.1)
            #expect(stream.engine.snapshot.timebase.rate == 0)
            // Play forward again.
            await stream.engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(2))
            let again = stream.shown.all.suffix(30).map { $0.reading?.frame ?? -1 }
            #expect(again == Array(again[0]..<(again[0] + 30)))
        }
    }

    @Test func fastReversePlaybackDisplaysOnlyKeyFrames() async throws {
        let stream = try stream("ts/360p/media.m3u8")
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            _ = await stream.engine.seek(to: MediaTime(seconds: 61), tolerance: .exact)
            let first = stream.shown.all.count
            await stream.engine.setRate(-8)
            try await stream.wait { $0.desiredRate < 0 }
            try await stream.wait { $0.desiredRate == 0 }
            let shown = stream.shown.all[first...].map { $0.reading?.frame ?? -1 }
            #expect(shown == (0...30).reversed().map { $0 * 60 })
        }
    }

    @Test func stepsWorkInBothDirections() async throws {
        let stream = try stream("fmp4/360p/media.m3u8")
        try await stream.run {
            try await stream.wait { $0.status == .readyToPlay }
            _ = await stream.engine.seek(to: MediaTime(seconds: 4), tolerance: .exact)
            var frame = 120
            for step in [1, 1, 1, -1, -1, -1, -1, -2, 3, 10, -20] {
                #expect(await stream.engine.step(by: step))
                frame += step
                #expect(stream.shown.all.last?.reading?.frame == frame)
                #expect(stream.engine.snapshot.timebase.mediaTime == MediaTime(value: Int64(frame), timescale: 30))
            }
            _ = await stream.engine.seek(to: .zero, tolerance: .exact)
            #expect(await stream.engine.step(by: -1) == false)
            await stream.engine.setRate(1)
            #expect(await stream.engine.step(by: 1) == false)
        }
    }

    @Test(arguments: [0.5, 2, 8, 32]) func mediaTimeAdvancesAtTheRate(rate: Double) async throws {
        let stream = try stream("ts/360p/media.m3u8")
        try await stream.run {
            await stream.engine.setRate(rate)
            try await stream.wait { $0.timebase.rate != 0 }
            let begin = stream.engine.snapshot.timebase.mediaTime(at: stream.simulation.now)
            let count = min(20, 60 / rate)
            try await stream.simulation.sleep(for: .seconds(count))
            let passed = stream.pipeline.timebase.mediaTime(at: stream.simulation.now) - begin
            #expect(abs(passed.seconds - count * rate) < count * rate * 0.02)
            let times = stream.shown.all.map(\.time)
            #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
            let seconds = stream.audio.all.reduce(0) { $0 + $1.duration.seconds }
            if rate < 4 { #expect(abs(seconds - count) < 0.6) } else { #expect(seconds == 0) }
        }
    }
}

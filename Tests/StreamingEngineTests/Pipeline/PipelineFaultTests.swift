import MediaTiming
import MillstreamTesting
import NIOCore
import PlaybackReporting
import SegmentFormat
import Testing

@testable import StreamingEngine

/// A pipeline that has only the functions without a default.
private struct BarePipeline: MediaPipeline {
    var timebase: Timebase { Timebase() }
    var frameCounts: FrameCounts { FrameCounts() }
    var events: AsyncStream<MediaPipelineEvent> { AsyncStream { $0.finish() } }

    func canDecode(_ codecs: [String]) -> Bool { false }
    func append(_ segment: PipelineSegment) async throws -> MediaTimeRange { segment.range }
    func discard(_ type: MediaType, in range: MediaTimeRange) async {}
    func seek(to time: MediaTime, tolerance: SeekTolerance) async throws -> MediaTime { time }
    func setRate(_ rate: Double, at time: Duration?) async {}
    func close() async {}
}

/// Tests of the values that are exchanged with pipelines, and of the pipeline that decodes nothing.
@Suite struct PipelineFaultTests {
    private static func range(_ start: String, _ end: String) -> MediaTimeRange {
        MediaTimeRange(start: seconds(start), end: seconds(end))
    }

    private static func segment(_ type: MediaType, _ start: String, _ end: String) -> PipelineSegment {
        PipelineSegment(
            type: type,
            content: .gap,
            range: range(start, end),
            discontinuityDomain: .init(playlist: "p", sequence: 1)
        )
    }

    // MARK: Defaults

    @Test func pipelineHasNoCapabilitiesByDefault() async {
        let pipeline = BarePipeline()
        let step = await pipeline.step(by: 1)
        #expect(step == nil && pipeline.videoSize == nil)
        let none = MediaPipelineCapabilities()
        #expect(pipeline.capabilities == none && !none.supportsReversePlayback && !none.supportsStepping)
        #expect(!none.supportsDisablingTracks && none.fullPresentationRates == -.infinity ... .infinity)
        let all = MediaPipelineCapabilities(
            supportsReversePlayback: true,
            supportsStepping: true,
            supportsDisablingTracks: true,
            fullPresentationRates: 0...2
        )
        #expect(all.supportsReversePlayback && all.supportsStepping && all.supportsDisablingTracks)
        #expect(all.fullPresentationRates == 0...2)
        await pipeline.run()
        await pipeline.selectCaptions("CC1")
    }

    @Test(
        arguments: [
            (.notDecodable, "notDecodable", -11_821), (.unsupported, "unsupported", -11_833),
            (.noMedia, "nothingThere", -11_832), (.deviceLost, "lost", -11_819),
        ] as [(MediaPipelineError.Code, String, Int)]
    )
    func errorHasTheNumberOfItsCode(code: MediaPipelineError.Code, text: String, number: Int) {
        let error = MediaPipelineError(code, "the media is damaged")
        #expect(error.code == code && error.message == "the media is damaged")
        #expect(code.rawValue == text && code.number == number)
    }

    @Test func segmentHasTheSizeOfItsMedia() {
        let gap = Self.segment(.audio, "0", "6")
        #expect(gap.byteCount == 0 && gap.filePosition == nil && gap.variant == nil && gap.sampleProtection == nil)
        #expect(!gap.declaresOwnDuration)
        let position = PipelineSegment.FilePosition(
            offset: 3,
            firstTimestamp: MediaTime(seconds: 2),
            beginsWithinFrames: true,
            isLast: false
        )
        let initialization = PipelineSegment.Initialization(id: "i", bytes: [1])
        let media = PipelineSegment(
            type: .video,
            content: .media(ByteBuffer(repeating: 1, count: 7), initialization: initialization),
            range: Self.range("0", "6"),
            discontinuityDomain: .init(playlist: "p", sequence: 1),
            sampleProtection: .init(method: "SAMPLE-AES", key: [1], initializationVector: [2]),
            position: position
        )
        #expect(media.byteCount == 7 && media.filePosition == position && position.container == nil)
        #expect(position.offset == 3 && position.beginsWithinFrames && !position.isLast && position.earlierLength == 0)
        #expect(media.sampleProtection?.key == [1] && media.sampleProtection?.initializationVector == [2])
    }

    // MARK: Tracks

    @Test(arguments: MediaContainer.allCases) func trackHasAnIdentifierInSomeContainers(container: MediaContainer) {
        let hasIdentifier = container == .isoBaseMedia || container == .transportStream
        #expect(FileTrack(id: 7, position: 2, in: container) == (hasIdentifier ? .id(7) : .position(2)))
    }

    @Test func trackIsFoundAmongThoseOfItsType() {
        #expect(FileTrack(id: 7, position: 2, in: nil) == .position(2))
        let tracks = [
            MediaTrack(id: 1, mediaType: .video, codec: "a"), MediaTrack(id: 2, mediaType: .audio, codec: "b"),
            MediaTrack(id: 3, mediaType: .audio, codec: "c"),
        ]
        #expect(FileTrack.id(3).track(in: tracks, of: .audio)?.codec == "c")
        #expect(FileTrack.id(1).track(in: tracks, of: .audio) == nil)
        #expect((0..<3).map { FileTrack.position($0).track(in: tracks, of: .audio)?.codec } == ["b", "c", nil])
        #expect(FileTrack.position(-1).track(in: tracks, of: .audio) == nil)
    }

    // MARK: Audio

    @Test func audioHasItsOriginalVolumeByDefault() {
        let settings = AudioSettings()
        #expect(settings.volume == 1 && !settings.isMuted && settings.mix.isEmpty)
        #expect(settings.pitchAlgorithm == .timeDomain)
        let volumes = [-0.1, 0, 0.3, 1, 1.1, .nan].map { AudioSettings(volume: $0).volume }
        #expect(volumes == [0, 0, 0.3, 1, 1, 0])
        var changed = AudioSettings(volume: 0.5, isMuted: true, pitchAlgorithm: .varispeed)
        #expect(changed.volume == 0.5 && changed.isMuted && changed.pitchAlgorithm == .varispeed)
        changed.volume = .nan
        #expect(changed.volume == 0)
        changed.volume = 0.25
        #expect(changed.volume == 0.25)
    }

    @Test func volumeOfAMixIsSixteenAtMost() {
        var mix = AudioMix()
        for (second, volume) in [0, 15.5, 16, 16.5, -0.5].enumerated() {
            mix.setVolume(volume, at: MediaTime(seconds: Int64(second)))
        }
        #expect((0..<5).map { mix.volume(at: MediaTime(seconds: $0)) } == [0, 15.5, 16, 16, 0])
        #expect(!mix.isEmpty)
    }

    @Test func rampEndsWithExactlyItsLastVolume() {
        var mix = AudioMix()
        mix.setVolumeRamp(from: 1, to: 0.1, during: Self.range("10", "12"))
        #expect(["10", "11", "12", "13"].map { mix.volume(at: seconds($0)) } == [1, 0.55, 0.1, 0.1])
    }

    @Test func settingsOfTheSameStartReplaceEachOther() {
        var mix = AudioMix()
        mix.setVolumeRamp(from: 0, to: 1, during: Self.range("10", "20"))
        mix.setVolumeRamp(from: 1, to: 0, during: Self.range("0", "4"))
        mix.setVolumeRamp(from: 1, to: 0.5, during: Self.range("10", "12"))
        let volumes = ["-1", "0", "1", "4", "9", "10", "11", "12", "15"].map { mix.volume(at: seconds($0)) }
        #expect(volumes == [1, 1, 0.75, 0, 0, 1, 0.75, 0.5, 0.5])
        #expect(mix.slopeChanges(in: Self.range("0", "20")) == ["4", "10", "12"].map { seconds($0) })
        #expect(mix.slopeChanges(in: Self.range("-1", "10")) == ["0", "4"].map { seconds($0) })
    }

    // MARK: Times

    @Test(
        arguments: [
            (2, "10", 100), (2, "14", 102), (2, "9.999", nil), (-1, "7", 103), (-1, "10", 100), (-1, "10.001", nil),
            (0, "10", 100),
        ] as [(Double, String, Int?)]
    )
    func timeIsReachedInTheDirectionOfTheRate(rate: Double, target: String, time: Int?) {
        let timebase = Timebase(mediaTime: MediaTime(seconds: 10), time: .seconds(100), rate: rate)
        #expect(timebase.time(reaching: seconds(target)) == time.map { Duration.seconds($0) })
    }

    @Test func timebaseIsPausedAtZeroByDefault() {
        let timebase = Timebase()
        #expect(timebase.mediaTime == .zero && timebase.time == .zero && timebase.rate == 0)
        let reverse = Timebase(mediaTime: MediaTime(seconds: 10), time: .seconds(1), rate: -2)
        let forward = Timebase(mediaTime: seconds("6"), time: .seconds(3), rate: 1)
        #expect(reverse.continued(at: .seconds(3), rate: 1) == forward)
    }

    @Test func toleranceOfOneDirectionIsThatOfIt() {
        let target = MediaTime(seconds: 10)
        let before = SeekTolerance(before: nil, after: .zero)
        #expect(before.permits(.zero, for: target) && !before.permits(seconds("10.001"), for: target))
        let after = SeekTolerance(before: .zero, after: nil)
        #expect(after.permits(seconds("99"), for: target) && !after.permits(seconds("9.999"), for: target))
        #expect(SeekTolerance.exact.permits(target, for: target) && !SeekTolerance.exact.permits(.zero, for: target))
    }

    // MARK: Pipeline without decoding

    /// Seeks to 5 s, where key frames are 2 s apart.
    private func landing(
        _ segments: [PipelineSegment],
        _ tolerance: SeekTolerance = .any,
        interval: Int64 = 2
    ) async throws -> MediaTime {
        let pipeline = NonDecodingPipeline(time: Simulation(), keyFrameInterval: MediaTime(seconds: interval))
        for segment in segments {
            let range = try await pipeline.append(segment)
            #expect(range == segment.range)
        }
        let landed = try await pipeline.seek(to: MediaTime(seconds: 5), tolerance: tolerance)
        #expect(pipeline.timebase.mediaTime == landed)
        return landed
    }

    @Test func seekLandsOnAKeyFrameThatIsLoaded() async throws {
        let exact = try await landing([], .exact)
        #expect(exact == seconds("5"))
        let near = try await landing([], SeekTolerance(before: seconds("0.999"), after: nil))
        #expect(near == seconds("5"))
        let second = SeekTolerance(before: seconds("1"), after: .zero)
        let loaded = try await landing([Self.segment(.video, "4", "6")], second)
        #expect(loaded == seconds("4"))
        let missing = try await landing([Self.segment(.video, "4.5", "6")])
        #expect(missing == seconds("5"))
        let other = try await landing([Self.segment(.video, "0", "6"), Self.segment(.audio, "4.5", "6")])
        #expect(other == seconds("5"))
        let elsewhere = try await landing([Self.segment(.video, "10", "16")])
        #expect(elsewhere == seconds("4"))
        let without = try await landing([Self.segment(.video, "0", "6")], interval: 0)
        #expect(without == seconds("5"))
        let everySecond = try await landing([Self.segment(.video, "0", "6")], interval: 1)
        #expect(everySecond == seconds("5"))
    }

    @Test func discardedMediaIsNotThere() async throws {
        let pipeline = NonDecodingPipeline(time: Simulation())
        _ = try await pipeline.append(Self.segment(.video, "0", "6"))
        await pipeline.discard(.audio, in: Self.range("0", "4.5"))
        let first = try await pipeline.seek(to: seconds("5"), tolerance: .any)
        await pipeline.discard(.video, in: Self.range("0", "4.5"))
        let second = try await pipeline.seek(to: seconds("5"), tolerance: .any)
        #expect(first == seconds("4") && second == seconds("5"))
    }

    @Test func eachSeekShowsAFrame() async throws {
        let pipeline = NonDecodingPipeline(time: Simulation())
        #expect(pipeline.canDecode(["xxxx"]) && pipeline.frameCounts == FrameCounts() && pipeline.videoSize == nil)
        #expect(pipeline.capabilities == MediaPipelineCapabilities(supportsReversePlayback: true))
        _ = try await pipeline.seek(to: seconds("5"), tolerance: .any)
        _ = try await pipeline.seek(to: seconds("7"), tolerance: .any)
        await pipeline.close()
        var events: [MediaPipelineEvent] = []
        for await event in pipeline.events { events.append(event) }
        #expect(events == [.firstFrame, .firstFrame])
    }

    @Test func positionAdvancesFromTheTimeOfTheRate() async throws {
        let simulation = Simulation()
        let times = try await simulation.run {
            let pipeline = NonDecodingPipeline(time: simulation)
            var times: [MediaTime] = []
            func note(after delay: Int) async throws {
                try await simulation.sleep(for: .seconds(delay))
                times.append(pipeline.timebase.mediaTime(at: simulation.now))
            }
            await pipeline.setRate(2, at: nil)
            try await note(after: 3)
            let start = simulation.now + .seconds(2)
            await pipeline.setRate(1, at: start)
            #expect(pipeline.timebase == Timebase(mediaTime: MediaTime(seconds: 6), time: start, rate: 1))
            try await note(after: 1)
            try await note(after: 2)
            // The rate is that of the start in the past.
            await pipeline.setRate(-1, at: nil)
            try await note(after: 2)
            // A start in the future is replaced before it is reached.
            await pipeline.setRate(1, at: simulation.now + .seconds(5))
            try await note(after: 1)
            await pipeline.setRate(0, at: nil)
            try await note(after: 9)
            // A time that is not in the future is now.
            await pipeline.setRate(1, at: simulation.now)
            try await note(after: 1)
            _ = try await pipeline.seek(to: MediaTime(seconds: 20), tolerance: .exact)
            #expect(pipeline.timebase.rate == 1)
            try await note(after: 1)
            await pipeline.setRate(1, at: simulation.now + .seconds(5))
            _ = try await pipeline.seek(to: MediaTime(seconds: 30), tolerance: .exact)
            try await note(after: 9)
            #expect(pipeline.timebase.rate == 0)
            return times
        }
        #expect(times == [6, 6, 7, 5, 5, 5, 6, 21, 30].map { MediaTime(seconds: $0) })
    }
}

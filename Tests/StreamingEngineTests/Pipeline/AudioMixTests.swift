import MediaTiming
import StreamingEngine
import Testing

@Suite struct AudioMixTests {
    private func time(_ seconds: Double) -> MediaTime { MediaTime(approximating: seconds) ?? .zero }

    private func range(_ start: Double, _ end: Double) -> MediaTimeRange {
        MediaTimeRange(start: time(start), duration: time(end - start))
    }

    @Test func aVolumeAppliesUntilTheNextOne() {
        var mix = AudioMix()
        #expect(mix.isEmpty && mix.volume(at: time(3)) == 1)
        mix.setVolume(0.5, at: time(4))
        mix.setVolume(0.25, at: time(2))
        #expect([1.9, 2, 3.9, 4, 100].map { mix.volume(at: time($0)) } == [1, 0.25, 0.25, 0.5, 0.5])
        mix.setVolume(0.75, at: time(4))
        #expect(mix.volume(at: time(4)) == 0.75)
    }

    @Test func aRampIsLinear() {
        var mix = AudioMix()
        mix.setVolumeRamp(from: 1, to: 0, during: range(10, 12))
        #expect([9, 10, 10.5, 11, 12, 13].map { mix.volume(at: time($0)) } == [1, 1, 0.75, 0.5, 0, 0])
        // A later setting replaces earlier ones, also in the middle of a ramp.
        mix.setVolume(0.9, at: time(11))
        #expect([10.5, 11, 12].map { mix.volume(at: time($0)) } == [0.75, 0.9, 0.9])
    }

    @Test func volumesAreClamped() {
        var mix = AudioMix()
        mix.setVolume(.nan, at: .zero)
        mix.setVolume(-3, at: time(1))
        mix.setVolume(.infinity, at: time(2))
        #expect([0, 1, 2].map { mix.volume(at: time($0)) } == [0, 0, 16])
        var settings = AudioSettings(volume: 7)
        #expect(settings.volume == 1)
        settings.volume = -.infinity
        #expect(settings.volume == 0)
    }

    @Test func turningPointsAreWithinTheRange() {
        var mix = AudioMix()
        mix.setVolumeRamp(from: 1, to: 0, during: range(1, 2))
        mix.setVolume(1, at: time(2))
        mix.setVolume(0.5, at: time(5))
        #expect(mix.slopeChanges(in: range(1, 5)) == [time(2)])
        #expect(mix.slopeChanges(in: range(0, 9)) == [time(1), time(2), time(5)])
    }
}

import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct SilentOutputTests {
    private let time = ManualTime()

    private func sound(_ frames: Int) -> AudioSamples {
        AudioSamples(time: .zero, sampleRate: 1000, channelCount: 1, samples: [Float](repeating: 0, count: frames))
    }

    @Test func silentOutputConsumesSamplesInRealTimeExceptWhilePaused() throws {
        let output = SilentOutput(time: time)
        _ = try output.start(SoundFormat(sampleRate: 1000, channelCount: 1))
        try output.enqueue(sound(500))
        time.advance(by: .seconds(3))
        #expect(output.queuedDuration == .milliseconds(500))
        output.resume()
        time.advance(by: .milliseconds(200))
        #expect(output.queuedDuration == .milliseconds(300))
        output.pause()
        time.advance(by: .seconds(1))
        #expect(output.queuedDuration == .milliseconds(300))
        output.resume()
        time.advance(by: .milliseconds(350))
        #expect(output.queuedDuration == .zero)
        #expect(output.starvedDuration == .milliseconds(50))
        output.flush()
        time.advance(by: .seconds(1))
        #expect(output.starvedDuration == .milliseconds(50))
    }

    @Test func moreThanTwoSecondsAreRejected() throws {
        let output = SilentOutput(time: time)
        _ = try output.start(SoundFormat(sampleRate: 1000, channelCount: 1))
        try output.enqueue(sound(2000))
        let error = #expect(throws: OutputError.self) { try output.enqueue(sound(1)) }
        #expect(error?.code == .queueFull)
    }

    @Test func audioOfAnotherFormatIsRejected() throws {
        let output = SilentOutput(time: time)
        let error = #expect(throws: OutputError.self) { try output.enqueue(sound(1)) }
        #expect(error?.code == .wrongFormat)
    }
}

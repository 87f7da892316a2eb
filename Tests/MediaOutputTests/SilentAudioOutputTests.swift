import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct SilentAudioOutputTests {
    private let time = ManualTime()

    private func audio(_ frames: Int) -> AudioSamples {
        AudioSamples(time: .zero, sampleRate: 1000, channelCount: 1, samples: [Float](repeating: 0, count: frames))
    }

    @Test func silentOutputConsumesSamplesInRealTimeExceptWhilePaused() throws {
        let output = SilentAudioOutput(time: time)
        _ = try output.start(AudioFormat(sampleRate: 1000, channelCount: 1))
        try output.enqueue(audio(500))
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
        #expect(output.underrunDuration == .milliseconds(50))
        output.flush()
        time.advance(by: .seconds(1))
        #expect(output.underrunDuration == .milliseconds(50))
    }

    @Test func moreThanTwoSecondsAreRejected() throws {
        let output = SilentAudioOutput(time: time)
        _ = try output.start(AudioFormat(sampleRate: 1000, channelCount: 1))
        try output.enqueue(audio(2000))
        let error = #expect(throws: OutputError.self) { try output.enqueue(audio(1)) }
        #expect(error?.code == .queueFull)
    }

    @Test func audioOfAnotherFormatIsRejected() throws {
        let output = SilentAudioOutput(time: time)
        let error = #expect(throws: OutputError.self) { try output.enqueue(audio(1)) }
        #expect(error?.code == .wrongFormat)
    }
}

import Foundation
import MediaDecoding
import MediaTiming
import Synchronization
import Testing

@testable import MediaOutput

/// The tests are serialized, because the audio driver is selected for the whole process.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AudioDeviceOutputTests {
    private let format = AudioFormat(sampleRate: 48_000, channelCount: 2)

    private func audio(_ frames: Int, _ value: (Int) -> Float = { _ in 0.5 }) -> AudioSamples {
        let samples = (0..<frames).flatMap { [value($0), -value($0)] }
        return AudioSamples(time: .zero, sampleRate: 48_000, channelCount: 2, samples: samples)
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        while !condition() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func deviceConsumesSamplesInRealTime() async throws {
        setenv("SDL_AUDIODRIVER", "dummy", 1)
        let output = AudioDeviceOutput(fallback: .none)
        #expect(try output.start(format) == format)
        #expect(output.hasDevice && output.isRealTime)
        try output.enqueue(audio(9_600))
        let queued = output.queuedDuration
        #expect(queued >= .milliseconds(200) && queued < .milliseconds(240))
        let begin = ContinuousClock.now
        output.resume()
        try await waitUntil { output.underrunDuration > .zero }
        let passed = ContinuousClock.now - begin
        #expect(passed > .milliseconds(150))
        output.finish()
        #expect(!output.hasDevice && output.queuedDuration == .zero)
    }

    @Test func queuedDurationDecreasesContinuously() async throws {
        setenv("SDL_AUDIODRIVER", "dummy", 1)
        let output = AudioDeviceOutput(fallback: .none)
        _ = try output.start(format)
        try output.enqueue(audio(48_000))
        output.resume()
        try await waitUntil { output.queuedDuration < .milliseconds(900) }
        let begin = ContinuousClock.now
        var last = output.queuedDuration
        let first = last
        for _ in 0..<40 {
            try await Task.sleep(for: .milliseconds(2))
            let current = output.queuedDuration
            // A new buffer of 10 ms must not be visible as a step, except for the delay of the device.
            #expect(current - last < .milliseconds(5))
            last = current
        }
        let passed = ContinuousClock.now - begin
        let error = (first - last) - passed
        #expect(error < .milliseconds(20) && error > .milliseconds(-250))
        output.finish()
    }

    @Test func samplesAreOutputUnchanged() async throws {
        let folder = try TemporaryFolder()
        setenv("SDL_AUDIODRIVER", "disk", 1)
        setenv("SDL_DISKAUDIOFILE", folder.path + "/sound.raw", 1)
        let output = AudioDeviceOutput(fallback: .none)
        _ = try output.start(format)
        try output.enqueue(audio(4_800) { Float($0 + 1) / 8_192 })
        output.resume()
        try await waitUntil { output.underrunDuration > .milliseconds(20) }
        output.finish()
        let bytes = try folder.bytes("sound.raw")
        let heard = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let begin = try #require(heard.firstIndex { $0 != 0 })
        #expect(begin % 2 == 0)
        #expect(Array(heard[begin..<begin + 9_600]) == audio(4_800) { Float($0 + 1) / 8_192 }.samples)
        #expect(heard[(begin + 9_600)...].allSatisfy { $0 == 0 })
    }

    @Test func mutedAudioIsSilent() async throws {
        let folder = try TemporaryFolder()
        setenv("SDL_AUDIODRIVER", "disk", 1)
        setenv("SDL_DISKAUDIOFILE", folder.path + "/sound.raw", 1)
        let output = AudioDeviceOutput(fallback: .none)
        output.setVolume(1, isMuted: true)
        _ = try output.start(format)
        try output.enqueue(audio(2_400))
        output.resume()
        try await waitUntil { output.underrunDuration > .milliseconds(20) }
        output.finish()
        #expect(try folder.bytes("sound.raw").allSatisfy { $0 == 0 || $0 == 0x80 })
    }

    @Test func silentFallbackKeepsTheTimeAndReportsTheProblem() throws {
        setenv("SDL_AUDIODRIVER", "none-such", 1)
        let problems = Mutex<[OutputError]>([])
        let time = ManualTime()
        let output = AudioDeviceOutput(time: time, onError: { problem in problems.withLock { $0.append(problem) } })
        #expect(try output.start(format) == format)
        #expect(!output.hasDevice)
        #expect(problems.withLock { $0.map(\.code) } == [.noAudioDevice])
        try output.enqueue(audio(4_800))
        output.resume()
        time.advance(by: .milliseconds(40))
        #expect(output.queuedDuration == .milliseconds(60))
        let strict = AudioDeviceOutput(fallback: .none)
        let error = #expect(throws: OutputError.self) { try strict.start(format) }
        #expect(error?.code == .noAudioDevice)
    }

    /// The SDL driver that writes to a disk treats a full disk as a lost device.
    @Test(.enabled(if: DeviceFiles.hasFullDisk, "there is no /dev/full"))
    func lostDeviceIsReportedOnceAndTimeContinues() async throws {
        setenv("SDL_AUDIODRIVER", "disk", 1)
        setenv("SDL_DISKAUDIOFILE", "/dev/full", 1)
        let problems = Mutex<[OutputError]>([])
        let output = AudioDeviceOutput(
            fallback: .none,
            onError: { problem in problems.withLock { $0.append(problem) } }
        )
        _ = try output.start(format)
        output.resume()
        for _ in 0..<20 {
            try output.enqueue(audio(2_400))
            try await waitUntil { output.queuedDuration < .milliseconds(40) }
        }
        #expect(problems.withLock { $0.map(\.code) } == [.audioDeviceLost])
        #expect(!output.hasDevice)
        output.finish()
    }

    @Test func audioBeforeTheStartAndInvalidFormatsAreRejected() throws {
        let output = AudioDeviceOutput()
        let error = #expect(throws: OutputError.self) { try output.enqueue(audio(1)) }
        #expect(error?.code == .wrongFormat)
        let odd = #expect(throws: OutputError.self) { try output.start(AudioFormat(sampleRate: 0, channelCount: 2)) }
        #expect(odd?.code == .wrongFormat)
    }

    @Test func bufferDurationIsAboutTenMilliseconds() {
        for rate in [8_000, 22_050, 44_100, 48_000, 96_000, 192_000] {
            let frames = Int(AudioDevice.bufferFrames(sampleRate: rate))
            #expect(frames.nonzeroBitCount == 1)
            #expect((5.0...13).contains(Double(frames) / Double(rate) * 1000))
        }
    }
}

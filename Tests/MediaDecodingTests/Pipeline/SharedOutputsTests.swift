import MediaTiming
import Synchronization
import Testing

@testable import MediaDecoding

/// Tests which of the items that share the outputs is audible.
struct SharedOutputsTests {
    /// An audio output that records its calls.
    private final class CallRecorder: AudioOutput {
        private let calls = Mutex<[String]>([])

        var all: [String] { calls.withLock { $0 } }

        func start(_ format: AudioFormat) -> AudioFormat { format }
        func enqueue(_ samples: AudioSamples) { append("enqueue \(samples.time.seconds)") }
        var queuedDuration: Duration { .zero }
        var underrunDuration: Duration { .zero }
        var isRealTime: Bool { true }
        func flush() { append("flush") }
        func pause() { append("pause") }
        func resume() { append("resume") }
        func setVolume(_ volume: Double, isMuted: Bool) { append("volume \(volume)") }
        func finish() {}

        private func append(_ call: String) { calls.withLock { $0.append(call) } }
    }

    private static func samples(at seconds: Int64) -> AudioSamples {
        AudioSamples(time: MediaTime(value: seconds, timescale: 1), sampleRate: 48_000, channelCount: 1, samples: [0])
    }

    /// The decoding thread of the former item learns later than its successor that it was replaced.
    @Test func replacedItemNeitherPlaysNorPausesTheDevice() throws {
        let device = CallRecorder()
        let outputs = SharedOutputs(audio: device)
        let former = outputs.makeItemOutput()
        let successor = outputs.makeItemOutput()
        former.beginPlayback()
        try former.enqueue(Self.samples(at: 1))
        former.resume()
        successor.beginPlayback()
        try successor.enqueue(Self.samples(at: 2))
        successor.resume()
        try former.enqueue(Self.samples(at: 3))
        former.flush()
        former.pause()
        former.resume()
        #expect(device.all == ["enqueue 1.0", "resume", "enqueue 2.0", "resume"])
    }

    @Test func itemThatContinuesIsAudibleAgain() throws {
        let device = CallRecorder()
        let outputs = SharedOutputs(audio: device)
        let former = outputs.makeItemOutput()
        let successor = outputs.makeItemOutput()
        former.setVolume(0.25, isMuted: false)
        former.beginPlayback()
        successor.setVolume(0.5, isMuted: false)
        successor.beginPlayback()
        successor.pause()
        successor.endPlayback()
        former.beginPlayback()
        try former.enqueue(Self.samples(at: 4))
        former.resume()
        successor.pause()
        let expected = ["volume 0.25", "volume 0.25", "volume 0.5", "pause", "volume 0.25", "enqueue 4.0", "resume"]
        #expect(device.all == expected)
    }

    @Test func itemWithoutPlaybackIsInaudible() throws {
        let device = CallRecorder()
        let prepared = SharedOutputs(audio: device).makeItemOutput()
        prepared.flush()
        try prepared.enqueue(Self.samples(at: 0))
        prepared.resume()
        #expect(device.all.isEmpty)
    }
}

import MediaDecoding
import Testing

@testable import MediaOutput

@Suite struct AudioSampleQueueTests {
    private let format = AudioFormat(sampleRate: 1000, channelCount: 2)

    private func queue(gain: Float = 1) -> AudioSampleQueue {
        AudioSampleQueue(format, capacity: .seconds(1), deviceLatency: .milliseconds(10), gain: gain)
    }

    private func take(_ frames: Int, from queue: AudioSampleQueue, at now: Duration) -> [Float] {
        var buffer = [Float](repeating: 9, count: frames * 2)
        buffer.withUnsafeMutableBufferPointer { queue.fill($0, at: now) }
        return buffer
    }

    @Test func queuedDurationIncludesTheBufferAndTheDeviceLatency() {
        let queue = queue()
        #expect(queue.enqueue([Float](repeating: 0.5, count: 200)))
        queue.setPaused(false)
        #expect(queue.queuedDuration(at: .zero) == .milliseconds(110))
        _ = take(20, from: queue, at: .seconds(1))
        // 80 ms are queued, 20 ms were just taken, and the latency of the device is 10 ms.
        #expect(queue.queuedDuration(at: .seconds(1)) == .milliseconds(110))
        #expect(queue.queuedDuration(at: .milliseconds(1_015)) == .milliseconds(95))
        // The device is late: the duration does not decrease below that of the queued samples plus the latency.
        #expect(queue.queuedDuration(at: .seconds(2)) == .milliseconds(90))
    }

    @Test func pausedQueueReturnsSilenceAndKeepsItsSamples() {
        let queue = queue()
        #expect(queue.enqueue([0.25, 0.5]))
        #expect(take(2, from: queue, at: .zero) == [0, 0, 0, 0])
        queue.setPaused(false)
        #expect(take(1, from: queue, at: .zero) == [0.25, 0.5])
        #expect(queue.underrunDuration == .zero)
    }

    @Test func underrunsAreCountedOnlyAfterPlaybackStarts() {
        let queue = queue()
        queue.setPaused(false)
        _ = take(50, from: queue, at: .zero)
        #expect(queue.underrunDuration == .zero)
        #expect(queue.enqueue([0.1, 0.1]))
        #expect(take(3, from: queue, at: .zero) == [0.1, 0.1, 0, 0, 0, 0])
        #expect(queue.underrunDuration == .milliseconds(2))
        queue.flush()
        _ = take(50, from: queue, at: .zero)
        #expect(queue.underrunDuration == .milliseconds(2))
    }

    @Test func gainChangesAreRampedOverOneBuffer() {
        let queue = queue()
        queue.setPaused(false)
        #expect(queue.enqueue([Float](repeating: 1, count: 20)))
        queue.setGain(0)
        let heard = take(5, from: queue, at: .zero)
        for (value, expected) in zip(heard, [0.8, 0.8, 0.6, 0.6, 0.4, 0.4, 0.2, 0.2, 0, 0] as [Float]) {
            #expect(abs(value - expected) < 0.0001)
        }
        #expect(take(1, from: queue, at: .zero) == [0, 0])
    }

    @Test func invalidSampleValuesAreClipped() {
        let queue = queue()
        queue.setPaused(false)
        #expect(queue.enqueue([2, -3, .nan, .infinity]))
        #expect(take(2, from: queue, at: .zero) == [1, -1, 0, 1])
    }

    @Test func fullQueueRejectsSamples() {
        let queue = queue()
        #expect(queue.enqueue([Float](repeating: 0, count: 2_000)))
        #expect(!queue.enqueue([0, 0]))
    }
}

import CSDL2
import MediaTiming
import Synchronization

/// The object that the device callback receives, which connects it to the queue.
final class AudioCallbackContext: Sendable {
    private let time: any TimeSource
    private let queue = Mutex<AudioSampleQueue?>(nil)

    init(time: any TimeSource) {
        self.time = time
    }

    /// Sets the queue that provides the samples; before, the device plays silence.
    func attach(_ queue: AudioSampleQueue) { self.queue.withLock { $0 = queue } }

    func fill(_ buffer: UnsafeMutableBufferPointer<Float>) {
        guard let queue = queue.withLock({ $0 }) else { return buffer.update(repeating: 0) }
        queue.fill(buffer, at: time.now)
    }
}

/// Fills a buffer of the device; called on the thread of the device.
///
/// The function is global because a closure in an isolated function would inherit its isolation.
func fillBuffer(_ source: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) {
    guard let source, let bytes, count > 0 else { return }
    let samples = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)).bindMemory(to: Float.self)
    Unmanaged<AudioCallbackContext>.fromOpaque(source).takeUnretainedValue().fill(samples)
}

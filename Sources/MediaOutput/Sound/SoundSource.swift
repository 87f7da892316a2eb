import CSDL2
import MediaTiming
import Synchronization

/// What the thread of a device holds on to.
final class SoundSource: Sendable {
    private let time: any TimeSource
    private let queue = Mutex<SoundQueue?>(nil)

    init(time: any TimeSource) {
        self.time = time
    }

    /// From now on samples come from there; silence before.
    func attach(_ queue: SoundQueue) { self.queue.withLock { $0 = queue } }

    func fill(_ buffer: UnsafeMutableBufferPointer<Float>) {
        guard let queue = queue.withLock({ $0 }) else { return buffer.update(repeating: 0) }
        queue.take(into: buffer, at: time.now)
    }
}

/// Called by the thread of the device.
///
/// It is global because a closure made inside an isolated function would insist on running there.
func fillBuffer(_ source: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32) {
    guard let source, let bytes, count > 0 else { return }
    let samples = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)).bindMemory(to: Float.self)
    Unmanaged<SoundSource>.fromOpaque(source).takeUnretainedValue().fill(samples)
}

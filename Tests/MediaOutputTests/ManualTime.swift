import MediaTiming
import Synchronization

/// A clock that advances only when a test advances it.
final class ManualTime: TimeSource {
    private let current = Mutex(Duration.seconds(100))

    var now: Duration { current.withLock { $0 } }

    func advance(by duration: Duration) { current.withLock { $0 += duration } }

    func sleep(for duration: Duration) async throws { advance(by: duration) }
}

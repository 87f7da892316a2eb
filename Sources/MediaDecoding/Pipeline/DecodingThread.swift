import Foundation
import Synchronization

/// A serial executor with its own thread, because decoding blocks and must not occupy a thread of the shared pool.
final class DecodingThread: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
    }

    private final class Queue: Sendable {
        let state = Mutex(State())
        let wake = DispatchSemaphore(value: 0)
    }

    private let queue = Queue()

    /// Creates the executor and starts its thread, which ends when the executor is deallocated.
    init(name: String) {
        let queue = queue
        let thread = Thread { [weak self] in
            while true {
                queue.wake.wait()
                let jobs = queue.state.withLock { state in
                    defer { state.jobs = [] }
                    return state.jobs
                }
                guard let self else { return }
                for job in jobs { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
            }
        }
        thread.name = name
        thread.stackSize = 4 << 20
        thread.start()
    }

    deinit {
        queue.wake.signal()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.state.withLock { $0.jobs.append(job) }
        queue.wake.signal()
    }
}

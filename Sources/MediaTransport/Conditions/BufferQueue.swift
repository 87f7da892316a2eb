package import MediaTiming
package import NIOCore
import Synchronization

/// A bounded queue between two tasks: the bytes that a sender has ready for a link.
package final class BufferQueue: Sendable {
    /// A buffer with the time at which its bytes became available; `nil` if the sender waited for space in the queue,
    /// so that they were available as soon as there was space.
    package struct TimedBuffer {
        var buffer: ByteBuffer
        var available: Duration?
    }

    private struct State {
        var buffers: ArraySlice<TimedBuffer> = []
        var byteCount = 0
        var end: Result<Void, any Error>?
        var sender: CheckedContinuation<Void, Never>?
        var receiver: CheckedContinuation<Void, Never>?
        /// A Boolean value that indicates whether the receiver has stopped.
        var isCanceled = false

        mutating func takeReceiver() -> CheckedContinuation<Void, Never>? {
            defer { receiver = nil }
            return receiver
        }
    }

    private let state = Mutex(State())
    private let time: any TimeSource
    /// The maximum number of bytes in the queue: about as much as the buffers of two sockets.
    private static let capacity = 512 << 10

    package init(time: any TimeSource) { self.time = time }

    /// Appends bytes to the queue; waits while it is full.
    ///
    /// - Returns: A Boolean value that indicates whether the receiver accepts more.
    package func append(_ buffer: ByteBuffer) async -> Bool {
        guard buffer.readableBytes > 0 else { return true }
        var waited = false
        while state.withLock({ $0.byteCount >= Self.capacity && !$0.isCanceled }) {
            waited = true
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if state.byteCount < Self.capacity || state.isCanceled { return true }
                        state.sender = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                cancel()
            }
        }
        let available = waited ? nil : time.now
        let (receiver, isWanted) = state.withLock { state in
            guard !state.isCanceled else { return (state.takeReceiver(), false) }
            state.buffers.append(TimedBuffer(buffer: buffer, available: available))
            state.byteCount += buffer.readableBytes
            return (state.takeReceiver(), true)
        }
        receiver?.resume()
        return isWanted
    }

    /// Ends the queue successfully or with an error; the receiver gets the result after the last bytes.
    package func finish(_ end: Result<Void, any Error>) {
        let receiver = state.withLock { state in
            state.end = state.end ?? end
            return state.takeReceiver()
        }
        receiver?.resume()
    }

    /// Discards the content of the queue and stops the sender.
    package func cancel() {
        let (sender, receiver) = state.withLock { state in
            state.isCanceled = true
            state.buffers = []
            defer { state.sender = nil }
            return (state.sender, state.takeReceiver())
        }
        sender?.resume()
        receiver?.resume()
    }

    /// The result of an attempt to take bytes.
    enum DequeueResult {
        case buffer(TimedBuffer)
        /// The queue is empty, but has not ended.
        case empty
        case end(Result<Void, any Error>)
    }

    /// Takes up to the given number of bytes without waiting.
    func dequeue(atMost byteCount: Int) -> DequeueResult {
        let (next, sender): (DequeueResult, CheckedContinuation<Void, Never>?) = state.withLock { state in
            guard var first = state.buffers.first else {
                if state.isCanceled { return (.end(.failure(CancellationError())), nil) }
                return (state.end.map { .end($0) } ?? .empty, nil)
            }
            let size = min(byteCount, first.buffer.readableBytes)
            let taken = TimedBuffer(
                buffer: first.buffer.readSlice(length: size) ?? ByteBuffer(),
                available: first.available
            )
            if first.buffer.readableBytes == 0 {
                state.buffers.removeFirst()
            } else {
                first.available = nil
                state.buffers[state.buffers.startIndex] = first
            }
            state.byteCount -= size
            defer { state.sender = nil }
            return (.buffer(taken), state.sender)
        }
        sender?.resume()
        return next
    }

    /// Waits until bytes are available or the queue has ended.
    func waitForData() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.buffers.isEmpty || state.end != nil || state.isCanceled { return true }
                    state.receiver = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}

import MediaTiming
import MediaTransport
import NIOCore
import ResourceAddressing
import Synchronization

/// The memory of shared transfers, beyond which responses are not shared.
final class SharedMemory: Sendable {
    private let reserved = Mutex(0)
    private let maximumResponseSize: Int
    private let maximumSize: Int

    /// Creates a memory with the maximum number of bytes of a response, and of all of them.
    init(responses maximumResponseSize: Int = 16 << 20, total maximumSize: Int = 128 << 20) {
        self.maximumResponseSize = maximumResponseSize
        self.maximumSize = maximumSize
    }

    /// Reserves memory for a response.
    ///
    /// - Returns: `false` if there is not enough.
    func reserve(_ count: Int) -> Bool {
        guard count <= maximumResponseSize else { return false }
        return reserved.withLock { reserved in
            guard reserved +| count <= maximumSize else { return false }
            reserved +|= count
            return true
        }
    }

    /// Releases memory.
    func release(_ count: Int) { reserved.withLock { $0 -|= count } }
}

/// A transfer from an origin whose response several requests receive, each from the first byte.
///
/// It ends when no request reads it anymore.
final class SharedTransfer: Sendable {
    /// The end of a transfer.
    enum End {
        case complete
        case failed(any Error)
        /// The response is too large for memory; one request reads it alone, the others load it themselves.
        case alone(TransportResponse?)
    }

    private struct State {
        var response: TransportResponse?
        var buffers: [ByteBuffer] = []
        var byteCount = 0
        var reservedByteCount = 0
        var end: End?
        var readerCount = 0
        /// A Boolean value that indicates whether the last reader has ended before the transfer.
        var isAbandoned = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let changes = Broadcast()
    private let memory: SharedMemory
    private let isAhead: Bool

    /// Creates a transfer, which does not load before ``start(_:onEnd:)``.
    ///
    /// - Parameters:
    ///   - memory: The memory of all transfers.
    ///   - isAhead: A Boolean value that indicates whether the resource is loaded before a player requests it.
    init(in memory: SharedMemory, isAhead: Bool) {
        self.memory = memory
        self.isAhead = isAhead
    }

    deinit { memory.release(state.withLock { $0.reservedByteCount }) }

    /// The number of bytes in memory.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// A Boolean value that indicates whether all bytes are in memory.
    var isComplete: Bool { state.withLock { if case .complete = $0.end { true } else { false } } }

    /// A Boolean value that indicates whether the response may stay in memory after its end.
    var mayBeRetained: Bool {
        guard isAhead, isComplete else { return false }
        let field = state.withLock { $0.response?.header("Cache-Control") } ?? ""
        return !field.lowercased().contains("no-store")
    }

    /// Starts to load.
    ///
    /// - Parameters:
    ///   - load: A closure that sends the request.
    ///   - onEnd: A closure that is called at the end of the transfer.
    func start(_ load: @escaping @Sendable () async throws -> TransportResponse, onEnd: @escaping @Sendable () -> Void)
    {
        let task = Task {
            await run(load)
            changes.notify()
            onEnd()
        }
        let isUnread = state.withLock { state in
            state.task = task
            return state.readerCount == 0
        }
        if isUnread { task.cancel() }
    }

    private func run(_ load: @Sendable () async throws -> TransportResponse) async {
        do {
            let response = try await load()
            guard let length = response.expectedLength.map({ Int(clamping: $0) }),
                response.status == 200 || response.status == 206, memory.reserve(length)
            else {
                return state.withLock { $0.end = .alone(response) }
            }
            state.withLock { state in
                state.reservedByteCount = length
                state.response = response
            }
            changes.notify()
            // Buffers without bytes do not count against the length.
            for try await buffer in response.body where buffer.readableBytes > 0 {
                let isWithin = state.withLock { state in
                    guard state.byteCount +| buffer.readableBytes <= length else { return false }
                    state.byteCount +|= buffer.readableBytes
                    state.buffers.append(buffer)
                    return true
                }
                guard isWithin else {
                    throw TransportError(.wrongContent, "the response is longer than its Content-Length")
                }
                changes.notify()
            }
            guard byteCount == length else {
                throw TransportError(.connectionLost, "the response is shorter than its Content-Length")
            }
            state.withLock { $0.end = .complete }
        } catch {
            state.withLock { $0.end = .failed(error) }
        }
    }

    /// A reader of a transfer, which goes on as long as there is one.
    final class Reader: Sendable {
        fileprivate let transfer: SharedTransfer

        fileprivate init(_ transfer: SharedTransfer) { self.transfer = transfer }

        deinit { transfer.removeReader() }

        /// Waits for the head of the response.
        ///
        /// - Returns: The response with all bytes; `nil` if this request has to load it itself.
        /// - Throws: The error of the transfer.
        func response() async throws -> TransportResponse? {
            while true {
                enum Step { case wait, response(TransportResponse), alone(TransportResponse?), failed(any Error) }
                let seen = transfer.changes.count
                let step: Step = transfer.state.withLock { state in
                    if case .alone(let response) = state.end {
                        state.end = .alone(nil)
                        return .alone(response)
                    }
                    if let response = state.response { return .response(response) }
                    if case .failed(let error) = state.end { return .failed(error) }
                    return .wait
                }
                switch step {
                case .wait:
                    await transfer.changes.wait(after: seen)
                    try Task.checkCancellation()
                case .alone(let response): return response
                case .failed(let error): throw error
                case .response(let response):
                    return response.replacingBody(with: TransportBody(SharedBuffers(reader: self)))
                }
            }
        }

        /// Waits until the transfer has ended.
        func waitUntilEnd() async {
            while !Task.isCancelled {
                let seen = transfer.changes.count
                if transfer.state.withLock({ $0.end != nil }) { return }
                await transfer.changes.wait(after: seen)
            }
        }
    }

    /// Returns a new reader, or `nil` if the response cannot be received anymore.
    func reader() -> Reader? {
        let isShareable = state.withLock { state in
            guard !state.isAbandoned else { return false }
            switch state.end {
            case .failed, .alone: return false
            case nil, .complete: break
            }
            state.readerCount += 1
            return true
        }
        return isShareable ? Reader(self) : nil
    }

    private func removeReader() {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.readerCount -= 1
            guard state.readerCount == 0, state.end == nil else { return nil }
            state.isAbandoned = true
            return state.task
        }
        task?.cancel()
    }

    /// The bytes of a transfer from the first one.
    private struct SharedBuffers: AsyncSequence, Sendable {
        let reader: Reader

        struct AsyncIterator: AsyncIteratorProtocol {
            let reader: Reader
            var position = 0

            mutating func next() async throws -> ByteBuffer? {
                let transfer = reader.transfer
                while true {
                    enum Step { case buffer(ByteBuffer), wait, end, failed(any Error) }
                    let seen = transfer.changes.count
                    let (position, step): (Int, Step) = transfer.state.withLock { [position] state in
                        if position < state.buffers.count { return (position + 1, .buffer(state.buffers[position])) }
                        switch state.end {
                        case nil: return (position, .wait)
                        case .failed(let error): return (position, .failed(error))
                        case .complete, .alone: return (position, .end)
                        }
                    }
                    self.position = position
                    switch step {
                    case .buffer(let buffer): return buffer
                    case .end: return nil
                    case .failed(let error): throw error
                    case .wait:
                        await transfer.changes.wait(after: seen)
                        try Task.checkCancellation()
                    }
                }
            }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }
    }
}

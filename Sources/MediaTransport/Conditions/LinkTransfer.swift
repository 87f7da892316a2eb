import MediaTiming
package import NIOCore
package import NetworkConditioning

/// The chunks of one transfer that are crossing a link; takes them from a sender and returns each one when it arrives.
package struct LinkTransfer {
    private let link: ConditionedLink
    private let direction: LinkModel.Direction
    private var flow: LinkModel.Flow
    /// The chunks that were sent and have not been returned; the chunks before the last one have left the bottleneck.
    private var chunksInFlight: ArraySlice<Chunk> = []
    private var byteCountInFlight = 0
    /// The state of the flow before the last chunk was sent, in case it must be sent again.
    private var flowBefore = LinkModel.Flow()
    /// The chunk that could not be sent because the link transmits no data, or that must be sent again.
    private var unsentBuffer: BufferQueue.TimedBuffer?
    private var end: Result<Void, any Error>?

    private struct Chunk {
        let buffer: BufferQueue.TimedBuffer
        let transmission: LinkModel.Transmission
        let generation: Int
    }

    /// The maximum number of bytes in flight, comparable to the receive window of TCP.
    private static let window = 8 << 20

    package init(
        _ link: ConditionedLink,
        _ direction: LinkModel.Direction,
        continuing flow: LinkModel.Flow = LinkModel.Flow()
    ) {
        self.link = link
        self.direction = direction
        self.flow = flow
    }

    /// Returns the next chunk when it has arrived; `nil` after the last one.
    ///
    /// - Throws: The error of the sender, or ``TransportError`` if the link broke the connection or transmitted no data
    ///   for too long.
    package mutating func next(from queue: BufferQueue) async throws -> ByteBuffer? {
        var begun = link.time.now
        while true {
            try Task.checkCancellation()
            try link.checkEnded()
            let now = link.time.now
            if let first = chunksInFlight.first, first.transmission.arrival <= now {
                chunksInFlight.removeFirst()
                byteCountInFlight -= first.buffer.buffer.readableBytes
                if first.transmission.breaksConnection { throw ConditionedLink.connectionLostError }
                return first.buffer.buffer
            }
            withdrawLast(at: now)
            if canSend(at: now), let offer = take(from: queue), send(offer) { continue }
            if chunksInFlight.isEmpty, unsentBuffer == nil {
                switch end {
                case .failure(let error): throw error
                case .success: return nil
                case nil:
                    await queue.waitForData()
                    begun = link.time.now
                }
            } else {
                guard now - begun < link.stallTimeout else { throw link.stallError }
                try await link.time.sleep(for: waitDuration(at: now))
            }
        }
    }

    /// Returns a Boolean value that indicates whether the previous chunk has left the bottleneck and the window is not
    /// full.
    private func canSend(at now: Duration) -> Bool {
        byteCountInFlight < Self.window && (chunksInFlight.last.map { $0.transmission.sendEnd <= now } ?? true)
    }

    private mutating func take(from queue: BufferQueue) -> BufferQueue.TimedBuffer? {
        if let unsentBuffer {
            self.unsentBuffer = nil
            return unsentBuffer
        }
        guard end == nil else { return nil }
        switch queue.dequeue(atMost: link.chunkSize(direction)) {
        case .buffer(let offer): return offer
        case .empty: return nil
        case .end(let result):
            end = result
            return nil
        }
    }

    /// Sends a chunk.
    ///
    /// - Returns: A Boolean value that indicates whether it was sent; if the link transmits no data, the chunk is kept
    ///   for later.
    private mutating func send(_ offer: BufferQueue.TimedBuffer) -> Bool {
        flowBefore = flow
        let (transmission, generation) = link.send(
            offer.buffer.readableBytes,
            direction,
            of: &flow,
            availableAt: offer.available
        )
        guard let transmission else {
            unsentBuffer = offer
            return false
        }
        byteCountInFlight += offer.buffer.readableBytes
        chunksInFlight.append(Chunk(buffer: offer, transmission: transmission, generation: generation))
        return true
    }

    /// Withdraws the last chunk if it is still in the bottleneck when the conditions change, so that it is sent again.
    private mutating func withdrawLast(at now: Duration) {
        guard let last = chunksInFlight.last, last.transmission.sendEnd > now, last.generation != link.generation else {
            return
        }
        chunksInFlight.removeLast()
        byteCountInFlight -= last.buffer.buffer.readableBytes
        flow = flowBefore
        unsentBuffer = last.buffer
    }

    /// Returns the time until a chunk arrives or can be sent, limited because the conditions may change.
    private func waitDuration(at now: Duration) -> Duration {
        guard let first = chunksInFlight.first, let last = chunksInFlight.last else {
            return ConditionedLink.pollInterval
        }
        // The next chunk can be sent when the last one has left the bottleneck. If that has happened, no chunk is
        // available or the link transmits no data, so that only the next arrival matters.
        let waitsForArrival = last.transmission.sendEnd <= now || byteCountInFlight >= Self.window
        let due =
            waitsForArrival ? first.transmission.arrival : min(first.transmission.arrival, last.transmission.sendEnd)
        return min(max(due - now, .zero), ConditionedLink.pollInterval)
    }
}

import MediaTiming
package import NIOCore
package import NetworkConditioning

/// The chunks of one transfer that are crossing a link; takes them from a sender and returns each one when it arrives.
package struct LinkTraversal {
    private let link: ConditionedLink
    private let direction: LinkModel.Direction
    private var flow: LinkModel.Flow
    /// The chunks that were sent and have not been returned; the chunks before the last one have left the bottleneck.
    private var onTheWay: ArraySlice<Piece> = []
    private var byteCountOnTheWay = 0
    /// The state of the flow before the last chunk was sent, in case it must be sent again.
    private var flowBefore = LinkModel.Flow()
    /// The chunk that could not be sent because the link transmits no data, or that must be sent again.
    private var held: OfferedBuffers.Offer?
    private var end: Result<Void, any Error>?

    private struct Piece {
        let offer: OfferedBuffers.Offer
        let passage: LinkModel.Passage
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
    package mutating func next(from offers: OfferedBuffers) async throws -> ByteBuffer? {
        var begun = link.time.now
        while true {
            try Task.checkCancellation()
            try link.checkEnd()
            let now = link.time.now
            if let first = onTheWay.first, first.passage.arrives <= now {
                onTheWay.removeFirst()
                byteCountOnTheWay -= first.offer.buffer.readableBytes
                if first.passage.breaks { throw ConditionedLink.broken }
                return first.offer.buffer
            }
            recallLast(at: now)
            if mayTake(at: now), let offer = take(from: offers), send(offer) { continue }
            if onTheWay.isEmpty, held == nil {
                switch end {
                case .failure(let error): throw error
                case .success: return nil
                case nil:
                    await offers.wait()
                    begun = link.time.now
                }
            } else {
                guard now - begun < link.patience else { throw link.silence }
                try await link.time.sleep(for: pause(at: now))
            }
        }
    }

    /// Returns a Boolean value that indicates whether the previous chunk has left the bottleneck and the window is not
    /// full.
    private func mayTake(at now: Duration) -> Bool {
        byteCountOnTheWay < Self.window && (onTheWay.last.map { $0.passage.leaves <= now } ?? true)
    }

    private mutating func take(from offers: OfferedBuffers) -> OfferedBuffers.Offer? {
        if let held {
            self.held = nil
            return held
        }
        guard end == nil else { return nil }
        switch offers.take(atMost: link.pieceSize(direction)) {
        case .offer(let offer): return offer
        case .nothing: return nil
        case .end(let result):
            end = result
            return nil
        }
    }

    /// Sends a chunk.
    ///
    /// - Returns: A Boolean value that indicates whether it was sent; if the link transmits no data, the chunk is kept
    ///   for later.
    private mutating func send(_ offer: OfferedBuffers.Offer) -> Bool {
        flowBefore = flow
        let (passage, generation) = link.send(
            offer.buffer.readableBytes,
            direction,
            of: &flow,
            availableAt: offer.available
        )
        guard let passage else {
            held = offer
            return false
        }
        byteCountOnTheWay += offer.buffer.readableBytes
        onTheWay.append(Piece(offer: offer, passage: passage, generation: generation))
        return true
    }

    /// Withdraws the last chunk if it is still in the bottleneck when the conditions change, so that it is sent again.
    private mutating func recallLast(at now: Duration) {
        guard let last = onTheWay.last, last.passage.leaves > now, last.generation != link.generation else { return }
        onTheWay.removeLast()
        byteCountOnTheWay -= last.offer.buffer.readableBytes
        flow = flowBefore
        held = last.offer
    }

    /// Returns the time until a chunk arrives or can be sent, limited because the conditions may change.
    private func pause(at now: Duration) -> Duration {
        guard let first = onTheWay.first, let last = onTheWay.last else { return ConditionedLink.longestWait }
        // The next chunk can be sent when the last one has left the bottleneck. If that has happened, no chunk is
        // available or the link transmits no data, so that only the next arrival matters.
        let isTurn = last.passage.leaves <= now || byteCountOnTheWay >= Self.window
        let due = isTurn ? first.passage.arrives : min(first.passage.arrives, last.passage.leaves)
        return min(max(due - now, .zero), ConditionedLink.longestWait)
    }
}

import MediaTiming
package import NIOCore
package import NetworkConditioning

/// The bytes of one transfer on their way over a link: takes what a sender offers, and gives each piece when it arrives.
package struct LinkTraversal {
    private let link: ConditionedLink
    private let direction: LinkModel.Direction
    private var flow: LinkModel.Flow
    /// Behind the bottleneck, or in it; later than the sender by the time that lost packets take.
    private var onTheWay: ArraySlice<Piece> = []
    private var byteCountOnTheWay = 0
    /// The flow before the last piece was sent, for the case that it has to be sent again.
    private var flowBefore = LinkModel.Flow()
    /// What could not be sent, since nothing gets through.
    private var held: OfferedBuffers.Offer?
    private var end: Result<Void, any Error>?

    private struct Piece {
        let offer: OfferedBuffers.Offer
        let passage: LinkModel.Passage
        let generation: Int
    }

    /// What a receiver takes unasked, as the window of TCP is bounded.
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

    /// The next piece, once it has arrived; `nil` behind the last.
    ///
    /// - Throws: What the sender ended with, ``TransportError`` where the link broke or let nothing through.
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

    /// Whether the piece before is out of the way.
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

    /// Sends a piece.
    ///
    /// - Returns: Whether it is on its way; where nothing gets through, it is held.
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

    /// What is still in the bottleneck when the conditions change is sent again under the new ones.
    private mutating func recallLast(at now: Duration) {
        guard let last = onTheWay.last, last.passage.leaves > now, last.generation != link.generation else { return }
        onTheWay.removeLast()
        byteCountOnTheWay -= last.offer.buffer.readableBytes
        flow = flowBefore
        held = last.offer
    }

    /// How long to wait until something arrives or can be sent; not long, since the conditions may change.
    private func pause(at now: Duration) -> Duration {
        guard let first = onTheWay.first, let last = onTheWay.last else { return ConditionedLink.longestWait }
        // The next piece can be sent once the last has left, unless there is none or nothing gets through.
        let isTurn = last.passage.leaves <= now || byteCountOnTheWay >= Self.window
        let due = isTurn ? first.passage.arrives : min(first.passage.arrives, last.passage.leaves)
        return min(max(due - now, .zero), ConditionedLink.longestWait)
    }
}

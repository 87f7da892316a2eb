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
    private var heldSince: Duration?
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
        while true {
            try Task.checkCancellation()
            let now = link.time.now
            if let first = onTheWay.first, first.passage.arrives <= now {
                onTheWay.removeFirst()
                byteCountOnTheWay -= first.offer.buffer.readableBytes
                if first.passage.breaks { throw ConditionedLink.broken }
                return first.offer.buffer
            }
            recallLast(at: now)
            if mayTake(at: now), let offer = take(from: offers) {
                send(offer)
                continue
            }
            try await wait(offers, at: now)
            if case .failure(let error) = end, onTheWay.isEmpty { throw error }
            if end != nil, onTheWay.isEmpty, held == nil { return nil }
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

    private mutating func send(_ offer: OfferedBuffers.Offer) {
        flowBefore = flow
        let (passage, generation) = link.send(
            offer.buffer.readableBytes,
            direction,
            of: &flow,
            availableAt: offer.available
        )
        guard let passage else {
            held = offer
            heldSince = heldSince ?? link.time.now
            return
        }
        heldSince = nil
        byteCountOnTheWay += offer.buffer.readableBytes
        onTheWay.append(Piece(offer: offer, passage: passage, generation: generation))
    }

    /// What is still in the bottleneck when the conditions change is sent again under the new ones.
    private mutating func recallLast(at now: Duration) {
        guard let last = onTheWay.last, last.passage.leaves > now, last.generation != link.generation else { return }
        onTheWay.removeLast()
        byteCountOnTheWay -= last.offer.buffer.readableBytes
        flow = flowBefore
        held = last.offer
    }

    private mutating func wait(_ offers: OfferedBuffers, at now: Duration) async throws {
        if held != nil, let heldSince {
            try await link.waitForChange(since: heldSince)
        } else if let first = onTheWay.first, let last = onTheWay.last {
            // The next piece can be sent once the last has left, unless there is none.
            let isTurn = last.passage.leaves <= now || byteCountOnTheWay >= Self.window
            let due = isTurn ? first.passage.arrives : min(first.passage.arrives, last.passage.leaves)
            try await link.time.sleep(for: min(max(due - now, .zero), ConditionedLink.longestWait))
        } else if end == nil {
            await offers.wait()
        }
    }
}

import MediaTiming

/// Reads the packets of one kind, piece after piece.
struct PacketCursor: Sendable {
    /// What comes next.
    enum Step {
        /// A packet, and what is to be added to its timestamps.
        case packet(MediaPacket, TrackFormat, offset: MediaTime)
        /// What comes does not go on where the last packet ended: another rendition, or another stretch.
        case border(isBehindDamage: Bool)
        /// Time without media.
        case gap(MediaTimeRange)
        /// Nothing is there that follows without a hole.
        case nothing
    }

    /// Which samples of a piece are read.
    let samples: @Sendable (DecodablePiece) -> DecodablePiece.Samples?
    /// The entry that is read.
    private var entry: (id: Int, start: MediaTime)?
    private var packet = 0
    private var offset = MediaTime.zero
    private var hasBegun = false

    init(_ samples: @escaping @Sendable (DecodablePiece) -> DecodablePiece.Samples?) { self.samples = samples }

    /// Whether it is anywhere.
    var isPlaced: Bool { entry != nil }

    /// Goes to a packet of an entry.
    mutating func move(to index: Int, packet: Int, in timeline: PieceTimeline<DecodablePiece>) {
        let target = timeline.entries[index]
        entry = (target.id, target.range.start)
        self.packet = packet
        hasBegun = false
    }

    /// Is nowhere.
    mutating func reset() { entry = nil }

    /// The next packet, or what else comes.
    mutating func next(in timeline: PieceTimeline<DecodablePiece>, _ mapping: inout TimestampMapping) -> Step {
        while true {
            guard let index = position(in: timeline) else { return .nothing }
            let current = timeline.entries[index]
            let samples = samples(current.piece)
            if !hasBegun {
                hasBegun = true
                guard let samples else { return .gap(current.range) }
                offset = mapping.offset(of: current.piece.stretch(samples))
            }
            while let samples, packet < samples.packets.count {
                let next = samples.packets[packet]
                // A damaged timestamp may say anything; what is believed has to lie about where its segment does.
                guard current.piece.isPlausible(next.presentationTime + offset, offset: offset) else {
                    packet += 1
                    continue
                }
                // Where something else holds, nothing is decoded any more.
                if !current.isCutAtEnd || next.decodeTime + offset < current.range.end {
                    packet += 1
                    return .packet(next, samples.format, offset: offset)
                }
                break
            }
            guard timeline.isContiguous(index + 1) else { return .nothing }
            let following = timeline.entries[index + 1]
            move(to: index + 1, packet: startPacket(of: following), in: timeline)
            let isContinuation =
                following.piece.domain == current.piece.domain && samples != nil && !current.isCutAtEnd
                && !current.piece.isDamaged
                && !following.isCutAtStart
            if !isContinuation { return .border(isBehindDamage: current.piece.isDamaged) }
        }
    }

    /// From where on something else holds than what is read; `nil` where nothing cuts it short.
    func limit(in timeline: PieceTimeline<DecodablePiece>) -> MediaTime? {
        guard let index = position(in: timeline) else { return nil }
        let entry = timeline.entries[index]
        // What is damaged must not reach into what comes behind it.
        return entry.isCutAtEnd || entry.piece.isDamaged ? entry.range.end : nil
    }

    /// Whether what was read is not there any more.
    func isLost(in timeline: PieceTimeline<DecodablePiece>) -> Bool { entry != nil && position(in: timeline) == nil }

    /// Where reading begins in a piece that is cut at its start: at the last key frame before what holds.
    private func startPacket(of entry: PieceTimeline<DecodablePiece>.Entry) -> Int {
        guard entry.isCutAtStart, let samples = samples(entry.piece) else { return 0 }
        let border = samples.firstTimestamp + (entry.range.start - entry.piece.range.start)
        return samples.packets.lastIndex { $0.isKeyFrame && $0.presentationTime <= border } ?? 0
    }

    private func position(in timeline: PieceTimeline<DecodablePiece>) -> Int? {
        guard let entry else { return nil }
        if let index = timeline.index(at: entry.start), timeline.entries[index].id == entry.id { return index }
        // Its beginning was forgotten, or something else holds there now.
        return timeline.entries.firstIndex { $0.id == entry.id }
    }
}

extension PieceTimeline<DecodablePiece>.Entry {
    /// Whether something else holds where the piece ends.
    var isCutAtEnd: Bool { range.end < piece.range.end }
    /// Whether something else holds where the piece begins.
    var isCutAtStart: Bool { range.start > piece.range.start }
}

import MediaTiming
import StreamingEngine

/// Pictures in the order and at the time in which they are shown, decoded as far ahead as is asked for.
final class VideoFeed {
    /// What was appended.
    var timeline = PieceTimeline<DecodablePiece> { $0.video?.byteCount ?? 0 }
    /// Decoded and not shown yet, in the order of their times.
    private(set) var frames: [VideoFrame] = []
    /// How many pictures came out of decoders.
    private(set) var decodedCount = 0
    /// How many of those only served to decode others: the cost of exact seeks.
    private(set) var discardedCount = 0
    /// Media that could not be decoded, since it was asked last.
    var unplayable: [MediaTimeRange] = []

    private var cursor = PacketCursor { $0.video }
    private let options: VideoDecodingOptions
    private var decoder: VideoDecoder?
    private var offset: MediaTime?
    private var lastTime: MediaTime?
    /// What was sought last; `nil` before anything was: until then nothing is decoded.
    private var origin: MediaTime?
    /// Where this kind of cut begins, frames of the piece before are shown no more.
    private var limit: MediaTime?

    /// Whether only pictures that stand alone are decoded: enough where time flies.
    var decodesKeyFramesOnly = false
    /// What was shown before a time, in the order of the times: the last of them is next when going backwards.
    private var earlier: [VideoFrame] = []

    /// So much memory the pictures of a backward stretch may take.
    private static let mostEarlierBytes = 192 << 20

    /// Times that differ by less than this are the same: those of seeks are often rounded.
    static let tick = MediaTime(value: 1, timescale: 2000)

    init(_ options: VideoDecodingOptions) { self.options = options }

    /// Whether there are pictures at all.
    var hasPictures: Bool { timeline.entries.contains { $0.piece.video != nil } }

    /// Takes the first of the frames.
    func removeFirst() { frames.removeFirst() }

    /// Decodes until so many frames are there, or nothing is left to decode.
    func fill(_ count: Int, _ mapping: inout TimestampMapping) {
        while frames.count < count, decodeNext(&mapping) {}
    }

    /// Goes on at a key frame that is not later than a time, where one lies ahead: what lies between is left out.
    ///
    /// - Returns: Whether anything was left out.
    func skip(to time: MediaTime, _ mapping: inout TimestampMapping) -> Bool {
        guard let lastTime, let place = keyFrame(notAfter: time, &mapping), place.time > lastTime + Self.tick else {
            return false
        }
        begin(at: place)
        self.lastTime = lastTime
        return true
    }

    // MARK: Backwards

    /// The picture before a time; `nil` where none is loaded.
    ///
    /// What follows a key frame is decoded in one go and kept. Of a long stretch only the end is: the rest is decoded again
    /// when it is its turn.
    func previous(before time: MediaTime, _ mapping: inout TimestampMapping) -> VideoFrame? {
        if let last = earlier.last, last.time < time - Self.tick { return earlier.removeLast() }
        earlier = []
        guard let place = keyFrame(notAfter: time - Self.tick - Self.tick, &mapping) else { return nil }
        begin(at: place)
        var collected: [VideoFrame] = []
        while frames.allSatisfy({ $0.time < time - Self.tick }), decodeNext(&mapping, holding: .max) {
            guard let limit = earlierLimit(frames.first), frames.count > limit, !decodesKeyFramesOnly else { continue }
            let isBehind = frames.contains { $0.time >= time - Self.tick }
            if !isBehind { discardFirst(frames.count - limit) }
        }
        collected = frames.filter { $0.time < time - Self.tick }
        reset()
        earlier = collected
        return earlier.popLast()
    }

    private func earlierLimit(_ frame: VideoFrame?) -> Int? {
        frame.map { max(4, Self.mostEarlierBytes / max(1, $0.picture.byteCount)) }
    }

    private func discardFirst(_ count: Int) {
        frames.removeFirst(count)
        discardedCount += count
    }

    // MARK: Seeking

    /// A key frame: where it is, and when it is shown.
    private struct Place {
        var entry: Int
        var packet: Int
        var time: MediaTime
    }

    /// Goes to a time.
    ///
    /// - Returns: Where it landed: the time itself, or that of a key frame that the tolerance permits; the first of ``frames``
    ///   is what is shown there. `nil` where there are no pictures.
    func seek(
        to target: MediaTime,
        _ tolerance: SeekTolerance,
        _ mapping: inout TimestampMapping
    ) -> MediaTime? {
        reset()
        origin = target
        guard var place = keyFrame(notAfter: target + Self.tick, &mapping) ?? keyFrame(after: target, &mapping) else {
            return nil
        }
        if let landing = landing(target, tolerance, place, &mapping) {
            begin(at: landing)
            fill(1, &mapping)
            if !frames.isEmpty { return max(landing.time, .zero) }
        }
        while true {
            begin(at: place)
            decode(to: target, &mapping)
            // Durations in playlists are rounded: the picture of the time may be the last of the piece before.
            guard let first = frames.first, first.time > target + Self.tick,
                let earlier = keyFrame(notAfter: place.time - Self.tick, &mapping), earlier.time < place.time
            else { return target }
            guard first.time - target < PieceTimeline<DecodablePiece>.seam else { return target }
            place = earlier
        }
    }

    /// A key frame to land on, the nearest that is permitted; `nil` where only the picture of the time itself will do.
    private func landing(
        _ target: MediaTime,
        _ tolerance: SeekTolerance,
        _ before: Place,
        _ mapping: inout TimestampMapping
    ) -> Place? {
        var best: Place?
        let after = tolerance.after != .zero ? keyFrame(after: target + Self.tick, &mapping) : nil
        for place in [before, after].compactMap({ $0 }) where tolerance.permits(place.time, for: target) {
            let distance = max(place.time - target, target - place.time)
            if let known = best, max(known.time - target, target - known.time) <= distance { continue }
            best = place
        }
        return best
    }

    /// Decodes up to the picture of a time, and drops what comes before it.
    private func decode(to target: MediaTime, _ mapping: inout TimestampMapping) {
        while true {
            // One more than the picture of the time, to know that it is.
            while frames.count >= 2, frames[1].time <= target + Self.tick {
                frames.removeFirst()
                discardedCount += 1
            }
            if let first = frames.first {
                if first.time > target + Self.tick || frames.count >= 2 { return }
                if first.duration > .zero, first.time + first.duration > target + Self.tick { return }
            }
            guard decodeNext(&mapping, holding: 2) else { return }
        }
    }

    private func keyFrame(notAfter time: MediaTime, _ mapping: inout TimestampMapping) -> Place? {
        guard !timeline.entries.isEmpty else { return nil }
        var index = timeline.index(endingAfter: time) ?? timeline.entries.count - 1
        if timeline.entries[index].range.start > time {
            guard index > 0 else { return nil }
            index -= 1
        }
        while true {
            let entry = timeline.entries[index]
            if let samples = entry.piece.video {
                let offset = mapping.offset(of: entry.piece.stretch(samples))
                let found = samples.packets.lastIndex {
                    $0.isKeyFrame && $0.presentationTime + offset <= time
                }
                if let found {
                    let packet = samples.packets[found]
                    return Place(entry: index, packet: found, time: packet.presentationTime + offset)
                }
            }
            guard timeline.isContiguous(index) else { return nil }
            index -= 1
        }
    }

    private func keyFrame(after time: MediaTime, _ mapping: inout TimestampMapping) -> Place? {
        guard let first = timeline.index(endingAfter: time) else { return nil }
        for index in first..<min(first + 2, timeline.entries.count) {
            let entry = timeline.entries[index]
            guard let samples = entry.piece.video else { continue }
            let offset = mapping.offset(of: entry.piece.stretch(samples))
            let found = samples.packets.firstIndex {
                $0.isKeyFrame && $0.presentationTime + offset > time
            }
            if let found {
                let packet = samples.packets[found]
                return Place(entry: index, packet: found, time: packet.presentationTime + offset)
            }
        }
        return nil
    }

    private func begin(at place: Place) {
        reset()
        cursor.move(to: place.entry, packet: place.packet, in: timeline)
    }

    /// Forgets what is decoded.
    func reset() {
        frames = []
        earlier = []
        lastTime = nil
        limit = nil
        cursor.reset()
        decoder?.flush()
        offset = nil
    }

    // MARK: Decoding

    /// Decodes one packet.
    ///
    /// - Parameters:
    ///   - mapping: Where timestamps lie.
    ///   - held: While fewer frames than this are there, a decoder gives back what it holds when nothing follows.
    /// - Returns: Whether there was anything to do.
    private func decodeNext(_ mapping: inout TimestampMapping, holding held: Int = 1) -> Bool {
        if cursor.isLost(in: timeline) { relocate(&mapping) }
        if !cursor.isPlaced {
            // What was sought had no pictures; those that come begin by themselves.
            guard let origin, let place = keyFrame(notAfter: origin, &mapping) ?? keyFrame(after: origin, &mapping)
            else { return false }
            cursor.move(to: place.entry, packet: place.packet, in: timeline)
        }
        switch cursor.next(in: timeline, &mapping) {
        case .packet(let packet, let format, let offset):
            if decodesKeyFramesOnly, !packet.isKeyFrame { return true }
            decode(packet, format, offset)
            return true
        case .border(let isBehindDamage):
            drain()
            // Damage may have taught the decoder to wait for pictures that never come.
            if isBehindDamage { decoder = nil }
            return true
        case .gap:
            drain()
            return true
        case .nothing:
            guard frames.count < held, offset != nil else { return false }
            let before = frames.count
            drain()
            return frames.count > before
        }
    }

    /// What was read is not there any more: goes on with what holds in its place.
    private func relocate(_ mapping: inout TimestampMapping) {
        cursor.reset()
        guard let lastTime else { return drain() }
        if let place = keyFrame(notAfter: lastTime + Self.tick, &mapping) {
            // What the decoder holds comes once more. It may lack those between: they are decoded later than they are shown.
            decoder?.flush()
            offset = nil
            return cursor.move(to: place.entry, packet: place.packet, in: timeline)
        }
        drain()
        if let place = keyFrame(after: lastTime, &mapping) {
            cursor.move(to: place.entry, packet: place.packet, in: timeline)
        }
    }

    private func decode(_ packet: MediaPacket, _ format: TrackFormat, _ offset: MediaTime) {
        let mayGoOn = decoder?.canContinue(with: format) ?? false
        if self.offset != nil, self.offset != offset || !mayGoOn { drain() }
        do throws(DecodingError) {
            if mayGoOn {
                decoder?.continue(with: format)
            } else {
                decoder = try VideoDecoder(format, options: options.decoder)
            }
        } catch {
            decoder = nil
            return unplayable.append(MediaTimeRange(start: packet.presentationTime + offset, duration: packet.duration))
        }
        self.offset = offset
        limit = cursor.limit(in: timeline)
        take(decoder?.decode(packet) ?? [])
    }

    /// Gets out of the decoder what it holds back.
    private func drain() {
        guard offset != nil else { return }
        take(decoder?.drain() ?? [])
        decoder?.flush()
        offset = nil
    }

    private func take(_ decoded: [VideoFrame]) {
        guard let offset else { return }
        for var frame in decoded {
            decodedCount += 1
            frame.time = frame.time + offset
            // None is shown twice, and none out of order.
            if let lastTime, frame.time <= lastTime + Self.tick { continue }
            if let limit, frame.time >= limit - Self.tick { continue }
            lastTime = frame.time
            frames.append(frame)
        }
    }
}

import MediaTiming
import StreamingEngine

/// A source of decoded video frames in presentation order that decodes as far ahead as requested.
final class VideoFeed {
    /// The buffered media.
    var timeline = BufferTimeline<DecodableSegment> { $0.video?.byteCount ?? 0 }
    /// The decoded frames that have not been shown yet, in presentation order.
    private(set) var frames: [VideoFrame] = []
    /// The number of frames that the decoders have output.
    private(set) var decodedCount = 0
    /// The number of frames that were decoded only as references for others, such as those before the target of an
    /// exact seek.
    private(set) var discardedCount = 0
    /// The time ranges of media that could not be decoded since they were last reported.
    var undecodableRanges: [MediaTimeRange] = []

    private var cursor = PacketCursor { $0.video }
    private let options: VideoDecodingOptions
    private var decoder: VideoDecoder?
    private var offset: MediaTime?
    private var lastTime: MediaTime?
    /// The target of the last seek; `nil` before the first one, until which nothing is decoded.
    private var seekTarget: MediaTime?
    /// The time from which another segment replaces the current one; later frames of the current one are dropped.
    private var replacementTime: MediaTime?
    /// The damage of the segment that is being decoded.
    private var damage = DecodingDamage()

    /// A Boolean value that indicates whether only key frames are decoded, as at high rates.
    var decodesKeyFramesOnly = false
    /// The decoded frames for reverse playback, in presentation order; the last one is shown next.
    private var reverseFrames: [VideoFrame] = []

    /// The maximum memory of the decoded frames for reverse playback, in bytes.
    private static let maximumReverseFrameSize = 192 << 20

    /// The difference up to which times are considered equal, because the targets of seeks are often rounded.
    static let timeTolerance = MediaTime(value: 1, timescale: 2000)

    init(_ options: VideoDecodingOptions) { self.options = options }

    /// A Boolean value that indicates whether any video is buffered.
    var hasVideo: Bool { timeline.entries.contains { $0.segment.video != nil } }

    /// Removes the first frame.
    func removeFirst() { frames.removeFirst() }

    /// Decodes until the given number of frames is available, or no media is left.
    func fill(_ count: Int, _ mapping: inout TimestampMapping) {
        while frames.count < count, decodeNext(&mapping) {}
    }

    /// Skips to the last key frame at or before a time, if it is ahead of the current position.
    ///
    /// - Returns: A Boolean value that indicates whether media was skipped.
    func skip(to time: MediaTime, _ mapping: inout TimestampMapping) -> Bool {
        guard let lastTime, let position = keyFrame(notAfter: time, &mapping),
            position.time > lastTime + Self.timeTolerance
        else {
            return false
        }
        finishSegment()
        moveCursor(to: position)
        self.lastTime = lastTime
        return true
    }

    // MARK: Reverse playback

    /// Returns the frame before a time; `nil` if none is buffered.
    ///
    /// All frames from a key frame on are decoded and kept. Of a long group of pictures, only the end is kept, and the
    /// rest is decoded again when it is needed.
    func previous(before time: MediaTime, _ mapping: inout TimestampMapping) -> VideoFrame? {
        if let last = reverseFrames.last, last.time < time - Self.timeTolerance { return reverseFrames.removeLast() }
        reverseFrames = []
        guard let position = keyFrame(notAfter: time - Self.timeTolerance - Self.timeTolerance, &mapping) else {
            return nil
        }
        moveCursor(to: position)
        var collected: [VideoFrame] = []
        while frames.allSatisfy({ $0.time < time - Self.timeTolerance }), decodeNext(&mapping, drainingBelow: .max) {
            guard let limit = maximumReverseFrameCount(for: frames.first), frames.count > limit, !decodesKeyFramesOnly
            else { continue }
            let isBehind = frames.contains { $0.time >= time - Self.timeTolerance }
            if !isBehind { discardFirst(frames.count - limit) }
        }
        collected = frames.filter { $0.time < time - Self.timeTolerance }
        reset()
        reverseFrames = collected
        return reverseFrames.popLast()
    }

    private func maximumReverseFrameCount(for frame: VideoFrame?) -> Int? {
        frame.map { max(4, Self.maximumReverseFrameSize / max(1, $0.pixelBuffer.byteCount)) }
    }

    private func discardFirst(_ count: Int) {
        frames.removeFirst(count)
        discardedCount += count
    }

    // MARK: Seeking

    /// The position of a key frame, and its presentation time.
    private struct KeyFramePosition {
        var entry: Int
        var packet: Int
        var time: MediaTime
    }

    /// Moves to a time.
    ///
    /// - Returns: The resulting position: the time itself, or that of a key frame that the tolerance permits; `nil`
    ///   without video. The first of ``frames`` is the frame to show there.
    func seek(
        to target: MediaTime,
        tolerance: SeekTolerance,
        mapping: inout TimestampMapping
    ) -> MediaTime? {
        reset()
        seekTarget = target
        guard
            var position = keyFrame(notAfter: target + Self.timeTolerance, &mapping)
                ?? keyFrame(after: target, &mapping)
        else {
            return nil
        }
        if let landing = nearestPermittedKeyFrame(to: target, tolerance: tolerance, before: position, mapping: &mapping)
        {
            moveCursor(to: landing)
            fill(1, &mapping)
            if !frames.isEmpty { return max(landing.time, .zero) }
        }
        while true {
            moveCursor(to: position)
            decode(to: target, &mapping)
            // Durations in playlists are rounded, so the frame may be the last one of the previous segment.
            guard let first = frames.first, first.time > target + Self.timeTolerance,
                let earlier = keyFrame(notAfter: position.time - Self.timeTolerance, &mapping),
                earlier.time < position.time
            else { return target }
            guard first.time - target < BufferTimeline<DecodableSegment>.gapTolerance else { return target }
            position = earlier
        }
    }

    /// Returns a Boolean value that indicates whether the first video that is buffered begins after a time, by more than a deviation
    /// of rounded timestamps.
    func begins(after time: MediaTime, _ mapping: inout TimestampMapping) -> Bool {
        guard keyFrame(notAfter: time + Self.timeTolerance, &mapping) == nil,
            let index = timeline.index(endingAfter: time), keyFrame(after: time, &mapping) != nil
        else { return false }
        let segment = timeline.entries[index].segment
        guard let samples = segment.video else { return true }
        let start = samples.firstTimestamp + mapping.offset(of: segment.mappingInput(for: samples))
        return start - time > BufferTimeline<DecodableSegment>.gapTolerance
    }

    /// Returns the nearest key frame that the tolerance permits; `nil` if none is permitted.
    private func nearestPermittedKeyFrame(
        to target: MediaTime,
        tolerance: SeekTolerance,
        before: KeyFramePosition,
        mapping: inout TimestampMapping
    ) -> KeyFramePosition? {
        var best: KeyFramePosition?
        let after = tolerance.after != .zero ? keyFrame(after: target + Self.timeTolerance, &mapping) : nil
        for position in [before, after].compactMap({ $0 }) where tolerance.permits(position.time, for: target) {
            let distance = max(position.time - target, target - position.time)
            if let known = best, max(known.time - target, target - known.time) <= distance { continue }
            best = position
        }
        return best
    }

    /// Decodes up to the frame that is shown at a time, and discards the frames before it.
    private func decode(to target: MediaTime, _ mapping: inout TimestampMapping) {
        while true {
            // A second frame is needed to know that the first one is the frame of the time.
            while frames.count >= 2, frames[1].time <= target + Self.timeTolerance {
                frames.removeFirst()
                discardedCount += 1
            }
            if let first = frames.first {
                if first.time > target + Self.timeTolerance || frames.count >= 2 { return }
                if first.duration > .zero, first.time + first.duration > target + Self.timeTolerance { return }
            }
            guard decodeNext(&mapping, drainingBelow: 2) else { return }
        }
    }

    private func keyFrame(notAfter time: MediaTime, _ mapping: inout TimestampMapping) -> KeyFramePosition? {
        guard !timeline.entries.isEmpty else { return nil }
        var index = timeline.index(endingAfter: time) ?? timeline.entries.count - 1
        if timeline.entries[index].range.start > time {
            guard index > 0 else { return nil }
            index -= 1
        }
        while true {
            let entry = timeline.entries[index]
            if let samples = entry.segment.video {
                let offset = mapping.offset(of: entry.segment.mappingInput(for: samples))
                let found = samples.packets.lastIndex {
                    $0.isKeyFrame && $0.presentationTime + offset <= time
                }
                if let found {
                    let packet = samples.packets[found]
                    return KeyFramePosition(entry: index, packet: found, time: packet.presentationTime + offset)
                }
            }
            guard timeline.isContiguous(index) else { return nil }
            index -= 1
        }
    }

    private func keyFrame(after time: MediaTime, _ mapping: inout TimestampMapping) -> KeyFramePosition? {
        guard let first = timeline.index(endingAfter: time) else { return nil }
        for index in first..<min(first + 2, timeline.entries.count) {
            let entry = timeline.entries[index]
            guard let samples = entry.segment.video else { continue }
            let offset = mapping.offset(of: entry.segment.mappingInput(for: samples))
            let found = samples.packets.firstIndex {
                $0.isKeyFrame && $0.presentationTime + offset > time
            }
            if let found {
                let packet = samples.packets[found]
                return KeyFramePosition(entry: index, packet: found, time: packet.presentationTime + offset)
            }
        }
        return nil
    }

    private func moveCursor(to position: KeyFramePosition) {
        reset()
        cursor.move(to: position.entry, packet: position.packet, in: timeline)
    }

    /// Discards all decoded frames and the position.
    func reset() {
        frames = []
        reverseFrames = []
        lastTime = nil
        replacementTime = nil
        damage = DecodingDamage()
        cursor.reset()
        decoder?.flush()
        offset = nil
    }

    // MARK: Decoding

    /// Decodes the next packet.
    ///
    /// - Parameters:
    ///   - mapping: The timestamp mapping.
    ///   - held: The number of frames below which the decoder is drained if no packet follows.
    /// - Returns: A Boolean value that indicates whether there was anything to decode.
    private func decodeNext(_ mapping: inout TimestampMapping, drainingBelow held: Int = 1) -> Bool {
        if cursor.isEntryRemoved(from: timeline) { relocate(&mapping) }
        if !cursor.hasPosition {
            // No video was buffered at the target of the seek; it may have been appended since.
            guard let seekTarget,
                let position = keyFrame(notAfter: seekTarget, &mapping) ?? keyFrame(after: seekTarget, &mapping)
            else { return false }
            cursor.move(to: position.entry, packet: position.packet, in: timeline)
        }
        switch cursor.next(in: timeline, &mapping) {
        case .packet(let packet, let format, let offset):
            if decodesKeyFramesOnly, !packet.isKeyFrame { return true }
            decode(packet, format: format, offset: offset)
            return true
        case .boundary(let isAfterDamage):
            finishSegment()
            drain()
            // After damaged data, the decoder may wait for frames that never arrive.
            if isAfterDamage { decoder = nil }
            return true
        case .gap:
            finishSegment()
            drain()
            return true
        case .endOfBuffer:
            finishSegment()
            guard frames.count < held, offset != nil else { return false }
            let before = frames.count
            drain()
            return frames.count > before
        }
    }

    /// Continues with the media that replaced a removed segment.
    private func relocate(_ mapping: inout TimestampMapping) {
        cursor.reset()
        damage = DecodingDamage()
        guard let lastTime else { return drain() }
        if let position = keyFrame(notAfter: lastTime + Self.timeTolerance, &mapping) {
            // The frames that the decoder buffers are decoded again. Others between them may not have been decoded yet,
            // because decoding order differs from presentation order.
            decoder?.flush()
            offset = nil
            return cursor.move(to: position.entry, packet: position.packet, in: timeline)
        }
        drain()
        if let position = keyFrame(after: lastTime, &mapping) {
            cursor.move(to: position.entry, packet: position.packet, in: timeline)
        }
    }

    private func decode(_ packet: MediaPacket, format: TrackFormat, offset: MediaTime) {
        let canContinue = decoder?.canContinue(with: format) ?? false
        if self.offset != nil, self.offset != offset || !canContinue { drain() }
        do throws(DecodingError) {
            if canContinue {
                decoder?.switchFormat(to: format)
            } else {
                decoder = try VideoDecoder(format, options: options.decoderOptions)
            }
        } catch {
            decoder = nil
            return undecodableRanges.append(
                MediaTimeRange(start: packet.presentationTime + offset, duration: packet.duration)
            )
        }
        self.offset = offset
        replacementTime = cursor.replacementTime(in: timeline)
        let damagedCount = decoder?.damagedPacketCount ?? 0
        appendDecoded(decoder?.decode(packet) ?? [])
        let damagedRange = damage.add(
            MediaTimeRange(start: packet.presentationTime + offset, duration: packet.duration),
            isKeyFrame: packet.isKeyFrame,
            isDamaged: decoder?.damagedPacketCount ?? 0 > damagedCount,
            of: cursor.entryID
        )
        if let damagedRange { undecodableRanges.append(damagedRange) }
    }

    /// Reports the segment that was decoded if most of it is damaged.
    private func finishSegment() {
        if let range = damage.finish() { undecodableRanges.append(range) }
    }

    /// Takes all frames that the decoder buffers.
    private func drain() {
        guard offset != nil else { return }
        appendDecoded(decoder?.drain() ?? [])
        decoder?.flush()
        offset = nil
    }

    private func appendDecoded(_ decoded: [VideoFrame]) {
        guard let offset else { return }
        for var frame in decoded {
            decodedCount += 1
            frame.time = frame.time + offset
            // No frame is shown twice or out of order.
            if let lastTime, frame.time <= lastTime + Self.timeTolerance { continue }
            if let replacementTime, frame.time >= replacementTime - Self.timeTolerance { continue }
            lastTime = frame.time
            frames.append(frame)
        }
    }
}

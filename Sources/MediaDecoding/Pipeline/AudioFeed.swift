import MediaTiming
import PlaybackReporting
import StreamingEngine

/// A source of contiguous decoded audio that starts at any requested time: gaps are filled with silence and overlaps
/// are removed.
final class AudioFeed {
    /// The buffered media.
    var timeline = BufferTimeline<DecodableSegment> { $0.audioByteCount }
    /// The time ranges of media that could not be decoded since they were last reported.
    var undecodableRanges: [MediaTimeRange] = []
    /// The presentation time of the next samples to return; `nil` before the first seek.
    private(set) var position: MediaTime?

    /// The track of a media file that is played; `nil` for the first one.
    private(set) var track: FileTrack?
    private var cursor = PacketCursor { $0.audioSamples(of: nil) }
    private let output: AudioFormat
    private var decoder: AudioDecoder?
    private var offset: MediaTime?
    /// The decoded samples that have not been returned yet.
    private var pending: [AudioSamples] = []
    /// The damage of the segment that is being decoded.
    private var damage = DecodingDamage(reportsParts: true)

    /// The maximum deviation of timestamps that is ignored, because correcting it would cause an audible click.
    private static let timestampTolerance = MediaTime(value: 1, timescale: 100)
    /// The number of packets that an audio decoder needs before its output is correct.
    private static let prerollPacketCount = 2

    init(_ output: AudioFormat) { self.output = output }

    /// A Boolean value that indicates whether any audio is buffered.
    var hasAudio: Bool { timeline.entries.contains { $0.segment.audio != nil } }

    /// Returns a Boolean value that indicates whether audio of a media file is buffered at a time.
    ///
    /// In streams, the first video frame has the start time of its segment, so that no audio of the segment precedes it.
    func hasFileAudio(at time: MediaTime, _ mapping: inout TimestampMapping) -> Bool {
        guard let index = timeline.index(at: time) else { return false }
        let segment = timeline.entries[index].segment
        guard segment.fileOffset != nil else { return false }
        guard let samples = segment.audioSamples(of: track), let last = samples.packets.last else { return false }
        let offset = mapping.offset(of: segment.mappingInput(for: samples))
        let deviation = BufferTimeline<DecodableSegment>.gapTolerance
        return samples.firstTimestamp + offset - time <= deviation && last.endTime + offset > time
    }

    /// Continues with another track of the media file, at the end of the audio that was returned.
    func selectTrack(_ selected: FileTrack?, _ mapping: inout TimestampMapping) {
        guard selected != track else { return }
        track = selected
        cursor = PacketCursor { $0.audioSamples(of: selected) }
        if let position { seek(to: position, &mapping) }
    }

    /// Continues at the given media time.
    func seek(to target: MediaTime, _ mapping: inout TimestampMapping) {
        pending = []
        position = target
        decoder?.flush()
        offset = nil
        // In real time, a seek also corrects the position during playback.
        finishSegment()
        cursor.reset()
        guard let index = timeline.index(endingAfter: target) else { return }
        let entry = timeline.entries[index]
        guard let samples = entry.segment.audioSamples(of: track) else {
            return cursor.move(to: index, packet: 0, in: timeline)
        }
        let offset = mapping.offset(of: entry.segment.mappingInput(for: samples))
        let first =
            samples.packets.lastIndex { $0.presentationTime + offset <= target } ?? 0
        if first < Self.prerollPacketCount, timeline.isContiguous(index),
            let before = timeline.entries[index - 1].segment.audioSamples(of: track),
            timeline.entries[index - 1].segment.domain == entry.segment.domain
        {
            cursor.move(to: index - 1, packet: max(0, before.packets.count - Self.prerollPacketCount), in: timeline)
        } else {
            cursor.move(to: index, packet: max(0, first - Self.prerollPacketCount), in: timeline)
        }
    }

    /// Skips audio before a time.
    func skip(to time: MediaTime) { position = max(position ?? time, time) }

    /// Returns the next available audio before a time, or silence for a gap.
    ///
    /// - Returns: `nil` if no audio is buffered yet or the time is reached.
    func next(before limit: MediaTime, _ mapping: inout TimestampMapping) -> AudioSamples? {
        guard let position, position < limit else { return nil }
        while true {
            guard let block = pending.first else {
                guard decodeNext(&mapping) else { return nil }
                continue
            }
            let early = position - block.time
            if early > Self.timestampTolerance || (early > .zero && block.end <= position) {
                pending.removeFirst()
                guard let rest = block.droppingFirst(early) else { continue }
                return deliver(rest)
            }
            if block.time - position > Self.timestampTolerance {
                return deliver(silence(from: position, to: min(block.time, limit)))
            }
            pending.removeFirst()
            return deliver(block)
        }
    }

    private func deliver(_ samples: AudioSamples) -> AudioSamples {
        var samples = samples
        // Within the tolerance, samples continue at the end of the previous ones.
        if let position, samples.time - position < Self.timestampTolerance { samples.time = position }
        position = samples.end
        return samples
    }

    private func silence(from start: MediaTime, to end: MediaTime) -> AudioSamples {
        let seconds = min((end - start).seconds, 1)
        let count = max(1, Int(saturating: (seconds * Double(output.sampleRate)).rounded()))
        return AudioSamples(
            time: start,
            sampleRate: output.sampleRate,
            channelCount: output.channelCount,
            samples: Array(repeating: 0, count: count * output.channelCount)
        )
    }

    private func decodeNext(_ mapping: inout TimestampMapping) -> Bool {
        if cursor.isEntryRemoved(from: timeline), let position {
            let kept = pending
            seek(to: position, &mapping)
            pending = kept
        }
        if !cursor.hasPosition {
            guard let position, timeline.index(endingAfter: position) != nil else { return false }
            seek(to: position, &mapping)
            guard cursor.hasPosition else { return false }
        }
        switch cursor.next(in: timeline, &mapping) {
        case .packet(let packet, let format, let offset): decode(packet, format: format, offset: offset)
        case .boundary(let isAfterDamage):
            finishSegment()
            drain()
            if isAfterDamage { decoder = nil }
        case .gap(let range):
            finishSegment()
            drain()
            // A time range without audio becomes silence, so that the audio after it stays synchronized.
            if let position, range.end > position {
                pending.append(silence(from: max(position, range.start), to: range.end))
            }
        case .endOfBuffer:
            finishSegment()
            return false
        }
        return true
    }

    private func decode(_ packet: MediaPacket, format: TrackFormat, offset: MediaTime) {
        let mayGoOn = decoder?.canContinue(with: format) ?? false
        if self.offset != nil, self.offset != offset || !mayGoOn { drain() }
        do throws(DecodingError) {
            if mayGoOn {
                decoder?.switchFormat(to: format)
            } else {
                let options = AudioDecoder.Options(sampleRate: output.sampleRate, channelCount: output.channelCount)
                decoder = try AudioDecoder(format, options: options)
            }
        } catch {
            decoder = nil
            return undecodableRanges.append(
                MediaTimeRange(start: packet.presentationTime + offset, duration: packet.duration)
            )
        }
        self.offset = offset
        let damagedCount = decoder?.damagedPacketCount ?? 0
        appendDecoded(decoder?.decode(packet) ?? [])
        let damagedRange = damage.add(
            MediaTimeRange(start: packet.presentationTime + offset, duration: packet.duration),
            isKeyFrame: true,
            isDamaged: decoder?.damagedPacketCount ?? 0 > damagedCount && !isLossReported,
            of: cursor.entryID
        )
        if let damagedRange { undecodableRanges.append(damagedRange) }
    }

    /// A Boolean value that indicates whether the loss of audio samples of the segment that is decoded was reported
    /// when the segment was appended.
    private var isLossReported: Bool {
        guard let id = cursor.entryID else { return false }
        return timeline.entries.first { $0.id == id }?.segment.lostSamples?.type == .audio
    }

    /// Reports the segment that was decoded if it is damaged.
    private func finishSegment() {
        if let range = damage.finish() { undecodableRanges.append(range) }
    }

    private func drain() {
        guard offset != nil else { return }
        appendDecoded(decoder?.drain() ?? [])
        decoder?.flush()
        offset = nil
    }

    private func appendDecoded(_ decoded: [AudioSamples]) {
        guard let offset else { return }
        for var samples in decoded where samples.frameCount > 0 {
            samples.time = samples.time + offset
            pending.append(samples)
        }
    }
}

extension AudioSamples {
    /// Returns the samples without the given duration at the start; `nil` if none remain.
    func droppingFirst(_ time: MediaTime) -> AudioSamples? {
        let count = Int(saturating: (time.seconds * Double(sampleRate)).rounded())
        guard count < frameCount else { return nil }
        guard count > 0 else { return self }
        return AudioSamples(
            time: self.time + MediaTime(value: Int64(count), timescale: Int64(sampleRate)),
            sampleRate: sampleRate,
            channelCount: channelCount,
            samples: Array(samples[(count * channelCount)...])
        )
    }
}

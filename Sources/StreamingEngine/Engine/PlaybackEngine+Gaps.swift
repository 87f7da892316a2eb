import MediaTiming
import PlaybackReporting
import ResourceAddressing

extension PlaybackEngine {
    /// Lets the time of a segment pass without media.
    func pass(_ segment: SegmentReference, _ kind: StreamKind, _ reason: SkippedSegment.Reason) async {
        // Another quality may have what this one lacks.
        if reason == .gap, kind == .main, !isScanning, let source = streams[.main].source {
            streams[.main].tried.insert(source, for: segment.range)
            if goElsewhere(.main, besides: source, cause: "gap") { return }
        }
        await leaveOut(segment.range, of: segment.address.text, domain: segment.domain, kind, reason)
    }

    func leaveOut(
        _ range: MediaTimeRange,
        of address: String,
        domain: DiscontinuityDomain,
        _ kind: StreamKind,
        _ reason: SkippedSegment.Reason
    ) async {
        let type = mediaType(of: kind)
        let playlist = streams[kind].source?.address.text ?? ""
        let piece = MediaPiece(
            type: type,
            content: .gap,
            range: range,
            domain: MediaPiece.Domain(playlist: playlist, sequence: domain.sequence)
        )
        let isScanned = isScanning && kind == .main
        let covered = (try? await pipeline.append(piece)) ?? range
        if isScanned, !isScanning { return await pipeline.discard(type, in: covered) }
        streams[kind].buffer.insert(
            StreamBuffer.Entry(
                range: covered,
                type: type,
                byteCount: 0,
                variant: nil,
                isScanned: isScanned,
                isLeftOut: true
            )
        )
        streams[kind].isDecided = false
        report(.segmentSkipped(SkippedSegment(address: address, mediaType: type, range: range, reason: reason)))
        changes.notify()
    }

    /// Fetches from another variant what this one does not list, where it is known that the other does.
    private func fillFromElsewhere(_ hole: MediaTimeRange) -> Bool {
        guard let presentation, let current = streams[.main].source else { return false }
        streams[.main].tried.insert(current, for: hole)
        let closed = streams[.main].tried.sources
        let variant = presentation.variants(for: selection).first { variant in
            let source = source(for: variant)
            guard !closed.contains(source), !isExcluded(source), let timeline = knownTimelines.peek(source),
                let position = timeline.position(atOrAfter: hole.start)
            else { return false }
            return timeline.range(at: position).start - hole.start <= SegmentScheduler.seam
        }
        guard let variant else { return false }
        streams[.main].source = source(for: variant)
        streams[.main].isDecided = true
        beginSwitch(to: variant, cause: "hole")
        applyRenditions()
        changes.notify()
        return true
    }

    /// Goes on behind a stretch of time for which nothing is listed.
    func jump(over hole: MediaTimeRange, _ kind: StreamKind) async {
        guard !isBackward else {
            return await leaveOut(hole, of: "", domain: DiscontinuityDomain(sequence: 0), kind, .outOfWindow)
        }
        if kind == .main, !isScanning, fillFromElsewhere(hole) { return }
        let isShort = hole.duration <= MediaTime(seconds: 2)
        let domain = streams[kind].timeline?.segment(atOrAfter: hole.end)?.domain ?? DiscontinuityDomain(sequence: 0)
        guard kind == .main, !isShort, pendingSeek == nil || pendingSeek?.isStart == true else {
            return await leaveOut(hole, of: "", domain: domain, kind, .outOfWindow)
        }
        // What is still buffered is played first.
        let seen = changes.count
        guard bufferState().isEmpty || machine.desiredRate == 0 && position < hole.start else {
            let next = pipeline.timebase.time(reaching: max(hole.start, playableReach(from: position)))
            return await changes.wait(after: seen, until: next.map { max($0, time.now + .milliseconds(1)) }, time)
        }
        guard let timeline = streams[.main].timeline else { return }
        let target =
            timeline.isLive
            ? StartPosition(in: timeline, declared: presentation?.start, liveOffset: options.timeOffsetFromLive).time
            : hole.end
        let from = position
        report(.timeJumped(from: from, to: max(target, hole.end)))
        _ = beginSeek(to: max(target, hole.end), tolerance: .any, isStart: pendingSeek?.isStart ?? false)
    }
}

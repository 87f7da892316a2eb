import MediaTiming
import PlaybackReporting

/// Fast motion: where only pictures that stand alone are shown, only those are fetched, if there are playlists of them
/// (RFC 8216bis §4.4.3.6, §4.4.6.3).
extension PlaybackEngine {
    /// More pictures a second than these are not fetched.
    private static let picturesPerSecond = 8.0
    /// So much of the throughput they may take.
    private static let share = 0.7

    var isScanning: Bool { sourceAfterScan != nil }

    /// Goes over to fast motion, or leaves it, where the rate is another.
    func reviewScanning() async {
        let wanted = scanSource
        switch (wanted, isScanning) {
        case (let source?, false):
            sourceAfterScan = streams[.main].source
            change(to: source, cause: "fast-motion")
        case (let source?, true) where source != streams[.main].source: change(to: source, cause: "fast-motion")
        case (nil, true): await endScan()
        default: break
        }
    }

    /// How much lies ahead of a fast play head: some seconds of the viewer's time.
    var scanCapacity: MediaTime { MediaTime(.seconds(4), scaledBy: abs(machine.desiredRate)) }

    /// What pictures come from at the rate that holds; `nil` where everything is played.
    private var scanSource: StreamSource? {
        let rate = machine.desiredRate
        guard rate != 0, !pipeline.abilities.fullRates.contains(rate), isPositioned, failure == nil,
            playbackType == .vod, file == nil, let presentation, fetchedVariant?.isAudioOnly != true
        else { return nil }
        let fastest =
            Double(chooser.throughput?.bitsPerSecond ?? 0) * Self.share / min(abs(rate), Self.picturesPerSecond)
        let open = presentation.iFrameVariants.sorted { Self.bitRate(of: $0) < Self.bitRate(of: $1) }
            .filter { !isExcluded(source(for: $0)) }
        // One is stayed with: another would be another size.
        if isScanning, let current = streams[.main].source, open.contains(where: { source(for: $0) == current }) {
            return current
        }
        let variant = open.last { Double(Self.bitRate(of: $0)) <= fastest } ?? open.first
        return variant.map { source(for: $0) }
    }

    private static func bitRate(of variant: Presentation.Variant) -> Int64 {
        (variant.peakBitRate ?? variant.averageBitRate)?.bitsPerSecond ?? 0
    }

    /// Whether a playlist holds only pictures that stand alone.
    func isScan(_ source: StreamSource) -> Bool {
        presentation?.iFrameVariants.contains { $0.id == source.variantID } ?? false
    }

    /// Forgets the pictures, and lets all that belongs to the play head's place come.
    private func endScan() async {
        guard let source = sourceAfterScan else { return }
        isLeavingScan = true
        let stream = streams[.main]
        stream.job?.isObsolete = true
        // One more may come while the others go.
        while case let forgotten = stream.buffer.discardScanned(), !forgotten.isEmpty {
            for (type, range) in forgotten { await pipeline.discard(type, in: range) }
        }
        isLeavingScan = false
        sourceAfterScan = nil
        var next = source
        // Something else may have been selected meanwhile.
        if let presentation, let variant = source.variantID.flatMap({ presentation.variant($0) }),
            !presentation.variants(for: selection).contains(where: { $0.id == variant.id }),
            let other = chooser.nearest(to: variant)
        {
            next = self.source(for: other)
        }
        change(to: next, cause: "normal-motion")
        if next != source { stream.buffer.becomeOutdated(from: position) }
        followPin()
        updateTracks()
        guard pendingSeek == nil, failure == nil, !machine.hasEnded else { return }
        _ = beginSeek(to: position, tolerance: .exact, isStart: false, isRefresh: true)
    }

    private func change(to source: StreamSource, cause: String) {
        let stream = streams[.main]
        stream.source = source
        stream.job?.isObsolete = true
        stream.isDecided = false
        stream.pausedUntil = nil
        stream.tried = TriedSources()
        if let variant = fetchedVariant { beginSwitch(to: variant, cause: cause) }
        applyRenditions()
        changes.notify()
    }

    /// A picture, and the time until the next one that is wanted: faster, fewer are.
    func scanned(
        _ segment: SegmentReference,
        in timeline: PresentationTimeline,
        _ loaded: MediaTimeRangeSet
    ) -> SegmentReference {
        let stride = MediaTime(.seconds(1), scaledBy: abs(machine.desiredRate) / Self.picturesPerSecond)
        guard stride > segment.duration, var position = timeline.position(sequence: segment.sequence) else {
            return segment
        }
        var segment = segment
        if isBackward {
            let end = segment.end
            while position > 0, timeline.range(at: position - 1).start >= end - stride,
                !loaded.contains(timeline.range(at: position - 1).start)
            {
                position -= 1
                let earlier = timeline.segments[position]
                if !earlier.isGap { segment = earlier }
            }
            segment.range = MediaTimeRange(start: segment.start, end: end)
        } else {
            var end = segment.end
            while position + 1 < timeline.segments.count,
                timeline.range(at: position + 1).start < segment.start + stride,
                !loaded.contains(timeline.range(at: position + 1).end - MediaTime(value: 1, timescale: 1_000))
            {
                position += 1
                end = timeline.range(at: position).end
            }
            segment.range = MediaTimeRange(start: segment.start, end: end)
        }
        return segment
    }
}

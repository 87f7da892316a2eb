import MediaTiming

extension PlaybackEngine {
    /// Loads a playlist; where the buffer would run out before it is there, the variant before goes on meanwhile.
    func awaitTimeline(_ source: StreamSource, for kind: StreamKind) async {
        let former = streams[kind].timelineSource
        guard kind == .main, let former, !isScanning, !isExcluded(former),
            hasSoundApart(former) == hasSoundApart(source), isBetter(source, than: former)
        else {
            return await loadTimeline(source, for: kind)
        }
        let isOver = Signal()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.bridge(with: former, until: source, isOver) }
            await loadTimeline(source, for: kind)
            isOver.notify()
            changes.notify()
        }
    }

    /// Fetches from the variant before while the playlist of the next one does not come.
    private func bridge(with former: StreamSource, until next: StreamSource, _ isOver: Signal) async {
        // A playlist is small: what takes its turn first would only keep it waiting.
        let earliest = time.now + min(Self.bridgeMargin, ahead / 2)
        while !Task.isCancelled, isOver.count == 0, failure == nil {
            let seen = changes.count
            let stream = streams[.main]
            guard stream.timelineSource == former, stream.source == next else { return }
            guard stream.doom == nil, !isExcluded(former), !stream.tried.sources.contains(former) else { return }
            guard isPositioned, pendingSeek == nil else {
                await changes.wait(after: seen)
                continue
            }
            if let pause = stream.pausedUntil, pause > time.now {
                await changes.wait(after: seen, until: pause, time)
                continue
            }
            guard let timeline = stream.timeline, let segment = nextSegment(in: timeline, of: stream)
            else { return }
            let margin = max(Self.bridgeMargin, timeOfFetch(of: segment, from: former))
            let left = ahead - margin
            if left > .zero || time.now < earliest {
                let rate = max(abs(machine.rate), 0.01)
                let due = machine.rate == 0 ? nil : max(time.now + max(left, .zero) / rate, earliest)
                await changes.wait(after: seen, until: due, time)
                continue
            }
            await fetch(segment, from: former, for: .main)
        }
    }

    /// Whether what is waited for needs more than what there is; else the network is needed for it alone.
    private func isBetter(_ next: StreamSource, than former: StreamSource) -> Bool {
        func rate(_ source: StreamSource) -> Int64 {
            source.variantID.flatMap { presentation?.variant($0)?.typicalBitRate?.bitsPerSecond } ?? 0
        }
        return rate(next) > rate(former)
    }

    private func hasSoundApart(_ source: StreamSource) -> Bool {
        source.variantID.flatMap { presentation?.variant($0) }.map { hasSoundApart($0) } ?? false
    }

    /// So much may be left in the buffer while a playlist is waited for.
    private static let bridgeMargin = Duration.seconds(1)

    private func nextSegment(in timeline: PresentationTimeline, of stream: StreamState) -> SegmentReference? {
        let scheduler = SegmentScheduler(
            position: position,
            loaded: stream.buffer.current,
            capacity: capacity,
            end: options.forwardPlaybackEndTime,
            isBackward: isBackward
        )
        guard case .fetch(let segment) = scheduler.step(in: timeline) else { return nil }
        return segment
    }

    /// How long a segment is thought to take.
    private func timeOfFetch(of segment: SegmentReference, from source: StreamSource) -> Duration {
        guard let variant = source.variantID.flatMap({ presentation?.variant($0) }), let rate = variant.typicalBitRate,
            let throughput = chooser.throughput, throughput.bitsPerSecond > 0
        else { return .zero }
        let share = min(Double(rate.bitsPerSecond) / Double(throughput.bitsPerSecond), 4)
        return segment.duration.duration * share
    }
}

import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

extension PlaybackEngine {
    /// What a stream does next.
    private enum NextStep {
        case wait(until: Duration?)
        case loadTimeline(StreamSource)
        case fetch(SegmentReference, StreamSource)
        case pass(SegmentReference)
        case jump(MediaTimeRange)
    }

    /// How a transfer ended.
    private enum Outcome: Sendable {
        case loaded(SegmentLoader.Loaded)
        case failed(any Error)
        case obsolete
        case abandoned(VariantChooser.Choice)
    }

    /// So often a transfer is looked at.
    private static let reviewInterval = Duration.milliseconds(500)

    /// Fetches one rendition, segment after segment.
    func fetchLoop(_ kind: StreamKind) async {
        let stream = streams[kind]
        while !Task.isCancelled, failure == nil {
            let seen = changes.count
            guard stream.source != nil else {
                await stream.needs.wait(after: stream.needs.count)
                continue
            }
            switch nextStep(kind) {
            case .wait(let deadline): await changes.wait(after: seen, until: deadline, time)
            case .loadTimeline(let source): await awaitTimeline(source, for: kind)
            case .fetch(let segment, let source): await fetch(segment, from: source, for: kind)
            case .pass(let segment): await pass(segment, kind, .gap)
            case .jump(let hole): await jump(over: hole, kind)
            }
        }
    }

    private func nextStep(_ kind: StreamKind) -> NextStep {
        let stream = streams[kind]
        guard let source = stream.source else { return .wait(until: nil) }
        if let pause = stream.pausedUntil {
            if pause > time.now { return .wait(until: pause) }
            streams[kind].pausedUntil = nil
        }
        if stream.doom != nil { return .wait(until: nil) }
        if kind == .main, isLeavingScan || isScanning && isExcluded(source) { return .wait(until: nil) }
        guard stream.timelineSource == source, let timeline = stream.timeline else { return .loadTimeline(source) }
        guard let position = fetchPosition(in: timeline) else { return .wait(until: nil) }
        let scheduler = SegmentScheduler(
            position: position,
            loaded: kind == .audio
                ? withSoundOfPictures(stream.buffer.current, from: soundOfPicturesStart) : stream.buffer.current,
            capacity: capacity,
            end: kind == .audio ? endOfSound ?? endOfFetching(position) : endOfFetching(position),
            isOutOfMemory: streams.byteCount > options.bufferByteLimit.bytes,
            isExact: pendingSeek != nil,
            isBackward: isBackward
        )
        switch scheduler.step(in: timeline) {
        case .fetch(let segment) where isScanning && kind == .main:
            return .fetch(scanned(segment, in: timeline, stream.buffer.current), source)
        case .fetch(let segment):
            if kind == .main, !stream.isDecided {
                if let wait = decide(segment, scheduler) { return .wait(until: wait) }
                // Another variant may have been chosen, whose playlist is not there.
                return streams[.main].source == source ? .fetch(segment, source) : nextStep(kind)
            }
            return .fetch(segment, source)
        case .pass(let segment): return .pass(segment)
        case .hole(let hole): return .jump(hole)
        case .wait(let until):
            guard pendingSeek == nil else { return .wait(until: nil) }
            // Times are rounded: at a high rate, the play head may be a little short of it when the time has come.
            let soon = time.now + .milliseconds(1)
            return .wait(until: pipeline.timebase.time(reaching: until).map { max($0, soon) })
        case .complete where kind == .audio && endOfSound != nil && !isBackward:
            leaveSoundToPictures()
            return .wait(until: nil)
        case .awaitPlaylist, .complete: return .wait(until: nil)
        }
    }

    /// Where nothing more is needed; what is sought is, also behind it.
    private func endOfFetching(_ position: MediaTime) -> MediaTime? {
        guard let end = options.forwardPlaybackEndTime, pendingSeek != nil else {
            return options.forwardPlaybackEndTime
        }
        return max(end, position + MediaTime(value: 1, timescale: 20))
    }

    /// Where media is needed: at the play head, or where it is to be.
    private func fetchPosition(in timeline: PresentationTimeline) -> MediaTime? {
        if let seek = pendingSeek { return mediaTime(shownAt: seek.target, in: timeline) }
        return isPositioned ? position : nil
    }

    /// Chooses the variant of the next segment.
    ///
    /// - Returns: Until when to wait instead; `nil` to go on.
    private func decide(_ segment: SegmentReference, _ scheduler: SegmentScheduler) -> Duration? {
        guard let current = fetchedVariant, let timeline = streams[.main].timeline else { return nil }
        chooser.networkCost = loading.network?.cost
        let choice = chooser.choose(
            VariantChooser.Moment(
                current: current,
                isFirst: streams[.main].buffer.entries.isEmpty,
                bufferLevel: scheduler.ahead.duration,
                capacity: max(capacity, segment.duration * 2).duration,
                segment: segment,
                timeline: timeline,
                rate: machine.desiredRate == 0 ? 1 : abs(machine.desiredRate),
                now: time.now
            ),
            isOpen: { variant in !self.isExcluded(self.source(for: variant)) || variant.id == current.id }
        )
        if let delay = choice.delay, delay > .zero { return time.now + delay }
        streams[.main].isDecided = true
        if choice.variant.id != current.id {
            streams[.main].source = source(for: choice.variant)
            beginSwitch(to: choice.variant, cause: choice.cause, predicted: choice.predictedBufferLevel)
            applyRenditions()
        }
        return nil
    }

    func fetch(_ segment: SegmentReference, from source: StreamSource, for kind: StreamKind) async {
        guard let loader else { return }
        lastJobID += 1
        let watch = TransferWatch(began: time.now)
        let job = FetchJob(id: lastJobID, segment: segment, source: source, watch: watch)
        streams[kind].job = job
        let requestKind: TransportRequest.Kind = kind == .subtitles ? .subtitle : .segment
        let outcome = await withTaskGroup(of: Outcome.self) { group in
            group.addTask {
                do {
                    return .loaded(try await loader.load(segment, kind: requestKind, watch: watch))
                } catch {
                    return .failed(error)
                }
            }
            group.addTask { await self.review(job, kind) }
            let first = await group.next() ?? .obsolete
            group.cancelAll()
            return first
        }
        streams[kind].job = nil
        if kind == .main { streams[kind].isDecided = false }
        guard !Task.isCancelled else { return }
        // What came for fast motion is of no use when that is over, nor the other way round.
        let isOfUse = kind != .main || isScan(source) == isScanning
        switch outcome {
        case _ where !isOfUse: reportFailure(of: job, kind, nil)
        case .loaded(let loaded): await take(loaded, of: job, kind)
        case .failed(let error):
            reportFailure(of: job, kind, error)
            await recover(from: error, job, kind)
        case .obsolete: reportFailure(of: job, kind, nil)
        case .abandoned(let choice):
            reportFailure(of: job, kind, nil)
            chooser.add(abandoned: watch, of: segment, variant: source.variantID, now: time.now)
            streams[.main].source = self.source(for: choice.variant)
            streams[.main].isDecided = true
            beginSwitch(to: choice.variant, cause: choice.cause, predicted: choice.predictedBufferLevel)
            applyRenditions()
        }
        changes.notify()
    }

    /// Looks on while a segment comes, until nobody wants it any more, or a smaller one will be there sooner.
    private func review(_ job: FetchJob, _ kind: StreamKind) async -> Outcome {
        let variant = kind == .main ? job.source.variantID.flatMap { presentation?.variant($0) } : nil
        // What fills a wait for another variant is what there is.
        let isChosen = job.source == streams[kind].source
        while !Task.isCancelled {
            let mayBeAbandoned = isChosen && chooser.canGoLower(than: variant)
            let seen = changes.count
            guard let current = streams[kind].job, current.id == job.id, !current.isObsolete else { return .obsolete }
            let now = time.now
            if mayBeAbandoned, let variant, let measurement = job.watch.measurement,
                let choice = chooser.review(
                    measurement,
                    of: job,
                    variant: variant,
                    bufferLevel: ahead,
                    isStarting: !isPositioned,
                    capacity: capacity.duration,
                    now: now
                )
            {
                return .abandoned(choice)
            }
            let next = mayBeAbandoned ? now + Self.reviewInterval : nil
            await changes.wait(after: seen, until: next, time)
        }
        return .obsolete
    }

    private func take(_ loaded: SegmentLoader.Loaded, of job: FetchJob, _ kind: StreamKind) async {
        let segment = job.segment
        let variant = job.source.variantID.flatMap { presentation?.variant($0) }
        let description = variant.map { VariantDescription($0) }
        let type = mediaType(of: kind)
        reportNotedRequests()
        var request = ResourceRequest(
            .mediaSegment,
            TransportRequest(segment.address, kind: .segment, byteRange: segment.byteRange),
            loaded.fetched
        )
        request.mediaType = type
        request.variant = description
        request.segmentDuration = segment.duration
        request.indexAddress = job.source.address.text
        report(.resourceRequest(request))
        chooser.add(loaded.fetched, of: segment, variant: job.source.variantID)
        let piece = MediaPiece(
            type: type,
            content: loaded.content,
            range: segment.range,
            domain: MediaPiece.Domain(playlist: job.source.address.text, sequence: segment.domain.sequence),
            sampleProtection: loaded.protection,
            variant: description,
            place: place(of: segment, kind)
        )
        do {
            let isScanned = kind == .main && isScan(job.source)
            let range = try await pipeline.append(piece)
            if isScanned, !isScanning { return await pipeline.discard(type, in: range) }
            hasMedia = hasMedia || kind.isRequired
            streams[kind].recovery.succeeded()
            streams[kind].misses[job.source] = nil
            streams[kind].tried = TriedSources()
            streams[kind].buffer.insert(
                StreamBuffer.Entry(
                    range: range,
                    type: type,
                    byteCount: piece.byteCount,
                    variant: description,
                    isScanned: isScanned
                )
            )
            let duration = loaded.fetched.ended - loaded.fetched.began
            report(
                .segmentLoaded(
                    LoadedSegment(
                        address: segment.address.text,
                        mediaType: type,
                        variant: description,
                        range: range,
                        bytes: request.bytes,
                        transferDuration: duration,
                        isOverdue: duration > segment.duration.duration
                    )
                )
            )
        } catch {
            await recover(from: error, job, kind)
        }
    }

    private func place(of segment: SegmentReference, _ kind: StreamKind) -> MediaPiece.FilePlace? {
        guard let file, let timeline = streams[kind].timeline else { return nil }
        return MediaPiece.FilePlace(
            offset: segment.byteRange?.start ?? 0,
            firstTimestamp: file.firstTimestamp,
            isCutAnywhere: file.isCutAnywhere,
            isLast: segment.range.end >= timeline.end
        )
    }

    private func reportFailure(of job: FetchJob, _ kind: StreamKind, _ error: (any Error)?) {
        reportNotedRequests()
        var cause = error
        if case .transport(let error, let what) = error as? SegmentLoader.Failure {
            // What it needed besides was told of by itself.
            guard what == .mediaSegment else { return }
            cause = error
        }
        let request = TransportRequest(job.segment.address, kind: .segment, byteRange: job.segment.byteRange)
        var made = ResourceRequest(.mediaSegment, request, began: job.watch.began, now: time.now, cause)
        made.mediaType = mediaType(of: kind)
        made.variant = job.source.variantID.flatMap { presentation?.variant($0) }.map { VariantDescription($0) }
        made.segmentDuration = job.segment.duration
        made.indexAddress = job.source.address.text
        if let measurement = job.watch.measurement {
            made.bytes = measurement.bytes
            made.serverAddress = measurement.serverAddress
            made.responseStart = measurement.firstByte.map { measurement.sent + $0 }
        }
        report(.resourceRequest(made))
    }
}

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
    /// So many segments in a row that a variant does not have, and others are fetched for a while.
    private static let toleratedMisses = 2

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
            case .loadTimeline(let source): await load(source, for: kind)
            case .fetch(let segment, let source): await fetch(segment, from: source, for: kind)
            case .pass(let segment): await pass(segment, kind, .gap)
            case .jump(let hole): await jump(over: hole, kind)
            }
        }
    }

    /// Loads a playlist; where the buffer would run out before it is there, the variant before goes on meanwhile.
    private func load(_ source: StreamSource, for kind: StreamKind) async {
        let former = streams[kind].timelineSource
        guard kind == .main, let former, !isScanning, !isExcluded(former),
            hasSoundApart(former) == hasSoundApart(source)
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
            guard isPositioned, pendingSeek == nil else {
                await changes.wait(after: seen)
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
            loaded: kind == .audio ? withMuxedSound(stream.buffer.current) : stream.buffer.current,
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
        case .complete where kind == .audio && endOfSound != nil:
            // From here on the sound comes with the pictures.
            endOfSound = nil
            applyRenditions()
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

    private func fetch(_ segment: SegmentReference, from source: StreamSource, for kind: StreamKind) async {
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

    private func recover(from error: any Error, _ job: FetchJob, _ kind: StreamKind) async {
        if error is CancellationError { return }
        streams[kind].tried.insert(job.source, for: job.segment.range)
        let (fault, problem) = Self.fault(error, job.segment)
        let hasAlternatives =
            fault != .forbidden && kind == .main && !isScanning && hasUntriedSource(besides: job.source)
        let isLive = streams[kind].timeline?.isLive ?? false
        if kind == .main, hasAlternatives, fault == .missing || fault == .damaged { note(missOf: job.source) }
        let verdict = streams[kind].recovery.failed(
            fault,
            at: job.segment.start,
            hasAlternatives: hasAlternatives,
            isLive: isLive,
            isUrgent: pendingSeek != nil || ahead < .seconds(1),
            patience: options.patience,
            now: time.now
        )
        switch verdict {
        case .retry(let delay):
            fail(problem, recovered: true)
            let asked = Self.retryAfter(error) ?? .zero
            streams[kind].pausedUntil = time.now + min(max(delay, asked), .seconds(30))
        case _ where isScanning && kind == .main:
            // What is fetched usually will do for fast motion, too.
            fail(problem, recovered: true)
            excluded[job.source] = time.now + Self.exclusionDuration
        case .goElsewhere:
            fail(problem, recovered: true)
            if !goElsewhere(kind, besides: job.source, cause: "segment-failed") {
                await skip(job.segment, kind, fault, problem)
            }
        case .skip:
            fail(problem, recovered: true)
            await skip(job.segment, kind, fault, problem)
        case .giveUp:
            // Without sound there are still pictures; what may not be had, or has no decoder, is another matter.
            guard kind == .main || kind == .audio && fault == .forbidden else {
                fail(problem, recovered: true)
                return drop(kind)
            }
            giveUp(kind, problem)
        }
    }

    /// Nothing more will come: playing ends where what is buffered does.
    private func giveUp(_ kind: StreamKind, _ problem: StreamingError) {
        guard hasMedia, problem.code != .pipelineLost else { return fail(problem) }
        streams[kind].doom = problem
        changes.notify()
    }

    /// A source that does not have one segment after the other is left alone for a while.
    private func note(missOf source: StreamSource) {
        let count = (streams[.main].misses[source] ?? 0) + 1
        streams[.main].misses[source] = count
        guard count >= Self.toleratedMisses else { return }
        streams[.main].misses[source] = nil
        excluded[source] = time.now + Self.exclusionDuration
    }

    private static func retryAfter(_ error: any Error) -> Duration? {
        guard case .transport(let error, _) = error as? SegmentLoader.Failure else { return nil }
        return error.retryAfter
    }

    /// Goes on without a segment, unless nothing is left that could be played.
    private func skip(
        _ segment: SegmentReference,
        _ kind: StreamKind,
        _ fault: SegmentRecovery.Fault,
        _ problem: StreamingError
    ) async {
        await pass(segment, kind, fault == .damaged ? .notDecodable : .notLoaded)
        let isWhole = requiredStreams.allSatisfy { $0.isComplete(upTo: endOfPlay) }
        if !hasMedia, kind.isRequired, isWhole, pendingSeek == nil || pendingSeek?.isStart == true { fail(problem) }
    }

    private func hasUntriedSource(besides failed: StreamSource) -> Bool {
        let closed = streams[.main].tried.sources
        guard let presentation else { return false }
        return presentation.variants(for: selection).contains { variant in
            sources(of: variant).contains { $0 != failed && !closed.contains($0) && !isExcluded($0) }
        }
    }

    private static func fault(
        _ error: any Error,
        _ segment: SegmentReference
    ) -> (SegmentRecovery.Fault, StreamingError) {
        switch error {
        case SegmentLoader.Failure.transport(let error, let kind):
            let isKey = kind == .contentKey
            let fault = SegmentRecovery.Fault(error, isKey: isKey)
            let what = isKey ? "a key" : kind == .initialization ? "an initialization" : "a segment"
            let problem = StreamingError(error, what)
            guard isKey, fault == .forbidden else { return (fault, problem) }
            let message = "the key may not be had: \(error.message)"
            return (fault, StreamingError(.keyNotLoaded, message, address: error.address, status: error.status))
        case SegmentLoader.Failure.decryption(let message, let address):
            return (.damaged, StreamingError(.damaged, message, address: address))
        case SegmentLoader.Failure.refused(let refusal):
            let message = "the media is protected in a way that is not supported: \(refusal)"
            return (.forbidden, StreamingError(.protected, message, address: segment.address))
        case let error as MediaPipelineError:
            let fault: SegmentRecovery.Fault = error.code == .lost ? .forbidden : .damaged
            let code: StreamingError.Code = error.code == .lost ? .pipelineLost : .damaged
            return (fault, StreamingError(code, error.message, address: segment.address, cause: error))
        default:
            return (.damaged, StreamingError(.damaged, "\(error)", address: segment.address, cause: error))
        }
    }

    /// Lets the time of a segment pass without media.
    private func pass(_ segment: SegmentReference, _ kind: StreamKind, _ reason: SkippedSegment.Reason) async {
        // Another quality may have what this one lacks.
        if reason == .gap, kind == .main, !isScanning, let source = streams[.main].source {
            streams[.main].tried.insert(source, for: segment.range)
            if goElsewhere(.main, besides: source, cause: "gap") { return }
        }
        await leaveOut(segment.range, of: segment.address.text, domain: segment.domain, kind, reason)
    }

    private func leaveOut(
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
            guard !closed.contains(source), !isExcluded(source), let timeline = knownTimelines[source],
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
    private func jump(over hole: MediaTimeRange, _ kind: StreamKind) async {
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
            return await changes.wait(after: seen, until: pipeline.timebase.time(reaching: hole.start), time)
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

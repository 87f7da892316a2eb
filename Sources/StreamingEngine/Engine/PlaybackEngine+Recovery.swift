import MediaTiming
import MediaTransport
import PlaybackReporting

extension PlaybackEngine {
    /// So many segments in a row that a variant does not have, and others are fetched for a while.
    private static let toleratedMisses = 2

    func recover(from error: any Error, _ job: FetchJob, _ kind: StreamKind) async {
        if error is CancellationError { return }
        streams[kind].tried.insert(job.source, for: job.segment.range)
        var (fault, problem) = Self.fault(error, job.segment)
        // Nobody should wait for text.
        if !kind.isRequired, fault == .busy { fault = .missing }
        let hasAlternatives = hasAlternatives(to: job.source, kind, fault)
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
        case .giveUp where kind != .main && fault != .forbidden && useOtherRendition(kind, besides: job.source):
            fail(problem, recovered: true)
            streams[kind].forgive()
        case .giveUp:
            // Without sound there are still pictures; what may not be had, or has no decoder, is another matter.
            guard kind == .main || kind == .audio && fault == .forbidden else {
                fail(problem, recovered: true)
                return drop(kind)
            }
            giveUp(kind, problem)
        }
    }

    /// What could not be had is tried again.
    func forgiveStreams() {
        for kind in StreamKind.allCases where streams[kind].doom != nil { streams[kind].forgive() }
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
    func skip(
        _ segment: SegmentReference,
        _ kind: StreamKind,
        _ fault: SegmentRecovery.Fault,
        _ problem: StreamingError
    ) async {
        await pass(segment, kind, fault == .damaged ? .notDecodable : .notLoaded)
        let isWhole = requiredStreams.allSatisfy { $0.isComplete(upTo: endOfPlay) }
        if !hasMedia, kind.isRequired, isWhole, pendingSeek == nil || pendingSeek?.isStart == true { fail(problem) }
    }

    private func hasAlternatives(
        to source: StreamSource,
        _ kind: StreamKind,
        _ fault: SegmentRecovery.Fault
    ) -> Bool {
        switch kind {
        case .main: fault != .forbidden && !isScanning && hasUntriedSource(besides: source)
        // Where nothing answers for a moment, it hardly does for another quality of the sound.
        case .audio, .subtitles:
            (fault == .missing || fault == .damaged) && hasOtherRendition(kind, besides: source)
        }
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
            return (
                fault,
                StreamingError(.keyNotLoaded, message, address: error.address, status: error.status, cause: error)
            )
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
}
